//! What an agent's hooks are answered: context when a session or a prompt begins, records when a turn ends.

mod claude_code;
pub(crate) mod counts;
mod cursor;
mod event;
mod hermes_agent;
mod keep;
pub(crate) mod recall;
mod session;
mod transcript;

use std::io::{self, Read as _, Write as _};
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc;
use std::time::{Duration, SystemTime};

use hermes_backup::restore;
use hermes_home::Home;
use hermes_store::memory::Scope;
use hermes_store::memory::UserNumber;
use hermes_store::sqlite::Access;

use self::event::{Caller, Event, Moment};
use crate::app::App;
use crate::desk::context::{self, Handed};
use crate::failure::{kind_word, message};

/// An agent is never kept waiting longer than this.
const HARD_STOP: Duration = Duration::from_millis(800);
/// So long before the end it is noted that it was not enough.
const LAST_WORD: Duration = Duration::from_millis(120);
/// How long the memory may be locked for a recall.
const PATIENCE: Duration = Duration::from_millis(300);
/// No event is larger; one that is, is not read to its end.
const LARGEST_EVENT: u64 = 32 * 1024 * 1024;
/// What an error may say in the counts.
const LONGEST_WHY: usize = 300;

/// Answers one event from standard input. Whatever happens, nothing is said but the answer, and the caller goes on.
pub(crate) fn run(agent: &str, app: &App) {
    panic::set_hook(Box::new(|_| {}));
    let _ = panic::catch_unwind(AssertUnwindSafe(|| serve(agent, app)));
}

fn serve(agent: &str, app: &App) {
    let Some(caller) = Caller::named(agent) else { return };
    // What is written to half of a home would be gone when the restore that was cut off is undone.
    let is_whole = |home: &Home| restore::must_not_be_cut_off(home).is_ok();
    let home = app.existing_home().ok().filter(is_whole);
    let _guard = watch(caller, home.clone(), app);
    let mut bytes = Vec::new();
    let is_read = io::stdin().lock().take(LARGEST_EVENT).read_to_end(&mut bytes).is_ok();
    let Some(home) = home else { return };
    let event = Some(bytes).filter(|_| is_read).and_then(|bytes| caller.read(&bytes));
    let Some(event) = event else {
        note(app, &home, caller, "?", Some("what came is not an event".to_owned()));
        return;
    };
    let quiet = app.for_profile(&home);
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| handle(&quiet, &home, caller, &event)));
    let error = match outcome {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(format!("{}: {}", kind_word(&error), message(&error))),
        Err(_) => Some("it broke off".to_owned()),
    };
    if !event.is_check {
        note(app, &home, caller, &event.name, error);
    }
}

fn handle(app: &App, home: &Home, caller: Caller, event: &Event) -> anyhow::Result<()> {
    if event.is_inner {
        return Ok(());
    }
    match event.moment {
        Moment::Start | Moment::Prompt => inform(app, home, caller, event),
        Moment::Answer if !event.is_check => {
            let Some(id) = &event.session else { return Ok(()) };
            Ok(session::answered(&session::path(home, caller, id), event)?)
        }
        Moment::Stop if !event.is_check => keep::stop(app, home, caller, event),
        Moment::End if !event.is_check => keep::end(app, home, caller, event),
        _ => Ok(()),
    }
}

/// Says what is remembered, then notes what was said.
fn inform(app: &App, home: &Home, caller: Caller, event: &Event) -> anyhow::Result<()> {
    let found = recall(app, home, event);
    let context = found.as_ref().ok().and_then(|found| found.as_ref());
    say(caller, event, context.map(|(text, _)| text.as_str()))?;
    if !event.is_check {
        let asked = (Scope::of(UserNumber::OWNER), event.session.as_deref());
        let handed = context.and_then(|(_, context)| Handed::of(asked, context, app.now));
        match (event.moment, &event.session) {
            // Noted with the turn when it is over: nobody waits for a disk before the model begins.
            (Moment::Prompt, Some(id)) => {
                session::begin(&session::path(home, caller, id), event, handed)?;
            }
            _ => context::hand_out(app, home, handed.as_slice()),
        }
        if event.moment == Moment::Start {
            session::tidy(home, SystemTime::now());
        }
    }
    found.map(drop)
}

type Recalled = Option<(String, hermes_memory::retrieval::Context)>;

fn recall(app: &App, home: &Home, event: &Event) -> anyhow::Result<Recalled> {
    let is_idle = event.moment == Moment::Prompt
        && event.prompt.as_deref().is_none_or(hermes_memory::task::is_nod);
    if is_idle {
        return Ok(None);
    }
    let memory = app.memory_within(home, Access::Read, PATIENCE)?;
    recall::text(app, home, &memory.store, event)
}

fn say(caller: Caller, event: &Event, context: Option<&str>) -> io::Result<()> {
    let Some(answer) = caller.answer(event, context) else { return Ok(()) };
    let mut stdout = io::stdout().lock();
    stdout.write_all(format!("{answer}\n").as_bytes())?;
    stdout.flush()
}

/// Counts what happened; a number is not worth a failure.
fn note(app: &App, home: &Home, caller: Caller, event: &str, error: Option<String>) {
    let error = error.map(|why| crate::output::one_line(&why, LONGEST_WHY));
    let _ = counts::count(&home.hook_counts(), caller.name(), event, app.now, error);
}

/// Ends the process when the time is up, whatever the other thread is at; not while the guard is dropped before.
#[expect(clippy::exit, reason = "an agent must not wait for a disk or a lock that hangs")]
fn watch(caller: Caller, home: Option<Home>, app: &App) -> mpsc::Sender<()> {
    let (guard, over) = mpsc::channel::<()>();
    let now = app.now;
    std::thread::spawn(move || {
        let waited = over.recv_timeout(HARD_STOP - LAST_WORD);
        if waited != Err(mpsc::RecvTimeoutError::Timeout) {
            return;
        }
        if let Some(home) = home {
            std::thread::spawn(move || {
                let why = Some(format!("it took longer than {} ms", HARD_STOP.as_millis()));
                let _ = counts::count(&home.hook_counts(), caller.name(), "?", now, why);
            });
        }
        if over.recv_timeout(LAST_WORD) == Err(mpsc::RecvTimeoutError::Timeout) {
            std::process::exit(0);
        }
    });
    guard
}
