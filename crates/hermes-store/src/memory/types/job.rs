//! Work to be done later: leased, tried again, shown.

use jiff::Timestamp;

use super::UserNumber;

/// Work to be done later.
#[derive(Debug, Clone)]
pub struct NewJob<'a> {
    /// What is to be done.
    pub kind: &'a str,
    /// What it needs to know, as JSON.
    pub payload: &'a str,
    /// A job with the same key that is not yet done makes this one superfluous.
    pub dedupe_key: Option<&'a str>,
    /// For whom.
    pub user: Option<UserNumber>,
    /// Not before.
    pub run_at: Timestamp,
}

/// Work as it is kept.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Job {
    /// Its number.
    pub id: i64,
    /// What is to be done.
    pub kind: String,
    /// What it needs to know, as JSON.
    pub payload: String,
    /// How far it is.
    pub state: JobState,
    /// Not before.
    pub run_at: Timestamp,
    /// How often it was tried.
    pub attempts: u32,
    /// What went wrong the last time.
    pub last_error: Option<String>,
    /// When it was done or given up.
    pub finished_at: Option<Timestamp>,
}

impl Job {
    /// How often in a row its worker went away in the middle without having come on.
    pub fn cut_short(&self) -> u32 {
        Cuts::of(&self.payload).in_a_row
    }

    /// How many of its tries were its own to fail: a worker that went away is not the job's fault.
    pub fn own_tries(&self) -> u32 {
        self.attempts.saturating_sub(Cuts::of(&self.payload).in_all)
    }
}

/// A job that somebody works on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leased {
    /// Its number.
    pub id: i64,
    /// The worker.
    pub owner: String,
    /// When the lease ends.
    pub until: Timestamp,
    /// How often in a row its worker went away in the middle without having come on.
    pub cut_short: u32,
}

/// How often the worker of a job went away in the middle, as its payload keeps it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cuts {
    /// Since it last came on.
    pub(crate) in_a_row: u32,
    /// Among its tries.
    pub(crate) in_all: u32,
}

const IN_A_ROW: &str = "cut_short";
const IN_ALL: &str = "cut_short_in_all";

impl Cuts {
    pub(crate) fn of(payload: &str) -> Cuts {
        let payload: serde_json::Value = serde_json::from_str(payload).unwrap_or_default();
        let count = |name: &str| {
            payload[name].as_u64().and_then(|count| u32::try_from(count).ok()).unwrap_or(0)
        };
        Cuts { in_a_row: count(IN_A_ROW), in_all: count(IN_ALL) }
    }

    /// The payload of a job that begins anew.
    pub(crate) fn forgotten_in(payload: String) -> String {
        match Cuts::of(&payload) == Cuts::default() {
            true => payload,
            false => Cuts::default().noted_in(&payload),
        }
    }

    /// The payload with these counts in it, and all else as it was.
    pub(crate) fn noted_in(self, payload: &str) -> String {
        let mut payload: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(payload).unwrap_or_default();
        payload.insert(IN_A_ROW.to_owned(), self.in_a_row.into());
        payload.insert(IN_ALL.to_owned(), self.in_all.into());
        serde_json::Value::from(payload).to_string()
    }
}

/// How far a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Nobody works on it.
    Waiting,
    /// Somebody works on it until their lease ends.
    Leased,
    /// Done.
    Done,
    /// Given up.
    Failed,
}

/// Who works on a job, and until when nobody else may.
#[derive(Debug, Clone, Copy)]
pub struct Lease<'a> {
    /// The worker.
    pub owner: &'a str,
    /// When the lease ends.
    pub until: Timestamp,
}

/// Work that comes again and again.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Schedule {
    /// Its name: the kind of its jobs.
    pub name: String,
    /// When, as a cron line.
    pub cron: String,
    /// When next.
    pub next_run: Option<Timestamp>,
    /// When last.
    pub last_run: Option<Timestamp>,
    /// How the last run went.
    pub last_result: Option<String>,
}

/// Why a job failed, and when to try again.
#[derive(Debug, Clone, Copy)]
pub struct JobFailure<'a> {
    /// What went wrong.
    pub error: &'a str,
    /// When to try again; never if none.
    pub again: Option<Timestamp>,
    /// When it failed.
    pub at: Timestamp,
}
