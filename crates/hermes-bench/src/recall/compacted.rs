//! What is still found when summaries stand for the conversations.

use std::collections::{HashMap, HashSet};

use anyhow::{Context, ensure};
use hermes_memory::chunk::{self, Vectors, Words};
use hermes_memory::compress::{self, Report, Settings};
use hermes_memory::extract;
use hermes_memory::search::{self, Effort, Item, Kind};
use hermes_store::memory::{
    Admin, Change, FactFilter, ItemKind, Memory, NewFact, NewSource, Origin, RecallFilter, Scope,
    Source, Trust,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::ask::{Answered, Asking, Names, search_all};
use super::corpus::{self, Asked, Conversation, Turn};
use super::fill::{self, Filled};
use super::kept::{Counts, FIRST, Kept, Rarity};
use super::{Arguments, time_figure, write};
use crate::cpu;
use crate::figures::Figure;
use hermes_app::text::{bytes, thousands};

/// Every so many messages a fact is drawn from one.
const FACT_EVERY: usize = 50;

/// Asks, compresses, asks again: with all conversations in one memory, with half of it compressed, and
/// with each conversation alone.
pub(super) fn measure(
    conversations: &[Conversation],
    arguments: &Arguments,
    asking: Asking<'_>,
) -> anyhow::Result<Vec<Figure>> {
    let together = vec![corpus::merged(conversations)];
    let bench = Bench { arguments, asking, gold: evidence(arguments)? };
    let mut figures = bench.whole(&together, conversations)?;
    figures.extend(bench.again(&together, middle(&together[0]), "half of it compressed")?);
    figures.extend(bench.again(conversations, asking.now, "each alone")?);
    Ok(figures)
}

/// How it is measured.
struct Bench<'a> {
    arguments: &'a Arguments,
    asking: Asking<'a>,
    /// What answers each question.
    gold: HashMap<String, Vec<String>>,
}

/// What was found in some conversations before they were compressed, and after.
struct Trial<'a> {
    group: &'a [Conversation],
    filled: Filled,
    before: Vec<Answered>,
    compacted: Compacted,
    after: Vec<After>,
}

impl Bench<'_> {
    /// All conversations in one memory, everything compressed.
    fn whole(
        &self,
        group: &[Conversation],
        conversations: &[Conversation],
    ) -> anyhow::Result<Vec<Figure>> {
        let trial = self.trial(group, self.asking.now)?;
        write(self.arguments, "before", &short_names(group, &trial.before))?;
        let runs: Vec<Answered> = trial.after.iter().map(|one| one.answered.clone()).collect();
        write(self.arguments, "", &short_names(group, &runs))?;
        let mut figures = trial.compacted.size(&trial.filled);
        figures.push(time_figure("search before", &trial.before));
        figures.push(time_figure("search after", &runs));
        figures.extend(self.outcome(&trial, "all together"));
        figures.extend(trial.compacted.rare_words(conversations, &self.gold)?);
        figures.push(trial.compacted.quotes()?);
        Ok(figures)
    }

    /// Another arrangement, of which only the outcome counts.
    fn again(
        &self,
        group: &[Conversation],
        old: Timestamp,
        what: &str,
    ) -> anyhow::Result<Vec<Figure>> {
        Ok(self.outcome(&self.trial(group, old)?, what))
    }

    /// Asks everything, compresses what is older than a time, and asks everything again.
    fn trial<'a>(&self, group: &'a [Conversation], old: Timestamp) -> anyhow::Result<Trial<'a>> {
        let filled = fill::fill(group, self.arguments.no_noise(), self.asking.now, None)?;
        let before = search_all(group, &filled, self.asking, &Effort::default())?;
        let compacted = Compacted::of(group, &filled, self.asking, old)?;
        let after = compacted.search_all(group, &filled, self.asking)?;
        Ok(Trial { group, filled, before, compacted, after })
    }

    /// Of the questions whose evidence was found before: for how many it is, or the summary that tells of it.
    fn outcome(&self, trial: &Trial<'_>, what: &str) -> Vec<Figure> {
        let Trial { group, before, compacted, after, .. } = trial;
        let questions: Vec<&Asked> = group.iter().flat_map(|one| &one.questions).collect();
        let is_merged = group.len() == 1;
        let (mut told, mut raw) = (Counts::default(), Counts::default());
        for ((asked, before), after) in questions.iter().zip(before).zip(after) {
            let Some(evidence) = self.gold.get(&asked.question_id) else { continue };
            if asked.category == "adversarial" {
                continue;
            }
            let first = &before.retrieved[..before.retrieved.len().min(FIRST)];
            let (mut of_told, mut of_raw) = (Vec::new(), Vec::new());
            for name in evidence {
                let full = full_name(asked, name, is_merged);
                if !first.contains(&full) {
                    continue;
                }
                let key = format!("{}/{name}", asked.conversation_id);
                let place = |wanted: &Shown| after.found.iter().position(|one| one == wanted);
                match compacted.summaries.get(&key) {
                    Some((_, summary)) => of_told.push(place(&Shown::Summary(*summary))),
                    None => of_raw.push(place(&Shown::Message(full))),
                }
            }
            told.add(&of_told);
            raw.add(&of_raw);
        }
        let mut figures = told.figures(&format!("{what}: found before, and the summary"));
        if raw.questions > 0 {
            figures
                .extend(raw.figures(&format!("{what}: found before, still raw, and the message")));
        }
        figures
    }
}

