//! Export and import.

use hermes_store::sessions::{ImportReport, SessionStore, Window};
use serde_json::{Value, json};

use crate::layouts::{V6, v22, v30};
use crate::sql::run_on;
use crate::support::{Place, assert_whole, converse, minute};

fn export(store: &SessionStore) -> String {
    let mut out = Vec::new();
    for id in store.every_id().unwrap() {
        store.export_session(&id, &mut out).unwrap();
    }
    String::from_utf8(out).unwrap()
}

fn import(place: &Place, text: &str) -> ImportReport {
    place.write().import(&mut text.as_bytes(), minute(0)).unwrap()
}

/// The sessions of an export without the numbers of their messages, which are given anew.
fn comparable(export: &str) -> Vec<Value> {
    let parse = |line: &str| {
        let mut session: Value = serde_json::from_str(line).unwrap();
        for message in session["messages"].as_array_mut().unwrap() {
            message.as_object_mut().unwrap().shift_remove("id");
        }
        session
    };
    export.lines().map(parse).collect()
}

#[test]
fn export_import_export_is_equal() {
    let place = Place::ours();
    let mut store = place.write();
    converse(&mut store, 1, 0, &["hello", "nul \0 inside", "\0json:not really", "🎉"]);
    converse(&mut store, 2, 1, &["between"]);
    drop(store);
    let odd = "update sessions set title = 'tea', model_config = '{\"a\": 1}' where id like '%1';
        update sessions set parent_session_id = (select id from sessions where title = 'tea')
        where id like '%2';
        update messages set active = 0, compacted = 1 where id = 1;
        update messages set active = 0 where id = 2;
        update sessions set message_count = 2, tool_call_count = 1 where id like '%1';
        update messages set tool_calls = '[{\"n\": 1.5, \"big\": 123456789012}]', timestamp = 0.1
        where id = 4;
        update messages set content = null where id = 5;";
    run_on(&place.path(), odd);
    let exported = export(&place.read());
    assert_eq!(exported.lines().count(), 2);

    let copy = Place::ours();
    let report = import(&copy, &exported);
    assert_eq!((report.sessions_added, report.messages_added), (2, 5));
    assert_eq!(report.problems, []);
    assert_eq!(report.ignored_fields, [""; 0]);
    assert_eq!(comparable(&export(&copy.read())), comparable(&exported));
    assert_whole(&copy.path());
}

#[test]
fn a_second_import_changes_nothing() {
    let place = Place::ours();
    converse(&mut place.write(), 1, 0, &["same", "b", "c"]);
    let again = export(&place.read());
    let report = import(&place, &again);
    assert_eq!((report.sessions_unchanged, report.messages_added), (1, 0));

    let from_v22 = export(&v22().read());
    let copy = Place::ours();
    assert_eq!(import(&copy, &from_v22).sessions_added, 4);
    let first = export(&copy.read());
    let report = import(&copy, &from_v22);
    assert_eq!((report.sessions_unchanged, report.messages_added), (4, 0));
    assert_eq!(export(&copy.read()), first);
}

#[test]
fn a_session_that_is_here_gets_only_what_it_lacks() {
    let place = Place::ours();
    let mut store = place.write();
    let id = converse(&mut store, 1, 0, &["a", "b"]);
    let line = export(&store);
    let mut session: Value = serde_json::from_str(&line).unwrap();
    let messages = session["messages"].as_array_mut().unwrap();
    let mut twice = messages[0].clone();
    twice["timestamp"] = json!(1.0);
    messages.push(messages[0].clone());
    messages.push(twice);
    drop(store);
    let report = import(&place, &session.to_string());
    assert_eq!((report.sessions_extended, report.messages_added), (1, 2));
    let store = place.read();
    assert_eq!(store.messages(&id, Window::All).unwrap().len(), 4);
    assert_eq!(store.session(&id).unwrap().message_count, 4);
    drop(store);
    assert_eq!(import(&place, &session.to_string()).sessions_unchanged, 1);
}

#[test]
fn every_layout_can_be_exported_and_taken_in() {
    let places = [(Place::foreign(V6), 1), (v22(), 4), (v30(), 2)];
    for (place, sessions) in places {
        let before = place.read();
        let exported = export(&before);
        let copy = Place::ours();
        let report = import(&copy, &exported);
        assert_eq!((report.sessions_added, &report.problems[..]), (sessions, &[][..]));
        let after = copy.read();
        for id in before.every_id().unwrap() {
            let old = before.messages(&id, Window::All).unwrap();
            let new = after.messages(&id, Window::All).unwrap();
            assert_eq!(old.len(), new.len());
            for (old, new) in old.iter().zip(&new) {
                assert_eq!(
                    (&old.text, old.state, old.timestamp),
                    (&new.text, new.state, new.timestamp)
                );
            }
            assert_eq!(
                before.session(&id).unwrap().started_at,
                after.session(&id).unwrap().started_at
            );
        }
        assert_eq!(import(&copy, &exported).messages_added, 0);
    }
}

