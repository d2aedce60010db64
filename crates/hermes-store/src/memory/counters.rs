//! Numbers counted by the day.

use jiff::civil::Date;
use rusqlite::params;

use super::Memory;
use crate::Result;
use crate::memory::Admin;
use crate::memory::backend::{OptionalExtension, Put};

impl Memory {
    /// Adds to a number of a day; returns what it is then.
    pub fn add_to_counter(
        &mut self,
        _admin: Admin,
        day: Date,
        name: &str,
        add: i64,
    ) -> Result<i64> {
        self.write(Admin, |transaction| {
            Ok(transaction.put_row(&ADD, params![day.to_string(), name, add])?)
        })
    }

    /// A number of a day; 0 if nothing was counted.
    pub fn counter(&self, _admin: Admin, day: Date, name: &str) -> Result<i64> {
        let found = self
            .asking(Admin)
            .query_row(COUNTED, params![day.to_string(), name], |row| row.get(0))
            .optional();
        found.map(Option::unwrap_or_default).map_err(|source| self.failed(source))
    }
}

// User 0: what is counted is the whole memory's.
const ADD: Put = Put {
    change: "
    update counter set value = value + ?3 where day = ?1 and name = ?2 and user_id = 0
    returning value",
    add: "
    insert into counter (day, name, user_id, value) values (?1, ?2, 0, ?3) returning value",
};
const COUNTED: &str = "select value from counter where day = ?1 and name = ?2 and user_id = 0";
