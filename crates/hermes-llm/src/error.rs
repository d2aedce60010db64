//! What can go wrong with an embedding model, and the hint for each.

use crate::embed::Provider;

/// The result of every fallible call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What kind of failure it is, for callers that only choose what to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The endpoint cannot be had now; later may be better.
    Unavailable,
    /// The endpoint, or this crate, says no; the same call will fail again.
    Refused,
    /// The endpoint answered, but not with what was asked.
    BadAnswer,
    /// The vectors have another width than those they would be compared with.
    DimensionMismatch,
}

/// What went wrong, named after what the caller cannot have; never holds a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No connection, or none that lasted until the answer.
    #[error("could not reach {host}: {why}")]
    Unreachable {
        /// Whose endpoint it is.
        provider: Provider,
        /// The host, with its port when one was given.
        host: String,
        /// What the network said.
        why: String,
    },
    /// The endpoint has no time, now or for a while.
    #[error("could not embed with {model}: {host} answered {status}: {message}")]
    Busy {
        /// The model asked for.
        model: String,
        /// The host, with its port when one was given.
        host: String,
        /// The HTTP status.
        status: u16,
        /// What the server said, shortened.
        message: String,
    },
    /// The endpoint refuses the request.
    #[error("could not embed with {model}: {host} answered {status}: {message}")]
    Refused {
        /// Whose endpoint it is.
        provider: Provider,
        /// The model asked for.
        model: String,
        /// The host, with its port when one was given.
        host: String,
        /// The HTTP status.
        status: u16,
        /// What the server said, shortened.
        message: String,
    },
    /// The answer is not a list of usable vectors.
    #[error("could not use the answer of {host} for {model}: {why}")]
    BadAnswer {
        /// The model asked for.
        model: String,
        /// The host, with its port when one was given.
        host: String,
        /// What is wrong with the answer.
        why: String,
    },
    /// The vectors have another width than expected.
    #[error("could not use the vectors of {model}: they have {found} numbers, not {expected}")]
    Dimensions {
        /// The model asked for.
        model: String,
        /// The width asked for, or that of the first vector.
        expected: usize,
        /// The width that came.
        found: usize,
    },
    /// The address of the endpoint, or of the proxy, cannot be used.
    #[error("could not use the address of {model}: {why}")]
    BadAddress {
        /// The model asked for.
        model: String,
        /// What is wrong with the address.
        why: String,
    },
    /// The key has characters that no header may hold.
    #[error("could not use the key for {host}: it has characters a key cannot have")]
    BadKey {
        /// The host the key is for.
        host: String,
    },
    /// Every text is blank, and the width of the vectors is not known.
    #[error("could not embed with {model}: every text is blank")]
    NoText {
        /// The model asked for.
        model: String,
    },
}

impl Error {
    /// What kind of failure it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Unreachable { .. } | Error::Busy { .. } => ErrorKind::Unavailable,
            Error::Refused { .. }
            | Error::BadAddress { .. }
            | Error::BadKey { .. }
            | Error::NoText { .. } => ErrorKind::Refused,
            Error::BadAnswer { .. } => ErrorKind::BadAnswer,
            Error::Dimensions { .. } => ErrorKind::DimensionMismatch,
        }
    }

    /// What to do next, where it is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Unreachable { provider: Provider::Ollama, .. } => {
                Some("start Ollama with `ollama serve`".into())
            }
            Error::Refused { provider: Provider::Ollama, status: 404, model, .. } => {
                Some(format!("get the model with `ollama pull {model}`"))
            }
            Error::Refused { status: 404, model, .. } => {
                Some(format!("check the base address, and that it serves {model}"))
            }
            Error::Refused { status: 401 | 403, host, .. } | Error::BadKey { host } => {
                Some(format!("check the key for {host}"))
            }
            Error::Dimensions { expected, .. } => Some(format!(
                "ask for {expected} dimensions, or embed again what was stored with another model"
            )),
            Error::BadAddress { .. } => Some("give it as http://HOST:PORT or https://HOST".into()),
            _ => None,
        }
    }
}
