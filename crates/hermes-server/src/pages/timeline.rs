//! What was said and what happened, day by day, and one episode with all its words.

use askama::Template;
use hermes_store::memory::{
    Admin, Choice, Depth, Episode, EpisodeState, Memory, RecentFilter, Scope,
};
use jiff::Timestamp;
use serde::Serialize;

use super::notice::Notice;
use super::show::{self, Head};
use super::visit::{Frame, ROWS};
use super::{Answer, Menu, Page, Visit, facts, shell_word, unknown_deed};
use hermes_app::daemon::jobs;
use hermes_app::fact_view::name_of;
use hermes_app::items::{self, Wanted};
use hermes_app::pool::Seat;
use hermes_app::problem::{Kind, Problem};
use hermes_app::text::{counted, thousands};

const NAME: &str = "Timeline";
/// How many letters of an episode are shown in the list.
const SHORT: usize = 220;

pub(super) fn pages() -> Vec<Page> {
    let menu = Some(Menu { name: NAME, key: "t" });
    vec![
        Page { path: "/p/{profile}/timeline", menu, show: list, deed: Some(deed_of_list) },
        Page { path: "/p/{profile}/timeline/{id}", menu: None, show: one, deed: Some(deed_of_one) },
    ]
}

#[derive(Template, Serialize)]
#[template(path = "timeline.html")]
struct Timeline {
    #[serde(skip)]
    frame: Frame,
    results: Vec<Moment>,
    #[serde(skip)]
    days: Vec<Day>,
    #[serde(skip)]
    session: String,
    #[serde(skip)]
    channel: String,
    #[serde(skip)]
    show: String,
    #[serde(skip)]
    next: Option<String>,
}

struct Day {
    name: String,
    moments: Vec<Moment>,
}

/// Something that was said or happened.
#[derive(Clone, Serialize)]
struct Moment {
    id: String,
    kind: &'static str,
    at: Timestamp,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u32>,
    compressed: bool,
    #[serde(skip)]
    address: Option<String>,
}

#[derive(Template, Serialize)]
#[template(path = "episode.html")]
struct One {
    #[serde(skip)]
    frame: Frame,
    id: String,
    at: Timestamp,
    session: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    tokens: u32,
    uses: u32,
    is_excluded: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    sessions: Vec<String>,
    /// What was said.
    results: Vec<Said>,
    facts: Vec<Drawn>,
}

#[derive(Serialize)]
struct Said {
    at: Timestamp,
    who: String,
    role: String,
    text: String,
}

#[derive(Serialize)]
struct Drawn {
    id: String,
    text: String,
    #[serde(skip)]
    address: String,
}

fn list(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let (_, _, memory) = seat.reader()?;
    let scope = visit.scope(&memory.store)?;
    let (mut results, has_more) = moments(&memory.store, scope, visit, &frame)?;
    results.sort_by_key(|moment| std::cmp::Reverse(moment.at));
    let last = results.last().map(|moment| moment.at.to_string());
    let next = last.filter(|_| has_more).map(|at| visit.here_with(&[("before", &at)]));
    let text = |name| visit.asked(name).unwrap_or_default().to_owned();
    let page = Timeline {
        days: days(&results, &frame),
        results,
        session: text("session"),
        channel: text("channel"),
        show: text("show"),
        next,
        frame,
    };
    let command = "hermes memory timeline --since 30d".to_owned();
    let head = Head { title: NAME.to_owned(), section: NAME, command };
    show::view(visit, head, &page)
}

