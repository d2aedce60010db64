//! The one place that turns flags, environment and settings into opened parts.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_home::config::{self, Finding, Loaded, Severity};
use hermes_home::databases::{Database, Noted};
use hermes_home::env::Env;
use hermes_home::init::{self, Owner};
use hermes_home::layout::Wanted;
use hermes_home::{Home, Result as HomeResult, atomic, before_upgrade, versions};
use hermes_llm::{Embedded, Embedder};
use hermes_memory::{identity, reembed};
use hermes_store::memory::{
    Change, SqliteMemory, UserNumber, Vectors as _, Wanted as WantedMemory,
};
use hermes_store::rot::HighWater;
use hermes_store::sessions::SessionStore;
use hermes_store::sqlite::Access;
use hermes_store::{Error as StoreError, Result as StoreResult, Stop, snapshot};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::cli::Global;
use crate::clock;
use crate::confirm::Asking;
use crate::embedding::{self, Answering, Haste, Means};
use crate::failure::{Kind, Problem};
use crate::models::Models;
use crate::opened::{Opened, has_foreign_database};
use crate::output::{Output, Sheet};
use crate::place::Pools;
use crate::platform;
use crate::variables::Variables;

/// How long the copy before an upgrade may take.
const COPY_LIMITS: snapshot::Limits =
    snapshot::Limits { wait: Duration::from_secs(10), deadline: Duration::from_secs(3600) };
/// What the owner of a home is called in its memory.
pub(crate) const OWNER_NAME: &str = "owner";

/// What every command needs: who asks, where the home is, when it is, where to print.
pub(crate) struct App {
    pub(crate) env: Env,
    pub(crate) now: Timestamp,
    pub(crate) out: Output,
    pub(crate) asking: Asking,
    pub(crate) json: bool,
    /// By whom changes are made, as the chain of changes says it.
    pub(crate) actor: &'static str,
    /// Ends what is read when nobody waits for it any more.
    pub(crate) stop: Stop,
    wanted: Wanted,
    flags: Vec<String>,
    /// Whether it goes on where settings hold names that no setting has.
    is_forgiving: bool,
    owner: OnceCell<Owner>,
    loaded: OnceCell<Loaded>,
    /// The connections to servers that this process has.
    pub(crate) pools: Pools,
    /// The files of memories that this process has opened.
    opened: Opened,
}

/// An opened memory.db.
pub(crate) struct Memory {
    pub(crate) store: SqliteMemory,
    /// Where the file is, or will be.
    pub(crate) path: PathBuf,
    /// Whether there is such a file; if not, the store is an empty one that is gone afterwards.
    pub(crate) exists: bool,
    _scratch: Option<tempfile::TempDir>,
}

/// Who makes the changes that are typed.
pub(crate) const ACTOR: &str = "user";

/// Keeps a copy of a database that is about to be brought up to a newer schema.
pub(crate) fn keep_before_upgrade(
    home: &Home,
    (path, schema): (&Path, i64),
    now: Timestamp,
) -> StoreResult<()> {
    let failed = |error: hermes_home::Error| StoreError::File {
        doing: "keep a copy before the upgrade in",
        path: home.before_upgrade(),
        source: std::io::Error::other(error),
    };
    let copy = before_upgrade::begin(home, (path, schema), now).map_err(failed)?;
    snapshot::take(path, &copy.path, COPY_LIMITS, &mut |_, _| {})?;
    copy.finish(home, now).map_err(failed)
}

impl App {
    pub(crate) fn new(global: Global) -> App {
        let color = match global.no_color {
            true => anstream::ColorChoice::Never,
            false => anstream::AutoStream::choice(&std::io::stdout()),
        };
        App {
            env: Env::of_process(),
            now: clock::now(),
            out: Output::new(global.json, global.quiet, color, global.place()),
            asking: Asking { yes: global.yes, no_input: global.no_input },
            json: global.json,
            actor: ACTOR,
            stop: Stop::default(),
            wanted: Wanted { home: global.home, profile: global.profile },
            flags: global.settings,
            is_forgiving: false,
            owner: OnceCell::new(),
            loaded: OnceCell::new(),
            pools: Pools::default(),
            opened: Opened::default(),
        }
    }

    /// The same for another profile and for now: settings are read anew, and nothing is asked or printed.
    pub(crate) fn for_profile(&self, home: &Home) -> App {
        let profile = Some(home.profile_name().to_owned());
        let wanted = Wanted { home: Some(home.root().to_owned()), profile };
        self.elsewhere(wanted, self.flags.clone())
    }

