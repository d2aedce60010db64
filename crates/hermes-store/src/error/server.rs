//! What can go wrong with a PostgreSQL server, and the hint for each.

use std::path::PathBuf;

use super::ErrorKind;

/// What went wrong with a PostgreSQL server. No password and no statement is ever part of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// What says where the PostgreSQL server is cannot be understood. Nothing of it is repeated: it may hold a password.
    #[error("could not read the connection string: {why}")]
    BadAddress {
        /// What is wrong with it.
        why: String,
        /// What to write instead.
        hint: Option<String>,
    },
    /// Nobody answers where the server should be.
    #[error("could not reach PostgreSQL at {server}: {why}")]
    Unreachable {
        /// Host and port, or the socket.
        server: String,
        /// What the system or the server said.
        why: String,
    },
    /// The server does not take the password, or wants one.
    #[error("could not log in to PostgreSQL at {server} as {user}: {why}")]
    WrongPassword {
        /// Host and port, or the socket.
        server: String,
        /// As whom.
        user: String,
        /// What the server said.
        why: String,
    },
    /// Our own certificate or its key cannot be used.
    #[error("could not use {} to log in to PostgreSQL: {why}", file.display())]
    BadIdentity {
        /// The file of the certificate or of the key.
        file: PathBuf,
        /// What is wrong with it.
        why: String,
        /// What to do about it.
        hint: String,
    },
    /// The server lets nobody in who comes so: without a certificate that it knows, say.
    #[error("could not log in to PostgreSQL at {server} as {user}: {why}")]
    NotLetIn {
        /// Host and port, or the socket.
        server: String,
        /// As whom.
        user: String,
        /// What the server said.
        why: String,
        /// What to do about it.
        hint: String,
    },
    /// The server has no such database.
    #[error("could not use PostgreSQL at {server}: there is no database {database}")]
    NoSuchDatabase {
        /// Host and port, or the socket.
        server: String,
        /// The database that was asked for.
        database: String,
    },
    /// The user of the database may not do this.
    #[error("could not use PostgreSQL at {server} as {user}: {why}")]
    NoRights {
        /// Host and port, or the socket.
        server: String,
        /// As whom.
        user: String,
        /// What the server said.
        why: String,
    },
    /// No connection that is protected as the address asks.
    #[error("could not connect securely to PostgreSQL at {server}: {why}")]
    TlsRefused {
        /// Host and port.
        server: String,
        /// What does not hold.
        why: String,
    },
    /// The connection ended in the middle of something.
    #[error("could not finish with PostgreSQL at {server}: the connection was lost ({why})")]
    ConnectionCut {
        /// Host and port, or the socket.
        server: String,
        /// What the system or the server said.
        why: String,
    },
    /// Others were writing the same things, every time it was tried.
    #[error("could not write to PostgreSQL at {server}: {why}")]
    WriteConflict {
        /// Host and port, or the socket.
        server: String,
        /// What the server said.
        why: String,
    },
    /// A statement took longer than it may.
    #[error("could not finish with PostgreSQL at {server}: {why}")]
    StatementTooSlow {
        /// Host and port, or the socket.
        server: String,
        /// What the server said.
        why: String,
    },
    /// Every connection was in use for longer than we were willing to wait.
    #[error(
        "could not get a connection to PostgreSQL at {server}: all {size} were in use for {seconds} s"
    )]
    PoolExhausted {
        /// Host and port, or the socket.
        server: String,
        /// How many there are.
        size: usize,
        /// How long was waited.
        seconds: f32,
    },
    /// The role is let past the rules that keep profiles apart, and there is none that it could work as.
    #[error("could not use PostgreSQL at {server}: the role {role} bypasses row-level security")]
    PastRules {
        /// Host and port, or the socket.
        server: String,
        /// The role that logged in.
        role: String,
    },
    /// A restore put another memory in the place of this one while it was open.
    #[error("could not write to the memory of {profile} on {server}: a restore has replaced it")]
    Replaced {
        /// Host and port, or the socket.
        server: String,
        /// The name of the profile.
        profile: String,
    },
    /// The server itself is of a version that the tables are not made for.
    #[error(
        "could not use PostgreSQL at {server}: it is version {found}, and {needed} or newer is needed"
    )]
    TooOld {
        /// Host and port, or the socket.
        server: String,
        /// The version there.
        found: u32,
        /// The oldest version that will do.
        needed: u32,
    },
    /// There is no room left on the disk of the server.
    #[error("could not write to PostgreSQL at {server}: {why}")]
    DiskFull {
        /// Host and port, or the socket.
        server: String,
        /// What the server said.
        why: String,
    },
    /// The server takes no changes: it follows another one, or was told so.
    #[error("could not write to PostgreSQL at {server}: {why}")]
    ReadOnly {
        /// Host and port, or the socket.
        server: String,
        /// What the server said.
        why: String,
    },
    /// The tables on the server were made by a later version of this program.
    #[error(
        "could not use PostgreSQL at {server}: its schema is {found}, this version supports up to \
         {known}"
    )]
    NewerSchema {
        /// Host and port, or the socket.
        server: String,
        /// The schema number there.
        found: i64,
        /// The newest schema number this build knows.
        known: i64,
    },
    /// The tables on the server are missing or those of an earlier version.
    #[error("could not use PostgreSQL at {server}: its schema {found} must be migrated to {known}")]
    OlderSchema {
        /// Host and port, or the socket.
        server: String,
        /// The schema number there; 0 if there are no tables.
        found: i64,
        /// The schema number this build needs.
        known: i64,
    },
    /// The server refused for a reason none of the other variants names.
    #[error("could not use PostgreSQL at {server}: {why}")]
    Refused {
        /// Host and port, or the socket.
        server: String,
        /// What the server said.
        why: String,
    },
}

