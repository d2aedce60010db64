//! Numbers counted by the day, such as the tokens that background work cost.

use jiff::civil::Date;

use super::Admin;
use crate::Result;

/// Count by the day.
pub trait Counters {
    /// Adds to a number of a day; returns what it is then.
    fn add_to_counter(&mut self, admin: Admin, day: Date, name: &str, add: i64) -> Result<i64>;

    /// A number of a day; 0 if nothing was counted.
    fn counter(&self, admin: Admin, day: Date, name: &str) -> Result<i64>;
}
