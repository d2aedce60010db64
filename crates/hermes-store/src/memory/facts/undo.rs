//! Taking back the last change of a fact. Each undoing is a change like any other, so it can be undone.

use rusqlite::params;

use super::super::{Outcome, audit, graves};
use super::change::{self, Kept};
use crate::Error;
use crate::memory::backend::{Connection, OptionalExtension};
use crate::memory::{Change, ItemKind, NewChunk, Scope, Undone};

/// Takes back what happened last to a fact.
pub(super) fn undo(
    transaction: &Connection,
    scope: Scope,
    id: i64,
    chunks: &dyn Fn(&str) -> Vec<NewChunk>,
    change: Change<'_>,
) -> Outcome<Undone> {
    let kept = change::kept(transaction, scope, id)?;
    let last = last_change(transaction, &kept)?;
    let action = last.as_ref().map_or("", |(_, action)| action.as_str());
    if let Some(by) = kept.superseded_by {
        return unsupersede(transaction, scope, (&kept, by), change);
    }
    match (kept.is_retired, action) {
        (true, "fact.unsucceed") => {
            let old = beside(transaction, last.map(|(row, _)| row + 1), "fact.unsupersede")?;
            let old = look_up(transaction, scope, old)?.filter(Kept::is_held);
            let old = old.ok_or_else(|| nothing(&kept))?;
            supersede_again(transaction, (&old, &kept), change)
        }
        (true, _) => {
            change::restore(transaction, &kept, change)?;
            Ok(undone("fact.retire", id))
        }
        (false, "fact.edit") => unedit(transaction, &kept, chunks, change),
        (false, "fact.restore") => {
            change::retire(transaction, &kept, change)?;
            Ok(undone("fact.restore", id))
        }
        (false, "fact.unsupersede") => {
            let new = beside(transaction, last.map(|(row, _)| row - 1), "fact.unsucceed")?;
            let new = look_up(transaction, scope, new)?.ok_or_else(|| nothing(&kept))?;
            supersede_again(transaction, (&kept, &new), change)
        }
        (false, "fact.succeed") => {
            let old = transaction
                .prepare_cached(PREDECESSOR)?
                .query_row([id], |row| row.get(0))
                .optional()?;
            let old = look_up(transaction, scope, old)?.ok_or_else(|| nothing(&kept))?;
            unsupersede(transaction, scope, (&old, id), change)
        }
        _ => Err(nothing(&kept).into()),
    }
}

/// Brings the old fact back; the new one goes if it came into being to take its place.
fn unsupersede(
    transaction: &Connection,
    scope: Scope,
    (old, by): (&Kept, i64),
    change: Change<'_>,
) -> Outcome<Undone> {
    let new = change::kept(transaction, scope, by)?;
    transaction.prepare_cached(UNSUPERSEDE)?.execute([old.id])?;
    let goes = new.is_held()
        && !transaction.prepare_cached(PREDECESSOR)?.exists([by])?
        && !has_stood_alone(transaction, &new)?;
    if goes {
        if change.is_by_a_person() {
            graves::bury_fact(transaction, by, change)?;
        }
        transaction.prepare_cached(RETIRE)?.execute([by, change.at.as_millisecond()])?;
    }
    if let Some(same) = change::said_by(transaction, old.user, &old.norm_hash)? {
        return Err(old.refused("restore", change::says_the_same(same)).into());
    }
    transaction.prepare_cached(HOLD)?.execute([old.id])?;
    graves::lift(transaction, &old.name())?;
    audit::append(transaction, change, "fact.unsucceed", &new.name(), None, None)?;
    let after = audit::hash_of(&old.statement);
    audit::append(transaction, change, "fact.unsupersede", &old.name(), None, Some(&after))?;
    Ok(undone("fact.supersede", old.id))
}

