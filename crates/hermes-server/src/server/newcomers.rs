//! Connections that have not shown yet who they are: where there are many, the one that says nothing longest goes first.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::lock;

/// How many of one peer are kept before one of them goes for the next.
const FEW: usize = 64;
/// How long one that says nothing is safe from that.
const SILENCE: Duration = Duration::from_millis(100);
/// How long one is safe that was not looked at yet, or has begun to speak.
const SPEAKING: Duration = Duration::from_secs(2);

const UNSEEN: u8 = 0;
const SILENT: u8 = 1;
const HEARD: u8 = 2;

/// Those who have not shown a token, a cookie or a code.
#[derive(Debug, Default)]
pub(super) struct Newcomers {
    known: Mutex<Vec<Arc<Newcomer>>>,
    last: AtomicU64,
}

#[derive(Debug)]
struct Newcomer {
    number: u64,
    peer: IpAddr,
    since: Instant,
    manner: AtomicU8,
    gone: CancellationToken,
}

/// A connection, as its requests know it; every copy is the same one.
#[derive(Debug, Clone)]
pub(super) struct Ticket(Arc<Held>);

#[derive(Debug)]
struct Held {
    newcomer: Arc<Newcomer>,
    all: Arc<Newcomers>,
}

impl Newcomers {
    /// Takes somebody in; where their peer has many already, one of these goes.
    pub(super) fn take(self: &Arc<Self>, peer: IpAddr, now: Instant) -> Ticket {
        let peer = neighbourhood(peer);
        let newcomer = Arc::new(Newcomer {
            number: self.last.fetch_add(1, Ordering::Relaxed),
            peer,
            since: now,
            manner: AtomicU8::new(UNSEEN),
            gone: CancellationToken::new(),
        });
        let mut known = lock(&self.known);
        if known.iter().filter(|one| one.peer == peer).count() >= FEW {
            send_away(&mut known, peer, now);
        }
        known.push(Arc::clone(&newcomer));
        Ticket(Arc::new(Held { newcomer, all: Arc::clone(self) }))
    }

    /// Makes room where every place is taken: one of the peer with the most goes. Whether one did.
    pub(super) fn make_room(&self, now: Instant) -> bool {
        let mut known = lock(&self.known);
        let count = |peer: IpAddr| known.iter().filter(|one| one.peer == peer).count();
        let peers: Vec<IpAddr> = known.iter().map(|one| one.peer).collect();
        let most = peers.into_iter().max_by_key(|peer| count(*peer));
        most.is_some_and(|peer| send_away(&mut known, peer, now))
    }

    fn forget(&self, number: u64) {
        lock(&self.known).retain(|one| one.number != number);
    }
}

/// The oldest of a peer that says nothing goes, else the oldest that dawdles.
fn send_away(known: &mut Vec<Arc<Newcomer>>, peer: IpAddr, now: Instant) -> bool {
    let find = |is_silent: bool, safe: Duration| {
        known.iter().position(|one| {
            let is_meant = !is_silent || one.manner.load(Ordering::Relaxed) == SILENT;
            one.peer == peer && is_meant && now.saturating_duration_since(one.since) >= safe
        })
    };
    let Some(place) = find(true, SILENCE).or_else(|| find(false, SPEAKING)) else { return false };
    known.remove(place).gone.cancel();
    true
}

impl Ticket {
    /// Somebody was recognised on this connection: it is no newcomer's any more.
    pub(super) fn shown(&self) {
        self.0.all.forget(self.0.newcomer.number);
    }

    /// It was looked whether the other side says something.
    pub(super) fn looked(&self, has_said: bool) {
        let manner = if has_said { HEARD } else { SILENT };
        let _ = self.0.newcomer.manner.fetch_max(manner, Ordering::Relaxed);
    }

    /// Ends when this connection must make room for another.
    pub(super) async fn gone(&self) {
        self.0.newcomer.gone.cancelled().await;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.all.forget(self.newcomer.number);
    }
}

/// Who has one address of IPv6 has all that begin like it.
fn neighbourhood(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => {
            let begins = u128::from(address) & !u128::from(u64::MAX);
            IpAddr::V6(begins.into())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_gone(ticket: &Ticket) -> bool {
        ticket.0.newcomer.gone.is_cancelled()
    }

    #[test]
    fn the_oldest_silent_one_of_a_peer_goes_and_nobody_elses() {
        let (all, begun) = (Arc::new(Newcomers::default()), Instant::now());
        let [attacker, person]: [IpAddr; 2] =
            ["10.0.0.1", "10.0.0.2"].map(|ip| ip.parse().unwrap());
        let own = all.take(person, begun);
        own.looked(false);
        let held: Vec<Ticket> = (0..FEW).map(|_| all.take(attacker, begun)).collect();
        held.iter().for_each(|ticket| ticket.looked(false));
        held[0].looked(true);
        // Too early: nobody goes, and the next one is let in beside them.
        let early = all.take(attacker, begun);
        assert!(!held.iter().any(is_gone));
        let later = begun + SILENCE;
        let _next = all.take(attacker, later);
        assert!(!is_gone(&held[0]) && is_gone(&held[1]) && !is_gone(&held[2]) && !is_gone(&own));
        // One who has shown who they are stays, whatever comes.
        held[2].shown();
        let many: Vec<Ticket> = (0..FEW * 2).map(|_| all.take(attacker, later)).collect();
        assert!(!is_gone(&held[2]) && is_gone(&held[3]) && !is_gone(&own));
        drop((many, early, held));
        assert_eq!(lock(&all.known).len(), 2);
    }

    #[test]
    fn room_is_made_by_the_peer_with_the_most() {
        let (all, begun) = (Arc::new(Newcomers::default()), Instant::now());
        assert!(!all.make_room(begun));
        let one = all.take("10.0.0.1".parse().unwrap(), begun);
        let two: Vec<Ticket> =
            (1..3).map(|n| all.take(format!("2001:db8::{n}").parse().unwrap(), begun)).collect();
        assert!(!all.make_room(begun) && all.make_room(begun + SPEAKING));
        assert!(is_gone(&two[0]) && !is_gone(&one) && !is_gone(&two[1]));
    }
}
