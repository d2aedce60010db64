//! A summary without a model: the sentences that carry most, then the rare words that are left. A pure function.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use hermes_store::memory::Message;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::cluster::Cluster;
use super::sentences::{Sentence, messages, role_worth, sentences};
use super::words::{self, Weights, content_words};
use crate::chunk;
use crate::task::{self, TaskType};

/// What stands for a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// What it says; the first line says when, who, which sessions and what kind of task.
    pub body: String,
    /// What kind of task it was, if one.
    pub task_type: Option<&'static str>,
    /// Words that were said and are not in it: it is found by them too.
    pub further: String,
}

/// A summary has at least this room, so that a short talk says more than its date.
const LEAST: usize = 240;
/// No summary is longer.
const MOST: usize = 4_000;
/// How much of the room sentences get; the rest is for words.
const SENTENCES: f32 = 0.2;
/// How much each of the rarest words of a message tells of it, the rarest first.
const SHARES: [f32; 6] = [1.0, 1.0, 0.9, 0.3, 0.2, 0.1];
/// So much told of a message is enough: what more is told of it counts little.
const ENOUGH: f32 = 2.0;
/// How much it counts.
const BEYOND: f32 = 0.2;
/// What any other word tells of its message, if it is as rare as one can be: for the room that is left.
const OTHERS: f32 = 0.05;
/// What says less than this is not worth being found by.
const LEAST_WEIGHT: f32 = 0.8;
/// A shorter word is none of the rarest of a message.
const SHORTEST: usize = 3;
const ALSO: &str = "Also:";

/// So many characters a message counts beside those it has: its rarest words need the same room
/// whether it is long or short.
const BESIDE_TEXT: usize = 2_250;

/// How long the summary of a cluster may be, when it is to have a share of what the cluster counts.
pub fn allowance(cluster: &Cluster, share: f64) -> usize {
    let taken = cluster.characters() + BESIDE_TEXT * cluster.messages();
    ((taken as f64 * share) as usize).clamp(LEAST, MOST)
}

/// Tells of a cluster in at most so many characters.
pub fn summarise(cluster: &Cluster, zone: &TimeZone, room: usize) -> Summary {
    summarise_with(cluster, zone, room, &mut Weights::new())
}

/// The same, with weights of words that are known from before.
pub(super) fn summarise_with(
    cluster: &Cluster,
    zone: &TimeZone,
    room: usize,
    weights: &mut Weights,
) -> Summary {
    let room = room.max(LEAST);
    let messages = messages(cluster);
    let task_type = task_type(cluster);
    let mut body = first_line(cluster, &messages, zone, task_type);
    let mut bag = Bag::of(&messages, weights);
    let left = room.saturating_sub(count(&body));
    let lines = bag.lines(cluster, &messages, zone, (left as f32 * SENTENCES) as usize);
    lines.iter().for_each(|line| {
        body.push('\n');
        body.push_str(line);
    });
    if lines.is_empty() {
        body.push_str(&first_words(&messages, left / 2));
    }
    let left = room.saturating_sub(count(&body));
    body.push_str(&bag.also(left));
    Summary { body: cut(body, room), task_type: known(task_type), further: bag.further() }
}

/// A told summary with the first line before it and the words that it lacks after it.
pub(super) fn complete(
    cluster: &Cluster,
    zone: &TimeZone,
    told: &str,
    room: usize,
    weights: &mut Weights,
) -> Summary {
    let messages = messages(cluster);
    let task_type = task_type(cluster);
    let mut body = first_line(cluster, &messages, zone, task_type);
    body.push('\n');
    body.push_str(told);
    let mut bag = Bag::of(&messages, weights);
    content_words(told).iter().for_each(|(_, stem)| bag.cover_stem(stem));
    let left = room.saturating_sub(count(&body));
    body.push_str(&bag.also(left));
    Summary { body, task_type: known(task_type), further: bag.further() }
}

/// The words of a cluster, where each stands, and how much of each message is told.
struct Bag<'a> {
    words: Vec<Word<'a>>,
    places: HashMap<String, usize>,
    /// For each message: how much it counts, and how much of it is told already.
    told: Vec<(f32, f32)>,
}

