//! Homes of earlier versions of the program, one for each schema that ever was, and what must be left of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::sandbox::Sandbox;

/// A home of some version of the program: `tests/fixtures/homes/README.md` says how it was made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OldHome {
    /// The name of its archive.
    pub(crate) name: &'static str,
    /// The number of the newest schema file that its version had, for memory.db or for the server.
    pub(crate) schema: i64,
    /// How many rows the tables of [`COUNTED`] have.
    pub(crate) rows: [usize; 4],
}

/// The tables whose rows each line below counts.
pub(crate) const COUNTED: [&str; 4] = ["message", "fact", "procedure", "audit"];

/// Those with a memory.db; a new schema adds an archive and a line.
#[rustfmt::skip]
pub(crate) const WITH_FILES: &[OldHome] = &[
    OldHome { name: "memory-1", schema: 1, rows: [31, 8, 0, 16] },
    OldHome { name: "memory-2", schema: 2, rows: [37, 13, 2, 96] },
    OldHome { name: "memory-3", schema: 3, rows: [37, 13, 2, 96] },
    OldHome { name: "memory-4", schema: 4, rows: [37, 13, 2, 96] },
    OldHome { name: "memory-5", schema: 5, rows: [37, 13, 2, 96] },
    OldHome { name: "memory-6", schema: 6, rows: [37, 14, 2, 99] },
];

/// Schemas of memory.db that came together with the next one: no version ended there, so no home can have them.
pub(crate) const NEVER_LEFT: &[i64] = &[7];

/// What can be asked of every old home: who asks, since which schema, the question, what the answer must hold.
#[rustfmt::skip]
pub(crate) const QUESTIONS: &[(Option<&str>, i64, &str, &str)] = &[
    (None, 1, "Which port does the staging database use?", "port 5433"),
    (None, 1, "When does the harbour office close?", "noon on Fridays"),
    (None, 1, "Wo liegt das Lager?", "Hamburg am Hafen"),
    (None, 1, "When is the release of Borealis?", "on Monday"),
    (None, 1, "What is Rosa allergic to?", "peanuts"),
    (None, 1, "Von welchem Gleis fährt der Zug nach Göttingen?", "Gleis 9"),
    (Some("bruno"), 1, "When does Bruno paint the fence?", "in May"),
    (Some("bruno"), 1, "Как зовут мою кошку?", "Матрёшка"),
    (Some("bruno"), 1, "京都の支店", "月曜日"),
    (Some("bruno"), 1, "When does the harbour office close?", "noon on Fridays"),
    (None, 2, "How did the deployment of the wiki to staging go?", "wiki"),
    (None, 2, "What needs a new wick?", "lantern in the attic"),
    (None, 2, "What do we use for Cascade?", "Kafka"),
    (Some("bruno"), 2, "Where does the ferry on Thursday go?", "Tangier"),
];

/// What was taken out, erased, or is another user's: who asks, the question, what no answer may hold.
pub(crate) const NEVER: &[(Option<&str>, &str, &str)] = &[
    (None, "What is the code of the old gate?", "gate is 4711"),
    (None, "What opens the vault?", "xyzzyplugh"),
    (None, "What is the password of the old printer?", "plughxyzzy"),
    (None, "When does Bruno paint the fence?", "in May"),
    (None, "Как зовут мою кошку?", "Матрёшка"),
    (Some("bruno"), "Which port does the staging database use?", "port 5433"),
];

impl OldHome {
    /// The home in a sandbox of its own, as it was left.
    pub(crate) fn unpacked(&self) -> Sandbox {
        let sandbox = Sandbox::empty();
        let archive = fixtures().join(format!("{}.tar.zst", self.name));
        let plain = zstd::Decoder::new(fs::File::open(&archive).unwrap()).unwrap();
        tar::Archive::new(plain).unpack(sandbox.folder()).unwrap();
        sandbox
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/hermes/tests/fixtures/homes")
}

/// The number of the newest schema file of `memory`, `postgres` or `state`.
pub(crate) fn newest(of: &str) -> i64 {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/hermes-store/migrations").join(of);
    i64::try_from(fs::read_dir(folder).unwrap().count()).unwrap()
}

/// A home with a memory that this version made.
pub(crate) fn new_memory() -> Sandbox {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "There is a memory"]);
    sandbox
}

/// Every table, index and trigger with its text.
pub(crate) fn schema_of(database: &Connection) -> BTreeSet<String> {
    let sql = "select type || ' ' || name || ' ' || coalesce(sql, '') from sqlite_schema";
    let mut all = database.prepare(sql).unwrap();
    let rows = all.query_map([], |row| row.get(0)).unwrap();
    rows.collect::<rusqlite::Result<_>>().unwrap()
}

/// A database as it lies there, with its log.
#[expect(clippy::disallowed_methods, reason = "the tests look at a file past the program")]
pub(crate) fn connect(path: &Path) -> Connection {
    Connection::open(path).unwrap()
}

