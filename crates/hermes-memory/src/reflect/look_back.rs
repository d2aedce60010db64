//! The daily look over many sessions: habits become entries, and entries whose time is over are proposed for removal.

use hermes_home::memory_file;
use hermes_llm::Embedder;
use hermes_store::memory::{Added, Admin, Change, FactFilter, Memory, NewSource, Scope, User};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::patterns::{Pattern, patterns};
use super::stale::{self, Now};
use super::talks;
use super::work::{Talk, likeness};
use crate::remember::{self, Place, Remembered, Removal, Rules, Target, Wish};
use crate::search::{self, Filter, Kind, Question, Reading};
use crate::{Result, task};

/// How far back is looked for habits, and at how many sessions.
const SPAN: SignedDuration = SignedDuration::from_hours(24 * 60);
const MOST_SESSIONS: usize = 300;
/// How many old entries are searched for in one go.
const MOST_SEARCHES: usize = 50;
const ACTOR: &str = "look_back";

/// How to look.
#[derive(Clone, Copy)]
pub struct Settings<'a> {
    /// When.
    pub now: Timestamp,
    /// The zone of users who have none of their own.
    pub zone: &'a TimeZone,
    /// After how many days without use an entry is proposed for removal.
    pub stale_after_days: i32,
    /// The model that answers, for looking whether something is still spoken of.
    pub embedder: Option<&'a dyn Embedder>,
}

/// What the look came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Sessions that were looked at.
    pub sessions: u64,
    /// Entries that were written.
    pub written: u64,
    /// Entries that were proposed.
    pub proposed: u64,
    /// Entries that were proposed for removal.
    pub stale: u64,
}

/// Looks at the sessions and files of every user; doing it again adds nothing.
pub fn look_back(store: &mut Memory, rules: &Rules<'_>, settings: &Settings<'_>) -> Result<Report> {
    let mut report = Report::default();
    for user in store.users(Admin)? {
        if remember::user_id(&user).is_err() {
            continue;
        }
        let scope = Scope::of(user.number);
        let zone = zone_of(&user, settings.zone);
        let talks = recent(store, scope, settings.now)?;
        report.sessions += talks.len() as u64;
        let mut look = Look { store: &mut *store, scope, rules, settings, report: &mut report };
        for pattern in patterns(&talks, &zone) {
            look.note(&pattern)?;
        }
        for target in [Target::Memory, Target::User] {
            look.look_over(target)?;
        }
    }
    Ok(report)
}

/// A look at the sessions and files of one user.
struct Look<'a> {
    store: &'a mut Memory,
    scope: Scope,
    rules: &'a Rules<'a>,
    settings: &'a Settings<'a>,
    report: &'a mut Report,
}

fn zone_of(user: &User, usual: &TimeZone) -> TimeZone {
    let own = user.timezone.as_deref().and_then(|name| TimeZone::get(name).ok());
    own.unwrap_or_else(|| usual.clone())
}

/// The sessions in which tasks were done lately.
fn recent(store: &Memory, scope: Scope, now: Timestamp) -> Result<Vec<Talk>> {
    let mut found = Vec::new();
    let since = now - SPAN;
    for task in store.tasks(scope, None, MOST_SESSIONS)? {
        if task.started_at < since || task.user != scope.user() {
            continue;
        }
        let id = task.external_id.as_str();
        let parts = store.sessions_named(scope, id)?;
        let own = parts.iter().find(|part| part.user == scope.user());
        if let Some(session) = own {
            found.push(talks::read(store, scope, session)?);
        }
    }
    Ok(found)
}

/// How a pattern stands to what is known.
enum Standing {
    /// An entry or a fact says nearly the same, or the same was noted of the user before.
    Known,
    /// It is a fact, and its entry was never written.
    Unfinished(i64),
    /// Nothing says so yet.
    New,
}

