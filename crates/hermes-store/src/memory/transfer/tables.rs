//! The tables whose rows have a number of their own, and what is asked of them.

use crate::memory::backend::{self, Connection};
use crate::memory::numbers;

/// The tables whose rows have a number of their own.
#[derive(Debug, Clone, Copy)]
pub(super) enum Table {
    User,
    Entity,
    Episode,
    Fact,
    Procedure,
    Task,
    Event,
    Proposal,
    Receipt,
}

impl Table {
    /// Its name in the file.
    pub(super) fn name(self) -> &'static str {
        match self {
            Table::User => "user",
            Table::Entity => "entity",
            Table::Episode => "episode",
            Table::Fact => "fact",
            Table::Procedure => "procedure",
            Table::Task => "task",
            Table::Event => "event",
            Table::Proposal => "proposal",
            Table::Receipt => "receipt",
        }
    }

    /// Asks whether a number is taken.
    pub(super) fn is_taken(self) -> &'static str {
        match self {
            Table::User => "select 1 from \"user\" where id = ?1",
            Table::Entity => "select 1 from entity where id = ?1",
            Table::Episode => {
                "select 1 from episode where id = ?1
                 union all
                 select 1 from (
                   select last from covered where first <= ?1 order by first desc limit 1) run
                 where last >= ?1"
            }
            Table::Fact => "select 1 from fact where id = ?1",
            Table::Procedure => "select 1 from procedure where id = ?1",
            Table::Task => "select 1 from task where id = ?1",
            Table::Event => "select 1 from event where id = ?1",
            Table::Proposal => "select 1 from proposal where id = ?1",
            Table::Receipt => "select 1 from receipt where id = ?1",
        }
    }

    /// The highest number that was given out.
    pub(super) fn highest(self, connection: &Connection) -> backend::Result<i64> {
        let of_rows = |sql: &str| connection.prepare_cached(sql)?.query_row([], |row| row.get(0));
        Ok(match self {
            Table::User => of_rows(numbers::LAST_USER)?,
            Table::Entity => of_rows(numbers::LAST_ENTITY)?,
            Table::Episode => numbers::last(connection, "episode")?.max(of_rows(LAST_COVERED)?),
            _ => numbers::last(connection, self.name())?,
        })
    }
}

const LAST_COVERED: &str = "select coalesce(max(last), 0) from covered";
