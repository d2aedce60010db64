//! Secrets: the `.env` file, and the rules for what is never shown.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;

use serde::{Deserialize, Serialize, Serializer};

use crate::atomic;
use crate::error::{Error, Result};
use crate::layout::Home;
use crate::lock;

/// A value that is not shown: no Display, and Debug prints `Secret(…)`.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

/// What `.env` holds, and the lines that make no sense.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    values: BTreeMap<String, Secret>,
    /// The numbers of the lines that are no `NAME=value`, with the reason.
    pub bad_lines: Vec<BadLine>,
}

/// A line of `.env` that makes no sense; what it says is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadLine {
    /// Its number, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub why: &'static str,
}

/// What is shown in place of a secret.
pub const HIDDEN: &str = "***";

impl Secret {
    /// Wraps a value.
    pub fn new(value: String) -> Secret {
        Secret(value)
    }

    /// The value itself, for the one place that needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(HIDDEN)
    }
}

impl Secrets {
    /// Reads the `.env` of the home; a missing file holds nothing.
    pub fn read(home: &Home) -> Result<Secrets> {
        Ok(Secrets::parse(&read_text(home)?))
    }

    /// Reads lines of `NAME=value`; `export`, quotes and comments are understood.
    pub fn parse(text: &str) -> Secrets {
        let mut secrets = Secrets::default();
        for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            match parse_line(line) {
                Ok(None) => {}
                Ok(Some((name, value))) => {
                    secrets.values.insert(name.to_owned(), Secret(value));
                }
                Err(why) => secrets.bad_lines.push(BadLine { line: number + 1, why }),
            }
        }
        secrets
    }

    /// The secret with this name.
    pub fn get(&self, name: &str) -> Option<&Secret> {
        self.values.get(name)
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }
}

/// Writes one secret to `.env`, in place of its old line or at the end; all other lines stay.
pub fn set_secret(home: &Home, name: &str, value: &Secret) -> Result<()> {
    change_secrets(home, name, Some(value)).map(|_| ())
}

/// Removes one secret from `.env`; returns whether it was there.
pub fn remove_secret(home: &Home, name: &str) -> Result<bool> {
    change_secrets(home, name, None)
}

fn change_secrets(home: &Home, name: &str, value: Option<&Secret>) -> Result<bool> {
    if !is_secret_name(name) {
        let why = "use only A-Z, 0-9 and _, and start with a letter";
        return Err(Error::BadName { what: "secret", name: name.to_owned(), why });
    }
    home.must_exist()?;
    let path = home.secrets();
    let _lock = lock::hold(&path)?;
    let text = read_text(home)?;
    let changed = with_secret(&text, name, value);
    if changed == text {
        make_private(&path).map_err(|source| Error::write(&path, source))?;
        return Ok(false);
    }
    atomic::write_private(&path, changed.as_bytes())?;
    Ok(true)
}

/// The text of `.env` with one secret set (or removed) and everything else as it was.
fn with_secret(text: &str, name: &str, value: Option<&Secret>) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut fresh = value.map(|value| format!("{name}={}{newline}", quote(value.reveal())));
    let mut changed = String::with_capacity(text.len() + 64);
    for line in text.split_inclusive('\n') {
        let is_it = matches!(parse_line(line.trim_end()), Ok(Some((found, _))) if found == name);
        match (is_it, &mut fresh) {
            (false, _) => changed.push_str(line),
            (true, fresh) => changed.push_str(&fresh.take().unwrap_or_default()),
        }
    }
    if let Some(line) = fresh {
        if !changed.is_empty() && !changed.ends_with('\n') {
            changed.push_str(newline);
        }
        changed.push_str(&line);
    }
    changed
}

fn quote(value: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@+%=,~".contains(c);
    if value.chars().all(plain) {
        return value.to_owned();
    }
    let mut quoted = String::from("\"");
    for letter in value.chars() {
        match letter {
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            '"' | '\\' | '$' => quoted.extend(['\\', letter]),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

type Line<'a> = std::result::Result<Option<(&'a str, String)>, &'static str>;

fn parse_line(line: &str) -> Line<'_> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(None);
    }
    let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
    let (name, value) = line.split_once('=').ok_or("there is no `=`")?;
    let name = name.trim_end();
    if !is_variable_name(name) {
        return Err("the name contains characters other than letters, digits and _");
    }
    Ok(Some((name, parse_value(value.trim())?)))
}

fn parse_value(value: &str) -> std::result::Result<String, &'static str> {
    if let Some(quoted) = value.strip_prefix('\'') {
        let (inside, rest) = quoted.split_once('\'').ok_or("the quote is not closed")?;
        return only_comment(rest).map(|()| inside.to_owned());
    }
    if let Some(quoted) = value.strip_prefix('"') {
        return parse_double_quoted(quoted);
    }
    if value.starts_with('#') {
        return Ok(String::new());
    }
    let comment = value
        .match_indices('#')
        .map(|(at, _)| at)
        .find(|at| value[..*at].ends_with(char::is_whitespace));
    Ok(value[..comment.unwrap_or(value.len())].trim_end().to_owned())
}

