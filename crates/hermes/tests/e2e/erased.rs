//! Erased is gone: no table, no file, no free page of a home holds a word of it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::json;

use crate::folk::{CANARY, echo, said_and_repeated};
use crate::listening::Listening;
use crate::pages::Visitor;
use crate::sandbox::Sandbox;
use crate::talks::found;

/// What becomes of a table when somebody is forgotten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Table {
    /// It holds words of people: the canary is put into it, and must be gone.
    Words,
    /// It holds numbers, hashes, ids and settings; or an index, whose pages are searched as bytes.
    NoWords,
}
use Table::{NoWords, Words};

/// Every table of memory.db. A new one needs a decision here.
const MEMORY: &[(&str, Table)] = &[
    ("meta", NoWords),
    ("user", Words),
    ("identity", Words),
    ("label", Words),
    ("session", Words),
    ("episode", Words),
    ("message", Words),
    ("speaker", Words),
    ("origin", NoWords),
    ("fact", Words),
    ("source", Words),
    ("revision", Words),
    ("entity", Words),
    ("entity_alias", Words),
    ("mention", NoWords),
    ("procedure", Words),
    ("event", Words),
    ("task", Words),
    ("chunk", NoWords),
    ("chunk_words", NoWords),
    ("chunk_terms", Words),
    ("embed_model", NoWords),
    ("vector", NoWords),
    ("vector_segment", NoWords),
    ("vector_codes", NoWords),
    ("vector_slots", NoWords),
    ("job", Words),
    ("schedule", NoWords),
    ("audit", NoWords),
    ("tombstone", NoWords),
    ("idempotency", Words),
    ("proposal", Words),
    ("receipt", Words),
    ("counter", NoWords),
    ("seen_identity", Words),
    ("grave", NoWords),
    ("step", Words),
    ("summary_session", NoWords),
    ("conflict", NoWords),
    ("file_entry", NoWords),
    ("covered", NoWords),
    ("taken", Words),
];

/// Every table of state.db.
const STATE: &[(&str, Table)] = &[
    ("schema_version", NoWords),
    ("sessions", Words),
    ("messages", Words),
    ("messages_fts", NoWords),
    ("database_identity", NoWords),
];

/// Files below the home that may hold a word after `hermes user forget`, and why.
const MAY_STAY: &[&str] = &[
    // What was brought in from another program, and skills: named in what the command prints.
    "migration/",
    "skills/",
    "hermesd/deleted-profiles/",
    "hermesd/deleted-skills/",
    "hermesd/pending-skills/",
];

fn tables(database: &Connection) -> BTreeSet<String> {
    let sql = "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'
        and name not like '%\\_data' escape '\\' and name not like '%\\_idx' escape '\\'
        and name not like '%\\_docsize' escape '\\' and name not like '%\\_config' escape '\\'";
    let mut statement = database.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// The tables in which some column holds the canary.
fn tables_with(sandbox: &Sandbox, file: &str, word: &str) -> BTreeSet<String> {
    let database = sandbox.database(file);
    let mut holding = BTreeSet::new();
    for table in tables(&database) {
        let sql = format!("select name from pragma_table_info('{table}')");
        let mut statement = database.prepare(&sql).unwrap();
        let columns: Vec<String> =
            statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        for column in columns {
            let sql = format!(
                "select count(*) from \"{table}\" where instr(cast(\"{column}\" as text), ?1)"
            );
            let count = database.query_row(&sql, [word], |row| row.get::<_, i64>(0));
            if count.is_ok_and(|count| count > 0) {
                holding.insert(table.clone());
            }
        }
    }
    holding
}

fn words_of(decisions: &[(&str, Table)]) -> BTreeSet<String> {
    let words = decisions.iter().filter(|(_, what)| *what == Words);
    words.map(|(name, _)| (*name).to_owned()).collect()
}

fn must_be_decided(sandbox: &Sandbox, file: &str, decisions: &[(&str, Table)]) {
    let known: BTreeSet<String> = decisions.iter().map(|(name, _)| (*name).to_owned()).collect();
    let there = tables(&sandbox.database(file));
    assert_eq!(there, known, "decide for each table whether it holds words of people");
}

/// Files below a folder that hold a word, in their names or bytes: databases with free pages and logs too.
fn files_with(folder: &Path, word: &str) -> Vec<String> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path().is_dir() {
                true => walk(&entry.path(), found),
                false => found.push(entry.path()),
            }
        }
    }
    let mut paths = Vec::new();
    walk(folder, &mut paths);
    let has = |bytes: &[u8]| {
        let lower = bytes.to_ascii_lowercase();
        lower.windows(word.len()).any(|part| part == word.as_bytes())
    };
    let is_holding = |path: &&PathBuf| {
        has(path.to_string_lossy().as_bytes()) || has(&fs::read(path).unwrap_or_default())
    };
    let inside = |path: &PathBuf| path.strip_prefix(folder).unwrap().display().to_string();
    paths.iter().filter(is_holding).map(inside).collect()
}

