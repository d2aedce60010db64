//! Places off this host, each with the real program at the other end.

mod folder;
mod push;
mod s3;
mod s3_answers;
mod ssh;
mod support;
