//! The one place that turns flags, environment and settings into opened parts.

mod place;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use hermes_home::config::{self, Finding, Loaded, Severity};
use hermes_home::databases::Database;
use hermes_home::env::Env;
use hermes_home::init::{self, Owner};
use hermes_home::layout::Wanted;
use hermes_home::{Home, Result as HomeResult, before_upgrade};
use hermes_llm::Embedder;
use hermes_memory::identity;
use hermes_store::memory::{Change, Memory, UserNumber};
use hermes_store::rot::HighWater;
use hermes_store::sessions::SessionStore;
use hermes_store::sqlite::Access;
use hermes_store::{Error as StoreError, Result as StoreResult, Stop, snapshot};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::clock;
use crate::embedding::{self, Answering, Haste, Means};
use crate::models::Models;
use crate::opened::{Opened, has_foreign_database};
use crate::platform;
use crate::problem::Problem;
use crate::remarks::{Remarks, Silent};
use crate::variables::Variables;
use place::Pools;

/// How long the copy before an upgrade may take.
const COPY_LIMITS: snapshot::Limits =
    snapshot::Limits { wait: Duration::from_secs(10), deadline: Duration::from_secs(3600) };
/// What the owner of a home is called in its memory.
pub const OWNER_NAME: &str = "owner";

/// What every command needs: who asks, where the home is, when it is, where to print.
pub struct App {
    /// The environment of the process.
    pub env: Env,
    /// The moment at which this was asked for.
    pub now: Timestamp,
    /// By whom changes are made, as the chain of changes says it.
    pub actor: Cow<'static, str>,
    /// Ends what is read when nobody waits for it any more.
    pub stop: Stop,
    wanted: Wanted,
    flags: Vec<String>,
    /// Whether it goes on where settings hold names that no setting has.
    is_forgiving: bool,
    owner: OnceCell<Owner>,
    loaded: OnceCell<Loaded>,
    /// The connections to servers that this process has.
    pub pools: Pools,
    /// The files of memories that this process has opened.
    pub(crate) opened: Opened,
    /// Who is told what people should know and no answer holds.
    remarks: Arc<dyn Remarks>,
}

/// Which home is meant, and what was said about its settings.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    /// The folder, where one was named.
    pub home: Option<PathBuf>,
    /// The profile, where one was named.
    pub profile: Option<String>,
    /// Settings for this time only: `key=value`.
    pub settings: Vec<String>,
}

/// Who makes the changes that are typed.
pub const ACTOR: &str = "user";

/// Keeps a copy of a database that is about to be brought up to a newer schema.
pub fn keep_before_upgrade(
    home: &Home,
    path: &Path,
    schema: i64,
    now: Timestamp,
) -> StoreResult<()> {
    let failed = |error: hermes_home::Error| StoreError::File {
        doing: "save a copy before the upgrade in",
        path: home.before_upgrade(),
        source: std::io::Error::other(error),
    };
    let copy = before_upgrade::begin(home, path, schema, now).map_err(failed)?;
    snapshot::take(path, &copy.path, COPY_LIMITS, &mut |_, _| {})?;
    copy.finish(home, now).map_err(failed)
}

impl App {
    /// A program that works on a home now, in the environment of this process.
    pub fn new(opening: Opening) -> App {
        App {
            env: Env::of_process(),
            now: clock::now(),
            actor: Cow::Borrowed(ACTOR),
            stop: Stop::default(),
            wanted: Wanted { home: opening.home, profile: opening.profile },
            flags: opening.settings,
            is_forgiving: false,
            owner: OnceCell::new(),
            loaded: OnceCell::new(),
            pools: Pools::default(),
            opened: Opened::default(),
            remarks: Arc::new(Silent),
        }
    }

    /// The same, with somebody who is told what people should know.
    pub fn telling(self, remarks: Arc<dyn Remarks>) -> App {
        App { remarks, ..self }
    }

    /// Something that people should know, and no answer holds.
    pub fn note(&self, text: impl Display) {
        self.remarks.note(&text.to_string());
    }

    /// What people could do next.
    pub fn hint(&self, text: impl Display) {
        self.remarks.hint(&text.to_string());
    }

    /// Whoever is told.
    pub(crate) fn remarks(&self) -> Arc<dyn Remarks> {
        Arc::clone(&self.remarks)
    }

    /// The same for another profile and for now: settings are read anew, and nothing is asked or printed.
    pub fn for_profile(&self, home: &Home) -> App {
        let profile = Some(home.profile_name().to_owned());
        let wanted = Wanted { home: Some(home.root().to_owned()), profile };
        self.elsewhere(wanted, self.flags.clone())
    }

    /// The same for whoever must not be stopped by a name in the settings that no setting has.
    pub fn forgiving(self) -> App {
        App { is_forgiving: true, ..self }
    }

    /// A name in the settings that may be meant to say where the memory is, or whose it is.
    pub fn doubtful_memory(&self, home: &Home) -> anyhow::Result<Option<String>> {
        let is_doubtful = |finding: &&Finding| {
            let key = finding.key.as_deref().unwrap_or_default();
            let near = config::nearest(key).unwrap_or_default();
            let is_of = |section: &str| near.split('.').next() == Some(section);
            finding.is_unknown_key
                && finding.severity == Severity::Error
                && (is_of("memory") || is_of("users"))
        };
        let found = self.config(home)?.warnings.iter().find(is_doubtful);
        Ok(found.map(ToString::to_string))
    }

