//! Search as a caller sees it: what is found, in which order, and that nothing typed breaks it.
#![expect(clippy::unwrap_used, reason = "helpers of tests stop at the first surprise")]

mod filtering;
mod finding;
mod language;
mod support;
