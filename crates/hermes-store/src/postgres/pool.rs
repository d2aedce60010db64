//! A few connections that are kept and lent out. There is no thread behind it: whoever asks looks after it.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use postgres::SimpleQueryMessage;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::Address;
use super::client::Client;
use super::{connect, tls};
use crate::error::ServerError;
use crate::{Error, Result};

/// How many connections are kept, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolSettings {
    /// How many there are at most.
    pub size: usize,
    /// How old one may become; a server that was replaced behind its name is left after this.
    pub lifetime: Duration,
    /// How long one may lie unused and still be lent without a look whether it answers.
    pub trusted_for: Duration,
    /// How long to wait for one when all are lent.
    pub wait: Duration,
}

impl Default for PoolSettings {
    fn default() -> PoolSettings {
        PoolSettings {
            size: 5,
            lifetime: Duration::from_secs(30 * 60),
            trusted_for: Duration::from_secs(10),
            wait: Duration::from_secs(10),
        }
    }
}

/// How long a connection that lay unused may take to answer.
const LOOK: Duration = Duration::from_secs(3);

/// The oldest version of PostgreSQL that the tables and the statements were tried with.
const OLDEST: u32 = 15;

/// No server answers quicker than this, however short the patience is.
const LEAST_WAIT: Duration = Duration::from_millis(250);

/// Connections to one server. Clones share them.
#[derive(Clone)]
pub struct Pool {
    shared: Arc<Shared>,
    /// How long to wait for one when all are lent, and for a server to answer.
    patience: Patience,
}

#[derive(Clone, Copy)]
struct Patience {
    lent: Duration,
    server: Duration,
}

struct Shared {
    address: Address,
    settings: PoolSettings,
    tls: MakeRustlsConnect,
    state: Mutex<State>,
    returned: Condvar,
    /// Whether the server said which version it is, and that one will do.
    is_new_enough: AtomicBool,
    /// Whether a mark can be sent when a connection is made: a pooler refuses it.
    takes_marks: AtomicBool,
}

/// What there is at one moment.
struct State {
    idle: Vec<Kept>,
    /// How many are idle, lent or being opened.
    open: usize,
}

/// A connection and its age.
struct Kept {
    client: Client,
    made: Instant,
    used: Instant,
}

/// A connection that is lent; it goes back when it is dropped, unless it is broken.
pub struct Pooled {
    shared: Arc<Shared>,
    kept: Option<Kept>,
    is_broken: bool,
}

impl Pool {
    /// A pool without connections: nobody is called before the first is asked for.
    pub fn new(address: Address, settings: PoolSettings) -> Result<Pool> {
        let tls = tls::connector(&address)?;
        let state = Mutex::new(State { idle: Vec::new(), open: 0 });
        let patience = Patience { lent: settings.wait, server: address.connect_timeout };
        let returned = Condvar::new();
        let is_new_enough = AtomicBool::new(false);
        let takes_marks = AtomicBool::new(true);
        let shared = Shared { address, settings, tls, state, returned, is_new_enough, takes_marks };
        Ok(Pool { shared: Arc::new(shared), patience })
    }

    /// The same connections for one who cannot wait longer than this; nobody waits shorter than a server may need.
    pub fn impatient(&self, wait: Duration) -> Pool {
        let wait = wait.max(LEAST_WAIT);
        let Shared { settings, address, .. } = &*self.shared;
        let patience =
            Patience { lent: settings.wait.min(wait), server: address.connect_timeout.min(wait) };
        Pool { shared: self.shared.clone(), patience }
    }

