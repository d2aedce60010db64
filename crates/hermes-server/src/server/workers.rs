//! Who is worked for: each request waits for its turn, nobody takes more than half of the turns, and work ends in time.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::http::StatusCode;
use hermes_store::Stop;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{Shared, lock};
use crate::call::{Fault, Reply};
use hermes_app::problem::{self, Kind};

/// How many requests are worked on at the same time.
pub(super) const WORKERS: usize = 8;
/// How many of them one token or one visitor may have, so that nobody keeps the others out.
const EACH: usize = WORKERS / 2;
/// How long a request waits for its turn.
pub(super) const TURN: Duration = Duration::from_secs(10);
/// So many tokens and visitors are remembered before those that ask for nothing are forgotten.
const REMEMBERED: usize = 64;

/// How long somebody waits, and is waited for.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// How long a request waits for its turn.
    turn: Duration,
    /// How long a request may take to be worked on.
    work: Duration,
    /// How long work may take to end after it was told to.
    ending: Duration,
}

const LIMITS: Limits =
    Limits { turn: TURN, work: Duration::from_secs(30), ending: Duration::from_secs(2) };

/// The turns that there are.
pub(super) struct Workers {
    limits: Limits,
    all: Arc<Semaphore>,
    each: Mutex<HashMap<String, Arc<Semaphore>>>,
    waiting: AtomicUsize,
}

/// A turn; whoever holds it may work.
struct Turn {
    _own: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
}

/// One who waits; counted as long as they do.
struct Queued<'a>(&'a AtomicUsize);

impl Queued<'_> {
    fn new(count: &AtomicUsize) -> Queued<'_> {
        count.fetch_add(1, Ordering::Relaxed);
        Queued(count)
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Ends the work when nobody waits for it any more: its time is up, or the client is gone.
struct Waiting(Stop);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.ask();
    }
}

impl Workers {
    pub(super) fn new() -> Workers {
        Workers::within(LIMITS)
    }

    fn within(limits: Limits) -> Workers {
        Workers {
            limits,
            all: Arc::new(Semaphore::new(WORKERS)),
            each: Mutex::default(),
            waiting: AtomicUsize::new(0),
        }
    }

    /// How many requests are worked on, and how many wait.
    pub(super) fn counts(&self) -> (usize, usize) {
        (WORKERS - self.all.available_permits(), self.waiting.load(Ordering::Relaxed))
    }

    /// A turn for somebody, when one of theirs and one of all is free.
    async fn turn(&self, who: &str) -> Option<Turn> {
        let _queued = Queued::new(&self.waiting);
        let own = self.own(who);
        let turn = tokio::time::timeout(self.limits.turn, async {
            let own = own.acquire_owned().await.ok()?;
            let all = Arc::clone(&self.all).acquire_owned().await.ok()?;
            Some(Turn { _own: own, _all: all })
        });
        turn.await.ok().flatten()
    }

    /// Works in a thread of its own, when its turn has come; a panic there is a failure here. Work that takes too long
    /// is told to end: what is read ends, a change that is being written is finished.
    async fn work<T: Send + 'static>(
        &self,
        who: &str,
        deed: impl FnOnce(&Stop) -> anyhow::Result<T> + Send + 'static,
    ) -> Result<anyhow::Result<T>, Fault> {
        let Some(turn) = self.turn(who).await else { return Err(busy()) };
        let waiting = Waiting(Stop::within(self.limits.work));
        let stop = waiting.0.clone();
        let mut done = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            deed(&stop)
        });
        let mut ended = tokio::time::timeout(self.limits.work, &mut done).await;
        if ended.is_err() {
            waiting.0.ask();
            ended = tokio::time::timeout(self.limits.ending, done).await;
        }
        match ended {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(_)) => {
                Err(Fault::new(StatusCode::INTERNAL_SERVER_ERROR, "failure", "internal error"))
            }
            Err(_) => Err(out_of_time(self.limits.work)),
        }
    }

    fn own(&self, who: &str) -> Arc<Semaphore> {
        let mut each = lock(&self.each);
        if each.len() >= REMEMBERED {
            each.retain(|_, own| Arc::strong_count(own) > 1);
        }
        Arc::clone(each.entry(who.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(EACH))))
    }
}

/// Works for somebody when their turn has come; what goes wrong is a fault.
pub(super) async fn in_turn(
    shared: &Arc<Shared>,
    who: &str,
    deed: impl FnOnce(&Shared, &Stop) -> anyhow::Result<Reply> + Send + 'static,
) -> Result<Reply, Fault> {
    worked(shared, who, deed).await?.map_err(|error| Fault::of(&error))
}

