//! Tasks, the steps that led there, and what was handed out for them.

use rusqlite::params;

use super::super::rows::{optional_time, time};
use super::super::{Outcome, audit, new_uid};
use crate::memory::backend::{self, Connection, Put, Row};
use crate::memory::{
    Change, Episode, ItemKind, MessageKey, NewTask, Receipt, Scope, Task, UserNumber, lifecycle,
};

/// The tool calls in the messages of an episode.
pub(super) fn steps(
    connection: &Connection,
    scope: Scope,
    episode: &Episode,
) -> backend::Result<Vec<lifecycle::Step>> {
    let places = [episode.first_place, episode.last_place];
    let [first, last] = places.map(|place| MessageKey::new(episode.session, place));
    let (Some(first), Some(last), true) = (first, last, scope.may_read(episode.user)) else {
        return Ok(Vec::new());
    };
    connection
        .prepare_cached(STEPS)?
        .query_map(params![first.get(), last.get(), episode.id], |row| {
            Ok(lifecycle::Step {
                message: row.get(0)?,
                tool: row.get(1)?,
                arguments: row.get(2)?,
                failed: row.get(3)?,
            })
        })?
        .collect()
}

/// Keeps a task, or how it went if it is known.
pub(super) fn keep(
    transaction: &Connection,
    scope: Scope,
    task: &NewTask<'_>,
    change: Change<'_>,
) -> Outcome<i64> {
    let id = transaction.put_row(
        &KEEP,
        params![
            new_uid(change.at).as_bytes(),
            scope.user().get(),
            task.external_id,
            task.session.map(|session| session.get()),
            task.task_type,
            task.title,
            task.started_at.as_millisecond(),
            task.ended_at.as_millisecond(),
            task.outcome,
            task.steps,
            task.words
        ],
    )?;
    let after = audit::hash_of(task.title);
    audit::append(transaction, change, "task.keep", &format!("task:{id}"), None, Some(&after))?;
    Ok(id)
}

/// The tasks of a type, newest first.
pub(super) fn list(
    connection: &Connection,
    scope: Scope,
    task_type: Option<&str>,
    limit: usize,
) -> backend::Result<Vec<Task>> {
    connection
        .prepare_cached(TASKS)?
        .query_map(params![scope.user().get(), task_type, limit], task_of)?
        .collect()
}

/// Notes that a skill was drafted from tasks.
pub(super) fn note_skill(
    transaction: &Connection,
    scope: Scope,
    tasks: &[i64],
    procedure: i64,
) -> Outcome<()> {
    for task in tasks {
        transaction.prepare_cached(NOTE_SKILL)?.execute([*task, scope.user().get(), procedure])?;
    }
    Ok(())
}

/// What was handed out in a session, oldest first.
pub(super) fn receipts(
    connection: &Connection,
    scope: Scope,
    session_id: &str,
) -> backend::Result<Vec<Receipt>> {
    connection
        .prepare_cached(RECEIPTS)?
        .query_map(params![session_id, scope.user().get()], receipt_of)?
        .collect()
}

/// What was handed out last, newest first.
pub(super) fn latest_receipts(
    connection: &Connection,
    scope: Scope,
    limit: usize,
) -> backend::Result<Vec<Receipt>> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    connection
        .prepare_cached(LATEST_RECEIPTS)?
        .query_map([scope.user().get(), limit], receipt_of)?
        .collect()
}

fn receipt_of(row: &Row<'_>) -> backend::Result<Receipt> {
    Ok(Receipt {
        at: time(row, 0)?,
        session_id: row.get(1)?,
        items: items_of(&row.get::<_, String>(2)?),
        tokens: row.get(3)?,
    })
}

/// The items of a receipt; what a newer program noted and we do not know is left out.
pub(in super::super) fn items_of(noted: &str) -> Vec<(ItemKind, i64)> {
    let noted: Vec<serde_json::Value> = serde_json::from_str(noted).unwrap_or_default();
    let kind_named = |name: &serde_json::Value| {
        ItemKind::ALL
            .into_iter()
            .find(|kind| serde_json::to_value(kind).ok().as_ref() == Some(name))
    };
    noted
        .iter()
        .filter_map(|one| Some((kind_named(one.get("kind")?)?, one.get("item")?.as_i64()?)))
        .collect()
}

/// Counts a win or a loss for procedures.
pub(super) fn count_outcome(
    transaction: &Connection,
    scope: Scope,
    procedures: &[i64],
    won: bool,
) -> Outcome<()> {
    let sql = if won { COUNT_WIN } else { COUNT_LOSS };
    for procedure in procedures {
        transaction.prepare_cached(sql)?.execute([*procedure, scope.user().get()])?;
    }
    Ok(())
}

fn task_of(row: &Row<'_>) -> backend::Result<Task> {
    Ok(Task {
        id: row.get(0)?,
        user: UserNumber::new(row.get(1)?),
        external_id: row.get(2)?,
        task_type: row.get(3)?,
        title: row.get(4)?,
        started_at: time(row, 5)?,
        ended_at: optional_time(row, 6)?,
        outcome: row.get(7)?,
        steps: row.get(8)?,
        words: row.get(9)?,
        skill: row.get(10)?,
    })
}

const STEPS: &str = "
    select s.message, s.tool, s.arguments, s.failed
    from step s join message m on m.id = s.message
    where s.message between ?1 and ?2 and m.episode = ?3 order by s.message, s.number";
const KEEP: Put = Put {
    change: "
    update task
    set session = coalesce(?4, session), task_type = ?5, title = ?6,
      started_at = case when started_at < ?7 then started_at else ?7 end,
      ended_at = ?8, outcome = ?9, steps = ?10, words = ?11
    where user_id = ?2 and external_id = ?3 returning id",
    add: "
    insert into task (uid, user_id, external_id, session, task_type, title, started_at, ended_at,
      outcome, steps, words)
    values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
    returning id",
};
const TASKS: &str = "
    select id, user_id, coalesce(external_id, ''), coalesce(task_type, ''), title, started_at,
      ended_at, outcome, coalesce(steps, '[]'), coalesce(words, ''), skill
    from task
    where user_id in (?1, 0) and (cast(?2 as text) is null or task_type = ?2)
    order by started_at desc, id desc limit ?3";
const NOTE_SKILL: &str = "update task set skill = ?3 where id = ?1 and user_id in (?2, 0)";
const RECEIPTS: &str = "
    select at, session_id, items, tokens from receipt where session_id = ?1 and user_id = ?2 order by id";
const LATEST_RECEIPTS: &str = "
    select at, session_id, items, tokens
    from (select at, session_id, items, tokens, user_id from receipt order by id desc limit 5000) latest
    where user_id = ?1 limit ?2";
const COUNT_WIN: &str = "update procedure set wins = wins + 1 where id = ?1 and user_id in (?2, 0)";
const COUNT_LOSS: &str =
    "update procedure set losses = losses + 1 where id = ?1 and user_id in (?2, 0)";
