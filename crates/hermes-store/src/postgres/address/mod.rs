//! Where a PostgreSQL server is and how it is to be reached: read once, from everything libpq users expect.

mod files;
mod found;
mod protection;
#[cfg(test)]
mod tests;
mod text;

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use self::found::Found;
pub(super) use self::protection::{Identity, Roots};
pub use self::protection::{SslMode, Warning};
use crate::error::ServerError;
use crate::{Error, Result};

/// Where Debian's server has its socket; what libpq takes when no host is named.
const SOCKET_FOLDER: &str = "/var/run/postgresql";
const PORT: u16 = 5432;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const KEEPALIVES_IDLE: Duration = Duration::from_secs(60);
const KEEPALIVES_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVES_COUNT: u32 = 3;
/// How long sent bytes may stay unanswered by the other machine: a cut cable is noticed after this.
const TCP_USER_TIMEOUT: Duration = Duration::from_secs(30);

/// What is known of the one who connects; nothing here is read from the process.
pub struct Surroundings<'a> {
    /// A variable of the environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The user's own folder, for `.pgpass`, `.pg_service.conf` and the files in `.postgresql`.
    pub home: Option<&'a Path>,
    /// The name of the user on this machine.
    pub user: &'a str,
    /// The name that the server shows for our connections.
    pub application: &'a str,
    /// How the settings want the connection protected, where the connection string does not say.
    pub ssl_mode: Option<SslMode>,
}

/// Where to connect to, as whom and how. Its password is shown nowhere.
#[derive(Clone)]
pub struct Address {
    pub(super) hosts: Vec<Host>,
    pub(super) database: String,
    pub(super) user: String,
    pub(super) password: Option<Password>,
    pub(super) ssl_mode: SslMode,
    pub(super) roots: Roots,
    pub(super) identity: Option<Identity>,
    pub(super) connect_timeout: Duration,
    pub(super) application_name: String,
    pub(super) options: Option<String>,
    pub(super) channel_binding: Option<String>,
    pub(super) target_session_attrs: Option<String>,
    pub(super) keepalives: Keepalives,
    warnings: Vec<Warning>,
}

/// One machine, or one socket, that may answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) address: Option<IpAddr>,
    pub(super) port: u16,
}

/// A password: given to the server and to nobody else.
#[derive(Clone)]
pub(super) struct Password(pub(super) String);

/// How a silent connection is probed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Keepalives {
    pub(super) wanted: bool,
    pub(super) idle: Duration,
    pub(super) interval: Duration,
    pub(super) count: u32,
    pub(super) unanswered: Duration,
}

impl Address {
    /// What a connection string means here. What it leaves open is filled from its service, the variables `PG*`,
    /// and what libpq takes by itself; a password is looked for in the password file last.
    pub fn parse(text: &str, around: &Surroundings<'_>) -> Result<Address> {
        let found = Found::collect(text, around)?;
        let user = found.text("user").unwrap_or(around.user).to_owned();
        let database = found.text("dbname").unwrap_or(&user).to_owned();
        let hosts = hosts(&found)?;
        let is_local = hosts.iter().all(Host::is_local);
        let ssl_mode = protection::ssl_mode(&found, around, is_local)?;
        let mut warnings = Vec::from_iter(protection::warning_about(ssl_mode, is_local));
        let password = password(
            &found,
            around,
            Who { hosts: &hosts, database: &database, user: &user },
            &mut warnings,
        )?;
        if let Some(encoding) = found.text("client_encoding")
            && !["utf8", "utf-8", "auto"].contains(&encoding.to_ascii_lowercase().as_str())
        {
            return Err(bad("client_encoding must be UTF8"));
        }
        Ok(Address {
            password: password.map(Password),
            ssl_mode,
            roots: protection::roots(&found, around),
            identity: protection::identity(&found, around)?,
            connect_timeout: found.seconds("connect_timeout")?.unwrap_or(CONNECT_TIMEOUT),
            application_name: found
                .text("application_name")
                .unwrap_or(around.application)
                .to_owned(),
            options: options(&found)?,
            channel_binding: found.one_of("channel_binding", &["disable", "prefer", "require"])?,
            target_session_attrs: found
                .one_of("target_session_attrs", &["any", "read-write", "read-only"])?,
            keepalives: Keepalives {
                wanted: found.number("keepalives")?.unwrap_or(1) != 0,
                idle: found.seconds("keepalives_idle")?.unwrap_or(KEEPALIVES_IDLE),
                interval: found.seconds("keepalives_interval")?.unwrap_or(KEEPALIVES_INTERVAL),
                count: found.number("keepalives_count")?.unwrap_or(KEEPALIVES_COUNT),
                unanswered: found.milliseconds("tcp_user_timeout")?.unwrap_or(TCP_USER_TIMEOUT),
            },
            hosts,
            database,
            user,
            warnings,
        })
    }

