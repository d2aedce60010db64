//! People as a whole: merging one into another and taking it back, forgetting one for good.

mod conversations;
mod knowledge;
mod noted;
mod texts;
mod unmerge;

use jiff::Timestamp;
use rusqlite::params;

use self::texts::Texts;
use super::{Memory, Outcome, Refusal, audit, forgetting, rows};
use crate::memory::backend::{self, Both, Connection, OptionalExtension};
use crate::memory::{
    Admin, Change, Chunker, Forgotten, Known, MergedUser, Moved, Passed, Uid, Unmerged, UserNumber,
};
use crate::{Error, Result};

impl Memory {
    /// Everybody who is another user now.
    pub fn merged_users(&self, _admin: Admin) -> Result<Vec<MergedUser>> {
        let read = || -> backend::Result<_> {
            self.asking(Admin)
                .prepare_cached(MERGED)?
                .query_map([], |row| {
                    let (name, into) = (row.get(0)?, row.get(1)?);
                    Ok(MergedUser { name, into, at: rows::time(row, 2)? })
                })?
                .collect()
        };
        read().map_err(|source| self.failed(source))
    }

    /// What a user is known by; fails for one who is not there.
    pub fn known_by(&self, _admin: Admin, user: UserNumber) -> Result<Known> {
        let known = known_by(self.asking(Admin), user).map_err(|source| self.failed(source))?;
        known.ok_or_else(|| missing(user))
    }

    /// How much a merge would move.
    pub fn merge_plan(&self, _admin: Admin, from: UserNumber, into: UserNumber) -> Result<Moved> {
        must_be_two(from, into)?;
        count(self.asking(Admin), from, into).map_err(|source| self.failed(source))
    }

    /// Makes everything of one user another's, in one transaction; the name leads there from now on.
    pub fn merge_users(
        &mut self,
        _admin: Admin,
        [from, into]: [UserNumber; 2],
        chunker: Chunker<'_>,
        change: Change<'_>,
    ) -> Result<Moved> {
        must_be_two(from, into)?;
        self.removing(|memory| {
            memory.write(Admin, |transaction| merge(transaction, [from, into], chunker, change))
        })
    }

    /// Who a user was merged into, since when, and how much was moved then; fails where that cannot be taken back.
    pub fn unmerge_plan(
        &self,
        _admin: Admin,
        name: &str,
    ) -> Result<(UserNumber, MergedUser, Moved)> {
        unmerge::plan(self.asking(Admin), name).map_err(|refusal| match refusal {
            Refusal::Rule(error) => error,
            Refusal::Database(source) => self.failed(source),
        })
    }

    /// Takes a merge back, in one transaction: both have again what was theirs. What came since stays with the one.
    pub fn unmerge_user(
        &mut self,
        _admin: Admin,
        name: &str,
        chunker: Chunker<'_>,
        change: Change<'_>,
    ) -> Result<Unmerged> {
        self.removing(|memory| {
            memory.write(Admin, |transaction| unmerge::unmerge(transaction, name, chunker, change))
        })
    }

    /// Erases everything of a user with the name and those of users merged into them. What is shared stays, without
    /// the words it came from. The sessions named are no longer known to have been taken in.
    pub fn forget_person(
        &mut self,
        _admin: Admin,
        user: UserNumber,
        sessions: &[String],
        change: Change<'_>,
    ) -> Result<Forgotten> {
        if user == UserNumber::SHARED {
            return Err(missing(user));
        }
        self.removing(|memory| {
            memory.without_a_trace(Admin, |transaction| {
                if !transaction.prepare_cached(IS_THERE)?.exists([user.get()])? {
                    return Err(missing(user).into());
                }
                let forgotten = forgetting::erase_user(transaction, user, change)?;
                for session in sessions {
                    transaction.prepare_cached(NOT_TAKEN)?.execute([session])?;
                }
                for number in numbers_of(transaction, user)? {
                    transaction.execute(DROP_COUNTERS, [number.get()])?;
                    noted::forget(transaction, number)?;
                }
                forget_names(transaction, user, change)?;
                let item = format!("user:{}", user.get());
                audit::append(transaction, change, FORGET, &item, None, None)?;
                Ok(forgotten)
            })
        })
    }

