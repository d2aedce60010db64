//! hermes db migrate

use crate::terminal::Terminal;
use std::io;

use clap::Args;
use hermes_store::memory::{migrate_server, server_sql, server_state};
use serde::Serialize;

use super::must_be_on_server;
use crate::failure::Outcome;
use crate::output::{Page, Show};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Show what would be done, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the statements instead of running them, for the owner of the database
    #[arg(long, conflicts_with = "dry_run")]
    print_sql: bool,
    /// With --print-sql, also print the grants for this role, which the daemons log in with
    #[arg(long, value_name = "ROLE", requires = "print_sql")]
    role: Option<String>,
}

#[derive(Debug, Serialize)]
struct Migrated {
    server: String,
    /// The schema before, and the one that is there afterwards.
    from: i64,
    to: i64,
    /// For which numbers of dimensions pgvector got an index now.
    new_indexes: Vec<usize>,
    dry_run: bool,
}

#[derive(Debug, Serialize)]
struct Statements {
    sql: String,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    must_be_on_server(app, &home)?;
    let pool = app.pool(&home)?;
    let state = server_state(&pool)?;
    if arguments.print_sql {
        let sql = server_sql(&pool, state.schema, arguments.role.as_deref())?;
        app.out.show(&Statements { sql })?;
        return Ok(Outcome::Done);
    }
    let mut new_indexes = Vec::new();
    if !arguments.dry_run {
        migrate_server(&pool)?;
        new_indexes = server_state(&pool)?.pgvector_dims;
        new_indexes.retain(|dims| !state.pgvector_dims.contains(dims));
    }
    app.out.show(&Migrated {
        server: pool.address().to_string(),
        from: state.schema,
        to: state.known_schema,
        new_indexes,
        dry_run: arguments.dry_run,
    })?;
    Ok(Outcome::Done)
}

impl Show for Migrated {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let Migrated { server, from, to, .. } = self;
        match (from == to, self.dry_run) {
            (true, _) => page.line(format_args!("{server} is up to date (schema {to})")),
            (false, true) => {
                page.line(format_args!("{server} would be migrated from schema {from} to {to}"))
            }
            (false, false) => {
                page.line(format_args!("{server} was migrated from schema {from} to {to}"))
            }
        }?;
        for dims in &self.new_indexes {
            page.line(format_args!("created a pgvector index for vectors of {dims} dimensions"))?;
        }
        Ok(())
    }
}

impl Show for Statements {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(self.sql.trim_end())
    }
}
