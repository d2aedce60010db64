//! Who works on which job, so that the jobs of a worker that is gone need not wait for their leases.

use super::SqliteMemory;
use crate::Result;
use crate::memory::Admin;
use crate::memory::sqlite::db;

impl SqliteMemory {
    /// The jobs somebody works on, each with its worker.
    pub fn leases(&self, _admin: Admin) -> Result<Vec<(i64, String)>> {
        let read = || -> db::Result<_> {
            let mut statement = self.asking(Admin).prepare_cached(LEASES)?;
            statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        read().map_err(|source| self.failed(source))
    }
}

const LEASES: &str = "
    select id, lease_owner from job
    where state = 'leased' and lease_owner is not null order by id";
