//! Real PostgreSQL servers for tests: started from Debian's package or one with pgvector, gone with the test.
//!
//! A server is a copy of a template that is made once, so that starting one takes a fraction of a second. It runs as
//! `nobody` when the tests run as root. A shell stands above it, which the system tells when the test's process ends,
//! however it ends; it stops the server and removes the folder.

#[path = "../../../crates/hermes/tests/e2e/ports.rs"]
mod ports;
pub(crate) mod proxy;

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

pub(crate) use ports::free_port;

/// The password of the user `postgres`, who may do everything.
pub(crate) const PASSWORD: &str = "secret of the tests";
/// Where Debian's package has its programs.
const DEBIAN: &str = "/usr/lib/postgresql/15/bin";
/// How long a server may take to answer, on a machine that has other things to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// Which server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flavour {
    /// Debian's PostgreSQL 15, without pgvector.
    Plain,
    /// A newer one with pgvector.
    Vector,
}

/// A running server, stopped when it is dropped.
pub(crate) struct Server {
    flavour: Flavour,
    folder: PathBuf,
    port: u16,
    guard: Option<Child>,
}

/// The server that all tests of this process share.
pub(crate) fn shared(flavour: Flavour) -> &'static Server {
    static PLAIN: OnceLock<Server> = OnceLock::new();
    static VECTOR: OnceLock<Server> = OnceLock::new();
    let place = match flavour {
        Flavour::Plain => &PLAIN,
        Flavour::Vector => &VECTOR,
    };
    place.get_or_init(|| start(flavour))
}

/// A server for one test alone, which may stop it and start it again.
pub(crate) fn start(flavour: Flavour) -> Server {
    let template = template(flavour);
    let folder = tempfile::Builder::new().prefix("hermes-pg-").tempdir().unwrap().keep();
    run(Command::new("cp").arg("-r").arg(template.join(".")).arg(&folder));
    open_to_server(&folder);
    let mut server = Server { flavour, folder, port: 0, guard: None };
    // Between finding a free port and listening on it, another test may take it.
    for _ in 0..20 {
        server.port = free_port();
        if server.launch() {
            return server;
        }
    }
    panic!("the server does not start: {}", server.log());
}

