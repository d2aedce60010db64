//! Places off this host: folders, and buckets that answer as they are told.
#![expect(clippy::unwrap_used, reason = "what the tests share stops at the first surprise")]

mod folder;
mod push;
mod s3_answers;
mod support;