    /// The same for a command that is typed inside a conversation: what it prints goes to a sheet.
    pub(crate) fn inside(&self, home: &Home, sheet: Sheet) -> App {
        App { out: Output::on_sheet(sheet), asking: self.asking, ..self.for_profile(home) }
    }

    /// The same for whoever must not be stopped by a name in the settings that no setting has.
    pub(crate) fn forgiving(self) -> App {
        App { is_forgiving: true, ..self }
    }

    /// A name in the settings that may be meant to say where the memory is, or whose it is.
    pub(crate) fn doubtful_memory(&self, home: &Home) -> anyhow::Result<Option<String>> {
        let is_doubtful = |finding: &&Finding| {
            let key = finding.key.as_deref().unwrap_or_default();
            let near = config::nearest(key).unwrap_or_default();
            let is_of = |section: &str| near.split('.').next() == Some(section);
            finding.severity == Severity::Error && (is_of("memory") || is_of("users"))
        };
        let found = self.config(home)?.warnings.iter().find(is_doubtful);
        Ok(found.map(ToString::to_string))
    }

    /// Whether somebody may be asked at this terminal: not with `--no-input`, and not on one that knows no cursor.
    pub(crate) fn asks(&self) -> bool {
        !self.asking.no_input && self.env.get("TERM") != Some("dumb")
    }

    /// The same for a home elsewhere.
    pub(crate) fn for_folder(&self, home: &std::path::Path) -> App {
        let wanted = Wanted { home: Some(home.to_owned()), profile: None };
        self.elsewhere(wanted, Vec::new())
    }

    /// Nothing is asked or printed there.
    fn elsewhere(&self, wanted: Wanted, flags: Vec<String>) -> App {
        App {
            env: self.env.clone(),
            now: clock::now(),
            out: Output::new(false, true, anstream::ColorChoice::Never, String::new()),
            asking: Asking { yes: false, no_input: true },
            json: false,
            actor: self.actor,
            stop: Stop::default(),
            wanted,
            flags,
            is_forgiving: self.is_forgiving,
            owner: OnceCell::new(),
            loaded: OnceCell::new(),
            pools: self.pools.clone(),
            opened: self.opened.clone(),
        }
    }

    /// The home that was asked for, whether it exists or not.
    pub(crate) fn home(&self) -> HomeResult<Home> {
        Home::locate(&self.wanted, &self.env)
    }

    /// The root home, whatever profile is in use: for commands about profiles.
    pub(crate) fn root_home(&self) -> HomeResult<Home> {
        let wanted = Wanted { profile: Some("default".into()), ..self.wanted.clone() };
        Home::locate(&wanted, &self.env)
    }

    /// The profile that was named with `--profile`, whether it is there or not.
    pub(crate) fn named_profile(&self) -> Option<&str> {
        self.wanted.profile.as_deref()
    }

    /// The home that was asked for; it must exist.
    pub(crate) fn existing_home(&self) -> HomeResult<Home> {
        let home = self.home()?;
        home.must_exist()?;
        Ok(home)
    }

    /// Whose home it is: Hermes Agent's when its config says so, or its database and no mark of ours.
    pub(crate) fn owner(&self, home: &Home) -> anyhow::Result<Owner> {
        if let Some(owner) = self.owner.get() {
            return Ok(*owner);
        }
        let config = config::read_text(&home.config())?.unwrap_or_default();
        let is_theirs = config::is_hermes_agent_config(&config)
            || (!init::has_our_mark(home) && has_foreign_database(home));
        let owner = if is_theirs { Owner::HermesAgent } else { Owner::Ours };
        Ok(*self.owner.get_or_init(|| owner))
    }

    /// The settings in force.
    pub(crate) fn config(&self, home: &Home) -> anyhow::Result<&Loaded> {
        if let Some(loaded) = self.loaded.get() {
            return Ok(loaded);
        }
        let (owner, flags) = (self.owner(home)?, self.flag_settings()?);
        let loaded = match self.is_forgiving {
            true => config::load_forgiving(home, owner, &self.env, &flags)?,
            false => config::load(home, owner, &self.env, &flags)?,
        };
        Ok(self.loaded.get_or_init(|| loaded))
    }

    /// Forgets the settings because config.yaml was changed.
    pub(crate) fn settings_changed(&mut self) {
        self.loaded.take();
    }

