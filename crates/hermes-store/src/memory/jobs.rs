//! Jobs: queued once, leased by one worker at a time, tried again.

use jiff::Timestamp;
use rusqlite::params;

use super::{Memory, rows};
use crate::memory::backend::{self, Both, OptionalExtension, Put, Row};
use crate::memory::types::job::Cuts;
use crate::memory::{Admin, Job, JobFailure, JobState, Lease, NewJob, Schedule};
use crate::{Error, Result};

const STATES: [(&str, JobState); 4] = [
    ("waiting", JobState::Waiting),
    ("leased", JobState::Leased),
    ("done", JobState::Done),
    ("failed", JobState::Failed),
];

impl Memory {
    /// Queues a job; none if one with the same key waits already.
    pub fn queue_job(
        &mut self,
        _admin: Admin,
        job: &NewJob<'_>,
        now: Timestamp,
    ) -> Result<Option<i64>> {
        self.write(Admin, |transaction| {
            let number = transaction
                .prepare_cached(QUEUE)?
                .query_row(
                    params![
                        job.kind,
                        job.payload,
                        job.dedupe_key,
                        job.user.map(|user| user.get()),
                        job.run_at.as_millisecond(),
                        now.as_millisecond()
                    ],
                    |row| row.get(0),
                )
                .optional()?;
            Ok(number)
        })
    }

    /// Takes the next due job of the given kinds, or one whose lease ran out.
    pub fn lease_job(
        &mut self,
        _admin: Admin,
        kinds: &[&str],
        lease: Lease<'_>,
        now: Timestamp,
    ) -> Result<Option<Job>> {
        let kinds = serde_json::Value::from(kinds.to_vec()).to_string();
        let (now, until) = (now.as_millisecond(), lease.until.as_millisecond());
        self.claim(Admin, |transaction| {
            let job = transaction
                .prepare_both(&LEASE)?
                .query_row(params![kinds, now, lease.owner, until], job_of)
                .optional()?;
            Ok(job)
        })
    }

    /// Says that a job is done; false if the lease was lost to another worker.
    pub fn finish_job(
        &mut self,
        _admin: Admin,
        id: i64,
        owner: &str,
        now: Timestamp,
    ) -> Result<bool> {
        self.write(Admin, |transaction| {
            let changed = transaction.execute(FINISH, params![id, owner, now.as_millisecond()])?;
            Ok(changed == 1)
        })
    }

    /// Says that a job failed; it is tried again at `again`, or given up if none.
    pub fn fail_job(
        &mut self,
        _admin: Admin,
        id: i64,
        owner: &str,
        failure: JobFailure<'_>,
    ) -> Result<bool> {
        let again = failure.again.map(Timestamp::as_millisecond);
        self.write(Admin, |transaction| {
            let at = failure.at.as_millisecond();
            let changed =
                transaction.execute(FAIL, params![id, owner, failure.error, again, at])?;
            Ok(changed == 1)
        })
    }

