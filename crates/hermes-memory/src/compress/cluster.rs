//! Which old episodes one summary tells of: alike in subject, near in time, of few sessions. Pure functions.

use hermes_llm::EmbeddedModel;
use hermes_store::memory::{Episode, Message, SessionKey};
use jiff::{SignedDuration, Timestamp};

/// What a summary may tell of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Of how many sessions at most.
    pub max_sessions: usize,
    /// How much time may lie between two of its episodes that follow each other.
    pub max_gap: SignedDuration,
    /// How many characters its episodes may have together, unless it is only one.
    pub max_text: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { max_sessions: 3, max_gap: SignedDuration::from_hours(8 * 24), max_text: 24_000 }
    }
}

/// An episode with what was said in it.
#[derive(Debug, Clone)]
pub struct Told {
    /// The episode.
    pub episode: Episode,
    /// Its messages in their order.
    pub messages: Vec<Message>,
    characters: usize,
    vector: Vec<f32>,
}

impl Told {
    /// Reads an episode: how long it is and what it is about.
    pub fn new(episode: Episode, messages: Vec<Message>) -> Told {
        let model = EmbeddedModel::get();
        let mut tokens = Vec::new();
        let mut characters = 0;
        for message in &messages {
            let caption = message.caption.as_deref().unwrap_or_default();
            characters += message.text.chars().count() + caption.chars().count();
            model.tokens(first(&message.text, MOST_READ), &mut tokens);
            model.tokens(first(caption, MOST_READ), &mut tokens);
        }
        Told { episode, messages, characters, vector: model.pool(&tokens) }
    }

    /// How many characters its messages have.
    pub fn characters(&self) -> usize {
        self.characters
    }
}

/// Episodes that one summary tells of; all of one user, channel and project.
#[derive(Debug, Clone)]
pub struct Cluster {
    episodes: Vec<Told>,
    sessions: Vec<SessionKey>,
    start: Timestamp,
    end: Timestamp,
    characters: usize,
    /// The summed vectors of the episodes, each by its length.
    vector: Vec<f32>,
}

impl Cluster {
    fn of(told: Told) -> Cluster {
        let mut cluster = Cluster {
            sessions: vec![told.episode.session],
            start: told.episode.started_at,
            end: told.episode.ended_at,
            characters: 0,
            vector: vec![0.0; told.vector.len()],
            episodes: Vec::new(),
        };
        cluster.add(told);
        cluster
    }

    /// The episodes, oldest first.
    pub fn episodes(&self) -> &[Told] {
        &self.episodes
    }

    /// The numbers of the episodes.
    pub fn ids(&self) -> Vec<i64> {
        self.episodes.iter().map(|told| told.episode.id).collect()
    }

    /// The sessions they are from.
    pub fn sessions(&self) -> &[SessionKey] {
        &self.sessions
    }

    /// When the first of them began and the last one ended.
    pub fn span(&self) -> (Timestamp, Timestamp) {
        (self.start, self.end)
    }

    /// How many characters their messages have.
    pub fn characters(&self) -> usize {
        self.characters
    }

    /// How many messages they have.
    pub fn messages(&self) -> usize {
        self.episodes.iter().map(|told| told.messages.len()).sum()
    }

    /// What they are about, as a vector of length one.
    pub(super) fn subject(&self) -> Vec<f32> {
        let length = self.vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
        self.vector.iter().map(|value| value * scale).collect()
    }

    fn add(&mut self, told: Told) {
        if !self.sessions.contains(&told.episode.session) {
            self.sessions.push(told.episode.session);
        }
        self.start = self.start.min(told.episode.started_at);
        self.end = self.end.max(told.episode.ended_at);
        self.characters += told.characters;
        let weight = told.characters as f32;
        self.vector.iter_mut().zip(&told.vector).for_each(|(sum, value)| *sum += value * weight);
        self.episodes.push(told);
    }

    fn join(&mut self, other: Cluster) {
        other.episodes.into_iter().for_each(|told| self.add(told));
    }

    fn in_order(mut self) -> Cluster {
        self.episodes.sort_by_key(|told| (told.episode.started_at, told.episode.id));
        self
    }
}

/// How much of one message tells what it is about.
const MOST_READ: usize = 4_000;
/// So many groups are kept open for what follows; it bounds the memory that is needed.
const MOST_OPEN: usize = 6;
/// A pause in a session after which something else begins.
const PAUSE: SignedDuration = SignedDuration::from_hours(12);
/// A stretch of a session shorter than this is not cut where the subject changes.
const LEAST_TEXT: usize = 3_000;
/// An episode shorter than this is too short to change the subject.
const LEAST_EPISODE: usize = 200;
/// Below this cosine the subject of a session has changed.
const SAME_SUBJECT: f32 = 0.3;
/// Below this cosine two sessions have nothing in common.
const LIKE_SUBJECT: f32 = 0.35;

