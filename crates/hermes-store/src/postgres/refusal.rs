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
/// How rustls calls what a server says of our certificate, once its own was taken.
const ALERT: &str = "received fatal alert";

/// What will be the same at the next try.
fn settled(address: &Address, server: String, error: &postgres::Error) -> ServerError {
    let why = words(error);
    let password = |why| wrong_password(address, server.clone(), why);
    let Some(code) = error.code() else {
        return match error.to_string().as_str() {
            AUTHENTICATION => password(why),
            _ if why == NO_PASSWORD => password(why),
            _ if why.starts_with(ALERT) => not_let_in(address, server, why),
            _ => ServerError::Refused { server, why },
        };
    };
    match code {
        code if *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
            not_let_in(address, server, why)
        }
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
        code if *code == SqlState::INSUFFICIENT_PRIVILEGE => {
            ServerError::NoRights { server, user: address.user().to_owned(), why }
        }
        code if *code == SqlState::PROTOCOL_VIOLATION && why.contains("startup parameter") => {
            no_options(address)
        }
        code if *code == SqlState::DISK_FULL => ServerError::DiskFull { server, why },
        code if *code == SqlState::READ_ONLY_SQL_TRANSACTION => {
            ServerError::ReadOnly { server, why }
        }
        code if *code == SqlState::QUERY_CANCELED => ServerError::StatementTooSlow { server, why },
        _ => ServerError::Refused { server, why },
    }
}

/// A pooler lends a connection for one transaction, and so takes nothing that holds for a whole one.
fn no_options(address: &Address) -> ServerError {
    ServerError::BadAddress {
        why: "the connection pooler (PgBouncer) accepts no options and no statement_timeout"
            .to_owned(),
        hint: Some(format!(
            "remove them and set them on the server for the role: `alter role {} set \
             statement_timeout = '2min'`",
            address.user()
        )),
    }
}

/// A server that also asks for a certificate blames the password when the certificate is for another user.
fn wrong_password(address: &Address, server: String, why: String) -> ServerError {
    let user = address.user().to_owned();
    match &address.identity {
        None => ServerError::WrongPassword { server, user, why },
        Some(files) => {
            let certificate = files.certificate.display();
            let hint = format!(
                "put the right password into ~/.pgpass (mode 600), or check that {certificate} is \
                 for the user {user}"
            );
            ServerError::NotLetIn { server, user, why, hint }
        }
    }
}

/// Somebody whom the server does not let in, whatever the password is.
fn not_let_in(address: &Address, server: String, why: String) -> ServerError {
    let user = address.user().to_owned();
    let has = |word: &str| why.contains(word);
    let hint = if has("certificate") || has(ALERT) {
        match &address.identity {
            None => "set sslcert=… and sslkey=… in the connection string to your certificate and \
                 its key"
                .to_owned(),
            Some(files) => format!(
                "{} must be from a certificate authority that the server trusts, and for the user \
                 {user}",
                files.certificate.display()
            ),
        }
    } else if has("no encryption") {
        "turn encryption on with sslmode=verify-full in the connection string".to_owned()
    } else if has("pg_hba.conf") {
        "ask the administrator of the server to add a line for you to its pg_hba.conf".to_owned()
    } else {
        format!("create the user on the server, `createuser {user}`, or correct the name")
    };
    ServerError::NotLetIn { server, user, why, hint }
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
