//! Users and the identities they come in with.

use jiff::Timestamp;
use rusqlite::params;

use super::{Memory, audit, new_uid, rows};
use crate::memory::backend::{self, Connection, OptionalExtension, Put, Row};
use crate::memory::{Admin, Change, Chat, Identity, MOST_USERS, User, UserNumber};
use crate::{Error, Result};

const CHATS: [(&str, Chat); 2] = [("direct", Chat::Direct), ("group", Chat::Group)];

impl Memory {
    /// Every user, the owner first; without the one that stands for everybody.
    pub fn users(&self, _admin: Admin) -> Result<Vec<User>> {
        let read = || -> backend::Result<_> {
            self.asking(Admin).prepare_cached(EVERY)?.query_map([], user_of)?.collect()
        };
        read().map_err(|source| self.failed(source))
    }

    /// The user with this name.
    pub fn user(&self, name: &str) -> Result<Option<User>> {
        by_name(self.asking(Admin), name).map_err(|source| self.failed(source))
    }

    /// The user with this name, made if there is none.
    pub fn user_or_new(&mut self, name: &str, change: Change<'_>) -> Result<UserNumber> {
        self.write(Admin, |transaction| {
            if let Some(known) = by_name(transaction, name)? {
                return Ok(known.number);
            }
            if name.is_empty() {
                let why = "a name must contain at least one letter".to_owned();
                return Err(Error::ItemRefused { doing: "add", item: "user".into(), why }.into());
            }
            let number: i64 =
                transaction.query_row("select max(id) + 1 from \"user\"", [], |row| row.get(0))?;
            if number >= MOST_USERS {
                return Err(Error::Full { what: "the list of users" }.into());
            }
            let uid = new_uid(change.at);
            let at = change.at.as_millisecond();
            transaction.execute(ADD, params![number, uid.as_bytes(), name, at])?;
            let item = format!("user:{number}");
            audit::append(
                transaction,
                change,
                "user.add",
                &item,
                None,
                Some(&audit::hash_of(name)),
            )?;
            Ok(UserNumber::new(number))
        })
    }

    /// The user behind an identity of a channel.
    pub fn user_of_identity(&self, channel: &str, native_id: &str) -> Result<Option<UserNumber>> {
        self.asking(Admin)
            .query_row(BY_IDENTITY, [channel, native_id], |row| row.get(0).map(UserNumber::new))
            .optional()
            .map_err(|source| self.failed(source))
    }

    /// Says which user an identity of a channel is.
    pub fn link_identity(
        &mut self,
        channel: &str,
        native_id: &str,
        user: UserNumber,
        change: Change<'_>,
    ) -> Result<()> {
        self.write(Admin, |transaction| {
            let number = user.get();
            let item = format!("user:{number}");
            let is_known = transaction.prepare_cached(IS_KNOWN)?.exists([number])?;
            if !is_known {
                return Err(Error::NoSuchItem { item }.into());
            }
            let at = change.at.as_millisecond();
            transaction.put(&LINK, params![channel, native_id, number, at])?;
            transaction.execute(FORGET_SEEN, [channel, native_id])?;
            let identity = audit::hash_of(&format!("{channel}\n{native_id}"));
            audit::append(transaction, change, "identity.link", &item, None, Some(&identity))
        })
    }

    /// Forgets which user an identity of a channel is, and says who it was; none if it was nobody.
    pub fn unlink_identity(
        &mut self,
        channel: &str,
        native_id: &str,
        change: Change<'_>,
    ) -> Result<Option<UserNumber>> {
        self.write(Admin, |transaction| {
            let linked: Option<i64> = transaction
                .prepare_cached(BY_IDENTITY)?
                .query_row([channel, native_id], |row| row.get(0))
                .optional()?;
            let Some(number) = linked else { return Ok(None) };
            transaction.execute(UNLINK, [channel, native_id])?;
            let identity = audit::hash_of(&format!("{channel}\n{native_id}"));
            let item = format!("user:{number}");
            audit::append(transaction, change, "identity.unlink", &item, Some(&identity), None)?;
            Ok(Some(UserNumber::new(number)))
        })
    }

    /// Every linked identity.
    pub fn identities(&self, _admin: Admin) -> Result<Vec<Identity>> {
        let read = || -> backend::Result<_> {
            self.asking(Admin).prepare_cached(LINKED)?.query_map([], identity_of)?.collect()
        };
        read().map_err(|source| self.failed(source))
    }

