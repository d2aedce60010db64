//! Databases of other programs: read while they are written to, and left as they are.

use std::fs;

use hermes_import::{Error, LeftOut, Source};

use crate::sql;
use crate::support::{Folder, options, read, try_read};

const FACTS: &str = "
    pragma journal_mode = wal;
    create table facts (fact_id integer primary key, content text not null unique, category text,
      tags text, trust_score real, created_at timestamp);
    create table entities (entity_id integer primary key, name text not null);
    create table fact_entities (fact_id integer, entity_id integer);
    insert into facts values (1, 'Ana likes tea', 'user_pref', '', 0.7, '2026-01-02 03:04:05');
    insert into facts values (2, 'The gate is green', 'general', '', 9, null);
    insert into entities values (1, 'Ana');
    insert into fact_entities values (1, 1);";

const STATE: &str = "
    create table sessions (id text primary key, source text not null, started_at real not null,
      ended_at real, chat_type text, cwd text, model_config text, parent_session_id text, end_reason text);
    create table messages (id integer primary key autoincrement, session_id text not null, role text,
      content text, tool_name text, tool_calls text, tool_call_id text, timestamp real,
      active integer not null default 1, compacted integer not null default 0, display_kind text);
    insert into sessions (id, source, started_at, chat_type) values
      ('s1', 'telegram', 1714557600, 'dm'), ('s2', 'cron', 1714557600, null),
      ('s3', 'telegram', 1714557600, 'group');
    insert into messages (session_id, role, content, timestamp, active, compacted, display_kind) values
      ('s1', 'user', 'old but kept', 1714557601, 0, 1, null),
      ('s1', 'user', 'taken back', 1714557602, 0, 0, null),
      ('s1', 'user', 'hidden words', 1714557603, 1, 0, 'hidden'),
      ('s2', 'user', 'nightly', 1714557604, 1, 0, null),
      ('s3', 'user', 'in a group', 1714557605, 1, 0, null);";

#[test]
fn facts_of_holographic_are_read_while_it_runs_and_nothing_is_changed() {
    let folder = Folder::new();
    let path = folder.path("memory_store.db");
    let running = sql::open(&path);
    sql::run(&running, FACTS);
    let log = folder.path("memory_store.db-wal");
    let before = (fs::read(&path).unwrap(), fs::read(&log).unwrap());
    let got = read(Source::Holographic, &folder.path(""));
    assert_eq!(got.known(), ["Ana likes tea", "The gate is green"]);
    let first = &got.facts[0];
    assert_eq!((first.kind, first.names.as_slice()), (Some("preference"), &["Ana".to_owned()][..]));
    assert_eq!(first.at.unwrap().to_string(), "2026-01-02T03:04:05Z");
    assert_eq!((first.confidence, got.facts[1].confidence), (Some(0.7), Some(1.0)));
    assert!(before == (fs::read(&path).unwrap(), fs::read(&log).unwrap()));
    drop(running);
}

#[test]
fn another_home_gives_what_was_really_said_and_its_entries() {
    let folder = Folder::new();
    let path = folder.path("state.db");
    sql::run_on(&path, STATE);
    folder.write("memories/MEMORY.md", "Ana likes tea\n§\nThe gate is green");
    folder.write("SOUL.md", "You are Hermes");
    let got = read(Source::HermesAgent, &folder.path(""));
    assert_eq!(got.said(), [("user", "old but kept")]);
    assert_eq!(got.known(), ["Ana likes tea", "The gate is green"]);
    let session = &got.messages[0].session;
    assert_eq!((session.id.as_str(), session.channel.as_deref()), ("s1", Some("telegram")));
    assert_eq!((got.left(LeftOut::Scheduled), got.left(LeftOut::Groups)), (1, 1));
}

#[test]
fn a_database_of_something_else_is_refused() {
    let folder = Folder::new();
    let path = folder.path("other.db");
    sql::run_on(&path, "create table x (y)");
    for source in [Source::Holographic, Source::HermesAgent] {
        let refused = try_read(source, &path, &options()).err().unwrap();
        assert!(matches!(refused, Error::Store(_)), "{refused}");
    }
    let text = folder.write("text.db", "no database at all, but long enough to be looked at");
    assert!(try_read(Source::Holographic, &text, &options()).is_err());
}