#[test]
fn a_prompt_kept_apart_is_exported_with_its_session() {
    let exported = export(&v30().read());
    let session: Value = serde_json::from_str(exported.lines().next().unwrap()).unwrap();
    assert_eq!(session["system_prompt"], "be kind");
    assert_eq!(session["messages"][0]["display_identity"], json!({"hex": "00ff"}));
    let report = import(&Place::ours(), &exported);
    assert!(report.ignored_fields.contains(&"messages.display_identity".to_owned()));
}

#[test]
fn bad_lines_are_reported_and_the_rest_goes_on() {
    let place = Place::ours();
    let text = r#"
{"id": "one", "messages": [{"role": "user", "content": "half \ud800 pair", "timestamp": 5}]}
{"id": "two", "messages": [{"content": "nobody"}]}
not json
["a list"]
{"messages": []}
{"id": "three", "messages": 7}
{"id": "four", "messages": [{"role": "user", "timestamp": "soon"}]}
{"id": "five", "source": "cli", "wings": 2, "messages": [{"role": "user", "content": "ok", "fins": 1}]}"#;
    let report = import(&place, text);
    let lines: Vec<u64> = report.problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [3, 4, 5, 6, 7, 8], "{:?}", report.problems);
    assert_eq!(report.sessions_added, 2);
    assert_eq!(report.ignored_fields, ["messages.fins", "sessions.wings"]);
    let store = place.read();
    let one = store.find("one").unwrap();
    assert_eq!(store.messages(&one, Window::All).unwrap()[0].text, "half \u{fffd} pair");
    assert_eq!(store.session(&one).unwrap().source, "import");
    assert_eq!(store.session(&one).unwrap().message_count, 1);
}

#[test]
fn titles_stay_unique_and_parents_are_linked_at_the_end() {
    let place = Place::ours();
    let text = r#"{"id": "child", "title": "tea", "parent_session_id": "parent", "started_at": 1}
{"id": "parent", "title": "tea", "started_at": 2}
{"id": "third", "title": "tea", "parent_session_id": "gone", "started_at": 3}
{"id": "loop", "parent_session_id": "loop", "started_at": 4}"#;
    let report = import(&place, text);
    let renamed: Vec<&str> =
        report.titles_changed.iter().map(|change| change.to.as_str()).collect();
    assert_eq!(renamed, ["tea (2)", "tea (3)"]);
    let dropped: Vec<&str> = report.parents_dropped.iter().map(|d| d.session.as_str()).collect();
    assert_eq!(dropped, ["third", "loop"]);
    let store = place.read();
    let child = store.session(&store.find("child").unwrap()).unwrap();
    assert_eq!(child.parent.unwrap().as_str(), "parent");
    drop(store);
    assert_whole(&place.path());
}

/// A session of 4,500 messages that says it has as many.
fn long_session() -> String {
    let message = |n: i64| json!({"role": "user", "content": format!("line {n}"), "timestamp": n});
    let messages: Vec<Value> = (0..4500).map(message).collect();
    json!({"id": "long", "source": "cli", "message_count": 4500, "messages": messages}).to_string()
}

#[test]
fn a_long_session_is_taken_in() {
    let place = Place::ours();
    assert_eq!(import(&place, &long_session()).messages_added, 4500);
    let store = place.read();
    let id = store.find("long").unwrap();
    assert_eq!(store.session(&id).unwrap().message_count, 4500);
    assert_eq!(store.messages(&id, Window::Last(1)).unwrap()[0].text, "line 4499");
    drop(store);
    assert_whole(&place.path());
}

const REFUSE_A_LINE: &str = "
    create trigger no_such_line before insert on messages when new.content = 'line 3000' begin
        select raise(abort, 'not this one'); end;";

#[test]
fn a_session_that_breaks_a_rule_is_reported_and_the_rest_goes_on() {
    let place = Place::ours();
    run_on(&place.path(), REFUSE_A_LINE);
    let good = |id: &str| {
        json!({"id": id, "title": "tea", "messages": [{"role": "user", "content": id}]}).to_string()
    };
    let text = [good("before"), long_session(), "no json".to_owned(), good("after")].join("\n");
    let report = import(&place, &text);
    assert_eq!((report.sessions_added, report.messages_added), (2, 2));
    let problems: Vec<u64> = report.problems.iter().map(|problem| problem.line).collect();
    assert_eq!(problems, [2, 3]);
    assert_eq!(report.problems[0].reason, "the database rejects it: not this one");
    assert_eq!(report.titles_changed.len(), 1);
    assert_eq!(report.titles_changed[0].to, "tea (2)");
    assert!(place.read().find("long").is_err());
    assert_whole(&place.path());

    run_on(&place.path(), "drop trigger no_such_line;");
    assert_eq!(import(&place, &text).messages_added, 4500);
    let store = place.read();
    assert_eq!(store.session(&store.find("long").unwrap()).unwrap().message_count, 4500);
}

