//! hermes db status

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use hermes_home::databases::Database;
use hermes_home::{Home, profile};
use hermes_store::memory::{ServerState, server_state};
use serde::Serialize;

use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::app::App;
use hermes_app::problem::message;
use hermes_app::text::bytes;

#[derive(Debug, Serialize)]
#[serde(tag = "backend", rename_all = "snake_case")]
enum Status {
    Sqlite { path: PathBuf, exists: bool, size: u64 },
    Postgres(Box<Server>),
}

#[derive(Debug, Serialize)]
struct Server {
    /// Where it is, without the password.
    address: String,
    ssl_mode: String,
    pool_size: u32,
    answers: bool,
    #[serde(flatten)]
    state: Option<ServerState>,
    warnings: Vec<String>,
}

pub(crate) fn run(app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    if !app.is_on_server(&home)? {
        app.refuse_lost(&home, Database::Memory)?;
        let path = app.memory_path(&home)?;
        let found = path.metadata().ok();
        let size = found.as_ref().map_or(0, std::fs::Metadata::len);
        app.out.show(&Status::Sqlite { path, exists: found.is_some(), size })?;
        return Ok(Outcome::Done);
    }
    let (server, failure) = look(app, &home)?;
    let hint = server.state.as_ref().and_then(hint);
    app.out.show(&Status::Postgres(Box::new(server)))?;
    match failure {
        Some(error) => Err(error),
        None => {
            if let Some(hint) = hint {
                app.out.hint(hint);
            }
            Ok(Outcome::Done)
        }
    }
}

/// What is known of the server, and why it is not more.
fn look(app: &App, home: &Home) -> anyhow::Result<(Server, Option<anyhow::Error>)> {
    let address = app.address(home)?;
    let warnings = address.warnings().iter();
    let mut server = Server {
        address: address.to_string(),
        ssl_mode: address.ssl_mode().to_string(),
        pool_size: app.config(home)?.config.memory.pool_size,
        answers: false,
        state: None,
        warnings: warnings.map(|warning| format!("{warning}: {}", warning.hint())).collect(),
    };
    let state = app.pool(home).and_then(|pool| Ok(server_state(&pool)?));
    match state {
        Ok(state) => {
            server.answers = true;
            server.warnings.extend(shared_role(&state, home)?);
            server.state = Some(state);
            Ok((server, None))
        }
        Err(error) => {
            server.warnings.push(message(&error));
            Ok((server, Some(error)))
        }
    }
}

/// Says that the server cannot keep homes apart that use one role.
fn shared_role(state: &ServerState, home: &Home) -> anyhow::Result<Option<String>> {
    let mut here: Vec<String> = profile::list(home)?.iter().map(ToString::to_string).collect();
    here.push("default".to_owned());
    // What a restore put aside is called after the profile.
    let is_of = |name: &str, own: &str| {
        name.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let all = state.own_profiles.iter().map(String::as_str);
    let others: Vec<&str> = all.filter(|name| !here.iter().any(|own| is_of(name, own))).collect();
    Ok((!others.is_empty()).then(|| {
        format!(
            "role {} also has profiles that are not in this home: {}. Homes that share a role can read each other's \
            data; `hermes db invite NAME` creates a separate role for another home",
            state.user,
            others.join(", ")
        )
    }))
}

/// What to do next.
fn hint(state: &ServerState) -> Option<&'static str> {
    match state.schema.cmp(&state.known_schema) {
        std::cmp::Ordering::Less => Some("migrate the tables with `hermes db migrate`"),
        std::cmp::Ordering::Greater => Some("upgrade hermes on this machine"),
        std::cmp::Ordering::Equal if state.pgvector.is_some() && state.pgvector_dims.is_empty() => {
            Some("`hermes db migrate` creates an index if pgvector is 0.8 or later")
        }
        std::cmp::Ordering::Equal => None,
    }
}

impl Show for Status {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        match self {
            Status::Sqlite { path, exists: true, size } => {
                page.line(format_args!("file: {} ({})", path.display(), bytes(*size)))
            }
            Status::Sqlite { path, .. } => {
                page.line(format_args!("file: {}, not created yet", path.display()))
            }
            Status::Postgres(server) => server.text(page),
        }
    }
}

impl Server {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let Server { address, ssl_mode, .. } = self;
        page.line(format_args!("server: {address} (sslmode {ssl_mode})"))?;
        if let Some(state) = &self.state {
            page.line(format_args!("PostgreSQL {}", state.version))?;
            page.line(match state.schema {
                0 => "tables: none yet".to_owned(),
                schema if schema == state.known_schema => format!("tables: schema {schema}"),
                schema => {
                    format!(
                        "tables: schema {schema}; this build uses schema {}",
                        state.known_schema
                    )
                }
            })?;
            page.line(nearest(state))?;
            if let Some(profiles) = state.profiles {
                page.line(format_args!("profiles: {profiles}"))?;
            }
            page.line(format_args!("role {}: {}", state.user, rights(state)))?;
            if !state.own_profiles.is_empty() {
                page.line(format_args!(
                    "profiles of this role: {}",
                    state.own_profiles.join(", ")
                ))?;
            }
        }
        for warning in &self.warnings {
            page.line(format_args!("warning: {warning}"))?;
        }
        Ok(())
    }
}

/// Who finds the nearest vectors.
fn nearest(state: &ServerState) -> String {
    let dims: Vec<String> = state.pgvector_dims.iter().map(usize::to_string).collect();
    match (&state.pgvector, dims.is_empty()) {
        (None, _) => "pgvector: not installed; Hermes compares the vectors itself".to_owned(),
        (Some(version), false) => {
            format!("pgvector: {version}, index for vectors of {} dimensions", dims.join(", "))
        }
        (Some(version), true) => {
            format!("pgvector: {version}, not used; Hermes compares the vectors itself")
        }
    }
}

/// What the user of the database may do.
fn rights(state: &ServerState) -> &'static str {
    match (state.passes_rules, state.owns_tables) {
        (true, _) => {
            "bypasses the row-level security that separates users; give the daemons a role of their own"
        }
        (false, true) => "owns the tables",
        (false, false) => "can read and write rows, cannot change tables",
    }
}
