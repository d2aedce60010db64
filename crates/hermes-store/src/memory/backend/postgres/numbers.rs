//! Numbers for rows that many add at once: reserved some at a time, so that nobody waits for the row that counts them.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use ::postgres::types::{ToSql, Type};

use super::Server;
use crate::memory::backend::Result;

/// How many are reserved at first and at most: whoever goes on recording needs many, others leave few unused.
const FIRST: i64 = 4;
const MOST: i64 = 256;

/// Numbers that a transaction reserved: the next one and the last one, by the name of the table. They are nobody's if it
/// is given up.
pub(super) type Reserved = HashMap<&'static str, (i64, i64)>;

/// What this process has reserved for a table of a memory.
#[derive(Default)]
struct Free {
    next: i64,
    last: i64,
    /// How many were reserved the last time.
    size: i64,
}

static FREE: LazyLock<Mutex<HashMap<(String, &'static str), Free>>> = LazyLock::new(Mutex::default);

/// The next number of a table.
pub(super) fn next(server: &Server, table: &'static str) -> Result<i64> {
    if let Some((next, last)) = server.state.borrow_mut().reserved.get_mut(table)
        && next <= last
    {
        *next += 1;
        return Ok(*next - 1);
    }
    let size = {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        let free = free.entry((server.mark().to_owned(), table)).or_default();
        if free.next < free.last {
            free.next += 1;
            return Ok(free.next);
        }
        free.size = (free.size * 2).clamp(FIRST, MOST);
        free.size
    };
    let asked: [(&(dyn ToSql + Sync), Type); 3] =
        [(&server.profile(), Type::INT8), (&table, Type::TEXT), (&size, Type::INT8)];
    let rows = server.write_rows(RESERVE, &asked)?;
    let last: i64 = rows.first().map_or(Ok(0), |row| row.try_get(0))?;
    let first = last - size + 1;
    server.state.borrow_mut().reserved.insert(table, (first + 1, last));
    Ok(first)
}

/// What a transaction reserved and did not need is free for the next.
pub(super) fn give_back(mark: &str, reserved: Reserved) {
    for (table, (next, last)) in reserved {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        let free = free.entry((mark.to_owned(), table)).or_default();
        // Another thread may have brought some too: the more are kept.
        if last - next >= free.last - free.next {
            (free.next, free.last) = (next - 1, last);
        }
    }
}

const RESERVE: &str = "
    insert into hermes.number as n (profile, name, seq) values ($1, $2, $3)
    on conflict (profile, name) do update set seq = n.seq + $3 returning n.seq";
