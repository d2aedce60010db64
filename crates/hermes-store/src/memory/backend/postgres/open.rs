//! A memory on a PostgreSQL server: its tables, the profile in it, and what there is to know about it.

use std::path::PathBuf;
use std::time::Duration;

use ::postgres::types::{ToSql, Type};
use rusqlite::params;
use sha2::{Digest, Sha256};

use super::near::{self, Near};
use super::{Server, members, new_key};
use crate::memory::backend::{self, Connection};
use crate::memory::{ADD_META, ADD_USER, Admin, Change, Memory, UserNumber, new_uid, transfer};
use crate::postgres::{Client, Delays, Notices, Pool, ServerError, retried};
use crate::sqlite::Access;
use crate::{Error, Result, Stop, migrate};

/// Which memory on a server the caller wants.
#[derive(Debug, Clone, Copy)]
pub struct ServerMemory<'a> {
    /// The connections to the server.
    pub pool: &'a Pool,
    /// The profile it belongs to.
    pub profile: &'a str,
    /// The name of the owner, for a memory that is made now.
    pub owner: &'a str,
    /// What it is opened for.
    pub access: Access,
    /// How long to wait for another who writes.
    pub wait: Duration,
}

/// What is known about a server.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ServerState {
    /// Its version, as it says it.
    pub version: String,
    /// The number of the newest schema file that was applied; 0 where there are no tables.
    pub schema: i64,
    /// The newest schema this build knows.
    pub known_schema: i64,
    /// The version of pgvector, if the database has it.
    pub pgvector: Option<String>,
    /// For which numbers of dimensions pgvector finds the nearest vectors; empty where this program does.
    pub pgvector_dims: Vec<usize>,
    /// As whom it is used.
    pub user: String,
    /// Whether this user is let past the rules that keep users apart: a superuser is.
    pub passes_rules: bool,
    /// Whether this user owns the tables, and so may change them.
    pub owns_tables: bool,
    /// How many profiles have a memory here, if this user may count them.
    pub profiles: Option<i64>,
    /// The names of the profiles that this user's role has.
    pub own_profiles: Vec<String>,
}

/// A state that is held on a server, as other connections can join it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedView {
    /// What the server calls the state.
    pub snapshot: String,
    /// The number of the profile there.
    pub profile: i64,
}

impl Memory {
    /// Opens the memory of a profile on a server, and makes it if it is not there. Tables are made in an empty
    /// database only; those of an earlier or later version are refused.
    pub fn on_server(wanted: ServerMemory<'_>, change: Change<'_>) -> Result<Memory> {
        let ServerMemory { pool, profile, access, wait, .. } = wanted;
        match schema_of(pool)? {
            None => drop(migrate_server(pool)?),
            Some(found) => refuse_other_schema(pool, found)?,
        }
        let path = PathBuf::from(format!("{}/{profile}", pool.address().place()));
        let (number, mark) = profile_number(pool, profile)?;
        let known = (number, mark, profile.to_owned());
        let server = Server::new(pool.clone(), known, works_as(pool)?, wait);
        let mut memory = Memory {
            connection: Box::new(server),
            path,
            access: Access::Write,
            water: None,
            stop: Stop::default(),
        };
        memory.begin_life(wanted, change)?;
        memory.access = access;
        Ok(memory)
    }

    /// Notes whose a new memory is; of many who come at once, one does it.
    fn begin_life(&mut self, wanted: ServerMemory<'_>, change: Change<'_>) -> Result<()> {
        let has_meta = |connection: &Connection| connection.prepare_cached(HAS_PROFILE)?.exists([]);
        if has_meta(self.asking(Admin)).map_err(|source| self.failed(source))? {
            return Ok(());
        }
        self.write(Admin, |transaction| {
            if has_meta(transaction)? {
                return Ok(());
            }
            let home_id = new_uid(change.at).to_string();
            let entries = [
                ("profile", wanted.profile),
                ("home_id", home_id.as_str()),
                ("owner", wanted.owner),
            ];
            for (key, value) in entries {
                transaction.execute(ADD_META, (key, value))?;
            }
            let at = change.at.as_millisecond();
            for (number, name) in [(UserNumber::SHARED, ""), (UserNumber::OWNER, wanted.owner)] {
                let uid = new_uid(change.at);
                transaction.execute(ADD_USER, params![number.get(), uid.as_bytes(), name, at])?;
            }
            Ok(())
        })
    }

    /// Whether the memory is on a server.
    pub fn is_on_server(&self) -> bool {
        self.connection.server().is_some()
    }

