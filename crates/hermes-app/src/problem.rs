//! An error as people see it: its kind, what went wrong, and the next thing to try.

use std::fmt;

use serde::Serialize;

/// The kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Something failed.
    Failure,
    /// What was asked is not understood.
    Usage,
    /// Some items were left out.
    Partial,
    /// The named thing is not there.
    NotFound,
    /// A safety check said no.
    Refused,
    /// A check found problems.
    Findings,
    /// There is no home or database.
    Missing,
    /// Another program has it.
    Locked,
    /// A key is missing or does not fit.
    WrongKey,
    /// A model or server cannot be had now.
    Unavailable,
    /// It took longer than it may.
    TimedOut,
}

/// An error of the program itself, in words for people.
#[derive(Debug)]
pub struct Problem {
    kind: Kind,
    message: String,
    hint: Option<String>,
}

impl Problem {
    /// A problem in words.
    pub fn new(kind: Kind, message: impl Into<String>) -> Problem {
        Problem { kind, message: message.into(), hint: None }
    }

    /// What was asked is not understood.
    pub fn usage(message: impl Into<String>) -> Problem {
        Problem::new(Kind::Usage, message)
    }

    /// The next thing to try.
    pub fn hint(mut self, hint: impl Into<String>) -> Problem {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

/// What an error says to somebody.
#[derive(Debug, Serialize)]
pub struct ErrorText {
    /// Its kind.
    pub kind: Kind,
    /// What went wrong.
    pub message: String,
    /// The next thing to try.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A kind in one word.
pub fn word(kind: Kind) -> String {
    let word = serde_json::to_value(kind).unwrap_or_default();
    word.as_str().unwrap_or("failure").to_owned()
}

/// The kind of an error in one word, for logs that must not hold what the error says.
pub fn kind_word(error: &anyhow::Error) -> String {
    word(told(error).kind)
}

/// What an error says to somebody: its kind, its message and the next thing to try.
pub fn told(error: &anyhow::Error) -> ErrorText {
    let (kind, hint) = error
        .chain()
        .find_map(|cause| {
            None.or_else(|| cause.downcast_ref().map(of_problem))
                .or_else(|| cause.downcast_ref().map(of_home))
                .or_else(|| cause.downcast_ref().map(of_store))
                .or_else(|| cause.downcast_ref().map(of_memory))
                .or_else(|| cause.downcast_ref().map(of_model))
                .or_else(|| cause.downcast_ref().map(of_backup))
                .or_else(|| cause.downcast_ref().map(of_import))
                .or_else(|| cause.downcast_ref().map(of_agent))
        })
        .unwrap_or((Kind::Failure, None));
    ErrorText { kind, message: message(error), hint }
}

/// The next thing to try, where there is one.
pub fn hint(error: &anyhow::Error) -> Option<String> {
    told(error).hint
}

/// The chain of causes in one line, none said twice.
pub fn message(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let part = cause.to_string();
        if text.is_empty() {
            text = part;
        } else if !text.contains(&part) {
            text = format!("{text}: {part}");
        }
    }
    text
}

/// Whether what is locked is a database or a file that somebody writes to in this moment, not work that is under way.
pub fn is_passing_lock(error: &anyhow::Error) -> bool {
    let is_work = |cause: &(dyn std::error::Error + 'static)| {
        cause.is::<Problem>() || cause.is::<hermes_backup::Error>()
    };
    told(error).kind == Kind::Locked && !error.chain().any(is_work)
}

fn of_problem(problem: &Problem) -> (Kind, Option<String>) {
    (problem.kind, problem.hint.clone())
}

fn of_home(error: &hermes_home::Error) -> (Kind, Option<String>) {
    use hermes_home::ErrorKind;
    let kind = match error.kind() {
        ErrorKind::Failure => Kind::Failure,
        ErrorKind::Usage => Kind::Usage,
        ErrorKind::NotFound => Kind::NotFound,
        ErrorKind::Refused => Kind::Refused,
        ErrorKind::Missing => Kind::Missing,
        ErrorKind::Locked => Kind::Locked,
    };
    (kind, error.hint())
}

fn of_store(error: &hermes_store::Error) -> (Kind, Option<String>) {
    use hermes_store::ErrorKind;
    let kind = match error.kind() {
        ErrorKind::NotFound => Kind::NotFound,
        ErrorKind::Refused => Kind::Refused,
        ErrorKind::Missing => Kind::Missing,
        ErrorKind::Locked => Kind::Locked,
        ErrorKind::Unauthorized => Kind::WrongKey,
        ErrorKind::Unreachable => Kind::Unavailable,
        ErrorKind::Stopped => Kind::TimedOut,
        _ => Kind::Failure,
    };
    (kind, store_hint(error))
}

/// The next thing to try with a database; what mends state.db does not mend memory.db.
pub fn store_hint(error: &hermes_store::Error) -> Option<String> {
    match error {
        hermes_store::Error::Damaged { path, why } if !path.ends_with("state.db") => {
            let is_empty = why == "the file is empty";
            let hint = match is_empty {
                true => {
                    "the file is empty: move it away; `hermes doctor` then names a backup that has \
                     it"
                }
                false => "keep the file, and replace it with an earlier copy",
            };
            Some(hint.to_owned())
        }
        other => other.hint(),
    }
}

fn of_import(error: &hermes_import::Error) -> (Kind, Option<String>) {
    use hermes_import::Error;
    match error {
        Error::Store(error) => of_store(error),
        Error::Missing { .. } => (Kind::NotFound, error.hint()),
        Error::NotThis { .. } | Error::Hostile { .. } => (Kind::Refused, error.hint()),
        _ => (Kind::Failure, error.hint()),
    }
}

fn of_memory(error: &hermes_memory::Error) -> (Kind, Option<String>) {
    match error {
        hermes_memory::Error::Store(error) => of_store(error),
        hermes_memory::Error::Model(error) => of_model(error),
        hermes_memory::Error::Home(error) => of_home(error),
        hermes_memory::Error::NotApproved { .. } | hermes_memory::Error::Secret { .. } => {
            (Kind::Refused, error.hint())
        }
        other => (Kind::Failure, other.hint()),
    }
}

fn of_model(error: &hermes_llm::Error) -> (Kind, Option<String>) {
    use hermes_llm::ErrorKind;
    let kind = match error.kind() {
        ErrorKind::Unavailable => Kind::Unavailable,
        ErrorKind::NoSuchModel => Kind::NotFound,
        ErrorKind::DimensionMismatch | ErrorKind::NoAccess | ErrorKind::Declined => Kind::Refused,
        ErrorKind::Refused | ErrorKind::BadAnswer | ErrorKind::TooLong => Kind::Failure,
    };
    (kind, error.hint())
}

fn of_agent(error: &hermes_agent::Error) -> (Kind, Option<String>) {
    use hermes_agent::ErrorKind;
    if let hermes_agent::Error::Home(error) = error {
        return of_home(error);
    }
    let kind = match error.kind() {
        ErrorKind::Failure => Kind::Failure,
        ErrorKind::Usage => Kind::Usage,
        ErrorKind::NotFound => Kind::NotFound,
        ErrorKind::Refused => Kind::Refused,
    };
    (kind, error.hint())
}

fn of_backup(error: &hermes_backup::Error) -> (Kind, Option<String>) {
    use hermes_backup::Error;
    match error {
        Error::Home(error) => of_home(error),
        Error::Store(error) => of_store(error),
        Error::NotFound { .. } | Error::NotInBackup { .. } | Error::NothingAside { .. } => {
            (Kind::NotFound, error.hint())
        }
        Error::Busy { .. } | Error::InUse { .. } => (Kind::Locked, error.hint()),
        Error::NoKey { .. } | Error::WrongKey { .. } => (Kind::WrongKey, error.hint()),
        Error::Setting { .. } => (Kind::Usage, error.hint()),
        Error::NotEncrypted
        | Error::CannotEncrypt { .. }
        | Error::CutOff { .. }
        | Error::NotRestorable { .. }
        | Error::NotImported { .. }
        | Error::Tampered { .. }
        | Error::NotSigned { .. }
        | Error::OtherSigner { .. }
        | Error::Ahead { .. }
        | Error::UnsafePrune { .. } => (Kind::Refused, error.hint()),
        Error::Remote { .. } => (Kind::Unavailable, error.hint()),
        Error::File { .. }
        | Error::NotArchive { .. }
        | Error::NoSpace { .. }
        | Error::ServerProgram { .. } => (Kind::Failure, error.hint()),
    }
}
