//! The tables whose rows have a number of their own, and what is asked of them.

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
            Table::User => "select 1 from user where id = ?1",
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

    /// Asks for the highest number that was given out.
    pub(super) fn highest(self) -> &'static str {
        match self {
            Table::User => "select coalesce(max(id), 0) from user",
            Table::Entity => "select coalesce(max(id), 0) from entity",
            Table::Episode => {
                "select max(coalesce((select seq from sqlite_sequence where name = 'episode'), 0),
                   coalesce((select max(last) from covered), 0))"
            }
            Table::Fact => "select coalesce(max(seq), 0) from sqlite_sequence where name = 'fact'",
            Table::Procedure => {
                "select coalesce(max(seq), 0) from sqlite_sequence where name = 'procedure'"
            }
            Table::Task => "select coalesce(max(seq), 0) from sqlite_sequence where name = 'task'",
            Table::Event => {
                "select coalesce(max(seq), 0) from sqlite_sequence where name = 'event'"
            }
            Table::Proposal => {
                "select coalesce(max(seq), 0) from sqlite_sequence where name = 'proposal'"
            }
            Table::Receipt => {
                "select coalesce(max(seq), 0) from sqlite_sequence where name = 'receipt'"
            }
        }
    }
}
