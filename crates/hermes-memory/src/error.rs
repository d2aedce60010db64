//! What can go wrong with memory work, and the hint for each.

/// The result of every fallible call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong with memory work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database refused.
    #[error(transparent)]
    Store(#[from] hermes_store::Error),
    /// The model of embeddings refused.
    #[error(transparent)]
    Model(#[from] hermes_llm::Error),
    /// A line of a recording is not a message.
    #[error("could not read line {line}: {why}")]
    BadLine {
        /// The number of the line, from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// The recording could not be read on.
    #[error("could not read the messages")]
    Unreadable(#[source] std::io::Error),
}

impl Error {
    /// The next thing to try, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Store(error) => error.hint(),
            Error::Model(error) => error.hint(),
            Error::BadLine { .. } => Some(
                "each line is one message: {\"session_id\": …, \"role\": …, \"timestamp\": …, \"text\": …}"
                    .to_owned(),
            ),
            Error::Unreadable(_) => None,
        }
    }
}
