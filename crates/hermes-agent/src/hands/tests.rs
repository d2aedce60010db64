//! The hands do what was approved and nothing else.
