//! What goes into the system prompt, read from the home.

use std::fmt::Write as _;

use hermes_agent::prompt::Parts;
use hermes_home::layout::MemoryTarget;
use hermes_home::memory_file;
use hermes_home::skill::Catalog;
use hermes_store::sessions::{SessionStore, SessionSummary};
use jiff::tz::TimeZone;

use super::{Opening, opening};
use hermes_app::asker::Asker;
use hermes_app::clock;
use hermes_app::context::{self, Given, Request};
use hermes_app::hooks::recall;
use hermes_app::pool::Seat;
use hermes_app::recall::Recall;
use hermes_app::rules;
use hermes_app::text::one_line;

/// How many sessions are named.
const RECENT: usize = 5;
/// How many tokens a session is given at its beginning.
const BUDGET: usize = 1_200;

/// Reads everything; what cannot be read is left out, and the conversation begins all the same. Says too whether what
/// was recalled holds words that are not the person's own.
pub(super) fn read(
    seat: &mut Seat,
    sessions: Option<&SessionStore>,
    asker: &Asker,
    opening: &Opening,
) -> anyhow::Result<(Parts, bool)> {
    let (app, home) = (&seat.app, &seat.home);
    let target = MemoryTarget::Soul;
    let soul = memory_file::read(home, &target, rules::of_file(app, home, &target)?)?;
    let soul = soul.document.text().to_owned();
    let memory = context::loaded_files(app, home, &MemoryTarget::Memory)?;
    let user = context::loaded_files(app, home, &MemoryTarget::User(asker.user.clone()))?;
    let skills = skills(&Catalog::read(home)?);
    let given = recalled(seat, asker, opening).ok();
    let is_outside = given.as_ref().is_some_and(|given| given.context.is_below_user());
    let recalled = given.map(|given| given.text).unwrap_or_default();
    let recent = recent(seat, sessions, asker, opening)?;
    Ok((Parts { soul, memory, user, recent, recalled, skills }, is_outside))
}

/// Where and when it is, and what the last sessions were about.
fn recent(
    seat: &mut Seat,
    sessions: Option<&SessionStore>,
    asker: &Asker,
    opening: &Opening,
) -> anyhow::Result<String> {
    if seat.reader().is_err() {
        // A server that is away must not keep anybody from talking.
        return Ok(here_and_now(seat, &seat.app.zone(&seat.home)?, asker, opening));
    }
    let (app, home, memory) = seat.reader()?;
    let zone = app.zone_of(home, &memory.store, asker.scope.user())?;
    let mut text = here_and_now(seat, &zone, asker, opening);
    let Some(sessions) = sessions else { return Ok(text) };
    let (_, _, memory) = seat.reader()?;
    let whose = asker.own_sessions(&memory.store)?;
    // A damaged database must not keep anybody from talking.
    let found = sessions.latest(&opening::sessions_of(whose, RECENT)).unwrap_or_default();
    if !found.is_empty() {
        text.push_str("The last sessions, newest first (session_search reads them):\n");
    }
    for session in &found {
        let _ = writeln!(text, "{}", line(session, &zone));
    }
    Ok(text)
}

fn here_and_now(seat: &Seat, zone: &TimeZone, asker: &Asker, opening: &Opening) -> String {
    let day = seat.app.now.to_zoned(zone.clone());
    let who = asker.user.as_ref().map_or("the owner of this home", |user| user.as_str());
    format!(
        "Today is {}. You talk with {who} over {}. The working folder is {}.\n",
        day.strftime("%A, %Y-%m-%d"),
        opening.channel,
        opening.folder.display()
    )
}

fn line(session: &SessionSummary, zone: &TimeZone) -> String {
    let about = session.title.as_deref().or(session.preview.as_deref()).unwrap_or("nothing said");
    let at = clock::minute(session.last_active, zone);
    format!("- {at} [{}] \"{}\"", session.id, one_line(about, 90).replace('"', "'"))
}

/// What is recalled before anything was asked.
fn recalled(seat: &mut Seat, asker: &Asker, opening: &Opening) -> anyhow::Result<Given> {
    let project = recall::project_of(&opening.folder);
    let task = recall::opening(Some(&project));
    let request = Request {
        task: &task,
        project: Some(&project),
        channel: Some(&opening.channel),
        budget: Some(BUDGET),
        no_files: true,
        ..Request::default()
    };
    let (app, home, memory) = seat.reader()?;
    Recall { app, home, store: &memory.store, asker }.give(&request)
}

/// A line for each skill that may be read.
fn skills(catalog: &Catalog) -> String {
    let mut lines: Vec<String> = catalog
        .skills
        .iter()
        .map(|skill| format!("- {}: {}", skill.name(), one_line(&skill.content.description, 200)))
        .collect();
    lines.sort();
    lines.join("\n")
}
