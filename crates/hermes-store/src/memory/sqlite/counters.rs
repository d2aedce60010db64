//! Numbers counted by the day.

use jiff::Timestamp;
use jiff::civil::Date;

use super::SqliteMemory;
use crate::Result;
use crate::memory::*;

impl Counters for SqliteMemory {
    fn add_to_counter(&mut self, _admin: Admin, _day: Date, _name: &str, _add: i64) -> Result<i64> {
        todo!()
    }

    fn counter(&self, _admin: Admin, _day: Date, _name: &str) -> Result<i64> {
        todo!()
    }
}
