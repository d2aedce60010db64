//! What can go wrong with a model, and the hint for each.

use std::fmt;

/// The result of every fallible call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What kind of failure it is, for callers that only choose what to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The endpoint cannot be had now; later may be better.
    Unavailable,
    /// The endpoint, or this crate, says no; the same call will fail again.
    Refused,
    /// The key is missing, wrong, or has no credit left.
    NoAccess,
    /// The endpoint has no such model.
    NoSuchModel,
    /// The request is longer than the model can take; a shorter one may do.
    TooLong,
    /// The model answered that it will not do what was asked.
    Declined,
    /// The endpoint answered, but not with what was asked.
    BadAnswer,
    /// The vectors have another width than those they would be compared with.
    DimensionMismatch,
}

/// What was asked of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// To turn texts into vectors.
    Embed,
    /// To answer.
    Answer,
}

/// Which server it is, where that changes what to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// Ollama.
    Ollama,
    /// Any other.
    Other,
}

/// What went wrong, named after what the caller cannot have; never holds a key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No connection, or none that lasted until the answer.
    #[error("could not reach {host}: {why}")]
    Unreachable {
        /// Which server it is.
        server: Server,
        /// The host, with its port when one was given.
        host: String,
        /// What the network said.
        why: String,
    },
    /// The endpoint has no time, now or for a while.
    #[error("could not {task} {model}: {host} responded with {status}: {message}")]
    Busy {
        /// What was asked.
        task: Task,
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
    #[error("could not {task} {model}: {host} responded with {status}: {message}")]
    Refused {
        /// What was asked.
        task: Task,
        /// Which server it is.
        server: Server,
        /// The model asked for.
        model: String,
        /// The host, with its port when one was given.
        host: String,
        /// The HTTP status.
        status: u16,
        /// What the server said, shortened.
        message: String,
        /// The variable the key came from.
        key_from: Option<String>,
    },
    /// The account has no credit left.
    #[error("could not {task} {model}: there is no credit left at {host}: {message}")]
    NoCredit {
        /// What was asked.
        task: Task,
        /// The model asked for.
        model: String,
        /// The host, with its port when one was given.
        host: String,
        /// What the server said, shortened.
        message: String,
    },
    /// The request does not fit into what the model can look at.
    #[error("could not {task} {model}: the request is too long for this model: {message}")]
    TooLong {
        /// What was asked.
        task: Task,
        /// The model asked for.
        model: String,
        /// What the server said, shortened.
        message: String,
    },
    /// The server gave up in the middle of an answer, and said why.
    #[error("could not ask {model}: {host} stopped in the middle of the answer: {message}")]
    GaveUp {
        /// The model asked for.
        model: String,
        /// The host, with its port when one was given.
        host: String,
        /// What the server said, shortened.
        message: String,
    },
    /// The answer ended before its end.
    #[error("could not ask {model}: the answer of {host} was interrupted{why}")]
    Cut {
        /// The model asked for.
        model: String,
        /// The host, with its port when one was given.
        host: String,
        /// What the network said, after a colon; empty where it said nothing.
        why: String,
    },
    /// The answer is larger than allowed.
    #[error("could not use the answer of {host} for {model}: it is larger than {limit} bytes")]
    TooLarge {
        /// The model asked for.
        model: String,
        /// The host, with its port when one was given.
        host: String,
        /// How large it may be.
        limit: usize,
    },
    /// The answer says nothing.
    #[error("could not use the answer of {host} for {model}: it is empty{why}")]
    Empty {
        /// The model asked for.
        model: String,
        /// The host, with its port when one was given.
        host: String,
        /// Why, after a comma, where it is known.
        why: &'static str,
    },
    /// The model, or a filter in front of it, will not answer.
    #[error("could not ask {model}: it declined to answer: {message}")]
    Declined {
        /// The model asked for.
        model: String,
        /// What it said, shortened.
        message: String,
    },
    /// The answer is not what was asked for.
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
    #[error("could not use the key for {host}: it contains characters that a key cannot have")]
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

impl fmt::Display for Task {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Task::Embed => "embed with",
            Task::Answer => "ask",
        })
    }
}

impl Error {
    /// What kind of failure it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Unreachable { .. }
            | Error::Busy { .. }
            | Error::GaveUp { .. }
            | Error::Cut { .. } => ErrorKind::Unavailable,
            Error::Refused { status: 401 | 403, .. }
            | Error::NoCredit { .. }
            | Error::BadKey { .. } => ErrorKind::NoAccess,
            Error::Refused { status: 404, .. } => ErrorKind::NoSuchModel,
            Error::Refused { .. } | Error::BadAddress { .. } | Error::NoText { .. } => {
                ErrorKind::Refused
            }
            Error::TooLong { .. } => ErrorKind::TooLong,
            Error::Declined { .. } => ErrorKind::Declined,
            Error::BadAnswer { .. } | Error::Empty { .. } | Error::TooLarge { .. } => {
                ErrorKind::BadAnswer
            }
            Error::Dimensions { .. } => ErrorKind::DimensionMismatch,
        }
    }

    /// What to do next, where it is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Unreachable { server: Server::Ollama, .. } => {
                Some("start Ollama with `ollama serve`".into())
            }
            Error::Refused { server: Server::Ollama, status: 404, model, .. } => {
                Some(format!("download the model with `ollama pull {model}`"))
            }
            Error::Refused { status: 404, model, .. } => {
                Some(format!("check the base address, and that it serves {model}"))
            }
            Error::Refused { status: 401 | 403, host, key_from, .. } => Some(match key_from {
                Some(from) => format!("check the key for {host}, which came from {from}"),
                None => format!("check the key for {host}"),
            }),
            Error::BadKey { host } => Some(format!("check the key for {host}")),
            Error::NoCredit { host, .. } => {
                Some(format!("buy credit at {host}, or set another model"))
            }
            Error::Dimensions { expected, .. } => Some(format!(
                "request {expected} dimensions, or recompute the vectors with `hermes memory \
                 reembed`"
            )),
            Error::BadAddress { .. } => Some("write it as http://HOST:PORT or https://HOST".into()),
            _ => None,
        }
    }
}