/// The time before which half of the messages were said.
fn middle(conversation: &Conversation) -> Timestamp {
    let mut times: Vec<Timestamp> = conversation.turns.iter().filter_map(|turn| turn.at).collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// A memory whose conversations were compressed.
struct Compacted {
    store: Memory,
    report: Report,
    /// The scope and the summary of each message, by the name of the turn.
    summaries: HashMap<String, (Scope, i64)>,
    /// Facts with what they came from.
    facts: Vec<(Scope, i64, Vec<Source>)>,
    /// The size of the file before and after, vacuumed.
    sizes: (u64, u64),
}

/// What was found after.
struct After {
    answered: Answered,
    found: Vec<Shown>,
}

#[derive(Debug, PartialEq, Eq)]
enum Shown {
    Summary(i64),
    Message(String),
}

impl Compacted {
    fn of(
        group: &[Conversation],
        filled: &Filled,
        asking: Asking<'_>,
        old: Timestamp,
    ) -> anyhow::Result<Compacted> {
        let mut store = filled.open_to_write()?;
        let episodes = episodes(&store, group, filled)?;
        add_facts(&mut store, group, filled, &episodes)?;
        draw(&mut store, asking.now)?;
        let facts = quotes(&store, filled, asking.now)?;
        let before = store.vacuum(Admin, asking.now)?.after;
        let settings = Settings::new(old, asking.now);
        let report = compress::run(&mut store, &settings, None, &mut |_| {})?;
        let mut summaries = HashMap::new();
        for (name, (scope, episode)) in episodes {
            let covering = store.covering(scope, &[episode])?;
            let is_raw = !store.episodes(scope, &[episode])?.is_empty();
            ensure!(is_raw != (covering.len() == 1), "{name} is lost, or there twice");
            summaries.extend(covering.first().map(|(_, summary)| (name, (scope, *summary))));
        }
        let after = store.vacuum(Admin, asking.now)?.after;
        Ok(Compacted { store, report, summaries, facts, sizes: (before, after) })
    }

    fn search_all(
        &self,
        group: &[Conversation],
        filled: &Filled,
        asking: Asking<'_>,
    ) -> anyhow::Result<Vec<After>> {
        let mut all = Vec::new();
        for (conversation, scope) in group.iter().zip(&filled.scopes) {
            let names = Names::of(conversation);
            for asked in &conversation.questions {
                let question = asking.question(asked, Kind::Episodes);
                let now = asking.time_of(asked, conversation);
                let reading = asking.reading(&self.store, *scope, now);
                let (found, spent) = cpu::timed(|| search::search(&reading, &question))?;
                let mut after =
                    After { answered: Answered::new(asked, Vec::new(), spent), found: Vec::new() };
                for one in &found.results {
                    match &one.item {
                        Item::Summary(summary) => {
                            after.found.push(Shown::Summary(summary.id));
                            let sessions = self.store.sessions_of_summary(*scope, summary.id)?;
                            after.answered.retrieved.extend(sessions);
                        }
                        Item::Message { message, episode } => {
                            let name = names.name(&episode.session_id, message)?;
                            after.found.push(Shown::Message(name));
                        }
                        _ => {}
                    }
                }
                all.push(after);
            }
        }
        Ok(all)
    }

    fn size(&self, filled: &Filled) -> Vec<Figure> {
        let (before, after) = self.sizes;
        let smaller = 100.0 * (1.0 - after as f64 / before as f64);
        let Report { clusters, text_before, text_after, .. } = self.report;
        let share = 100.0 * text_after as f64 / text_before.max(1) as f64;
        vec![
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
        ]
    }

    /// How many of the rarest words of each message that is evidence are in the summary, or find it.
    fn rare_words(
        &self,
        conversations: &[Conversation],
        gold: &HashMap<String, Vec<String>>,
    ) -> anyhow::Result<Vec<Figure>> {
        let (mut visible, mut finding) = (Kept::default(), Kept::default());
        for conversation in conversations {
            let rarity = Rarity::of(&conversation.turns);
            let asked = conversation.questions.iter();
            let wanted: HashSet<&String> =
                asked.filter_map(|one| gold.get(&one.question_id)).flatten().collect();
            for turn in conversation.turns.iter().filter(|turn| wanted.contains(&turn.turn_id)) {
                let name = format!("{}/{}", conversation.id, turn.turn_id);
                let words = rarity.rarest(&turn.text);
                let Some((scope, summary)) = self.summaries.get(&name) else { continue };
                let body = self.body(*scope, *summary)?;
                let there = words.iter().filter(|word| compress::is_word_in(&body, word)).count();
                visible.add(there, words.len());
                let mut found = 0;
                for word in &words {
                    found += usize::from(self.finds(*scope, *summary, word)?);
                }
                finding.add(found, words.len());
            }
        }
        Ok(vec![
            visible.figure("evidence with its rarest words in the summary's text"),
            finding.figure("evidence with its rarest words finding the summary"),
        ])
    }

    /// Whether a summary is found by a word.
    fn finds(&self, scope: Scope, summary: i64, word: &str) -> anyhow::Result<bool> {
        let filter = RecallFilter { kinds: vec![ItemKind::Summary], ..RecallFilter::default() };
        let postings = self.store.postings(scope, &filter, word, 10_000)?;
        Ok(postings.chunks.iter().any(|chunk| chunk.item() == summary))
    }

    fn body(&self, scope: Scope, summary: i64) -> anyhow::Result<String> {
        let found = self.store.episodes(scope, &[summary])?.into_iter().next();
        found.and_then(|summary| summary.body).context("a summary is lost")
    }

    /// Every fact still has its quotes, and the summaries that tell of its episodes.
    fn quotes(&self) -> anyhow::Result<Figure> {
        let mut whole = 0;
        for (scope, fact, before) in &self.facts {
            let sources = self.store.sources_of_fact(*scope, *fact)?;
            let is_told = |source: &Source| {
                let covered = self.store.covering(*scope, source.episode.as_slice());
                covered.is_ok_and(|found| found.len() == 1)
            };
            whole += usize::from(sources == *before && sources.iter().all(is_told));
        }
        let all = self.facts.len();
        Ok(Figure::new(
            "facts whose quotes are there and lead to a summary",
            format!("{whole} of {all}"),
            "all",
            whole == all,
        ))
    }
}

/// The episode of every turn.
fn episodes(
    store: &Memory,
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
    store: &mut Memory,
    group: &[Conversation],
    filled: &Filled,
    episodes: &HashMap<String, (Scope, i64)>,
) -> anyhow::Result<()> {
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
            store.add_fact(*scope, &fact, change)?;
        }
    }
    Ok(())
}

/// Draws facts by rules from everything that was said.
fn draw(store: &mut Memory, now: Timestamp) -> anyhow::Result<()> {
    let settings = extract::Settings {
        now,
        zone_of: &|_| TimeZone::UTC,
        idle_since: now,
        limit: 1_000,
        vectors: Vectors::Now,
        imported_with_model: false,
        remember: None,
    };
    while extract::run(store, &settings, None)?.episodes > 0 {}
    Ok(())
}

/// Every fact that came from an episode, with its sources.
fn quotes(
    store: &Memory,
    filled: &Filled,
    now: Timestamp,
) -> anyhow::Result<Vec<(Scope, i64, Vec<Source>)>> {
    let mut facts = Vec::new();
    for scope in &filled.scopes {
        for fact in store.list_facts(*scope, &FactFilter::default(), now)? {
            let sources = store.sources_of_fact(*scope, fact.id)?;
            if sources.iter().any(|source| source.episode.is_some()) {
                facts.push((*scope, fact.id, sources));
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
