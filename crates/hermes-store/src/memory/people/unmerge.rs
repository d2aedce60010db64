//! Taking a merge back: both users have again what was theirs, and what came since stays with the one.

use std::collections::HashSet;

use rusqlite::params;

use super::super::{Outcome, audit, entities, rows};
use super::noted::{self, CHANGES_HANDS, JoinedFact, Noted, hex, key, numbers};
use super::texts::Texts;
use super::{conversations, count, file_label, follow, knowledge, numbers_of};
use crate::Error;
use crate::memory::backend::{self, Connection, OptionalExtension};
use crate::memory::{Change, ChunkKey, Chunker, ItemKind, MergedUser, Moved, Unmerged, UserNumber};

/// Who was merged, and into whom; fails where it cannot be taken back.
pub(super) fn plan(
    connection: &Connection,
    name: &str,
) -> Outcome<(UserNumber, MergedUser, Moved)> {
    let (from, who, noted) = look_up(connection, name)?;
    Ok((from, who, noted.moved))
}

/// Takes the merge of the user with this name back.
pub(super) fn unmerge(
    transaction: &Connection,
    name: &str,
    chunker: Chunker<'_>,
    change: Change<'_>,
) -> Outcome<Unmerged> {
    let (from, _, mut noted) = look_up(transaction, name)?;
    let into = UserNumber::new(noted.into);
    let told_together = sort_out_summaries(transaction, into, &mut noted)?;
    for (table, _, sql) in CHANGES_HANDS {
        for item in noted.items.get(table).into_iter().flatten() {
            transaction.prepare_cached(sql)?.execute([*item, from.get(), into.get()])?;
        }
    }
    let mut texts = Texts::new(transaction, chunker);
    let (sessions, later_answers) =
        conversations::give_back(transaction, [from, into], &noted, &mut texts)?;
    knowledge::move_texts(transaction, from, [into, from], &mut texts)?;
    texts.finish()?;
    for user in [from, into] {
        conversations::move_receipts(transaction, [user, user], &sessions)?;
    }
    for joined in &noted.facts {
        part_facts(transaction, joined, &noted)?;
    }
    for pair in [[from, into], [into, from]] {
        let pair = pair.map(UserNumber::get);
        bring_back_facts(transaction, pair, change)?;
        for sql in PART {
            transaction.prepare_cached(sql)?.execute(pair)?;
        }
    }
    part_names(transaction, [from, into], &noted, change)?;
    give_back_the_rest(transaction, [from, into], &noted)?;
    give_back_identities(transaction, [from, into], &noted)?;
    follow(transaction, [from, into])?;
    noted::forget(transaction, from)?;
    // Answers to requests name what has another number now.
    transaction.execute_batch("delete from idempotency")?;
    let item = format!("user:{} from user:{}", from.get(), into.get());
    audit::append(transaction, change, "user.unmerge", &item, None, None)?;
    Ok(Unmerged { moved: count(transaction, from, into)?, later_answers, told_together })
}

/// A user who was merged, and what is noted of it.
fn look_up(connection: &Connection, name: &str) -> Outcome<(UserNumber, MergedUser, Noted)> {
    let found = connection
        .prepare_cached(MERGED_USER)?
        .query_row([name], |row| {
            let (number, into_number): (i64, i64) = (row.get(0)?, row.get(1)?);
            let who =
                MergedUser { name: name.to_owned(), into: row.get(2)?, at: rows::time(row, 3)? };
            Ok((UserNumber::new(number), into_number, who))
        })
        .optional()?;
    let refused = |why: String| Error::ItemRefused { doing: "unmerge", item: name.to_owned(), why };
    let Some((number, into, who)) = found else {
        return Err(refused("they were not merged into anybody".to_owned()).into());
    };
    let Some(noted) = noted::read(connection, number)? else {
        let why = format!(
            "Hermes has no record of what their merge into {} moved; an earlier version made it, or the memory was copied since",
            who.into
        );
        return Err(refused(why).into());
    };
    if let Some(first) = to_take_back_first(connection, (number, into), &noted)? {
        let why = format!("{first}: undo that merge first");
        return Err(refused(why).into());
    }
    Ok((number, who, noted))
}