    /// What the owner of this address should know.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// How the connection is protected.
    pub fn ssl_mode(&self) -> SslMode {
        self.ssl_mode
    }

    /// The host and port, or the socket.
    pub fn place(&self) -> String {
        self.hosts.iter().map(Host::to_string).collect::<Vec<_>>().join(", ")
    }

    /// The database that is asked for.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// As whom.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The same server and user, another database.
    pub fn with_database(&self, database: &str) -> Address {
        Address { database: database.to_owned(), ..self.clone() }
    }

    /// A connection string to the same database for another user. The password is in it.
    pub fn for_user(&self, user: &str, password: &str) -> String {
        let host = |host: &Host| match host.is_socket() {
            true => format!("{}:{}", encoded(&host.name), host.port),
            false => host.to_string(),
        };
        let hosts = self.hosts.iter().map(host).collect::<Vec<_>>().join(",");
        let (user, password) = (encoded(user), encoded(password));
        let roots = match &self.roots {
            Roots::File(path) => format!("&sslrootcert={}", encoded(&path.display().to_string())),
            Roots::Public => String::new(),
        };
        format!(
            "postgres://{user}:{password}@{hosts}/{}?sslmode={}{roots}",
            encoded(&self.database),
            self.ssl_mode
        )
    }

    /// Whether a connection to it may be encrypted: one by a socket never is.
    pub(super) fn may_be_encrypted(&self) -> bool {
        self.ssl_mode != SslMode::Disable && !self.hosts.iter().all(Host::is_socket)
    }

    /// Whether only this machine reaches it so.
    pub fn is_local(&self) -> bool {
        self.hosts.iter().all(Host::is_local)
    }

    /// The same for a program of PostgreSQL such as pg_dump: variables for its environment. The password is among them:
    /// hand them to a child and show them nobody.
    pub fn as_variables(&self) -> Vec<(&'static str, String)> {
        let join = |each: &dyn Fn(&Host) -> String| {
            self.hosts.iter().map(each).collect::<Vec<_>>().join(",")
        };
        let mut variables = vec![
            ("PGHOST", join(&|host| host.name.clone())),
            ("PGPORT", join(&|host| host.port.to_string())),
            ("PGDATABASE", self.database.clone()),
            ("PGUSER", self.user.clone()),
            ("PGSSLMODE", self.ssl_mode.to_string()),
            ("PGCONNECT_TIMEOUT", self.connect_timeout.as_secs().max(1).to_string()),
            ("PGAPPNAME", self.application_name.clone()),
        ];
        if self.hosts.iter().all(|host| host.address.is_some()) {
            variables.push((
                "PGHOSTADDR",
                join(&|host| host.address.map(|ip| ip.to_string()).unwrap_or_default()),
            ));
        }
        match &self.roots {
            Roots::File(path) => variables.push(("PGSSLROOTCERT", path.display().to_string())),
            Roots::Public if self.ssl_mode >= SslMode::VerifyCa => {
                variables.push(("PGSSLROOTCERT", "system".to_owned()))
            }
            Roots::Public => {}
        }
        if let Some(Identity { certificate, key }) = &self.identity {
            variables.push(("PGSSLCERT", certificate.display().to_string()));
            variables.push(("PGSSLKEY", key.display().to_string()));
        }
        if let Some(options) = &self.options {
            variables.push(("PGOPTIONS", options.clone()));
        }
        if let Some(Password(password)) = &self.password {
            variables.push(("PGPASSWORD", password.clone()));
        }
        variables
    }
}

/// A text as a part of an address: every sign that could mean something there stands as its number.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut done, byte| {
        match byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            true => done.push(char::from(byte)),
            false => done.push_str(&format!("%{byte:02X}")),
        }
        done
    })
}