/// Puts a fact back in the place that it had taken and lost.
fn supersede_again(
    transaction: &Connection,
    (old, new): (&Kept, &Kept),
    change: Change<'_>,
) -> Outcome<Undone> {
    if change.is_by_a_person() {
        graves::bury_fact(transaction, old.id, change)?;
    }
    let at = change.at.as_millisecond();
    transaction.prepare_cached(SUPERSEDE_AGAIN)?.execute(params![old.id, at, new.id])?;
    if new.is_retired && new.superseded_by.is_none() {
        if let Some(same) = change::said_by(transaction, new.user, &new.norm_hash)? {
            return Err(new.refused("restore", change::says_the_same(same)).into());
        }
        transaction.prepare_cached(HOLD)?.execute([new.id])?;
        graves::lift(transaction, &new.name())?;
    }
    let (before, after) = (audit::hash_of(&old.statement), audit::hash_of(&new.statement));
    audit::append(transaction, change, "fact.succeed", &new.name(), None, Some(&after))?;
    audit::append(transaction, change, "fact.supersede", &old.name(), Some(&before), Some(&after))?;
    Ok(undone("fact.unsupersede", new.id))
}

/// Gives a fact the text it had before.
fn unedit(
    transaction: &Connection,
    kept: &Kept,
    chunks: &dyn Fn(&str) -> Vec<NewChunk>,
    change: Change<'_>,
) -> Outcome<Undone> {
    let earlier: Option<String> = transaction
        .prepare_cached(EARLIER)?
        .query_row(params![ItemKind::Fact.number(), kept.id, kept.revision - 1], |row| row.get(0))
        .optional()?;
    let earlier = earlier.ok_or_else(|| nothing(kept))?;
    graves::lift_text(transaction, &kept.name(), graves::statement_key(&earlier))?;
    change::edit(transaction, kept, &earlier, &chunks(&earlier), change)?;
    Ok(undone("fact.edit", kept.id))
}

/// Number and name of the last change that can be taken back.
fn last_change(transaction: &Connection, kept: &Kept) -> Outcome<Option<(i64, String)>> {
    let last = transaction
        .prepare_cached(LAST_CHANGE)?
        .query_row([kept.name()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(last)
}

/// The fact in a certain row of the chain: both sides of a supersession are undone side by side.
fn beside(transaction: &Connection, row: Option<i64>, action: &str) -> Outcome<Option<i64>> {
    let item: Option<String> = transaction
        .prepare_cached(ITEM_IN_ROW)?
        .query_row(params![row, action], |row| row.get(0))
        .optional()?;
    Ok(item.and_then(|item| item.strip_prefix("fact:")?.parse().ok()))
}

/// Whether a fact was kept for its own sake, and not only to take another's place.
fn has_stood_alone(transaction: &Connection, fact: &Kept) -> Outcome<bool> {
    Ok(transaction.prepare_cached(WAS_ADDED)?.exists([fact.name()])?)
}

fn look_up(transaction: &Connection, scope: Scope, id: Option<i64>) -> Outcome<Option<Kept>> {
    match id {
        Some(id) => change::look_up(transaction, scope, id),
        None => Ok(None),
    }
}

fn undone(action: &str, fact: i64) -> Undone {
    Undone { action: action.to_owned(), fact }
}

fn nothing(kept: &Kept) -> Error {
    Error::NothingToUndo { item: kept.name() }
}

const LAST_CHANGE: &str = "
    select id, action from audit
    where item = ?1 and item >= 'fact:' and item < 'fact;'
      and action in ('fact.add', 'fact.edit', 'fact.succeed', 'fact.unsucceed', 'fact.supersede',
        'fact.unsupersede', 'fact.retire', 'fact.expire', 'fact.restore')
    order by id desc limit 1";
const WAS_ADDED: &str = "
    select 1 from audit
    where item = ?1 and item >= 'fact:' and item < 'fact;' and action = 'fact.add'";
const ITEM_IN_ROW: &str = "select item from audit where id = ?1 and action = ?2";
const PREDECESSOR: &str = "
    select id from fact where superseded_by = ?1 order by retired_at desc, id desc limit 1";
// The end that the other one brought is kept for the case that it comes back.
const UNSUPERSEDE: &str = "
    update fact set superseded_by = null, valid_to = valid_to_before, valid_to_before = valid_to
    where id = ?1";
const HOLD: &str = "update fact set retired_at = null where id = ?1";
const RETIRE: &str = "update fact set retired_at = ?2 where id = ?1";
const SUPERSEDE_AGAIN: &str = "
    update fact set retired_at = ?2, superseded_by = ?3, valid_to = valid_to_before,
      valid_to_before = valid_to
    where id = ?1";
const EARLIER: &str = "select body from revision where kind = ?1 and item = ?2 and number = ?3";