    /// What `--set` said, as pairs.
    pub(crate) fn flag_settings(&self) -> Result<Vec<(String, String)>, Problem> {
        self.flags
            .iter()
            .map(|flag| match flag.split_once('=') {
                Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
                None => Err(Problem::usage(format!("--set {flag}: there is no = in it"))
                    .hint("write it like `--set sessions.retention_days=30`")),
            })
            .collect()
    }

    /// The session database of the home, opened as the settings say.
    pub(crate) fn sessions(&self, home: &Home, access: Access) -> anyhow::Result<SessionStore> {
        let wait = self.lock_wait(home)?;
        let path = home.state_db();
        let mut keep = |schema| keep_before_upgrade(home, (&path, schema), self.now);
        match SessionStore::open_keeping(&path, access, wait, &mut keep) {
            Err(missing @ StoreError::Missing { .. }) => {
                self.refuse_lost(home, Database::State)?;
                Err(missing.into())
            }
            opened => {
                let mut store = opened?;
                match access {
                    Access::Read => store.heed(&self.stop)?,
                    Access::Write => store.keep_mark(&self.high_water(home))?,
                }
                Ok(store)
            }
        }
    }

    /// How far state.db had come when something was acknowledged.
    pub(crate) fn high_water(&self, home: &Home) -> HighWater {
        HighWater::at(home.high_water())
    }

    /// The same for memory.db; one that the settings keep elsewhere has a mark by its path.
    pub(crate) fn memory_marks(&self, home: &Home) -> anyhow::Result<HighWater> {
        let path = self.own_memory_path(home)?;
        if path == home.folder().join("memory.db") {
            return Ok(self.high_water(home));
        }
        let mut name = versions::hash(path.as_os_str().as_encoded_bytes());
        name.truncate(16);
        Ok(HighWater::at(home.high_water().join(name)))
    }

    /// The memory in a file that exists; before an upgrade a copy is kept.
    pub(crate) fn opened_memory(
        &self,
        home: &Home,
        path: &Path,
        access: Access,
        wait: Duration,
    ) -> StoreResult<SqliteMemory> {
        let wanted = WantedMemory { path, profile: home.profile_name() };
        let mut keep = |schema| keep_before_upgrade(home, (path, schema), self.now);
        SqliteMemory::open_keeping(wanted, access, wait, &mut keep)
    }

    /// Where memory.db is, or will be; an error for a memory that is on a server.
    pub(crate) fn memory_path(&self, home: &Home) -> anyhow::Result<PathBuf> {
        if self.is_on_server(home)? {
            let what = "the memory of this profile is on a server, not in a file";
            return Err(Problem::new(Kind::Refused, what).hint("see `hermes db status`").into());
        }
        self.own_memory_path(home)
    }

    /// The same wherever the memory is: a copy to a file goes there.
    pub(crate) fn own_memory_path(&self, home: &Home) -> anyhow::Result<PathBuf> {
        let said = self.config(home)?.config.memory.path.as_deref();
        Ok(home.memory_db(said, &self.env)?)
    }

