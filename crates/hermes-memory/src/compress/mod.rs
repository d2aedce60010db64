//! Old conversations as summaries: grouped, told in a tenth of their length, and only then dropped.

mod cluster;
mod model;
#[cfg(test)]
mod property_tests;
mod run;
mod sentences;
mod summarise;
mod words;

pub use cluster::{Cluster, Clustering, Limits, Told, clusters};
pub use run::{Report, Settings, run};
pub use summarise::{Summary, allowance, summarise};
pub use words::{content_words, is_word_in, rarity, stem};
