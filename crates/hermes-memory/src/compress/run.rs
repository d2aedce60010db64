//! Compress what is old: keep a summary, read it back, and only then drop what it tells of.

use hermes_home::tokens;
use hermes_store::memory::{Admin, After, Change, Episode, Memory, NewSummary, Scope, UserNumber};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::cluster::{Cluster, Clustering, Limits, Told};
use super::model;
use super::summarise::{Summary, allowance, complete, summarise_with};
use super::words::Weights;
use crate::ask::Ask;
use crate::chunk::{self, Vectors};
use crate::{Error, Result};

/// What is compressed, and how.
pub struct Settings<'a> {
    /// Episodes that ended before it are old.
    pub before: Timestamp,
    /// When it is done.
    pub now: Timestamp,
    /// What one summary may tell of.
    pub limits: Limits,
    /// Which share a summary may have of what its messages count: their characters, and some for each.
    pub share: f64,
    /// Only say what would be done.
    pub dry_run: bool,
    /// Whether vectors are made here or by a job.
    pub vectors: Vectors,
    /// The zone in which the days of a user begin.
    pub zone_of: &'a dyn Fn(UserNumber) -> TimeZone,
    /// Whether the session with this id is to be left alone.
    pub is_pinned: &'a dyn Fn(&str) -> bool,
    /// How many summaries to write at most; the rest waits for the next time.
    pub limit: Option<u64>,
}

impl<'a> Settings<'a> {
    /// The usual settings for everything that ended before a time.
    pub fn new(before: Timestamp, now: Timestamp) -> Settings<'a> {
        Settings {
            before,
            now,
            limits: Limits::default(),
            share: USUAL_SHARE,
            dry_run: false,
            vectors: Vectors::Now,
            zone_of: &|_| TimeZone::UTC,
            is_pinned: &|_| false,
            limit: None,
        }
    }
}

/// What was done, or would be.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Summaries written.
    pub clusters: u64,
    /// Of these, summaries that a model wrote.
    pub by_model: u64,
    /// Summaries of an earlier run whose messages were still there.
    pub finished: u64,
    /// Episodes they tell of.
    pub episodes: u64,
    /// Messages they tell of.
    pub messages: u64,
    /// Bytes of the messages' texts.
    pub text_before: u64,
    /// Bytes of the summaries.
    pub text_after: u64,
    /// Old episodes left alone because their session is pinned.
    pub pinned: u64,
    /// Summaries that a model did not get right; the episodes wait.
    pub waiting: u64,
    /// Why it ended early, if it did.
    pub stopped: Option<String>,
}

impl Report {
    fn count(&mut self, summary: &Summary) {
        self.clusters += 1;
        self.text_after += summary.body.len() as u64;
    }
}

/// The share that makes a memory of messages of 300 characters about a tenth as large.
const USUAL_SHARE: f64 = 0.01;
/// How many episodes are read at a time.
const PAGE: usize = 200;
/// So often a model may give a bad answer before it is done without it.
const MOST_FAILURES: i64 = 3;
const ACTOR: &str = "compress";

/// Compresses every old episode that was drawn from. It can be cut short at any point: what is unfinished
/// is finished first the next time, and nothing is dropped whose summary was not read back.
pub fn run(
    store: &mut Memory,
    settings: &Settings<'_>,
    ask: Option<&mut Ask<'_>>,
    progress: &mut dyn FnMut(&Report),
) -> Result<Report> {
    let mut work =
        Work { store, settings, ask, weights: Weights::new(), report: Report::default() };
    work.finish_earlier()?;
    progress(&work.report);
    let mut clustering = Clustering::new(settings.limits);
    let mut after = After::default();
    loop {
        let page = work.store.old_episodes(Admin, settings.before, after, PAGE)?;
        let Some(last) = page.last() else { break };
        after = After { user: last.user.get(), session: last.session.get(), episode: last.id };
        for episode in page {
            let Some(told) = work.read(episode)? else { continue };
            for cluster in clustering.push(told) {
                work.compress(&cluster)?;
            }
            if work.is_over() {
                return Ok(work.report);
            }
        }
        progress(&work.report);
    }
    for cluster in clustering.finish() {
        if !work.is_over() {
            work.compress(&cluster)?;
        }
    }
    progress(&work.report);
    Ok(work.report)
}

/// The work under way.
struct Work<'a, 'b> {
    store: &'a mut Memory,
    settings: &'a Settings<'a>,
    ask: Option<&'a mut Ask<'b>>,
    weights: Weights,
    report: Report,
}

