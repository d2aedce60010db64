//! Finding, listing and showing sessions.

use hermes_store::Error;
use hermes_store::sessions::{SessionFilter, SessionKind, Whose, Window};

use crate::sql::run_on;
use crate::support::{Place, converse, minute};

#[test]
fn sessions_are_listed_by_their_newest_message() {
    let place = Place::ours();
    let mut store = place.write();
    let first = converse(&mut store, 1, 0, &["one"]);
    let second = converse(&mut store, 2, 10, &["two"]);
    let message = hermes_store::sessions::NewMessage::text("user", "later", minute(60));
    store.append(&first, &[message]).unwrap();
    let listed = store.list(&SessionFilter::default()).unwrap();
    assert_eq!([&listed[0].id, &listed[1].id], [&first, &second]);
    assert_eq!(listed[0].last_active, minute(60));
    assert_eq!(listed[0].duration_seconds, 3600.0);
    assert_eq!(listed[0].preview.as_deref(), Some("one"));
    assert_eq!(listed[0].kind, SessionKind::Conversation);
}

#[test]
fn filters_narrow_the_list() {
    let place = Place::ours();
    let mut store = place.write();
    for number in 0..4 {
        converse(&mut store, number, i64::from(number) * 10, &["hello"]);
    }
    let archive = "update sessions set archived = 1 where id like '%000003';
        update sessions set user_id = 'ada', source = 'cron' where id like '%000002';";
    run_on(&place.path(), archive);
    let count = |filter: SessionFilter| store.list(&filter).unwrap().len();
    let all = SessionFilter::default;
    assert_eq!(count(all()), 3);
    assert_eq!(count(SessionFilter { include_archived: true, ..all() }), 4);
    assert_eq!(count(SessionFilter { user: Some(Whose::called("ada")), ..all() }), 1);
    assert_eq!(count(SessionFilter { user: Some(Whose::named("ada")), ..all() }), 0);
    let at_cron = Whose::default().and_at("cron", "ada");
    assert_eq!(count(SessionFilter { user: Some(at_cron), ..all() }), 1);
    assert_eq!(count(SessionFilter { source: Some("cli".into()), ..all() }), 2);
    assert_eq!(count(SessionFilter { since: Some(minute(10)), ..all() }), 2);
    assert_eq!(count(SessionFilter { until: Some(minute(10)), ..all() }), 1);
    assert_eq!(count(SessionFilter { kinds: vec![SessionKind::Cron], ..all() }), 1);
    assert_eq!(count(SessionFilter { limit: Some(2), ..all() }), 2);
}

#[test]
fn a_session_is_found_by_id_prefix_title_or_last() {
    let place = Place::ours();
    let mut store = place.write();
    let older = converse(&mut store, 1, 0, &["one"]);
    let newer = converse(&mut store, 2, 10, &["two"]);
    store.rename(&older, Some("tide tables")).unwrap();
    assert_eq!(store.find(older.as_str()).unwrap(), older);
    assert_eq!(store.find("20260601_1200").unwrap(), older);
    assert_eq!(store.find("tide tables").unwrap(), older);
    assert_eq!(store.find("last").unwrap(), newer);
    let Error::Ambiguous { candidates, .. } = store.find("2026").unwrap_err() else { panic!() };
    assert_eq!(candidates, [newer.as_str(), older.as_str()]);
    for nothing in ["2027", "", "%", "tide"] {
        assert!(matches!(store.find(nothing).unwrap_err(), Error::NotFound { .. }), "{nothing}");
    }
}

#[test]
fn a_window_shows_part_of_a_session() {
    let place = Place::ours();
    let mut store = place.write();
    let id = converse(&mut store, 1, 0, &["a", "b", "c", "d", "e"]);
    let shown = |window| {
        let messages = store.messages(&id, window).unwrap();
        messages.iter().map(|message| message.text.as_str()).collect::<String>()
    };
    assert_eq!(shown(Window::All), "abcde");
    assert_eq!(shown(Window::First(2)), "ab");
    assert_eq!(shown(Window::Last(2)), "de");
    let anchor = store.messages(&id, Window::All).unwrap()[2].id;
    let around = |before, after| Window::Around { message: anchor, before, after };
    assert_eq!(shown(around(1, 1)), "bcd");
    assert_eq!(shown(around(0, 9)), "cde");
    let nowhere = Window::Around { message: 999, before: 1, after: 1 };
    let missing = store.messages(&id, nowhere).unwrap_err();
    assert!(matches!(missing, Error::MessageNotFound { message: 999, .. }));
}

#[test]
fn json_has_the_words_in_the_field_text() {
    let place = Place::ours();
    let mut store = place.write();
    let id = converse(&mut store, 1, 0, &["a word"]);
    let json = serde_json::to_value(&store.messages(&id, Window::All).unwrap()[0]).unwrap();
    assert_eq!(json["text"], "a word");
    assert_eq!(json["state"], "active");
    assert_eq!(json["timestamp"], "2026-06-01T12:00:00Z");
    let json = serde_json::to_value(store.session(&id).unwrap()).unwrap();
    assert_eq!(json["kind"], "conversation");
}
