//! One fact with all that is known about it: where it comes from, what became of it, what it was used for.

use askama::Template;
use hermes_store::memory::{FactFilter, ItemKind, Memory, MessageKey, Scope};
use jiff::Timestamp;
use serde::Serialize;

use super::NAME;
use crate::pages::show::{self, Head};
use crate::pages::text::{self, Html};
use crate::pages::visit::Frame;
use crate::pages::{Answer, Visit};
use hermes_app::app::App;
use hermes_app::fact_view::{Detail, From, Shown};
use hermes_app::facts;
use hermes_app::pool::Seat;
use hermes_app::reason::{self, Reason};

/// How many of the latest receipts are looked through for uses.
const RECEIPTS: usize = 2_000;
/// How many uses and related facts are shown.
const SHOWN: usize = 8;
/// How much is shown around the words that a fact comes from, in characters.
const AROUND: usize = 240;

#[derive(Template, Serialize)]
#[template(path = "fact.html")]
struct One {
    #[serde(skip)]
    frame: Frame,
    #[serde(flatten)]
    detail: Detail,
    history: Vec<Step>,
    used: Vec<Use>,
    related: Vec<Related>,
    #[serde(skip)]
    sources: Vec<Words>,
    #[serde(skip)]
    successor: Option<String>,
    #[serde(skip)]
    reasons: [&'static str; 5],
    #[serde(skip)]
    edits: bool,
}

/// One change.
#[derive(Serialize)]
struct Step {
    at: Timestamp,
    by: String,
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip)]
    shown: Option<Html>,
}

/// A context that it was part of.
#[derive(Serialize)]
struct Use {
    at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    tokens: u32,
}

#[derive(Serialize)]
struct Related {
    id: String,
    text: String,
    #[serde(skip)]
    address: String,
}

/// The words that it comes from, in their place.
struct Words {
    at: Option<Timestamp>,
    who: String,
    session: Option<String>,
    episode: Option<i64>,
    is_summary: bool,
    extractor: String,
    shown: Html,
}

pub(super) fn show(seat: &mut Seat, visit: &Visit) -> anyhow::Result<Answer> {
    let frame = visit.frame(seat)?;
    let (app, home, memory) = seat.reader()?;
    let (store, scope) = (&memory.store, visit.scope(&memory.store)?);
    let detail = facts::show(app, home, store, scope, visit.param("id"))?;
    let (fact, _) = facts::history(store, scope, visit.param("id"))?;
    let sources: Result<Vec<Words>, _> =
        detail.sources.iter().map(|from| words(store, scope, from)).collect();
    let one = One {
        history: history(store, scope, visit.param("id"))?,
        used: used(store, scope, fact.id)?,
        related: related(app, store, scope, &detail.fact, &frame)?,
        sources: sources?,
        successor: detail.fact.superseded_by.as_ref().map(|id| frame.link(super::place(id))),
        reasons: Reason::ALL.map(Reason::word),
        edits: visit.asked("edit").is_some(),
        frame,
        detail,
    };
    let id = one.detail.fact.id.clone();
    let command = format!("hermes memory fact show {id}");
    let head = Head { title: id, section: NAME, command };
    show::view(visit, head, &one)
}

/// What happened, newest first, each text beside the one before.
fn history(store: &Memory, scope: Scope, id: &str) -> anyhow::Result<Vec<Step>> {
    let (_, changes) = facts::history(store, scope, id)?;
    let mut before: Option<String> = None;
    let mut steps = Vec::new();
    for change in changes {
        let edited = change.text.clone().filter(|_| change.action == "fact.edit");
        let shown = match (&before, &edited) {
            (Some(before), Some(after)) => Some(text::changed(before, after)),
            _ => change
                .text
                .as_deref()
                .filter(|_| before.is_none())
                .map(|text| Html(text::escape(text))),
        };
        before = change.text.clone().or(before);
        steps.push(Step {
            at: change.at,
            by: reason::told(&change.actor, change.reason.as_deref()),
            what: said(&change.action),
            text: change.text,
            shown,
        });
    }
    steps.reverse();
    Ok(steps)
}

