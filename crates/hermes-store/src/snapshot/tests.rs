//! Copies are whole, sources keep every byte.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::sessions::SessionStore;
use crate::sqlite::{Access, DEFAULT_WAIT};

const LIMITS: Limits = Limits { wait: Duration::from_secs(2), deadline: Duration::from_secs(60) };

struct Place {
    _folder: tempfile::TempDir,
    source: PathBuf,
    target: PathBuf,
}

const TABLES: &str = "
    create table counter (total integer not null);
    insert into counter values (0);
    create table messages (id integer primary key, n integer not null, text text not null);
    create view texts as select id, text from messages;
    create virtual table words using fts5 (text, content = 'texts', content_rowid = 'id');
    create trigger words_insert after insert on messages begin
        insert into words (rowid, text) values (new.id, new.text); end;
    pragma user_version = 3;";

const ADD: &str = "
    begin immediate;
    insert into messages (n, text) values (1, hex(randomblob(200)) || ' lantern');
    update counter set total = total + 1;
    commit;";

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let (source, target) = (folder.path().join("source.db"), folder.path().join("target.db"));
    sqlite::create(&source, |connection| {
        connection.execute_batch(TABLES).unwrap();
        for _ in 0..200 {
            connection.execute_batch(ADD).unwrap();
        }
        Ok(())
    })
    .unwrap();
    Place { _folder: folder, source, target }
}

impl Place {
    fn take(&self) -> Result<()> {
        take(&self.source, &self.target, LIMITS, &mut |_, _| {})
    }