/// The merge that came later, in words: the one that the first went on with, or of another user into the same.
fn to_take_back_first(
    connection: &Connection,
    (user, into): (UserNumber, i64),
    noted: &Noted,
) -> Outcome<Option<String>> {
    let name = |number: i64| -> backend::Result<String> {
        connection.prepare_cached(NAME)?.query_row([number], |row| row.get(0))
    };
    if noted.into != into {
        let between = name(noted.into)?;
        let last = name(into)?;
        return Ok(Some(format!(
            "they became {between}, and {between} was merged into {last} later"
        )));
    }
    for other in numbers_of(connection, UserNumber::new(into))? {
        let later = noted::read(connection, other)?
            .is_some_and(|other| other.into == into && other.after > noted.after);
        if later && other != user {
            let [other, into] = [name(other.get())?, name(into)?];
            return Ok(Some(format!("{other} was merged into {into} later")));
        }
    }
    Ok(None)
}

/// A summary made since that tells only of what goes back goes along; of those that tell of both, the number. What such
/// a one tells of and is still there word for word goes back untold.
fn sort_out_summaries(
    transaction: &Connection,
    into: UserNumber,
    noted: &mut Noted,
) -> Outcome<u64> {
    let theirs: HashSet<i64> = noted.items.get("episode").into_iter().flatten().copied().collect();
    let mut told_together = 0;
    for summary in numbers(transaction, SUMMARIES, into.get())? {
        if theirs.contains(&summary) {
            continue;
        }
        let told = numbers(transaction, TOLD, summary)?;
        let of_theirs = told.iter().filter(|episode| theirs.contains(episode)).count();
        if of_theirs == 0 {
            continue;
        }
        if of_theirs == told.len() {
            noted.items.entry("episode".to_owned()).or_default().push(summary);
            continue;
        }
        told_together += 1;
        for episode in told.iter().filter(|episode| theirs.contains(episode)) {
            transaction.prepare_cached(UNTELL)?.execute([*episode, summary])?;
        }
    }
    Ok(told_together)
}

/// The fact that stood for both is as it was, as far as nothing else changed it.
fn part_facts(transaction: &Connection, joined: &JoinedFact, noted: &Noted) -> Outcome<()> {
    let JoinedFact { theirs, kept, last_used_at, confidence, pinned, sources, names } = joined;
    let before = params![theirs, kept, last_used_at, confidence, pinned];
    transaction.prepare_cached(AS_BEFORE)?.execute(before)?;
    transaction.prepare_cached(SAME_ENTRY)?.execute([theirs, kept])?;
    for source in sources {
        transaction.prepare_cached(DROP_SOURCE)?.execute([source, kept])?;
    }
    for name in names {
        let same = noted.names.iter().find(|pair| pair[0] == *name).map_or(*name, |pair| pair[1]);
        transaction.prepare_cached(DROP_MENTION)?.execute([same, *kept])?;
    }
    Ok(())
}

/// A fact of the one whose place a fact of the other took is current again, unless it is said by another one.
fn bring_back_facts(transaction: &Connection, pair: [i64; 2], change: Change<'_>) -> Outcome<()> {
    let replaced: Vec<i64> = transaction
        .prepare_cached(REPLACED)?
        .query_map(pair, |row| row.get(0))?
        .collect::<backend::Result<_>>()?;
    for fact in replaced {
        if transaction.prepare_cached(BRING_BACK)?.execute([fact])? > 0 {
            let name = audit::item_name(ItemKind::Fact, fact);
            audit::append(transaction, change, "fact.unsupersede", &name, None, None)?;
        }
        transaction.prepare_cached(STAND_ALONE)?.execute([fact])?;
    }
    Ok(())
}