    /// Calls back after each change of this memory, whoever made it, as long as the notices are held; none for a
    /// file. They do not come through every pooler: look at [`Memory::pulse`] too.
    pub fn notices(&self, heard: impl Fn() + Send + 'static) -> Option<Notices> {
        let server = self.connection.server()?;
        Notices::of(server.pool(), server.mark(), heard).ok()
    }

    /// The state that a [`view`](Memory::view) holds on a server, for others to read the same; none for a file.
    /// They may take their time: the server does not end it for being idle.
    pub fn shared_view(&self) -> Result<Option<SharedView>> {
        let Some(server) = self.asking(Admin).server() else { return Ok(None) };
        let rows = server.ask(SHARE_STATE, &[]).map_err(|source| self.failed(source))?;
        let read = || rows.first().map(|row| row.try_get(0)).transpose();
        let snapshot: Option<String> = read().map_err(|source| self.failed(source.into()))?;
        Ok(snapshot.map(|snapshot| SharedView { snapshot, profile: server.profile() }))
    }

    /// Whether nothing was ever kept in this memory.
    pub fn is_blank(&self) -> Result<bool> {
        transfer::is_blank(self.asking(Admin)).map_err(|source| self.failed(source))
    }

    /// A number that is another one after every change of this memory, whoever made it; 0 for a file. It is
    /// what to look at where the server's notices do not come through.
    pub fn pulse(&self) -> Result<i64> {
        let Some(server) = self.asking(Admin).server() else { return Ok(0) };
        let asked: [(&(dyn ToSql + Sync), Type); 1] = [(&server.profile(), Type::INT8)];
        let rows = server.ask(PULSE, &asked).map_err(|source| self.failed(source))?;
        let read = || rows.first().map(|row| row.try_get(0)).transpose();
        let read = read().map_err(|source| self.failed(source.into()))?;
        Ok(read.unwrap_or(0))
    }
}

/// Whether a profile has a memory on a server, by its name; nothing is made.
pub fn has_profile(pool: &Pool, name: &str) -> Result<bool> {
    let named: [(&(dyn ToSql + Sync), Type); 1] = [(&name, Type::TEXT)];
    is_there(pool, (TELL_NAME, &named), (PROFILE, &named))
}

/// Whether a number is that of some profile on a server.
pub fn has_profile_number(pool: &Pool, number: i64) -> Result<bool> {
    let text = number.to_string();
    let told: [(&(dyn ToSql + Sync), Type); 1] = [(&text, Type::TEXT)];
    let asked: [(&(dyn ToSql + Sync), Type); 1] = [(&number, Type::INT8)];
    is_there(pool, (TELL_NUMBER, &told), (PULSE, &asked))
}

/// A statement with what it is given.
type Asked<'a> = (&'a str, &'a [(&'a (dyn ToSql + Sync), Type)]);

/// Whether a question has an answer, once the server was told who asks.
fn is_there(pool: &Pool, tell: Asked<'_>, question: Asked<'_>) -> Result<bool> {
    if schema_of(pool)?.is_none() {
        return Ok(false);
    }
    let mut client = pool.get()?;
    let mut look = || -> std::result::Result<bool, ::postgres::Error> {
        let mut step = client.transaction()?;
        step.query_typed(tell.0, tell.1)?;
        let found = step.query_typed_opt(question.0, question.1)?.is_some();
        step.commit()?;
        Ok(found)
    };
    look().map_err(|source| pool.address().refused(&source))
}

/// Gives the profile its new name on the server.
pub(super) fn rename(server: &Server, name: &str) -> backend::Result<()> {
    let told: [(&(dyn ToSql + Sync), Type); 2] =
        [(&server.profile(), Type::INT8), (&name, Type::TEXT)];
    server.change_rows(RENAME, &told)?;
    server.name.replace(name.to_owned());
    Ok(())
}

/// Applies every schema file that the database lacks, in one transaction that many may ask for at once; how many
/// there were. Done again from its beginning when the connection is cut, or another holds a table for too long.
pub fn migrate_server(pool: &Pool) -> Result<usize> {
    let delays = Delays::usual(new_key().unsigned_abs());
    retried(delays, &mut std::thread::sleep, &mut || migrate_once(pool))
}

