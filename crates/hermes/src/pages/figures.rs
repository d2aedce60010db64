//! Figures that take a while in a large memory: the last ones are shown while they are counted anew.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hermes_store::memory::{Admin, Counts, Growth, Scope, Upkeep as _};
use jiff::Timestamp;

use crate::app::Memory;
use crate::server::pool::Seat;

/// What is counted.
#[derive(Debug, Clone)]
pub(super) struct Figures {
    /// How much there is.
    pub(super) counts: Counts,
    /// What came on each day.
    pub(super) growth: Vec<Growth>,
}

/// Whose figures, and from which day on.
type Key = (PathBuf, i64, Timestamp);

struct Known {
    figures: Figures,
    at: Instant,
    is_renewed: bool,
}

/// So long the last figures are good enough.
const GOOD: Duration = Duration::from_secs(20);
/// Of less than this it is counted every time: 500,000 episodes take a quarter of a second.
const LARGE: u64 = 50_000;
/// How many are kept at most.
const MOST: usize = 64;

static KNOWN: LazyLock<Mutex<HashMap<Key, Known>>> = LazyLock::new(Mutex::default);

/// The figures of a scope, with what came since a day.
pub(super) fn of(seat: &mut Seat, scope: Scope, since: Timestamp) -> anyhow::Result<Figures> {
    let (_, _, memory) = seat.reader()?;
    let key = (memory.path.clone(), scope.user().get(), since);
    if let Some(known) = known().get_mut(&key) {
        let is_old = known.at.elapsed() > GOOD;
        if is_old && !std::mem::replace(&mut known.is_renewed, true) {
            renew(seat, scope, key);
        }
        return Ok(known.figures.clone());
    }
    let figures = count(memory, scope, since)?;
    keep(key, &figures);
    Ok(figures)
}

/// Counts anew with a connection of its own, while nobody waits.
fn renew(seat: &Seat, scope: Scope, key: Key) {
    let again = seat.again();
    std::thread::spawn(move || {
        let counted = again.and_then(|mut seat| count(seat.reader()?.2, scope, key.2));
        match counted {
            Ok(figures) => keep(key, &figures),
            // Whoever looks next counts for themselves, and sees what is wrong.
            Err(_) => drop(known().remove(&key)),
        }
    });
}

fn count(memory: &Memory, scope: Scope, since: Timestamp) -> anyhow::Result<Figures> {
    let mut counts = memory.store.counts(Admin)?;
    if !memory.exists {
        counts.size = 0;
    }
    Ok(Figures { counts, growth: memory.store.growth(scope, since)? })
}

/// Keeps what took a while.
fn keep(key: Key, figures: &Figures) {
    let counts = &figures.counts;
    let mut known = known();
    if counts.messages + counts.facts < LARGE {
        known.remove(&key);
        return;
    }
    if known.len() >= MOST {
        known.clear();
    }
    let figures = figures.clone();
    known.insert(key, Known { figures, at: Instant::now(), is_renewed: false });
}

fn known() -> MutexGuard<'static, HashMap<Key, Known>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}
