//! Answers that take a while in a large home: the last one is given while it is worked out anew.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hermes_app::pool::Seat;

/// Answers of one kind.
pub(super) struct Kept<K, V> {
    known: LazyLock<Mutex<HashMap<K, Known<V>>>>,
    /// How it is worked out.
    work: fn(&mut Seat, &K) -> anyhow::Result<V>,
    /// Whether it took long enough to be kept; what is not is worked out every time.
    is_large: fn(&V) -> bool,
}

struct Known<V> {
    answer: Arc<V>,
    at: Instant,
    is_renewed: bool,
}

/// So long the last answer is good enough.
const GOOD: Duration = Duration::from_secs(20);
/// How many are kept at most.
const MOST: usize = 64;

impl<K, V> Kept<K, V>
where
    K: Clone + Eq + Hash + Send + 'static,
    V: Send + Sync + 'static,
{
    pub(super) const fn new(
        work: fn(&mut Seat, &K) -> anyhow::Result<V>,
        is_large: fn(&V) -> bool,
    ) -> Kept<K, V> {
        Kept { known: LazyLock::new(Mutex::default), work, is_large }
    }

    /// The answer; one that is kept is at most as old as the last look at it and a little more.
    pub(super) fn of(&'static self, seat: &mut Seat, key: K) -> anyhow::Result<Arc<V>> {
        if let Some(known) = self.known().get_mut(&key) {
            let is_old = known.at.elapsed() > GOOD;
            if is_old && !std::mem::replace(&mut known.is_renewed, true) {
                self.renew(seat, key);
            }
            return Ok(known.answer.clone());
        }
        let answer = Arc::new((self.work)(seat, &key)?);
        self.keep(key, &answer);
        Ok(answer)
    }

    /// Works it out before anybody asks for it.
    pub(super) fn prepare(&'static self, seat: &Seat, key: K) {
        if !self.known().contains_key(&key) {
            self.renew(seat, key);
        }
    }

    /// Works it out with connections of its own, while nobody waits.
    fn renew(&'static self, seat: &Seat, key: K) {
        let again = seat.again();
        std::thread::spawn(move || {
            let answer = again.and_then(|mut seat| (self.work)(&mut seat, &key));
            match answer {
                Ok(answer) => self.keep(key, &Arc::new(answer)),
                // Whoever looks next works it out for themselves, and sees what is wrong.
                Err(_) => drop(self.known().remove(&key)),
            }
        });
    }

    fn keep(&self, key: K, answer: &Arc<V>) {
        let mut known = self.known();
        if !(self.is_large)(answer) {
            known.remove(&key);
            return;
        }
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(key, Known { answer: answer.clone(), at: Instant::now(), is_renewed: false });
    }

    fn known(&self) -> MutexGuard<'_, HashMap<K, Known<V>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