    /// The same for a home elsewhere.
    pub fn for_folder(&self, home: &std::path::Path) -> App {
        let wanted = Wanted { home: Some(home.to_owned()), profile: None };
        self.elsewhere(wanted, Vec::new())
    }

    /// Nothing is asked or printed there.
    fn elsewhere(&self, wanted: Wanted, flags: Vec<String>) -> App {
        App {
            env: self.env.clone(),
            now: clock::now(),
            actor: self.actor.clone(),
            stop: Stop::default(),
            wanted,
            flags,
            is_forgiving: self.is_forgiving,
            owner: OnceCell::new(),
            loaded: OnceCell::new(),
            pools: self.pools.clone(),
            opened: self.opened.clone(),
            remarks: Arc::new(Silent),
        }
    }

    /// The home that was asked for, whether it exists or not.
    pub fn home(&self) -> HomeResult<Home> {
        Home::locate(&self.wanted, &self.env)
    }

    /// The root home, whatever profile is in use: for commands about profiles.
    pub fn root_home(&self) -> HomeResult<Home> {
        let wanted = Wanted { profile: Some("default".into()), ..self.wanted.clone() };
        Home::locate(&wanted, &self.env)
    }

    /// The profile that was named with `--profile`, whether it is there or not.
    pub fn named_profile(&self) -> Option<&str> {
        self.wanted.profile.as_deref()
    }

    /// The home that was asked for; it must exist.
    pub fn existing_home(&self) -> HomeResult<Home> {
        let home = self.home()?;
        home.must_exist()?;
        Ok(home)
    }

    /// Whose home it is: Hermes Agent's when its config says so, or its database and no mark of ours.
    pub fn owner(&self, home: &Home) -> anyhow::Result<Owner> {
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
    pub fn config(&self, home: &Home) -> anyhow::Result<&Loaded> {
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
    pub fn settings_changed(&mut self) {
        self.loaded.take();
    }

    /// What `--set` said, as pairs.
    pub fn flag_settings(&self) -> Result<Vec<(String, String)>, Problem> {
        self.flags
            .iter()
            .map(|flag| match flag.split_once('=') {
                Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
                None => Err(Problem::usage(format!("--set {flag}: it contains no `=`"))
                    .hint("write it like `--set sessions.retention_days=30`")),
            })
            .collect()
    }

    /// The session database of the home, opened as the settings say.
    pub fn sessions(&self, home: &Home, access: Access) -> anyhow::Result<SessionStore> {
        let wait = self.lock_wait(home)?;
        let path = home.state_db();
        let mut keep = |schema| keep_before_upgrade(home, &path, schema, self.now);
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
    pub fn high_water(&self, home: &Home) -> HighWater {
        HighWater::at(home.high_water())
    }

    /// How often this process opened memories in files.
    pub fn openings(&self) -> u64 {
        self.opened.openings()
    }

    /// Who changes something now.
    pub fn change(&self) -> Change<'_> {
        Change { actor: &self.actor, at: self.now }
    }

    /// The embedding model the settings ask for.
    pub fn embedder(&self, home: &Home, haste: Haste) -> anyhow::Result<Box<dyn Embedder>> {
        self.with_means(home, haste, embedding::wanted)?
    }

    /// The embedding model that answers in a memory.
    pub fn answering(&self, home: &Home, store: &Memory) -> anyhow::Result<Answering> {
        match store.active_model()? {
            None => Ok(Answering::default()),
            Some(active) => {
                self.with_means(home, Haste::Question, |means| embedding::answering(&active, means))
            }
        }
    }

    /// The chat models that the settings and keys of a home give.
    pub fn models(&self, home: &Home) -> anyhow::Result<Models<'_>> {
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
    pub fn lock_wait(&self, home: &Home) -> anyhow::Result<Duration> {
        let milliseconds = self.config(home)?.config.sessions.lock_wait_ms;
        Ok(Duration::from_millis(u64::from(milliseconds)))
    }

    /// The zone in which times are shown and dates are understood.
    pub fn zone(&self, home: &Home) -> anyhow::Result<TimeZone> {
        match &self.config(home)?.config.timezone {
            None => Ok(platform::system_zone(&self.env)),
            Some(name) => Ok(TimeZone::get(name).map_err(|_| {
                Problem::usage(format!("timezone: {name:?} is not a known time zone"))
            })?),
        }
    }

    /// A moment as somebody types it, understood in that zone.
    pub fn moment(&self, home: &Home, text: Option<&str>) -> anyhow::Result<Option<Timestamp>> {
        let Some(text) = text else { return Ok(None) };
        Ok(Some(clock::parse_moment(text, self.now, &self.zone(home)?)?))
    }

    /// The zone of one user: their own, else the one of the settings.
    pub fn zone_of(
        &self,
        home: &Home,
        store: &Memory,
        user: UserNumber,
    ) -> anyhow::Result<TimeZone> {
        Ok(identity::zone_of(store, user, &self.zone(home)?)?)
    }

    /// Today's date in the user's zone.
    pub fn today(&self, home: &Home) -> anyhow::Result<jiff::civil::Date> {
        Ok(self.now.to_zoned(self.zone(home)?).date())
    }
}
