//! Jobs: queued once, leased by one worker at a time, tried again.

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row, params};

use super::{SqliteMemory, rows};
use crate::Result;
use crate::memory::{Admin, Job, JobFailure, JobState, Jobs, Lease, NewJob, Schedule};

const STATES: [(&str, JobState); 4] = [
    ("waiting", JobState::Waiting),
    ("leased", JobState::Leased),
    ("done", JobState::Done),
    ("failed", JobState::Failed),
];

impl Jobs for SqliteMemory {
    fn queue_job(
        &mut self,
        _admin: Admin,
        job: &NewJob<'_>,
        now: Timestamp,
    ) -> Result<Option<i64>> {
        self.write(|transaction| {
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

    fn lease_job(
        &mut self,
        _admin: Admin,
        kinds: &[&str],
        lease: Lease<'_>,
        now: Timestamp,
    ) -> Result<Option<Job>> {
        let kinds = serde_json::Value::from(kinds.to_vec()).to_string();
        let (now, until) = (now.as_millisecond(), lease.until.as_millisecond());
        self.write(|transaction| {
            let job = transaction
                .prepare_cached(LEASE)?
                .query_row(params![kinds, now, lease.owner, until], job_of)
                .optional()?;
            Ok(job)
        })
    }

    fn finish_job(&mut self, _admin: Admin, id: i64, owner: &str, now: Timestamp) -> Result<bool> {
        self.write(|transaction| {
            let changed = transaction.execute(FINISH, params![id, owner, now.as_millisecond()])?;
            Ok(changed == 1)
        })
    }

    fn fail_job(
        &mut self,
        _admin: Admin,
        id: i64,
        owner: &str,
        failure: JobFailure<'_>,
    ) -> Result<bool> {
        let again = failure.again.map(Timestamp::as_millisecond);
        self.write(|transaction| {
            let changed = transaction.execute(FAIL, params![id, owner, failure.error, again])?;
            Ok(changed == 1)
        })
    }

    fn open_jobs(&self, _admin: Admin, limit: usize) -> Result<Vec<Job>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let read = || -> rusqlite::Result<_> {
            self.connection.prepare_cached(OPEN)?.query_map([limit], job_of)?.collect()
        };
        read().map_err(|source| self.failed(source))
    }

    fn jobs(&self, _admin: Admin, _state: Option<JobState>, _limit: usize) -> Result<Vec<Job>> {
        todo!()
    }

    fn job(&self, _admin: Admin, _id: i64) -> Result<Job> {
        todo!()
    }

    fn retry_job(&mut self, _admin: Admin, _id: i64, _now: Timestamp) -> Result<()> {
        todo!()
    }

    fn lease_this_job(
        &mut self,
        _admin: Admin,
        _id: i64,
        _lease: Lease<'_>,
        _now: Timestamp,
    ) -> Result<bool> {
        todo!()
    }

    fn renew_lease(&mut self, _admin: Admin, _id: i64, _lease: Lease<'_>) -> Result<bool> {
        todo!()
    }

    fn clear_jobs(&mut self, _admin: Admin, _before: Timestamp) -> Result<u64> {
        todo!()
    }

    fn schedules(&self, _admin: Admin) -> Result<Vec<Schedule>> {
        todo!()
    }

    fn keep_schedule(&mut self, _admin: Admin, _schedule: &Schedule) -> Result<()> {
        todo!()
    }
}

fn job_of(row: &Row<'_>) -> rusqlite::Result<Job> {
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
const LEASE: &str = "
    update job
    set state = 'leased', attempts = attempts + 1, lease_owner = ?3, lease_until = ?4
    where id = (
      select id from job
      where kind in (select value from json_each(?1))
        and ((state = 'waiting' and run_at <= ?2) or (state = 'leased' and lease_until <= ?2))
      order by run_at, id limit 1)
    returning id, kind, payload, state, run_at, attempts, last_error, finished_at";
const FINISH: &str = "
    update job set state = 'done', finished_at = ?3, lease_owner = null, lease_until = null
    where id = ?1 and state = 'leased' and lease_owner = ?2";
const FAIL: &str = "
    update job
    set state = case when ?4 is null then 'failed' else 'waiting' end,
      run_at = coalesce(?4, run_at), last_error = ?3, lease_owner = null, lease_until = null
    where id = ?1 and state = 'leased' and lease_owner = ?2";
const OPEN: &str = "
    select id, kind, payload, state, run_at, attempts, last_error, finished_at from job
    where state in ('waiting', 'leased') order by run_at, id limit ?1";
