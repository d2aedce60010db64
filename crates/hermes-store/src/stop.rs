//! A flag that ends work whose asker waits no longer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::{Error, Result};

/// After about so many steps of its machine SQLite looks at the flag: some ten microseconds.
pub(crate) const STEPS: i32 = 10_000;

/// Says whether work is still wanted; every copy is the same flag.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    asked: Arc<AtomicBool>,
    /// When the end comes, whether anybody asks for it or not.
    until: Option<Instant>,
}

impl Stop {
    /// For work that may take so long.
    pub fn within(limit: Duration) -> Stop {
        Stop { asked: Arc::default(), until: Instant::now().checked_add(limit) }
    }

    /// How much time is left, where there is a limit.
    pub fn left(&self) -> Option<Duration> {
        self.until.map(|until| until.saturating_duration_since(Instant::now()))
    }

    /// Asks for the end of the work.
    pub fn ask(&self) {
        self.asked.store(true, Ordering::Relaxed);
    }

    /// Whether the end was asked for, or has come.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed) || self.left().is_some_and(|left| left.is_zero())
    }

    /// Fails where the end was asked for: for loops that may be long.
    pub fn check(&self) -> Result<()> {
        if self.is_asked() { Err(Error::Stopped) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Walks for minutes, unless somebody ends it.
    const LONG: &str = "with recursive n(i) as (select 1 union all select i + 1 from n limit 2000000000) \
         select count(*) from n";

    #[test]
    fn a_statement_ends_in_its_midst_when_nobody_waits_for_it() {
        let mut connection = rusqlite::Connection::open_in_memory().unwrap();
        let (stop, mut looks) = (Stop::default(), 0);
        let heeded = stop.clone();
        let asked = stop.clone();
        // The end is asked for while the statement runs.
        let look = move || {
            looks += 1;
            if looks == 3 {
                asked.ask();
            }
            heeded.is_asked()
        };
        connection.progress_handler(STEPS, Some(look)).unwrap();
        let ended = connection.query_row(LONG, [], |row| row.get::<_, i64>(0)).unwrap_err();
        assert!(matches!(Error::from_sqlite(Path::new("x"), ended), Error::Stopped));
        assert!(stop.check().is_err() && Stop::default().check().is_ok());
    }

    #[test]
    fn a_statement_ends_when_its_time_is_over_though_nobody_asks() {
        let mut connection = rusqlite::Connection::open_in_memory().unwrap();
        let stop = Stop::within(Duration::from_millis(5));
        let heeded = stop.clone();
        connection.progress_handler(STEPS, Some(move || heeded.is_asked())).unwrap();
        assert!(connection.query_row(LONG, [], |row| row.get::<_, i64>(0)).is_err());
        assert!(stop.check().is_err() && stop.left() == Some(Duration::ZERO));
        assert!(Stop::within(Duration::from_secs(3600)).check().is_ok());
    }
}
