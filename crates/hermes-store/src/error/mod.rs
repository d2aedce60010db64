//! What can go wrong with a database, and the hint for each.

mod server;

use std::path::{Path, PathBuf};

pub use server::ServerError;

/// Why a file without any bytes is refused.
pub(crate) const EMPTY: &str = "the file is empty";

/// The result of every fallible call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong with a database, named after what the caller cannot have.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The work was ended because nobody waits for it any more.
    #[error("it took too long and was stopped")]
    Stopped,
    /// There is no database file at the path.
    #[error("could not open {}: there is no such file", path.display())]
    Missing {
        /// Where the file was looked for.
        path: PathBuf,
    },
    /// A database that a home had is missing: none is made in its place.
    #[error("could not open {}: this home had that database, and the file is missing", path.display())]
    Lost {
        /// Where the file was.
        path: PathBuf,
        /// What brings it back.
        advice: String,
    },
    /// The file at the path is not the one that was opened: another one was put there, or it is gone.
    #[error(
        "could not write to {}: the file was replaced or removed after it was opened; nothing was written",
        path.display()
    )]
    Replaced {
        /// Where the file was.
        path: PathBuf,
    },
    /// A file is in the way of the one to be made.
    #[error("could not create {}: the file already exists", path.display())]
    Exists {
        /// The file that is there.
        path: PathBuf,
    },
    /// The log of a database that is gone lies where the log of the new one would be.
    #[error("could not create {}: {} is left over from an earlier database", path.display(), log.display())]
    LeftOverLog {
        /// The database to be made.
        path: PathBuf,
        /// The log that SQLite would play into it.
        log: PathBuf,
    },
    /// The log beside the database was written for another one.
    #[error("could not use {}: the log {} belongs to another database", path.display(), log.display())]
    ForeignLog {
        /// The database.
        path: PathBuf,
        /// The log that SQLite would play into it.
        log: PathBuf,
    },
    /// Another program held the database for longer than we were willing to wait.
    #[error("could not use {}: another program holds it locked", path.display())]
    Locked {
        /// The locked database.
        path: PathBuf,
    },
    /// The file is not a whole SQLite database.
    #[error("could not read {}: {why}", path.display())]
    Damaged {
        /// The damaged database.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// The file is a database, but not one with sessions and messages.
    #[error("could not read {}: {why}", path.display())]
    NotSessions {
        /// The database.
        path: PathBuf,
        /// What is missing.
        why: String,
    },
    /// The file is a database, but not a memory.
    #[error("could not read {}: it is not a memory of Hermes", path.display())]
    NotMemory {
        /// The database.
        path: PathBuf,
    },
    /// The memory belongs to another profile.
    #[error("could not use {}: it belongs to profile {found}, not {wanted}", path.display())]
    OtherProfile {
        /// The database.
        path: PathBuf,
        /// The profile it belongs to.
        found: String,
        /// The profile that was asked for.
        wanted: String,
    },
    /// No such fact, episode, procedure or event can be read by the one who asks.
    #[error("could not find {item}")]
    NoSuchItem {
        /// What was asked for, as typed.
        item: String,
    },
    /// Several items begin with what was typed.
    #[error("could not tell which one {selector} means: {}", candidates.join(", "))]
    SeveralItems {
        /// What was asked for.
        selector: String,
        /// The ones that fit.
        candidates: Vec<String>,
    },
    /// The item is not in the state that the change needs.
    #[error("could not {doing} {item}: {why}")]
    ItemRefused {
        /// The verb, for the message.
        doing: &'static str,
        /// The item.
        item: String,
        /// What is in the way.
        why: String,
    },
    /// A vector has not the dimensions of its model.
    #[error("could not store a vector of {found} dimensions: the model {model} has {wanted}")]
    WrongDimensions {
        /// The model.
        model: String,
        /// The dimensions of the vector.
        found: usize,
        /// The dimensions of the model.
        wanted: usize,
    },
    /// A counter that is part of every number has no room left.
    #[error("could not record more: {what} is full")]
    Full {
        /// What is full.
        what: &'static str,
    },
    /// The database was written by a later version of this program.
    #[error("could not open {}: its schema is {found}, this version supports up to {known}", path.display())]
    NewerSchema {
        /// The database.
        path: PathBuf,
        /// The schema number in the file.
        found: i64,
        /// The newest schema number this build knows.
        known: i64,
    },
    /// The database was written by an earlier version and cannot be brought up to date where it lies.
    #[error(
        "could not read {}: its schema {found} must be upgraded to {known}, but the file is not \
         writable",
        path.display()
    )]
    OlderSchema {
        /// The database.
        path: PathBuf,
        /// The schema number in the file.
        found: i64,
        /// The schema number this build needs.
        known: i64,
    },
    /// Nothing happened to the item that could be taken back.
    #[error("could not undo a change of {item}: there is none to undo")]
    NothingToUndo {
        /// The item.
        item: String,
    },
    /// The layout of the database lets us read but not write.
    #[error("could not write to {}: {why}", path.display())]
    ReadOnlyLayout {
        /// The database.
        path: PathBuf,
        /// What keeps us from writing.
        why: String,
    },
    /// The file or its folder may not be written by this user.
    #[error("could not write to {}: the file is not writable", path.display())]
    NotWritable {
        /// The database.
        path: PathBuf,
    },
    /// The store was opened for reading and asked to write.
    #[error("could not write to {}: it was opened for reading", path.display())]
    OpenedForReading {
        /// The database.
        path: PathBuf,
    },
    /// No session fits the selector.
    #[error("could not find session {selector}")]
    NotFound {
        /// What was asked for.
        selector: String,
    },
    /// No message with this number is in the session.
    #[error("could not find message {message} in session {session}")]
    MessageNotFound {
        /// The session.
        session: String,
        /// The message's number.
        message: i64,
    },
    /// Several sessions fit the selector.
    #[error("could not tell which session {selector} means: {}", candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        selector: String,
        /// The ids that fit, newest first.
        candidates: Vec<String>,
    },
    /// A session with this id is already there.
    #[error("could not create session {id}: it already exists")]
    SessionExists {
        /// The id.
        id: String,
    },
    /// Another session already has the title.
    #[error("could not use the title {title:?}: session {owner} has it")]
    TitleTaken {
        /// The title.
        title: String,
        /// The session that has it.
        owner: String,
    },
    /// The text cannot be a title.
    #[error("could not use the title {title:?}: {why}")]
    BadTitle {
        /// The title.
        title: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Taking the session out here would damage an index that Hermes Agent keeps.
    #[error(
        "could not delete session {id}: it has parts that only Hermes Agent can remove from its \
         index"
    )]
    DeleteRefused {
        /// The session.
        id: String,
    },
    /// The cure would alter a database that belongs to another program.
    #[error("could not repair {}: {why}", path.display())]
    RepairRefused {
        /// The database.
        path: PathBuf,
        /// Why it is left as it is.
        why: String,
    },
    /// The text to import could not be read.
    #[error("could not read line {line} of the import")]
    ImportUnreadable {
        /// The number of the line, from 1.
        line: u64,
        /// What the reader said.
        #[source]
        source: std::io::Error,
    },
    /// The export could not be written where the caller wanted it.
    #[error("could not write the export of session {session}")]
    ExportUnwritten {
        /// The session.
        session: String,
        /// What the writer said.
        #[source]
        source: std::io::Error,
    },
    /// The export of a memory could not be written where the caller wanted it.
    #[error("could not write the export")]
    MemoryUnwritten {
        /// What the writer said.
        #[source]
        source: std::io::Error,
    },
    /// A file beside the database could not be made, moved or looked at.
    #[error("could not {doing} {}", path.display())]
    File {
        /// The verb, for the message.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A copy could not be written: the disk is full, or it fails.
    #[error("could not write {}: the disk is full or failing", path.display())]
    CopyUnwritten {
        /// The copy.
        path: PathBuf,
    },
    /// A copy was not done in the time it was given.
    #[error("could not copy {}: only {done} of {of} bytes were copied in {seconds} s", path.display())]
    CopyTooSlow {
        /// The database that was copied.
        path: PathBuf,
        /// The time it was given.
        seconds: u64,
        /// Bytes that were copied.
        done: u64,
        /// Bytes in all.
        of: u64,
    },
    /// Something about a PostgreSQL server.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// SQLite refused for a reason none of the other variants names.
    #[error("could not use {}: {}", path.display(), words_of(refusal))]
    Database {
        /// The database.
        path: PathBuf,
        /// What SQLite said; no `source`, since its words are in the message already.
        refusal: rusqlite::Error,
    },
}

