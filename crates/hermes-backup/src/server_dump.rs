//! A memory on a server as pg_dump writes it: made beside its twin, looked through, given back by pg_restore.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use hermes_home::atomic;

use crate::{Error, Result};

/// The name of a dump in an archive, beside the memory.db that holds the same.
pub const FILE: &str = "memory.pgdump";

/// How a program of PostgreSQL reaches one profile of a server. It has no `Debug`: a password is in it.
pub struct Reach {
    /// The variables that lead to the server; the password is among them.
    pub variables: Vec<(&'static str, String)>,
    /// The number of the profile: the rules of the server show no rows of others.
    pub profile: i64,
}

/// What a dump says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dumped {
    /// The number that the profile had.
    pub profile: i64,
    /// Its name.
    pub name: String,
    /// The number of the newest schema file of its tables.
    pub schema: i64,
}

/// Tables that are not taken along: what was under way there, and what a server makes by itself.
const LEFT_OUT: [&str; 8] = [
    "hermes.done",
    "hermes.chunk_count",
    "hermes.import_moved",
    "hermes.import_later",
    "hermes.import_session_end",
    "hermes.import_seen_receipt",
    "hermes.import_waiting_name",
    "hermes.profile_profile_seq",
];
/// Tables that must be there before others: the profile, without which no row may come, what is counted, and what others
/// say they belong to.
const FIRST: [&str; 6] = ["profile", "number", "fact", "procedure", "event", "episode"];
/// The table that is read and never written.
const SCHEMA: &str = "migration";
/// What would lead elsewhere than the variables say.
const ELSEWHERE: [&str; 8] = [
    "PGSERVICE",
    "PGSERVICEFILE",
    "PGHOSTADDR",
    "PGOPTIONS",
    "PGPASSWORD",
    "PGPASSFILE",
    "PGSSLROOTCERT",
    "PGTARGETSESSIONATTRS",
];

/// Fails unless pg_dump and pg_restore are there and know the version of a server.
pub fn must_know(server: &str) -> Result<()> {
    for program in ["pg_dump", "pg_restore"] {
        let found = version_of(program)?;
        let wanted = leading_number(server);
        if wanted.is_none_or(|wanted| found < wanted) {
            let why = format!("its version is {found}, older than the server, which is {server}");
            return Err(Error::ServerProgram { program, why });
        }
    }
    Ok(())
}

/// A pg_dump at work.
#[derive(Debug)]
pub struct Dumping {
    child: Child,
    said: File,
}

/// Begins to dump one profile, as it is in a state that somebody holds.
pub fn begin(reach: &Reach, snapshot: &str, to: &Path) -> Result<Dumping> {
    let said = tempfile::tempfile().map_err(|error| Error::file("write to", to, error))?;
    let hears = said.try_clone().map_err(|error| Error::file("write to", to, error))?;
    let mut command = reach.command("pg_dump");
    command.args(["--format=custom", "--data-only", "--schema=hermes", "--no-password"]);
    // Rows come as inserts: a table with rules takes no other form from whoever is bound by them.
    command.args(["--enable-row-security", "--column-inserts", "--rows-per-insert=200"]);
    command.args(LEFT_OUT.map(|table| format!("--exclude-table-data={table}")));
    // Who works with it is for the server that has it to say, and only the owner of the tables may read it.
    command.arg("--exclude-table=hermes.member");
    command.arg(format!("--snapshot={snapshot}")).arg("--file").arg(to);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(hears);
    let child = command.spawn().map_err(|error| unusable("pg_dump", &error))?;
    Ok(Dumping { child, said })
}

impl Dumping {
    /// Waits for the end, and sees that nothing but this profile is in it.
    pub fn finish(mut self, reach: &Reach, to: &Path) -> Result<()> {
        let ended = self.child.wait().map_err(|error| unusable("pg_dump", &error))?;
        let mut said = Vec::new();
        let read =
            self.said.seek(SeekFrom::Start(0)).and_then(|_| self.said.read_to_end(&mut said));
        read.map_err(|error| unusable("pg_dump", &error))?;
        if !ended.success() {
            return Err(failed("pg_dump", &said));
        }
        let found = look(to)?;
        if found.profile != reach.profile {
            let why = "its dump contains another profile than the requested one".to_owned();
            return Err(Error::ServerProgram { program: "pg_dump", why });
        }
        Ok(())
    }
}

