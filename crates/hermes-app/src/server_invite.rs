//! A role on the server for another home, so that the server itself keeps the homes apart.

use hermes_home::Home;
use hermes_store::memory::{Invitation, has_profile, invitation_sql, invite};
use hermes_store::postgres::{Pool, ServerError};
use serde::Serialize;

use crate::app::App;
use crate::platform;
use crate::problem::{Kind, Problem};

/// What is asked for.
#[derive(Debug)]
pub struct Wish {
    /// The name of the role.
    pub role: String,
    /// The profiles of this home that the other one works with too.
    pub shared: Vec<String>,
    /// Only the statements are wanted.
    pub print_sql: bool,
}

/// A role that was made, or the statements that make it.
#[derive(Debug, Serialize)]
pub struct Invited {
    /// The name of the role.
    pub role: String,
    /// The profiles that it has beside those it makes.
    pub shared: Vec<String>,
    /// What the other home sets as its connection string, with the password in it.
    pub connection_string: String,
    /// Whether the address leads nowhere from another machine.
    pub is_local: bool,
    /// The statements, if nothing was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sql: Option<String>,
}

/// Makes a role for another home.
pub fn run(app: &App, home: &Home, wish: Wish) -> anyhow::Result<Invited> {
    let Wish { role, shared, print_sql } = wish;
    must_be_a_name(&role)?;
    let pool = app.pool(home)?;
    must_have(&pool, &shared)?;
    let seed = platform::random_seed()?;
    let password: String = seed[..24].iter().map(|byte| format!("{byte:02x}")).collect();
    let invitation = Invitation { role: &role, password: &password, profiles: &shared };
    let sql = match print_sql {
        true => Some(invitation_sql(&pool, &invitation)?),
        false => {
            invite(&pool, &invitation).map_err(|error| explained(error, &role))?;
            None
        }
    };
    let connection_string = pool.address().for_user(&role, &password);
    Ok(Invited { connection_string, is_local: pool.address().is_local(), role, shared, sql })
}

/// A name that needs no quotes anywhere.
fn must_be_a_name(role: &str) -> Result<(), Problem> {
    let is_plain = |sign: char| sign.is_ascii_lowercase() || sign.is_ascii_digit() || sign == '_';
    if role.starts_with(|first: char| first.is_ascii_lowercase())
        && role.chars().all(is_plain)
        && role.len() <= 63
        && !role.starts_with("pg_")
    {
        return Ok(());
    }
    let message = format!("{role} is not a valid name for a role");
    Err(Problem::new(Kind::Usage, message).hint(
        "start with a letter, then use letters, digits and `_`, all in lower case, at most 63; not \
         `pg_…`",
    ))
}

fn must_have(pool: &Pool, shared: &[String]) -> anyhow::Result<()> {
    for name in shared {
        if !has_profile(pool, name)? {
            let message = format!("the server has no profile {name} that you could share");
            return Err(Problem::new(Kind::NotFound, message)
                .hint("`hermes db status` lists the profiles of your role")
                .into());
        }
    }
    Ok(())
}

fn explained(error: hermes_store::Error, role: &str) -> anyhow::Error {
    match error {
        hermes_store::Error::Server(ServerError::NoRights { .. }) => Problem::new(
            Kind::Refused,
            error.to_string(),
        )
        .hint(format!(
            "let the owner of the tables run what `hermes db invite {role} --print-sql` prints"
        ))
        .into(),
        other => other.into(),
    }
}