/// The same; what went wrong with the work itself is the caller's to tell.
pub(super) async fn worked<T: Send + 'static>(
    shared: &Arc<Shared>,
    who: &str,
    deed: impl FnOnce(&Shared, &Stop) -> anyhow::Result<T> + Send + 'static,
) -> Result<anyhow::Result<T>, Fault> {
    let given = Arc::clone(shared);
    shared.workers.work(who, move |stop| deed(&given, stop)).await
}

/// A change was being written when the time was over, and is finished now.
fn out_of_time(limit: Duration) -> Fault {
    let what = format!(
        "the request took longer than {} seconds; a change that was already being written is \
         completed",
        limit.as_secs()
    );
    Fault::new(StatusCode::GATEWAY_TIMEOUT, &problem::word(Kind::TimedOut), what).hint(
        "check whether it was done, or send it again: an item with an `external_id` is stored \
             once",
    )
}

fn busy() -> Fault {
    let what = "too many requests are in progress";
    let mut fault = Fault::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", what);
    fault.wait = Some(1);
    fault
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether somebody gets no turn at once; one that is free is had without waiting.
    async fn must_wait(workers: &Workers, who: &str) -> bool {
        tokio::time::timeout(Duration::from_millis(1), workers.turn(who)).await.is_err()
    }

    #[test]
    fn one_asker_takes_half_of_the_turns_and_leaves_the_others_to_others() {
        run(async {
            let workers = Workers::new();
            let mut held = Vec::new();
            for _ in 0..EACH {
                held.push(workers.turn("a").await.unwrap());
            }
            assert!(must_wait(&workers, "a").await);
            for _ in 0..EACH {
                held.push(workers.turn("b").await.unwrap());
            }
            assert_eq!(workers.counts().0, WORKERS);
            assert!(must_wait(&workers, "c").await);
            held.clear();
            assert!(workers.turn("a").await.is_some());
            assert_eq!(workers.counts(), (0, 0));
        });
    }

    #[test]
    fn those_who_ask_for_nothing_are_forgotten() {
        let workers = Workers::new();
        let kept = workers.own("kept");
        for number in 0..1_000 {
            workers.own(&number.to_string());
        }
        assert!(lock(&workers.each).len() <= REMEMBERED);
        assert!(Arc::ptr_eq(&kept, &workers.own("kept")));
    }

    fn run<T>(future: impl Future<Output = T>) -> T {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().build().unwrap().block_on(future)
    }

    fn hasty() -> Workers {
        let short = Duration::from_millis(1);
        Workers::within(Limits { turn: short, work: short, ending: Duration::from_secs(60) })
    }

    /// What somebody hears who asked for this work.
    async fn told(
        workers: &Workers,
        deed: impl FnOnce(&Stop) -> anyhow::Result<()> + Send + 'static,
    ) -> Fault {
        let done = workers.work("a", deed).await;
        done.and_then(|done| done.map_err(|error| Fault::of(&error))).unwrap_err()
    }

    #[test]
    fn reading_that_takes_too_long_ends_and_is_told_apart_from_a_listener_that_is_busy() {
        run(async {
            let workers = hasty();
            let reads_for_ever = |stop: &Stop| -> anyhow::Result<()> {
                loop {
                    stop.check()?;
                    std::thread::yield_now();
                }
            };
            let fault = told(&workers, reads_for_ever).await;
            assert_eq!(fault.status, StatusCode::GATEWAY_TIMEOUT, "{fault:?}");
            assert_eq!(fault.wait, None);
            assert_eq!(workers.counts(), (0, 0), "the reading is over, and its turn is free");
            let mut held = Vec::new();
            for _ in 0..EACH {
                held.push(workers.turn("a").await.unwrap());
            }
            let fault = told(&workers, |_| Ok(())).await;
            assert_eq!((fault.status, fault.wait), (StatusCode::SERVICE_UNAVAILABLE, Some(1)));
        });
    }

    #[test]
    fn a_change_that_is_being_written_is_finished_after_its_asker_was_told() {
        run(async {
            let short = Duration::from_millis(1);
            let workers = Workers::within(Limits { turn: TURN, work: short, ending: short });
            let (go_on, waits) = std::sync::mpsc::channel();
            let (finished, is_finished) = std::sync::mpsc::channel();
            let writes = move |stop: &Stop| -> anyhow::Result<()> {
                waits.recv()?;
                assert!(stop.is_asked());
                finished.send(())?;
                Ok(())
            };
            let fault = told(&workers, writes).await;
            assert_eq!(fault.status, StatusCode::GATEWAY_TIMEOUT, "{fault:?}");
            assert_eq!(workers.counts().0, 1, "it holds its turn until it is done");
            go_on.send(()).unwrap();
            is_finished.recv().unwrap();
            while workers.counts().0 > 0 {
                tokio::task::yield_now().await;
            }
        });
    }
}
