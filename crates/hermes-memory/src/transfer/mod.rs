//! A memory as one JSON document: written while others write, and taken in without holding it whole.

mod export;
mod format;
mod import;

pub use export::{ExportSettings, Written, export};
pub use import::{Ending, ImportReport, ImportSettings, LONGEST_ITEM, chunks_of, import, look};
