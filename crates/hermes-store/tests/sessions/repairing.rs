//! Checks that name the damage, and cures that keep a copy.

use std::io::{Seek, SeekFrom, Write};

use hermes_store::sessions::{Cure, Depth, FindingKind, Window, check, repair};
use hermes_store::sqlite::DEFAULT_WAIT;
use hermes_store::{Error, ErrorKind};

use crate::layouts::{V6_INLINE, v22, v30};
use crate::sql::run_on;
use crate::support::{Place, assert_whole, at, converse, minute};

fn kinds(place: &Place) -> Vec<FindingKind> {
    let report = check(&place.path(), Depth::Full, DEFAULT_WAIT).unwrap();
    let mut kinds: Vec<FindingKind> = report.findings.iter().map(|f| f.kind).collect();
    kinds.dedup();
    kinds
}

fn cure(place: &Place) -> hermes_store::Result<hermes_store::sessions::RepairReport> {
    repair(&place.path(), at("2026-06-02T00:00:00Z"), DEFAULT_WAIT)
}

fn filled() -> Place {
    let place = Place::ours();
    let texts: Vec<String> =
        (0..400).map(|n| format!("{n} {}", "some words ".repeat(30))).collect();
    converse(&mut place.write(), 1, 0, &texts.iter().map(String::as_str).collect::<Vec<_>>());
    place
}

fn overwrite(place: &Place, page: u64) {
    let mut file = std::fs::OpenOptions::new().write(true).open(place.path()).unwrap();
    file.seek(SeekFrom::Start((page - 1) * 4096)).unwrap();
    file.write_all(&[0; 4096]).unwrap();
}

#[test]
fn whole_databases_have_no_findings_and_are_not_changed() {
    for place in [filled(), v22(), v30(), Place::foreign(V6_INLINE)] {
        let before = place.bytes();
        assert_eq!(kinds(&place), []);
        assert!(check(&place.path(), Depth::Quick, DEFAULT_WAIT).unwrap().is_healthy());
        let report = cure(&place).unwrap();
        assert_eq!((report.cure, report.kept), (Cure::Nothing, None));
        assert_eq!(place.bytes(), before);
        assert_eq!(place.file_names(), ["state.db"]);
    }
}

#[test]
fn looking_changes_no_byte_of_a_database_with_a_log() {
    for place in [filled(), v22(), v30()] {
        let mut writer = place.write();
        converse(&mut writer, 2, 500, &["written but not folded in"]);
        let crashed = place.crashed();
        let before = (crashed.bytes(), crashed.log_bytes());
        for depth in [Depth::Quick, Depth::Full] {
            let report = check(&crashed.path(), depth, DEFAULT_WAIT).unwrap();
            assert!(report.is_healthy(), "{report:?}");
            assert_eq!(report.messages, report.full_text_rows);
            assert!((crashed.bytes(), crashed.log_bytes()) == before, "{depth:?} changed the file");
        }
        assert_eq!(cure(&crashed).unwrap().cure, Cure::Nothing);
        assert!((crashed.bytes(), crashed.log_bytes()) == before, "repair changed the file");
    }
}

#[test]
fn looking_finds_nothing_wrong_while_another_program_writes() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let place = Place::ours();
    let id = converse(&mut place.write(), 1, 0, &["first"]);
    let many = format!(
        "with recursive n (i) as (select 1 union all select i + 1 from n where i < 20000)
        insert into messages (session_id, role, content, timestamp)
        select '{id}', 'user', 'words', i from n;"
    );
    run_on(&place.path(), &many);
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let mut store = place.write();
        let is_done = &is_done;
        scope.spawn(move || {
            let message = hermes_store::sessions::NewMessage::text("user", "more", minute(1));
            while !is_done.load(Ordering::Relaxed) {
                store.append(&id, std::slice::from_ref(&message)).unwrap();
            }
        });
        let reports: Vec<_> =
            (0..60).map(|_| check(&place.path(), Depth::Quick, DEFAULT_WAIT)).collect();
        is_done.store(true, Ordering::Relaxed);
        let wrong = reports.iter().filter(|report| !report.as_ref().unwrap().is_healthy()).count();
        assert_eq!(wrong, 0, "of {}", reports.len());
    });
}