/// Groups the episodes of any users, which come session by session, as `Clustering` does.
pub fn clusters(episodes: Vec<Told>, limits: Limits) -> Vec<Cluster> {
    let mut clustering = Clustering::new(limits);
    let mut all: Vec<Cluster> = Vec::new();
    for told in episodes {
        all.extend(clustering.push(told));
    }
    all.extend(clustering.finish());
    all
}

/// Groups episodes one by one, in little memory.
#[derive(Debug)]
pub struct Clustering {
    limits: Limits,
    /// The stretch of a session that is being read.
    stretch: Option<Cluster>,
    open: Vec<Cluster>,
}

impl Clustering {
    /// Nothing grouped yet.
    pub fn new(limits: Limits) -> Clustering {
        Clustering { limits, stretch: None, open: Vec::new() }
    }

    /// Takes the next episode, in the order of users and sessions; returns groups that are complete.
    pub fn push(&mut self, told: Told) -> Vec<Cluster> {
        match self.stretch.take() {
            Some(mut stretch) if goes_on(&stretch, &told, &self.limits) => {
                stretch.add(told);
                self.stretch = Some(stretch);
                Vec::new()
            }
            Some(stretch) => {
                let next = Cluster::of(told);
                let mut done = self.sort_in(stretch);
                done.extend(self.close_for(&next));
                self.stretch = Some(next);
                done
            }
            None => {
                self.stretch = Some(Cluster::of(told));
                Vec::new()
            }
        }
    }

    /// The groups that are left.
    pub fn finish(&mut self) -> Vec<Cluster> {
        let mut done = match self.stretch.take() {
            Some(stretch) => self.sort_in(stretch),
            None => Vec::new(),
        };
        done.extend(self.open.drain(..).map(Cluster::in_order));
        done
    }

    /// Puts a stretch into the open group that is most like it, or opens one.
    fn sort_in(&mut self, stretch: Cluster) -> Vec<Cluster> {
        let subject = stretch.subject();
        let likeness = |cluster: &Cluster| dot(&cluster.subject(), &subject);
        let best = (0..self.open.len())
            .filter(|at| fits(&self.open[*at], &stretch, &self.limits))
            .map(|at| (likeness(&self.open[at]), at))
            .filter(|(like, _)| *like >= LIKE_SUBJECT)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        match best {
            Some((_, at)) => self.open[at].join(stretch),
            None => self.open.push(stretch),
        }
        let mut done = Vec::new();
        while self.open.len() > MOST_OPEN {
            done.push(self.open.remove(0).in_order());
        }
        done
    }

    /// Closes groups of other users: nothing more can come for them.
    fn close_for(&mut self, next: &Cluster) -> Vec<Cluster> {
        let user = user_of(next);
        let (same, other): (Vec<_>, Vec<_>) =
            self.open.drain(..).partition(|cluster| user_of(cluster) == user);
        self.open = same;
        other.into_iter().map(Cluster::in_order).collect()
    }
}

/// Whether an episode belongs to the stretch before it.
fn goes_on(stretch: &Cluster, told: &Told, limits: &Limits) -> bool {
    let Some(first) = stretch.episodes.first() else { return false };
    let same_place = first.episode.session == told.episode.session
        && place_of(&first.episode) == place_of(&told.episode);
    let pause = told.episode.started_at.duration_since(stretch.end);
    let back = stretch.start.duration_since(told.episode.ended_at);
    let turns = stretch.characters >= LEAST_TEXT
        && told.characters >= LEAST_EPISODE
        && dot(&stretch.subject(), &told.vector) < SAME_SUBJECT;
    same_place
        && pause <= PAUSE.min(limits.max_gap)
        && back <= PAUSE.min(limits.max_gap)
        && stretch.characters + told.characters <= limits.max_text
        && !turns
}

/// Whether two groups may become one.
fn fits(cluster: &Cluster, stretch: &Cluster, limits: &Limits) -> bool {
    let (Some(one), Some(other)) = (cluster.episodes.first(), stretch.episodes.first()) else {
        return false;
    };
    let new = stretch.sessions.iter().filter(|key| !cluster.sessions.contains(key)).count();
    let after = stretch.start.duration_since(cluster.end);
    let before = cluster.start.duration_since(stretch.end);
    let task = one.episode.task_type.as_ref().zip(other.episode.task_type.as_ref());
    place_of(&one.episode) == place_of(&other.episode)
        && cluster.sessions.len() + new <= limits.max_sessions
        && after <= limits.max_gap
        && before <= limits.max_gap
        && cluster.characters + stretch.characters <= limits.max_text
        && task.is_none_or(|(one, other)| one == other)
}

fn place_of(episode: &Episode) -> (i64, Option<&str>, Option<&str>) {
    (episode.user.get(), episode.channel.as_deref(), episode.project.as_deref())
}

fn user_of(cluster: &Cluster) -> Option<i64> {
    cluster.episodes.first().map(|told| told.episode.user.get())
}

/// The cosine of two vectors of length one.
pub(super) fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

/// The first characters of a text.
fn first(text: &str, count: usize) -> &str {
    match text.char_indices().nth(count) {
        Some((at, _)) => &text[..at],
        None => text,
    }
}