impl Look<'_> {
    /// Writes or proposes an entry, unless something says it already.
    fn note(&mut self, pattern: &Pattern) -> Result<()> {
        let fact = match self.standing(pattern)? {
            Standing::Known => return Ok(()),
            Standing::Unfinished(fact) => Some(fact),
            Standing::New => None,
        };
        let sources: Vec<NewSource<'_>> = pattern
            .cited
            .iter()
            .map(|one| NewSource {
                episode: Some(one.episode),
                message: Some(one.message),
                quote: Some(&one.quote),
                extractor: Some(ACTOR),
            })
            .collect();
        let wish = Wish {
            text: &pattern.text,
            target: pattern.target,
            fact,
            kind: pattern.kind,
            predicate: Some(&pattern.predicate),
            sources: &sources,
            said_at: pattern.last_at,
            trust: pattern.trust,
            is_explicit: false,
            origin: ACTOR,
        };
        let change = self.change();
        match remember::remember(self.store, self.scope, &wish, self.rules, change)? {
            Remembered::Written(written) => self.report.written += u64::from(written.is_new),
            Remembered::Proposed { is_new, .. } => self.report.proposed += u64::from(is_new),
            Remembered::Buried => {}
        }
        Ok(())
    }

    fn standing(&self, pattern: &Pattern) -> Result<Standing> {
        const SAME: f64 = 0.6;
        let (store, scope) = (&*self.store, self.scope);
        let words = task::content_words(&pattern.text);
        let is_same = |text: &str| likeness(&task::content_words(text), &words) >= SAME;
        if let Some(fact) = store.facts_about(scope, "user", Some(&pattern.predicate))?.first() {
            let is_linked = store.file_entries(scope)?.iter().any(|link| link.fact == fact.id);
            return Ok(if is_linked { Standing::Known } else { Standing::Unfinished(fact.id) });
        }
        let filter = FactFilter { kind: Some(pattern.kind), ..FactFilter::default() };
        let facts = store.list_facts(scope, &filter, self.settings.now)?;
        if facts.iter().any(|fact| is_same(&fact.statement)) {
            return Ok(Standing::Known);
        }
        for place in Place::all(store, scope)? {
            let rules = place.rules(self.rules);
            let file = memory_file::read(self.rules.home, &place.target, rules)?;
            if file.document.entries().iter().any(|entry| is_same(&entry.text)) {
                return Ok(Standing::Known);
            }
        }
        Ok(Standing::New)
    }

    /// Proposes to take out what is outdated, contradicted, or old and not spoken of any more.
    fn look_over(&mut self, target: Target) -> Result<()> {
        let (scope, rules, settings) = (self.scope, self.rules, self.settings);
        let place = Place::of(self.store, scope, target)?;
        let is_own = target == Target::User || place.label == "memory";
        if !is_own {
            return Ok(());
        }
        let file = memory_file::read(rules.home, &place.target, place.rules(rules))?;
        let links = remember::links(self.store, scope, &place)?;
        let conflicts = self.store.conflicts(scope)?;
        let now = Now {
            at: settings.now,
            today: rules.today,
            stale_after_days: settings.stale_after_days,
            conflicts: &conflicts,
        };
        let mut searches = 0;
        for entry in file.document.entries() {
            let fact = links.get(&remember::entry_hash(&entry.text));
            let mut why = stale::outdated(entry, fact, &now);
            if why.is_none() && stale::is_old(entry, fact, &now) && searches < MOST_SEARCHES {
                searches += 1;
                why = self.unspoken(entry)?;
            }
            let Some(why) = why else { continue };
            let removal = Removal { target, entry, why };
            let change = self.change();
            let made = remember::propose_removal(self.store, scope, removal, change)?;
            self.report.stale += u64::from(matches!(made, Added::New(_)));
        }
        Ok(())
    }

    /// Says so when nothing that was said lately is about an entry.
    fn unspoken(&self, entry: &memory_file::Entry) -> Result<Option<String>> {
        /// About as sure as a context must be before it shows something.
        const SPOKEN_OF: f64 = 0.3;
        let Settings { now, zone, stale_after_days, embedder } = *self.settings;
        let since = now - SignedDuration::from_hours(24 * i64::from(stale_after_days));
        let filter = Filter { since: Some(since), ..Filter::default() };
        let question = Question { text: &entry.text, kind: Kind::Messages, filter, limit: 3 };
        let reading = Reading { store: &*self.store, embedder, scope: self.scope, now, zone };
        let answer = search::search(&reading, &question)?;
        if answer.results.iter().any(|found| found.relevance >= SPOKEN_OF) {
            return Ok(None);
        }
        let written = entry.written.map(|day| day.to_string()).unwrap_or_default();
        Ok(Some(format!("written {written}, not used and not mentioned since")))
    }

    fn change(&self) -> Change<'static> {
        Change { actor: ACTOR, at: self.settings.now }
    }
}
