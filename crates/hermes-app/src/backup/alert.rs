//! Tells somebody when backups fail: a command, or a message to a web address.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hermes_backup::folder::{Event, Happened};
use hermes_backup::status::{self, About, Colour, Reason, Standing};
use hermes_home::config::Backup;
use jiff::Timestamp;
use serde::Serialize;

use super::wanted::Wanted;
use crate::platform;
use crate::problem::{Kind, Problem};

/// How long the command may take.
const COMMAND_LIMIT: Duration = Duration::from_secs(30);
/// How long the web address may take.
const WEB_LIMIT: Duration = Duration::from_secs(10);

/// What is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// All of it in a line.
    pub text: String,
    /// How it stands.
    pub colour: Colour,
    /// The host.
    pub host: String,
    /// Each reason.
    pub reasons: Vec<String>,
}

/// Tells what the settings ask for, and notes in the history what was told; once for each streak.
///
/// Says what was done; nothing if there is nothing to tell, or nobody to tell it to.
pub fn tell(
    wanted: &Wanted,
    standing: &Standing,
    history: &[Event],
    now: Timestamp,
) -> anyhow::Result<Vec<String>> {
    let settings = &wanted.settings;
    let causes = causes(standing, history, settings.alert_after);
    if causes.is_empty() {
        return Ok(Vec::new());
    }
    let done = send(settings, &message(standing, &platform::host()))?;
    if done.is_empty() {
        return Ok(done);
    }
    for cause in causes {
        let what = Happened::Alerted;
        wanted.folder.note(&Event { at: now, what, id: None, place: None, detail: cause })?;
    }
    Ok(done)
}

/// What is new and worth an alert: failed attempts, as many as asked for, and everything that is red.
pub fn causes(standing: &Standing, history: &[Event], after: u32) -> Vec<String> {
    let is_worth = |reason: &&Reason| match reason.about {
        About::Attempts => standing.failures >= after,
        About::Push => {
            let place = reason.place.as_deref().unwrap_or_default();
            status::push_failures(history, place) >= after
        }
        _ => reason.colour == Colour::Red,
    };
    let mut causes: Vec<String> = standing.reasons.iter().filter(is_worth).map(cause).collect();
    causes.dedup();
    causes.retain(|cause| !is_told(cause, history));
    causes
}

/// The message for people and programs.
pub fn message(standing: &Standing, host: &str) -> Message {
    let reasons: Vec<String> = standing.reasons.iter().map(|reason| reason.what.clone()).collect();
    let colour = match standing.colour {
        Colour::Green => "green",
        Colour::Amber => "amber",
        Colour::Red => "red",
    };
    let text = format!("backups of {host} are {colour}: {}", reasons.join("; "));
    Message { text, colour: standing.colour, host: host.to_owned(), reasons }
}

/// Runs the command and sends to the web address, whichever are set; fails if one of them does.
pub fn send(settings: &Backup, message: &Message) -> anyhow::Result<Vec<String>> {
    let mut done = Vec::new();
    let command = settings.alert_command.as_deref().map(|command| {
        run(command, &message.text, COMMAND_LIMIT).map(|()| "the alert command was run".to_owned())
    });
    let webhook = settings.alert_webhook.as_ref().map(|address| {
        post(address.reveal(), message).map(|()| "the alert was sent to the webhook".to_owned())
    });
    // The second is tried whatever became of the first.
    for tried in command.into_iter().chain(webhook) {
        done.push(tried?);
    }
    Ok(done)
}

/// What a reason is known by in the history: what changes from night to night is no part of it.
fn cause(reason: &Reason) -> String {
    let about = serde_json::to_value(reason.about).unwrap_or_default();
    let about = about.as_str().unwrap_or_default().to_owned();
    match reason.about {
        About::Check | About::Drill => format!("{about}: {}", reason.what),
        About::Push => format!("{about}: {}", reason.place.as_deref().unwrap_or_default()),
        _ => about,
    }
}

/// Whether it was told, and nothing has shown since that it is over.
fn is_told(cause: &str, history: &[Event]) -> bool {
    use Happened::{Created, Drilled, Pushed, Reached, Verified};
    let is_over = |event: &Event| match cause.split_once(": ").unwrap_or((cause, "")) {
        ("check", _) => event.what == Verified,
        ("drill" | "drill_age", _) => event.what == Drilled,
        ("push", place) => {
            matches!(event.what, Pushed | Reached) && event.place.as_deref() == Some(place)
        }
        _ => event.what == Created,
    };
    let since = history.iter().rev().take_while(|event| !is_over(event));
    since.into_iter().any(|event| event.what == Happened::Alerted && event.detail == cause)
}

fn post(address: &str, message: &Message) -> anyhow::Result<()> {
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(WEB_LIMIT))
        .max_redirects(0)
        .http_status_as_error(false)
        .user_agent(concat!("hermes/", env!("CARGO_PKG_VERSION")))
        .build();
    let body = serde_json::to_string(message)?;
    let sent = ureq::Agent::new_with_config(config)
        .post(address)
        .header("content-type", "application/json")
        .send(body.as_str());
    // The address may itself be a secret: it is in no message.
    let why = match sent {
        Ok(answer) if answer.status().is_success() => return Ok(()),
        Ok(answer) => format!("it responded with {}", answer.status().as_u16()),
        Err(ureq::Error::Timeout(_)) => "it did not respond within 10 s".to_owned(),
        Err(_) => "it could not be reached".to_owned(),
    };
    let what = format!("could not send the alert to backup.alert_webhook: {why}");
    Err(Problem::new(Kind::Unavailable, what).into())
}

/// Runs a command without a shell: words and quotes alone are understood.
fn run(command: &str, text: &str, limit: Duration) -> anyhow::Result<()> {
    let failed = |why: String| {
        Problem::new(Kind::Failure, format!("could not run backup.alert_command: {why}"))
    };
    let words = words(command).ok_or_else(|| failed("a quote is not closed".to_owned()))?;
    let (program, arguments) =
        words.split_first().ok_or_else(|| failed("it is empty".to_owned()))?;
    let mut process = Command::new(program);
    process.args(arguments).env("HERMES_ALERT", text).stdin(Stdio::piped());
    process.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = process.spawn().map_err(|error| failed(format!("{program}: {error}")))?;
    if let Some(mut input) = child.stdin.take() {
        let line = format!("{text}\n");
        // A command that does not read must not hold us up.
        std::thread::spawn(move || {
            let _ = input.write_all(line.as_bytes());
        });
    }
    let begun = Instant::now();
    loop {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(failed(format!("{program}: {status}")).into()),
            None if begun.elapsed() >= limit => {
                let _ = child.kill();
                let _ = child.wait();
                let why = format!("{program} did not finish within {} s", limit.as_secs());
                return Err(failed(why).into());
            }
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

/// The words of a command line; none if a quote is not closed.
fn words(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None::<char>);
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (letter, Some(open)) if letter == open => quote = None,
            ('\\', None | Some('"')) => word.get_or_insert_default().push(letters.next()?),
            (letter, Some(_)) => word.get_or_insert_default().push(letter),
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (letter, None) if letter.is_whitespace() => words.extend(word.take()),
            (letter, None) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
#[path = "alert_tests.rs"]
mod tests;
