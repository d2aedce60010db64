//! How a connection is protected, and what its owner should know about that.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::found::Found;
use super::{Surroundings, bad_with_hint};
use crate::{Error, Result};

/// How a connection is protected, in libpq's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SslMode {
    /// Never encrypted.
    Disable,
    /// Encrypted only if the server refuses otherwise.
    Allow,
    /// Encrypted if the server can.
    Prefer,
    /// Encrypted; who answers is not checked.
    Require,
    /// Encrypted; the server shows a certificate of an authority that is trusted.
    VerifyCa,
    /// The same, and the certificate is that of the host that was named.
    VerifyFull,
}

/// The certificates by which a server is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::postgres) enum Roots {
    /// The authorities that browsers trust.
    Public,
    /// Those in a file.
    File(PathBuf),
}

/// The files by which we are known to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::postgres) struct Identity {
    /// Our certificate, and those between it and its authority.
    pub(in crate::postgres) certificate: PathBuf,
    /// The key it belongs to.
    pub(in crate::postgres) key: PathBuf,
}

/// Something about an address that its owner should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// The connection leaves this machine and nobody checks who answers.
    NotVerified {
        /// The mode that was asked for.
        mode: SslMode,
    },
    /// The connection leaves this machine and is not encrypted.
    NotEncrypted,
    /// A password file was left aside because others may read it.
    PasswordFileOpen {
        /// The file.
        path: PathBuf,
    },
}

/// The words of libpq, with what they mean.
const MODES: [(&str, SslMode); 6] = [
    ("disable", SslMode::Disable),
    ("allow", SslMode::Allow),
    ("prefer", SslMode::Prefer),
    ("require", SslMode::Require),
    ("verify-ca", SslMode::VerifyCa),
    ("verify-full", SslMode::VerifyFull),
];

impl FromStr for SslMode {
    type Err = Error;

    fn from_str(text: &str) -> Result<SslMode> {
        MODES.iter().find(|(word, _)| *word == text).map(|(_, mode)| *mode).ok_or_else(|| {
            bad_with_hint(
                "its sslmode is not valid",
                "use one of disable, allow, prefer, require, verify-ca, verify-full",
            )
        })
    }
}

impl fmt::Display for SslMode {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = MODES.iter().find(|(_, mode)| mode == self).map_or("", |(word, _)| *word);
        to.write_str(word)
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::NotVerified { mode } => {
                write!(to, "sslmode={mode} does not verify which server responds")
            }
            Warning::NotEncrypted => to.write_str("sslmode=disable sends everything unencrypted"),
            Warning::PasswordFileOpen { path } => {
                write!(to, "{} is not used: other users can read it", path.display())
            }
        }
    }
}

impl Warning {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Warning::NotVerified { .. } | Warning::NotEncrypted => {
                "`hermes config set memory.ssl_mode verify-full`, with sslrootcert=… for your own \
                 certificate authority"
                    .to_owned()
            }
            Warning::PasswordFileOpen { path } => format!("chmod 600 {}", path.display()),
        }
    }
}

pub(super) fn ssl_mode(
    found: &Found,
    around: &Surroundings<'_>,
    is_local: bool,
) -> Result<SslMode> {
    let said = found.text("sslmode").map(SslMode::from_str).transpose()?.or(around.ssl_mode);
    let usual = if is_local { SslMode::Prefer } else { SslMode::VerifyFull };
    Ok(explicit_roots_mean_checking(said.unwrap_or(usual), found))
}

/// As libpq has it: `require` with a certificate of one's own checks it.
fn explicit_roots_mean_checking(mode: SslMode, found: &Found) -> SslMode {
    match (mode, found.text("sslrootcert")) {
        (SslMode::Require, Some(_)) => SslMode::VerifyCa,
        _ => mode,
    }
}

pub(super) fn warning_about(mode: SslMode, is_local: bool) -> Option<Warning> {
    match mode {
        _ if is_local => None,
        SslMode::Disable => Some(Warning::NotEncrypted),
        SslMode::Allow | SslMode::Prefer | SslMode::Require => Some(Warning::NotVerified { mode }),
        SslMode::VerifyCa | SslMode::VerifyFull => None,
    }
}

pub(super) fn roots(found: &Found, around: &Surroundings<'_>) -> Roots {
    match found.text("sslrootcert") {
        Some("system") => Roots::Public,
        Some(path) => Roots::File(PathBuf::from(path)),
        None => {
            let own = around.home.map(|home| home.join(".postgresql/root.crt"));
            own.filter(|path| path.is_file()).map_or(Roots::Public, Roots::File)
        }
    }
}

/// The certificate that was named, else the one where libpq looks for it, if it is there.
pub(super) fn identity(found: &Found, around: &Surroundings<'_>) -> Result<Option<Identity>> {
    let own = |name: &str| around.home.map(|home| home.join(".postgresql").join(name));
    let named = |key: &str| found.text(key).map(PathBuf::from);
    let usual = || own("postgresql.crt").filter(|path| path.is_file());
    let key = named("sslkey");
    match (named("sslcert").or_else(usual), key.or_else(|| own("postgresql.key"))) {
        (Some(certificate), Some(key)) => Ok(Some(Identity { certificate, key })),
        (Some(_), None) => Err(bad_with_hint(
            "it has sslcert but no sslkey",
            "set sslkey=FILE to the key of the certificate",
        )),
        (None, _) if found.text("sslkey").is_some() => Err(bad_with_hint(
            "it has sslkey but no sslcert",
            "set sslcert=FILE to the certificate of the key",
        )),
        (None, _) => Ok(None),
    }
}
