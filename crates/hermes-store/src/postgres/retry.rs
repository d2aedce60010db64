//! Which failures are worth another try, and how long to wait before it.

use std::error::Error as _;
use std::io;
use std::time::{Duration, Instant};

use postgres::error::SqlState;

use crate::Result;

const FIRST_DELAY: Duration = Duration::from_millis(50);
const LONGEST_DELAY: Duration = Duration::from_secs(2);
/// With the delays doubling, all tries together take about three seconds.
const TRIES: u32 = 6;

/// What kind of trouble an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trouble {
    /// The server cannot be talked to now.
    Away,
    /// The connection ended in the middle: nobody knows whether the last thing was done.
    Cut,
    /// Two transactions were in each other's way; this one was taken back.
    Conflict,
    /// It will be the same the next time.
    Final,
}

/// Whether the same thing may work a moment later. After a cut the whole transaction is to be done again, with a key
/// that lets the server know it if it was done already.
pub fn is_retriable(error: &postgres::Error) -> bool {
    trouble(error) != Trouble::Final
}

pub(super) fn trouble(error: &postgres::Error) -> Trouble {
    if let Some(code) = error.code() {
        return trouble_of(code.code());
    }
    match error.source().and_then(|cause| cause.downcast_ref::<io::Error>()) {
        _ if error.is_closed() => Trouble::Cut,
        Some(cause) => trouble_of_system(cause.kind()),
        // The client's own limit of time, and bytes that are no message: both leave the connection unusable.
        None if ["timeout waiting for server", "unexpected message from server"]
            .contains(&error.to_string().as_str()) =>
        {
            Trouble::Cut
        }
        None => Trouble::Final,
    }
}

/// The kind of trouble behind a code of five signs.
fn trouble_of(code: &str) -> Trouble {
    let is = |state: &SqlState| state.code() == code;
    if is(&SqlState::T_R_SERIALIZATION_FAILURE)
        || is(&SqlState::T_R_DEADLOCK_DETECTED)
        || is(&SqlState::LOCK_NOT_AVAILABLE)
    {
        return Trouble::Conflict;
    }
    if is(&SqlState::CANNOT_CONNECT_NOW) || is(&SqlState::TOO_MANY_CONNECTIONS) {
        return Trouble::Away;
    }
    if is(&SqlState::ADMIN_SHUTDOWN)
        || is(&SqlState::CRASH_SHUTDOWN)
        || is(&SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT)
        || is(&SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN)
    {
        return Trouble::Cut;
    }
    match code {
        // Said by PgBouncer and by the server about what it cannot read, which stays so.
        "08P01" | "08004" => Trouble::Final,
        code if code.starts_with("08") => Trouble::Cut,
        _ => Trouble::Final,
    }
}

/// The kind of trouble behind what the system said of a connection.
fn trouble_of_system(kind: io::ErrorKind) -> Trouble {
    use io::ErrorKind as Kind;
    match kind {
        Kind::InvalidData | Kind::InvalidInput | Kind::PermissionDenied => Trouble::Final,
        Kind::ConnectionReset
        | Kind::ConnectionAborted
        | Kind::BrokenPipe
        | Kind::UnexpectedEof
        | Kind::NotConnected => Trouble::Cut,
        _ => Trouble::Away,
    }
}

/// How long to wait before each further try: twice as long each time, with a share of chance so that many who were
/// cut off together do not come back together.
#[derive(Debug, Clone)]
pub struct Delays {
    next: Duration,
    left: u32,
    chance: u64,
    end: Option<Instant>,
}

impl Delays {
    /// The usual ones; `chance` is any number that others do not have.
    pub fn usual(chance: u64) -> Delays {
        Delays { next: FIRST_DELAY, left: TRIES, chance, end: None }
    }

    /// The same with so many tries after the first.
    pub fn tries(self, tries: u32) -> Delays {
        Delays { left: tries, ..self }
    }