fn parse_double_quoted(quoted: &str) -> std::result::Result<String, &'static str> {
    let mut value = String::new();
    let mut letters = quoted.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return only_comment(letters.as_str()).map(|()| value),
            '\\' => match letters.next().ok_or("the quote is not closed")? {
                'n' => value.push('\n'),
                'r' => value.push('\r'),
                't' => value.push('\t'),
                escaped @ ('"' | '\\' | '$') => value.push(escaped),
                other => value.extend(['\\', other]),
            },
            other => value.push(other),
        }
    }
    Err("the quote is not closed")
}

fn only_comment(rest: &str) -> std::result::Result<(), &'static str> {
    let rest = rest.trim();
    if rest.is_empty() || rest.starts_with('#') {
        Ok(())
    } else {
        Err("there is text after the closing quote")
    }
}

fn read_text(home: &Home) -> Result<String> {
    let path = home.secrets();
    match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        other => other.map_err(|source| Error::read(&path, source)),
    }
}

fn make_private(path: &std::path::Path) -> io::Result<()> {
    if !path.exists() {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
}

/// Whether others than the owner can read the file of secrets.
pub fn is_exposed(home: &Home) -> bool {
    fs::metadata(home.secrets()).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

/// Whether this is the name of a secret in `.env`: ALL_CAPS, as in the environment.
pub fn is_secret_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(allowed)
}

fn is_variable_name(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(allowed)
}

/// Whether a config key holds a secret, by the words in its last part.
pub fn is_secret_key(key: &str) -> bool {
    const PARTS: &[&str] = &[
        "apikey",
        "token",
        "password",
        "passwd",
        "secret",
        "connectionstring",
        "passphrase",
        "privatekey",
        "credential",
        "accesskey",
        "databaseurl",
        "dburl",
        "webhook",
        "bearer",
    ];
    // `context_budget_tokens` counts tokens; it is no token.
    let plain: String = last_part(key).to_ascii_lowercase().replace(['_', '-'], "");
    // Where a passphrase is, or what it is used with, is no passphrase.
    const HARMLESS: &[&str] = &["tokens", "file", "format"];
    PARTS.iter().any(|part| plain.contains(part))
        && !HARMLESS.iter().any(|end| plain.ends_with(end))
}

fn last_part(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

/// The value as it may be shown: as it is, `***`, or a URL without the user and the password.
pub fn redact(key: &str, value: &str) -> String {
    if !is_secret_key(key) && !is_secret_name(key) {
        return value.to_owned();
    }
    if value.is_empty() {
        return String::new();
    }
    redact_url(value).unwrap_or_else(|| HIDDEN.to_owned())
}

/// Schemes whose path is the name of a database.
const DATABASES: &[&str] = &[
    "postgres",
    "postgresql",
    "mysql",
    "mariadb",
    "sqlite",
    "mssql",
    "sqlserver",
    "mongodb",
    "redis",
    "rediss",
];
/// Schemes whose path may itself be the secret, as with webhooks.
const WEB: &[&str] = &["http", "https", "ws", "wss"];

/// A URL of a known scheme without its secrets; what is unclear is hidden whole.
fn redact_url(value: &str) -> Option<String> {
    let (scheme, rest) = value.split_once("://")?;
    // `postgresql+asyncpg` is a driver of the first.
    let family = scheme.split('+').next().unwrap_or(scheme).to_ascii_lowercase();
    let is_database = DATABASES.contains(&family.as_str());
    let is_known = is_database || WEB.contains(&family.as_str());
    let is_scheme = scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    if !is_known || !is_scheme || rest.contains(char::is_whitespace) {
        return None;
    }
    // The last `@` of all: a password with a slash in it must not end up in the host.
    let (user, place) = match rest.rsplit_once('@') {
        None => ("", rest),
        Some((before, _)) if before.contains(['?', '#']) => return None,
        Some((before, _)) if !is_database && before.contains('/') => return None,
        Some((_, place)) => ("***@", place),
    };
    let (place, query) = match place.split_once(['?', '#']) {
        Some((place, _)) => (place, "?***"),
        None => (place, ""),
    };
    let (host, path) = place.split_once('/').unwrap_or((place, ""));
    match (is_database, path.is_empty()) {
        (_, true) => Some(format!("{scheme}://{user}{place}{query}")),
        (false, false) => Some(format!("{scheme}://{user}{host}/{HIDDEN}")),
        // A path longer than the name of a database may be more than that.
        (true, false) if path.contains('/') => None,
        (true, false) => Some(format!("{scheme}://{user}{place}{query}")),
    }
}

#[cfg(test)]
#[path = "secret_tests.rs"]
mod tests;