    /// The users with one of these ids of whom something may be here: a person who was forgotten at the time, by this
    /// very deed, is not among them.
    pub fn to_forget_again(
        &self,
        _admin: Admin,
        uids: &[Uid],
        at: Timestamp,
    ) -> Result<Vec<UserNumber>> {
        let read = || -> backend::Result<_> {
            let mut found = Vec::new();
            for uid in uids {
                let number: Option<i64> = self
                    .asking(Admin)
                    .prepare_cached(BY_UID)?
                    .query_row([uid.as_bytes()], |row| row.get(0))
                    .optional()?;
                let Some(number) = number else { continue };
                let deed = params![FORGET, format!("user:{number}"), at.as_millisecond()];
                let is_done = self.asking(Admin).prepare_cached(IS_FORGOTTEN)?.exists(deed)?;
                if !is_done && !found.contains(&UserNumber::new(number)) {
                    found.push(UserNumber::new(number));
                }
            }
            Ok(found)
        };
        read().map_err(|source| self.failed(source))
    }

    /// The memory that this is, whatever its profile is called.
    pub fn home_id(&self, _admin: Admin) -> Result<String> {
        self.asking(Admin)
            .query_row(HOME_ID, [], |row| row.get(0))
            .map_err(|source| self.failed(source))
    }

    /// Notes that something was passed to or taken over from another profile; `text` goes in as a hash.
    pub fn note_handover(
        &mut self,
        _admin: Admin,
        noted: &Passed<'_>,
        change: Change<'_>,
    ) -> Result<()> {
        self.write(Admin, |transaction| {
            let (action, way) = match noted.given {
                true => ("handover.give", "to"),
                false => ("handover.take", "from"),
            };
            let item = format!("{way} profile {}", noted.profile);
            let after = audit::hash_of(noted.text);
            audit::append(transaction, change, action, &item, None, Some(&after))
        })
    }
}

/// A user and everybody who was merged into them: what was kept under their numbers is known by those.
pub(super) fn numbers_of(
    connection: &Connection,
    user: UserNumber,
) -> backend::Result<Vec<UserNumber>> {
    let mut numbers = vec![user];
    let mut statement = connection.prepare_cached(NUMBERS)?;
    for number in statement.query_map([user.get()], |row| row.get(0).map(UserNumber::new))? {
        numbers.push(number?);
    }
    Ok(numbers)
}

fn must_be_two(from: UserNumber, into: UserNumber) -> Result<()> {
    let why = match (from, into) {
        (UserNumber::OWNER, _) => {
            "the owner cannot be merged into another user: merge the other user into the owner"
        }
        (UserNumber::SHARED, _) | (_, UserNumber::SHARED) => "the shared user is not a single user",
        (from, into) if from == into => "they are the same user",
        _ => return Ok(()),
    };
    let item = format!("user:{}", from.get());
    Err(Error::ItemRefused { doing: "merge", item, why: why.to_owned() })
}

fn missing(user: UserNumber) -> Error {
    Error::NoSuchItem { item: format!("user:{}", user.get()) }
}

fn known_by(connection: &Connection, user: UserNumber) -> backend::Result<Option<Known>> {
    let mut known: Option<Known> = None;
    let mut statement = connection.prepare_cached(KNOWN_BY)?;
    let mut found = statement.query([user.get()])?;
    while let Some(row) = found.next()? {
        let (uid, name, since) = (rows::uid(&row, 0)?, row.get(1)?, rows::time(&row, 2)?);
        match &mut known {
            None => {
                let (uids, names) = (vec![uid], vec![name]);
                known = Some(Known { uids, names, sessions: Vec::new(), since });
            }
            Some(known) => {
                known.uids.push(uid);
                known.names.push(name);
                known.since = known.since.min(since);
            }
        }
    }
    if let Some(known) = &mut known {
        let mut sessions = connection.prepare_cached(SESSIONS_OF)?;
        let ids = sessions.query_map([user.get()], |row| row.get(0))?;
        known.sessions = ids.collect::<backend::Result<_>>()?;
    }
    Ok(known)
}

