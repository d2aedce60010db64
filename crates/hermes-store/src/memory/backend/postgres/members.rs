//! Who has which profile on a server: the rights of a role, and how a role for another home is made.

use ::postgres::types::{ToSql, Type};
use postgres_protocol::password::scram_sha_256;

use super::open::{PROFILE, TELL_NAME, TELL_NUMBER};
use crate::Result;
use crate::postgres::{Client, Pool, Transaction};

/// A role that is made for another home.
#[derive(Debug, Clone, Copy)]
pub struct Invitation<'a> {
    /// The name of the role.
    pub role: &'a str,
    /// Its password. The server gets what it is checked with, not the password.
    pub password: &'a str,
    /// The profiles of the one who invites that the role has too; it makes others for itself.
    pub profiles: &'a [String],
}

/// Makes the role, with its rights and profiles. Whoever asks must own the tables and be allowed to make roles.
pub fn invite(pool: &Pool, invitation: &Invitation<'_>) -> Result<()> {
    let sql = invitation_sql(pool, invitation)?;
    let mut client = pool.get()?;
    client.batch_execute(&sql).map_err(|source| {
        client.give_up();
        pool.address().refused(&source)
    })
}

/// The statements of [`invite`], for somebody else to run. A profile that this connection does not have is left out.
pub fn invitation_sql(pool: &Pool, invitation: &Invitation<'_>) -> Result<String> {
    let Invitation { role, password, profiles } = invitation;
    let numbers = numbers(pool, profiles)?;
    let mut text = format!(
        "begin;\ncreate role {} login password '{}';\n{}",
        named(role),
        scram_sha_256(password.as_bytes()),
        rights_of(role)
    );
    text.push_str(&gives(role, &numbers));
    text.push_str("commit;\n");
    Ok(text)
}

/// The statement that gives a role the profiles that this connection has. Tables from before roles had profiles let
/// every role work with every profile, so a role gets all that are there when they are brought up to date.
pub(super) fn profiles_of(
    client: &mut Client,
    schema: i64,
    role: &str,
) -> std::result::Result<String, ::postgres::Error> {
    if schema < WITH_MEMBERS {
        let role = role.replace('\'', "''");
        return Ok(format!(
            "insert into hermes.member (profile, role) select distinct profile, '{role}'::name from hermes.member\n  \
             on conflict do nothing;\n"
        ));
    }
    let numbers: Vec<i64> = client.query_typed_one(OWN_PROFILES, &[])?.try_get(0)?;
    Ok(gives(role, &numbers))
}

fn gives(role: &str, numbers: &[i64]) -> String {
    let role = role.replace('\'', "''");
    let rows: Vec<String> = numbers.iter().map(|number| format!("({number}, '{role}')")).collect();
    match rows.is_empty() {
        true => String::new(),
        false => format!(
            "insert into hermes.member (profile, role) values {} on conflict do nothing;\n",
            rows.join(", ")
        ),
    }
}

/// The statements that let a role work with the rows of its profiles, and do nothing else.
pub(super) fn rights_of(role: &str) -> String {
    let role = named(role);
    format!(
        "grant usage on schema hermes to {role};\n\
         grant select, insert, update, delete on all tables in schema hermes to {role};\n\
         revoke insert, update, delete on hermes.migration from {role};\n\
         revoke all on hermes.member from {role};\n"
    )
}

fn named(role: &str) -> String {
    format!("\"{}\"", role.replace('"', "\"\""))
}

fn numbers(pool: &Pool, names: &[String]) -> Result<Vec<i64>> {
    let mut client = pool.get()?;
    let mut look = || -> std::result::Result<Vec<i64>, ::postgres::Error> {
        let mut step = client.transaction()?;
        let mut numbers = Vec::new();
        for name in names {
            let found = told(&mut step, TELL_NAME, name, PROFILE)?;
            numbers.extend(found.map(|row| row.try_get::<_, i64>(0)).transpose()?);
        }
        step.commit()?;
        Ok(numbers)
    };
    look().map_err(|source| pool.address().refused(&source))
}

/// The names of the profiles that the role of this connection has.
pub(super) fn own_profiles(
    client: &mut Client,
) -> std::result::Result<Vec<String>, ::postgres::Error> {
    let mut step = client.transaction()?;
    let numbers: Vec<i64> = step.query_typed_one(OWN_PROFILES, &[])?.try_get(0)?;
    let mut names = Vec::new();
    for number in numbers {
        let found = told(&mut step, TELL_NUMBER, &number.to_string(), NAME)?;
        names.extend(found.map(|row| row.try_get::<_, String>(0)).transpose()?);
    }
    step.commit()?;
    Ok(names)
}

/// The answer to a question about a profile, once the server was told which; both are given the same text.
fn told(
    step: &mut Transaction<'_>,
    tell: &str,
    which: &str,
    question: &str,
) -> std::result::Result<Option<::postgres::Row>, ::postgres::Error> {
    let which: [(&(dyn ToSql + Sync), Type); 1] = [(&which, Type::TEXT)];
    step.query_typed(tell, &which)?;
    step.query_typed_opt(question, &which)
}

/// The schema file that made the table of members.
const WITH_MEMBERS: i64 = 4;
const OWN_PROFILES: &str = "select hermes.own_profiles()";
const NAME: &str = "select name from hermes.profile where profile = $1::text::bigint";