/// Each knows their own names again; what stays with one and mentions a name of the other gets a name of its own.
fn part_names(
    transaction: &Connection,
    pair: [UserNumber; 2],
    noted: &Noted,
    change: Change<'_>,
) -> Outcome<()> {
    let [from, into] = pair.map(UserNumber::get);
    for name in noted.items.get("entity").into_iter().flatten() {
        transaction.prepare_cached(RETURN_ALIASES)?.execute([*name, from, into])?;
    }
    for [name, same] in &noted.names {
        transaction.prepare_cached(NOT_OF)?.execute([*same, from])?;
        transaction.prepare_cached(NOT_OF)?.execute([*name, into])?;
    }
    let had: HashSet<&String> = noted.aliases.iter().collect();
    let aliases: Vec<String> = transaction
        .prepare(ALIASES_OF)?
        .query_map([from, into], |row| row.get(0))?
        .collect::<backend::Result<_>>()?;
    for alias in aliases.iter().filter(|alias| !had.contains(&key([alias, ""]))) {
        transaction.prepare_cached(DROP_ALIAS)?.execute(params![into, alias])?;
    }
    for [owner, other] in [[pair[0], pair[1]], [pair[1], pair[0]]] {
        let crossed: Vec<(i64, i64, i64, String)> = transaction
            .prepare(CROSSED)?
            .query_map([owner.get(), other.get()], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })?
            .collect::<backend::Result<_>>()?;
        for (entity, number, item, name) in crossed {
            let Some(kind) = ItemKind::from_number(number) else { continue };
            transaction.prepare_cached(DROP_CROSSED)?.execute([entity, number, item])?;
            entities::note(transaction, owner, (kind, item), &[name], change)?;
        }
    }
    Ok(())
}