/// One part of the timeline, and whether there is more before it.
fn moments(
    store: &Memory,
    scope: Scope,
    visit: &Visit,
    frame: &Frame,
) -> anyhow::Result<(Vec<Moment>, bool)> {
    let before: Option<Timestamp> = visit.asked("before").and_then(|at| at.parse().ok());
    if let Some(session) = visit.asked("session") {
        let mut episodes = Vec::new();
        for named in store.sessions_named(scope, session)? {
            episodes.extend(store.episodes_of(scope, named.key)?);
        }
        let told: Result<Vec<Moment>, _> =
            episodes.iter().map(|one| of_episode(store, scope, one, frame)).collect();
        return Ok((told?, false));
    }
    let mut all = Vec::new();
    let mut has_more = false;
    let mut since = None;
    if visit.asked("show") != Some("events") {
        let channel = visit.asked("channel");
        let filter = RecentFilter { channel, before, limit: ROWS + 1, ..RecentFilter::default() };
        let mut episodes = store.recent_episodes(scope, &filter)?;
        has_more = episodes.len() > ROWS;
        episodes.truncate(ROWS);
        since = episodes.last().filter(|_| has_more).map(|episode| episode.started_at);
        for episode in &episodes {
            all.push(of_episode(store, scope, episode, frame)?);
        }
    }
    if visit.asked("show") != Some("episodes") && visit.asked("channel").is_none() {
        let mut events = store.list_events(scope, since, before, ROWS + 1)?;
        has_more |= events.len() > ROWS;
        events.truncate(ROWS);
        all.extend(events.into_iter().map(|event| Moment {
            id: Wanted::Event(event.id).name(),
            kind: word(event.kind),
            at: event.at,
            text: event.text,
            why: event.why,
            session: None,
            channel: None,
            project: None,
            tokens: None,
            compressed: false,
            address: None,
        }));
    }
    Ok((all, has_more))
}

fn of_episode(
    store: &Memory,
    scope: Scope,
    episode: &Episode,
    frame: &Frame,
) -> anyhow::Result<Moment> {
    let text = match &episode.body {
        Some(body) => body.clone(),
        None => {
            let messages = store.messages_of(scope, episode)?;
            messages.into_iter().next().map(|message| message.text).unwrap_or_default()
        }
    };
    Ok(Moment {
        id: Wanted::Episode(episode.id).name(),
        kind: "episode",
        at: episode.started_at,
        text: hermes_app::text::one_line(&text, SHORT),
        why: None,
        session: Some(episode.session_id.clone()),
        channel: episode.channel.clone(),
        project: episode.project.clone(),
        tokens: Some(episode.tokens),
        compressed: episode.state == EpisodeState::Compressed,
        address: Some(frame.link(format!("timeline/{}", episode.id))),
    })
}

fn word(kind: hermes_store::memory::EventKind) -> &'static str {
    use hermes_store::memory::EventKind;
    match kind {
        EventKind::Task => "task",
        EventKind::Decision => "decision",
        EventKind::Result => "result",
        EventKind::Failure => "failure",
    }
}

fn days(moments: &[Moment], frame: &Frame) -> Vec<Day> {
    let mut days: Vec<Day> = Vec::new();
    for moment in moments {
        let day = moment.at.to_zoned(frame.zone.clone());
        let name = day.strftime("%A, %-d %B %Y").to_string();
        match days.last_mut().filter(|day| day.name == name) {
            Some(day) => day.moments.push(moment.clone()),
            None => days.push(Day { name, moments: vec![moment.clone()] }),
        }
    }
    days
}

fn one(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let (_, _, memory) = seat.reader()?;
    let (store, scope) = (&memory.store, visit.scope(&memory.store)?);
    let (id, episode) = episode_of(store, scope, visit)?;
    let is_excluded = store.episodes(scope, &[id])?.is_empty();
    let messages = store.messages_of(scope, &episode)?;
    let results = messages.into_iter().map(|message| Said {
        at: message.at,
        who: message.speaker.unwrap_or_else(|| message.role.clone()),
        role: message.role,
        text: message.text,
    });
    let mut numbers: Vec<i64> =
        store.facts_drawn_from(scope, id)?.into_iter().map(|(fact, _)| fact).collect();
    numbers.dedup();
    let drawn = store.facts(scope, &numbers)?.into_iter().map(|fact| Drawn {
        address: frame.link(facts::place(&name_of(fact.id))),
        id: name_of(fact.id),
        text: fact.statement,
    });
    let page = One {
        id: Wanted::Episode(id).name(),
        at: episode.started_at,
        sessions: store.sessions_of_summary(scope, id)?,
        session: episode.session_id,
        channel: episode.channel,
        agent: episode.agent,
        project: episode.project,
        tokens: episode.tokens,
        uses: episode.uses,
        is_excluded,
        summary: episode.body,
        results: results.collect(),
        facts: drawn.collect(),
        frame,
    };
    let command = format!("hermes sessions show {}", shell_word::quoted(&page.session));
    let head = Head { title: page.id.clone(), section: NAME, command };
    show::view(visit, head, &page)
}