struct Word<'a> {
    text: &'a str,
    weight: f32,
    /// The messages that have it, and how much it tells of each.
    messages: Vec<(usize, f32)>,
    is_told: bool,
}

impl Word<'_> {
    /// The first message that has it.
    fn first(&self) -> usize {
        self.messages.first().map_or(0, |(message, _)| *message)
    }
}

impl<'a> Bag<'a> {
    fn of(messages: &[&'a Message], weights: &mut Weights) -> Bag<'a> {
        let told = messages.iter().map(|message| (role_worth(&message.role), 0.0)).collect();
        let mut bag = Bag { words: Vec::new(), places: HashMap::new(), told };
        for (number, message) in messages.iter().enumerate() {
            let caption = message.caption.as_deref().unwrap_or_default();
            let texts = content_words(&message.text).into_iter().chain(content_words(caption));
            for (text, stem) in texts {
                let next = bag.words.len();
                let place = *bag.places.entry(stem).or_insert(next);
                if place == next {
                    let weight = weights.of(text);
                    bag.words.push(Word { text, weight, messages: Vec::new(), is_told: false });
                }
                let word = &mut bag.words[place];
                if word.messages.last().is_none_or(|last| last.0 != number) {
                    word.messages.push((number, 0.0));
                }
            }
        }
        bag.share();
        bag
    }

    /// Finds the rarest words of each message: those that the fewest messages have, of equally rare
    /// ones those that are rarer in English.
    fn share(&mut self) {
        let mut words_of: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.told.len()];
        for (at, word) in self.words.iter().enumerate() {
            for (place, (message, _)) in word.messages.iter().enumerate() {
                words_of[*message].push((at, place));
            }
        }
        for mut words in words_of {
            words.retain(|(at, _)| count(self.words[*at].text) >= SHORTEST);
            words.sort_by(|(one, _), (other, _)| {
                let (one, other) = (&self.words[*one], &self.words[*other]);
                let count = one.messages.len().cmp(&other.messages.len());
                count.then_with(|| other.weight.total_cmp(&one.weight))
            });
            let others = std::iter::repeat(0.0);
            for ((at, place), share) in words.into_iter().zip(SHARES.into_iter().chain(others)) {
                let word = &mut self.words[at];
                word.messages[place].1 = share.max(OTHERS * word.weight / words::IN_PIECES);
            }
        }
    }

    /// The best sentences in so many characters, by time, with who said them.
    fn lines(
        &mut self,
        cluster: &Cluster,
        messages: &[&Message],
        zone: &TimeZone,
        room: usize,
    ) -> Vec<String> {
        let all = sentences(cluster, messages);
        let words: Vec<Vec<usize>> = all.iter().map(|one| self.words_of(one.text)).collect();
        let costs: Vec<usize> = all
            .iter()
            .map(|one| count(one.text) + speaker(messages[one.message]).len() + 4)
            .collect();
        let mut left = room;
        let gain = |bag: &Bag<'_>, at: usize| {
            all[at].worth * bag.gain(&words[at]) / (costs[at] as f32 + 20.0)
        };
        let mut chosen: Vec<usize> = Vec::new();
        let mut heap = Heap::of((0..all.len()).map(|at| gain(self, at)));
        while let Some(at) = heap.next(|at| gain(self, at)) {
            if costs[at] > left {
                continue;
            }
            left -= costs[at];
            words[at].iter().for_each(|word| self.tell(*word));
            chosen.push(at);
        }
        let mut chosen: Vec<&Sentence<'_>> = chosen.into_iter().map(|at| &all[at]).collect();
        chosen.sort_by_key(|one| (one.message, one.place));
        render(&chosen, messages, zone)
    }

    /// The words that are not told yet, as many as fit, in the order in which they were said.
    fn also(&mut self, room: usize) -> String {
        let mut left = room.saturating_sub(ALSO.len() + 1);
        let costs: Vec<usize> = self.words.iter().map(|word| count(word.text) + 1).collect();
        let gain = |bag: &Bag<'_>, at: usize| bag.gain(&[at]) / (costs[at] as f32 + 2.0);
        let mut heap = Heap::of((0..self.words.len()).map(|at| gain(self, at)));
        let mut chosen = Vec::new();
        let mut begun: HashSet<usize> = HashSet::new();
        while let Some(at) = heap.next(|at| gain(self, at)) {
            let message = self.words[at].first();
            let cost = costs[at] + usize::from(!begun.contains(&message));
            if cost > left {
                continue;
            }
            left -= cost;
            begun.insert(message);
            self.tell(at);
            chosen.push(at);
        }
        chosen.sort_unstable();
        self.listed(&chosen)
    }

