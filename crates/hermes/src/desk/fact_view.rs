//! Facts as they are shown: one, many, and what became of one.

use std::io;

use hermes_store::memory::{Fact, Origin, Revision, Source, Trust, UserNumber};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::clock;
use crate::output::{BOLD, DIM, Page, Show, one_line, printable};

/// One fact with all its fields.
#[derive(Debug, Serialize)]
pub(crate) struct Shown {
    pub(crate) id: String,
    pub(crate) uid: String,
    pub(crate) text: String,
    pub(crate) kind: String,
    pub(crate) shared: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) subject: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) predicate: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) object: Option<String>,
    pub(crate) confidence: f64,
    pub(crate) origin: Origin,
    pub(crate) trust: Trust,
    pub(crate) valid_from: Option<Timestamp>,
    pub(crate) valid_to: Option<Timestamp>,
    pub(crate) recorded_at: Timestamp,
    pub(crate) retired_at: Option<Timestamp>,
    pub(crate) superseded_by: Option<String>,
    pub(crate) pinned: bool,
    pub(crate) quarantined: bool,
    pub(crate) revision: u32,
    pub(crate) uses: u32,
    pub(crate) entities: Vec<String>,
}

/// Facts in lines, or in a table.
#[derive(Debug, Serialize)]
pub(crate) struct Listed {
    pub(crate) results: Vec<Shown>,
    #[serde(skip)]
    pub(crate) zone: TimeZone,
    #[serde(skip)]
    pub(crate) long: bool,
}

/// A fact with where it comes from and what it said before.
#[derive(Debug, Serialize)]
pub(crate) struct Detail {
    #[serde(flatten)]
    pub(crate) fact: Shown,
    pub(crate) sources: Vec<From>,
    pub(crate) revisions: Vec<Revision>,
    #[serde(skip)]
    pub(crate) zone: TimeZone,
}

/// Where a fact comes from, and what stands for it now.
#[derive(Debug, Serialize)]
pub(crate) struct From {
    #[serde(flatten)]
    pub(crate) source: Source,
    /// The summary that tells of the episode, where its messages are gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) summary: Option<i64>,
}

/// What became of a fact.
#[derive(Debug, Serialize)]
pub(crate) struct Changed {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) change: Change,
    /// The fact whose place it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) replaced: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) entities: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Change {
    Added,
    Known,
    Restored,
    Edited,
    Superseded,
}

/// Facts that were deleted.
#[derive(Debug, Serialize)]
pub(crate) struct Deleted {
    pub(crate) results: Vec<Gone>,
    pub(crate) erased: bool,
}

/// A fact that was deleted; its words only if they can be brought back.
#[derive(Debug, Serialize)]
pub(crate) struct Gone {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The command that brings it back.
    #[serde(skip_serializing_if = "Option::is_none")]
    undo: Option<String>,
}

/// The number of a fact as it is typed and shown.
pub(crate) fn name_of(id: i64) -> String {
    format!("fact:{id:03}")
}

pub(crate) fn deleted(fact: &Fact, is_erased: bool) -> Gone {
    let id = name_of(fact.id);
    let undo = format!("hermes memory fact restore {id}");
    Gone {
        text: (!is_erased).then(|| fact.statement.clone()),
        undo: (!is_erased).then_some(undo),
        id,
    }
}

impl Shown {
    pub(crate) fn of(fact: &Fact) -> Shown {
        let fact = fact.clone();
        Shown {
            id: name_of(fact.id),
            uid: fact.uid.to_string(),
            text: fact.statement,
            kind: fact.kind,
            shared: fact.user == UserNumber::SHARED,
            subject: fact.subject,
            predicate: fact.predicate,
            object: fact.object,
            confidence: fact.confidence,
            origin: fact.origin,
            trust: fact.trust,
            valid_from: fact.valid_from,
            valid_to: fact.valid_to,
            recorded_at: fact.recorded_at,
            retired_at: fact.retired_at,
            superseded_by: fact.superseded_by.map(name_of),
            pinned: fact.pinned,
            quarantined: fact.quarantined,
            revision: fact.revision,
            uses: fact.uses,
            entities: fact.entities,
        }
    }

    /// How sure we are: `90 %`.
    pub(crate) fn percent(&self) -> String {
        format!("{:.0} %", self.confidence * 100.0)
    }

    /// Where it comes from, in a word.
    pub(crate) fn origin_word(&self) -> &'static str {
        match self.origin {
            Origin::User => "user",
            Origin::Agent => "agent",
            Origin::Extract => "conversation",
            Origin::Import => "import",
            Origin::Provider => "provider",
        }
    }

    /// `[fact:042] User prefers tea (confidence: high)`; what the user typed needs no such word.
    fn line(&self) -> String {
        let sure = match self.confidence {
            1.0.. => "",
            0.8..1.0 => " (confidence: high)",
            0.5..0.8 => " (confidence: medium)",
            _ => " (confidence: low)",
        };
        format!("[{}] {}{}{sure}", self.id, self.mark(), one_line(&self.text, 160))
    }

    /// How it stands, in a word.
    pub(crate) fn state(&self) -> &'static str {
        match (self.retired_at, &self.superseded_by, self.quarantined) {
            (_, Some(_), _) => "superseded",
            (Some(_), None, _) => "forgotten",
            (None, None, true) => "held back",
            (None, None, false) => "current",
        }
    }

    /// What keeps it out of answers, or as it is, in a word.
    fn mark(&self) -> &'static str {
        match (self.retired_at, &self.superseded_by, self.quarantined) {
            (_, Some(_), _) => "[superseded] ",
            (Some(_), None, _) => "[deleted] ",
            (None, None, true) => "[held back] ",
            (None, None, false) if self.pinned && self.shared => "[pinned] [shared] ",
            (None, None, false) if self.pinned => "[pinned] ",
            (None, None, false) if self.shared => "[shared] ",
            (None, None, false) => "",
        }
    }
}

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
        let who = if fact.shared { "everybody's" } else { "private" };
        let pinned = fact.pinned.then(|| "yes: nothing drawn takes its place".to_owned());
        let rows = [
            ("kind", Some(fact.kind.clone())),
            ("whose", Some(who.to_owned())),
            ("about", names),
            ("subject", fact.subject.clone()),
            ("predicate", fact.predicate.clone()),
            ("object", fact.object.clone()),
            ("sure", Some(format!("{:.2}", fact.confidence))),
            ("from", Some(format!("{:?}", fact.origin).to_lowercase())),
            ("trust", Some(format!("{:?}", fact.trust).to_lowercase())),
            ("true since", when(fact.valid_from)),
            ("true until", when(fact.valid_to)),
            ("recorded", when(Some(fact.recorded_at))),
            ("retired", when(fact.retired_at)),
            ("followed by", fact.superseded_by.clone()),
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
        Some(summary) => format!("episode:{id}, told by the summary episode:{summary}"),
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
            (Change::Restored, _) => " is back".to_owned(),
            (Change::Edited, _) => " is its text now".to_owned(),
            (Change::Superseded, old) => {
                format!(" takes the place of {}", old.as_deref().unwrap_or_default())
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
                    page.line(format_args!("{} \"{}\" is deleted", gone.id, one_line(text, 100)))?;
                }
                None => page.line(format_args!("{} is erased", gone.id))?,
            }
        }
        Ok(())
    }
}