/// A conversation of a user with everything that is kept of one: steps, facts, a lesson, a summary of the day.
fn talk(sandbox: &Sandbox, user: &str) {
    let text = |words: &str| words.replace("WORD", CANARY);
    let calls = json!([{"id": "c1", "name": "Bash", "input": {"command": text("echo WORD")}}]);
    let turn = json!({"session_id": text("s-WORD"), "user": user, "channel": "cli", "ended": true,
        "project": text("/srv/WORD"), "agent": text("agent-WORD"), "messages": [
        {"role": "user", "text": text("I live in WORD. No, that is wrong, use WORD instead of unittest.")},
        {"role": "assistant", "text": text("I look at WORD."), "tool_calls": calls},
        {"role": "tool", "text": text("WORD"), "tool_call_id": "c1", "tool_name": "Bash"},
        {"role": "assistant", "text": text("Switched to WORD.")}]});
    let ran = sandbox.feed(&["memory", "turn", "-"], turn.to_string().as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    sandbox.ok(&["memory", "extract"]);
    sandbox.ok(&["memory", "reflect"]);
    let fact =
        |statement: &str| sandbox.ok(&["memory", "fact", "add", &text(statement), "--user", user]);
    fact("The WORD is red");
    sandbox.ok(&["memory", "add", "--file", "user", "--user", user, &text("Likes WORD")]);
    sandbox.ok(&["user", "link", "telegram", &text("id-WORD"), user]);
    let deleted = json!({"session_id": "deleted-one", "user": user, "messages": [
        {"role": "user", "text": text("and the deleted WORD")}]});
    sandbox.feed(&["memory", "turn", "-"], deleted.to_string().as_bytes());
    sandbox.ok(&["sessions", "delete", "deleted-one", "--yes"]);
}

/// What no short conversation brings into each table, put there as the program itself would.
fn plant(sandbox: &Sandbox, user: i64) {
    let memory = sandbox.database("memory.db");
    let sql = format!(
        "insert into speaker (user_id, word, name) values ({user}, '{CANARY}', '{CANARY}');
         insert into revision (kind, item, number, at, actor, body)
           select 1, id, 1, 0, 'user', 'earlier {CANARY}' from fact where user_id = {user} limit 1;
         insert into entity (id, user_id, name, created_at) values (900, {user}, '{CANARY}', 0);
         insert into entity_alias (user_id, alias, entity) values ({user}, '{CANARY}', 900);
         insert into procedure (uid, user_id, kind, title, body, origin, trust, recorded_at)
           values (x'01', {user}, 'reflection', '{CANARY}', '{CANARY}', 'user', 3, 0);
         insert into job (kind, payload, user_id, state, run_at, created_at, last_error)
           values ('reembed', '{CANARY}', {user}, 'failed', 0, 0, '{CANARY}');
         insert into idempotency (key, at, answer) values ('k', 0, '{CANARY}');
         insert into proposal (uid, user_id, kind, body, origin, trust, state, created_at)
           values (x'02', {user}, 'entry', '{CANARY}', 'user', 3, 'open', 0);
         insert into receipt (user_id, at, session_id, tokens, items) values ({user}, 0, 's-{CANARY}', 1, '[]');
         insert into seen_identity (channel, native_id, chat, user_id, first_at, last_at)
           values ('telegram', '{CANARY}', 'direct', {user}, 0, 0);
         insert into taken (database, session_id, last_message, live, at) values ('d', 's-{CANARY}', 1, 1, 0);
         update episode set task = 'told {CANARY}' where user_id = {user};
         update message set speaker = '{CANARY}' where id in (select id from message limit 1);"
    );
    memory.execute_batch(&sql).unwrap();
    drop(memory);
    let lines =
        json!({"session_id": "x", "user": "ana", "messages": [{"role": "user", "text": CANARY}]});
    sandbox.write("hermesd/spool/1.jsonl", format!("{lines}\n"));
    sandbox.write("hermesd/chat-history-ana", format!("{CANARY}\n"));
    sandbox.write("hermesd/before-upgrade/memory-schema-1-1.db", CANARY);
    let hash = "ab".repeat(32);
    sandbox.write(&format!("hermesd/checkpoints/contents/{}/{}", &hash[..2], &hash[2..]), CANARY);
    let checkpoint = json!({"number": 1, "session": format!("s-{CANARY}"), "turn": 1, "at": "2026-01-01T00:00:00Z",
        "folder": "/srv", "what": format!("write {CANARY}"), "folders": [],
        "changes": [{"path": "/srv/x", "before": {"File": {"hash": hash}}, "after": "Missing"}]});
    sandbox.write("hermesd/checkpoints/log/00000001.json", checkpoint.to_string());
    sandbox.write(&format!("hermesd/merged-users/ana/{CANARY}.json"), CANARY);
    sandbox.write("memories/users/ana/REFLECTIONS.md", format!("# Reflections\n\n## {CANARY}\n"));
    for kept in ["migration/copy.json", "skills/tea/SKILL.md"] {
        sandbox.write(kept, CANARY);
    }
}

/// Somebody of whom everything there can be is in a home.
fn somebody(sandbox: &Sandbox) -> i64 {
    sandbox.ok(&["config", "set", "users.mode", "several"]);
    sandbox.ok(&["user", "add", "ana"]);
    talk(sandbox, "ana");
    let memory = sandbox.database("memory.db");
    let number = memory.query_row("select id from user where name = 'ana'", [], |row| row.get(0));
    let number = number.unwrap();
    drop(memory);
    plant(sandbox, number);
    number
}

fn must_be_planted(sandbox: &Sandbox) {
    for (file, decisions) in [("memory.db", MEMORY), ("state.db", STATE)] {
        must_be_decided(sandbox, file, decisions);
        let mut planted = tables_with(sandbox, file, CANARY);
        planted.extend(tables_with(sandbox, file, "ana"));
        let missing: Vec<String> = words_of(decisions).difference(&planted).cloned().collect();
        assert_eq!(missing, Vec::<String>::new(), "{file}: the canary is not in these tables");
    }
}

fn must_be_gone(sandbox: &Sandbox) {
    for file in ["memory.db", "state.db"] {
        assert_eq!(tables_with(sandbox, file, CANARY), BTreeSet::new(), "{file}");
    }
    let may_stay = |path: &String| MAY_STAY.iter().any(|kept| path.starts_with(kept));
    let left: Vec<String> =
        files_with(&sandbox.home(), CANARY).into_iter().filter(|path| !may_stay(path)).collect();
    assert_eq!(left, Vec::<String>::new());
    let receipts = sandbox.folder().join(".hermes-backups");
    assert_eq!(files_with(&receipts, CANARY), Vec::<String>::new());
}

#[test]
#[expect(clippy::print_stdout, reason = "the figure stands in docs/SECURITY.md")]
fn somebody_who_is_forgotten_is_in_no_table_no_file_and_no_free_page() {
    let sandbox = Sandbox::ready();
    somebody(&sandbox);
    must_be_planted(&sandbox);
    let before = files_with(&sandbox.home(), CANARY);
    assert!(before.len() > 12, "{before:?}");
    let done = sandbox.json(&["user", "forget", "ana", "--yes"]);
    assert!(done["stays"].to_string().contains("migration"), "{done}");
    must_be_gone(&sandbox);
    let words = words_of(MEMORY).len() + words_of(STATE).len();
    let (all, files) = (MEMORY.len() + STATE.len(), before.len());
    println!("{words} of {all} tables and {files} files held the word; none does");
    sandbox.ok(&["doctor"]);
}

#[test]
fn the_dashboard_forgets_a_user_as_the_command_does_and_shows_the_receipt() {
    let sandbox = Sandbox::ready();
    somebody(&sandbox);
    let daemon = Listening::at(sandbox);
    let visitor = Visitor::new(&daemon);
    let form = |more: &[(&'static str, &'static str)]| {
        let fields = [("deed", "forget"), ("what", "user:ana"), ("sure", "ana"), ("unsafe", "1")];
        [&fields[..], more].concat()
    };
    let kept = visitor.does("carry", &form(&[]));
    assert!(kept.text.contains("user forget NAME"), "{}", kept.text);
    let shown = visitor.does("carry", &form(&[("erase", "1")]));
    assert!(
        shown.text.contains("erased of ana") && shown.text.contains("receipt"),
        "{}",
        shown.text
    );
    assert!(!visitor.page("sessions").text.contains(CANARY));
    must_be_gone(&daemon.sandbox);
}

fn remembered(sandbox: &Sandbox) -> Vec<String> {
    let hits = sandbox.json(&["memory", "search", CANARY, "--type", "all"]);
    let hits = hits["results"].as_array().unwrap().clone();
    // What is near in meaning is found too; only the word itself counts.
    let texts = hits.iter().filter(|hit| hit["type"] != "sessions").map(ToString::to_string);
    texts.filter(|hit| hit.contains(CANARY)).collect()
}

#[test]
fn what_the_memory_answered_is_never_taken_in_again() {
    let sandbox = Sandbox::ready();
    let tools =
        ["mcp__hermes__search", "memory_search", "session_search", "hermes-memory_get", "memory"];
    for (number, tool) in tools.iter().enumerate() {
        echo(&sandbox, &format!("s{number}"), tool);
    }
    // The same, as another program wrote it to the transcript.
    let sql = format!(
        "insert into sessions (id, source, started_at) values ('theirs', 'cli', unixepoch());
         insert into messages (session_id, role, content, tool_name, timestamp) values
            ('theirs', 'user', 'And where now?', null, unixepoch()),
            ('theirs', 'tool', 'the {CANARY} is behind the piano', 'mcp_hermes_memory_search', unixepoch()),
            ('theirs', 'assistant', 'There.', null, unixepoch());"
    );
    sandbox.database("state.db").execute_batch(&sql).unwrap();
    sandbox.ok(&["memory", "catch-up"]);
    let line =
        json!({"session_id": "lines", "role": "tool", "text": CANARY, "tool_name": "memory_get"});
    let ran = sandbox.feed(&["memory", "record", "-"], format!("{line}\n").as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(found(&sandbox, &["Where did we put it"]).len() >= 2);
    assert_eq!(remembered(&sandbox), Vec::<String>::new());
    assert_eq!(tables_with(&sandbox, "memory.db", CANARY), BTreeSet::new());
}

#[test]
fn erasing_a_session_takes_the_echoes_that_older_versions_recorded() {
    let sandbox = Sandbox::ready();
    said_and_repeated(&sandbox);
    assert!(remembered(&sandbox).len() >= 2);
    let renamed = "update step set tool = 'mcp__hermes__memory_search'";
    sandbox.database("memory.db").execute_batch(renamed).unwrap();
    sandbox.ok(&["memory", "forget", "--session", "first", "--erase", "--yes"]);
    assert_eq!(remembered(&sandbox), Vec::<String>::new());
    let left = files_with(&sandbox.home(), CANARY);
    assert!(left.iter().all(|path| path.starts_with("state.db")), "{left:?}");
    assert!(!left.is_empty(), "the transcript stays unless it is asked for");
    assert!(found(&sandbox, &["Where did we put it"]).iter().any(|text| text.contains("put it")));
    for check in ["doctor", "memory"] {
        let words: &[&str] =
            if check == "memory" { &["memory", "status"] } else { &["doctor", "--deep"] };
        sandbox.ok(words);
    }
}

#[test]
fn a_session_goes_with_its_transcript_and_every_copy_where_that_is_asked() {
    let sandbox = Sandbox::ready();
    let said = json!({"session_id": "first", "ended": true, "messages": [
        {"role": "user", "text": format!("No, that is wrong, use {CANARY} instead of unittest. I live in {CANARY}.")},
        {"role": "assistant", "text": "Noted."}]});
    sandbox.feed(&["memory", "turn", "-"], said.to_string().as_bytes());
    sandbox.ok(&["memory", "extract"]);
    sandbox.ok(&["memory", "reflect"]);
    // As if the session had been deleted before, and had been written to a log of lessons and typed.
    let procedure = format!(
        "insert into procedure (id, uid, user_id, kind, title, body, origin, trust, recorded_at)
           values (7, x'07', 1, 'reflection', '{CANARY}', '{CANARY}', 'user', 3, 0);
         insert into source (kind, item, episode, quote) select 2, 7, id, '{CANARY}' from episode;"
    );
    sandbox.database("memory.db").execute_batch(&procedure).unwrap();
    let log = format!(
        "# Reflections\n\n## Kept\n<!-- procedure:3 -->\n\n- stays\n\n## {CANARY}\n<!-- procedure:7 -->\n\n- x\n"
    );
    sandbox.write("workspace/REFLECTIONS.md", log);
    let copy = json!({"id": "first", "messages": [{"content": CANARY}]});
    sandbox.write("hermesd/deleted-sessions/1-first.jsonl", format!("{copy}\n"));
    let typed = format!(
        "No, that is wrong, use {CANARY} instead of unittest. I live in {CANARY}.\n/quit\n"
    );
    sandbox.write("hermesd/chat-history", typed);
    let forget = ["memory", "forget", "--session", "first", "--erase", "--transcript", "--yes"];
    assert!(sandbox.ok(&forget).contains("1 session of the transcript"));
    assert_eq!(files_with(&sandbox.home(), CANARY), Vec::<String>::new());
    assert!(sandbox.read("workspace/REFLECTIONS.md").contains("stays"));
    assert_eq!(sandbox.read("hermesd/chat-history"), "/quit\n");
    sandbox.fails(
        &["memory", "forget", "--user", "owner", "--erase", "--transcript"],
        2,
        &["user forget"],
    );
}

#[test]
fn an_erased_fact_leaves_no_word_and_one_deleted_for_ever_leaves_no_session() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", &format!("The {CANARY} is red")]);
    let sql = format!(
        "insert into idempotency (key, at, answer) values ('k', 0, 'the {CANARY} is red');
         insert into proposal (uid, user_id, kind, body, origin, trust, state, created_at)
           values (x'02', 1, 'entry', '{{\"text\": \"The {CANARY} is red\"}}', 'user', 3, 'open', 0);"
    );
    sandbox.database("memory.db").execute_batch(&sql).unwrap();
    sandbox.ok(&["memory", "fact", "delete", "1", "--erase", "--yes"]);
    assert_eq!(files_with(&sandbox.home(), CANARY), Vec::<String>::new());
    let said =
        json!({"session_id": "s", "messages": [{"role": "user", "text": format!("say {CANARY}")}]});
    sandbox.feed(&["memory", "turn", "-"], said.to_string().as_bytes());
    sandbox.ok(&["sessions", "delete", "s", "--erase", "--yes"]);
    let left = files_with(&sandbox.home(), CANARY);
    assert!(left.iter().all(|path| path.starts_with("memory.db")), "{left:?}");
}
