//! Hears from a server that a memory has changed, at once: a thread with a connection of its own.
//!
//! Poolers that lend a connection for one transaction do not pass notices on. Whoever relies on them looks from time to
//! time as well.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::client::Client;
use super::pool::Pool;

/// How often it is looked whether anybody still wants to hear.
const LOOK: Duration = Duration::from_millis(500);
/// What comes so soon after a notice is told together: whoever hears of it looks at the whole memory.
const TOGETHER: Duration = Duration::from_secs(1);
/// How long to wait before a server that went away is called again: the first time, and at most.
const WAIT: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// Somebody hears of changes as long as this is held.
#[derive(Debug)]
pub struct Notices {
    is_over: Arc<AtomicBool>,
}

impl Notices {
    /// Calls back after each change of the memory with this mark, and once whenever the connection was made anew:
    /// what changed before may have been missed.
    pub fn of(
        pool: &Pool,
        mark: &str,
        heard: impl Fn() + Send + 'static,
    ) -> std::io::Result<Notices> {
        let is_over = Arc::new(AtomicBool::new(false));
        let listener =
            Listener { pool: pool.clone(), mark: mark.to_owned(), is_over: is_over.clone() };
        thread::Builder::new().name("notices".to_owned()).spawn(move || listener.listen(&heard))?;
        Ok(Notices { is_over })
    }
}

impl Drop for Notices {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

struct Listener {
    pool: Pool,
    mark: String,
    is_over: Arc<AtomicBool>,
}

impl Listener {
    fn listen(&self, heard: &dyn Fn()) {
        let mut wait = WAIT.0;
        while !self.is_over.load(Ordering::Relaxed) {
            if let Ok(mut client) = self.pool.apart()
                && client.batch_execute(LISTEN).is_ok()
            {
                wait = WAIT.0;
                heard();
                self.hear(&mut client, heard);
            }
            let cut = Instant::now();
            while cut.elapsed() < wait && !self.is_over.load(Ordering::Relaxed) {
                thread::sleep(LOOK.min(wait));
            }
            wait = (wait * 2).min(WAIT.1);
        }
    }

    /// Until the connection is cut or nobody wants to hear any more.
    fn hear(&self, client: &mut Client, heard: &dyn Fn()) {
        while !self.is_over.load(Ordering::Relaxed) && !client.is_closed() {
            match self.comes(client, LOOK) {
                Ok(true) => {
                    heard();
                    let told = Instant::now();
                    let mut more = false;
                    while let Some(left) = TOGETHER.checked_sub(told.elapsed())
                        && let Ok(came) = self.comes(client, left)
                    {
                        more |= came;
                    }
                    if more {
                        heard();
                    }
                }
                Ok(false) => {}
                Err(_) => return,
            }
        }
    }

    /// Whether a notice of this memory comes in time; those of others are passed over.
    fn comes(&self, client: &mut Client, time: Duration) -> Result<bool, postgres::Error> {
        let asked = Instant::now();
        while let Some(left) = time.checked_sub(asked.elapsed())
            && let Some(notice) = client.notification(left)?
        {
            if notice.payload() == self.mark {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

const LISTEN: &str = "listen hermes";
