//! Adding sessions and messages.

use hermes_store::Error;
use hermes_store::sessions::{Content, NewMessage, NewSession, Window};
use proptest::prelude::*;
use serde_json::json;

use crate::sql::run_on;
use crate::support::{Place, assert_whole, converse, minute, new_session};

#[test]
fn what_is_recorded_reads_back() {
    let place = Place::ours();
    let mut store = place.write();
    let parent = converse(&mut store, 1, 0, &["first"]);
    let new = NewSession {
        title: Some("second".into()),
        model: Some("m".into()),
        parent: Some(parent.clone()),
        cwd: Some("/srv".into()),
        user_id: Some("ada".into()),
        ..new_session(2, minute(5))
    };
    let id = store.create_session(&new).unwrap();
    let call = json!([{"id": "c1", "function": {"name": "look"}}, {"id": "c2"}]);
    let messages = [
        NewMessage {
            tool_calls: Some(call.clone()),
            ..NewMessage::text("assistant", "x\0y", minute(6))
        },
        NewMessage {
            content: Some(Content::Parts(json!([{"type": "text", "text": "ünd"}]))),
            tool_call_id: Some("c1".into()),
            tool_name: Some("look".into()),
            token_count: Some(3),
            ..NewMessage::text("tool", "", minute(7))
        },
        NewMessage { content: None, ..NewMessage::text("assistant", "", minute(8)) },
    ];
    assert_eq!(store.append(&id, &messages).unwrap().len(), 3);
    let read = store.messages(&id, Window::All).unwrap();
    assert_eq!(read[0].text, "x\0y");
    assert_eq!(read[0].tool_calls, Some(call));
    assert_eq!(read[1].parts, Some(json!([{"type": "text", "text": "ünd"}])));
    assert_eq!((read[1].text.as_str(), read[1].token_count), ("ünd", Some(3)));
    assert_eq!(read[2].text, "");
    let session = store.session(&id).unwrap();
    assert_eq!((session.message_count, session.parent), (3, Some(parent)));
    let stored = "select tool_call_count from sessions where title = 'second';
        select tool_calls from messages where tool_calls is not null;";
    let expected = "2\n[{\"id\": \"c1\", \"function\": {\"name\": \"look\"}}, {\"id\": \"c2\"}]";
    assert_eq!(run_on(&place.path(), stored), expected);
}

#[test]
fn ids_titles_and_parents_are_checked() {
    let place = Place::ours();
    let mut store = place.write();
    let new = NewSession { title: Some("one".into()), ..new_session(1, minute(0)) };
    let id = store.create_session(&new).unwrap();
    assert!(matches!(store.create_session(&new), Err(Error::SessionExists { .. })));
    let same_title = NewSession { title: Some("one".into()), ..new_session(2, minute(0)) };
    let Err(Error::TitleTaken { owner, .. }) = store.create_session(&same_title) else { panic!() };
    assert_eq!(owner, id.as_str());
    let orphan =
        NewSession { parent: Some(new_session(9, minute(0)).id), ..new_session(3, minute(0)) };
    assert!(matches!(store.create_session(&orphan), Err(Error::NotFound { .. })));
    let nowhere = new_session(8, minute(0)).id;
    let message = NewMessage::text("user", "lost", minute(0));
    assert!(matches!(store.append(&nowhere, &[message]), Err(Error::NotFound { .. })));
    assert_eq!(store.stats().unwrap().messages, 0);
}

#[test]
fn a_new_session_takes_the_same_titles_as_a_renamed_one() {
    let place = Place::ours();
    let mut store = place.write();
    for bad in ["", " ", "two\nlines", &"x".repeat(101)] {
        let new = NewSession { title: Some(bad.into()), ..new_session(1, minute(0)) };
        assert!(matches!(store.create_session(&new), Err(Error::BadTitle { .. })), "{bad:?}");
    }
    let new = NewSession { title: Some(" tea ".into()), ..new_session(1, minute(0)) };
    let id = store.create_session(&new).unwrap();
    assert_eq!(store.session(&id).unwrap().title.as_deref(), Some("tea"));
}

const DROP_INDEX: &str = "drop trigger messages_fts_insert; drop trigger messages_fts_delete;
    drop trigger messages_fts_update; drop table messages_fts;";

#[test]
fn messages_come_and_go_where_the_index_is_missing() {
    for owner in ["", "create table state_meta (key text, value text);"] {
        let place = Place::ours();
        run_on(&place.path(), &format!("{owner}{DROP_INDEX}"));
        let mut store = place.write();
        let id = converse(&mut store, 1, 0, &["a", "b", "c", "d", "e"]);
        let line =
            r#"{"id": "s", "messages": [{"role": "user"}, {"role": "user"}, {"role": "user"}]}"#;
        assert_eq!(store.import(&mut line.as_bytes(), minute(0)).unwrap().messages_added, 3);
        assert_eq!(store.delete(&id).unwrap(), 5);
    }
}

#[test]
fn the_first_end_of_a_session_counts() {
    let place = Place::ours();
    let mut store = place.write();
    let id = converse(&mut store, 1, 0, &["hello"]);
    store.end_session(&id, minute(9), "compression").unwrap();
    store.end_session(&id, minute(99), "closed").unwrap();
    let session = store.session(&id).unwrap();
    assert_eq!(session.ended_at, Some(minute(9)));
    assert_eq!(session.end_reason.as_deref(), Some("compression"));
}

#[test]
fn stock_sqlite_finds_the_last_messages_about_a_word() {
    let place = Place::ours();
    let mut store = place.write();
    let texts: Vec<String> = (0..30).map(|n| format!("a lighthouse, number {n}")).collect();
    converse(&mut store, 1, 0, &texts.iter().map(String::as_str).collect::<Vec<_>>());
    drop(store);
    let query = "select m.content from messages_fts f join messages m on m.id = f.rowid
        where messages_fts match 'lighthouse' order by m.timestamp desc limit 10;";
    let found = run_on(&place.path(), query);
    assert_eq!(found.lines().count(), 10);
    assert_eq!(found.lines().next(), Some("a lighthouse, number 29"));
    assert_whole(&place.path());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_text_reads_back_and_keeps_the_index_whole(
        texts in proptest::collection::vec(any::<String>(), 1..8),
    ) {
        let place = Place::ours();
        let mut store = place.write();
        let id = converse(&mut store, 1, 0, &texts.iter().map(String::as_str).collect::<Vec<_>>());
        let read = store.messages(&id, Window::All).unwrap();
        let read: Vec<&str> = read.iter().map(|message| message.text.as_str()).collect();
        prop_assert_eq!(read, texts);
        drop(store);
        assert_whole(&place.path());
    }
}