fn episode_of(store: &Memory, scope: Scope, visit: &Visit) -> anyhow::Result<(i64, Episode)> {
    let asked = visit.param("id");
    let number: Option<i64> = asked.parse().ok();
    let episode = match number {
        Some(id) => store.any_episode(scope, id)?,
        None => None,
    };
    let missing = || Problem::new(Kind::NotFound, format!("could not find episode:{asked}"));
    let episode = episode.ok_or_else(missing)?;
    Ok((episode.id, episode))
}

/// Events are taken back in the list itself.
fn deed_of_list(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let asked = visit.said("forget").or_else(|| visit.said("restore"));
    let wanted = asked.and_then(Wanted::parse).ok_or_else(|| unknown_deed(visit))?;
    let (_, _, memory) = seat.reader()?;
    let scope = visit.scope(&memory.store)?;
    let is_restoring = visit.said("restore").is_some();
    let (app, home, memory) = seat.writer()?;
    match is_restoring {
        true => items::restore(app, home, &mut memory.store, scope, wanted)?,
        false => items::retire(&mut memory.store, scope, wanted, app.change())?,
    }
    let address = visit.frame(seat)?.link("timeline");
    let name = wanted.name();
    let (text, undo) = match is_restoring {
        true => (format!("Restored: {name}"), "forget"),
        false => (format!("Forgotten: {name}"), "restore"),
    };
    let notice = Notice::new(text).undo(&address, "", &[(undo, &name)]);
    Ok(Answer::Done { back: visit.back(), notice })
}

fn deed_of_one(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let (_, _, memory) = seat.reader()?;
    let scope = visit.scope(&memory.store)?;
    let (id, episode) = episode_of(&memory.store, scope, visit)?;
    let wanted = Wanted::Episode(id);
    let address = visit.frame(seat)?.link(format!("timeline/{id}"));
    let (app, home, memory) = seat.writer()?;
    let store = &mut memory.store;
    let notice = match visit.deed() {
        "exclude" => {
            items::retire(store, scope, wanted, app.change())?;
            let text = format!("Excluded from memory: {}", wanted.name());
            Notice::new(text).undo(&address, "restore", &[])
        }
        "restore" => {
            items::restore(app, home, store, scope, wanted)?;
            let text = format!("Included again: {}", wanted.name());
            Notice::new(text).undo(&address, "exclude", &[])
        }
        "extract" => {
            let waiting = store.extract_again(scope, Some(&episode.session_id))?;
            jobs::queue_now(store, &jobs::name_here(app, home, "extract"), app.now)?;
            Notice::new(format!("Hermes extracts facts again from {}", counted(waiting, "episode")))
        }
        "forget session" => {
            let choice = Choice::Session(scope.user(), episode.session_id.clone());
            let gone = store.forget(Admin, &choice, Depth::Retire, app.change())?;
            hermes_app::in_step::follow_all(app, home, memory)?;
            let text = format!(
                "Forgotten: {} and {} that came only from them",
                counted(gone.episodes, "episode"),
                counted(gone.facts, "fact")
            );
            let back = visit.frame(seat)?.link("timeline");
            return Ok(Answer::Done { back, notice: Notice::new(text) });
        }
        _ => return Err(unknown_deed(visit)),
    };
    Ok(Answer::Done { back: address, notice })
}

impl Moment {
    fn cost(&self) -> String {
        self.tokens
            .map(|tokens| format!("{} tokens", thousands(u64::from(tokens))))
            .unwrap_or_default()
    }
}
