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
    /// A file of the home refused.
    #[error(transparent)]
    Home(#[from] hermes_home::Error),
    /// What a model answered cannot be used; nothing is lost, it is asked again later.
    #[error("could not use the answer of {model}: {why}")]
    BadReply {
        /// The model.
        model: String,
        /// What is wrong with it.
        why: String,
    },
    /// The allowance of tokens or money for today is spent.
    #[error("could not ask {model}: today's limit for background work is used up ({spent})")]
    Spent {
        /// The model.
        model: String,
        /// What was spent.
        spent: String,
    },
    /// A line of a recording is not a message.
    #[error("could not read line {line}: {why}")]
    BadLine {
        /// The number of the line, from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// Turns that wait in a file cannot be read or taken away.
    #[error("could not use {}", path.display())]
    Spool {
        /// The file or folder.
        path: std::path::PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// What was written to a memory file is not in it.
    #[error("could not write the entry to {}: it was written, but is not in the file", path.display())]
    NotReadBack {
        /// The file.
        path: std::path::PathBuf,
    },
    /// A proposal cannot be carried out.
    #[error("could not approve proposal {id}: {why}")]
    NotApproved {
        /// Its number.
        id: i64,
        /// Why not.
        why: String,
    },
    /// The document is not an export of a memory.
    #[error("could not read the export: {why}")]
    NotExport {
        /// What is wrong with it.
        why: String,
    },
    /// The export was written by a later version.
    #[error(
        "could not read the export: its format is {found}, this version supports up to {known}"
    )]
    NewerExport {
        /// The form of the document.
        found: u32,
        /// The newest form this build knows.
        known: u32,
    },
    /// It holds a secret, and the settings say that such things are not kept.
    #[error("could not record it: it contains a secret ({kind}), and recording.secrets is refuse")]
    Secret {
        /// Which kind of secret.
        kind: &'static str,
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
            Error::Home(error) => error.hint(),
            Error::BadReply { .. } => {
                Some("Hermes asks again later; see `hermes jobs list`".to_owned())
            }
            Error::Spent { .. } => Some(
                "it continues tomorrow; raise the limit with `hermes config set model.daily_tokens \
                 N`"
                    .to_owned(),
            ),
            Error::BadLine { .. } => Some(
                "each line is one message: {\"session_id\": …, \"role\": …, \"timestamp\": …, \"text\": …}"
                    .to_owned(),
            ),
            Error::NotReadBack { .. } => {
                Some("check it with `hermes memory show` and `hermes memory versions`".to_owned())
            }
            Error::NotApproved { .. } => {
                Some("`hermes memory pending` lists the proposals".to_owned())
            }
            Error::Secret { .. } => Some(
                "write it without the secret, or run `hermes config set recording.secrets redact`"
                    .to_owned(),
            ),
            Error::Unreadable(_) | Error::Spool { .. } => None,
            Error::NotExport { .. } => {
                Some("`hermes memory export` writes a file that can be imported".to_owned())
            }
            Error::NewerExport { .. } => {
                Some("upgrade hermes, then import again".to_owned())
            }
        }
    }
}
