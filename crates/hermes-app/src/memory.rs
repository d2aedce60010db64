//! The memory of a home is opened: made by the first who writes, never made in the place of one that is lost.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_home::databases::{Database, Noted};
use hermes_home::{Home, atomic, versions};
use hermes_llm::{Embedded, Embedder};
use hermes_memory::reembed;
use hermes_store::memory::{Memory, Wanted as WantedMemory};
use hermes_store::rot::HighWater;
use hermes_store::sqlite::Access;
use hermes_store::{Error as StoreError, Result as StoreResult};

use crate::app::{App, OWNER_NAME, keep_before_upgrade};
use crate::problem::{Kind, Problem};
use crate::process::{self, Identity};

/// An opened memory.db.
pub struct OpenMemory {
    /// The memory itself.
    pub store: Memory,
    /// Where the file is, or will be.
    pub path: PathBuf,
    /// Whether there is such a file; if not, the store is an empty one that is gone afterwards.
    pub exists: bool,
    _scratch: Option<tempfile::TempDir>,
}

impl OpenMemory {
    /// Whether this is still the memory that is meant: its file is the one that was opened, and on a server no other
    /// has its name. Where that cannot be found out it is to be opened anew, and whoever does is told why it fails.
    pub(crate) fn is_in_place(&self, opened: Option<Identity>) -> bool {
        process::identity(&self.path) == opened && self.store.is_in_place().unwrap_or(false)
    }
}

impl App {
    /// The same for memory.db; one that the settings keep elsewhere has a mark by its path.
    pub fn memory_marks(&self, home: &Home) -> anyhow::Result<HighWater> {
        let path = self.own_memory_path(home)?;
        if path == home.folder().join("memory.db") {
            return Ok(self.high_water(home));
        }
        let mut name = versions::hash(path.as_os_str().as_encoded_bytes());
        name.truncate(16);
        Ok(HighWater::at(home.high_water().join(name)))
    }

    /// The memory in a file that exists; before an upgrade a copy is kept.
    pub fn opened_memory(
        &self,
        home: &Home,
        path: &Path,
        access: Access,
        wait: Duration,
    ) -> StoreResult<Memory> {
        let wanted = WantedMemory { path, profile: home.profile_name() };
        let mut keep = |schema| keep_before_upgrade(home, path, schema, self.now);
        Memory::open_keeping(wanted, access, wait, &mut keep)
    }

    /// Where memory.db is, or will be; an error for a memory that is on a server.
    pub fn memory_path(&self, home: &Home) -> anyhow::Result<PathBuf> {
        if self.is_on_server(home)? {
            let what = "the memory of this profile is on a server, not in a file";
            return Err(Problem::new(Kind::Refused, what).hint("see `hermes db status`").into());
        }
        self.own_memory_path(home)
    }

    /// The same wherever the memory is: a copy to a file goes there.
    pub fn own_memory_path(&self, home: &Home) -> anyhow::Result<PathBuf> {
        let said = self.config(home)?.config.memory.path.as_deref();
        Ok(home.memory_db(said, &self.env)?)
    }

    /// Whether there is a memory to open: a file, also one that is lost, or a server that is to be asked.
    pub fn has_memory(&self, home: &Home) -> bool {
        match self.is_on_server(home) {
            Ok(true) => true,
            _ => {
                self.memory_path(home).is_ok_and(|path| path.symlink_metadata().is_ok())
                    || Noted::read(home).has(Database::Memory)
            }
        }
    }

    /// The memory of the home; the first to write makes it, and before that an empty one is read. One that was there
    /// and is missing is neither made nor read as empty.
    pub fn memory(&self, home: &Home, access: Access) -> anyhow::Result<OpenMemory> {
        self.memory_within(home, access, self.lock_wait(home)?)
    }

    /// The same, for a caller who waits so long for another program at most.
    pub fn memory_within(
        &self,
        home: &Home,
        access: Access,
        wait: Duration,
    ) -> anyhow::Result<OpenMemory> {
        if self.is_on_server(home)? {
            let mut store = self.server_memory(home, access, wait)?;
            store.heed(&self.stop)?;
            let path = store.path().to_owned();
            return Ok(OpenMemory { store, path, exists: true, _scratch: None });
        }
        self.memory_in_file(home, access, wait)
    }

    /// The memory in the file of the home, wherever the settings keep it.
    pub fn memory_in_file(
        &self,
        home: &Home,
        access: Access,
        wait: Duration,
    ) -> anyhow::Result<OpenMemory> {
        let path = self.own_memory_path(home)?;
        let exists = path.symlink_metadata().is_ok();
        let profile = home.profile_name();
        if !path.exists() {
            self.may_make(home, Database::Memory)?;
        }
        self.opened.refuse_stranger(home, &path)?;
        if !exists && access == Access::Read {
            let scratch = tempfile::tempdir()?;
            let inside = scratch.path().join("memory.db");
            let store = self.made_memory(home, WantedMemory { path: &inside, profile }, wait)?;
            return Ok(OpenMemory { store, path, exists, _scratch: Some(scratch) });
        }
        let wanted = WantedMemory { path: &path, profile };
        let mut store = match access {
            Access::Read => self.opened_memory(home, &path, access, wait)?,
            Access::Write if exists => self.writable_memory(home, wanted, wait)?,
            Access::Write => self.made_memory(home, wanted, wait)?,
        };
        self.opened.note(home, &store)?;
        store.heed(&self.stop)?;
        if access == Access::Write {
            self.note_memory(home, &store);
            store.keep_mark(&self.memory_marks(home)?)?;
        }
        Ok(OpenMemory { store, path, exists: true, _scratch: None })
    }

    /// A new memory of the profile in a file elsewhere.
    pub fn new_memory(&self, home: &Home, path: &Path) -> anyhow::Result<Memory> {
        let wanted = WantedMemory { path, profile: home.profile_name() };
        self.made_memory(home, wanted, self.lock_wait(home)?)
    }

    /// Makes a memory with the embedded model as the one that answers.
    fn made_memory(
        &self,
        home: &Home,
        wanted: WantedMemory<'_>,
        wait: Duration,
    ) -> anyhow::Result<Memory> {
        if let Some(folder) = wanted.path.parent().filter(|folder| !folder.exists()) {
            atomic::make_folder(folder)?;
        }
        match Memory::create(wanted, OWNER_NAME, self.change()) {
            // Somebody else made it in the same moment.
            Ok(()) | Err(StoreError::Exists { .. }) => self.writable_memory(home, wanted, wait),
            Err(error) => Err(error.into()),
        }
    }

    fn writable_memory(
        &self,
        home: &Home,
        wanted: WantedMemory<'_>,
        wait: Duration,
    ) -> anyhow::Result<Memory> {
        let mut store = self.opened_memory(home, wanted.path, Access::Write, wait)?;
        store.write_ahead(self.config(home)?.config.memory.wal_mode)?;
        if store.active_model()?.is_none() {
            self.reembed(home, &mut store, &Embedded::new(), &mut |_| {})?;
        }
        Ok(store)
    }

    /// Makes the vectors that a model lacks, and lets it answer.
    pub fn reembed(
        &self,
        home: &Home,
        store: &mut Memory,
        embedder: &dyn Embedder,
        progress: &mut dyn FnMut(hermes_store::memory::Coverage),
    ) -> anyhow::Result<reembed::Report> {
        let zone = self.zone(home)?;
        let batch = self.config(home)?.config.memory.embeddings.batch_size as usize;
        let settings = reembed::Settings { batch, now: self.now, zone: &zone };
        Ok(reembed::reembed(store, embedder, &settings, progress)?)
    }
}