    /// Whether there is a memory to open: a file, also one that is lost, or a server that is to be asked.
    pub(crate) fn has_memory(&self, home: &Home) -> bool {
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
    pub(crate) fn memory(&self, home: &Home, access: Access) -> anyhow::Result<Memory> {
        self.memory_within(home, access, self.lock_wait(home)?)
    }

    /// The same, for a caller who waits so long for another program at most.
    pub(crate) fn memory_within(
        &self,
        home: &Home,
        access: Access,
        wait: Duration,
    ) -> anyhow::Result<Memory> {
        if self.is_on_server(home)? {
            let mut store = self.server_memory(home, access, wait)?;
            store.heed(&self.stop)?;
            let path = store.path().to_owned();
            return Ok(Memory { store, path, exists: true, _scratch: None });
        }
        self.memory_in_file(home, access, wait)
    }

    /// The memory in the file of the home, wherever the settings keep it.
    pub(crate) fn memory_in_file(
        &self,
        home: &Home,
        access: Access,
        wait: Duration,
    ) -> anyhow::Result<Memory> {
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
            return Ok(Memory { store, path, exists, _scratch: Some(scratch) });
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
        Ok(Memory { store, path, exists: true, _scratch: None })
    }

    /// A new memory of the profile in a file elsewhere.
    pub(crate) fn new_memory(&self, home: &Home, path: &Path) -> anyhow::Result<SqliteMemory> {
        let wanted = WantedMemory { path, profile: home.profile_name() };
        self.made_memory(home, wanted, self.lock_wait(home)?)
    }

    /// Makes a memory with the embedded model as the one that answers.
    fn made_memory(
        &self,
        home: &Home,
        wanted: WantedMemory<'_>,
        wait: Duration,
    ) -> anyhow::Result<SqliteMemory> {
        if let Some(folder) = wanted.path.parent().filter(|folder| !folder.exists()) {
            atomic::make_folder(folder)?;
        }
        match SqliteMemory::create(wanted, OWNER_NAME, self.change()) {
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
    ) -> anyhow::Result<SqliteMemory> {
        let mut store = self.opened_memory(home, wanted.path, Access::Write, wait)?;
        store.write_ahead(self.config(home)?.config.memory.wal_mode)?;
        if store.active_model()?.is_none() {
            self.reembed(home, &mut store, &Embedded::new(), &mut |_| {})?;
        }
        Ok(store)
    }

    /// Makes the vectors that a model lacks, and lets it answer.
    pub(crate) fn reembed(
        &self,
        home: &Home,
        store: &mut SqliteMemory,
        embedder: &dyn Embedder,
        progress: &mut dyn FnMut(hermes_store::memory::Coverage),
    ) -> anyhow::Result<reembed::Report> {
        let zone = self.zone(home)?;
        let batch = self.config(home)?.config.memory.embeddings.batch_size as usize;
        let settings = reembed::Settings { batch, now: self.now, zone: &zone };
        Ok(reembed::reembed(store, embedder, &settings, progress)?)
    }

    /// Who changes something now.
    pub(crate) fn change(&self) -> Change<'static> {
        Change { actor: self.actor, at: self.now }
    }

    /// The embedding model the settings ask for.
    pub(crate) fn embedder(&self, home: &Home, haste: Haste) -> anyhow::Result<Box<dyn Embedder>> {
        self.with_means(home, haste, embedding::wanted)?
    }

    /// The embedding model that answers in a memory.
    pub(crate) fn answering(&self, home: &Home, store: &SqliteMemory) -> anyhow::Result<Answering> {
        match store.active_model()? {
            None => Ok(Answering::default()),
            Some(active) => {
                self.with_means(home, Haste::Question, |means| embedding::answering(&active, means))
            }
        }
    }

    /// The chat models that the settings and keys of a home give.
    pub(crate) fn models(&self, home: &Home) -> anyhow::Result<Models<'_>> {
        let variables = Variables::read(&self.env, home)?;
        Ok(Models { settings: &self.config(home)?.config.model, variables })
    }

    fn with_means<T>(
        &self,
        home: &Home,
        haste: Haste,
        deed: impl FnOnce(&Means<'_>) -> T,
    ) -> anyhow::Result<T> {
        let variables = Variables::read(&self.env, home)?;
        let variable = |name: &str| variables.value(name);
        let settings = &self.config(home)?.config.memory.embeddings;
        Ok(deed(&Means { settings, variable: &variable, haste }))
    }

    /// How long to wait for another program that writes to a database.
    pub(crate) fn lock_wait(&self, home: &Home) -> anyhow::Result<Duration> {
        let milliseconds = self.config(home)?.config.sessions.lock_wait_ms;
        Ok(Duration::from_millis(u64::from(milliseconds)))
    }

    /// The zone in which times are shown and dates are understood.
    pub(crate) fn zone(&self, home: &Home) -> anyhow::Result<TimeZone> {
        match &self.config(home)?.config.timezone {
            None => Ok(platform::system_zone(&self.env)),
            Some(name) => Ok(TimeZone::get(name)
                .map_err(|_| Problem::usage(format!("timezone: {name:?} is not a known zone")))?),
        }
    }

    /// The zone of one user: their own, else the one of the settings.
    pub(crate) fn zone_of(
        &self,
        home: &Home,
        store: &SqliteMemory,
        user: UserNumber,
    ) -> anyhow::Result<TimeZone> {
        Ok(identity::zone_of(store, user, &self.zone(home)?)?)
    }

    /// Today's date in the user's zone.
    pub(crate) fn today(&self, home: &Home) -> anyhow::Result<jiff::civil::Date> {
        Ok(self.now.to_zoned(self.zone(home)?).date())
    }
}
