//! How many requests a token may make: a bucket for each that fills up again. Time is a parameter.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::lock;

/// One bucket for each token.
#[derive(Debug)]
pub(super) struct Rates {
    per_minute: f64,
    buckets: Mutex<HashMap<String, Bucket>>,
}

#[derive(Debug)]
struct Bucket {
    left: f64,
    filled: Instant,
}

impl Rates {
    /// So many requests a minute for each token; 0 is no limit.
    pub(super) fn new(per_minute: u32) -> Rates {
        Rates { per_minute: f64::from(per_minute), buckets: Mutex::default() }
    }

    /// Takes one request out of a bucket; else how long to wait for the next.
    pub(super) fn take(&self, name: &str, now: Instant) -> Result<(), Duration> {
        if self.per_minute <= 0.0 {
            return Ok(());
        }
        let mut buckets = lock(&self.buckets);
        let full = || Bucket { left: self.per_minute, filled: now };
        let bucket = buckets.entry(name.to_owned()).or_insert_with(full);
        let per_second = self.per_minute / 60.0;
        let grown = now.saturating_duration_since(bucket.filled).as_secs_f64() * per_second;
        bucket.left = (bucket.left + grown).min(self.per_minute);
        bucket.filled = now;
        if bucket.left < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - bucket.left) / per_second));
        }
        bucket.left -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_empties_and_fills_again_each_for_itself() {
        let (rates, begun) = (Rates::new(2), Instant::now());
        assert!(rates.take("a", begun).is_ok() && rates.take("a", begun).is_ok());
        let wait = rates.take("a", begun).unwrap_err();
        assert_eq!(wait.as_secs(), 30);
        assert!(rates.take("b", begun).is_ok());
        assert!(rates.take("a", begun + Duration::from_secs(29)).is_err());
        assert!(rates.take("a", begun + Duration::from_secs(31)).is_ok());
        assert!(Rates::new(0).take("a", begun).is_ok());
    }
}