/// What lies beside a database: its log, its journal.
pub(crate) fn with(path: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", path.display()))
}

pub(crate) fn number_of(database: &Connection) -> i64 {
    database.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

/// Tables that a later schema file made anew: which episodes are covered is looked at by itself, and what was taken in
/// from where is found out again.
const MADE_ANEW: [&str; 2] = ["covered", "taken"];

/// Every row that was in a database is in the other, in each column that both have.
pub(crate) fn nothing_is_lost(before: &Path, after: &Path) {
    let database = connect(after);
    database.execute("attach ?1 as old", [before.to_str().unwrap()]).unwrap();
    for table in tables(&database) {
        if MADE_ANEW.contains(&table.as_str()) {
            continue;
        }
        let columns = common_columns(&database, &table);
        let lost = format!(
            "select count(*) from (select {columns} from old.{table} except select {columns} from main.{table})"
        );
        let fewer = format!(
            "select (select count(*) from old.{table}) - (select count(*) from main.{table})"
        );
        let number = |sql: &str| -> i64 { database.query_row(sql, [], |row| row.get(0)).unwrap() };
        assert_eq!(number(&lost), 0, "rows of {table} are lost or changed");
        assert_eq!(number(&fewer), 0, "rows of {table} are gone or there twice");
    }
    for (episode, summary) in told_by(&database, "old") {
        assert!(
            told_by(&database, "main").contains(&(episode, summary)),
            "who tells of {episode}?"
        );
    }
}

/// The tables of both databases that hold rows themselves: not those of a full-text index.
fn tables(database: &Connection) -> Vec<String> {
    let sql = "select name from old.sqlite_schema where type = 'table' and name not like 'sqlite_%'
        and name not like 'chunk_words%' and name not like 'chunk_terms%' and name not like 'messages_fts%'
        and name in (select name from main.sqlite_schema)";
    let mut all = database.prepare(sql).unwrap();
    all.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

fn common_columns(database: &Connection, table: &str) -> String {
    let sql = "select group_concat('\"' || o.name || '\"') from pragma_table_info(?1, 'old') o
        join pragma_table_info(?1, 'main') n using (name)";
    database.query_row(sql, [table], |row| row.get(0)).unwrap()
}

/// Which episodes a summary tells of, whether they are noted one by one or as runs.
fn told_by(database: &Connection, which: &str) -> BTreeSet<(i64, i64)> {
    let has = format!("select count(*) from {which}.sqlite_schema where name = 'covered'");
    if database.query_row(&has, [], |row| row.get::<_, i64>(0)).unwrap() == 0 {
        return BTreeSet::new();
    }
    let runs = format!("select first, last, summary from {which}.covered");
    let each = format!("select episode, episode, summary from {which}.covered");
    let mut all = database.prepare(&runs).or_else(|_| database.prepare(&each)).unwrap();
    let rows = all.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    rows.map(Result::unwrap)
        .flat_map(|(first, last, summary): (i64, i64, i64)| {
            (first..=last).map(move |e| (e, summary))
        })
        .collect()
}

/// The files and their full-text indexes are whole, and so is everything the program checks itself.
pub(crate) fn is_whole(sandbox: &Sandbox) {
    for (file, index) in [("memory.db", "chunk_words"), ("state.db", "messages_fts")] {
        let database = connect(&sandbox.path(file));
        let found: String =
            database.query_row("pragma integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(found, "ok", "{file}");
        assert!(!database.prepare("pragma foreign_key_check").unwrap().exists([]).unwrap());
        let check = format!("insert into {index} ({index}) values ('integrity-check')");
        database.execute_batch(&check).unwrap();
    }
    let ran = sandbox.run(&["doctor"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let chain = ran.stdout.lines().find(|line| line.contains(" audit "));
    assert!(chain.is_some_and(|line| line.contains("is intact")), "{}", ran.stdout);
}

/// What was said and known is found by these commands, by those whose it is and by nobody else.
pub(crate) fn answers(home: &OldHome, sandbox: &Sandbox, commands: &[&str]) {
    let ask = |command: &str, user: Option<&str>, question: &str| {
        let whose = user.map(|name| ["--user", name]);
        let whose = whose.iter().flatten().copied();
        let all: Vec<&str> = ["memory", command, question].into_iter().chain(whose).collect();
        sandbox.json(&all).to_string()
    };
    for (user, since, question, wanted) in QUESTIONS {
        if *since > home.schema && home.name.starts_with("memory") {
            continue;
        }
        for &command in commands {
            let found = ask(command, *user, question);
            assert!(found.contains(wanted), "{} {command} {question}: {found}", home.name);
        }
    }
    for (user, question, never) in NEVER {
        for &command in commands {
            let found = ask(command, *user, question);
            let found = found.replace(question, "");
            assert!(!found.contains(never), "{} {command} {question}: {found}", home.name);
        }
    }
}