/// Speakers, what was taken back, entries of files, counters, tasks, the zone, and the users themselves.
fn give_back_the_rest(
    transaction: &Connection,
    pair: [UserNumber; 2],
    noted: &Noted,
) -> Outcome<()> {
    let [from, into] = pair.map(UserNumber::get);
    let spoken = ChunkKey::all_of(pair[1], ItemKind::Message);
    let [first, last] = [spoken.start(), spoken.end()].map(|id| ChunkKey::from_row(*id).text());
    let speakers: Vec<(String, String)> = transaction
        .prepare("select word, name from speaker where user_id = ?1")?
        .query_map([from], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<backend::Result<_>>()?;
    for (word, name) in speakers {
        if !noted.speakers.contains(&key([&word, &name])) {
            let asked = params![into, word, name, first, last];
            transaction.prepare_cached(DROP_SPEAKER)?.execute(asked)?;
        }
    }
    let graves: Vec<(i64, Vec<u8>, i64)> = transaction
        .prepare("select kind, key, at from grave where user_id = ?1")?
        .query_map([from], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<backend::Result<_>>()?;
    for (kind, grave, at) in graves {
        let name = hex(&grave);
        let asked = params![into, kind, grave, at];
        match noted.graves.iter().find(|(of, key, _)| *of == kind && *key == name) {
            None => transaction.prepare_cached(DROP_GRAVE)?.execute(asked)?,
            Some((_, _, before)) => transaction
                .prepare_cached(GRAVE_BEFORE)?
                .execute(params![into, kind, grave, at, before])?,
        };
    }
    for sql in COUNTERS {
        transaction.prepare_cached(sql)?.execute([from, into])?;
    }
    let suffix = format!(" of user {from}");
    transaction.execute(TASK_NAMES, params![from, suffix, format!("%{suffix}")])?;
    if noted.gave_zone {
        transaction.execute(TAKE_ZONE, [from, into])?;
    }
    transaction.execute(STAND_AGAIN, [from])?;
    for follower in &noted.followers {
        transaction.prepare_cached(FOLLOW_AGAIN)?.execute([*follower, from, into])?;
    }
    let [old, new] = pair.map(|user| file_label(transaction, user));
    let (old, new) = (old?, new?);
    transaction.execute(RETURN_ENTRIES, params![old, new, from])?;
    Ok(())
}

/// Identities go back that are still the other's.
fn give_back_identities(
    transaction: &Connection,
    [from, into]: [UserNumber; 2],
    noted: &Noted,
) -> Outcome<()> {
    let linked: Vec<(String, String)> = transaction
        .prepare("select channel, native_id from identity where user_id = ?1")?
        .query_map([into.get()], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<backend::Result<_>>()?;
    for (channel, native_id) in linked {
        let hash = key([&channel, &native_id]);
        if noted.linked.contains(&hash) {
            let asked = params![channel, native_id, from.get()];
            transaction.prepare_cached(LINK_BACK)?.execute(asked)?;
        } else if let Some((_, first, last)) = noted.seen.iter().find(|seen| seen.0 == hash) {
            let asked = params![channel, native_id, from.get(), first, last];
            transaction.prepare_cached(SEE_AGAIN)?.execute(asked)?;
            transaction.prepare_cached(UNLINK)?.execute(params![channel, native_id])?;
        }
    }
    Ok(())
}

const MERGED_USER: &str = "
    select n.id, n.merged_into, u.name, n.gone_at from \"user\" n join \"user\" u on u.id = n.merged_into
    where n.name = ?1 and u.gone_at is null";
const NAME: &str = "select name from \"user\" where id = ?1";
const SUMMARIES: &str = "
    select id from episode where user_id = ?1 and state = 'compressed' order by id";
const TOLD: &str = "
    with recursive each (episode, last) as (
      select first, last from covered where summary = ?1
      union all select episode + 1, last from each where episode < last)
    select episode from each union select id from episode where compressed_into = ?1";
const UNTELL: &str =
    "update episode set compressed_into = null where id = ?1 and compressed_into = ?2";
// ?1 is the fact that goes back, ?2 the one that stood for both.
const AS_BEFORE: &str = "
    update fact set
      uses = uses - coalesce((select o.uses from fact o where o.id = ?1), 0),
      last_used_at = case when last_used_at = (select o.last_used_at from fact o where o.id = ?1)
        then ?3 else last_used_at end,
      confidence = case when confidence = (select o.confidence from fact o where o.id = ?1)
        then ?4 else confidence end,
      pinned = case when pinned = (select o.pinned from fact o where o.id = ?1)
        then ?5 else pinned end
    where id = ?2";
const SAME_ENTRY: &str = "
    delete from file_entry where fact = ?2 and exists (
      select 1 from file_entry o
      where o.fact = ?1 and o.file = file_entry.file and o.entry = file_entry.entry
        and o.at = file_entry.at)";
const DROP_SOURCE: &str = "delete from source where id = ?1 and kind = 1 and item = ?2";
const DROP_MENTION: &str = "delete from mention where entity = ?1 and kind = 1 and item = ?2";
const REPLACED: &str = "
    select f.id from fact f join fact s on s.id = f.superseded_by
    where f.user_id = ?1 and s.user_id = ?2 order by f.id";
const BRING_BACK: &str = "
    update fact set retired_at = null, valid_to = valid_to_before, valid_to_before = null
    where id = ?1 and not exists (
      select 1 from fact o
      where o.user_id = fact.user_id and o.norm_hash = fact.norm_hash and o.retired_at is null)";
const STAND_ALONE: &str = "update fact set superseded_by = null where id = ?1";
// Of the one (?1) what names something of the other (?2).
const PART: [&str; 4] = [
    "update procedure set superseded_by = null, retired_at = null
     where user_id = ?1 and superseded_by in (select o.id from procedure o where o.user_id = ?2)",
    "delete from conflict
     where fact in (select f.id from fact f where f.user_id = ?1)
       and other in (select o.id from fact o where o.user_id = ?2)",
    "delete from summary_session
     where summary in (select e.id from episode e where e.user_id = ?1)
       and session in (select s.id from session s where s.user_id = ?2)",
    "update episode set session = (
       select min(t.session) from summary_session t where t.summary = episode.id)
     where user_id = ?1 and session in (select s.id from session s where s.user_id = ?2)
       and exists (select 1 from summary_session t where t.summary = episode.id)",
];
const RETURN_ALIASES: &str = "
    update entity_alias set user_id = ?2
    where entity = ?1 and user_id = ?3 and not exists (
      select 1 from entity_alias o where o.user_id = ?2 and o.alias = entity_alias.alias)";
// Whose a thing is, by its kind.
macro_rules! owner_of_mention {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            " case m.kind when 0 then m.item >> 35
                when 1 then (select f.user_id from fact f where f.id = m.item)
                when 2 then (select p.user_id from procedure p where p.id = m.item)
                when 3 then (select v.user_id from event v where v.id = m.item)
                else (select e.user_id from episode e where e.id = m.item) end",
            $after
        )
    };
}
const NOT_OF: &str = owner_of_mention!(
    "delete from mention where entity = ?1 and (kind, item) in (
       select m.kind, m.item from mention m where",
    " = ?2 and m.entity = ?1)"
);
const CROSSED: &str = owner_of_mention!(
    "select m.entity, m.kind, m.item, n.name from mention m join entity n on n.id = m.entity
     where",
    " = ?1 and n.user_id = ?2"
);
const DROP_CROSSED: &str = "delete from mention where entity = ?1 and kind = ?2 and item = ?3";
const ALIASES_OF: &str = "
    select a.alias from entity_alias a
      join entity_alias b on b.alias = a.alias and b.user_id = ?2
    where a.user_id = ?1";
