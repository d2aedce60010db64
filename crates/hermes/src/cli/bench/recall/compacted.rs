//! What is still found when summaries stand for the conversations.

use std::collections::{HashMap, HashSet};

use anyhow::Context;
use hermes_memory::chunk::{self, Vectors, Words};
use hermes_memory::compress::{self, Report, Settings};
use hermes_memory::search::{self, Effort, Filter, Item, Question};
use hermes_store::memory::{
    Added, Admin, Change, Episodes as _, Facts as _, ItemKind, Lifecycle as _, NewFact, NewSource,
    Origin, Scope, SqliteMemory, Trust, Upkeep as _,
};
use jiff::tz::TimeZone;

use super::ask::{Answered, Asking, search_all};
use super::corpus::{self, Asked, Conversation, Turn};
use super::fill::{self, Filled};
use super::{Arguments, time_figure, write};
use crate::cli::bench::compact::mark_drawn;
use crate::cli::bench::figures::Figure;
use crate::output::{bytes, thousands};
use crate::platform;

/// How many results count as found.
const FIRST: usize = 10;
/// How many of the rarest words of a message are looked for.
const RARE: usize = 3;
/// Every so many messages a fact is drawn from one.
const FACT_EVERY: usize = 50;

/// Asks, compresses, asks again: with all conversations in one memory, then with each alone.
pub(super) fn measure(
    conversations: Vec<Conversation>,
    arguments: &Arguments,
    asking: Asking<'_>,
) -> anyhow::Result<Vec<Figure>> {
    let together = vec![corpus::merged(&conversations)];
    let mut figures = Vec::new();
    for (what, kind, group) in
        [("all together", "", &together), ("each alone", "alone", &conversations)]
    {
        let filled = fill::fill(group, arguments.no_noise(), asking.now)?;
        let before = search_all(group, &filled, asking, &Effort::default())?;
        let mut compacted = Compacted::of(group, &filled, asking)?;
        let after = compacted.search_all(group, &filled, asking)?;
        if !kind.is_empty() {
            figures.extend(compacted.outcome(group, &before, &after, arguments, what)?);
            continue;
        }
        write(arguments, "before", &short_names(group, &before))?;
        let runs: Vec<Answered> = after.iter().map(|one| one.answered.clone()).collect();
        write(arguments, "", &short_names(group, &runs))?;
        figures.extend(compacted.size(&filled)?);
        figures.push(time_figure("search before", &before));
        figures.push(time_figure("search after", &runs));
        figures.extend(compacted.outcome(group, &before, &after, arguments, what)?);
        figures.push(compacted.rare_words(&conversations, arguments)?);
        figures.push(compacted.quotes()?);
    }
    Ok(figures)
}

/// A memory whose conversations were compressed.
struct Compacted {
    store: SqliteMemory,
    report: Report,
    /// The scope and the summary of each message, by the name of the turn.
    summaries: HashMap<String, (Scope, i64)>,
    /// Facts with their quotes.
    facts: Vec<(Scope, i64, String)>,
    /// The size of the file before and after, vacuumed.
    sizes: (u64, u64),
}

/// What was found after.
struct After {
    answered: Answered,
    summaries: Vec<i64>,
}

impl Compacted {
    fn of(
        group: &[Conversation],
        filled: &Filled,
        asking: Asking<'_>,
    ) -> anyhow::Result<Compacted> {
        let mut store = filled.open_to_write()?;
        let episodes = episodes(&store, group, filled)?;
        let facts = add_facts(&mut store, group, filled, &episodes)?;
        let before = store.vacuum(Admin, asking.now)?.after;
        mark_drawn(&mut store, asking.now)?;
        let settings = Settings::new(asking.now, asking.now);
        let report = compress::run(&mut store, &settings, None, &mut |_| {})?;
        let mut summaries = HashMap::new();
        for (name, (scope, episode)) in episodes {
            let covering = store.covering(scope, &[episode])?;
            let (_, summary) = covering.first().with_context(|| format!("{name} is lost"))?;
            summaries.insert(name, (scope, *summary));
        }
        let after = store.vacuum(Admin, asking.now)?.after;
        Ok(Compacted { store, report, summaries, facts, sizes: (before, after) })
    }