impl fmt::Display for Address {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "postgres://{}@{}/{}", self.user, self.place(), self.database)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "Address({self}, {})", self.ssl_mode)
    }
}

impl Host {
    /// Whether a connection to it stays on this machine.
    fn is_local(&self) -> bool {
        if self.is_socket() || self.name == "localhost" {
            return true;
        }
        match self.name.parse::<IpAddr>().ok().or(self.address.filter(|_| self.name.is_empty())) {
            Some(address) => address.is_loopback(),
            None => false,
        }
    }

    pub(super) fn is_socket(&self) -> bool {
        self.name.starts_with('/') || self.name.starts_with('@')
    }
}

impl fmt::Display for Host {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.address, self.name.as_str()) {
            (Some(address), "") => write!(to, "{address}:{}", self.port),
            (_, name) if name.contains(':') => write!(to, "[{name}]:{}", self.port),
            (_, name) => write!(to, "{name}:{}", self.port),
        }
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("Password(hidden)")
    }
}

fn hosts(found: &Found) -> Result<Vec<Host>> {
    let list = |key: &str| -> Vec<String> {
        found
            .text(key)
            .map(|text| text.split(',').map(|part| part.trim().to_owned()).collect())
            .unwrap_or_default()
    };
    let (mut names, addresses, ports) = (list("host"), list("hostaddr"), list("port"));
    if names.is_empty() && addresses.is_empty() {
        let socket = Path::new(SOCKET_FOLDER).is_dir();
        names.push(if socket { SOCKET_FOLDER.to_owned() } else { "localhost".to_owned() });
    }
    let count = names.len().max(addresses.len());
    let fits = |length: usize| length == 0 || length == count;
    if !fits(names.len()) || !fits(addresses.len()) || !(ports.len() <= 1 || ports.len() == count) {
        return Err(bad("the numbers of its hosts, ports and addresses differ"));
    }
    (0..count)
        .map(|place| {
            let port = ports.get(place).or_else(|| ports.first()).filter(|port| !port.is_empty());
            let address = addresses.get(place).filter(|address| !address.is_empty());
            Ok(Host {
                name: names.get(place).cloned().unwrap_or_default(),
                address: address
                    .map(|text| text.parse().map_err(|_| bad("its hostaddr is not an IP address")))
                    .transpose()?,
                port: port.map_or(Ok(PORT), |text| {
                    text.parse().map_err(|_| bad("its port is not a valid port"))
                })?,
            })
        })
        .collect()
}

/// What is said of the session when it begins: in the words of the server's own programs, and the two limits of time
/// that have keys of their own.
fn options(found: &Found) -> Result<Option<String>> {
    let mut options = Vec::from_iter(found.text("options").map(str::to_owned));
    for limit in ["statement_timeout", "idle_in_transaction_session_timeout"] {
        if let Some(time) = found.milliseconds(limit)? {
            options.push(format!("-c {limit}={}", time.as_millis()));
        }
    }
    Ok((!options.is_empty()).then(|| options.join(" ")))
}

/// For whom a password is looked up.
#[derive(Clone, Copy)]
struct Who<'a> {
    hosts: &'a [Host],
    database: &'a str,
    user: &'a str,
}

fn password(
    found: &Found,
    around: &Surroundings<'_>,
    who: Who<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<Option<String>> {
    if let Some(password) = found.text("password") {
        return Ok(Some(password.to_owned()));
    }
    let own = around.home.map(|home| home.join(".pgpass"));
    let Some(path) = found.text("passfile").map(PathBuf::from).or(own) else { return Ok(None) };
    for host in who.hosts {
        let name = match (host.name.as_str(), host.address) {
            (SOCKET_FOLDER, _) => "localhost".to_owned(),
            ("", Some(address)) => address.to_string(),
            (name, _) => name.to_owned(),
        };
        let asker =
            files::Asker { host: &name, port: host.port, database: who.database, user: who.user };
        if let Some(password) = files::password(&path, &asker, warnings)? {
            return Ok(Some(password));
        }
    }
    Ok(None)
}

fn bad(why: &str) -> Error {
    ServerError::BadAddress { why: why.to_owned(), hint: None }.into()
}

fn bad_with_hint(why: &str, hint: &str) -> Error {
    ServerError::BadAddress { why: why.to_owned(), hint: Some(hint.to_owned()) }.into()
}
