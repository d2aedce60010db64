//! What an agent's hooks are answered: context when a session or a prompt begins, records when a turn ends.

pub(crate) mod bare;
mod deadline;
mod keep;

use std::io::{self, Read as _, Write as _};
use std::panic::{self, AssertUnwindSafe};
use std::time::{Duration, SystemTime};

use hermes_backup::restore;
use hermes_home::Home;
use hermes_store::memory::{Scope, UserNumber};
use hermes_store::sqlite::Access;
use serde_json::{Value, json};

use self::deadline::Deadline;
use self::keep::Keeper;
use hermes_app::app::App;
use hermes_app::context::{self, Given, Handed};
use hermes_app::hooks::event::{Caller, Event, Moment};
use hermes_app::hooks::{counts, finish, recall, session};
use hermes_app::integrate::check::MARK;
use hermes_app::problem::{kind_word, message};

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
    let named = Caller::named(agent);
    if named.is_none() && agent != bare::ANY_AGENT {
        return;
    }
    let deadline = Deadline::begin(named, &app.env, app.now);
    let home = app.existing_home().ok();
    home.iter().for_each(|home| deadline.tells(home));
    let mut bytes = Vec::new();
    let is_read = io::stdin().lock().take(LARGEST_EVENT).read_to_end(&mut bytes).is_ok();
    let caller = named.unwrap_or_else(|| Caller::of_event(&bytes));
    let event = Some(bytes).filter(|_| is_read).and_then(|bytes| caller.read(&bytes));
    let Some(home) = home else {
        if event.is_some_and(|event| event.is_check) {
            let _ = print_line(&json!({MARK: {"home": null}}));
        }
        return;
    };
    let Some(event) = event else {
        note(app, &home, caller, "?", Some("the input is not an event".to_owned()));
        return;
    };
    let quiet = app.for_profile(&home).forgiving();
    let keeper = Keeper { app: &quiet, home: &home, caller, deadline: &deadline };
    if restore::must_not_be_cut_off(&home).is_err() {
        let _ = panic::catch_unwind(AssertUnwindSafe(|| keeper.outside(&event)));
        return;
    }
    let outcome = panic::catch_unwind(AssertUnwindSafe(|| handle(&keeper, &event)));
    let error = match outcome {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(format!("{}: {}", kind_word(&error), message(&error))),
        Err(_) => Some("internal error".to_owned()),
    };
    if !event.is_check {
        note(app, &home, caller, &event.name, error);
    }
}

fn handle(keeper: &Keeper<'_>, event: &Event) -> anyhow::Result<()> {
    if event.is_inner {
        return Ok(());
    }
    if event.is_check {
        return match event.moment {
            Moment::Start | Moment::Prompt => check(keeper, event),
            _ => Ok(()),
        };
    }
    keeper.deadline.is_busy();
    let outcome = match event.moment {
        Moment::Start | Moment::Prompt => inform(keeper, event),
        Moment::Answer => keeper.answer(event),
        Moment::Stop => keeper.stop(event),
        Moment::End => keeper.end(event),
        Moment::Other => Ok(()),
    };
    keeper.deadline.is_done();
    if matches!(event.moment, Moment::Start | Moment::Stop | Moment::End) {
        let own = event.session.as_deref();
        let own = own.map(|id| session::path(keeper.home, keeper.caller, id));
        finish::others(keeper.app, keeper.home, own.as_deref());
    }
    outcome
}

/// Notes what was said, then says what is remembered.
fn inform(keeper: &Keeper<'_>, event: &Event) -> anyhow::Result<()> {
    let Keeper { app, home, caller, deadline } = *keeper;
    // First of all: if the recall takes too long, the prompt is known nevertheless.
    let noted = match event.moment {
        Moment::Prompt => keeper.begin(event),
        _ => Ok(()),
    };
    deadline.is_done();
    let found = recall(app, home, event);
    let context = found.as_ref().ok().and_then(|found| found.as_ref());
    say(caller, event, context.map(|given| given.text.as_str()))?;
    let (scope, session) = (Scope::of(UserNumber::OWNER), event.session.as_deref());
    let handed = context.and_then(|given| Handed::of(scope, session, &given.context, app.now));
    match (event.moment, handed) {
        (_, None) => {}
        // Noted with the turn when it is over: nobody waits for a disk before the model begins.
        (Moment::Prompt, Some(handed)) if event.session.is_some() => keeper.hand(event, handed)?,
        (_, Some(handed)) => context::hand_out(app, home, &[handed]),
    }
    if event.moment == Moment::Start {
        session::tidy(home, SystemTime::now());
    }
    noted.and(found.map(drop))
}

/// Says what a real event would get, and for whom; nothing is noted.
fn check(keeper: &Keeper<'_>, event: &Event) -> anyhow::Result<()> {
    let Keeper { app, home, caller, .. } = *keeper;
    let found = recall(app, home, event);
    let context = found.as_ref().ok().and_then(Option::as_ref).map(|given| given.text.as_str());
    let mut answer = caller.answer(event, context).unwrap_or_else(|| json!({}));
    answer[MARK] = json!({
        "home": home.folder(),
        "characters": context.map_or(0, |text| text.chars().count()),
        "problem": found.as_ref().err().map(message),
    });
    print_line(&answer)?;
    Ok(())
}

fn recall(app: &App, home: &Home, event: &Event) -> anyhow::Result<Option<Given>> {
    let is_idle = event.moment == Moment::Prompt
        && event.prompt.as_deref().is_none_or(hermes_memory::task::is_nod);
    if is_idle {
        return Ok(None);
    }
    let memory = app.memory_within(home, Access::Read, PATIENCE)?;
    recall::text(app, home, &memory.store, event)
}

fn say(caller: Caller, event: &Event, context: Option<&str>) -> io::Result<()> {
    caller.answer(event, context).map_or(Ok(()), |answer| print_line(&answer))
}

fn print_line(answer: &Value) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(format!("{answer}\n").as_bytes())?;
    stdout.flush()
}

/// Counts what happened; a number is not worth a failure.
fn note(app: &App, home: &Home, caller: Caller, event: &str, error: Option<String>) {
    let error = error.map(|why| hermes_app::text::one_line(&why, LONGEST_WHY));
    let _ = counts::count(&home.hook_counts(), caller.name(), event, app.now, error);
}