    fn search_all(
        &mut self,
        group: &[Conversation],
        filled: &Filled,
        asking: Asking<'_>,
    ) -> anyhow::Result<Vec<After>> {
        let mut all = Vec::new();
        for (conversation, scope) in group.iter().zip(&filled.scopes) {
            for asked in &conversation.questions {
                let question = Question {
                    text: &asked.question,
                    kinds: vec![ItemKind::Message, ItemKind::Summary],
                    filter: Filter::default(),
                    limit: asking.limit,
                    now: asking.time_of(asked, conversation),
                    zone: &TimeZone::UTC,
                };
                let begun = platform::thread_cpu();
                let found = search::search(&self.store, asking.embedder, *scope, &question)?;
                let spent = platform::thread_cpu() - begun;
                let mut summaries = Vec::new();
                let mut names = Vec::new();
                for one in &found.results {
                    let Item::Summary(summary) = &one.item else { continue };
                    summaries.push(summary.id);
                    names.extend(self.store.sessions_of_summary(*scope, summary.id)?);
                }
                all.push(After { answered: Answered::new(asked, names, spent), summaries });
            }
        }
        Ok(all)
    }

    fn size(&self, filled: &Filled) -> anyhow::Result<Vec<Figure>> {
        let (before, after) = self.sizes;
        let smaller = 100.0 * (1.0 - after as f64 / before as f64);
        let Report { clusters, text_before, text_after, .. } = self.report;
        let share = 100.0 * text_after as f64 / text_before.max(1) as f64;
        Ok(vec![
            Figure::plain("messages", thousands(filled.messages)),
            Figure::plain(
                "summaries",
                format!(
                    "{} of {} characters each, {share:.1} % of the text",
                    thousands(clusters),
                    text_after / clusters.max(1)
                ),
            ),
            Figure::plain(
                "memory.db, vacuumed",
                format!("{} to {}, {smaller:.1} % smaller", bytes(before), bytes(after)),
            ),
        ])
    }

    /// Of the questions whose evidence was found before: for how many is the summary found that tells of it.
    fn outcome(
        &self,
        group: &[Conversation],
        before: &[Answered],
        after: &[After],
        arguments: &Arguments,
        what: &str,
    ) -> anyhow::Result<Vec<Figure>> {
        let gold = evidence(arguments)?;
        let questions: Vec<&Asked> = group.iter().flat_map(|one| &one.questions).collect();
        let is_merged = group.len() == 1;
        let mut counts = [0_u32; 4];
        for ((asked, before), after) in questions.iter().zip(before).zip(after) {
            let Some(evidence) = gold.get(&asked.question_id) else { continue };
            let full = |name: &String| full_name(asked, name, is_merged);
            let first: Vec<&String> = before.retrieved.iter().take(FIRST).collect();
            let found: Vec<String> =
                evidence.iter().map(full).filter(|name| first.contains(&name)).collect();
            if found.is_empty() || asked.category == "adversarial" {
                continue;
            }
            counts[0] += 1;
            for (place, most) in [(1, FIRST), (2, 5), (3, 1)] {
                let shown = &after.summaries[..after.summaries.len().min(most)];
                let key = |name: &String| key_name(asked, name, is_merged);
                let tells = |name: &String| {
                    self.summaries.get(&key(name)).is_some_and(|(_, id)| shown.contains(id))
                };
                counts[place] += u32::from(found.iter().all(tells));
            }
        }
        let share = |place: usize| f64::from(counts[place]) / f64::from(counts[0].max(1));
        Ok(vec![
            Figure::new(
                &format!("{what}: found before, and the summary among the first ten after"),
                format!("{:.3} of {} questions", share(1), counts[0]),
                "≥ .85",
                share(1) >= 0.85,
            ),
            Figure::plain(
                &format!("{what}: the same among the first five, and at the first place"),
                format!("{:.3}, {:.3}", share(2), share(3)),
            ),
        ])
    }

