//! A PostgreSQL server in a temporary folder, with its usual care for the disk; gone with the measurement.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use hermes_app::app::{App, Opening};
use hermes_store::memory::migrate_server;
use hermes_store::postgres::Pool;
use tempfile::TempDir;

/// How long it may take to answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// What differs from what initdb writes; `fsync` and `synchronous_commit` stay on.
const SETTINGS: [&str; 4] =
    ["listen_addresses=", "shared_buffers=512MB", "synchronous_commit=on", "max_connections=60"];

/// A running server.
pub(crate) struct Postgres {
    folder: TempDir,
    child: Child,
}

impl Postgres {
    /// Starts one with the programs in this folder, and waits until it answers.
    pub(crate) fn start(programs: &Path) -> anyhow::Result<Postgres> {
        let folder = tempfile::Builder::new().prefix("hermes-bench-pg-").tempdir()?;
        if nix::unistd::geteuid().is_root() {
            ran(Command::new("chown").arg("nobody:").arg(folder.path()))?;
        }
        let data = folder.path().join("data");
        let mut initdb = as_somebody(&programs.join("initdb"), folder.path());
        initdb.args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C"]);
        ran(initdb.arg("-D").arg(&data))?;
        let mut server = as_somebody(&programs.join("postgres"), folder.path());
        server.arg("-D").arg(&data).arg("-k").arg(folder.path());
        server.args(SETTINGS.iter().flat_map(|setting| ["-c", setting]));
        let child = server.spawn().context("could not start the server")?;
        let mut postgres = Postgres { folder, child };
        postgres.answers()?;
        Ok(postgres)
    }

    /// A new database with the tables of a memory.
    pub(crate) fn database(&self, name: &str) -> anyhow::Result<Database> {
        self.pool("postgres")?.get()?.batch_execute(&format!("create database {name}"))?;
        let database = Database { address: self.address(name), pool: self.pool(name)? };
        migrate_server(&database.pool)?;
        Ok(database)
    }

    /// The same with pgvector's index; none where the server does not have pgvector.
    pub(crate) fn database_with_index(&self, name: &str) -> anyhow::Result<Option<Database>> {
        let has_it = "select count(*) from pg_available_extensions where name = 'vector'";
        let mut client = self.pool("postgres")?.get()?;
        if client.query_typed_one(has_it, &[])?.get::<_, i64>(0) == 0 {
            return Ok(None);
        }
        client.batch_execute(&format!("create database {name}"))?;
        let database = Database { address: self.address(name), pool: self.pool(name)? };
        database.pool.get()?.batch_execute("create extension vector")?;
        migrate_server(&database.pool)?;
        Ok(Some(database))
    }

    /// What the server says of itself.
    pub(crate) fn version(&self) -> anyhow::Result<String> {
        let mut client = self.pool("postgres")?.get()?;
        Ok(client.query_typed_one("show server_version", &[])?.get(0))
    }

    fn pool(&self, database: &str) -> anyhow::Result<Pool> {
        pool_at(&self.address(database))
    }

    fn address(&self, database: &str) -> String {
        let folder = self.folder.path().display().to_string().replace('/', "%2F");
        format!("postgres://postgres@{folder}/{database}")
    }

    fn answers(&mut self) -> anyhow::Result<()> {
        let begun = Instant::now();
        while self.pool("postgres")?.get().is_err() {
            ensure!(self.child.try_wait()?.is_none(), "the server ended at once");
            ensure!(begun.elapsed() < PATIENCE, "the server does not answer");
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // Asked to end in good order: a server that is killed leaves its processes behind.
        let _ = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
        let _ = self.child.wait();
    }
}

/// A database of the server.
pub(crate) struct Database {
    pub(crate) address: String,
    pub(crate) pool: Pool,
}

impl Database {
    /// What each table of the memory takes on disk with its indexes, in bytes, the largest first.
    pub(crate) fn sizes(&self) -> anyhow::Result<Vec<(String, u64)>> {
        let all = "select c.relname::text, pg_total_relation_size(c.oid) from pg_class c
            join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'hermes' and c.relkind = 'r'
            order by 2 desc";
        let rows = self.pool.get()?.query_typed(all, &[])?;
        rows.iter().map(|row| Ok((row.get(0), u64::try_from(row.get::<_, i64>(1))?))).collect()
    }

    /// Lets the server learn what is in its tables, as it does by itself after a while.
    pub(crate) fn settle(&self) -> anyhow::Result<()> {
        Ok(self.pool.get()?.batch_execute("vacuum analyze")?)
    }
}

/// Connections to an address, as the program makes them.
pub(crate) fn pool_at(address: &str) -> anyhow::Result<Pool> {
    App::new(Opening::default()).pool_at(address)
}

/// A program in a folder that ends with this one, and does not run as root, which a server refuses.
fn as_somebody(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "INT"]);
    if nix::unistd::geteuid().is_root() {
        command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]);
    }
    command.arg(PathBuf::from(program)).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn ran(command: &mut Command) -> anyhow::Result<()> {
    ensure!(command.status().with_context(|| format!("{command:?}"))?.success(), "{command:?}");
    Ok(())
}
