//! When to ask again, and after how long.

use crate::error::{Error, Result};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant};

const FIRST_DELAY: Duration = Duration::from_millis(500);
const LONGEST_DELAY: Duration = Duration::from_secs(20);

/// Waits between two tries; tests give one that only notes how long.
pub type Sleep = Box<dyn Fn(Duration) + Send + Sync>;

/// What one try came to.
pub(crate) enum Attempt<T> {
    /// The answer.
    Done(T),
    /// An error that the next try would meet again.
    Fail(Error),
    /// An error that may pass, and how long the server asks to wait.
    Again(Error, Option<Duration>),
}

impl<T> Attempt<T> {
    /// Goes on with the answer, if there is one.
    pub(crate) fn then<U>(self, next: impl FnOnce(T) -> Attempt<U>) -> Attempt<U> {
        match self {
            Attempt::Done(answer) => next(answer),
            Attempt::Fail(error) => Attempt::Fail(error),
            Attempt::Again(error, wait) => Attempt::Again(error, wait),
        }
    }

    /// The same, but never to be tried again.
    pub(crate) fn last(self) -> Attempt<T> {
        match self {
            Attempt::Again(error, _) => Attempt::Fail(error),
            other => other,
        }
    }
}

/// Tries until there is an answer, a lasting error, no try left, or no time left.
pub(crate) fn run<T>(
    tries: u32,
    sleep: &Sleep,
    remaining: &mut Duration,
    mut attempt: impl FnMut(Duration) -> Attempt<T>,
) -> Result<T> {
    let mut tried = 0;
    loop {
        let started = Instant::now();
        let outcome = attempt(*remaining);
        tried += 1;
        *remaining = remaining.saturating_sub(started.elapsed());
        let (error, asked) = match outcome {
            Attempt::Done(answer) => return Ok(answer),
            Attempt::Fail(error) => return Err(error),
            Attempt::Again(error, asked) => (error, asked),
        };
        let wait = delay(tried, asked, random_share());
        if tried >= tries || wait >= *remaining {
            return Err(error);
        }
        sleep(wait);
        *remaining -= wait;
    }
}

/// Whether a status may pass.
pub(crate) fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500..=599)
}

/// What `retry-after` asks for: seconds, or a date, which is taken against the server's own date.
pub(crate) fn retry_after(value: Option<&str>, date: Option<&str>) -> Option<Duration> {
    let value = value?.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let then = jiff::fmt::rfc2822::parse(value).ok()?;
    let now = jiff::fmt::rfc2822::parse(date?.trim()).ok()?;
    Some(Duration::try_from(then.timestamp().duration_since(now.timestamp())).unwrap_or_default())
}

/// Doubles with each try, up to a quarter less, so that many clients do not come back together.
fn delay(tried: u32, asked: Option<Duration>, share: f64) -> Duration {
    let doubled = FIRST_DELAY.saturating_mul(1 << (tried - 1).min(16)).min(LONGEST_DELAY);
    asked.unwrap_or_else(|| doubled.mul_f64(1.0 - share / 4.0))
}

/// A number between 0 and 1; the standard library starts each hasher at random.
fn random_share() -> f64 {
    RandomState::new().build_hasher().finish() as f64 / u64::MAX as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_and_stay_below_the_longest() {
        assert_eq!(delay(1, None, 0.0), FIRST_DELAY);
        assert_eq!(delay(3, None, 0.0), FIRST_DELAY * 4);
        assert_eq!(delay(2, None, 1.0), FIRST_DELAY * 3 / 2);
        assert_eq!(delay(60, None, 0.0), LONGEST_DELAY);
        assert_eq!(delay(1, Some(Duration::from_secs(90)), 0.5), Duration::from_secs(90));
    }

    #[test]
    fn retry_after_is_read_as_seconds_or_as_a_date() {
        let date = Some("Wed, 21 Oct 2015 07:28:00 GMT");
        assert_eq!(retry_after(Some("7"), None), Some(Duration::from_secs(7)));
        assert_eq!(
            retry_after(Some("Wed, 21 Oct 2015 07:28:30 GMT"), date),
            Some(Duration::from_secs(30))
        );
        assert_eq!(retry_after(Some("Wed, 21 Oct 2015 07:27:00 GMT"), date), Some(Duration::ZERO));
        assert_eq!(retry_after(Some("soon"), date), None);
        assert_eq!(retry_after(Some("-1"), date), None);
        assert_eq!(retry_after(None, date), None);
    }

    #[test]
    fn only_passing_errors_are_tried_again() {
        assert!([408, 409, 429, 500, 502, 503, 529].into_iter().all(is_passing));
        assert!(![200, 301, 400, 401, 403, 404, 422].into_iter().any(is_passing));
    }
}
