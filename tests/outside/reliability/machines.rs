//! Machines that share a memory: one PostgreSQL server, and homes with a daemon each that reach it by lines of their own.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::accounts::Lines;
use crate::daemon::Daemon;
use crate::pg_server::proxy::Proxy;
use crate::pg_server::{self, Flavour, Server};
use crate::sandbox::Sandbox;

/// The profile that only one of the homes has.
pub(crate) const OTHER: &str = "work";
/// Whom the daemons log in as: somebody for whom the rules of the server hold.
const ROLE: &str = "machines";
/// How long to wait before the same is asked of the server again.
const PAUSE: Duration = Duration::from_millis(250);

/// A home, its daemon, and its line to the server.
pub(crate) struct Machine {
    pub(crate) sandbox: Sandbox,
    pub(crate) line: Proxy,
    daemon: Option<Daemon>,
}

/// All of them, and the server.
pub(crate) struct Machines {
    // Dropped in this order: the daemons end before the server that they talk to.
    pub(crate) all: Vec<Machine>,
    pub(crate) server: Server,
    database: String,
}

impl Machines {
    /// So many homes whose profile `default` is one memory; the last has a profile of its own beside it.
    pub(crate) fn start(count: usize) -> Machines {
        let server = pg_server::start(Flavour::Plain);
        // What was committed must outlive a server that is stopped at once.
        server.sql("postgres", "alter system set synchronous_commit = on");
        server.sql("postgres", "select pg_reload_conf()");
        let url = server.fresh_database();
        let database = url.rsplit('/').next().unwrap().to_owned();
        let mut machines = Machines { all: Vec::new(), server, database };
        machines.make_tables(&url);
        machines.all = (0..count).map(|_| machines.machine()).collect();
        machines.all.last().unwrap().add_profile();
        for number in 0..count {
            machines.start_daemon(number);
        }
        machines
    }

    /// Makes the tables as their owner, and lets the role of the daemons use them.
    fn make_tables(&self, url: &str) {
        let owner = Sandbox::ready();
        join(&owner, url);
        let role = format!("create role {ROLE} login password 'pw' nobypassrls");
        self.server.sql("postgres", &role);
        let tables = owner.ok(&["db", "migrate", "--print-sql", "--role", ROLE]);
        self.server.sql(&self.database, &tables);
    }

    /// A home with a line to the server that can be cut.
    fn machine(&self) -> Machine {
        let (sandbox, line) = (Sandbox::ready(), Proxy::to(self.server.port()));
        let place = format!("127.0.0.1:{}/{}", line.port(), self.database);
        join(&sandbox, &format!("postgres://{ROLE}:pw@{place}?sslmode=disable&connect_timeout=2"));
        sandbox.ok(&["config", "set", "server.requests_per_minute", "0"]);
        Machine { sandbox, line, daemon: None }
    }

    pub(crate) fn start_daemon(&mut self, number: usize) {
        let machine = &mut self.all[number];
        machine.daemon = Daemon::start(&machine.sandbox, None);
        assert!(machine.daemon.is_some(), "the daemon of home {number} did not start");
    }

    /// Ends a daemon as a power cut would.
    pub(crate) fn cut_daemon(&mut self, number: usize) {
        self.all[number].daemon.take().unwrap().kill();
    }

    /// Stops the server after its work, or in the middle of it.
    pub(crate) fn stop_server(&mut self, how: Stop) {
        match how {
            Stop::Fast => self.server.halt_fast(),
            Stop::Immediate => self.server.halt(),
        }
    }

    /// Ends every connection to the database from the side of the server; says how many there were.
    pub(crate) fn end_connections(&self) -> usize {
        let ended = "select count(pg_terminate_backend(pid)) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid()";
        self.sql(ended).trim().parse().unwrap()
    }

    pub(crate) fn sql(&self, statements: &str) -> String {
        self.server.sql(&self.database, statements)
    }

    /// Every message on the server, past all rules: profile, role, text.
    pub(crate) fn messages(&self) -> Lines {
        let all = "select p.name || ': ' || m.role || ': ' || m.text
            from hermes.message m join hermes.profile p using (profile)";
        Lines::of(self.sql(all).lines())
    }

    /// How many turns wait in files of the homes.
    pub(crate) fn waiting(&self) -> usize {
        let files = self.all.iter().flat_map(Machine::spools).flat_map(std::fs::read_dir);
        let names = files.flatten().map(|file| file.unwrap().path());
        names.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl")).count()
    }

    /// Asks until so many messages are on the server and no turn waits in a file, or the time is over; says how long
    /// it took. Nothing is done but asking: the daemons must come to it by themselves.
    pub(crate) fn drain(&self, wanted: usize, within: Duration) -> Duration {
        let begun = Instant::now();
        let is_there = || {
            let count = self.sql("select count(*) from hermes.message");
            self.waiting() == 0 && count.trim().parse::<usize>().unwrap() >= wanted
        };
        while !is_there() {
            if begun.elapsed() > within {
                self.tell_standing();
                break;
            }
            std::thread::sleep(PAUSE);
        }
        begun.elapsed()
    }

    /// Says how far the daemons are, for whoever has to find out why they are not further.
    fn tell_standing(&self) {
        let jobs =
            "select kind, state, attempts, to_timestamp(run_at / 1000.0), lease_owner, last_error
            from hermes.job order by profile, id";
        crate::soak::tell(&format!("{} turns wait in files\n{}", self.waiting(), self.sql(jobs)));
        for machine in &self.all {
            crate::soak::tell(&machine.sandbox.run(&["logs", "-n", "20"]).stdout);
        }
    }
}

/// How a server is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Transactions are taken back, then it ends in good order.
    Fast,
    /// As by a power cut: it looks through its log when it comes back.
    Immediate,
}

impl Machine {
    /// Makes the other profile, on the same server.
    fn add_profile(&self) {
        self.sandbox.ok(&["profile", "create", OTHER]);
        for file in ["config.yaml", ".env"] {
            self.sandbox.write(&format!("profiles/{OTHER}/{file}"), self.sandbox.read(file));
        }
    }

    /// The folders in which its turns wait.
    fn spools(&self) -> [PathBuf; 2] {
        ["hermesd/spool".to_owned(), format!("profiles/{OTHER}/hermesd/spool")]
            .map(|folder| self.sandbox.path(&folder))
    }
}

/// Puts the memory of a home on a server.
fn join(sandbox: &Sandbox, url: &str) {
    sandbox.feed(&["config", "set", "HERMES_DB_URL", "-"], format!("{url}\n").as_bytes());
    sandbox.ok(&["config", "set", "memory.connection_string", "${HERMES_DB_URL}"]);
    sandbox.ok(&["config", "set", "memory.backend", "postgres"]);
}