fn count(connection: &Connection, from: UserNumber, into: UserNumber) -> backend::Result<Moved> {
    if !connection.prepare_cached(IS_THERE)?.exists([from.get()])? {
        return Ok(Moved::default());
    }
    let of = |sql: &str| -> backend::Result<u64> {
        let count: i64 =
            connection.prepare_cached(sql)?.query_row([from.get()], |row| row.get(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    };
    let joined: i64 = connection
        .prepare_cached(BOTH_HOLD)?
        .query_row([from.get(), into.get()], |row| row.get(0))?;
    Ok(Moved {
        sessions: of("select count(*) from session where user_id = ?1")?,
        episodes: of("select count(*) from episode where user_id = ?1")?,
        messages: of(MESSAGES_OF)?,
        facts: of("select count(*) from fact where user_id = ?1")?,
        joined: u64::try_from(joined).unwrap_or(0),
        procedures: of("select count(*) from procedure where user_id = ?1")?,
        events: of("select count(*) from event where user_id = ?1")?,
        tasks: of("select count(*) from task where user_id = ?1")?,
        proposals: of("select count(*) from proposal where user_id = ?1")?,
        receipts: of("select count(*) from receipt where user_id = ?1")?,
        names: of("select count(*) from entity where user_id = ?1")?,
        identities: of(IDENTITIES_OF)?,
    })
}

fn merge(
    transaction: &Connection,
    pair: [UserNumber; 2],
    chunker: Chunker<'_>,
    change: Change<'_>,
) -> Outcome<Moved> {
    let [from, into] = pair;
    for user in pair {
        if !transaction.prepare_cached(IS_THERE)?.exists([user.get()])? {
            return Err(missing(user).into());
        }
    }
    let moved = count(transaction, from, into)?;
    let mut noted = noted::look(transaction, pair)?;
    let mut texts = Texts::new(transaction, chunker);
    let sessions = conversations::move_all(transaction, pair, &mut texts, &mut noted)?;
    knowledge::move_all(transaction, pair, &mut texts, (&mut noted, change))?;
    conversations::move_receipts(transaction, pair, &sessions)?;
    texts.finish()?;
    texts::clear(transaction, from)?;
    for sql in MOVE_THE_REST {
        transaction.prepare_cached(sql)?.execute([from.get(), into.get()])?;
    }
    let at = change.at.as_millisecond();
    transaction.execute(LINK_SEEN, [from.get(), into.get(), at])?;
    transaction.execute("delete from seen_identity where user_id = ?1", [from.get()])?;
    let [old, new] = pair.map(|user| file_label(transaction, user));
    let (old, new) = (old?, new?);
    transaction.execute(MOVE_ENTRIES, [&new, &old])?;
    transaction.execute("delete from file_entry where file = ?1", [&old])?;
    transaction.execute(LEAD_ON, [from.get(), into.get(), at])?;
    follow(transaction, pair)?;
    noted.moved = moved;
    noted::keep(transaction, from, &noted)?;
    // Answers to requests name what has another number now.
    transaction.execute_batch("delete from idempotency")?;
    let item = format!("user:{} into user:{}", from.get(), into.get());
    audit::append(transaction, change, "user.merge", &item, None, None)?;
    Ok(moved)
}

/// On a server each row says whose it is: what belongs to a thing follows it.
fn follow(transaction: &Connection, pair: [UserNumber; 2]) -> Outcome<()> {
    for both in &FOLLOW {
        transaction.prepare_both(both)?.execute(pair.map(UserNumber::get))?;
    }
    Ok(())
}

/// What the memory calls the USER.md of a user.
fn file_label(transaction: &Connection, user: UserNumber) -> backend::Result<String> {
    if user == UserNumber::OWNER {
        return Ok("user".to_owned());
    }
    let name: String =
        transaction
            .query_row("select name from \"user\" where id = ?1", [user.get()], |row| row.get(0))?;
    Ok(format!("user:{name}"))
}

/// The row of a person stays, so that nobody gets the number; nothing in it says who it was. The owner stays the owner.
fn forget_names(transaction: &Connection, user: UserNumber, change: Change<'_>) -> Outcome<()> {
    let known = known_by(transaction, user)?;
    let at = change.at.as_millisecond();
    for uid in known.iter().flat_map(|known| &known.uids) {
        let name = format!("forgotten:{uid}");
        transaction.prepare_cached(FORGET_NAME)?.execute(params![uid.as_bytes(), name, at])?;
    }
    transaction.execute(FORGET_ZONE, [user.get()])?;
    Ok(())
}

/// What the chain calls the deed.
const FORGET: &str = "user.forget";

const MERGED: &str = "
    select n.name, u.name, n.gone_at from \"user\" n join \"user\" u on u.id = n.merged_into
    where u.gone_at is null order by n.name";
const KNOWN_BY: &str = "
    select uid, name, created_at from \"user\"
    where (id = ?1 and id <> 0 and gone_at is null) or merged_into = ?1
    order by id <> ?1, id";
const SESSIONS_OF: &str = "
    select distinct session_id from session where user_id = ?1 order by session_id";
const IS_THERE: &str = "select 1 from \"user\" where id = ?1 and id <> 0 and gone_at is null";
pub(super) const NUMBERS: &str = "select id from \"user\" where merged_into = ?1 order by id";
const BY_UID: &str = "select id from \"user\" where uid = ?1 and id <> 0 and gone_at is null";
const IS_FORGOTTEN: &str = "select 1 from audit where action = ?1 and item = ?2 and at = ?3";
const HOME_ID: &str = "select value from meta where key = 'home_id'";
const BOTH_HOLD: &str = "
    select count(*) from fact a join fact b on b.norm_hash = a.norm_hash
    where a.user_id = ?1 and b.user_id = ?2 and a.retired_at is null and b.retired_at is null";
const MESSAGES_OF: &str = "
    select count(*) from session s
      join message m on m.id between s.id * 4096 and s.id * 4096 + 4095
    where s.user_id = ?1";
const IDENTITIES_OF: &str = "
    select (select count(*) from identity where user_id = ?1)
      + (select count(*) from seen_identity where user_id = ?1)";
// ?1 is who was, ?2 who is now. What is copied stays with the old number too, which nobody reads by: taking the merge
// back finds it there.
const MOVE_THE_REST: [&str; 11] = [
    "insert into speaker (user_id, word, name)
     select ?2, word, name from speaker where user_id = ?1
     on conflict do nothing",
    "update counter set value = value + (
       select o.value from counter o
       where o.user_id = ?1 and o.day = counter.day and o.name = counter.name)
     where user_id = ?2 and exists (
       select 1 from counter o
       where o.user_id = ?1 and o.day = counter.day and o.name = counter.name)",
    "insert into counter (day, name, user_id, value)
     select day, name, ?2, value from counter where user_id = ?1
     on conflict do nothing",
    "update grave set at = (
       select o.at from grave o
       where o.user_id = ?1 and o.kind = grave.kind and o.key = grave.key)
     where user_id = ?2 and exists (
       select 1 from grave o
       where o.user_id = ?1 and o.kind = grave.kind and o.key = grave.key and o.at > grave.at)",
    "insert into grave (kind, user_id, key, at, actor, item)
     select kind, ?2, key, at, actor, item from grave where user_id = ?1
     on conflict do nothing",
    "update task set external_id = external_id || ' of user ' || ?1
     where user_id = ?1 and external_id in (select o.external_id from task o where o.user_id = ?2)",
    "update task set user_id = ?2 where user_id = ?1",
    "update proposal set user_id = ?2 where user_id = ?1 and not exists (
       select 1 from proposal o
       where o.user_id = ?2 and o.kind = proposal.kind and o.body = proposal.body)",
    "update job set user_id = ?2 where user_id = ?1",
    "update identity set user_id = ?2 where user_id = ?1",
    "update \"user\" set timezone = coalesce(timezone, (select timezone from \"user\" where id = ?1))
     where id = ?2",
];
// Whoever was merged is known from now on: their words go to who they are now.
const LINK_SEEN: &str = "
    insert into identity (channel, native_id, user_id, linked_at, chat)
    select channel, native_id, ?2, ?3, chat from seen_identity where user_id = ?1
    on conflict do nothing";
