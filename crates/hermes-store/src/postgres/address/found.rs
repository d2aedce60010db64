//! What a connection string, its service and the variables `PG*` say, by key.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Surroundings, bad, bad_with_hint, files, text};
use crate::Result;

/// Every key that may be said, and the variable that says it too.
const KEYS: &[(&str, Option<&str>)] = &[
    ("host", Some("PGHOST")),
    ("hostaddr", Some("PGHOSTADDR")),
    ("port", Some("PGPORT")),
    ("dbname", Some("PGDATABASE")),
    ("user", Some("PGUSER")),
    ("password", Some("PGPASSWORD")),
    ("passfile", Some("PGPASSFILE")),
    ("service", Some("PGSERVICE")),
    ("options", Some("PGOPTIONS")),
    ("application_name", None),
    ("client_encoding", None),
    ("connect_timeout", Some("PGCONNECT_TIMEOUT")),
    ("sslmode", Some("PGSSLMODE")),
    ("sslrootcert", Some("PGSSLROOTCERT")),
    ("sslcert", Some("PGSSLCERT")),
    ("sslkey", Some("PGSSLKEY")),
    ("channel_binding", Some("PGCHANNELBINDING")),
    ("target_session_attrs", Some("PGTARGETSESSIONATTRS")),
    ("keepalives", None),
    ("keepalives_idle", None),
    ("keepalives_interval", None),
    ("keepalives_count", None),
    ("tcp_user_timeout", None),
    // Ours: libpq says these with `options`.
    ("statement_timeout", None),
    ("idle_in_transaction_session_timeout", None),
];

/// What was said, by key; what was said closer to the user won.
pub(super) struct Found(BTreeMap<&'static str, String>);

impl Found {
    pub(super) fn collect(text: &str, around: &Surroundings<'_>) -> Result<Found> {
        let mut found = Found(BTreeMap::new());
        for (key, value) in text::pairs(text)? {
            found.0.insert(known(&key)?, value);
        }
        let service =
            found.text("service").map(str::to_owned).or_else(|| (around.variable)("PGSERVICE"));
        for (key, value) in service.map_or(Ok(Vec::new()), |name| files::service(&name, around))? {
            found.0.entry(known(&key)?).or_insert(value);
        }
        for (key, variable) in KEYS {
            let said = variable.and_then(around.variable).filter(|said| !said.is_empty());
            if let Some(said) = said {
                found.0.entry(key).or_insert(said);
            }
        }
        Ok(found)
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str).filter(|text| !text.is_empty())
    }

    pub(super) fn number(&self, key: &str) -> Result<Option<u32>> {
        let Some(text) = self.text(key) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| bad(&format!("its {key} is not a whole number")))
    }

    pub(super) fn seconds(&self, key: &str) -> Result<Option<Duration>> {
        let number = self.number(key)?.filter(|number| *number > 0);
        Ok(number.map(|number| Duration::from_secs(number.into())))
    }

    /// A time as PostgreSQL writes it: milliseconds, or with a unit.
    pub(super) fn milliseconds(&self, key: &str) -> Result<Option<Duration>> {
        let Some(text) = self.text(key) else { return Ok(None) };
        let digits = text.trim_end_matches(|sign: char| sign.is_ascii_alphabetic());
        let factor = match text[digits.len()..].trim() {
            "" | "ms" => Some(1),
            "s" => Some(1_000),
            "min" => Some(60_000),
            _ => None,
        };
        let number = digits.trim().parse::<u32>().ok();
        match (number, factor) {
            (Some(number), Some(factor)) => {
                Ok(Some(Duration::from_millis(u64::from(number) * factor)))
            }
            _ => Err(bad_with_hint(&format!("its {key} is not a duration"), "write it like 30s")),
        }
    }

    pub(super) fn one_of(&self, key: &str, words: &[&str]) -> Result<Option<String>> {
        match self.text(key) {
            Some(text) if !words.contains(&text) => Err(bad_with_hint(
                &format!("its {key} is not valid"),
                &format!("use one of {}", words.join(", ")),
            )),
            said => Ok(said.map(str::to_owned)),
        }
    }
}

/// The key as it stands in the list. What is not near any of them is not repeated: it may be half of a password.
fn known(key: &str) -> Result<&'static str> {
    if let Some((known, _)) = KEYS.iter().find(|(known, _)| *known == key) {
        return Ok(known);
    }
    let near =
        KEYS.iter().map(|(known, _)| (strsim::damerau_levenshtein(known, key), *known)).min();
    match near {
        Some((distance, near)) if distance <= 2 => Err(bad_with_hint(
            &format!("it has an unknown key, {key}"),
            &format!("did you mean {near}?"),
        )),
        _ => {
            let keys = KEYS.iter().map(|(key, _)| *key).collect::<Vec<_>>().join(", ");
            Err(bad_with_hint(
                "it has an unknown key",
                &format!(
                    "the known keys are \
                 {keys}"
                ),
            ))
        }
    }
}