impl Drop for Dumping {
    fn drop(&mut self) {
        // It is over already, or nobody wants it any more.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a dump says of itself; fails if it holds more than one profile.
pub fn look(dump: &Path) -> Result<Dumped> {
    let profiles = rows(dump, "profile")?;
    let (number, name) = match profiles.as_slice() {
        [one] => one.clone(),
        many => {
            let why = format!("its dump contains {} profiles instead of one", many.len());
            return Err(Error::ServerProgram { program: "pg_dump", why });
        }
    };
    let schema = rows(dump, SCHEMA)?.iter().map(|(number, _)| *number).max().unwrap_or(0);
    Ok(Dumped { profile: number, name, schema })
}

/// Gives a dump back to a server, all of it or nothing; its profile must not be there.
pub fn give_back(reach: &Reach, dump: &Path) -> Result<()> {
    let list = dump.with_extension("list");
    let listed = run(Command::new("pg_restore").arg("--list").arg(dump), "pg_restore")?;
    atomic::write_private(&list, in_order(&String::from_utf8_lossy(&listed)).as_bytes())?;
    let mut command = reach.command("pg_restore");
    command.args(["--data-only", "--enable-row-security", "--single-transaction"]);
    command.args(["--exit-on-error", "--no-password", "--dbname", ""]).arg("--use-list").arg(&list);
    let done = run(command.arg(dump), "pg_restore");
    let removed = std::fs::remove_file(&list);
    done?;
    removed.map_err(|error| Error::file("remove", &list, error))
}

/// The lines of a table of contents in the order in which they can be given back.
fn in_order(listed: &str) -> String {
    let table = |line: &str| -> Option<String> {
        let (_, rest) = line.split_once(" TABLE DATA hermes ")?;
        Some(rest.split(' ').next()?.to_owned())
    };
    let mut lines: Vec<(usize, &str)> = listed
        .lines()
        .filter(|line| !line.starts_with(';'))
        .filter_map(|line| {
            let table = table(line).filter(|table| table != SCHEMA)?;
            let place = FIRST.iter().position(|first| *first == table);
            Some((place.unwrap_or(FIRST.len()), line))
        })
        .collect();
    lines.sort_by_key(|(place, _)| *place);
    lines.into_iter().map(|(_, line)| format!("{line}\n")).collect()
}

/// The first two columns of every row that a dump has of a table with short rows.
fn rows(dump: &Path, table: &str) -> Result<Vec<(i64, String)>> {
    let mut command = Command::new("pg_restore");
    command.args(["--data-only", "--schema=hermes", "--table", table, "--file", "-"]);
    let text = run(command.arg(dump), "pg_restore")?;
    Ok(String::from_utf8_lossy(&text).lines().filter_map(row).collect())
}

/// `\t(1, 'default', …` as pg_restore prints it.
fn row(line: &str) -> Option<(i64, String)> {
    let (number, rest) = line.strip_prefix("\t(")?.split_once(", '")?;
    let (name, _) = rest.split_once('\'')?;
    Some((number.parse().ok()?, name.to_owned()))
}

impl Reach {
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        for name in ELSEWHERE {
            command.env_remove(name);
        }
        command.envs(self.variables.iter().map(|(name, value)| (*name, value)));
        command.env("PGOPTIONS", format!("-c hermes.profile={} -c hermes.user=*", self.profile));
        command
    }
}

fn version_of(program: &'static str) -> Result<u32> {
    let said = run(Command::new(program).arg("--version"), program)?;
    let said = String::from_utf8_lossy(&said).into_owned();
    let version = said.split_once(") ").and_then(|(_, rest)| leading_number(rest));
    version.ok_or_else(|| Error::ServerProgram {
        program,
        why: format!("its version could not be read: {}", said.trim()),
    })
}

fn leading_number(text: &str) -> Option<u32> {
    let digits = text.trim_start();
    let end = digits.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(digits.len());
    digits.get(..end)?.parse().ok()
}

/// What a program printed; an error if it did not end well.
fn run(command: &mut Command, program: &'static str) -> Result<Vec<u8>> {
    let ran = command.stdin(Stdio::null()).output().map_err(|error| unusable(program, &error))?;
    if ran.status.success() { Ok(ran.stdout) } else { Err(failed(program, &ran.stderr)) }
}

fn unusable(program: &'static str, error: &io::Error) -> Error {
    let why = match error.kind() {
        io::ErrorKind::NotFound => "it is not installed".to_owned(),
        _ => error.to_string(),
    };
    Error::ServerProgram { program, why }
}

/// The first line that a program said of its failure.
fn failed(program: &'static str, said: &[u8]) -> Error {
    let said = String::from_utf8_lossy(said);
    let line = said.lines().find(|line| line.contains("error:")).or_else(|| said.lines().next());
    let line = line.unwrap_or("it failed without a message");
    let why = line.split_once("error:").map_or(line, |(_, why)| why).trim();
    Error::ServerProgram { program, why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_belong_to_comes_before_them() {
        let listed = ";\n; Archive created\n\
            3838; 0 16704 TABLE DATA hermes audit postgres\n\
            3849; 0 16799 TABLE DATA hermes conflict postgres\n\
            3818; 0 16491 TABLE DATA hermes episode postgres\n\
            3822; 0 16535 TABLE DATA hermes fact postgres\n\
            3809; 0 16390 TABLE DATA hermes migration postgres\n\
            3811; 0 16419 TABLE DATA hermes number postgres\n\
            3812; 0 16420 TABLE DATA hermes profile postgres\n";
        let order = in_order(listed);
        let tables: Vec<&str> = order.lines().filter_map(|line| line.split(' ').nth(6)).collect();
        assert_eq!(tables, ["profile", "number", "fact", "episode", "audit", "conflict"]);
    }

    #[test]
    fn rows_and_versions_are_read_as_the_programs_print_them() {
        assert_eq!(row("\t(12, 'work', 0, 'b0bf');"), Some((12, "work".to_owned())));
        assert_eq!(row("INSERT INTO hermes.profile VALUES"), None);
        assert_eq!(leading_number("15.20 (Debian 15.20-0+deb12u1)"), Some(15));
        assert_eq!(leading_number("beta"), None);
    }
}