    /// Notes that an identity that is linked to nobody came in, and whose memory its words went to.
    pub fn note_identity(&mut self, identity: &Identity, now: Timestamp) -> Result<()> {
        let Identity { channel, native_id, chat, user, .. } = identity;
        self.write(Admin, |transaction| {
            if transaction.prepare_cached(BY_IDENTITY)?.exists([channel, native_id])? {
                transaction.execute(FORGET_SEEN, [channel, native_id])?;
                return Ok(());
            }
            if !transaction.prepare_cached(HAS_ROW)?.exists([user.get()])? {
                return Err(Error::NoSuchItem { item: format!("user:{}", user.get()) }.into());
            }
            let (chat, at) = (rows::word(chat, &CHATS), now.as_millisecond());
            transaction.put(&NOTE, params![channel, native_id, chat, user.get(), at])?;
            Ok(())
        })
    }

    /// Every identity that came in and is linked to nobody.
    pub fn unlinked_identities(&self, _admin: Admin) -> Result<Vec<Identity>> {
        let read = || -> backend::Result<_> {
            self.asking(Admin).prepare_cached(SEEN)?.query_map([], identity_of)?.collect()
        };
        read().map_err(|source| self.failed(source))
    }

    /// Says which time zone a user lives in; none: the system's.
    pub fn set_timezone(
        &mut self,
        user: UserNumber,
        zone: Option<&str>,
        change: Change<'_>,
    ) -> Result<()> {
        self.write(Admin, |transaction| {
            let item = format!("user:{}", user.get());
            if transaction.execute(SET_ZONE, params![user.get(), zone])? == 0 {
                return Err(Error::NoSuchItem { item }.into());
            }
            let after = zone.map(audit::hash_of);
            audit::append(transaction, change, "user.timezone", &item, None, after.as_ref())
        })
    }
}

fn identity_of(row: &Row<'_>) -> backend::Result<Identity> {
    Ok(Identity {
        channel: row.get(0)?,
        native_id: row.get(1)?,
        chat: rows::choice(row, 2, &CHATS)?,
        user: UserNumber::new(row.get(3)?),
        at: rows::time(row, 4)?,
    })
}

fn by_name(connection: &Connection, name: &str) -> backend::Result<Option<User>> {
    connection.prepare_cached(BY_NAME)?.query_row([name], user_of).optional()
}

fn user_of(row: &Row<'_>) -> backend::Result<User> {
    Ok(User {
        number: UserNumber::new(row.get(0)?),
        uid: rows::uid(row, 1)?,
        name: row.get(2)?,
        timezone: row.get(3)?,
    })
}

// User 0 stands for everybody and has no name: nobody can log in as everybody.
const EVERY: &str = "
    select id, uid, name, timezone from \"user\" where id <> 0 and gone_at is null order by id";
// The name of somebody who was merged into another leads there.
const BY_NAME: &str = "
    select u.id, u.uid, u.name, u.timezone
    from \"user\" n join \"user\" u on u.id = coalesce(n.merged_into, n.id)
    where n.name = ?1 and n.id <> 0 and u.gone_at is null";
const IS_KNOWN: &str = "select 1 from \"user\" where id = ?1 and id <> 0 and gone_at is null";
const ADD: &str = "insert into \"user\" (id, uid, name, created_at) values (?1, ?2, ?3, ?4)";
const BY_IDENTITY: &str = "select user_id from identity where channel = ?1 and native_id = ?2";
// How they spoke when they were seen last is kept.
const LINK: Put = Put {
    change: "
    update identity set user_id = ?3, linked_at = ?4 where channel = ?1 and native_id = ?2",
    add: "
    insert into identity (channel, native_id, user_id, linked_at, chat)
    values (?1, ?2, ?3, ?4, coalesce(
      (select chat from seen_identity where channel = ?1 and native_id = ?2), 'direct'))",
};
const UNLINK: &str = "delete from identity where channel = ?1 and native_id = ?2";
const LINKED: &str = "
    select channel, native_id, chat, user_id, linked_at from identity order by channel, native_id";
const SEEN: &str = "
    select channel, native_id, chat, user_id, last_at from seen_identity
    order by channel, native_id";
const HAS_ROW: &str = "select 1 from \"user\" where id = ?1";
const NOTE: Put = Put {
    change: "
    update seen_identity
    set chat = ?3, user_id = ?4, last_at = case when last_at > ?5 then last_at else ?5 end
    where channel = ?1 and native_id = ?2",
    add: "
    insert into seen_identity (channel, native_id, chat, user_id, first_at, last_at)
    values (?1, ?2, ?3, ?4, ?5, ?5)",
};
const FORGET_SEEN: &str = "delete from seen_identity where channel = ?1 and native_id = ?2";
const SET_ZONE: &str = "update \"user\" set timezone = ?2 where id = ?1 and id <> 0";
