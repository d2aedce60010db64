//! What is found, and in which order.

use hermes_store::sessions::{Content, Mode, NewMessage, ResultKind, SearchRequest, SessionStore};
use hermes_store::sqlite::{Access, DEFAULT_WAIT};

use crate::support::{Home, crowd, ids, start};

#[test]
fn a_plain_question_finds_its_message_whatever_the_form_of_the_words() {
    let mut home = Home::new();
    let session = home.session(1, |_| {});
    let said = home.say(
        &session,
        &[
            "Shall we ship on Friday?",
            "We decided that deploying on Friday is out: Tuesday it is.",
            "Good. And the backup policy?",
        ],
    );
    crowd(&mut home, 50);
    let answer = home.search("what did we decide about the deploy?");
    assert_eq!(answer.mode, Mode::Plain);
    assert_eq!(answer.terms, ["decide", "deploy"]);
    let best = &answer.results[0];
    assert_eq!(best.message_id, Some(said[1]));
    assert!(best.matched_all);
    assert_eq!(best.before[0].message_id, said[0]);
    assert_eq!(best.after[0].text, "Good. And the backup policy?");
    let marked: Vec<&str> =
        best.snippet.pieces().iter().filter(|(_, hit)| *hit).map(|(text, _)| *text).collect();
    assert_eq!(marked, ["decided", "deploying"]);
    assert_eq!(ids(&home.search("policies")), [said[2]]);
}

#[test]
fn messages_with_all_words_come_before_those_with_some() {
    let mut home = Home::new();
    let session = home.session(1, |_| {});
    let said = home.say(
        &session,
        &[
            "zebra zebra zebra zebra",
            "the zebra, after long talk of other things and many more words, met a lion",
            "lion lion lion",
            "nothing of that kind",
        ],
    );
    let answer = home.search("zebra lion");
    assert_eq!(answer.results[0].message_id, Some(said[1]));
    assert_eq!(answer.results.iter().filter(|r| r.matched_all).count(), 1);
    assert_eq!(answer.results.len(), 3);
    let answer = home.search("zebra unicorn");
    assert_eq!(answer.not_found, ["unicorn"]);
    assert_eq!(answer.results.len(), 2);
}

#[test]
fn small_words_alone_are_searched_too() {
    let mut home = Home::new();
    let session = home.session(1, |_| {});
    let said = home.say(&session, &["to be or not to be", "something else"]);
    assert_eq!(ids(&home.search("to be or not to be"))[0], said[0]);
}

#[test]
fn a_word_in_every_message_finds_the_newest_and_says_it_is_common() {
    let mut home = Home::new();
    let session = home.session(1, |_| {});
    let said = home.say(&session, &["the weather in Lisbon"]);
    crowd(&mut home, 4_000);
    assert_eq!(home.search("weather").results.len(), 10);
    let answer = home.search("weather Lisbon");
    assert_eq!(ids(&answer), said);
    assert_eq!(answer.too_common, ["weather"]);
    let both = home.search("weather filler");
    assert!(both.results.iter().all(|result| result.matched_all));
}

#[test]
fn titles_are_found_beside_messages() {
    let mut home = Home::new();
    let session = home.session(1, |s| s.title = Some("Kitchen renovation budget".into()));
    home.say(&session, &["how much will it be?"]);
    let answer = home.search("renovation budget");
    assert_eq!(answer.results[0].kind, ResultKind::Title);
    assert_eq!(answer.results[0].session_id, session);
    assert_eq!(answer.results[0].after[0].text, "how much will it be?");
    let mut request = SearchRequest::new("renovation budget");
    request.filter.user = Some("someone else".into());
    assert!(home.store.search(&request).unwrap().results.is_empty());
}

#[test]
fn text_inside_structured_content_and_tool_calls_is_found() {
    let mut home = Home::new();
    let session = home.session(1, |_| {});
    let parts = serde_json::json!([
        {"type": "text", "text": "Das Gemälde zeigt 部署流程"},
        {"type": "image_url", "image_url": {"url": "data:AAAA"}},
    ]);
    let mut picture = NewMessage::text("user", "", start());
    picture.content = Some(Content::Parts(parts));
    let mut call = NewMessage::text("assistant", "", start());
    call.tool_calls = Some(serde_json::json!([{"function": {"name": "grep_everything"}}]));
    let said = home.store.append(&session, &[picture, call]).unwrap();
    for crowded in [false, true] {
        if crowded {
            crowd(&mut home, 4_000);
        }
        let answer = home.search("Gemälde");
        assert_eq!(ids(&answer), [said[0]]);
        assert_eq!(answer.results[0].text, "Das Gemälde zeigt 部署流程");
        assert_eq!(ids(&home.search("部署")), [said[0]]);
        let answer = home.search("grep_everything");
        assert_eq!(ids(&answer), [said[1]]);
        assert!(!answer.results[0].snippet.marks.is_empty());
    }
}

