//! The query language, and that nothing typed breaks a search.

use std::path::Path;

use hermes_store::sessions::{NewMessage, SearchRequest};
use proptest::prelude::*;
use rusqlite::Connection;

use crate::support::{Home, ids, minutes};

/// A store with many short messages over a small vocabulary, big enough that the index is asked.
fn word_soup() -> Home {
    const WORDS: &[&str] = &["ape", "bear", "cat", "dog", "eel", "fox", "gnu", "hen"];
    let mut home = Home::new();
    let session = home.session(1, |s| s.title = Some("ape OR \"bear".into()));
    let text = |n: usize| {
        let word = |k: usize| WORDS[(n / 7_usize.pow(k as u32) + k * n) % WORDS.len()];
        (0..1 + n % 5).map(word).collect::<Vec<_>>().join(" ")
    };
    let message = |n: usize| NewMessage::text("user", &text(n), minutes(n as i64));
    home.store.append(&session, &(0..300).map(message).collect::<Vec<_>>()).unwrap();
    home
}

fn matched_by_fts5(path: &Path, expression: &str) -> Vec<i64> {
    #[expect(clippy::disallowed_methods, reason = "the test plays stock SQLite")]
    let db = Connection::open(path).unwrap();
    let sql = "select rowid from messages_fts where messages_fts match ?1 order by rowid";
    let mut statement = db.prepare(sql).unwrap();
    let rows = statement.query_map([expression], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

/// Well-formed expressions of FTS5's language, as text.
fn well_formed() -> impl Strategy<Value = String> {
    let word = prop_oneof!["(ape|bear|cat|dog|eel|fox)", "(a|be|ca|d|fo)\\*"];
    let phrase = "\"(ape|bear|cat) (dog|eel|fox)\"";
    let leaf = prop_oneof![word, phrase];
    let leaves = prop::collection::vec(leaf, 1..3).prop_map(|leaves| leaves.join(" "));
    let tree = leaves.prop_recursive(3, 12, 3, |inner| {
        let operator = prop_oneof![Just(" AND "), Just(" OR "), Just(" NOT ")];
        prop_oneof![
            (inner.clone(), operator, inner.clone()).prop_map(|(a, o, b)| format!("{a}{o}{b}")),
            inner.prop_map(|inner| format!("({inner})")),
        ]
    });
    // With an operator or a phrase for certain, so that it is not read as a sentence.
    tree.prop_map(|tree| format!("{tree} OR \"no such phrase\""))
}

#[test]
fn the_query_language_means_what_fts5_means() {
    let home = word_soup();
    crowd_out(&home);
    let path = home.folder.path().join("state.db");
    proptest!(ProptestConfig::with_cases(200), |(expression in well_formed())| {
        let mut request = SearchRequest::new(&expression);
        request.limit = 5_000;
        request.neighbours = 0;
        let answer = home.store.search(&request).unwrap();
        let mut found = ids(&answer);
        found.sort_unstable();
        prop_assert_eq!(found, matched_by_fts5(&path, &expression), "{}", expression);
    });
}

/// Nothing to do with the words of the soup: only there so that the index is asked.
fn crowd_out(home: &Home) {
    home.sql(
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 3200)
         insert into messages (session_id, role, content, timestamp)
         select (select id from sessions limit 1), 'user', 'crowd', i from n",
    );
}

#[test]
fn nothing_typed_fails_and_results_obey_filter_and_order() {
    let mut home = word_soup();
    let other = home.session(9, |s| s.user_id = Some("other".into()));
    home.say(&other, &["ape bear 部署 🎉 cafe\u{301}", "cat NOT dog", "\"quoted\" AND"]);
    let pieces = "(\"|\\(|\\)|\\*| |AND |OR |NOT |ape|bear |cat|部署|🎉|\u{0}|content:|NEAR\\(|\\^|\\+|\\{|\\}|'|--|;|\\PC){0,24}";
    for is_crowded in [false, true] {
        if is_crowded {
            crowd_out(&home);
        }
        let strategy = (pieces, any::<bool>(), any::<bool>());
        proptest!(ProptestConfig::with_cases(200), |((query, by_user, by_role) in strategy)| {
            let mut request = SearchRequest::new(&query);
            request.filter.user = by_user.then(|| "other".into());
            request.filter.roles = if by_role { vec!["assistant".to_owned()] } else { Vec::new() };
            let answer = home.store.search(&request).unwrap();
            prop_assert!(answer.results.len() <= request.limit);
            for result in &answer.results {
                prop_assert!(!by_user || result.session_id == other);
                prop_assert!(!by_role || result.role.as_deref() == Some("assistant"));
            }
            prop_assert!(answer.results.is_sorted_by_key(|result| !result.matched_all));
        });
    }
}