impl Work<'_, '_> {
    /// Drops what earlier summaries tell of, where that was cut short.
    fn finish_earlier(&mut self) -> Result<()> {
        if self.settings.dry_run {
            return Ok(());
        }
        for summary in self.store.unfinished_summaries(Admin)? {
            let done = self.drop_told(Scope::of(summary.user), &summary);
            self.report.finished += u64::from(unless_changed(done)?.is_some());
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.report.stopped.is_some()
            || self.settings.limit.is_some_and(|limit| self.report.clusters >= limit)
    }

    /// An old episode with its messages, unless it is to be left alone.
    fn read(&mut self, episode: Episode) -> Result<Option<Told>> {
        if (self.settings.is_pinned)(&episode.session_id) {
            self.report.pinned += 1;
            return Ok(None);
        }
        let messages = self.store.messages_of(Scope::of(episode.user), &episode)?;
        Ok(Some(Told::new(episode, messages)))
    }

    /// Keeps a summary, then drops what it tells of.
    fn compress(&mut self, cluster: &Cluster) -> Result<()> {
        let Some(first) = cluster.episodes().first().map(|told| &told.episode) else {
            return Ok(());
        };
        if self.is_over() {
            return Ok(());
        }
        let scope = Scope::of(first.user);
        let Some(summary) = self.tell(cluster, first)? else { return Ok(()) };
        if self.settings.dry_run {
            self.report.count(&summary);
            self.report.episodes += cluster.episodes().len() as u64;
            self.report.messages += cluster.messages() as u64;
            let texts = cluster.episodes().iter().flat_map(|told| &told.messages);
            self.report.text_before += texts.map(|message| message.text.len() as u64).sum::<u64>();
            return Ok(());
        }
        let Some(kept) = unless_changed(self.keep(scope, cluster, &summary))? else {
            return Ok(());
        };
        self.report.count(&summary);
        // Read back, so that nothing is dropped for a summary that is not there.
        let kept = self.store.episodes(scope, &[kept])?;
        kept.first().map_or(Ok(()), |kept| self.drop_told(scope, kept))
    }

    fn keep(&mut self, scope: Scope, cluster: &Cluster, summary: &Summary) -> Result<i64> {
        let new = NewSummary {
            episodes: &cluster.ids(),
            body: &summary.body,
            task_type: summary.task_type,
            tokens: u32::try_from(tokens::estimate(&summary.body)).unwrap_or(u32::MAX),
            chunks: chunk::prepare_summary(&summary.body, &summary.further, self.settings.vectors),
        };
        Ok(self.store.keep_summary(scope, &new, self.change())?)
    }

    fn drop_told(&mut self, scope: Scope, summary: &Episode) -> Result<()> {
        let body = summary.body.as_deref().unwrap_or_default();
        let dropped = self.store.drop_raw(scope, summary.id, body, self.change())?;
        self.report.episodes += dropped.episodes;
        self.report.messages += dropped.messages;
        self.report.text_before += dropped.text_bytes;
        Ok(())
    }

    /// The summary of a cluster: by the model if there is one, else without; none if it is to wait.
    fn tell(&mut self, cluster: &Cluster, first: &Episode) -> Result<Option<Summary>> {
        let zone = (self.settings.zone_of)(first.user);
        let room = allowance(cluster, self.settings.share);
        if !self.settings.dry_run
            && let Some(ask) = self.ask.as_mut()
        {
            let failures = Failures::of(first);
            let room_of_model = room * 3 / 5;
            match model::told(&mut **ask, cluster, &zone, room_of_model) {
                Ok(told) => {
                    self.report.by_model += 1;
                    let room = room.max(room_of_model * 2);
                    return Ok(Some(complete(cluster, &zone, &told, room, &mut self.weights)));
                }
                Err(Error::BadReply { .. }) => {
                    if failures.count_one(self.store)? < MOST_FAILURES {
                        self.report.waiting += 1;
                        return Ok(None);
                    }
                }
                Err(Error::Store(error)) => return Err(error.into()),
                Err(error) => {
                    self.report.stopped = Some(error.to_string());
                    return Ok(None);
                }
            }
        }
        Ok(Some(summarise_with(cluster, &zone, room, &mut self.weights)))
    }

    fn change(&self) -> Change<'static> {
        Change { actor: ACTOR, at: self.settings.now }
    }
}

/// Nothing if an episode was forgotten or summarised by somebody else in the meantime.
fn unless_changed<T>(done: Result<T>) -> Result<Option<T>> {
    use hermes_store::Error::{ItemRefused, NoSuchItem};
    match done {
        Ok(done) => Ok(Some(done)),
        Err(Error::Store(ItemRefused { .. } | NoSuchItem { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}

/// How often a model gave a bad answer about the cluster that begins with an episode.
struct Failures {
    day: jiff::civil::Date,
    name: String,
}

impl Failures {
    fn of(first: &Episode) -> Failures {
        let day = chunk::day_of(first.started_at, &TimeZone::UTC);
        Failures { day, name: format!("compress.bad_answer.{}", first.id) }
    }

    fn count_one(&self, store: &mut Memory) -> Result<i64> {
        Ok(store.add_to_counter(Admin, self.day, &self.name, 1)?)
    }
}