/// The kinds of failure a caller tells apart, one for each exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorKind {
    /// Anything not named below.
    Failure,
    /// What was asked for is not in the database.
    NotFound,
    /// It could be done, and was not, for safety.
    Refused,
    /// The database file does not exist.
    Missing,
    /// The database is locked by another program.
    Locked,
    /// The database file is damaged.
    Damaged,
    /// A server does not take who we are.
    Unauthorized,
    /// A server cannot be reached or talked to.
    Unreachable,
    /// Whoever asked waits no longer.
    Stopped,
}

impl Error {
    /// The kind of failure, for exit codes.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Server(error) => error.kind(),
            Error::Missing { .. } | Error::Lost { .. } => ErrorKind::Missing,
            Error::Locked { .. } => ErrorKind::Locked,
            Error::Stopped => ErrorKind::Stopped,
            Error::Damaged { .. } | Error::NotSessions { .. } | Error::NotMemory { .. } => {
                ErrorKind::Damaged
            }
            Error::NotFound { .. } | Error::MessageNotFound { .. } | Error::NoSuchItem { .. } => {
                ErrorKind::NotFound
            }
            Error::Exists { .. }
            | Error::LeftOverLog { .. }
            | Error::ForeignLog { .. }
            | Error::Replaced { .. }
            | Error::NewerSchema { .. }
            | Error::OlderSchema { .. }
            | Error::NothingToUndo { .. }
            | Error::ReadOnlyLayout { .. }
            | Error::OpenedForReading { .. }
            | Error::Ambiguous { .. }
            | Error::SessionExists { .. }
            | Error::TitleTaken { .. }
            | Error::BadTitle { .. }
            | Error::DeleteRefused { .. }
            | Error::OtherProfile { .. }
            | Error::SeveralItems { .. }
            | Error::ItemRefused { .. }
            | Error::WrongDimensions { .. }
            | Error::Full { .. }
            | Error::RepairRefused { .. } => ErrorKind::Refused,
            Error::ImportUnreadable { .. }
            | Error::ExportUnwritten { .. }
            | Error::MemoryUnwritten { .. }
            | Error::NotWritable { .. }
            | Error::File { .. }
            | Error::CopyUnwritten { .. }
            | Error::CopyTooSlow { .. }
            | Error::Database { .. } => ErrorKind::Failure,
        }
    }

    /// The next thing to try, where there is one.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Error::Missing { .. } => "create a home with `hermes init`",
            Error::Lost { advice, .. } => advice,
            Error::Replaced { .. } => "put the right file there, then run `hermes restart`",
            Error::LeftOverLog { .. } => {
                "move it away, or restore the database it belongs to: it may contain messages"
            }
            Error::ForeignLog { .. } => "move the log away, or put back the database it belongs to",
            Error::Stopped => "request less at a time",
            Error::Locked { .. } => "try again when the other program has finished",
            Error::Damaged { why, .. } if why == EMPTY => {
                "the file is empty: move it away; `hermes init` then names a backup that has it"
            }
            Error::Damaged { .. } => {
                "keep the file; `hermes sessions repair` saves everything that can be read"
            }
            Error::NotWritable { .. } => {
                "check the owner and mode of the file and its folder, or run `hermes doctor`"
            }
            Error::Database { refusal, .. }
                if matches!(
                    refusal.sqlite_error_code(),
                    Some(rusqlite::ErrorCode::DiskFull | rusqlite::ErrorCode::SystemIoFailure)
                ) =>
            {
                "check whether the disk is full or failing"
            }
            Error::CopyUnwritten { .. } => "free some space, or check whether the disk is failing",
            Error::CopyTooSlow { .. } => "try again when less is being written to it",
            Error::OlderSchema { .. } => {
                "make the file and its folder writable for one command, or copy it to a writable \
                 folder"
            }
            Error::NothingToUndo { .. } => {
                "see it with `hermes memory fact show`, or delete it with `hermes memory fact \
                 delete`"
            }
            Error::NewerSchema { .. } => "upgrade hermes, or restore an older backup",
            Error::NotFound { .. } => "`hermes sessions list` shows the sessions",
            Error::Ambiguous { .. } | Error::SeveralItems { .. } => "give more of the id",
            Error::NoSuchItem { item } if item.starts_with("fact") => {
                "`hermes memory fact list` shows the facts"
            }
            Error::WrongDimensions { .. } => "recompute the vectors with `hermes memory reembed`",
            Error::DeleteRefused { .. } => "delete it in Hermes Agent",
            Error::TitleTaken { .. } => "choose another title, or rename that session first",
            Error::Server(error) => return error.hint(),
            _ => return None,
        };
        Some(hint.to_owned())
    }

    /// Whether what was to be written must be kept elsewhere until the database can be had again: it is locked,
    /// damaged, lost, replaced or of another version, or a server is in the way.
    pub fn must_wait(&self) -> bool {
        let is_another = matches!(self, Error::NewerSchema { .. } | Error::OlderSchema { .. });
        let is_gone = matches!(self, Error::Lost { .. } | Error::Replaced { .. });
        let is_away = matches!(self, Error::Server(_));
        is_another
            || is_gone
            || is_away
            || matches!(self.kind(), ErrorKind::Locked | ErrorKind::Damaged)
    }

    /// Whether the same thing may work a moment later, with nothing else done about it.
    pub fn is_retriable(&self) -> bool {
        matches!(self, Error::Server(error) if error.is_retriable())
    }

    /// What SQLite said about the database at `path`, as the variant that fits.
    pub(crate) fn from_sqlite(path: &Path, source: rusqlite::Error) -> Error {
        use rusqlite::ErrorCode;
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Locked { path },
            Some(ErrorCode::DatabaseCorrupt) => {
                let why = format!("the database is damaged ({})", words_of(&source));
                Error::Damaged { path, why }
            }
            Some(ErrorCode::OperationInterrupted) => Error::Stopped,
            Some(ErrorCode::ReadOnly) => Error::NotWritable { path },
            Some(ErrorCode::NotADatabase) => {
                Error::Damaged { path, why: "the file is not a SQLite database".to_owned() }
            }
            _ => Error::Database { path, refusal: source },
        }
    }
}

/// What SQLite said, without the SQL text it said it about.
pub(crate) fn words_of(refusal: &rusqlite::Error) -> String {
    match refusal {
        rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
        other => other.to_string(),
    }
}