#[test]
fn an_import_that_was_cut_short_is_counted_right_when_run_again() {
    let place = Place::ours();
    import(&place, &long_session());
    // As an import left it that was killed on the way.
    run_on(&place.path(), "delete from messages where id > 2000;");
    let report = import(&place, &long_session());
    assert_eq!((report.sessions_extended, report.messages_added), (1, 2500));
    let store = place.read();
    let id = store.find("long").unwrap();
    assert_eq!(store.session(&id).unwrap().message_count, 4500);
}

#[test]
fn counters_are_of_what_is_live_whatever_the_import_says() {
    let calls = json!([{"id": "a"}, {"id": "b"}]);
    let line = |extra: &[Value]| {
        let mut messages = vec![
            json!({"role": "assistant", "tool_calls": calls, "timestamp": 1}),
            json!({"role": "assistant", "tool_calls": calls, "timestamp": 2, "active": 0}),
            json!({"role": "user", "content": "x", "timestamp": 3, "tool_calls": null}),
        ];
        messages.extend_from_slice(extra);
        json!({"id": "s", "message_count": 99, "tool_call_count": 99, "messages": messages})
            .to_string()
    };
    let counters = "select message_count, tool_call_count from sessions;";
    let place = Place::ours();
    import(&place, &line(&[]));
    assert_eq!(run_on(&place.path(), counters), "2|2");
    let more = json!({"role": "assistant", "timestamp": 4, "tool_calls": {"id": "c"}});
    import(&place, &line(&[more]));
    assert_eq!(run_on(&place.path(), counters), "3|3");
}

#[test]
fn ids_with_blanks_and_titles_that_are_none_stop_nothing() {
    let place = Place::ours();
    let text = r#"
{"id": " abc ", "title": "", "messages": [{"role": "user", "content": "hello"}]}
{"id": "two", "title": "", "parent_session_id": " abc "}
{"id": "three", "title": "  "}
{"id": "four", "title": 7}
{"id": "five", "title": 7}
{"id": "six", "title": ["x"]}"#;
    let report = import(&place, text);
    assert_eq!((report.sessions_added, &report.problems[..]), (6, &[][..]));
    assert_eq!((report.titles_changed, report.parents_dropped), (vec![], vec![]));
    assert_eq!(run_on(&place.path(), "select count(*) from sessions where title is null;"), "6");
    let store = place.read();
    let id = store.find("abc").unwrap();
    assert_eq!(store.messages(&id, Window::All).unwrap()[0].text, "hello");
    drop(store);
    assert_eq!(import(&place, text).sessions_unchanged, 6);
}

#[test]
fn messages_without_times_are_not_taken_in_twice() {
    let text = r#"
{"id": "a", "messages": [{"role": "user", "content": "yes"}, {"role": "user", "content": "yes"}]}
{"id": "b", "messages": [{"role": "user", "content": "yes"}, {"role": "user", "content": "yes", "timestamp": 5}]}
{"id": "c", "messages": [{"role": "user", "content": "yes", "timestamp": 5}, {"role": "user", "content": "yes"}]}"#;
    for place in [Place::ours(), Place::foreign(V6), v22()] {
        assert_eq!(import(&place, text).messages_added, 6);
        let first = export(&place.read());
        let later = place.write().import(&mut text.as_bytes(), minute(90)).unwrap();
        assert_eq!((later.sessions_unchanged, later.messages_added), (3, 0));
        assert_eq!(export(&place.read()), first);
    }
    let place = Place::ours();
    import(&place, text);
    let more = text.replace("\"yes\"}]", "\"yes\"}, {\"role\": \"user\", \"content\": \"no\"}]");
    assert_eq!(import(&place, &more).messages_added, 2);
}

#[test]
fn thousands_of_sessions_may_have_the_same_title() {
    let line = |n: u32| json!({"id": format!("s{n}"), "title": "New chat"}).to_string();
    let text: Vec<String> = (0..4000).map(line).collect();
    let place = Place::ours();
    let begun = std::time::Instant::now();
    let report = import(&place, &text.join("\n"));
    assert_eq!(report.sessions_added, 4000);
    assert_eq!(report.titles_changed.last().unwrap().to, "New chat (4000)");
    assert!(begun.elapsed().as_secs() < 20, "it took {:?}", begun.elapsed());
}

#[test]
fn a_database_of_hermes_agent_takes_in_its_own_export_unchanged() {
    for place in [v22(), v30()] {
        let report = import(&place, &export(&place.read()));
        assert_eq!((report.messages_added, report.sessions_added), (0, 0));
    }
}