    /// A connection: one that was used before, else a new one, else the next that comes back.
    pub fn get(&self) -> Result<Pooled> {
        let asked = Instant::now();
        let mut state = self.shared.lock();
        loop {
            if let Some(kept) = state.idle.pop() {
                drop(state);
                if let Some(mut kept) = self.shared.looked_at(kept) {
                    kept.client.learn_to_prepare();
                    return Ok(self.lent(kept));
                }
                state = self.shared.lock();
                continue;
            }
            if state.open < self.shared.settings.size.max(1) {
                state.open += 1;
                drop(state);
                return self.opened();
            }
            let Some(left) = self.patience.lent.checked_sub(asked.elapsed()) else {
                return Err(self.exhausted());
            };
            let waited = self.shared.returned.wait_timeout(state, left);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Where the connections go.
    pub fn address(&self) -> &Address {
        &self.shared.address
    }

    /// A connection of its own beside the pool, for one who keeps it: to wait for notices.
    pub fn apart(&self) -> Result<Client> {
        self.shared.connect(self.patience.server)
    }

    /// Closes what nobody uses, so that a process that sleeps holds no connection.
    pub fn close_idle(&self) {
        let idle = std::mem::take(&mut self.shared.lock().idle);
        for kept in idle {
            drop(kept);
            self.shared.one_less();
        }
    }

    fn opened(&self) -> Result<Pooled> {
        let seat = Seat { shared: &self.shared };
        let mut client = self.shared.connect(self.patience.server)?;
        self.shared.refuse_old(&mut client)?;
        std::mem::forget(seat);
        let now = Instant::now();
        Ok(self.lent(Kept { client, made: now, used: now }))
    }

    fn lent(&self, kept: Kept) -> Pooled {
        Pooled { shared: self.shared.clone(), kept: Some(kept), is_broken: false }
    }

    fn exhausted(&self) -> Error {
        let PoolSettings { size, .. } = self.shared.settings;
        let server = self.shared.address.place();
        ServerError::PoolExhausted { server, size, seconds: self.patience.lent.as_secs_f32() }
            .into()
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "Pool({:?})", self.shared.address)
    }
}

/// The place of a connection that is being opened; given back if it does not come to be.
struct Seat<'a> {
    shared: &'a Shared,
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.shared.one_less();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // What is counted is right at every moment, also when somebody panicked while holding it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new connection, with a mark that the server knows it by unless a pooler stands in between.
    fn connect(&self, time: Duration) -> Result<Client> {
        let Shared { address, tls, .. } = self;
        if self.takes_marks.load(Ordering::Relaxed) {
            let mark = format!("{:016x}", RandomState::new().build_hasher().finish());
            match connect::open(address, tls, time, Some(&mark)) {
                Err(ServerError::BadAddress { .. }) => {
                    self.takes_marks.store(false, Ordering::Relaxed);
                }
                opened => return Ok(opened?),
            }
        }
        Ok(connect::open(address, tls, time, None)?)
    }

    fn one_less(&self) {
        self.lock().open -= 1;
        self.returned.notify_one();
    }

    /// Fails for a server that is older than what the tables are made for; asked once.
    fn refuse_old(&self, client: &mut Client) -> Result<()> {
        if self.is_new_enough.load(Ordering::Relaxed) {
            return Ok(());
        }
        let asked = client.simple_query("show server_version_num");
        let answers = asked.map_err(|error| self.address.refused(&error))?;
        let number = answers.iter().find_map(|answer| match answer {
            SimpleQueryMessage::Row(row) => row.get(0)?.parse::<u32>().ok(),
            _ => None,
        });
        // Thousands count the versions within one: 150013 is the thirteenth of 15.
        match number.map(|number| number / 10_000) {
            Some(found) if found < OLDEST => {
                let server = self.address.place();
                Err(ServerError::TooOld { server, found, needed: OLDEST }.into())
            }
            _ => {
                self.is_new_enough.store(true, Ordering::Relaxed);
                Ok(())
            }
        }
    }

    /// The connection if it can still be used; else it is closed.
    fn looked_at(&self, mut kept: Kept) -> Option<Kept> {
        let is_old = kept.made.elapsed() >= self.settings.lifetime;
        let is_doubtful = kept.used.elapsed() >= self.settings.trusted_for;
        let is_good =
            !is_old && !kept.client.is_closed() && (!is_doubtful || kept.client.is_valid(LOOK));
        if is_good {
            return Some(kept);
        }
        drop(kept);
        self.one_less();
        None
    }
}

impl Pooled {
    /// Says that this connection must not be used again: something was left open on it.
    pub fn give_up(&mut self) {
        self.is_broken = true;
    }

    /// What an error of this connection means. One that was cut is not used again, though it may not know it yet.
    pub fn refused(&mut self, error: &postgres::Error) -> Error {
        let refused = self.shared.address.refused(error);
        self.is_broken |= matches!(refused, Error::Server(ServerError::ConnectionCut { .. }));
        refused
    }
}

impl Deref for Pooled {
    type Target = Client;

    fn deref(&self) -> &Client {
        match &self.kept {
            Some(kept) => &kept.client,
            None => unreachable!("it is taken out in drop alone"),
        }
    }
}

impl DerefMut for Pooled {
    fn deref_mut(&mut self) -> &mut Client {
        match &mut self.kept {
            Some(kept) => &mut kept.client,
            None => unreachable!("it is taken out in drop alone"),
        }
    }
}

impl Drop for Pooled {
    fn drop(&mut self) {
        let Some(mut kept) = self.kept.take() else { return };
        // A panic may have left a transaction open.
        if self.is_broken || kept.client.is_closed() || std::thread::panicking() {
            drop(kept);
            self.shared.one_less();
            return;
        }
        kept.used = Instant::now();
        self.shared.lock().idle.push(kept);
        self.shared.returned.notify_one();
    }
}