/// Root may write to any file, so the test runs itself once more without that power.
#[test]
fn a_file_that_may_not_be_written_is_looked_at_all_the_same() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let place = filled();
    let read_only = std::fs::Permissions::from_mode(0o400);
    std::fs::set_permissions(place.path(), read_only).unwrap();
    if std::fs::OpenOptions::new().write(true).open(place.path()).is_ok() {
        assert!(!std::env::args().any(|argument| argument == "--test-threads=1"), "still root");
        let name = "repairing::a_file_that_may_not_be_written_is_looked_at_all_the_same";
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let program = folder.path().join("program");
        std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        let again = std::process::Command::new(program)
            .args(["--exact", "--test-threads=1", name])
            .current_dir("/")
            .uid(65534)
            .output()
            .unwrap();
        assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
        return;
    }
    let report = check(&place.path(), Depth::Full, DEFAULT_WAIT).unwrap();
    assert_eq!((report.findings, report.messages), (vec![], Some(400)));
    assert_eq!(report.not_checked, ["the full-text index, because the file is not writable"]);
}

#[test]
fn every_finding_is_one_line_and_no_gap_is_named_twice() {
    let place = filled();
    let leaves =
        "select pageno from dbstat where name = 'messages' and pagetype = 'leaf' limit 3 offset 5;";
    for page in run_on(&place.path(), leaves).lines() {
        overwrite(&place, page.parse().unwrap());
    }
    let found = check(&place.path(), Depth::Full, DEFAULT_WAIT).unwrap().findings;
    assert!(found.len() > 2, "{found:?}");
    assert!(found.iter().all(|f| !f.text.contains('\n') && !f.text.contains("***")), "{found:?}");

    let foreign = v22();
    let confuse = "delete from messages_fts_trigram where rowid = 1;
        pragma writable_schema = on; delete from messages_fts_trigram_data where id > 10;";
    run_on(&foreign.path(), confuse);
    let report = check(&foreign.path(), Depth::Full, DEFAULT_WAIT).unwrap();
    assert_eq!(report.not_checked, ["messages_fts_trigram, an index of Hermes Agent"]);
}

#[test]
fn an_index_that_is_missing_is_made() {
    let without_triggers = "drop trigger messages_fts_insert; drop trigger messages_fts_delete;
        drop trigger messages_fts_update; drop table messages_fts;";
    let broken_shadows = "drop table messages_fts; create table messages_fts_data (id);";
    let extended = "create table state_meta (key text, value text); drop table messages_fts;";
    let cases = [
        (without_triggers, Cure::RebuildFullText),
        ("drop table messages_fts;", Cure::RebuildFullText),
        (extended, Cure::RebuildFullText),
        (broken_shadows, Cure::Salvage),
    ];
    for (damage, expected) in cases {
        let place = filled();
        run_on(&place.path(), damage);
        for depth in [Depth::Quick, Depth::Full] {
            let report = check(&place.path(), depth, DEFAULT_WAIT).unwrap();
            assert_eq!(report.findings.len(), 1, "{report:?}");
            assert_eq!(report.findings[0].text, "the full-text index is missing");
        }
        assert_eq!(cure(&place).unwrap().cure, expected);
        converse(&mut place.write(), 2, 500, &["a", "b", "c", "d"]);
        assert_whole(&place.path());
        let rows = place.read().stats().unwrap().full_text_rows;
        assert_eq!(rows, Some(404));
    }
    let foreign = v30();
    let drop = "drop trigger messages_fts_insert; drop trigger messages_fts_delete;
        drop table messages_fts;";
    run_on(&foreign.path(), drop);
    assert_eq!(kinds(&foreign), []);
}