    /// Of the messages that are evidence: of how many at least half of the rarest words are in the summary.
    fn rare_words(
        &self,
        conversations: &[Conversation],
        arguments: &Arguments,
    ) -> anyhow::Result<Figure> {
        let gold = evidence(arguments)?;
        let (mut messages, mut kept, mut any, mut all) = (0_u32, 0_u32, 0_u32, 0_u32);
        for conversation in conversations {
            let rarity = Rarity::of(&conversation.turns);
            let asked = conversation.questions.iter();
            let wanted: HashSet<&String> =
                asked.filter_map(|one| gold.get(&one.question_id)).flatten().collect();
            for turn in conversation.turns.iter().filter(|turn| wanted.contains(&turn.turn_id)) {
                let name = format!("{}/{}", conversation.id, turn.turn_id);
                let words = rarity.rarest(&turn.text);
                let Some((scope, summary)) = self.summaries.get(&name) else { continue };
                if words.is_empty() {
                    continue;
                }
                let body = self.body(*scope, *summary)?;
                let there = words.iter().filter(|word| compress::is_word_in(&body, word)).count();
                messages += 1;
                kept += u32::from(there * 2 >= words.len());
                any += u32::from(there > 0);
                all += u32::from(there == words.len());
            }
        }
        let share = |count: u32| f64::from(count) / f64::from(messages.max(1));
        Ok(Figure::new(
            "evidence of whose three rarest words half are in the summary",
            format!(
                "{:.3} of {messages} messages (one: {:.3}, all: {:.3})",
                share(kept),
                share(any),
                share(all)
            ),
            "≥ .6",
            share(kept) >= 0.6,
        ))
    }

    fn body(&self, scope: Scope, summary: i64) -> anyhow::Result<String> {
        let found = self.store.episodes(scope, &[summary])?.into_iter().next();
        found.and_then(|summary| summary.body).context("a summary is lost")
    }

    /// Every fact still has its quote, and the summary that tells of its episode.
    fn quotes(&self) -> anyhow::Result<Figure> {
        let mut whole = 0;
        for (scope, fact, quote) in &self.facts {
            let sources = self.store.sources_of_fact(*scope, *fact)?;
            let resolves = |source: &hermes_store::memory::Source| {
                let episode = source.episode.unwrap_or(0);
                let covered = self.store.covering(*scope, &[episode]);
                source.quote.as_ref() == Some(quote) && covered.is_ok_and(|found| found.len() == 1)
            };
            whole += usize::from(!sources.is_empty() && sources.iter().all(resolves));
        }
        let all = self.facts.len();
        Ok(Figure::new(
            "facts whose quote is there and leads to a summary",
            format!("{whole} of {all}"),
            "all",
            whole == all,
        ))
    }
}

/// The episode of every turn.
fn episodes(
    store: &SqliteMemory,
    group: &[Conversation],
    filled: &Filled,
) -> anyhow::Result<HashMap<String, (Scope, i64)>> {
    let mut found = HashMap::new();
    for (conversation, scope) in group.iter().zip(&filled.scopes) {
        let is_merged = group.len() == 1;
        for ((session, place), turn) in conversation.places() {
            let sessions = store.sessions_named(*scope, session)?;
            let key = sessions.first().context("a session is lost")?.key;
            let episodes = store.episodes_of(*scope, key)?;
            let here =
                episodes.iter().find(|one| (one.first_place..=one.last_place).contains(&place));
            let episode = here.context("a message without an episode")?.id;
            let name = match is_merged {
                true => turn.turn_id.clone(),
                false => format!("{}/{}", conversation.id, turn.turn_id),
            };
            found.insert(name, (*scope, episode));
        }
    }
    Ok(found)
}

