//! A temporary folder with a home in it, and the program run inside.

use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rusqlite::config::DbConfig;
use serde_json::Value;

#[path = "../../../hermes-store/tests/sql/mod.rs"]
mod sql;

/// A scratch folder that is the user's folder, with the home below it.
pub(crate) struct Sandbox {
    folder: tempfile::TempDir,
}

/// What a run of the program gave.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Sandbox {
    /// No home yet.
    pub(crate) fn empty() -> Sandbox {
        let program = Path::new(env!("CARGO_BIN_EXE_hermes"));
        assert!(program.exists(), "{} is missing: `cargo build` makes it", program.display());
        Sandbox { folder: tempfile::tempdir().unwrap() }
    }

    /// A home made by `hermes init`.
    pub(crate) fn ready() -> Sandbox {
        let sandbox = Sandbox::empty();
        sandbox.ok(&["init"]);
        sandbox
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder().join(".hermes")
    }

    pub(crate) fn path(&self, inside_home: &str) -> PathBuf {
        self.home().join(inside_home)
    }

    pub(crate) fn read(&self, inside_home: &str) -> String {
        fs::read_to_string(self.path(inside_home)).unwrap()
    }

    #[expect(clippy::disallowed_methods, reason = "tests write files as an editor would")]
    pub(crate) fn write(&self, inside_home: &str, text: impl AsRef<[u8]>) {
        let path = self.path(inside_home);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A database as another program opens it, which makes one that is not there.
    pub(crate) fn database(&self, inside_home: &str) -> rusqlite::Connection {
        sql::open(&self.path(inside_home))
    }

    /// Runs statements on a database as another program does; the rows are lines, with `|` between the values.
    pub(crate) fn sql(&self, inside_home: &str, statements: &str) -> String {
        sql::run_on(&self.path(inside_home), statements)
    }

    /// The program with a clean environment; only the sandbox is its world.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_hermes")), arguments)
    }

    /// The same for another program.
    pub(crate) fn command_of(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).env_clear().current_dir(self.folder());
        command.env("HOME", self.folder()).env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command.env("TZ", "UTC").env("LANG", "C.UTF-8").stdin(Stdio::null());
        command
    }

    /// The program as a user that file modes hold for, and who owns the sandbox: root itself is stopped by none.
    pub(crate) fn command_as_nobody(&self, arguments: &[&str]) -> Command {
        const NOBODY: u32 = 65534;
        if !nix::unistd::geteuid().is_root() {
            return self.command(arguments);
        }
        let program = self.folder().join("program");
        if !program.exists() {
            fs::copy(env!("CARGO_BIN_EXE_hermes"), &program).unwrap();
            let owner = format!("{NOBODY}:{NOBODY}");
            let given = Command::new("chown").args(["-R", &owner]).arg(self.folder()).status();
            assert!(given.unwrap().success());
        }
        let mut command = self.command_of(&program, arguments);
        command.uid(NOBODY).gid(NOBODY);
        command
    }

    pub(crate) fn run_as_nobody(&self, arguments: &[&str]) -> Ran {
        Ran::of(&self.command_as_nobody(arguments).output().unwrap())
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(&self.command(arguments).output().unwrap())
    }

    /// Runs and expects success; returns standard output.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "hermes {arguments:?}\n{}{}", ran.stdout, ran.stderr);
        ran.stdout
    }

    /// Runs with `--json` and expects success; returns what was printed.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let all: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        serde_json::from_str(&self.ok(&all)).unwrap()
    }

    /// Runs with the given text on standard input.
    pub(crate) fn feed(&self, arguments: &[&str], input: &[u8]) -> Ran {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A program that refuses early closes the pipe; that is its right.
        let _ = child.stdin.take().unwrap().write_all(input);
        Ran::of(&child.wait_with_output().unwrap())
    }

    /// Runs and expects this exit code and these words in the message for people.
    pub(crate) fn fails(&self, arguments: &[&str], code: i32, words: &[&str]) -> Ran {
        let ran = self.run(arguments);
        ran.failed(code, words);
        ran
    }

    /// Every file below the home with its bytes, locks and sidecars of databases left out.
    pub(crate) fn snapshot(&self) -> std::collections::BTreeMap<PathBuf, Vec<u8>> {
        let mut files = std::collections::BTreeMap::new();
        collect(&self.home(), &mut files);
        files
    }
}

/// No test leaves a daemon behind.
impl Drop for Sandbox {
    fn drop(&mut self) {
        if self.path("hermesd/daemon.lock").exists() {
            let _ = self.command(&["stop"]).output();
        }
    }
}

/// Looks again and again until it is so; the test fails if that takes half a minute.
pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = std::time::Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < std::time::Duration::from_secs(120), "never came: {what}");
        std::thread::yield_now();
    }
}

impl Ran {
    pub(crate) fn of(output: &Output) -> Ran {
        Ran {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    /// Expects this exit code and these words in the message for people.
    pub(crate) fn failed(&self, code: i32, words: &[&str]) {
        assert_eq!(self.code, code, "stdout: {}\nstderr: {}", self.stdout, self.stderr);
        assert!(
            self.stderr.starts_with("hermes: ") || self.stderr.contains("\nhermes: "),
            "{}",
            self.stderr
        );
        for word in words {
            assert!(self.stderr.contains(word), "no {word:?} in: {}", self.stderr);
        }
    }
}

fn collect(folder: &Path, files: &mut std::collections::BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            let bytes = fs::read(&path).unwrap();
            files.insert(path, bytes);
        }
    }
}

/// Somebody who has a database open until this is dropped. What was written meanwhile stays in its log then, as when a
/// program is killed.
pub(crate) struct Holder {
    _connection: rusqlite::Connection,
}

impl Holder {
    /// Holds the write lock.
    pub(crate) fn of(sandbox: &Sandbox, file: &str) -> Holder {
        Holder::with(sandbox, file, "begin immediate")
    }

    /// Has it open, so that what others write stays in its log.
    pub(crate) fn reading(sandbox: &Sandbox, file: &str) -> Holder {
        Holder::with(sandbox, file, "begin; select 1 from sqlite_schema limit 1")
    }

    fn with(sandbox: &Sandbox, file: &str, statements: &str) -> Holder {
        let connection = sandbox.database(file);
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
        sql::run(&connection, statements);
        Holder { _connection: connection }
    }
}