    /// The jobs that are not done, next first.
    pub fn open_jobs(&self, _admin: Admin, limit: usize) -> Result<Vec<Job>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let read = || -> backend::Result<_> {
            self.asking(Admin).prepare_cached(OPEN)?.query_map([limit], job_of)?.collect()
        };
        read().map_err(|source| self.failed(source))
    }

    /// The jobs in a state (all if none), newest first.
    pub fn jobs(&self, _admin: Admin, state: Option<JobState>, limit: usize) -> Result<Vec<Job>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let state = state.map(|state| rows::word(&state, &STATES));
        let read = || -> backend::Result<_> {
            self.asking(Admin)
                .prepare_cached(LIST)?
                .query_map(params![state, limit], job_of)?
                .collect()
        };
        read().map_err(|source| self.failed(source))
    }

    /// The job with this number.
    pub fn job(&self, _admin: Admin, id: i64) -> Result<Job> {
        let found = self.asking(Admin).query_row(BY_ID, [id], job_of).optional();
        found.map_err(|source| self.failed(source))?.ok_or_else(|| missing(id))
    }

    /// Lets a job that was given up, or waits, run at once, with all its tries again.
    pub fn retry_job(&mut self, _admin: Admin, id: i64, now: Timestamp) -> Result<()> {
        self.write(Admin, |transaction| {
            let at = now.as_millisecond();
            let job = transaction
                .query_row(BY_ID, [id], job_of)
                .optional()?
                .ok_or_else(|| missing(id))?;
            let refused = |why: &str| {
                let (item, why) = (format!("job:{id}"), why.to_owned());
                Err(Error::ItemRefused { doing: "retry", item, why }.into())
            };
            if transaction.prepare_cached(SAME_WAITS)?.exists([id])? {
                return refused("another job for the same work is waiting");
            }
            let payload = Cuts::forgotten_in(job.payload.clone());
            if transaction.execute(RETRY, params![id, at, payload])? == 1 {
                return Ok(());
            }
            refused(if job.state == JobState::Done {
                "it is already done"
            } else {
                "it is running"
            })
        })
    }

    /// Takes a certain job that waits; false if somebody works on it or it is over.
    pub fn lease_this_job(
        &mut self,
        _admin: Admin,
        id: i64,
        lease: Lease<'_>,
        now: Timestamp,
    ) -> Result<bool> {
        let (now, until) = (now.as_millisecond(), lease.until.as_millisecond());
        self.write(Admin, |transaction| {
            if !transaction.prepare_cached(BY_ID)?.exists([id])? {
                return Err(missing(id).into());
            }
            let taken = transaction.execute(LEASE_THIS, params![id, now, lease.owner, until])?;
            Ok(taken == 1)
        })
    }

    /// Goes on with a lease; false if it was lost to another worker.
    pub fn renew_lease(&mut self, _admin: Admin, id: i64, lease: Lease<'_>) -> Result<bool> {
        self.write(Admin, |transaction| {
            let until = lease.until.as_millisecond();
            Ok(transaction.execute(RENEW, params![id, lease.owner, until])? == 1)
        })
    }

    /// Removes jobs that were done or given up before a time; returns how many.
    pub fn clear_jobs(&mut self, _admin: Admin, before: Timestamp) -> Result<u64> {
        self.write(Admin, |transaction| {
            let gone = transaction.execute(CLEAR, [before.as_millisecond()])?;
            Ok(gone as u64)
        })
    }

    /// Every schedule.
    pub fn schedules(&self, _admin: Admin) -> Result<Vec<Schedule>> {
        let read = || -> backend::Result<_> {
            self.asking(Admin).prepare_cached(SCHEDULES)?.query_map([], schedule_of)?.collect()
        };
        read().map_err(|source| self.failed(source))
    }

    /// Keeps a schedule, or changes it.
    pub fn keep_schedule(&mut self, _admin: Admin, schedule: &Schedule) -> Result<()> {
        self.write(Admin, |transaction| {
            transaction.put(
                &KEEP_SCHEDULE,
                params![
                    schedule.name,
                    schedule.cron,
                    schedule.next_run.map(Timestamp::as_millisecond),
                    schedule.last_run.map(Timestamp::as_millisecond),
                    schedule.last_result
                ],
            )?;
            Ok(())
        })
    }
}

fn missing(id: i64) -> Error {
    Error::NoSuchItem { item: format!("job:{id}") }
}

fn schedule_of(row: &Row<'_>) -> backend::Result<Schedule> {
    Ok(Schedule {
        name: row.get(0)?,
        cron: row.get(1)?,
        next_run: rows::optional_time(row, 2)?,
        last_run: rows::optional_time(row, 3)?,
        last_result: row.get(4)?,
    })
}

fn job_of(row: &Row<'_>) -> backend::Result<Job> {
    Ok(Job {
        id: row.get(0)?,
        kind: row.get(1)?,
        payload: row.get(2)?,
        state: rows::choice(row, 3, &STATES)?,
        run_at: rows::time(row, 4)?,
        attempts: row.get(5)?,
        last_error: row.get(6)?,
        finished_at: rows::optional_time(row, 7)?,
    })
}