impl ServerError {
    /// The kind of failure, for exit codes.
    pub fn kind(&self) -> ErrorKind {
        match self {
            ServerError::NoSuchDatabase { .. } => ErrorKind::Missing,
            ServerError::PoolExhausted { .. } | ServerError::WriteConflict { .. } => {
                ErrorKind::Locked
            }
            ServerError::WrongPassword { .. }
            | ServerError::BadIdentity { .. }
            | ServerError::NotLetIn { .. } => ErrorKind::Unauthorized,
            ServerError::Unreachable { .. }
            | ServerError::ConnectionCut { .. }
            | ServerError::TlsRefused { .. } => ErrorKind::Unreachable,
            ServerError::BadAddress { .. }
            | ServerError::NoRights { .. }
            | ServerError::PastRules { .. }
            | ServerError::Replaced { .. }
            | ServerError::TooOld { .. }
            | ServerError::ReadOnly { .. }
            | ServerError::NewerSchema { .. }
            | ServerError::OlderSchema { .. } => ErrorKind::Refused,
            ServerError::StatementTooSlow { .. }
            | ServerError::DiskFull { .. }
            | ServerError::Refused { .. } => ErrorKind::Failure,
        }
    }

    /// The next thing to try with a server.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            ServerError::BadAddress { hint, .. } => return hint.clone(),
            ServerError::BadIdentity { hint, .. } | ServerError::NotLetIn { hint, .. } => {
                return Some(hint.clone());
            }
            ServerError::Unreachable { .. } => {
                "check that the server is running and that host and port are right: `hermes db \
                 status`"
            }
            ServerError::WrongPassword { .. } => {
                "put the right password into ~/.pgpass (mode 600), or into the connection string \
                 in .env"
            }
            ServerError::NoSuchDatabase { database, .. } => {
                return Some(format!("create it on the server: `createdb {database}`"));
            }
            ServerError::NoRights { .. } => {
                "let the owner of the tables run what `hermes db migrate --print-sql` prints"
            }
            ServerError::TlsRefused { why, .. } if why.contains("does not support TLS") => {
                "turn TLS on at the server (`ssl = on`), or connect without encryption: `hermes \
                 config set memory.ssl_mode prefer`"
            }
            ServerError::TlsRefused { .. } => {
                "set sslrootcert=… to the certificate authority of the server, or use the host \
                 name that its certificate is for"
            }
            ServerError::ConnectionCut { .. } => "try again; nothing is done twice",
            ServerError::WriteConflict { .. } => "try again in a moment",
            ServerError::StatementTooSlow { .. } => {
                "allow more time with statement_timeout=… in the connection string"
            }
            ServerError::PoolExhausted { .. } => {
                "raise `memory.pool_size`, or see what uses them: `hermes db status`"
            }
            ServerError::PastRules { .. } => {
                "log in as another role: `hermes db invite NAME` creates one for this home"
            }
            ServerError::Replaced { .. } => {
                "nothing was written; run the command again to write to the restored memory"
            }
            ServerError::TooOld { .. } => {
                "upgrade the server, or use another one: `hermes config set HERMES_DB_URL -`"
            }
            ServerError::DiskFull { .. } => {
                "free disk space on the server, then run `hermes memory catch-up`"
            }
            ServerError::ReadOnly { .. } => {
                "use the server that accepts writes (`hermes config set HERMES_DB_URL -`), or make \
                 this one accept them; then run `hermes memory catch-up`"
            }
            ServerError::NewerSchema { .. } => "upgrade hermes on this machine",
            ServerError::OlderSchema { .. } => "migrate it with `hermes db migrate`",
            _ => return None,
        };
        Some(hint.to_owned())
    }

    /// Whether the same thing may work a moment later.
    pub fn is_retriable(&self) -> bool {
        matches!(
            self,
            ServerError::Unreachable { .. }
                | ServerError::ConnectionCut { .. }
                | ServerError::WriteConflict { .. }
        )
    }
}
