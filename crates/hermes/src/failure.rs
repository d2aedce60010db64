//! How a command ends: its outcome, its exit code, and the error where the user looks for it.

use std::io::{self, Write};
use std::process::ExitCode;

use hermes_app::platform::INTERRUPTED;
use hermes_app::problem::{self, ErrorText, Kind};
use hermes_app::text::{in_place, printable, with_marks};
use serde::Serialize;

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
            Outcome::Partial => exit_code(Kind::Partial),
            Outcome::Findings => exit_code(Kind::Findings),
            Outcome::Told(kind) => exit_code(kind),
            Outcome::Interrupted => ExitCode::from(INTERRUPTED as u8),
        }
    }
}

/// Every exit code with its meaning, for the reference page.
pub(crate) const EXIT_CODES: &[(u8, &str)] = &[
    (0, "success; also if a list or search is empty"),
    (1, "failed"),
    (2, "usage error: the command line or the input is not valid"),
    (3, "partial success: some items were skipped and reported"),
    (4, "the named thing was not found"),
    (5, "refused: it needs `--yes`, or a safety check failed"),
    (
        6,
        "a check completed and found problems (`doctor`, `config check`, `sessions repair --check`, `skills validate`, `backup verify`, `backup drill`, `backup status`)",
    ),
    (10, "there is no home or no database"),
    (11, "locked by another program"),
    (12, "a key, passphrase or password is missing or wrong"),
    (
        13,
        "a model, a remote, or the memory's database server is unavailable or did not respond in time",
    ),
    (130, "interrupted"),
];

/// The exit code of a kind of failure.
fn exit_code(kind: Kind) -> ExitCode {
    ExitCode::from(match kind {
        Kind::Failure => 1,
        Kind::Usage => 2,
        Kind::Partial => 3,
        Kind::NotFound => 4,
        Kind::Refused => 5,
        Kind::Findings => 6,
        Kind::Missing => 10,
        Kind::Locked => 11,
        Kind::WrongKey => 12,
        Kind::Unavailable | Kind::TimedOut => 13,
    })
}

#[derive(Debug, Serialize)]
struct Envelope {
    error: ErrorText,
}

/// Prints the error where the user looks for it and returns its exit code.
///
/// `place` holds the flags that name the home, so that the command of a hint means the same home.
pub(crate) fn report(error: &anyhow::Error, json: bool, place: &str) -> ExitCode {
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    let mut shown = problem::told(error);
    shown.hint = shown.hint.map(|hint| in_place(&hint, place));
    let code = exit_code(shown.kind);
    print(shown, json);
    code
}

/// Whether the command line asks for JSON, also one that was not understood.
pub(crate) fn wants_json() -> bool {
    std::env::args_os().any(|argument| argument == "--json")
}

/// The same for a command line that clap did not understand (or for `--help`).
pub(crate) fn report_usage(error: &clap::Error) -> ExitCode {
    let json = wants_json();
    if !error.use_stderr() || !json {
        // A closed pipe is the only thing that can go wrong here, and it is not a failure.
        let _ = error.print();
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(1));
    }
    let text = error.to_string();
    let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    print(ErrorText { kind: Kind::Usage, message, hint: Some("see `hermes --help`".into()) }, true);
    exit_code(Kind::Usage)
}

fn print(shown: ErrorText, json: bool) {
    // Where even the error cannot be written there is nobody left to tell.
    if json {
        let text = serde_json::to_string(&Envelope { error: shown }).unwrap_or_default();
        let _ = writeln!(io::stdout(), "{text}");
        return;
    }
    let mut stderr = anstream::stderr();
    let red = anstyle::AnsiColor::Red.on_default().bold();
    let cyan = anstyle::AnsiColor::Cyan.on_default();
    let _ = writeln!(stderr, "{red}hermes:{red:#} {}", seen(&shown.message));
    if let Some(hint) = shown.hint {
        let _ = writeln!(stderr, "{cyan}hint:{cyan:#} {}", seen(&hint));
    }
}

/// As a person may see it: an error may quote anything.
fn seen(text: &str) -> String {
    with_marks(&printable(text)).into_owned()
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