/// A fact for some of the messages, with the words it came from.
fn add_facts(
    store: &mut SqliteMemory,
    group: &[Conversation],
    filled: &Filled,
    episodes: &HashMap<String, (Scope, i64)>,
) -> anyhow::Result<Vec<(Scope, i64, String)>> {
    let mut facts = Vec::new();
    for (conversation, scope) in group.iter().zip(&filled.scopes) {
        for turn in conversation.turns.iter().step_by(FACT_EVERY) {
            let quote: String = turn.text.chars().take(200).collect();
            let name = key_of(turn, &conversation.id);
            let Some((_, episode)) = episodes.get(&name) else { continue };
            if quote.trim().is_empty() {
                continue;
            }
            let source =
                NewSource { episode: Some(*episode), quote: Some(&quote), ..NewSource::default() };
            let statement = format!("{name}: {quote}");
            let words = Words { text: &statement, ..Words::default() };
            let fact = NewFact {
                statement: &statement,
                kind: "fact",
                subject: None,
                predicate: None,
                object: None,
                confidence: 0.9,
                origin: Origin::Extract,
                trust: Trust::User,
                valid_from: None,
                valid_to: None,
                shared: false,
                entities: &[],
                sources: &[source],
                chunks: chunk::prepare(&words, Vectors::Now),
            };
            let change = Change { actor: "bench", at: turn.at.unwrap_or_default() };
            if let Added::New(id) = store.add_fact(*scope, &fact, change)? {
                facts.push((*scope, id, quote));
            }
        }
    }
    Ok(facts)
}

fn key_of(turn: &Turn, conversation: &str) -> String {
    match conversation {
        "all" => turn.turn_id.clone(),
        id => format!("{id}/{}", turn.turn_id),
    }
}

/// What answers each question.
fn evidence(arguments: &Arguments) -> anyhow::Result<HashMap<String, Vec<String>>> {
    let gold = corpus::gold(&arguments.corpus)?;
    Ok(gold.into_iter().map(|one| (one.question_id, one.evidence)).collect())
}

/// The name of a turn as the run before has it.
fn full_name(asked: &Asked, name: &str, is_merged: bool) -> String {
    if is_merged { format!("{}/{name}", asked.conversation_id) } else { name.to_owned() }
}

/// The name of a turn as the summaries are kept by.
fn key_name(asked: &Asked, name: &str, is_merged: bool) -> String {
    if is_merged { name.to_owned() } else { format!("{}/{name}", asked.conversation_id) }
}

/// Names as the set has them: without the conversation where it is the question's own.
fn short_names(group: &[Conversation], answers: &[Answered]) -> Vec<Answered> {
    let questions = group.iter().flat_map(|one| &one.questions);
    questions
        .zip(answers)
        .map(|(asked, answer)| {
            let own = format!("{}/", asked.conversation_id);
            let short = |name: &String| name.strip_prefix(&own).unwrap_or(name).to_owned();
            let retrieved = answer.retrieved.iter().map(short).collect();
            Answered { retrieved, ..answer.clone() }
        })
        .collect()
}

/// How many messages of a conversation have each word.
struct Rarity(HashMap<String, u32>);

impl Rarity {
    fn of(turns: &[Turn]) -> Rarity {
        let mut counts = HashMap::new();
        for turn in turns {
            for word in words(&turn.text) {
                *counts.entry(word).or_default() += 1;
            }
        }
        Rarity(counts)
    }

    /// The rarest words of a text, at most three; of equally rare ones those that are said first.
    fn rarest(&self, text: &str) -> Vec<String> {
        let mut words = words(text);
        words.sort_by_key(|word| self.0.get(word).copied().unwrap_or(0));
        words.truncate(RARE);
        words
    }
}

/// The words of a text that say something, each once, in their order.
fn words(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (word, _) in compress::content_words(text) {
        let word = word.to_lowercase();
        if word.chars().count() > 2 && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}