fn migrate_once(pool: &Pool) -> Result<usize> {
    let mut client = pool.get()?;
    let apply = |client: &mut Client| -> std::result::Result<usize, Stopped> {
        client.batch_execute(LOCK)?;
        let found = applied(client)?.unwrap_or(0);
        if found > known() {
            return Err(Stopped::Newer(found));
        }
        let mut done = 0;
        for (number, text) in
            (1_i64..).zip(migrate::POSTGRES).skip(usize::try_from(found).unwrap_or(0))
        {
            client.batch_execute(text)?;
            let sum = checksum(text);
            let note: [(&(dyn ToSql + Sync), Type); 2] =
                [(&number, Type::INT8), (&sum, Type::TEXT)];
            client.execute_typed(NOTE_MIGRATION, &note)?;
            done += 1;
        }
        if (done > 0 || owns_tables(client)?)
            && let Some(statement) = near::statement(client)?
        {
            client.batch_execute(&statement)?;
        }
        client.batch_execute("commit")?;
        Ok(done)
    };
    let applied = apply(&mut client);
    applied.map_err(|stopped| {
        client.give_up();
        match stopped {
            Stopped::Server(source) => pool.address().refused(&source),
            Stopped::Newer(found) => newer(pool, found),
        }
    })
}

/// The statements that bring a database from one schema to the newest, for its owner to run; and the rights that the
/// role which works with it needs.
pub fn server_sql(pool: &Pool, from: i64, role: Option<&str>) -> Result<String> {
    let mut client = pool.get()?;
    let refused = |source: ::postgres::Error| pool.address().refused(&source);
    let near = near::statement(&mut client).map_err(refused)?;
    let mut text = String::from("begin;\n");
    let skipped = usize::try_from(from).unwrap_or(0);
    for (number, file) in (1_i64..).zip(migrate::POSTGRES).skip(skipped) {
        let sum = checksum(file);
        text.push_str(file);
        text.push_str(&format!(
            "insert into hermes.migration (number, checksum) values ({number}, '{sum}');\n"
        ));
    }
    text.push_str(&near.unwrap_or_default());
    if let Some(role) = role {
        text.push_str("\n-- The role that the daemons log in with.\n");
        text.push_str(&members::rights_of(role));
        text.push_str(&members::profiles_of(&mut client, from, role).map_err(refused)?);
    }
    text.push_str("commit;\n");
    Ok(text)
}

/// What is known about a server.
pub fn server_state(pool: &Pool) -> Result<ServerState> {
    let mut client = pool.get()?;
    let read = |client: &mut Client| -> std::result::Result<ServerState, ::postgres::Error> {
        let row = client.query_typed_one(STATE, &[])?;
        let schema = applied(client)?.unwrap_or(0);
        Ok(ServerState {
            version: row.try_get(0)?,
            schema,
            known_schema: known(),
            pgvector: row.try_get(1)?,
            pgvector_dims: Near::of(client)?.map_or_else(Vec::new, |near| near.dims().to_vec()),
            user: row.try_get(2)?,
            passes_rules: row.try_get(3)?,
            owns_tables: row.try_get(4)?,
            profiles: match schema {
                0 => None,
                _ => client.query_typed_one(PROFILES, &[])?.try_get(0)?,
            },
            own_profiles: match schema == known() {
                true => members::own_profiles(client)?,
                false => Vec::new(),
            },
        })
    };
    read(&mut client).map_err(|source| pool.address().refused(&source))
}

/// Why tables were not made.
enum Stopped {
    Server(::postgres::Error),
    Newer(i64),
}

impl From<::postgres::Error> for Stopped {
    fn from(source: ::postgres::Error) -> Stopped {
        Stopped::Server(source)
    }
}

fn known() -> i64 {
    migrate::newest(migrate::POSTGRES)
}

fn newer(pool: &Pool, found: i64) -> Error {
    ServerError::NewerSchema { server: pool.address().place(), found, known: known() }.into()
}

pub(super) fn refuse_other_schema(pool: &Pool, found: i64) -> Result<()> {
    if found > known() {
        return Err(newer(pool, found));
    }
    if found < known() {
        let server = pool.address().place();
        return Err(ServerError::OlderSchema { server, found, known: known() }.into());
    }
    Ok(())
}

fn schema_of(pool: &Pool) -> Result<Option<i64>> {
    let mut client = pool.get()?;
    applied(&mut client).map_err(|source| pool.address().refused(&source))
}

/// The number of the last schema file; none where there are no tables at all.
fn applied(client: &mut Client) -> std::result::Result<Option<i64>, ::postgres::Error> {
    let has_tables: bool = client.query_typed_one(HAS_TABLES, &[])?.try_get(0)?;
    if !has_tables {
        return Ok(None);
    }
    client.query_typed_one(APPLIED, &[])?.try_get(0).map(Some)
}

fn owns_tables(client: &mut Client) -> std::result::Result<bool, ::postgres::Error> {
    client.query_typed_one(OWNS_TABLES, &[])?.try_get(0)
}

