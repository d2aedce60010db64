//! The SQL with which a conversation of ours writes down its prompt, its cost and what it takes out of its window.

use super::{Layout, Table, quoted};

/// The columns of a session for what it cost.
const COSTS: [&str; 6] = [
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "api_call_count",
    "estimated_cost_usd",
];

impl Layout {
    /// Ends session ?1 at ?2 for the reason ?3, unless it has ended; `None` without such columns.
    pub(crate) fn end_session(&self) -> Option<&'static str> {
        self.column(Table::Sessions, "ended_at")?;
        self.column(Table::Sessions, "end_reason")?;
        Some(
            "update sessions set ended_at = ?2, end_reason = ?3
            where id = ?1 and ended_at is null",
        )
    }

    /// Adds ?2 … ?7 to what session ?1 cost: tokens read, written, from a cache, into a cache, requests and US
    /// dollars; `None` where there is no place for any of them.
    pub(crate) fn add_usage(&self) -> Option<String> {
        let changes: Vec<String> = COSTS
            .iter()
            .enumerate()
            .filter(|(_, name)| self.column(Table::Sessions, name).is_some())
            .map(|(place, name)| match *name {
                // A cost that is not known stays so.
                "estimated_cost_usd" => {
                    format!("{name} = case when ?{0} is null then {name} else coalesce({name}, 0) + ?{0} end", place + 2)
                }
                _ => format!("{name} = coalesce({name}, 0) + ?{}", place + 2),
            })
            .collect();
        (!changes.is_empty())
            .then(|| format!("update sessions set {} where id = ?1", changes.join(", ")))
    }

    /// What session ?1 cost, in the same order, null for what it has no place for; `None` where there is none at all.
    pub(crate) fn spent(&self) -> Option<String> {
        let is_there = |name: &str| self.column(Table::Sessions, name).is_some();
        let columns = COSTS.map(|name| if is_there(name) { name } else { "null" });
        COSTS
            .iter()
            .any(|name| is_there(name))
            .then(|| format!("select {} from sessions where id = ?1", columns.join(", ")))
    }

    /// Sets the named columns of session ?1 that are there to ?2, ?3, …; `None` if none is.
    pub(crate) fn set_session(&self, names: &[&str]) -> Option<String> {
        let changes: Vec<String> = names
            .iter()
            .enumerate()
            .filter_map(|(place, name)| Some((place, self.column(Table::Sessions, name)?)))
            .map(|(place, column)| {
                format!("{0} = coalesce(?{1}, {0})", quoted(&column.name), place + 2)
            })
            .collect();
        (!changes.is_empty())
            .then(|| format!("update sessions set {} where id = ?1", changes.join(", ")))
    }

    /// Takes the live messages of session ?1 up to number ?2 out of the window; `None` where compacted and taken
    /// back cannot be told apart.
    pub(crate) fn compact(&self) -> Option<&'static str> {
        self.column(Table::Messages, "active")?;
        self.column(Table::Messages, "compacted")?;
        Some(
            "update messages set active = 0, compacted = 1
            where session_id = ?1 and id <= ?2 and active <> 0",
        )
    }

    /// Takes back the live messages of session ?1 from number ?2 on; `None` where that cannot be written down.
    pub(crate) fn rewind(&self) -> Option<&'static str> {
        self.column(Table::Messages, "active")?;
        Some("update messages set active = 0 where session_id = ?1 and id >= ?2 and active <> 0")
    }

    /// Counts the live messages of session ?1 anew, and one more rewinding where ?2 is 1.
    pub(crate) fn count_again(&self) -> Option<String> {
        let mut changes = Vec::new();
        if self.column(Table::Sessions, "message_count").is_some() {
            changes.push(
                "message_count = (select count(*) from message_view m
                where m.session_id = sessions.id and m.active <> 0)",
            );
        }
        if self.column(Table::Sessions, "rewind_count").is_some() {
            changes.push("rewind_count = coalesce(rewind_count, 0) + ?2");
        }
        let needs_second = "?2 = ?2";
        (!changes.is_empty()).then(|| {
            format!("update sessions set {} where id = ?1 and {needs_second}", changes.join(", "))
        })
    }

    /// The prompt of session ?1, wherever this layout keeps it.
    pub(crate) fn prompt(&self) -> Option<&'static str> {
        let has_column = |name| self.column(Table::Sessions, name).is_some();
        match (has_column("system_prompt"), has_column("system_prompt_hash")) {
            (true, true) if self.has_table("system_prompts") => Some(
                "select coalesce(s.system_prompt,
                    (select p.prompt from system_prompts p where p.hash = s.system_prompt_hash))
                from sessions s where s.id = ?1",
            ),
            (true, _) => Some("select system_prompt from sessions where id = ?1"),
            _ => None,
        }
    }
}
