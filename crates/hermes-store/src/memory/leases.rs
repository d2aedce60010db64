//! Who works on which job, and jobs whose worker went away in the middle of them.

use jiff::Timestamp;
use rusqlite::params;

use super::{Memory, rows};
use crate::Result;
use crate::memory::backend;
use crate::memory::types::job::Cuts;
use crate::memory::{Admin, Leased};

impl Memory {
    /// The jobs somebody works on.
    pub fn leases(&self, _admin: Admin) -> Result<Vec<Leased>> {
        let read = || -> backend::Result<_> {
            let mut statement = self.asking(Admin).prepare_cached(LEASES)?;
            let leases = statement.query_map([], |row| {
                let payload: String = row.get(3)?;
                Ok(Leased {
                    id: row.get(0)?,
                    owner: row.get(1)?,
                    until: rows::time(row, 2)?,
                    cut_short: Cuts::of(&payload).in_a_row,
                })
            })?;
            leases.collect()
        };
        read().map_err(|source| self.failed(source))
    }

    /// Lets a job wait again whose worker is gone: that try is no failure of the job. False if somebody else was faster.
    pub fn put_back_cut_job(
        &mut self,
        _admin: Admin,
        leased: &Leased,
        again: Timestamp,
    ) -> Result<bool> {
        self.change_cuts(leased.id, &leased.owner, Some(again), |cuts| Cuts {
            in_a_row: cuts.in_a_row.saturating_add(1),
            in_all: cuts.in_all.saturating_add(1),
        })
    }

    /// Notes that a job came on: what was done need not be done again, so being cut short before does not matter any more.
    pub fn note_job_came_on(&mut self, _admin: Admin, id: i64, owner: &str) -> Result<bool> {
        self.change_cuts(id, owner, None, |cuts| Cuts { in_a_row: 0, ..cuts })
    }

    /// Changes what is known of a job's cuts, for whoever has its lease; with a time it waits again until then.
    fn change_cuts(
        &mut self,
        id: i64,
        owner: &str,
        again: Option<Timestamp>,
        change: impl Fn(Cuts) -> Cuts,
    ) -> Result<bool> {
        let again = again.map(Timestamp::as_millisecond);
        self.write(Admin, |transaction| {
            let payload: String =
                transaction
                    .query_row("select payload from job where id = ?1", [id], |row| row.get(0))?;
            let payload = change(Cuts::of(&payload)).noted_in(&payload);
            let changed = match again {
                Some(again) => {
                    transaction.execute(PUT_BACK, params![id, owner, payload, again, GONE])?
                }
                None => transaction.execute(NOTE, params![id, owner, payload])?,
            };
            Ok(changed == 1)
        })
    }
}

const GONE: &str = "its worker stopped before it finished";

const LEASES: &str = "
    select id, lease_owner, lease_until, payload from job
    where state = 'leased' and lease_owner is not null order by id";
const PUT_BACK: &str = "
    update job
    set state = 'waiting', payload = ?3, run_at = ?4, last_error = ?5, lease_owner = null, lease_until = null
    where id = ?1 and state = 'leased' and lease_owner = ?2";
const NOTE: &str = "
    update job set payload = ?3 where id = ?1 and state = 'leased' and lease_owner = ?2";