#[test]
fn an_index_that_lost_a_row_is_rebuilt() {
    let place = filled();
    let lose = "insert into messages_fts (messages_fts, rowid, content)
        select 'delete', id, content from message_text where id = 7;";
    run_on(&place.path(), lose);
    let damaged = place.bytes();
    assert_eq!(kinds(&place), [FindingKind::FullText]);
    let report = cure(&place).unwrap();
    assert_eq!(report.cure, Cure::RebuildFullText);
    assert_eq!(std::fs::read(report.kept.unwrap()).unwrap(), damaged);
    assert_eq!(place.file_names(), ["state.db", "state.db.damaged-20260602T000000Z"]);
    assert_whole(&place.path());
}

#[test]
fn a_broken_index_of_a_table_is_made_anew() {
    let place = filled();
    let confuse = "pragma writable_schema = on;
        create table hidden as select * from sqlite_master where name = 'idx_messages_session';
        delete from sqlite_master where name = 'idx_messages_session';";
    run_on(&place.path(), confuse);
    let bring_back = "update messages set timestamp = timestamp + 1 where id % 2 = 0;
        pragma writable_schema = on;
        insert into sqlite_master select * from hidden; drop table hidden;";
    run_on(&place.path(), bring_back);
    assert_eq!(kinds(&place), [FindingKind::Index]);
    assert_eq!(cure(&place).unwrap().cure, Cure::Reindex);
    assert_whole(&place.path());
}

#[test]
fn rows_are_saved_from_damaged_pages() {
    let place = filled();
    damage_a_leaf(&place);
    assert!(kinds(&place).contains(&FindingKind::Pages));
    let report = cure(&place).unwrap();
    assert_eq!(report.cure, Cure::Salvage);
    let saved = report.salvaged.unwrap();
    assert_eq!(saved.messages + saved.messages_lost, 400);
    assert!((1..30).contains(&saved.messages_lost), "{saved:?}");
    assert_whole(&place.path());
    let store = place.read();
    let id = store.find("last").unwrap();
    assert_eq!(store.messages(&id, Window::All).unwrap().len() as u64, saved.messages);
    drop(store);
    assert_eq!(place.file_names().len(), 2);
}

fn damage_a_leaf(place: &Place) {
    let leaf =
        "select pageno from dbstat where name = 'messages' and pagetype = 'leaf' limit 1 offset 5;";
    let page: u64 = run_on(&place.path(), leaf).parse().unwrap();
    overwrite(place, page);
}

#[test]
fn what_is_kept_is_the_damaged_file_with_its_log() {
    let place = filled();
    damage_a_leaf(&place);
    let mut writer = place.write();
    converse(&mut writer, 2, 500, &["written but not folded in"]);
    let crashed = place.crashed();
    let before = (crashed.bytes(), crashed.log_bytes());
    let report = cure(&crashed).unwrap();
    assert_eq!(report.cure, Cure::Salvage);
    let kept = report.kept.unwrap();
    let log = format!("{}-wal", kept.display());
    assert!((std::fs::read(&kept).unwrap(), std::fs::read(log).unwrap()) == before);
    assert_eq!(crashed.file_names().len(), 3, "{:?}", crashed.file_names());
    let store = crashed.read();
    assert_eq!(store.stats().unwrap().sessions, 2);
    drop(store);
    assert_whole(&crashed.path());
}

#[test]
fn saved_rows_are_counted_anew_and_odd_bytes_lose_no_row() {
    let place = filled();
    let odd = "update messages set content = cast(x'66806f' as text),
        tool_calls = '[{}, {}]' where id = 400;
        update sessions set tool_call_count = 7, source = cast(x'80' as text);";
    run_on(&place.path(), odd);
    damage_a_leaf(&place);
    let saved = cure(&place).unwrap().salvaged.unwrap();
    assert!((1..30).contains(&saved.messages_lost), "{saved:?}");
    assert_eq!((saved.messages + saved.messages_lost, saved.sessions_lost), (400, 0));
    let store = place.read();
    let session = store.session(&store.find("last").unwrap()).unwrap();
    assert_eq!(session.message_count as u64, saved.messages);
    assert_eq!(session.source, "\u{fffd}");
    let last = store.messages(&session.id, Window::Last(1)).unwrap();
    assert_eq!(last[0].text, "f\u{fffd}o");
    drop(store);
    assert_eq!(run_on(&place.path(), "select tool_call_count from sessions;"), "2");
}