    /// Words in a line; those of one message stand together.
    fn listed(&self, chosen: &[usize]) -> String {
        let groups = chosen
            .chunk_by(|one, next| self.words[*one].first() == self.words[*next].first())
            .map(|group| {
                let words: Vec<&str> = group.iter().map(|at| self.words[*at].text).collect();
                words.join(" ")
            });
        let groups: Vec<String> = groups.collect();
        if groups.is_empty() { String::new() } else { format!("\n{ALSO} {}", groups.join("; ")) }
    }

    /// The words that say enough and are not told: no reader sees them, but who asks with them finds it.
    fn further(&self) -> String {
        let left = self.words.iter().filter(|word| !word.is_told && word.weight >= LEAST_WEIGHT);
        left.map(|word| word.text).collect::<Vec<_>>().join(" ")
    }

    fn words_of(&self, text: &str) -> Vec<usize> {
        let stems = content_words(text).into_iter();
        let mut found: Vec<usize> =
            stems.filter_map(|(_, stem)| self.places.get(&stem).copied()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// What telling these words adds, over all messages that have them.
    fn gain(&self, words: &[usize]) -> f32 {
        let value = |told: f32| told.min(ENOUGH) + BEYOND * (told - ENOUGH).max(0.0);
        let mut sum = 0.0;
        for word in words.iter().map(|at| &self.words[*at]).filter(|word| !word.is_told) {
            for (message, share) in &word.messages {
                let (counts, told) = self.told[*message];
                sum += counts * (value(told + share) - value(told));
            }
        }
        sum
    }

    fn tell(&mut self, word: usize) {
        let word = &mut self.words[word];
        if !std::mem::replace(&mut word.is_told, true) {
            word.messages.iter().for_each(|(message, share)| self.told[*message].1 += share);
        }
    }

    fn cover_stem(&mut self, stem: &str) {
        if let Some(place) = self.places.get(stem).copied() {
            self.tell(place);
        }
    }
}

/// The most first; gains only ever fall, so one is looked at again when it comes up.
struct Heap(BinaryHeap<(u64, Reverse<usize>)>);

impl Heap {
    fn of(gains: impl Iterator<Item = f32>) -> Heap {
        Heap(gains.enumerate().map(|(at, gain)| (key(gain), Reverse(at))).collect())
    }

    fn next(&mut self, gain: impl Fn(usize) -> f32) -> Option<usize> {
        loop {
            let (_, Reverse(at)) = self.0.pop()?;
            let now = key(gain(at));
            if now == 0 {
                continue;
            }
            if self.0.peek().is_none_or(|(next, _)| now >= *next) {
                return Some(at);
            }
            self.0.push((now, Reverse(at)));
        }
    }
}

fn key(gain: f32) -> u64 {
    (f64::from(gain) * 1e9) as u64
}

/// The sentences as lines: a line for each message, with the day where it changes.
fn render(chosen: &[&Sentence<'_>], messages: &[&Message], zone: &TimeZone) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut last_day: Option<Date> = None;
    for group in chosen.chunk_by(|one, next| one.message == next.message) {
        let message = messages[group[0].message];
        let day = chunk::day_of(message.at, zone);
        let mut line = match last_day == Some(day) {
            true => String::new(),
            false => format!("{}, ", short_day(day)),
        };
        last_day = Some(day);
        line.push_str(&speaker(message));
        line.push(':');
        let mut before: Option<usize> = None;
        for one in group {
            if before.is_some_and(|before| before + 1 != one.place) && !line.ends_with('…') {
                line.push_str(" …");
            }
            line.push(' ');
            line.extend(one.text.chars().map(|c| if c.is_control() { ' ' } else { c }));
            if one.is_cut {
                line.push('…');
            }
            before = Some(one.place);
        }
        lines.push(line);
    }
    lines
}

/// When, who, which sessions, which project and what kind of task.
fn first_line(
    cluster: &Cluster,
    messages: &[&Message],
    zone: &TimeZone,
    task_type: TaskType,
) -> String {
    const MOST_NAMES: usize = 4;
    let mut speakers: Vec<String> = Vec::new();
    let mut sessions: Vec<String> = Vec::new();
    for message in messages {
        push_new(&mut speakers, speaker(message));
    }
    for told in cluster.episodes() {
        push_new(&mut sessions, short(&told.episode.session_id, 16));
    }
    speakers.truncate(MOST_NAMES);
    sessions.truncate(MOST_NAMES);
    let word = if sessions.len() == 1 { "session" } else { "sessions" };
    let mut parts =
        vec![span(cluster, zone), speakers.join(", "), format!("{word} {}", sessions.join(", "))];
    let project = cluster.episodes().first().and_then(|told| told.episode.project.as_deref());
    let project = project.and_then(|path| path.trim_end_matches('/').rsplit('/').next());
    parts.extend(project.map(|name| short(name, 30)));
    parts.extend(known(task_type).map(str::to_owned));
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

/// The days of a time and another: `8 May 2023`, `8 to 25 May 2023`, `28 May to 3 June 2023`.
fn span(cluster: &Cluster, zone: &TimeZone) -> String {
    let (start, end) = cluster.span();
    let (first, last) = (chunk::day_of(start, zone), chunk::day_of(end, zone));
    let whole = chunk::written_day(last);
    if first == last {
        whole
    } else if (first.year(), first.month()) == (last.year(), last.month()) {
        format!("{} to {whole}", first.day())
    } else if first.year() == last.year() {
        format!("{} to {whole}", short_day(first))
    } else {
        format!("{} to {whole}", chunk::written_day(first))
    }
}

fn short_day(day: Date) -> String {
    let month = usize::from(day.month().unsigned_abs()).saturating_sub(1);
    format!("{} {}", day.day(), chunk::MONTHS.get(month).unwrap_or(&""))
}

/// Who said a message: their name, else their role.
fn speaker(message: &Message) -> String {
    let name = message.speaker.as_deref().map(str::trim).filter(|name| !name.is_empty());
    short(name.unwrap_or(&message.role), 24)
}

/// The beginning of a text, in one line of plain characters.
fn short(text: &str, most: usize) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    plain.trim().chars().take(most).collect::<String>().trim_end().to_owned()
}

/// What was said first, where no sentence says anything.
fn first_words(messages: &[&Message], room: usize) -> String {
    let said = messages.iter().find(|message| !message.text.trim().is_empty());
    said.map(|message| format!("\n{}: {}", speaker(message), short(&message.text, room.min(80))))
        .unwrap_or_default()
}

/// What kind of task it was: what the episodes say, if they agree; else what the words of the user look like.
fn task_type(cluster: &Cluster) -> TaskType {
    const MOST_READ: usize = 2_000;
    let mut said = cluster.episodes().iter().map(|told| told.episode.task_type.as_deref());
    if let Some(Some(first)) = said.next()
        && said.all(|other| other == Some(first))
    {
        return TaskType::ALL
            .into_iter()
            .find(|kind| kind.as_str() == first)
            .unwrap_or(TaskType::General);
    }
    let mut asked = String::new();
    for told in cluster.episodes() {
        let Some(message) = told.messages.first() else { continue };
        if asked.len() > MOST_READ {
            break;
        }
        asked.extend(message.text.chars().take(MOST_READ / 4));
        asked.push('\n');
    }
    task::infer(&asked)
}

fn known(task_type: TaskType) -> Option<&'static str> {
    (task_type != TaskType::General).then(|| task_type.as_str())
}

fn push_new(list: &mut Vec<String>, one: String) {
    if !list.contains(&one) {
        list.push(one);
    }
}

fn count(text: &str) -> usize {
    text.chars().count()
}

fn cut(body: String, room: usize) -> String {
    match body.char_indices().nth(room) {
        Some((at, _)) => body[..at].trim_end().to_owned(),
        None => body,
    }
}