    /// The same, but no try begins later than this after now.
    pub fn within(self, time: Duration) -> Delays {
        Delays { end: Instant::now().checked_add(time), ..self }
    }
}

impl Iterator for Delays {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        self.left = self.left.checked_sub(1)?;
        // A linear congruence is chance enough to spread a few clients.
        self.chance = self
            .chance
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let share = f64::from((self.chance >> 33) as u32) / f64::from(u32::MAX >> 1);
        let delay = self.next.mul_f64(0.75 + share.min(1.0) / 2.0);
        self.next = (self.next * 2).min(LONGEST_DELAY);
        let is_late = self.end.is_some_and(|end| Instant::now() + delay > end);
        (!is_late).then_some(delay)
    }
}

/// Does it until it works, what is wrong will stay wrong, or the delays are used up; `wait` sleeps.
pub fn retried<T>(
    delays: Delays,
    wait: &mut dyn FnMut(Duration),
    attempt: &mut dyn FnMut() -> Result<T>,
) -> Result<T> {
    for delay in delays {
        match attempt() {
            Err(error) if error.is_retriable() => wait(delay),
            done => return done,
        }
    }
    attempt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::postgres::ServerError;

    #[test]
    fn codes_say_whether_another_try_can_help() {
        let cases = [
            ("40001", Trouble::Conflict),
            ("40P01", Trouble::Conflict),
            ("55P03", Trouble::Conflict),
            ("57P01", Trouble::Cut),
            ("57P02", Trouble::Cut),
            ("57P03", Trouble::Away),
            ("53300", Trouble::Away),
            ("08006", Trouble::Cut),
            ("08001", Trouble::Cut),
            ("08P01", Trouble::Final),
            ("25P03", Trouble::Cut),
            ("28P01", Trouble::Final),
            ("3D000", Trouble::Final),
            ("42501", Trouble::Final),
            ("23505", Trouble::Final),
            ("57014", Trouble::Final),
        ];
        for (code, wanted) in cases {
            assert_eq!(trouble_of(code), wanted, "{code}");
        }
        assert_eq!(trouble_of_system(io::ErrorKind::ConnectionReset), Trouble::Cut);
        assert_eq!(trouble_of_system(io::ErrorKind::ConnectionRefused), Trouble::Away);
        assert_eq!(trouble_of_system(io::ErrorKind::InvalidData), Trouble::Final);
    }

    #[test]
    fn delays_double_up_to_a_bound_and_end() {
        let delays: Vec<_> = Delays::usual(7).tries(12).collect();
        assert_eq!(delays.len(), 12);
        let mut middle = FIRST_DELAY;
        for delay in &delays {
            assert!(*delay >= middle.mul_f64(0.75) && *delay <= middle.mul_f64(1.25), "{delays:?}");
            middle = (middle * 2).min(LONGEST_DELAY);
        }
        let other: Vec<_> = Delays::usual(8).tries(12).collect();
        assert_ne!(delays, other);
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        let cut = || {
            Error::from(ServerError::ConnectionCut {
                server: "db:1".to_owned(),
                why: String::new(),
            })
        };
        let wrong = || {
            Error::from(ServerError::NoSuchDatabase {
                server: "db:1".to_owned(),
                database: "x".to_owned(),
            })
        };
        let mut waited = 0;
        let mut calls = 0;
        let done = retried(Delays::usual(1), &mut |_| waited += 1, &mut || {
            calls += 1;
            if calls < 3 { Err(cut()) } else { Ok(calls) }
        });
        assert_eq!((done.unwrap(), waited), (3, 2));
        let mut calls = 0;
        let refused: Result<()> = retried(Delays::usual(1), &mut |_| (), &mut || {
            calls += 1;
            Err(wrong())
        });
        assert_eq!((refused.is_err(), calls), (true, 1));
        let mut calls = 0;
        let never: Result<()> = retried(Delays::usual(1).tries(4), &mut |_| (), &mut || {
            calls += 1;
            Err(cut())
        });
        assert_eq!((never.is_err(), calls), (true, 5));
    }
}
