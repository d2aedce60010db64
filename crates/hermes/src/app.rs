//! The one place that turns flags, environment and settings into opened parts.

use std::cell::OnceCell;
use std::time::Duration;

use hermes_home::config::{self, Loaded};
use hermes_home::env::Env;
use hermes_home::init::{self, Owner};
use hermes_home::layout::Wanted;
use hermes_home::{Home, Result as HomeResult};
use hermes_store::ErrorKind;
use hermes_store::sessions::{Owner as LayoutOwner, SessionStore};
use hermes_store::sqlite::Access;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::cli::Global;
use crate::clock;
use crate::confirm::Asking;
use crate::failure::Problem;
use crate::output::Output;
use crate::platform;

/// Whose home it is must be known before the settings say how long to wait.
const OWNER_WAIT: Duration = Duration::from_secs(2);

/// What every command needs: who asks, where the home is, when it is, where to print.
pub(crate) struct App {
    pub(crate) env: Env,
    pub(crate) now: Timestamp,
    pub(crate) out: Output,
    pub(crate) asking: Asking,
    pub(crate) json: bool,
    wanted: Wanted,
    flags: Vec<String>,
    owner: OnceCell<Owner>,
    loaded: OnceCell<Loaded>,
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
            wanted: Wanted { home: global.home, profile: global.profile },
            flags: global.settings,
            owner: OnceCell::new(),
            loaded: OnceCell::new(),
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
        let loaded = config::load(home, self.owner(home)?, &self.env, &self.flag_settings()?)?;
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
        Ok(SessionStore::open(&home.state_db(), access, wait)?)
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

    /// Today's date in the user's zone.
    pub(crate) fn today(&self, home: &Home) -> anyhow::Result<jiff::civil::Date> {
        Ok(self.now.to_zoned(self.zone(home)?).date())
    }
}

/// A database that is there but cannot be looked at is not ours to add to.
fn has_foreign_database(home: &Home) -> bool {
    match SessionStore::open(&home.state_db(), Access::Read, OWNER_WAIT) {
        Ok(store) => store.layout().owner() == LayoutOwner::Foreign,
        Err(error) => error.kind() != ErrorKind::Missing,
    }
}