impl Server {
    /// A new empty database, and how to reach it as the user who may do everything, by the socket.
    pub(crate) fn fresh_database(&self) -> String {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name =
            format!("test_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("create database {name}"));
        self.url(&name)
    }

    /// A database by the socket, where nobody is asked for a password.
    pub(crate) fn url(&self, database: &str) -> String {
        let folder = self.folder.display().to_string().replace('/', "%2F");
        format!("postgres://postgres@{folder}:{}/{database}", self.port)
    }

    /// A database by TCP with a password.
    pub(crate) fn tcp_url(&self, database: &str) -> String {
        let password = PASSWORD.replace(' ', "%20");
        format!("postgres://postgres:{password}@127.0.0.1:{}/{database}", self.port)
    }

    /// The port on 127.0.0.1.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The certificate of the authority that signed the server's, which is for `localhost`.
    pub(crate) fn authority(&self) -> PathBuf {
        self.folder.join("authority.crt")
    }

    /// The folder with the socket.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A program of this server's version, to be run against it.
    pub(crate) fn program(&self, name: &str) -> Command {
        let mut command = Command::new(programs(self.flavour).join(name));
        command.envs([("PGHOST", self.folder.as_os_str()), ("PGUSER", "postgres".as_ref())]);
        command.env("PGPORT", self.port.to_string());
        command
    }

    /// What psql prints for these statements.
    pub(crate) fn sql(&self, database: &str, statements: &str) -> String {
        let arguments =
            ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", statements];
        run(self.program("psql").args(arguments))
    }

    /// Stops it as a power cut would, and keeps its files.
    pub(crate) fn halt(&mut self) {
        self.end("USR2");
    }

    /// Stops it in good order: what is under way is taken back.
    pub(crate) fn halt_fast(&mut self) {
        self.end("USR1");
    }

    /// Starts it on its files, where it was before.
    pub(crate) fn resume(&mut self) {
        let asked = Instant::now();
        while !self.launch() {
            // Somebody has its port for a moment, as the near end of a connection.
            assert!(asked.elapsed() < PATIENCE, "the server does not start: {}", self.log());
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    /// Starts it, and waits until it answers; false if it ended because its port is taken.
    fn launch(&mut self) -> bool {
        assert!(self.guard.is_none(), "the server runs");
        // Signals that nobody ignores: a shell cannot trap what was ignored when it began.
        let script = r#"
            stopped() { kill -$1 $server 2>/dev/null; wait $server; }
            trap 'stopped QUIT; rm -rf "$1"; exit' TERM
            trap 'stopped QUIT; exit' USR2
            trap 'stopped INT; exit' USR1
            "$2" -D "$1/data" -k "$1" -p "$3" >>"$1/log" 2>&1 &
            server=$!
            wait $server"#;
        let mut command = as_server();
        command.args(["--pdeathsig", "TERM", "sh", "-c", script, "sh"]).arg(&self.folder);
        command.arg(programs(self.flavour).join("postgres")).arg(self.port.to_string());
        command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut guard = spawned_for_the_whole_process(command);
        let asked = Instant::now();
        while !self.program("pg_isready").stdout(Stdio::null()).status().unwrap().success() {
            if guard.try_wait().unwrap().is_some() {
                let log = self.log();
                assert!(log.contains("Address already in use"), "the server ended: {log}");
                return false;
            }
            assert!(asked.elapsed() < PATIENCE, "the server does not answer: {}", self.log());
            thread::sleep(Duration::from_millis(20));
        }
        self.guard = Some(guard);
        true
    }

    fn end(&mut self, signal: &str) {
        let Some(mut guard) = self.guard.take() else { return };
        run(Command::new("kill").args([format!("-{signal}"), guard.id().to_string()]));
        guard.wait().unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end("TERM");
    }
}

/// The system tells a child when the *thread* that started it ends, so a thread that never ends starts it.
fn spawned_for_the_whole_process(mut command: Command) -> Child {
    let (sender, receiver) = std::sync::mpsc::channel();
    thread::spawn(move || {
        sender.send(command.spawn().unwrap()).unwrap();
        loop {
            thread::park();
        }
    });
    receiver.recv().unwrap()
}

/// Where the programs of a flavour are.
fn programs(flavour: Flavour) -> PathBuf {
    match flavour {
        Flavour::Plain => PathBuf::from(DEBIAN),
        Flavour::Vector => {
            let folder = variable("HERMES_TEST_PGVECTOR");
            let missing = "HERMES_TEST_PGVECTOR names a PostgreSQL with pgvector; ./test sets it";
            PathBuf::from(folder.unwrap_or_else(|| panic!("{missing}"))).join("bin")
        }
    }
}

/// A folder as initdb leaves it, with its certificates; made by the first who needs it.
fn template(flavour: Flavour) -> PathBuf {
    let cache = variable("HERMES_TEST_CACHE").map_or_else(env::temp_dir, PathBuf::from);
    let version = run(Command::new(programs(flavour).join("postgres")).arg("--version"));
    let version = version
        .rsplit(' ')
        .next()
        .unwrap()
        .trim()
        .replace(|sign: char| !sign.is_alphanumeric(), "-");
    let template = cache.join(format!("postgres-{version}-{TEMPLATE}"));
    let lock = File::create(cache.join("postgres.lock")).unwrap();
    lock.lock().unwrap();
    if !template.exists() {
        let made = make_template(flavour);
        run(Command::new("cp").arg("-r").arg(&made).arg(template.with_extension("new")));
        fs::remove_dir_all(&made).unwrap();
        fs::rename(template.with_extension("new"), &template).unwrap();
    }
    template
}

/// Counted up when the template is made in another way.
const TEMPLATE: u32 = 1;

const SETTINGS: &str = "listen_addresses = '127.0.0.1'
fsync = off
synchronous_commit = off
full_page_writes = off
max_connections = 100
shared_buffers = 64MB
";
const TLS_SETTINGS: &str = "ssl = on
ssl_cert_file = 'server.crt'
ssl_key_file = 'server.key'
";

fn make_template(flavour: Flavour) -> PathBuf {
    let folder = tempfile::Builder::new().prefix("hermes-pg-template-").tempdir().unwrap().keep();
    put(folder.join("password"), PASSWORD).unwrap();
    open_to_server(&folder);
    let mut initdb = as_server();
    initdb.arg(programs(flavour).join("initdb")).arg("-D").arg(folder.join("data"));
    initdb.args([
        "-U",
        "postgres",
        "--no-sync",
        "--encoding=UTF8",
        "--locale=C",
        "--auth-local=trust",
    ]);
    initdb.args(["--auth-host=scram-sha-256", "--pwfile"]).arg(folder.join("password"));
    run(initdb.current_dir("/"));
    let mut settings = SETTINGS.to_owned();
    // The one with pgvector is built without TLS.
    if flavour == Flavour::Plain {
        make_certificates(&folder);
        settings.push_str(TLS_SETTINGS);
    }
    put(folder.join("data/postgresql.auto.conf"), settings).unwrap();
    folder
}

fn make_certificates(folder: &Path) {
    let script = r#"
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 \
            -subj /CN=tests -keyout authority.key -out authority.crt
        openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
            -subj /CN=localhost -keyout data/server.key -out server.csr
        printf 'subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n' >extensions
        openssl x509 -req -days 3650 -in server.csr -CA authority.crt -CAkey authority.key \
            -CAcreateserial -extfile extensions -out data/server.crt"#;
    run(Command::new("sh").args(["-e", "-c", script]).current_dir(folder));
}

/// Gives a folder to the one the server runs as, and to nobody else.
pub(crate) fn open_to_server(folder: &Path) {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    if is_root() {
        run(Command::new("chown").args(["-R", "nobody:nogroup"]).arg(folder));
    }
    let (data, key) = (folder.join("data"), folder.join("data/server.key"));
    for (path, mode) in [(data, 0o700), (key, 0o600)] {
        if path.exists() {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        }
    }
}

/// Whether the long-running counts are wanted.
pub(crate) fn is_full() -> bool {
    variable("HERMES_TEST_FULL").as_deref() == Some("1")
}

fn variable(name: &str) -> Option<String> {
    env::vars().find(|(known, _)| known == name).map(|(_, value)| value)
}

/// What runs a program as somebody who is not root.
pub(crate) fn as_server() -> Command {
    let mut command = Command::new("setpriv");
    if is_root() {
        command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]);
    }
    command
}

fn is_root() -> bool {
    static ROOT: OnceLock<bool> = OnceLock::new();
    *ROOT.get_or_init(|| run(Command::new("id").arg("-u")).trim() == "0")
}

/// A file as somebody would write it by hand.
#[expect(clippy::disallowed_methods, reason = "tests write files as an editor would")]
pub(crate) fn put(path: PathBuf, text: impl AsRef<[u8]>) -> std::io::Result<()> {
    fs::write(path, text)
}

/// What a program prints; it must end well.
pub(crate) fn run(command: &mut Command) -> String {
    let shown = format!("{command:?}");
    let output = command.output().unwrap_or_else(|error| panic!("{shown}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{shown}: {said}");
    String::from_utf8(output.stdout).unwrap()
}