    fn files(&self) -> Vec<String> {
        let names = fs::read_dir(self.source.parent().unwrap()).unwrap();
        let mut names: Vec<String> =
            names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn overwrite(path: &Path, bytes: &[u8]) {
    use std::io::Write;
    fs::File::create(path).unwrap().write_all(bytes).unwrap();
}

#[test]
fn a_copy_is_whole_private_and_alone() {
    let place = place();
    let before = fs::read(&place.source).unwrap();
    let mut last = (0, 0);
    take(&place.source, &place.target, LIMITS, &mut |done, of| last = (done, of)).unwrap();
    assert_eq!(last, (before.len() as u64, before.len() as u64));
    assert_eq!(fs::read(&place.source).unwrap(), before);
    let found = examine(&place.target, Depth::Full).unwrap();
    assert_eq!(place.files(), ["source.db", "target.db"]);
    assert!(found.is_whole(), "{found:?}");
    assert_eq!(found.indexes["words"], "ok");
    assert_eq!((found.rows["messages"], found.rows["counter"]), (200, 1));
    assert_eq!(found.rows.len(), 2, "{found:?}");
    assert_eq!((found.newest_message, found.schema_version), (Some(200), Some(3)));
    assert_eq!(found.pages * u64::from(found.page_size), before.len() as u64);
    assert_eq!(fs::metadata(&place.target).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_copy_under_a_writer_is_of_one_moment() {
    let place = place();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let writer = sqlite::open(&place.source, Access::Write, DEFAULT_WAIT).unwrap();
            while !stop.load(Ordering::Relaxed) {
                writer.execute_batch(ADD).unwrap();
            }
        });
        for _ in 0..5 {
            place.take().unwrap();
            let found = examine(&place.target, Depth::Full).unwrap();
            assert!(found.is_whole(), "{found:?}");
            assert_eq!(found.indexes["words"], "ok");
            let copy = sqlite::open(&place.target, Access::Read, DEFAULT_WAIT).unwrap();
            let total = "select total, (select count(*) from messages) from counter";
            let (total, count): (u64, u64) =
                copy.query_row(total, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            assert_eq!((total, count), (count, found.rows["messages"]));
            drop(copy);
            fs::remove_file(&place.target).unwrap();
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_log_left_by_a_crash_is_copied_and_stays() {
    let place = place();
    let crashed = place.source.with_file_name("crashed.db");
    let writer = sqlite::open(&place.source, Access::Write, DEFAULT_WAIT).unwrap();
    writer.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    writer.execute_batch(ADD).unwrap();
    for suffix in ["", "-wal"] {
        fs::copy(beside(&place.source, suffix), beside(&crashed, suffix)).unwrap();
    }
    let before = fs::read(&crashed).unwrap();
    take(&crashed, &place.target, LIMITS, &mut |_, _| {}).unwrap();
    assert_eq!(fs::read(&crashed).unwrap(), before);
    assert!(beside(&crashed, "-wal").metadata().unwrap().len() > 0);
    assert_eq!(examine(&place.target, Depth::Full).unwrap().rows["messages"], 201);
}

#[test]
fn a_half_written_change_is_undone_in_the_copy_alone() {
    let place = place();
    let crashed = place.source.with_file_name("crashed.db");
    let writer = sqlite::open(&place.source, Access::Write, DEFAULT_WAIT).unwrap();
    writer.pragma_update(None, "journal_mode", "delete").unwrap();
    // So small a cache that changed pages are written before the end.
    writer.pragma_update(None, "cache_size", 2).unwrap();
    writer.execute_batch("begin immediate; update messages set n = 7, text = 'gone'").unwrap();
    for suffix in ["", "-journal"] {
        fs::copy(beside(&place.source, suffix), beside(&crashed, suffix)).unwrap();
    }
    let read = || ["", "-journal"].map(|suffix| fs::read(beside(&crashed, suffix)).unwrap());
    let before = read();
    take(&crashed, &place.target, LIMITS, &mut |_, _| {}).unwrap();
    assert!(read() == before, "the source was changed");
    let copy = sqlite::open(&place.target, Access::Read, DEFAULT_WAIT).unwrap();
    let changed = "select count(*) from messages where n = 7";
    assert_eq!(copy.query_row(changed, [], |row| row.get(0)), Ok(0_i64));
    assert_eq!(examine(&place.target, Depth::Full).unwrap().integrity, "ok");
}

#[test]
fn what_is_no_database_is_refused_and_no_copy_is_left() {
    let place = place();
    for (bytes, why) in [
        (Vec::new(), "empty"),
        (vec![0; 8192], "not a SQLite database"),
        (fs::read(&place.source).unwrap()[..9000].to_vec(), "malformed"),
    ] {
        overwrite(&place.source, &bytes);
        let refused = place.take().unwrap_err();
        assert_eq!(refused.kind(), crate::ErrorKind::Damaged, "{refused}");
        assert!(refused.to_string().contains(why), "{refused}");
        assert_eq!(place.files(), ["source.db"]);
    }
}

#[test]
fn damaged_pages_are_found_in_the_copy() {
    let place = place();
    let mut bytes = fs::read(&place.source).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8192].fill(0x5a);
    overwrite(&place.source, &bytes);
    match place.take() {
        Ok(()) => assert!(!examine(&place.target, Depth::Full).unwrap().is_whole()),
        Err(error) => assert_eq!(error.kind(), crate::ErrorKind::Damaged, "{error}"),
    }
}

#[test]
fn an_index_that_does_not_fit_its_text_is_named_and_the_rest_is_whole() {
    let place = place();
    let writer = sqlite::open(&place.source, Access::Write, DEFAULT_WAIT).unwrap();
    writer.execute_batch("update messages set text = 'other' where id = 5").unwrap();
    drop(writer);
    let found = examine(&place.source, Depth::Full).unwrap();
    assert!(found.is_whole(), "{found:?}");
    assert!(found.indexes["words"].contains("malformed"), "{found:?}");
}

#[test]
fn an_index_with_a_tokenizer_we_lack_is_not_checked_and_said() {
    let place = place();
    let writer = sqlite::open(&place.source, Access::Write, DEFAULT_WAIT).unwrap();
    writer
        .execute_batch(
            "create virtual table own using fts5 (text, tokenize = 'unicode61');
            insert into own (text) values ('a lighthouse');
            create virtual table zz using fts5 (text);
            insert into zz (text) values ('a lantern');
            pragma writable_schema = on;
            update sqlite_master set sql = replace(sql, 'unicode61', 'cjk_unicode61')
            where name = 'own';",
        )
        .unwrap();
    drop(writer);
    let found = examine(&place.source, Depth::Full).unwrap();
    assert!(found.is_whole(), "{found:?}");
    assert!(found.indexes["own"].starts_with("not checked: "), "{found:?}");
    assert_eq!((found.indexes["zz"].as_str(), found.indexes["words"].as_str()), ("ok", "ok"));
}

#[test]
fn a_copy_that_is_not_done_in_time_fails_and_leaves_nothing() {
    let place = place();
    let writer = sqlite::open(&place.source, Access::Write, DEFAULT_WAIT).unwrap();
    let fill = "insert into messages (n, text) values (1, hex(zeroblob(4000000)))";
    writer.execute_batch(fill).unwrap();
    drop(writer);
    let limits = Limits { deadline: Duration::ZERO, ..LIMITS };
    let refused = take(&place.source, &place.target, limits, &mut |_, _| {}).unwrap_err();
    assert!(matches!(refused, Error::CopyTooSlow { .. }), "{refused}");
    assert_eq!(place.files(), ["source.db"]);
}

#[test]
fn a_locked_database_is_waited_for_and_then_refused() {
    let place = place();
    let holder = sqlite::open(&place.source, Access::Write, DEFAULT_WAIT).unwrap();
    holder.pragma_update(None, "journal_mode", "delete").unwrap();
    holder.execute_batch("begin exclusive; update counter set total = 1").unwrap();
    let limits = Limits { wait: Duration::from_millis(50), ..LIMITS };
    let refused = take(&place.source, &place.target, limits, &mut |_, _| {}).unwrap_err();
    assert_eq!(refused.kind(), crate::ErrorKind::Locked, "{refused}");
}

#[test]
fn the_number_of_a_state_db_is_that_of_its_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    SessionStore::create(&path).unwrap();
    let found = examine(&path, Depth::Full).unwrap();
    assert_eq!(found.schema_version, Some(22));
    assert_eq!(found.indexes["messages_fts"], "ok");
}
