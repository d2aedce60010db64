//! Statements that a server keeps for a connection, so that it parses and plans each of them once.
//!
//! A pooler that lends a connection for one transaction would run them on another one. So it is found out, not assumed,
//! that they stay: either the server knows the mark that was sent when this connection was made, so that nothing
//! stands in between; or PgBouncer (from 1.21 on) shows that it keeps track of statements, by the names it gives them.

use std::collections::HashMap;

use postgres::types::Type;
use postgres::{Error, SimpleQueryMessage, Statement};

use super::client::{Client, Request};

/// How many statements one connection keeps.
const MOST: usize = 250;
/// After how many uses of a connection it is found out: programs that do one thing and end gain nothing.
const USES: u32 = 3;

/// The statements of one connection.
#[derive(Default)]
pub(super) struct Prepared {
    /// What this connection can be recognised by.
    mark: Option<String>,
    uses: u32,
    can: bool,
    /// By text and types; none of a statement that was seen once.
    known: HashMap<String, Vec<Known>>,
    count: usize,
}

/// The types that a statement was sent with, and the statement once the server keeps it.
type Known = (Vec<Type>, Option<Statement>);

impl Prepared {
    pub(super) fn new(mark: Option<String>) -> Prepared {
        Prepared { mark, ..Prepared::default() }
    }

    /// Counts a use; whether this is the one before which to find out.
    pub(super) fn is_asked_for(&mut self) -> bool {
        self.uses = self.uses.saturating_add(1);
        self.uses == USES
    }

    pub(super) fn learned(&mut self, can: bool) {
        self.can = can;
    }

    /// The statement that the server keeps for a request.
    pub(super) fn statement(&self, request: &Request<'_>) -> Option<&Statement> {
        let (Request::Query(text, values) | Request::Execute(text, values)) = request else {
            return None;
        };
        let known = self.known.get(*text)?;
        let is_it = |types: &[Type]| types.iter().eq(values.iter().map(|(_, kind)| kind));
        known.iter().find(|(types, _)| is_it(types))?.1.as_ref()
    }

    /// The statements that are sent for the second time, and so will be sent again.
    pub(super) fn worth_it<'r>(&mut self, requests: &[Request<'r>]) -> Vec<(&'r str, Vec<Type>)> {
        let mut new: Vec<(&'r str, Vec<Type>)> = Vec::new();
        if !self.can {
            return new;
        }
        for request in requests {
            let (Request::Query(text, values) | Request::Execute(text, values)) = request else {
                continue;
            };
            let types: Vec<Type> = values.iter().map(|(_, kind)| kind.clone()).collect();
            match self.known.get(*text).and_then(|all| all.iter().find(|(it, _)| *it == types)) {
                Some((_, None)) if !new.contains(&(text, types.clone())) => new.push((text, types)),
                Some(_) => {}
                None if self.count < MOST => {
                    self.count += 1;
                    self.known.entry((*text).to_owned()).or_default().push((types, None));
                }
                None => {}
            }
        }
        new
    }

    pub(super) fn keep(&mut self, text: &str, types: &[Type], statement: &Statement) {
        let known = self.known.get_mut(text).into_iter().flatten();
        for (_, kept) in known.filter(|(it, _)| it == types) {
            *kept = Some(statement.clone());
        }
    }
}

/// Whether statements that this connection prepares stay with it.
pub(super) fn can_prepare(client: &mut Client) -> Result<bool, Error> {
    let told = client.simple_query(MARK)?.into_iter().find_map(|answer| match answer {
        SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    });
    if told.is_some() && told == client.prepared.mark {
        return Ok(true);
    }
    // In a transaction, so that it is one connection to the server; the statement is gone before its end.
    let mut transaction = client.transaction()?;
    let found = transaction.with_prepared(PROBE, NAMES)?;
    transaction.commit()?;
    Ok(!found.is_empty())
}

/// The setting that the mark of a connection is sent in.
pub(super) const MARK_NAME: &str = "hermes.connection";
const MARK: &str = "select current_setting('hermes.connection', true)";
const PROBE: &str = "select 'whether statements are kept track of'";
const NAMES: &str = "
    select 1 from pg_catalog.pg_prepared_statements
    where name like 'PGBOUNCER\\_%' and statement like '%whether statements are kept track of%'";
