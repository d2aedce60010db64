//! Databases of other layouts: read and written as they are, never altered.

use hermes_store::sessions::{
    Content, FullText, MessageState, NewMessage, Owner, SessionFilter, SessionKind, SessionStore,
    Window,
};
use hermes_store::sqlite::{Access, DEFAULT_WAIT};
use hermes_store::{Error, ErrorKind};

use crate::sql::run_on;
use crate::support::{Place, assert_whole, converse, minute, new_session, schema};

/// Four tables, old names, times as text, an index that no trigger fills.
pub(crate) const V6: &str = "
    pragma journal_mode = wal;
    create table schema_version (version integer);
    insert into schema_version values (6);
    create table sessions (id text primary key, channel text not null, created_at text not null,
        title text, model text, input_tokens integer, output_tokens integer);
    create table messages (id integer primary key, session_id text not null, role text not null,
        content text, created_at text not null);
    create virtual table messages_fts using fts5 (content, content='messages', content_rowid='id');
    insert into sessions values ('old-1', 'telegram', '2026-01-02 03:04:05', null, 'm', 7, 8);
    insert into messages values (1, 'old-1', 'user', 'where is the harbour', '2026-01-02 03:04:06');
    insert into messages_fts (messages_fts) values ('rebuild');";

/// The same with an index that keeps its own copy of the text.
pub(crate) const V6_INLINE: &str = "
    create table sessions (id text primary key, channel text, created_at real);
    create table messages (id integer primary key, session_id text, role text, content text,
        tool_name text, tool_calls text, created_at real);
    create virtual table messages_fts using fts5 (content);";

const V22_TABLES: &str = "
    pragma journal_mode = wal;
    create table schema_version (version integer not null);
    insert into schema_version values (22);
    create table state_meta (key text primary key, value text);
    create table sessions (id text primary key, source text not null, user_id text, model text,
        model_config text, system_prompt text, parent_session_id text references sessions (id),
        started_at real not null, ended_at real, end_reason text,
        message_count integer default 0, tool_call_count integer default 0,
        input_tokens integer default 0, output_tokens integer default 0, cwd text, title text,
        archived integer not null default 0);
    create unique index idx_sessions_title_unique on sessions (title) where title is not null;
    create table messages (id integer primary key autoincrement,
        session_id text not null references sessions (id), role text not null, content text,
        tool_call_id text, tool_calls text, tool_name text, timestamp real not null,
        token_count integer, finish_reason text, reasoning text, observed integer default 0,
        active integer not null default 1, compacted integer not null default 0);
    create table session_model_usage (
        session_id text not null references sessions (id) on delete cascade,
        model text not null, primary key (session_id, model));";

/// Two indexes with their own copies of the text, filled by triggers.
const V22_INDEXES: &str = "
    create virtual table messages_fts using fts5 (content);
    create virtual table messages_fts_trigram using fts5 (content, tokenize='trigram');
    create trigger messages_fts_insert after insert on messages begin
        insert into messages_fts (rowid, content) values (new.id, coalesce(new.content, '') || ' '
            || coalesce(new.tool_name, '') || ' ' || coalesce(new.tool_calls, '')); end;
    create trigger messages_fts_delete after delete on messages begin
        delete from messages_fts where rowid = old.id; end;
    create trigger messages_fts_trigram_insert after insert on messages begin
        insert into messages_fts_trigram (rowid, content) values (new.id,
            coalesce(new.content, '')); end;
    create trigger messages_fts_trigram_delete after delete on messages begin
        delete from messages_fts_trigram where rowid = old.id; end;";

const V22_ROWS: &str = "
    insert into sessions (id, source, started_at, end_reason, title, model_config, message_count)
    values ('20260101_000000_aaaaaa', 'cli', 1767225600.5, 'compression', 'plans', null, 2),
        ('20260101_000100_bbbbbb', 'cli', 1767225660, null, null, null, 1),
        ('20260101_000200_cccccc', 'cli', 1767225720, null, null, '{\"_branched_from\": \"x\"}', 0),
        ('20260101_000300_dddddd', 'subagent', 1767225780, null, null, '{}', 0);
    update sessions set parent_session_id = '20260101_000000_aaaaaa' where id like '%bbbbbb';
    insert into messages (session_id, role, content, timestamp, active, compacted)
    values ('20260101_000000_aaaaaa', 'user', 'the ferry leaves at nine', 1767225601, 1, 0),
        ('20260101_000000_aaaaaa', 'assistant', 'noted', 1767225602, 0, 1),
        ('20260101_000000_aaaaaa', 'user', 'never mind', 1767225603, 0, 0),
        ('20260101_000100_bbbbbb', 'user', cast(x'006a736f6e3a' as text) ||
            '[{\"type\": \"text\", \"text\": \"see \\u00e9\"}, {\"type\": \"image\"}]', 1767225661, 1, 0);";