const NOTHING: &str = "select 1 where ?1 = -1 and ?2 = -1";
const FOLLOW: [Both; 7] = [
    Both {
        file: NOTHING,
        server: "update source set user_id = coalesce(hermes.owner_of(kind, item), -1)
                 where user_id in (?1, ?2)",
    },
    Both {
        file: NOTHING,
        server: "update revision set user_id = coalesce(hermes.owner_of(kind % 100, item), -1)
                 where user_id in (?1, ?2)",
    },
    Both {
        file: NOTHING,
        server: "update mention set user_id = coalesce(hermes.owner_of(kind, item), -1)
                 where user_id in (?1, ?2)",
    },
    Both {
        file: NOTHING,
        server: "update conflict set user_id = coalesce(hermes.owner_of(1, fact), -1)
                 where user_id in (?1, ?2)",
    },
    Both {
        file: NOTHING,
        server: "update file_entry set user_id = coalesce(hermes.owner_of(1, fact), -1)
                 where user_id in (?1, ?2)",
    },
    Both {
        file: NOTHING,
        server: "update covered set user_id = coalesce(hermes.owner_of(4, summary), -1)
                 where user_id in (?1, ?2)",
    },
    Both {
        file: NOTHING,
        server: "update summary_session set user_id = coalesce(hermes.owner_of(4, summary), -1)
                 where user_id in (?1, ?2)",
    },
];
const MOVE_ENTRIES: &str = "
    insert into file_entry (fact, file, entry, at)
    select fact, ?1, entry, at from file_entry where file = ?2
    on conflict do nothing";
const LEAD_ON: &str = "
    update \"user\" set gone_at = coalesce(gone_at, ?3), merged_into = ?2
    where id = ?1 or merged_into = ?1";
const NOT_TAKEN: &str = "delete from taken where session_id = ?1";
const DROP_COUNTERS: &str = "delete from counter where user_id = ?1";
const FORGET_NAME: &str = "
    update \"user\" set name = ?2, timezone = null, merged_into = null, gone_at = ?3
    where uid = ?1 and id > 1";
const FORGET_ZONE: &str = "update \"user\" set timezone = null where id = ?1";