fn checksum(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The number and the mark of a profile, which gets them if it has none.
fn profile_number(pool: &Pool, name: &str) -> Result<(i64, String)> {
    let mut client = pool.get()?;
    let mut find = || -> std::result::Result<(i64, String), ::postgres::Error> {
        let named: [(&(dyn ToSql + Sync), Type); 1] = [(&name, Type::TEXT)];
        let mut step = client.transaction()?;
        step.query_typed(TELL_NAME, &named)?;
        let mut found = step.query_typed_opt(PROFILE, &named)?;
        for _ in 0..MOST_TAKEN {
            if found.is_some() {
                break;
            }
            // A number that came with a restored memory is skipped: the next try gets the next one.
            step.execute_typed(ADD_PROFILE, &named)?;
            found = step.query_typed_opt(PROFILE, &named)?;
        }
        let found = match found {
            Some(found) => found,
            None => step.query_typed_one(PROFILE, &named)?,
        };
        let number = (found.try_get(0)?, found.try_get(1)?);
        step.commit()?;
        Ok(number)
    };
    find().map_err(|source| pool.address().refused(&source))
}

/// The role to work as, for one that the rules of the tables do not hold for: a superuser would see the rows of
/// every profile.
fn works_as(pool: &Pool) -> Result<Option<String>> {
    let mut client = pool.get()?;
    let read = |client: &mut Client| -> std::result::Result<_, ::postgres::Error> {
        let row = client.query_typed_one(WORKS_AS, &[])?;
        Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
    };
    let found = read(&mut client).map_err(|source| pool.address().refused(&source))?;
    let (role, is_past_rules, other): (String, bool, Option<String>) = found;
    match (is_past_rules, other) {
        (false, _) => Ok(None),
        (true, Some(other)) => Ok(Some(other)),
        (true, None) => Err(ServerError::PastRules { server: pool.address().place(), role }.into()),
    }
}

/// How many numbers of restored memories may be in the way of a new one.
const MOST_TAKEN: usize = 1000;
/// Waits until nobody writes, and holds off whoever wants to. Any number will do that others do not take. However long a
/// large memory takes, it is not cut short.
const LOCK: &str =
    "begin; set local statement_timeout = 0; select pg_advisory_xact_lock(4839208417)";
/// Many may write at once, and nobody while tables are made or migrated.
pub(super) const LOCK_TO_WRITE: &str = "select pg_advisory_xact_lock_shared(4839208417)";
// Not by `to_regclass`: it may remember from before the wait for the lock that there was no such table.
const HAS_TABLES: &str = "
    select exists (
      select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = 'hermes' and c.relname = 'migration')";
const OWNS_TABLES: &str = "
    select pg_has_role(relowner, 'usage') from pg_class where oid = 'hermes.migration'::regclass";
const APPLIED: &str = "select coalesce(max(number), 0) from hermes.migration";
const NOTE_MIGRATION: &str = "insert into hermes.migration (number, checksum) values ($1, $2)";
pub(super) const TELL_NAME: &str = "select set_config('hermes.profile_name', $1, true)";
pub(super) const TELL_NUMBER: &str = "select set_config('hermes.profile', $1, true)";
const SHARE_STATE: &str = "
    select pg_export_snapshot(), set_config('idle_in_transaction_session_timeout', '0', true)";
/// A role may have been let into another home's profile of this name; its own comes first.
pub(super) const PROFILE: &str = "
    select profile, mark::text from hermes.profile where name = $1 and hermes.has_profile(profile)
    order by made_by = session_user desc, profile limit 1";
const ADD_PROFILE: &str = "insert into hermes.profile (name) values ($1) on conflict do nothing";
const RENAME: &str = "update hermes.profile set name = $2 where profile = $1";
const PULSE: &str = "select changed from hermes.profile where profile = $1";
const PROFILES: &str = "select count(*) from hermes.profile";
// The owner of the tables, for whom the rules hold too; else the role that was made for this.
const WORKS_AS: &str = "
    select me.rolname::text, me.rolsuper or me.rolbypassrls,
      (select quote_ident(o.rolname) from pg_roles o
        where (o.rolname = 'hermes_rows' or o.oid = (
            select relowner from pg_class where oid = 'hermes.chunk'::regclass))
          and not (o.rolsuper or o.rolbypassrls) and pg_has_role(me.oid, o.oid, 'member')
        order by o.rolname = 'hermes_rows' limit 1)
    from pg_roles me where me.rolname = session_user";
const HAS_PROFILE: &str = "select 1 from meta where key = 'profile'";
const STATE: &str = "
    select current_setting('server_version'),
      (select extversion from pg_extension where extname = 'vector'),
      current_user::text,
      (select rolsuper or rolbypassrls from pg_roles where rolname = current_user),
      coalesce((select pg_has_role(relowner, 'usage') from pg_class
        where oid = to_regclass('hermes.migration')), false)";