#[test]
fn scripts_without_blanks_are_found_inside_a_run_and_by_pairs() {
    let mut home = Home::new();
    let session = home.session(1, |_| {});
    let said = home.say(&session, &["我们昨天部署了服务器", "会議の議事録です", "서울에서 만나요"]);
    crowd(&mut home, 4_000);
    assert_eq!(ids(&home.search("部署")), [said[0]]);
    assert_eq!(ids(&home.search("議事録")), [said[1]]);
    assert_eq!(ids(&home.search("서울")), [said[2]]);
    assert_eq!(ids(&home.search("\"部署\" NOT 議事録")), [said[0]]);
    assert_eq!(ids(&home.search("服务器部署计划"))[0], said[0]);
}

#[test]
fn a_phrase_that_stands_nowhere_is_searched_by_its_words() {
    let mut home = Home::new();
    let session = home.session(1, |_| {});
    let said = home.say(&session, &["the walrus likes the iceberg", "state.db is a file"]);
    for crowded in [false, true] {
        if crowded {
            crowd(&mut home, 4_000);
        }
        let mut request = SearchRequest::new("iceberg/walrus");
        for filter in [None, Some(session.clone())] {
            request.filter.session = filter;
            let answer = home.store.search(&request).unwrap();
            assert_eq!(ids(&answer), [said[0]]);
            assert!(answer.results[0].matched_all);
            assert!(answer.note.unwrap().contains("as a whole"));
        }
        assert_eq!(ids(&home.search("state.db")), [said[1]]);
    }
}

#[test]
fn without_an_index_the_newest_messages_are_read() {
    let mut home = Home::new();
    let session = home.session(1, |_| {});
    let said = home.say(&session, &["a lonely walrus", "none"]);
    home.sql("drop table messages_fts");
    let path = home.folder.path().join("state.db");
    let store = SessionStore::open(&path, Access::Read, DEFAULT_WAIT).unwrap();
    let answer = store.search(&SearchRequest::new("walrus")).unwrap();
    assert_eq!(ids(&answer), [said[0]]);
    assert!(answer.note.unwrap().contains("full-text index"));
}

#[test]
fn the_answer_is_json_with_results() {
    let mut home = Home::new();
    let session = home.session(1, |_| {});
    home.say(&session, &["one walrus"]);
    let json = serde_json::to_value(home.search("walrus")).unwrap();
    assert_eq!(json["results"][0]["text"], "one walrus");
    assert_eq!(json["results"][0]["snippet"]["marks"], serde_json::json!([[4, 10]]));
    assert_eq!(json["results"][0]["state"], "active");
    assert_eq!(json["mode"], "plain");
}

#[test]
fn a_huge_message_is_found_by_a_word_at_its_very_end() {
    let mut home = Home::new();
    let session = home.session(1, |_| {});
    let huge = format!("{} the walrus at last", "hay stack ".repeat(300_000));
    let said = home.say(&session, &[&huge, "small"]);
    for query in ["walrus", "hay walrus", "hay AND walrus", "\"at last\""] {
        for filter in [None, Some(session.clone())] {
            let mut request = SearchRequest::new(query);
            request.filter.session = filter;
            let answer = home.store.search(&request).unwrap();
            assert_eq!(ids(&answer), [said[0]], "{query}");
            assert!(!answer.results[0].snippet.marks.is_empty());
            assert!(answer.results[0].is_cut);
        }
    }
    let answer = home.search("walrus");
    assert!(answer.results[0].snippet.text.ends_with("hay stack the walrus at last"));
}

#[test]
fn a_condition_holds_of_the_whole_of_a_long_message() {
    let mut home = Home::new();
    let session = home.session(1, |_| {});
    let long = format!("apple {} pear 部署", "hay stack ".repeat(2_000));
    let said = home.say(&session, &[&long]);
    home.say(&session, &["filler"; 1_500]);
    let mut request = SearchRequest::new("apple AND pear");
    request.filter.session = Some(session);
    assert_eq!(ids(&home.store.search(&request).unwrap()), said);
    request.query = "apple NOT pear".to_owned();
    assert!(home.store.search(&request).unwrap().results.is_empty());
    assert_eq!(ids(&home.search("apple AND 部署")), said);
    assert!(home.search("apple NOT 部署").results.is_empty());
}
