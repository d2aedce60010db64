//! How facts, search results and new skills are printed.

use std::io;

use hermes_app::clock;
use hermes_app::fact_view::{Change, Changed, Deleted, Detail, From, Listed, Shown};
use hermes_app::hit::Hit;
use hermes_app::promote::Promoted;
use hermes_app::text::{one_line, printable};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::output::{BOLD, DIM, Page, Show};

impl Show for Listed {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.results.is_empty() {
            return page.line("no facts");
        }
        if !self.long {
            return self.results.iter().try_for_each(|fact| page.line(fact.line()));
        }
        let row = |fact: &Shown| {
            vec![
                fact.id.clone(),
                fact.recorded_at.to_zoned(self.zone.clone()).strftime("%Y-%m-%d").to_string(),
                fact.kind.clone(),
                format!("{}{}", fact.mark(), one_line(&fact.text, 100)),
            ]
        };
        let rows: Vec<_> = self.results.iter().map(row).collect();
        page.table(&["fact", "recorded", "kind", "text"], &rows)
    }
}

impl Show for Detail {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let fact = &self.fact;
        let when = |at: Option<Timestamp>| at.map(|at| clock::minute(at, &self.zone));
        page.line(format_args!("{BOLD}{}{BOLD:#}  {}", fact.id, printable(&fact.text)))?;
        let names = Some(fact.entities.join(", ")).filter(|names| !names.is_empty());
        let who = if fact.shared { "shared" } else { "private" };
        let pinned = fact.pinned.then(|| "yes: extracted facts never supersede it".to_owned());
        let rows = [
            ("kind", Some(fact.kind.clone())),
            ("scope", Some(who.to_owned())),
            ("about", names),
            ("subject", fact.subject.clone()),
            ("predicate", fact.predicate.clone()),
            ("object", fact.object.clone()),
            ("confidence", Some(format!("{:.2}", fact.confidence))),
            ("origin", Some(format!("{:?}", fact.origin).to_lowercase())),
            ("trust", Some(format!("{:?}", fact.trust).to_lowercase())),
            ("true since", when(fact.valid_from)),
            ("true until", when(fact.valid_to)),
            ("recorded", when(Some(fact.recorded_at))),
            ("retired", when(fact.retired_at)),
            ("replaced by", fact.superseded_by.clone()),
            ("pinned", pinned),
            ("used", Some(format!("{} times", fact.uses))),
            ("uid", Some(fact.uid.clone())),
        ];
        for (name, value) in rows {
            let Some(value) = value else { continue };
            page.line(format_args!("  {DIM}{name:<12}{DIM:#} {}", one_line(&value, 200)))?;
        }
        for source in &self.sources {
            page.line(format_args!("  {DIM}{:<12}{DIM:#} {}", "source", origin(source)))?;
        }
        for revision in &self.revisions {
            let at = clock::minute(revision.at, &self.zone);
            let text = one_line(&revision.text, 100);
            page.line(format_args!("  {DIM}{:<12}{DIM:#} {text} (until {at})", "earlier"))?;
        }
        Ok(())
    }
}

fn origin(from: &From) -> String {
    let source = &from.source;
    let episode = source.episode.map(|id| match from.summary {
        Some(summary) => format!("episode:{id}, summarised in episode:{summary}"),
        None => format!("episode:{id}"),
    });
    let message = source.message.filter(|_| from.summary.is_none());
    let message = message.map(|id| format!("message {id}"));
    let quote = source.quote.as_deref().map(|quote| format!("“{}”", one_line(quote, 100)));
    let parts = [episode, message, quote, source.extractor.clone()];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

impl Show for Changed {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let text = one_line(&self.text, 120);
        let said = match (self.change, &self.replaced) {
            (Change::Added, _) => String::new(),
            (Change::Known, _) => " is known already".to_owned(),
            (Change::Restored, _) => " was restored".to_owned(),
            (Change::Edited, _) => " updated".to_owned(),
            (Change::Superseded, old) => {
                format!(" supersedes {}", old.as_deref().unwrap_or_default())
            }
        };
        page.line(format_args!("{} \"{text}\"{said}", self.id))
    }
}

impl Show for Deleted {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for gone in &self.results {
            match &gone.text {
                Some(text) => {
                    page.line(format_args!("{} \"{}\" was deleted", gone.id, one_line(text, 100)))?;
                }
                None => page.line(format_args!("{} was erased", gone.id))?,
            }
        }
        Ok(())
    }
}

impl Show for Promoted {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        match self.changed {
            true => page.line(format_args!("{} is waiting for your approval", self.skill)),
            false => page.line(format_args!("{} already says this", self.skill)),
        }
    }
}

/// Prints one result of a search.
pub(crate) fn hit(hit: &Hit, page: &mut Page, zone: &TimeZone, explain: bool) -> io::Result<()> {
    let when = hit.at.map(|at| match hit.until {
        Some(until) => {
            format!("summary of {} to {}", clock::minute(at, zone), clock::minute(until, zone))
        }
        None => clock::minute(at, zone),
    });
    let shared = hit.shared.then(|| "shared".to_owned());
    let sessions = Some(hit.sessions.join(", ")).filter(|sessions| !sessions.is_empty());
    let session = hit.session_id.clone().or(sessions);
    let outdated = hit.superseded_by.as_ref().map(|fact| format!("superseded by {fact}"));
    let about: Vec<String> = [when, hit.channel.clone(), session, shared, outdated]
        .into_iter()
        .flatten()
        .filter(|part| *part != hit.id)
        .map(|part| one_line(&part, 60))
        .collect();
    let about = about.join(" · ");
    page.line(format_args!("{BOLD}{}{BOLD:#} {DIM}{about}{DIM:#}", printable(&hit.id)))?;
    let who = hit.speaker.as_ref().or(hit.role.as_ref());
    let who = who.map(|who| format!("{}: ", one_line(who, 40))).unwrap_or_default();
    for (place, line) in hit.snippet.lines().enumerate() {
        let who = if place == 0 { who.as_str() } else { "" };
        page.line(format_args!("  {who}{line}"))?;
    }
    if explain {
        page.line(format_args!("  {DIM}{}{DIM:#}", hit.explanation()))?;
    }
    Ok(())
}
