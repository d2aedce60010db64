//! Who a home is and which databases it has, noted outside of them: one that is lost is not made anew in silence.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::layout::Home;
use crate::{atomic, lock};

/// A database of a home.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Database {
    /// Every session and message.
    #[serde(rename = "state.db")]
    State,
    /// What is remembered.
    #[serde(rename = "memory.db")]
    Memory,
}

impl Database {
    /// What its file is called.
    pub fn file_name(self) -> &'static str {
        match self {
            Database::State => "state.db",
            Database::Memory => "memory.db",
        }
    }
}

/// What is noted of a home.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// The random id of the home: its backups are known by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    home_id: Option<String>,
    /// The databases that the home has.
    #[serde(default)]
    databases: BTreeMap<Database, Seen>,
    /// Those that somebody began anew on purpose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    begun_anew: Vec<BegunAnew>,
    /// Whether there is a note that cannot be read: then any of them may have been there.
    #[serde(skip)]
    is_unreadable: bool,
}

/// A database as it was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The random id that is in it; none where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// When it was made; none where that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Where it is: below the folder of the home, or anywhere.
    pub place: PathBuf,
}

/// That somebody let a new database begin on purpose where one was missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct BegunAnew {
    database: Database,
    at: Timestamp,
    /// The one that was missing.
    before: Option<Seen>,
}

impl Noted {
    /// What is noted of a home; to look makes nothing.
    pub fn read(home: &Home) -> Noted {
        match fs::read(home.databases()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Noted::default(),
            found => found
                .ok()
                .and_then(|bytes| serde_json::from_slice(&bytes).ok())
                .unwrap_or_else(Noted::of_anything),
        }
    }

    fn of_anything() -> Noted {
        let seen = |database: Database| {
            (database, Seen { id: None, since: None, place: database.file_name().into() })
        };
        let databases = [Database::State, Database::Memory].map(seen).into();
        Noted { databases, is_unreadable: true, ..Noted::default() }
    }

    /// The random id of the home.
    pub fn home_id(&self) -> Option<&str> {
        self.home_id.as_deref()
    }

    /// Whether the home has such a database, be it there or lost.
    pub fn has(&self, database: Database) -> bool {
        self.databases.contains_key(&database)
    }

    /// The database as it was last seen.
    pub fn seen(&self, database: Database) -> Option<&Seen> {
        self.databases.get(&database)
    }
}

/// Notes a database that is there, and who the home is if that is not known yet.
pub fn note(home: &Home, database: Database, seen: Seen, home_id: &str) -> Result<()> {
    let seen = Seen { place: below(home, &seen.place), ..seen };
    let change = |noted: &mut Noted| {
        noted.home_id.get_or_insert_with(|| home_id.to_owned());
        let same = noted.databases.get(&database).filter(|before| before.id == seen.id);
        let since = same.map_or(seen.since, |before| before.since.or(seen.since));
        noted.databases.insert(database, Seen { since, ..seen.clone() });
    };
    changed(home, change)
}

/// Notes who the home is, if that is not known yet.
pub fn note_id(home: &Home, home_id: &str) -> Result<()> {
    changed(home, |noted| {
        noted.home_id.get_or_insert_with(|| home_id.to_owned());
    })
}

/// Notes that somebody wants a new database where one is missing: from now on it may be made.
pub fn begin_anew(home: &Home, database: Database, now: Timestamp) -> Result<()> {
    changed(home, |noted| {
        let before = noted.databases.remove(&database);
        noted.begun_anew.push(BegunAnew { database, at: now, before });
    })
}

/// Where a database was last seen.
pub fn place(home: &Home, seen: &Seen) -> PathBuf {
    home.folder().join(&seen.place)
}

/// Changes the note under its lock, and writes it only where that made a difference.
fn changed(home: &Home, change: impl Fn(&mut Noted)) -> Result<()> {
    let is_new = |before: &Noted| {
        let mut after = Noted { is_unreadable: false, ..before.clone() };
        change(&mut after);
        (before.is_unreadable || after != *before).then_some(after)
    };
    if is_new(&Noted::read(home)).is_none() {
        return Ok(());
    }
    let path = home.databases();
    let _lock = lock::hold(&path)?;
    let Some(after) = is_new(&Noted::read(home)) else { return Ok(()) };
    let text =
        serde_json::to_string_pretty(&after).map_err(|error| Error::write(&path, error.into()))?;
    atomic::write(&path, format!("{text}\n").as_bytes())
}

/// A place below the home moves with it.
fn below(home: &Home, place: &Path) -> PathBuf {
    place.strip_prefix(home.folder()).unwrap_or(place).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn seen(home: &Home, id: &str, second: Option<i64>) -> Seen {
        let since = second.map(|second| Timestamp::from_second(second).unwrap());
        Seen { id: Some(id.to_owned()), since, place: home.folder().join("memory.db") }
    }

    #[test]
    fn a_home_keeps_its_id_and_what_is_known_of_its_databases() {
        let root = tempfile::tempdir().unwrap();
        let home = testing::home(&root);
        assert_eq!(Noted::read(&home), Noted::default());
        assert!(!home.own().exists(), "to look makes nothing");
        note(&home, Database::Memory, seen(&home, "m1", Some(5)), "home").unwrap();
        note(&home, Database::Memory, seen(&home, "m1", Some(9)), "another").unwrap();
        let noted = Noted::read(&home);
        assert_eq!(noted.home_id(), Some("home"));
        let kept = noted.seen(Database::Memory).unwrap();
        assert_eq!(kept.since.unwrap().as_second(), 5, "it is the one that was seen first");
        assert_eq!(kept.place, Path::new("memory.db"), "it moves with the home");
        assert!(noted.has(Database::Memory) && !noted.has(Database::State));
        note(&home, Database::Memory, seen(&home, "m2", None), "home").unwrap();
        assert_eq!(Noted::read(&home).seen(Database::Memory).unwrap().since, None);
    }

    #[test]
    fn what_is_begun_anew_is_noted_and_may_be_made() {
        let root = tempfile::tempdir().unwrap();
        let home = testing::home(&root);
        note(&home, Database::Memory, seen(&home, "m1", Some(5)), "home").unwrap();
        begin_anew(&home, Database::Memory, Timestamp::from_second(8).unwrap()).unwrap();
        let noted = Noted::read(&home);
        assert!(!noted.has(Database::Memory));
        assert_eq!(noted.home_id(), Some("home"), "the home is still the same");
        let text = fs::read_to_string(home.databases()).unwrap();
        assert!(text.contains("begun_anew") && text.contains("m1"), "{text}");
    }

    #[test]
    fn a_note_that_cannot_be_read_lets_nothing_be_made() {
        let root = tempfile::tempdir().unwrap();
        let home = testing::home(&root);
        atomic::make_folder(home.databases().parent().unwrap()).unwrap();
        atomic::write(&home.databases(), b"{\"databases\": 7").unwrap();
        let noted = Noted::read(&home);
        assert!(noted.has(Database::Memory) && noted.has(Database::State));
        note(&home, Database::Memory, seen(&home, "m1", None), "home").unwrap();
        let noted = Noted::read(&home);
        assert_eq!(noted.seen(Database::Memory).unwrap().id.as_deref(), Some("m1"));
        assert!(noted.has(Database::State), "it may have been there");
    }
}