const DROP_ALIAS: &str = "delete from entity_alias where user_id = ?1 and alias = ?2";
const DROP_SPEAKER: &str = "
    delete from speaker where user_id = ?1 and word = ?2 and name = ?3 and not exists (
      select 1 from message where id between ?4 and ?5 and speaker = ?3)";
// One that was buried again since is the other's own.
const DROP_GRAVE: &str =
    "delete from grave where user_id = ?1 and kind = ?2 and key = ?3 and at = ?4";
const GRAVE_BEFORE: &str =
    "update grave set at = ?5 where user_id = ?1 and kind = ?2 and key = ?3 and at = ?4";
const COUNTERS: [&str; 2] = [
    "update counter set value = value - (
       select o.value from counter o
       where o.user_id = ?1 and o.day = counter.day and o.name = counter.name)
     where user_id = ?2 and exists (
       select 1 from counter o
       where o.user_id = ?1 and o.day = counter.day and o.name = counter.name)",
    "delete from counter where user_id = ?2 and value = 0 and exists (
       select 1 from counter o
       where o.user_id = ?1 and o.day = counter.day and o.name = counter.name)",
];
const TASK_NAMES: &str = "
    update task set external_id = replace(external_id, ?2, '')
    where user_id = ?1 and external_id like ?3";
const TAKE_ZONE: &str = "
    update \"user\" set timezone = null
    where id = ?2 and timezone = (select o.timezone from \"user\" o where o.id = ?1)";
const STAND_AGAIN: &str = "update \"user\" set gone_at = null, merged_into = null where id = ?1";
const FOLLOW_AGAIN: &str =
    "update \"user\" set merged_into = ?2 where id = ?1 and merged_into = ?3";
const RETURN_ENTRIES: &str = "
    update file_entry set file = ?1
    where file = ?2 and fact in (select f.id from fact f where f.user_id = ?3)";
const LINK_BACK: &str = "update identity set user_id = ?3 where channel = ?1 and native_id = ?2";
const SEE_AGAIN: &str = "
    insert into seen_identity (channel, native_id, chat, user_id, first_at, last_at)
    select channel, native_id, chat, ?3, ?4, ?5 from identity where channel = ?1 and native_id = ?2";
const UNLINK: &str = "delete from identity where channel = ?1 and native_id = ?2";
