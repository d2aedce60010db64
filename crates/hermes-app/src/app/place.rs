//! Where the memory of a profile is: in a file of its own, or on a server that several machines share.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hermes_home::Home;
use hermes_home::config::{Backend, SslMode as Wanted};
use hermes_llm::Embedded;
use hermes_store::Error as StoreError;
use hermes_store::memory::{Memory, ServerMemory, migrate_server};
use hermes_store::postgres::{Address, Pool, PoolSettings, ServerError, SslMode, Surroundings};
use hermes_store::sqlite::Access;
use sha2::{Digest as _, Sha256};

use super::{App, OWNER_NAME};
use crate::platform;
use crate::problem::{Kind, Problem};
use crate::process;
use crate::variables::Variables;

/// The variable that the connection string is kept in, where the settings name none.
pub(super) const URL: &str = "HERMES_DB_URL";

/// The connections of this process, one pool for each server and profile.
#[derive(Clone, Default)]
pub struct Pools(Arc<Mutex<Vec<(Key, Pool)>>>);

/// What makes two pools the same; the text is a secret and is compared only.
#[derive(Clone, PartialEq, Eq)]
struct Key {
    text: String,
    ssl_mode: Option<SslMode>,
    profile: String,
    size: u32,
}

impl App {
    /// Whether the memory of a profile is on a server.
    pub fn is_on_server(&self, home: &Home) -> anyhow::Result<bool> {
        Ok(self.config(home)?.config.memory.backend == Backend::Postgres)
    }

    /// The file of a memory; none for one on a server.
    pub fn memory_file(&self, home: &Home) -> anyhow::Result<Option<PathBuf>> {
        match self.is_on_server(home)? {
            true => Ok(None),
            false => self.memory_path(home).map(Some),
        }
    }

    /// The connections to the server that the settings name.
    pub fn pool(&self, home: &Home) -> anyhow::Result<Pool> {
        let (text, ssl_mode) = self.connection_string(home)?;
        let size = self.config(home)?.config.memory.pool_size;
        let key = Key { text, ssl_mode, profile: home.profile_name().to_owned(), size };
        let mut kept = self.pools.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, pool)) = kept.iter().find(|(other, _)| *other == key) {
            return Ok(pool.clone());
        }
        let settings = PoolSettings { size: size as usize, ..PoolSettings::default() };
        let pool = Pool::new(self.address(home)?, settings)?;
        kept.push((key, pool.clone()));
        Ok(pool)
    }

    /// Connections to a server that is named by hand, whatever the settings say.
    pub fn pool_at(&self, address: &str) -> anyhow::Result<Pool> {
        let address = self.parsed(&self.root_home()?, address, None)?;
        Ok(Pool::new(address, PoolSettings::default())?)
    }

    /// Where the server is and how it is reached.
    pub fn address(&self, home: &Home) -> anyhow::Result<Address> {
        let (text, ssl_mode) = self.connection_string(home)?;
        self.parsed(home, &text, ssl_mode)
    }

    fn parsed(
        &self,
        home: &Home,
        text: &str,
        ssl_mode: Option<SslMode>,
    ) -> anyhow::Result<Address> {
        let variables = Variables::read(&self.env, home)?;
        let own = self.env.get("HOME").map(Path::new);
        let user = process::user_name().unwrap_or_else(|| "hermes".to_owned());
        let application = format!("hermes/{}/{}", env!("CARGO_PKG_VERSION"), home.profile_name());
        Ok(Address::parse(
            text,
            &Surroundings {
                variable: &|name| variables.value(name),
                home: own,
                user: &user,
                application: &application,
                ssl_mode,
            },
        )?)
    }

    /// What the settings say of the server; the variables of PostgreSQL alone are enough too.
    fn connection_string(&self, home: &Home) -> anyhow::Result<(String, Option<SslMode>)> {
        let settings = &self.config(home)?.config.memory;
        let ssl_mode = settings.ssl_mode.map(ssl_mode);
        if let Some(text) = &settings.connection_string {
            return Ok((text.reveal().to_owned(), ssl_mode));
        }
        let variables = Variables::read(&self.env, home)?;
        if let Some(text) = variables.value(URL) {
            return Ok((text, ssl_mode));
        }
        let is_said = ["PGHOST", "PGHOSTADDR", "PGSERVICE", "PGDATABASE"]
            .iter()
            .any(|name| variables.value(name).is_some());
        match is_said {
            true => Ok((String::new(), ssl_mode)),
            false => Err(Problem::new(
                Kind::Refused,
                "memory.connection_string is not set, and \
                 neither is HERMES_DB_URL in the environment or .env",
            )
            .hint(format!(
                "store the address with `hermes config set {URL} -`, then run `hermes config \
                     set memory.connection_string '${{{URL}}}'`"
            ))
            .into()),
        }
    }

    /// The memory of a profile on its server; tables are made in an empty database.
    pub fn server_memory(
        &self,
        home: &Home,
        access: Access,
        wait: Duration,
    ) -> anyhow::Result<Memory> {
        self.server_memory_of(home, home.profile_name(), access, wait)
    }

    /// The same under another name than the profile has here.
    pub fn server_memory_of(
        &self,
        home: &Home,
        profile: &str,
        access: Access,
        wait: Duration,
    ) -> anyhow::Result<Memory> {
        let pool = self.pool(home)?.impatient(wait);
        let wanted = ServerMemory { pool: &pool, profile, owner: OWNER_NAME, access, wait };
        let migrates = self.config(home)?.config.memory.auto_migrate;
        let mut store = match Memory::on_server(wanted, self.change()) {
            Err(StoreError::Server(ServerError::OlderSchema { .. })) if migrates => {
                migrate_server(&pool)?;
                Memory::on_server(wanted, self.change())?
            }
            opened => opened?,
        };
        if access == Access::Write && store.active_model()?.is_none() {
            self.reembed(home, &mut store, &Embedded::new(), &mut |_| {})?;
        }
        Ok(store)
    }

    /// A short name of this home that other homes on the same server do not have: of the machine and the folder.
    pub fn home_name(&self, home: &Home) -> String {
        let place = format!("{}:{}", platform::host(), home.folder().display());
        Sha256::digest(place.as_bytes()).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
    }
}

fn ssl_mode(wanted: Wanted) -> SslMode {
    match wanted {
        Wanted::Disable => SslMode::Disable,
        Wanted::Allow => SslMode::Allow,
        Wanted::Prefer => SslMode::Prefer,
        Wanted::Require => SslMode::Require,
        Wanted::VerifyCa => SslMode::VerifyCa,
        Wanted::VerifyFull => SslMode::VerifyFull,
    }
}
