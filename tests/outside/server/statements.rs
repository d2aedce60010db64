//! Every statement of the store is understood by both databases.

use std::path::{Path, PathBuf};

use hermes_store::memory::{Memory, Wanted};
use hermes_store::sqlite::{self, Access, DEFAULT_WAIT};

use crate::pg_server::Flavour;
use crate::place::{self, Place};
use crate::support::by;

/// The texts that only one of the two is given.
const OF_ONE: [&str; 2] = ["backend/sqlite", "backend/postgres"];

/// The statements that stand in the source, in the order of the files; `Both` and `Many` say which database they are for.
fn statements(folder: &Path) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut files: Vec<PathBuf> = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => folders.push(path),
                false => files.push(path),
            }
        }
    }
    files.sort();
    for file in files {
        let name = file.strip_prefix(folder).unwrap().display().to_string();
        let is_of_one = OF_ONE.iter().any(|folder| name.starts_with(folder));
        if is_of_one || name.ends_with("_tests.rs") {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        for literal in literals(&text) {
            found.push((name.clone(), literal));
        }
    }
    found
}

/// The string literals of a source file that are statements, each with the word before it.
fn literals(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line_start in source.match_indices('"').map(|(at, _)| at) {
        let before = source[..line_start].trim_end();
        let label = before.rsplit(|c: char| c.is_whitespace()).next().unwrap_or_default();
        // Only where a literal begins: behind `=`, a bracket or a field.
        if !label.ends_with(['=', '(', '[', ',', ':'])
            || matches!(label, "file:" | "server:" | "all:")
        {
            continue;
        }
        let rest = &source[line_start + 1..];
        let end = rest
            .match_indices('"')
            .map(|(at, _)| at)
            .find(|at| !rest[..*at].ends_with('\\'))
            .unwrap_or(rest.len());
        let text = rest[..end].replace("\\\"", "\"").replace("\\n", "\n");
        let first = text.split_whitespace().next().unwrap_or_default();
        // Pieces that a macro puts together are run by other tests.
        let is_piece = text.trim_end().ends_with(['=', ',']) || text.trim_end().ends_with("where");
        let is_statement = matches!(first, "select" | "insert" | "update" | "delete" | "with")
            && text.split_whitespace().count() > 3
            && !text.contains('{')
            && !text.contains("values ()");
        if is_statement && !is_piece {
            let all = text.replace(";\n", "; ");
            found.extend(all.split("; ").map(|one| one.trim_end_matches(';').to_owned()));
        }
    }
    found
}

#[test]
fn both_databases_understand_every_statement() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../crates/hermes-store/src/memory");
    let statements = statements(&folder);
    assert!(statements.len() > 250, "only {} statements were found", statements.len());
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("memory.db");
    Memory::create(Wanted { path: &path, profile: "default" }, "alice", by("user", 0)).unwrap();
    let file = sqlite::open(&path, Access::Write, DEFAULT_WAIT).unwrap();
    file.execute_batch(IMPORT_TABLES).unwrap();
    Place::new();
    let pool = place::pool(&place::database(Flavour::Plain));
    let mut server = pool.get().unwrap();
    server.batch_execute("set search_path = hermes").unwrap();
    let mut refused = Vec::new();
    for (name, text) in &statements {
        if let Err(error) = file.prepare(text) {
            refused.push(format!("{name}: SQLite: {error}\n{text}"));
        }
        if let Err(error) = server.batch_execute(&prepare(text)) {
            let said =
                error.as_db_error().map(|said| said.message().to_owned()).unwrap_or_default();
            // The program says of which type each value is; the one that only `add` of a pair uses cannot be told here.
            if said != "could not determine data type of parameter $1" {
                refused.push(format!("{name}: PostgreSQL: {said}\n{text}"));
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n\n"));
}

/// Has a server parse and plan a statement, and forget it again.
fn prepare(text: &str) -> String {
    format!("prepare this as {}; deallocate this", text.replace('?', "$"))
}

const IMPORT_TABLES: &str = "
    create temp table import_moved (kind integer, old integer, new integer);
    create temp table import_later (what integer, item integer, old integer);
    create temp table import_session_end (session integer, messages integer, dropped integer);
    create temp table import_seen_receipt (id integer, at integer, user_id integer);
    create temp table import_waiting_name (old integer, fields text)";