fn said(action: &str) -> &'static str {
    match action {
        "fact.add" => "added",
        "fact.succeed" => "superseded another fact",
        "fact.edit" => "edited",
        "fact.supersede" => "superseded",
        "fact.unsupersede" => "made current again",
        "fact.unsucceed" => "no longer supersedes another fact",
        "fact.retire" => "forgotten",
        "fact.restore" => "restored",
        "fact.expire" => "expired",
        "fact.confirm" => "confirmed",
        "fact.pin" => "pinned",
        "fact.unpin" => "unpinned",
        "fact.settle" => "conflict resolved",
        _ => "changed",
    }
}

fn used(store: &Memory, scope: Scope, id: i64) -> anyhow::Result<Vec<Use>> {
    let receipts = store.latest_receipts(scope, RECEIPTS)?;
    let with_it = receipts.into_iter().filter(|one| one.items.contains(&(ItemKind::Fact, id)));
    Ok(with_it
        .take(SHOWN)
        .map(|one| Use { at: one.at, session: one.session_id, tokens: one.tokens })
        .collect())
}

fn related(
    app: &App,
    store: &Memory,
    scope: Scope,
    fact: &Shown,
    frame: &Frame,
) -> anyhow::Result<Vec<Related>> {
    let mut related: Vec<Related> = Vec::new();
    for name in &fact.entities {
        let filter =
            FactFilter { entity: Some(name), limit: Some(SHOWN + 1), ..FactFilter::default() };
        for other in store.list_facts(scope, &filter, app.now)? {
            let other = Shown::of(&other);
            if other.id != fact.id && related.iter().all(|known| known.id != other.id) {
                let address = frame.link(super::place(&other.id));
                related.push(Related { id: other.id, text: other.text, address });
            }
        }
    }
    related.truncate(SHOWN);
    Ok(related)
}

fn words(store: &Memory, scope: Scope, from: &From) -> anyhow::Result<Words> {
    let source = &from.source;
    let quote = source.quote.clone().unwrap_or_default();
    let message = match source.message {
        Some(number) => store.messages(scope, &[MessageKey::from_row(number)])?.pop(),
        None => None,
    };
    let episode = from.summary.or(source.episode);
    let found = store.episodes(scope, episode.as_slice())?;
    let text = message.as_ref().map(|message| message.text.clone()).unwrap_or_default();
    Ok(Words {
        at: message.as_ref().map(|message| message.at).or(found.first().map(|one| one.started_at)),
        who: message.map(|message| message.speaker.unwrap_or(message.role)).unwrap_or_default(),
        session: found.first().map(|one| one.session_id.clone()),
        episode,
        is_summary: from.summary.is_some(),
        extractor: source.extractor.clone().unwrap_or_default(),
        shown: quoted_in(&text, &quote),
    })
}

/// A quote in the text around it; alone where the text is gone.
fn quoted_in(text: &str, quote: &str) -> Html {
    let mark = |quote: &str| format!("<mark>{}</mark>", text::escape(quote));
    let Some(start) = (!quote.is_empty()).then(|| text.find(quote)).flatten() else {
        let short: String = text.chars().take(AROUND * 2).collect();
        return Html(if quote.is_empty() { text::escape(&short) } else { mark(quote) });
    };
    let (before, after) = (&text[..start], &text[start + quote.len()..]);
    let lead: Vec<char> = before.chars().rev().take(AROUND).collect();
    let lead: String = lead.into_iter().rev().collect();
    let tail: String = after.chars().take(AROUND).collect();
    let open = if lead.len() < before.len() { "… " } else { "" };
    let close = if tail.len() < after.len() { " …" } else { "" };
    Html(format!("{open}{}{}{}{close}", text::escape(&lead), mark(quote), text::escape(&tail)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quote_stands_marked_in_its_text_and_nothing_in_it_is_markup() {
        let shown = quoted_in("I said <b>: prefer tea & milk, always", "prefer tea & milk");
        assert_eq!(shown.0, "I said &lt;b&gt;: <mark>prefer tea &amp; milk</mark>, always");
        assert_eq!(quoted_in("", "<i>gone").0, "<mark>&lt;i&gt;gone</mark>");
        assert_eq!(quoted_in("whole", "").0, "whole");
    }
}