#[test]
fn a_table_that_cannot_be_asked_is_not_taken_for_empty() {
    let without_row_numbers = "
        create table sessions (id text primary key, source text, started_at real) without rowid;
        create table messages (id integer primary key, session_id text, role text, content text,
            timestamp real);
        create view message_text (id, content) as select id, content from messages;
        insert into sessions values ('s', 'cli', 1);
        with recursive n (i) as (select 1 union all select i + 1 from n where i < 400)
        insert into messages select i, 's', 'user', hex(zeroblob(100)), i from n;";
    let place = Place::foreign(without_row_numbers);
    damage_a_leaf(&place);
    let damaged = place.bytes();
    assert!(cure(&place).is_err());
    assert!(place.bytes() == damaged);
    assert!(!place.file_names().iter().any(|name| name.contains("salvaged")));
}

#[test]
fn rows_are_saved_from_a_file_cut_short() {
    let place = filled();
    let length = place.bytes().len() as u64;
    let file = std::fs::OpenOptions::new().write(true).open(place.path()).unwrap();
    file.set_len(length / 2).unwrap();
    drop(file);
    assert_eq!(kinds(&place), [FindingKind::Unreadable]);
    let saved = cure(&place).unwrap().salvaged.unwrap();
    assert!(saved.messages > 0, "{saved:?}");
    assert_whole(&place.path());
}

#[test]
fn a_database_of_hermes_agent_is_not_rewritten() {
    let place = v22();
    run_on(&place.path(), "delete from messages_fts where rowid = 1;");
    let before = place.bytes();
    assert_eq!(kinds(&place), [FindingKind::FullText]);
    let refused = cure(&place).unwrap_err();
    assert!(matches!(refused, Error::RepairRefused { .. }), "{refused}");
    assert_eq!(place.bytes(), before);
    assert_eq!(place.file_names(), ["state.db"]);
}

#[test]
fn an_index_of_hermes_agent_over_its_own_view_may_be_rebuilt() {
    let place = v30();
    let lose = "insert into messages_fts (messages_fts, rowid, content, tool_name, tool_calls)
        select 'delete', id, content, tool_name, tool_calls from messages_fts_src where id = 1;";
    run_on(&place.path(), lose);
    assert_eq!(cure(&place).unwrap().cure, Cure::RebuildFullText);
    assert_whole(&place.path());
}

#[test]
fn a_file_that_is_no_database_is_left_alone() {
    let place = Place::empty();
    std::fs::copy("/proc/self/exe", place.path()).unwrap();
    assert_eq!(kinds(&place), [FindingKind::Unreadable]);
    assert!(matches!(cure(&place), Err(Error::RepairRefused { .. })));
    assert_eq!(place.file_names(), ["state.db"]);
}

#[test]
fn a_database_in_use_is_not_repaired() {
    let place = filled();
    run_on(&place.path(), "insert into messages_fts (messages_fts) values ('delete-all');");
    let _reader = place.read();
    assert_eq!(cure(&place).unwrap_err().kind(), ErrorKind::Locked);
    assert!(!place.file_names().iter().any(|name| name.contains("damaged")));
}

#[test]
fn a_missing_database_is_an_error_not_a_finding() {
    let missing = check(&Place::empty().path(), Depth::Quick, DEFAULT_WAIT).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Missing);
}

#[test]
fn a_file_cut_short_that_hermes_agent_had_extended_is_saved_and_both_copies_are_kept() {
    let place = filled();
    run_on(&place.path(), "create table state_meta (key text primary key, value text)");
    for copies in 1..=2 {
        let length = std::fs::metadata(place.path()).unwrap().len();
        let file = std::fs::OpenOptions::new().write(true).open(place.path()).unwrap();
        file.set_len(length - 4096).unwrap();
        drop(file);
        let report = cure(&place).unwrap();
        assert_eq!(report.cure, Cure::Salvage);
        let kept = place.file_names().iter().filter(|name| name.contains(".damaged-")).count();
        assert_eq!(kept, copies);
    }
}
