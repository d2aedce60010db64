//! What recording, keeping, working and opening do in a memory that lives; on SQLite alone.

use hermes_store::memory::{
    Added, Admin, Chat, Identity, JobFailure, JobState, Lease, Memory, NewJob, NewMessage,
    NewSource, OriginId, RecallFilter, RecentFilter, Recorded, Step, UserNumber,
};
use hermes_store::sqlite::{self, Access, DEFAULT_WAIT};
use hermes_store::{Error, memory::Wanted};
use rusqlite::Connection;
use sha2::{Digest, Sha256};

use crate::support::{Place, alice, at, by, event, fact, message, procedure};

fn raw(place: &Place) -> Connection {
    sqlite::open(&place.path(), Access::Write, DEFAULT_WAIT).unwrap()
}

fn number(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn procedures_and_events_are_kept_once_and_come_back_with_their_index() {
    let place = Place::new();
    let mut memory = place.write();
    let sources = [NewSource { episode: Some(4), quote: Some("look"), ..NewSource::default() }];
    let mut lesson = procedure("Read before writing", &sources);
    lesson.origin = Some(OriginId { source: "reflect", external_id: "monday" });
    assert_eq!(memory.add_procedure(alice(), &lesson, by("reflect", 1)).unwrap(), Added::New(1));
    let mut chosen = event("We chose copper", 2);
    chosen.origin = Some(OriginId { source: "reflect", external_id: "monday" });
    chosen.sources = &sources;
    assert_eq!(memory.add_event(alice(), &chosen, by("reflect", 2)).unwrap(), Added::New(1));
    memory.retire_procedure(alice(), 1, by("user", 3)).unwrap();
    memory.retire_event(alice(), 1, by("user", 3)).unwrap();
    assert_eq!(memory.add_procedure(alice(), &lesson, by("reflect", 4)).unwrap(), Added::Known(1));
    assert_eq!(memory.add_event(alice(), &chosen, by("reflect", 4)).unwrap(), Added::Known(1));
    assert!(memory.procedures(alice(), &[1]).unwrap()[0].retired_at.is_some());

    memory.restore_procedure(alice(), 1, by("user", 5)).unwrap();
    memory.restore_event(alice(), 1, by("user", 5)).unwrap();
    assert!(matches!(
        memory.restore_event(alice(), 1, by("user", 6)),
        Err(Error::ItemRefused { .. })
    ));
    assert!(matches!(
        memory.restore_event(alice(), 9, by("user", 6)),
        Err(Error::NoSuchItem { .. })
    ));
    assert_eq!(memory.list_events(alice(), None, None, 5).unwrap().len(), 1);
    for word in ["writing", "copper"] {
        let found = memory.postings(alice(), &RecallFilter::default(), word, 9).unwrap();
        assert_eq!(found.chunks.len(), 1, "{word}");
    }
    assert_eq!(memory.sources_of_procedure(alice(), 1).unwrap()[0].episode, Some(4));
    assert_eq!(memory.sources_of_event(alice(), 1).unwrap()[0].quote.as_deref(), Some("look"));
}

#[test]
fn messages_and_sessions_that_were_to_be_forgotten_are_left_out() {
    let place = Place::new();
    let mut memory = place.write();
    let said = [message("monday", "1", "tea"), message("monday", "2", "milk")];
    memory.record(alice(), &said, by("user", 1)).unwrap();
    let key: [u8; 32] =
        Sha256::new().chain_update(1_i64.to_le_bytes()).chain_update("secret").finalize().into();
    let by_hand = raw(&place);
    by_hand
        .execute_batch(
            "insert into grave (kind, user_id, key, at, actor)
               select 3, 1, key, 0, 'user' from origin order by item limit 1;
             delete from origin where key in (select key from grave)",
        )
        .unwrap();
    by_hand
        .execute(
            "insert into grave (kind, user_id, key, at, actor) values (4, 1, ?1, 4102444800000, 'user')",
            [&key[..16]],
        )
        .unwrap();
    let more = [
        said[0].clone(),
        said[1].clone(),
        message("secret", "1", "salt"),
        message("monday", "3", "rice"),
    ];
    let done = memory.record(alice(), &more, by("user", 2)).unwrap();
    assert_eq!(done, Recorded { added: 1, known: 1, episodes: 1, buried: 2 });
    let bob = hermes_store::memory::Scope::of(memory.user_or_new("bob", by("user", 0)).unwrap());
    let done = memory.record(bob, &[message("secret", "1", "salt")], by("user", 3)).unwrap();
    assert_eq!((done.added, done.buried), (1, 0));
}

#[test]
fn tool_calls_are_kept_and_history_is_marked_as_such() {
    let place = Place::new();
    let mut memory = place.write();
    let step = |tool: &str, failed| Step {
        message: 0,
        tool: tool.to_owned(),
        arguments: "{}".to_owned(),
        failed,
    };
    let asked = NewMessage { imported: true, ..message("monday", "1", "look") };
    let did = NewMessage {
        role: "assistant",
        steps: vec![step("read", false), step("write", true)],
        imported: true,
        ..message("monday", "2", "looking")
    };
    memory.record(alice(), &[asked, did], by("import", 1)).unwrap();
    let steps = raw(&place)
        .query_row("select group_concat(number || tool || failed) from step", [], |row| {
            row.get::<_, String>(0)
        })
        .unwrap();
    assert_eq!(steps, "0read0,1write1");
    assert!(memory.episodes(alice(), &[1]).unwrap()[0].imported);
    let live = NewMessage { role: "assistant", ..message("monday", "3", "done") };
    memory.record(alice(), &[live], by("user", 2)).unwrap();
    assert!(!memory.episodes(alice(), &[1]).unwrap()[0].imported);
}

#[test]
fn what_is_added_later_is_drawn_from_and_looked_back_on_again() {
    let place = Place::new();
    let mut memory = place.write();
    memory
        .record(
            alice(),
            &[message("monday", "1", "tea"), message("monday", "2", "milk")],
            by("user", 1),
        )
        .unwrap();
    let by_hand = raw(&place);
    let mark =
        "update episode set extracted_at = 5; update session set reflected_at = 5, ended_at = 0";
    by_hand.execute_batch(mark).unwrap();
    memory.record(alice(), &[message("monday", "1", "tea")], by("user", 2)).unwrap();
    assert_eq!(number(&by_hand, "select count(*) from session where reflected_at is null"), 0);
    let answer = NewMessage { role: "assistant", ..message("monday", "3", "here") };
    memory.record(alice(), &[answer], by("user", 3)).unwrap();
    assert_eq!(number(&by_hand, "select sum(id) from episode where extracted_at is null"), 2);
    assert_eq!(
        number(
            &by_hand,
            "select count(*) from session where reflected_at is null and ended_at is null"
        ),
        1
    );
}

#[test]
fn an_answer_whose_question_was_told_by_a_summary_begins_an_episode() {
    for told in [
        "delete from message where episode = 2; delete from episode where id = 2",
        "update episode set compressed_into = 1 where id = 2",
    ] {
        let place = Place::new();
        let mut memory = place.write();
        memory
            .record(
                alice(),
                &[message("monday", "1", "tea"), message("monday", "2", "milk")],
                by("user", 1),
            )
            .unwrap();
        raw(&place).execute_batch(told).unwrap();
        let answer = NewMessage { role: "assistant", at: at(9), ..message("monday", "3", "here") };
        assert_eq!(memory.record(alice(), &[answer], by("user", 2)).unwrap().episodes, 1);
        let filter = RecentFilter { limit: 1, ..RecentFilter::default() };
        let latest = memory.recent_episodes(alice(), &filter).unwrap().remove(0);
        assert_eq!((latest.id, latest.first_place, latest.last_place), (3, 2, 2));
    }
}

#[test]
fn an_identity_is_seen_until_it_is_linked() {
    let place = Place::new();
    let mut memory = place.write();
    let seen = |user: i64, minute| Identity {
        channel: "telegram".to_owned(),
        native_id: "77".to_owned(),
        chat: Chat::Group,
        user: UserNumber::new(user),
        at: at(minute),
    };
    memory.note_identity(&seen(0, 1), at(1)).unwrap();
    memory.note_identity(&seen(1, 2), at(2)).unwrap();
    assert!(memory.note_identity(&seen(9, 2), at(2)).is_err());
    assert_eq!(memory.unlinked_identities(Admin).unwrap(), [seen(1, 2)]);
    memory.link_identity("telegram", "77", UserNumber::OWNER, by("user", 3)).unwrap();
    memory.note_identity(&seen(1, 4), at(4)).unwrap();
    assert_eq!(memory.unlinked_identities(Admin).unwrap(), []);
    assert_eq!(memory.identities(Admin).unwrap(), [seen(1, 3)]);
    memory.set_timezone(UserNumber::OWNER, Some("Europe/Oslo"), by("user", 5)).unwrap();
    assert_eq!(memory.user("alice").unwrap().unwrap().timezone.as_deref(), Some("Europe/Oslo"));
    assert!(memory.set_timezone(UserNumber::SHARED, None, by("user", 5)).is_err());
}

#[test]
fn a_job_is_leased_renewed_given_up_and_tried_again() {
    let place = Place::new();
    let mut memory = place.write();
    let new = NewJob {
        kind: "extract",
        payload: "{}",
        dedupe_key: Some("monday"),
        user: None,
        run_at: at(50),
    };
    assert_eq!(memory.queue_job(Admin, &new, at(1)).unwrap(), Some(1));
    let lease = |owner, until| Lease { owner, until: at(until) };
    assert!(memory.lease_this_job(Admin, 1, lease("one", 10), at(2)).unwrap());
    assert!(!memory.lease_this_job(Admin, 1, lease("two", 10), at(3)).unwrap());
    assert!(memory.lease_this_job(Admin, 7, lease("two", 10), at(3)).is_err());
    assert!(memory.renew_lease(Admin, 1, lease("one", 20)).unwrap());
    assert!(!memory.renew_lease(Admin, 1, lease("two", 30)).unwrap());
    assert!(memory.retry_job(Admin, 1, at(15)).is_err());
    assert!(memory.lease_this_job(Admin, 1, lease("two", 30), at(20)).unwrap());
    assert!(!memory.renew_lease(Admin, 1, lease("one", 40)).unwrap());
    let failure = JobFailure { error: "no answer", again: None, at: at(21) };
    assert!(memory.fail_job(Admin, 1, "two", failure).unwrap());
    let job = memory.job(Admin, 1).unwrap();
    assert_eq!((job.state, job.attempts, job.finished_at), (JobState::Failed, 2, Some(at(21))));
    assert_eq!(memory.jobs(Admin, Some(JobState::Failed), 9).unwrap(), [job]);

    assert_eq!(memory.queue_job(Admin, &new, at(22)).unwrap(), Some(2));
    let refused = memory.retry_job(Admin, 1, at(23)).unwrap_err();
    assert!(refused.to_string().ends_with("another job for the same work is waiting"), "{refused}");
    assert!(memory.lease_this_job(Admin, 2, lease("one", 30), at(23)).unwrap());
    assert!(memory.finish_job(Admin, 2, "one", at(24)).unwrap());
    memory.retry_job(Admin, 1, at(25)).unwrap();
    let job = memory.job(Admin, 1).unwrap();
    assert_eq!(
        (job.state, job.attempts, job.run_at, job.finished_at),
        (JobState::Waiting, 0, at(25), None)
    );
    assert!(memory.retry_job(Admin, 2, at(26)).is_err());
    assert_eq!(memory.clear_jobs(Admin, at(24)).unwrap(), 0);
    assert_eq!(memory.clear_jobs(Admin, at(26)).unwrap(), 1);
    assert_eq!(memory.jobs(Admin, None, 9).unwrap().len(), 1);
}

/// A memory as the first schema had it.
fn first_schema(path: &std::path::Path) {
    let made = sqlite::create(path, |made| {
        made.execute_batch(include_str!("../../migrations/memory/0001_first_schema.sql")).unwrap();
        made.execute_batch(
            "insert into meta (key, value) values ('profile', 'default');
             insert into user (id, uid, name, created_at) values (0, x'00', '', 0), (1, x'01', 'alice', 0);
             insert into fact (uid, user_id, statement, kind, confidence, origin, trust, recorded_at,
               norm_hash) values (x'00000000000000000000000000000002', 1, 'tea is hot', 'fact', 1,
               'user', 2, 0, x'00000000000000000000000000000003')",
        )
        .unwrap();
        made.pragma_update(None, "user_version", 1).unwrap();
        Ok(())
    });
    made.unwrap();
}

#[test]
fn a_memory_of_the_first_schema_is_brought_up_to_date_even_to_be_read() {
    let place = Place::new();
    let path = place.path().with_file_name("older.db");
    first_schema(&path);
    let wrong = Wanted { path: &path, profile: "work" };
    assert!(matches!(
        Memory::open(wrong, Access::Write, DEFAULT_WAIT),
        Err(Error::OtherProfile { .. })
    ));
    let open = |access| Memory::open(place.wanted(&path), access, std::time::Duration::ZERO);

    let busy = sqlite::open(&path, Access::Write, DEFAULT_WAIT).unwrap();
    assert_eq!(number(&busy, "select user_version from pragma_user_version"), 1);
    busy.execute_batch("begin immediate").unwrap();
    assert!(matches!(open(Access::Read), Err(Error::Locked { .. })));
    busy.execute_batch("rollback").unwrap();
    drop(busy);

    let memory = open(Access::Read).unwrap();
    assert_eq!(memory.find_fact(alice(), "1").unwrap().statement, "tea is hot");
    assert_eq!(memory.conflicts(alice()).unwrap(), []);
    assert_eq!(memory.check_memory(Admin).unwrap(), []);
    drop(memory);
    let bytes = std::fs::read(&path).unwrap();
    drop(open(Access::Read).unwrap());
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    let mut memory = open(Access::Write).unwrap();
    memory.retire_fact(alice(), 1, by("user", 1)).unwrap();
    assert_eq!(
        memory.add_fact(alice(), &fact("ice is cold"), by("user", 2)).unwrap(),
        Added::New(2)
    );
}

#[test]
fn an_older_memory_that_may_not_be_written_says_what_to_do() {
    let path = std::path::PathBuf::from("memory.db");
    let refused = Error::OlderSchema { path, found: 1, known: 2 };
    assert!(
        refused
            .to_string()
            .starts_with("could not read memory.db: its schema 1 must be upgraded to 2")
    );
    assert!(refused.hint().is_some());
}
