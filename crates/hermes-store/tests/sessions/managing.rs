//! Renaming, deleting, pruning, counting.

use std::collections::BTreeSet;
use std::time::Duration;

use hermes_store::Error;
use hermes_store::sessions::{NewSession, PruneRequest, SessionFilter};

use crate::layouts::{v22, v30};
use crate::sql::run_on;
use crate::support::{Place, assert_whole, at, converse, minute, new_session};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[test]
fn a_title_belongs_to_one_session() {
    let place = Place::ours();
    let mut store = place.write();
    let first = converse(&mut store, 1, 0, &["a"]);
    let second = converse(&mut store, 2, 1, &["b"]);
    store.rename(&first, Some(" tea ")).unwrap();
    store.rename(&first, Some("tea")).unwrap();
    let taken = store.rename(&second, Some("tea")).unwrap_err();
    assert!(taken.to_string().contains(first.as_str()), "{taken}");
    store.rename(&first, None).unwrap();
    store.rename(&second, Some("tea")).unwrap();
    for bad in ["", "  ", "two\nlines", &"x".repeat(101)] {
        assert!(matches!(store.rename(&first, Some(bad)), Err(Error::BadTitle { .. })), "{bad:?}");
    }
    let nobody = new_session(9, minute(0)).id;
    assert!(matches!(store.rename(&nobody, Some("x")), Err(Error::NotFound { .. })));
}

#[test]
fn deleting_takes_the_messages_and_frees_the_children() {
    let place = Place::ours();
    let mut store = place.write();
    let parent = converse(&mut store, 1, 0, &["a harpoon", "b"]);
    let child = store
        .create_session(&NewSession { parent: Some(parent.clone()), ..new_session(2, minute(1)) })
        .unwrap();
    assert_eq!(store.delete(&parent).unwrap(), 2);
    assert!(matches!(store.delete(&parent), Err(Error::NotFound { .. })));
    assert_eq!(store.session(&child).unwrap().parent, None);
    drop(store);
    assert_whole(&place.path());
    let hits = "select count(*) from messages_fts where messages_fts match 'harpoon';";
    assert_eq!(run_on(&place.path(), hits), "0");
}

#[test]
fn the_order_of_all_sessions_is_that_of_the_list_and_knows_who_wrote_last() {
    let place = Place::ours();
    let mut store = place.write();
    let early = converse(&mut store, 1, 0, &["a"]);
    let late = converse(&mut store, 2, 9, &["b"]);
    let middle = converse(&mut store, 3, 5, &["c", "d"]);
    let ids = |placed: Vec<hermes_store::sessions::Placed>| {
        placed.into_iter().map(|one| one.id).collect::<Vec<_>>()
    };
    let newest_first = [late.clone(), middle.clone(), early.clone()];
    assert_eq!(ids(store.order().unwrap()), newest_first);
    assert_eq!(ids(store.order_of_latest().unwrap()), newest_first);
    let listed = store.list(&SessionFilter::default()).unwrap();
    assert_eq!(store.sessions(&[early.clone(), late, middle.clone()]).unwrap(), listed);
    store.delete(&middle).unwrap();
    let left = store.sessions(&[middle, early.clone()]).unwrap();
    assert_eq!(left.into_iter().map(|one| one.id).collect::<Vec<_>>(), [early]);
}

fn request(now: &str, days: u32) -> PruneRequest {
    PruneRequest { now: at(now), older_than: DAY * days, source: None, keep: BTreeSet::new() }
}

#[test]
fn a_plan_names_the_old_and_spares_the_pinned_and_the_unfinished() {
    let place = Place::ours();
    let mut store = place.write();
    let old = converse(&mut store, 1, 0, &["0123456789", "0123456789"]);
    let pinned = converse(&mut store, 2, 1, &["keep me"]);
    let fresh = converse(&mut store, 3, 60 * 24 * 20, &["new"]);
    let mut asked = request("2026-07-01T12:00:00Z", 15);
    asked.keep.insert(pinned.clone());
    let plan = store.prune_plan(&asked).unwrap();
    let planned: Vec<_> = plan.sessions.iter().map(|s| s.id.clone()).collect();
    assert_eq!(planned, [old]);
    assert_eq!((plan.messages, plan.text_bytes, plan.kept_pinned), (2, 20, 1));
    assert_eq!(store.list(&SessionFilter::default()).unwrap().len(), 3);

    let unfinished = store.prune_plan(&request("2026-06-21T18:00:00Z", 0)).unwrap();
    assert_eq!((unfinished.sessions.len(), unfinished.kept_unfinished), (2, 1));

    let report = store.prune(&plan.sessions).unwrap();
    assert_eq!((report.sessions, report.messages), (1, 2));
    let left: Vec<_> =
        store.list(&SessionFilter::default()).unwrap().into_iter().map(|s| s.id).collect();
    assert_eq!(left, [fresh, pinned]);
    drop(store);
    assert_whole(&place.path());
}

#[test]
fn a_session_that_changed_after_the_plan_stays() {
    let place = Place::ours();
    let mut store = place.write();
    let id = converse(&mut store, 1, 0, &["old"]);
    let plan = store.prune_plan(&request("2026-07-01T12:00:00Z", 15)).unwrap();
    let message = hermes_store::sessions::NewMessage::text("user", "back", minute(90));
    store.append(&id, &[message]).unwrap();
    let report = store.prune(&plan.sessions).unwrap();
    assert_eq!((report.sessions, report.changed), (0, vec![id]));
}

#[test]
fn pins_of_hermes_agent_are_kept() {
    let place = v30();
    let plan = place.read().prune_plan(&request("2027-01-01T00:00:00Z", 1)).unwrap();
    assert_eq!((plan.kept_pinned, plan.sessions.len()), (1, 1));
}

#[test]
fn stats_count_what_is_there() {
    let place = Place::ours();
    let mut store = place.write();
    converse(&mut store, 1, 0, &["1234", "56"]);
    let mut other = new_session(2, minute(5));
    other.source = "telegram".into();
    store.create_session(&other).unwrap();
    let stats = store.stats().unwrap();
    assert_eq!((stats.sessions, stats.messages, stats.text_bytes), (2, 2, 6));
    assert_eq!(stats.full_text_rows, Some(2));
    assert_eq!((stats.first_message_at, stats.last_message_at), (Some(minute(0)), Some(minute(1))));
    assert_eq!(stats.by_source[0].source, "cli");
    assert_eq!((stats.by_source[0].messages, stats.by_source[1].messages), (2, 0));
    assert!(stats.bytes_on_disk > 4096);
}

#[test]
fn a_session_whose_index_rows_only_hermes_agent_can_drop_is_left_to_it() {
    let place = v22();
    let mut store = place.write();
    let id = store.find("20260101_000100").unwrap();
    assert!(matches!(store.delete(&id), Err(Error::DeleteRefused { .. })));
    let plan = store.prune_plan(&request("2027-01-01T00:00:00Z", 1)).unwrap();
    // What it continues stays with it.
    assert_eq!((plan.sessions.len(), plan.kept_for_owner, plan.kept_continued), (2, 1, 1));
    assert_eq!(store.prune(&plan.sessions).unwrap().sessions, 2);
    drop(store);
    let whole = "insert into messages_fts_trigram (messages_fts_trigram, rank)
        values ('integrity-check', 1);";
    run_on(&place.path(), whole);
    assert_whole(&place.path());
}
