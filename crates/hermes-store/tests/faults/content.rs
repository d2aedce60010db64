//! Everything that a database says, as text that can be compared; and whether it is whole.

use std::path::Path;

use hermes_store::memory::{Admin, ChainState, Memory, Wanted};
use hermes_store::sessions;
use hermes_store::snapshot::{Depth, examine};
use hermes_store::sqlite::{self, Access, DEFAULT_WAIT};
use rusqlite::Connection;
use rusqlite::types::ValueRef;

/// What a database says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Content {
    /// Every row of every table, and every word of every index.
    pub(crate) exact: String,
    /// The same without ids drawn by chance, and hashes over them.
    pub(crate) alike: String,
}

impl Content {
    /// Of a database of ours, which must be whole in every respect.
    pub(crate) fn of(path: &Path, what: &str) -> Content {
        let content = Content::unchecked(path);
        // In a copy: the checks bring an older one up to the newest schema.
        let copy = tempfile::tempdir().unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        for suffix in ["", "-wal", "-journal"] {
            let from = path.with_file_name(format!("{name}{suffix}"));
            if from.exists() {
                std::fs::copy(from, copy.path().join(format!("{name}{suffix}"))).unwrap();
            }
        }
        is_whole(&copy.path().join(name), what);
        content
    }

    fn unchecked(path: &Path) -> Content {
        let connection = sqlite::open(path, Access::Read, DEFAULT_WAIT).unwrap();
        let mut content = Content { exact: String::new(), alike: String::new() };
        let version: i64 =
            connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        content.add(&format!("version {version}\n"));
        for (name, kind) in tables(&connection) {
            content.add(&format!("{kind} {name}\n"));
            match kind.as_str() {
                "virtual" => content.words(&connection, &name),
                _ => content.rows(&connection, &format!("select * from \"{name}\"")),
            }
        }
        content
    }

    fn add(&mut self, text: &str) {
        self.exact.push_str(text);
        self.alike.push_str(text);
    }

    fn words(&mut self, connection: &Connection, table: &str) {
        let vocabulary = format!(
            "create virtual table temp.\"words of {table}\" using fts5vocab (main, \"{table}\", instance)"
        );
        connection.execute_batch(&vocabulary).unwrap();
        self.rows(connection, &format!("select * from temp.\"words of {table}\""));
    }

    fn rows(&mut self, connection: &Connection, sql: &str) {
        let mut statement = connection.prepare(sql).unwrap();
        let columns = statement.column_count();
        let mut lines: Vec<(String, String)> = Vec::new();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let mut line = (String::new(), String::new());
            for column in 0..columns {
                let value = row.get_ref(column).unwrap();
                let shown = shown(value);
                line.1 += if is_by_chance(value) { "|*" } else { &shown };
                line.0 += &shown;
            }
            lines.push(line);
        }
        lines.sort();
        lines.iter().for_each(|line| self.exact.extend([line.0.as_str(), "\n"]));
        lines.sort_by(|one, other| one.1.cmp(&other.1));
        lines.iter().for_each(|line| self.alike.extend([line.1.as_str(), "\n"]));
    }
}

/// Ids are sixteen bytes, hashes over them thirty-two; as text an id has thirty-six letters.
fn is_by_chance(value: ValueRef<'_>) -> bool {
    match value {
        ValueRef::Blob(bytes) => bytes.len() == 16 || bytes.len() == 32,
        ValueRef::Text(text) => {
            text.len() == 36 && text.iter().filter(|b| **b == b'-').count() == 4
        }
        _ => false,
    }
}

fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "|null".to_owned(),
        ValueRef::Integer(number) => format!("|{number}"),
        ValueRef::Real(number) => format!("|{number:?}"),
        ValueRef::Text(text) => format!("|{:?}", String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => format!("|x{}", hex(bytes)),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The tables but for those in which an index keeps its own pages, those that only show what is in an index, and the one
/// that says which file it is.
fn tables(connection: &Connection) -> Vec<(String, String)> {
    let sql = "select name, type from pragma_table_list where schema = 'main' and type in ('table', 'virtual')
        and name <> 'database_identity' and name in (select name from sqlite_schema where sql not like '%fts5vocab%') order by name";
    let mut statement = connection.prepare(sql).unwrap();
    statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .map(Result::unwrap)
        .collect()
}

/// Fails unless pages, tables, indexes and what the program itself checks are whole.
fn is_whole(path: &Path, what: &str) {
    let found = examine(path, Depth::Full).unwrap();
    assert!(found.is_whole(), "{what}: {found:?}");
    let are_whole = found.indexes.values().all(|state| state == "ok");
    assert!(are_whole, "{what}: {:?}", found.indexes);
    if path.file_name().is_some_and(|name| name == "memory.db") {
        let wanted = Wanted { path, profile: "default" };
        let memory = Memory::open(wanted, Access::Read, DEFAULT_WAIT).unwrap();
        assert_eq!(memory.check_memory(Admin).unwrap(), [], "{what}");
        assert!(matches!(memory.check_audit(Admin).unwrap(), ChainState::Whole { .. }), "{what}");
    } else {
        let checked = sessions::check(path, sessions::Depth::Full, DEFAULT_WAIT).unwrap();
        assert!(checked.is_healthy(), "{what}: {checked:?}");
    }
}
