//! What a server or the way to it said, as the error that fits.

use std::error::Error as _;

use postgres::error::SqlState;

use super::address::{Address, Host};
use super::retry::{Trouble, trouble};
use crate::Error;
use crate::error::ServerError;

impl Address {
    /// What went wrong while working with this server.
    pub fn refused(&self, error: &postgres::Error) -> Error {
        let server = self.place();
        let refusal = match trouble(error) {
            Trouble::Away | Trouble::Cut => {
                ServerError::ConnectionCut { server, why: words(error) }
            }
            Trouble::Conflict => ServerError::WriteConflict { server, why: words(error) },
            Trouble::Final => settled(self, server, error),
        };
        refusal.into()
    }
}

/// What went wrong before a connection stood.
pub(super) fn connecting(address: &Address, host: &Host, error: &postgres::Error) -> ServerError {
    let server = host.to_string();
    if error.to_string() == TLS {
        return ServerError::TlsRefused { server, why: words(error) };
    }
    match trouble(error) {
        Trouble::Final => settled(address, server, error),
        Trouble::Away | Trouble::Cut | Trouble::Conflict => {
            ServerError::Unreachable { server, why: words(error) }
        }
    }
}

/// How the client calls a handshake that failed; it has no other sign of it.
const TLS: &str = "error performing TLS handshake";
/// How it calls a server that cannot prove itself, and one that asks for a password when there is none.
const AUTHENTICATION: &str = "authentication error";
const NO_PASSWORD: &str = "password missing";

/// What will be the same at the next try.
fn settled(address: &Address, server: String, error: &postgres::Error) -> ServerError {
    let why = words(error);
    let password = |why| ServerError::WrongPassword {
        server: server.clone(),
        user: address.user().to_owned(),
        why,
    };
    let Some(code) = error.code() else {
        return match error.to_string().as_str() {
            AUTHENTICATION => password(why),
            _ if why == NO_PASSWORD => password(why),
            _ => ServerError::Refused { server, why },
        };
    };
    match code {
        code if *code == SqlState::INVALID_PASSWORD => password(why),
        // PgBouncer has one code for everything that is wrong with who asks.
        code if *code == SqlState::PROTOCOL_VIOLATION && why.contains("authentication") => {
            password(why)
        }
        code if *code == SqlState::INVALID_CATALOG_NAME => {
            ServerError::NoSuchDatabase { server, database: address.database().to_owned() }
        }
        code if *code == SqlState::PROTOCOL_VIOLATION && why.contains("no such database") => {
            ServerError::NoSuchDatabase { server, database: address.database().to_owned() }
        }
        code if *code == SqlState::INSUFFICIENT_PRIVILEGE
            || *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION =>
        {
            ServerError::NoRights { server, user: address.user().to_owned(), why }
        }
        code if *code == SqlState::QUERY_CANCELED => ServerError::StatementTooSlow { server, why },
        _ => ServerError::Refused { server, why },
    }
}

/// The server's own sentence, or what the system said; never the statement or its values.
fn words(error: &postgres::Error) -> String {
    if let Some(said) = error.as_db_error() {
        return said.message().to_owned();
    }
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        words = inner.to_string();
        cause = inner.source();
    }
    words
}