/// Prompts in a table of their own, an index of three columns over a view, gated triggers.
const V30: &str = "
    pragma journal_mode = wal;
    create table schema_version (version integer not null);
    insert into schema_version values (30);
    create table state_meta (key text primary key, value text);
    insert into state_meta values ('fts_storage_version', '3');
    create table system_prompts (hash text primary key, prompt text not null);
    insert into system_prompts values ('h1', 'be kind');
    create table sessions (id text primary key, source text not null, user_id text, model text,
        model_config text, system_prompt text, system_prompt_hash text,
        parent_session_id text references sessions (id), started_at real not null, ended_at real,
        end_reason text, message_count integer default 0, tool_call_count integer default 0,
        title text, title_source text, last_activity_at real,
        archived integer not null default 0, pinned integer not null default 0,
        hidden integer not null default 0);
    create table messages (id integer primary key autoincrement,
        session_id text not null references sessions (id), role text not null, content text,
        tool_call_id text, tool_calls text, tool_name text, timestamp real not null,
        token_count integer, active integer not null default 1,
        compacted integer not null default 0, _compressed_summary integer, display_identity blob);
    create view messages_fts_src as select id, case role when 'tool' then substr(content, 1, 8192)
        else content end as content, tool_name, tool_calls from messages;
    create virtual table messages_fts using fts5 (content, tool_name, tool_calls,
        content='messages_fts_src', content_rowid='id');
    create trigger messages_fts_insert after insert on messages
        when not exists (select 1 from state_meta where key = 'fts_rebuild_high_water') begin
        insert into messages_fts (rowid, content, tool_name, tool_calls)
        select id, content, tool_name, tool_calls from messages_fts_src where id = new.id; end;
    create trigger messages_fts_delete before delete on messages begin
        insert into messages_fts (messages_fts, rowid, content, tool_name, tool_calls)
        select 'delete', id, content, tool_name, tool_calls from messages_fts_src
        where id = old.id; end;
    insert into sessions (id, source, started_at, system_prompt_hash, pinned, message_count)
    values ('20260201_000000_eeeeee', 'cli', 1769904000, 'h1', 1, 1);
    insert into sessions (id, source, started_at, hidden)
    values ('20260201_000100_ffffff', 'cli', 1769904060, 1);
    insert into messages (session_id, role, content, timestamp, display_identity)
    values ('20260201_000000_eeeeee', 'user', 'a lighthouse', 1769904001, x'00ff');";

/// An index whose tokenizer nobody here has.
const V30_CJK: &str = "
    create virtual table messages_fts_cjk using fts5 (content, tokenize='unicode61');
    create trigger messages_fts_cjk_insert after insert on messages begin
        insert into messages_fts_cjk (rowid, content) values (new.id, new.content); end;
    pragma writable_schema = on;
    update sqlite_master set sql = replace(sql, 'unicode61', 'cjk_unicode61')
    where name = 'messages_fts_cjk';";

pub(crate) fn v22() -> Place {
    Place::foreign(&[V22_TABLES, V22_INDEXES, V22_ROWS].concat())
}

pub(crate) fn v30() -> Place {
    Place::foreign(V30)
}

#[test]
fn a_database_of_ours_is_known_as_ours() {
    let place = Place::ours();
    let store = place.read();
    assert_eq!(store.layout().owner(), Owner::Ours);
    assert_eq!(store.layout().schema_version(), 22);
    assert_eq!(store.layout().full_text(), &FullText::OverView);
}

#[test]
fn ours_with_tables_of_hermes_agent_is_used_as_found() {
    let place = Place::ours();
    run_on(&place.path(), "create table state_meta (key text primary key, value text);");
    let before = schema(&place.path());
    let mut store = place.write();
    assert_eq!(store.layout().owner(), Owner::Extended);
    converse(&mut store, 1, 0, &["an anchor"]);
    drop(store);
    assert_eq!(schema(&place.path()), before);
    assert_whole(&place.path());
}

