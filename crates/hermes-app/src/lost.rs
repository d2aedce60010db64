//! A database of a home that was there and is missing: nothing is made in its place, and the backup that has it is named.

use std::path::{Path, PathBuf};

use hermes_backup::{restore, whose};
use hermes_home::Home;
use hermes_home::databases::{self, Database, Noted, Seen};
use hermes_home::init::Owner;
use hermes_store::Error as StoreError;
use hermes_store::memory::{Admin, Memory, Uid};
use jiff::Timestamp;
use serde::Serialize;

use crate::app::App;
use crate::backup::having;

/// A database that is missing.
#[derive(Debug, Clone, Serialize)]
pub struct Lost {
    /// Where it was.
    pub file: PathBuf,
    /// The newest backup that has it.
    pub backup: Option<String>,
    /// What brings it back.
    pub restore: Option<String>,
    /// What there is to do, in a sentence.
    #[serde(skip)]
    advice: String,
}

impl Lost {
    /// What is wrong, and which backup helps.
    pub fn said(&self) -> String {
        let file = self.file.display();
        match &self.backup {
            Some(backup) => {
                format!("{file} is missing, but this home had it; backup {backup} contains it")
            }
            None => format!("{file} is missing, but this home had it; no backup here contains it"),
        }
    }

    /// The command that brings it back, or else what helps to find one.
    pub fn repair(&self) -> String {
        self.restore.clone().unwrap_or_else(|| self.advice.clone())
    }
}

impl From<Lost> for StoreError {
    fn from(lost: Lost) -> StoreError {
        StoreError::Lost { path: lost.file, advice: lost.advice }
    }
}

impl App {
    /// Every database of a home that was there before and is missing.
    pub fn all_lost(&self, home: &Home) -> Vec<Lost> {
        let both = [Database::State, Database::Memory];
        both.into_iter().filter_map(|database| self.lost(home, database)).collect()
    }

    /// Fails if a database must not be made: it was there before, or a restore of the home was cut off.
    pub fn may_make(&self, home: &Home, database: Database) -> anyhow::Result<()> {
        restore::must_not_be_cut_off(home)?;
        Ok(self.refuse_lost(home, database)?)
    }

    /// Fails if a database was there before and is missing.
    pub fn refuse_lost(&self, home: &Home, database: Database) -> Result<(), StoreError> {
        self.lost(home, database).map_or(Ok(()), |lost| Err(lost.into()))
    }

    /// The database, if it was there before and is missing.
    pub fn lost(&self, home: &Home, database: Database) -> Option<Lost> {
        let place = self.place_of(home, database)?;
        if !is_missing(&place) {
            return None;
        }
        let noted = Noted::read(home);
        noted.has(database).then(|| self.lost_from(home, database, noted.seen(database), place))
    }

    /// Whether a database is there; a memory on a server always is.
    pub fn has_database(&self, home: &Home, database: Database) -> anyhow::Result<bool> {
        if database == Database::Memory && self.is_on_server(home)? {
            return Ok(true);
        }
        Ok(self.place_of(home, database).is_some_and(|place| place.symlink_metadata().is_ok()))
    }

    /// Where a database of a home belongs; none for a memory on a server.
    fn place_of(&self, home: &Home, database: Database) -> Option<PathBuf> {
        match database {
            Database::State => Some(home.state_db()),
            Database::Memory => self.memory_file(home).ok().flatten(),
        }
    }

    fn lost_from(
        &self,
        home: &Home,
        database: Database,
        seen: Option<&Seen>,
        file: PathBuf,
    ) -> Lost {
        let anew = self.anew(home, database);
        let before = seen.map(|seen| databases::place(home, seen));
        if let Some(before) = before.filter(|before| *before != file && !is_missing(before)) {
            let advice = format!(
                "the memory of this home is in {before}: move it with `mv {before} {file}`, or use \
                 that path with `hermes config set memory.path {before}`; {anew}",
                before = before.display(),
                file = file.display(),
            );
            return Lost { file, backup: None, restore: None, advice };
        }
        match having::newest(self, home, database, seen, &file) {
            Some(having) => {
                let advice = format!("restore it with `{}`; {anew}", having.command);
                Lost { file, backup: Some(having.id), restore: Some(having.command), advice }
            }
            None => {
                let advice = format!(
                    "no backup known here contains it: check `hermes backup list`, or fetch one \
                     with `hermes backup pull`; {anew}"
                );
                Lost { file, backup: None, restore: None, advice }
            }
        }
    }

    /// How somebody begins with an empty one on purpose.
    fn anew(&self, home: &Home, database: Database) -> &'static str {
        match database {
            Database::Memory => "`hermes init --new-memory` starts with an empty one",
            Database::State if matches!(self.owner(home), Ok(Owner::HermesAgent)) => {
                "Hermes Agent creates an empty one when it starts"
            }
            Database::State => "`hermes init --new-state` starts with an empty one",
        }
    }

    /// Who a home is, by which its backups are told from those of others; none where nothing says so yet.
    ///
    /// A home that has no note of it is who its memory says, as archives of earlier versions name it.
    pub fn home_id(&self, home: &Home) -> Option<String> {
        if let Some(id) = Noted::read(home).home_id() {
            return Some(id.to_owned());
        }
        let said = self.own_memory_path(home).ok();
        let found = whose::home_id(&said.unwrap_or_else(|| home.folder().join("memory.db")));
        // The id of a memory on a server is that of every home which uses it.
        found.or_else(|| self.is_on_server(home).ok()?.then(|| self.home_name(home)))
    }

    /// Notes state.db, and who the home is. A home of Hermes Agent gets a note with the first thing of ours.
    pub fn note_state(&self, home: &Home, since: Option<Timestamp>) {
        let place = home.state_db();
        let is_ours = home.own().is_dir() || matches!(self.owner(home), Ok(Owner::Ours));
        if is_missing(&place) || !is_ours {
            return;
        }
        let id = self.home_id(home).unwrap_or_else(|| self.new_id());
        // What cannot be noted now is noted by the next command: no reason to fail.
        let _ = databases::note(home, Database::State, Seen { id: None, since, place }, &id);
    }

    /// Notes the memory of a home that was opened, and its sessions.
    pub fn note_memory(&self, home: &Home, store: &Memory) {
        let Ok(own) = store.home_id(Admin) else { return };
        let id = self.home_id(home).unwrap_or_else(|| own.clone());
        let since = own.parse::<Uid>().ok().and_then(|id| id.made());
        let seen = Seen { id: Some(own), since, place: store.path().to_owned() };
        let _ = databases::note(home, Database::Memory, seen, &id);
        self.note_state(home, None);
    }

    fn new_id(&self) -> String {
        let mut chance = [0; 10];
        // Without chance it is the time alone, which no other home of this user has.
        let _ = getrandom::fill(&mut chance);
        Uid::new(self.now, chance).to_string()
    }
}

/// Whether there is no file, or a link that leads nowhere.
fn is_missing(path: &Path) -> bool {
    path.metadata().is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}
