//! An error as the user sees it: what, why, hint, and the exit code.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

use crate::output::in_place;

/// How a command ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// All done.
    Done,
    /// Done, but some items were left out.
    Partial,
    /// The check was made and found problems.
    Findings,
    /// It failed in a way that was shown already.
    Told(Kind),
    /// The person stopped it.
    Interrupted,
}

/// The exit code of a program that was interrupted, as shells count it.
pub(crate) const INTERRUPTED: u8 = 130;

impl Outcome {
    /// The worse of two: findings, then partly done, then done.
    pub(crate) fn worst(self, other: Outcome) -> Outcome {
        match (self, other) {
            (Outcome::Interrupted, _) | (_, Outcome::Interrupted) => Outcome::Interrupted,
            (Outcome::Told(kind), _) | (_, Outcome::Told(kind)) => Outcome::Told(kind),
            (Outcome::Findings, _) | (_, Outcome::Findings) => Outcome::Findings,
            (Outcome::Partial, _) | (_, Outcome::Partial) => Outcome::Partial,
            _ => Outcome::Done,
        }
    }

    pub(crate) fn exit_code(self) -> ExitCode {
        match self {
            Outcome::Done => ExitCode::SUCCESS,
            Outcome::Partial => Kind::Partial.exit_code(),
            Outcome::Findings => Kind::Findings.exit_code(),
            Outcome::Told(kind) => kind.exit_code(),
            Outcome::Interrupted => ExitCode::from(INTERRUPTED),
        }
    }
}

/// The kinds of failure, one for each documented exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Failure,
    Usage,
    Partial,
    NotFound,
    Refused,
    Findings,
    Missing,
    Locked,
    WrongKey,
    Unavailable,
}

/// Every exit code with its meaning, for the reference page.
pub(crate) const EXIT_CODES: &[(u8, &str)] = &[
    (0, "done; an empty list or search is 0 too"),
    (1, "failed"),
    (2, "what was typed is not understood"),
    (3, "partly done: some items were left out, and named"),
    (4, "the named thing was not found"),
    (5, "refused: needs `--yes`, or a safety check said no"),
    (
        6,
        "a check ran to its end and found problems (`doctor`, `config check`, `sessions repair --check`, `skills validate`, `backup verify`, `backup drill`, `backup status`)",
    ),
    (10, "there is no home or database there"),
    (11, "locked by another program"),
    (12, "a key, passphrase or password that is missing or does not fit"),
    (13, "a model, a place off this host, or the server of the memory cannot be had now"),
    (130, "interrupted"),
];

impl Kind {
    fn code(self) -> u8 {
        match self {
            Kind::Failure => 1,
            Kind::Usage => 2,
            Kind::Partial => 3,
            Kind::NotFound => 4,
            Kind::Refused => 5,
            Kind::Findings => 6,
            Kind::Missing => 10,
            Kind::Locked => 11,
            Kind::WrongKey => 12,
            Kind::Unavailable => 13,
        }
    }

    fn exit_code(self) -> ExitCode {
        ExitCode::from(self.code())
    }
}

/// An error that belongs to the command line itself.
#[derive(Debug)]
pub(crate) struct Problem {
    kind: Kind,
    message: String,
    hint: Option<String>,
}

impl Problem {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Problem {
        Problem { kind, message: message.into(), hint: None }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Problem {
        Problem::new(Kind::Usage, message)
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Problem {
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

#[derive(Debug, Serialize)]
struct Shown {
    kind: Kind,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Debug, Serialize)]
struct Envelope {
    error: Shown,
}

/// Prints the error where the user looks for it and returns its exit code.
///
/// `place` holds the flags that name the home, so that the command of a hint means the same home.
pub(crate) fn report(error: &anyhow::Error, json: bool, place: &str) -> ExitCode {
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    let mut shown = shown(error);
    shown.hint = shown.hint.map(|hint| in_place(&hint, place));
    let code = shown.kind.exit_code();
    print(shown, json);
    code
}

/// The same for a command line that clap did not understand (or for `--help`).
pub(crate) fn report_usage(error: &clap::Error) -> ExitCode {
    let json = std::env::args_os().any(|argument| argument == "--json");
    if !error.use_stderr() || !json {
        // A closed pipe is the only thing that can go wrong here, and it is not a failure.
        let _ = error.print();
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(1));
    }
    let text = error.to_string();
    let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    print(Shown { kind: Kind::Usage, message, hint: Some("see `hermes --help`".into()) }, true);
    Kind::Usage.exit_code()
}

/// What an error says to somebody: its kind, its message and the next thing to try.
pub(crate) fn told(error: &anyhow::Error) -> (Kind, String, Option<String>) {
    let Shown { kind, message, hint } = shown(error);
    (kind, message, hint)
}

/// A kind in one word.
pub(crate) fn word(kind: Kind) -> String {
    let word = serde_json::to_value(kind).unwrap_or_default();
    word.as_str().unwrap_or("failure").to_owned()
}

/// The kind of an error in one word, for logs that must not hold what the error says.
pub(crate) fn kind_word(error: &anyhow::Error) -> String {
    word(shown(error).kind)
}

fn print(shown: Shown, json: bool) {
    // Where even the error cannot be written there is nobody left to tell.
    if json {
        let text = serde_json::to_string(&Envelope { error: shown }).unwrap_or_default();
        let _ = writeln!(io::stdout(), "{text}");
        return;
    }
    let mut stderr = anstream::stderr();
    let red = anstyle::AnsiColor::Red.on_default().bold();
    let cyan = anstyle::AnsiColor::Cyan.on_default();
    let _ = writeln!(stderr, "{red}hermes:{red:#} {}", shown.message);
    if let Some(hint) = shown.hint {
        let _ = writeln!(stderr, "{cyan}hint:{cyan:#} {hint}");
    }
}

fn shown(error: &anyhow::Error) -> Shown {
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
    Shown { kind, message: message(error), hint }
}

/// The next thing to try, where there is one.
pub(crate) fn hint(error: &anyhow::Error) -> Option<String> {
    shown(error).hint
}

/// The chain of causes in one line, none said twice.
pub(crate) fn message(error: &anyhow::Error) -> String {
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
pub(crate) fn is_passing_lock(error: &anyhow::Error) -> bool {
    let is_work = |cause: &(dyn std::error::Error + 'static)| {
        cause.is::<Problem>() || cause.is::<hermes_backup::Error>()
    };
    told(error).0 == Kind::Locked && !error.chain().any(is_work)
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
        _ => Kind::Failure,
    };
    (kind, store_hint(error))
}

/// The next thing to try with a database; what mends state.db does not mend memory.db.
pub(crate) fn store_hint(error: &hermes_store::Error) -> Option<String> {
    match error {
        hermes_store::Error::Damaged { path, why } if !path.ends_with("state.db") => {
            let is_empty = why == "the file is empty";
            let hint = match is_empty {
                true => {
                    "there is nothing in it: move it away, then `hermes doctor` names the backup that has it"
                }
                false => "keep the file as it is, and put a copy from before in its place",
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
        hermes_memory::Error::NotApproved { .. } => (Kind::Refused, error.hint()),
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

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