#[test]
fn a_newer_schema_of_ours_is_refused_and_a_foreign_one_is_not() {
    let place = Place::ours();
    run_on(&place.path(), "pragma user_version = 99;");
    let refused = SessionStore::open(&place.path(), Access::Read, DEFAULT_WAIT).unwrap_err();
    assert!(matches!(refused, Error::NewerSchema { found: 99, .. }), "{refused}");

    let foreign = v22();
    run_on(&foreign.path(), "update schema_version set version = 9000;");
    assert_eq!(foreign.read().layout().schema_version(), 9000);
}

#[test]
fn a_database_that_is_ours_in_part_is_refused_in_one_line() {
    let place = Place::ours();
    run_on(&place.path(), "pragma user_version = 0; drop table schema_version;");
    let refused = SessionStore::open(&place.path(), Access::Write, DEFAULT_WAIT).unwrap_err();
    assert_eq!(refused.to_string().lines().count(), 1, "{refused}");
    assert!(refused.to_string().ends_with("table sessions already exists"), "{refused}");
}

#[test]
fn v6_is_listed_and_read() {
    let place = Place::foreign(V6);
    let store = place.read();
    assert_eq!(store.layout().full_text(), &FullText::OverTable);
    let listed = store.list(&SessionFilter::default()).unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].source, "telegram");
    assert_eq!(listed[0].started_at.to_string(), "2026-01-02T03:04:05Z");
    assert_eq!(listed[0].preview.as_deref(), Some("where is the harbour"));
    let messages = store.messages(&listed[0].id, Window::All).unwrap();
    assert_eq!(messages[0].timestamp.to_string(), "2026-01-02T03:04:06Z");
    assert_eq!(messages[0].state, MessageState::Active);
}

#[test]
fn what_the_oldest_sessions_have_no_column_for_is_told_by_their_messages() {
    let place = Place::foreign(
        "create table schema_version (version integer); insert into schema_version values (6);
         create table sessions (id text primary key, created_at text);
         create table messages (id integer primary key, session_id text, role text, channel text,
             content text, created_at text);
         create virtual table messages_fts using fts5 (content, content='messages', content_rowid='id');
         insert into sessions values ('s1', '2026-01-02 03:04:05');
         insert into messages values (1, 's1', 'user', 'slack', 'hello', '2026-01-02 03:04:06'),
             (2, 's1', 'assistant', 'slack', 'hello back', '2026-01-02 03:04:07');",
    );
    let listed = place.read().list(&SessionFilter::default()).unwrap();
    assert_eq!((listed[0].message_count, listed[0].source.as_str()), (2, "slack"));
    let slack = SessionFilter { source: Some("slack".into()), ..SessionFilter::default() };
    assert_eq!(place.read().list(&slack).unwrap().len(), 1);
}

#[test]
fn v22_tells_kinds_states_and_parts() {
    let place = v22();
    let store = place.read();
    assert_eq!(store.layout().full_text(), &FullText::Inline);
    let listed = store.list(&SessionFilter::default()).unwrap();
    let kinds: Vec<(&str, SessionKind)> =
        listed.iter().map(|s| (&s.id.as_str()[16..], s.kind)).collect();
    use SessionKind::{Branch, Continuation, Conversation, Subagent};
    let expected = [
        ("dddddd", Subagent),
        ("cccccc", Branch),
        ("bbbbbb", Continuation),
        ("aaaaaa", Conversation),
    ];
    assert_eq!(kinds, expected);

    let plans = store.messages(&store.find("plans").unwrap(), Window::All).unwrap();
    let states: Vec<MessageState> = plans.iter().map(|m| m.state).collect();
    use MessageState::{Active, Compacted, Rewound};
    assert_eq!(states, [Active, Compacted, Rewound]);

    let parts = &store.messages(&listed[2].id, Window::All).unwrap()[0];
    assert_eq!(parts.text, "see é");
    assert_eq!(parts.parts.as_ref().unwrap()[1]["type"], "image");
}

#[test]
fn v30_knows_pins_and_hidden_sessions() {
    let place = v30();
    let store = place.read();
    assert_eq!(store.layout().full_text_columns(), ["content", "tool_name", "tool_calls"]);
    let shown = store.list(&SessionFilter::default()).unwrap();
    assert_eq!(shown.len(), 1);
    assert!(shown[0].pinned);
    let all = SessionFilter { include_hidden: true, ..SessionFilter::default() };
    assert_eq!(store.list(&all).unwrap().len(), 2);
}