const QUEUE: &str = "
    insert into job (kind, payload, dedupe_key, user_id, state, run_at, created_at)
    select ?1, ?2, ?3, ?4, 'waiting', ?5, ?6
    where not exists (
      select 1 from job
      where kind = ?1 and dedupe_key = ?3 and state in ('waiting', 'leased'))
    returning id";
// On a server many ask at once: each takes one that nobody else is taking.
const LEASE: Both = Both {
    file: "
    update job
    set state = 'leased', attempts = attempts + 1, lease_owner = ?3, lease_until = ?4
    where id = (
      select id from job
      where kind in (select value from json_each(?1))
        and ((state = 'waiting' and run_at <= ?2) or (state = 'leased' and lease_until <= ?2))
      order by run_at, id limit 1)
    returning id, kind, payload, state, run_at, attempts, last_error, finished_at",
    server: "
    update job
    set state = 'leased', attempts = attempts + 1, lease_owner = ?3, lease_until = ?4
    where id = (
      select id from job
      where kind in (select value from json_array_elements_text(cast(?1 as json)))
        and ((state = 'waiting' and run_at <= ?2) or (state = 'leased' and lease_until <= ?2))
      order by run_at, id limit 1 for update skip locked)
    returning id, kind, payload, state, run_at, attempts, last_error, finished_at",
};
const FINISH: &str = "
    update job set state = 'done', finished_at = ?3, lease_owner = null, lease_until = null
    where id = ?1 and state = 'leased' and lease_owner = ?2";
const FAIL: &str = "
    update job
    set state = case when cast(?4 as bigint) is null then 'failed' else 'waiting' end,
      finished_at = case when ?4 is null then cast(?5 as bigint) end,
      run_at = coalesce(?4, run_at), last_error = ?3, lease_owner = null, lease_until = null
    where id = ?1 and state = 'leased' and lease_owner = ?2";
const OPEN: &str = "
    select id, kind, payload, state, run_at, attempts, last_error, finished_at from job
    where state in ('waiting', 'leased') order by run_at, id limit ?1";
const LIST: &str = "
    select id, kind, payload, state, run_at, attempts, last_error, finished_at from job
    where cast(?1 as text) is null or state = ?1 order by id desc limit ?2";
const BY_ID: &str = "
    select id, kind, payload, state, run_at, attempts, last_error, finished_at from job
    where id = ?1";
const SAME_WAITS: &str = "
    select 1 from job j join job other on other.kind = j.kind and other.dedupe_key = j.dedupe_key
    where j.id = ?1 and j.state = 'failed' and other.state in ('waiting', 'leased')";
const RETRY: &str = "
    update job
    set state = 'waiting', run_at = ?2, payload = ?3, attempts = 0, finished_at = null,
      lease_owner = null, lease_until = null
    where id = ?1
      and (state in ('waiting', 'failed') or (state = 'leased' and lease_until <= ?2))";
const LEASE_THIS: &str = "
    update job
    set state = 'leased', attempts = attempts + 1, lease_owner = ?3, lease_until = ?4
    where id = ?1 and (state = 'waiting' or (state = 'leased' and lease_until <= ?2))";
const RENEW: &str = "
    update job set lease_until = ?3 where id = ?1 and state = 'leased' and lease_owner = ?2";
const CLEAR: &str = "delete from job where state in ('done', 'failed') and finished_at < ?1";
const SCHEDULES: &str =
    "select name, cron, next_run, last_run, last_result from schedule order by name";
const KEEP_SCHEDULE: Put = Put {
    change: "
    update schedule set cron = ?2, next_run = ?3, last_run = ?4, last_result = ?5 where name = ?1",
    add: "
    insert into schedule (name, cron, next_run, last_run, last_result)
    values (?1, ?2, ?3, ?4, ?5)",
};