#[test]
fn writing_to_every_layout_keeps_its_schema_and_its_index_whole() {
    for place in [Place::foreign(V6), Place::foreign(V6_INLINE), v22(), v30()] {
        let path = place.path();
        let before = schema(&path);
        let count = "select count(*) from messages;";
        let rows: i64 = run_on(&path, count).parse().unwrap();
        let mut store = place.write();
        let id = store.create_session(&new_session(9, minute(0))).unwrap();
        store.append(&id, &[NewMessage::text("user", "a quokka waves", minute(1))]).unwrap();
        store.append(&id, &[NewMessage::text("user", "and again", minute(2))]).unwrap();
        store.end_session(&id, minute(3), "done").unwrap();
        let read = store.messages(&id, Window::All).unwrap();
        assert_eq!(read[0].text, "a quokka waves");
        assert_eq!(read[0].timestamp, minute(1));
        drop(store);
        assert_eq!(schema(&path), before);
        assert_whole(&path);
        let hits = "select count(*) from messages_fts where messages_fts match 'quokka';";
        assert_eq!(run_on(&path, hits), "1");

        let mut store = place.write();
        assert_eq!(store.delete(&id).unwrap(), 2);
        drop(store);
        assert_eq!(run_on(&path, count), rows.to_string());
        assert_eq!(run_on(&path, hits), "0");
        assert_whole(&path);
        assert_eq!(schema(&path), before);
    }
}

#[test]
fn the_journal_mode_of_a_foreign_file_stays() {
    let place = Place::foreign(V6_INLINE);
    converse(&mut place.write(), 1, 0, &["hello"]);
    assert_eq!(run_on(&place.path(), "pragma journal_mode;"), "delete");
}

#[test]
fn ours_goes_back_to_wal_when_written() {
    let place = Place::ours();
    run_on(&place.path(), "pragma journal_mode = delete;");
    converse(&mut place.write(), 1, 0, &["hello"]);
    assert_eq!(run_on(&place.path(), "pragma journal_mode;"), "wal");
}

#[test]
fn an_index_with_an_unknown_tokenizer_makes_the_database_read_only_for_us() {
    let place = v30();
    run_on(&place.path(), V30_CJK);
    let before = place.bytes();
    let mut store = place.write();
    assert_eq!(store.list(&SessionFilter::default()).unwrap().len(), 1);
    let refused = store.create_session(&new_session(1, minute(0))).unwrap_err();
    assert!(matches!(refused, Error::ReadOnlyLayout { .. }), "{refused}");
    assert!(refused.to_string().contains("cjk_unicode61"), "{refused}");
    assert_eq!(refused.kind(), ErrorKind::Refused);
    drop(store);
    assert_eq!(place.bytes(), before);
}

#[test]
fn an_orphaned_index_with_an_unknown_tokenizer_does_not_matter() {
    let place = v30();
    run_on(
        &place.path(),
        &V30_CJK
            .replace("pragma writable", "drop trigger messages_fts_cjk_insert; pragma writable"),
    );
    converse(&mut place.write(), 1, 0, &["hello"]);
    assert_whole(&place.path());
}

#[test]
fn a_database_without_sessions_is_refused() {
    let place = Place::foreign("create table notes (text);");
    let refused = SessionStore::open(&place.path(), Access::Read, DEFAULT_WAIT).unwrap_err();
    assert!(matches!(refused, Error::NotSessions { .. }), "{refused}");
}

#[test]
fn no_nul_is_written_where_hermes_agent_keeps_a_trigram_index() {
    let place = v22();
    let mut store = place.write();
    let parts = serde_json::json!([{"type": "text", "text": "a picture"}, {"type": "image"}]);
    let messages = [
        NewMessage::text("user", "one\0two", minute(0)),
        NewMessage {
            content: Some(Content::Parts(parts)),
            ..NewMessage::text("user", "", minute(1))
        },
    ];
    let id = store.create_session(&new_session(1, minute(0))).unwrap();
    store.append(&id, &messages).unwrap();
    assert!(!store.layout().takes_parts());
    assert!(v30().read().layout().takes_parts());
    let read = store.messages(&id, Window::All).unwrap();
    assert_eq!((read[0].text.as_str(), read[1].text.as_str()), ("one\u{fffd}two", "a picture"));
    drop(store);
    let whole = "insert into messages_fts_trigram (messages_fts_trigram, rank)
        values ('integrity-check', 1);";
    run_on(&place.path(), whole);
}
