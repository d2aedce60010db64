//! A filter is a partition: what is outside of it changes nothing of what is found inside.

use std::fmt::Write as _;

use hermes_store::sessions::{MessageState, SearchFilter, SearchRequest, Whose};
use jiff::Timestamp;
use proptest::prelude::*;

use crate::support::{Home, crowd, ids, minutes, start};

#[test]
fn filters_are_a_partition() {
    let mut home = Home::new();
    let anna = home.session(1, |s| s.user_id = Some("anna".into()));
    let bob = home.session(2, |s| {
        s.user_id = Some("bob".into());
        s.source = "telegram".into();
    });
    let of_anna = home.say(&anna, &["the harbour plan", "the harbour answer"]);
    let of_bob = home.say(&bob, &["the harbour of bob"]);
    crowd(&mut home, 4_000);
    let mut request = SearchRequest::new("harbour");
    let found = |change: &dyn Fn(&mut SearchRequest)| {
        let mut request = request.clone();
        change(&mut request);
        let mut found = ids(&home.store.search(&request).unwrap());
        found.sort_unstable();
        found
    };
    assert_eq!(found(&|r| r.filter.user = Some("anna".into())), of_anna);
    assert_eq!(found(&|r| r.filter.user = Some("nobody".into())), Vec::<i64>::new());
    assert_eq!(found(&|r| r.filter.source = Some("telegram".into())), of_bob);
    assert_eq!(found(&|r| r.filter.session = Some(anna.clone())), of_anna);
    assert_eq!(found(&|r| r.filter.roles = vec!["assistant".into()]), [of_anna[1]]);
    assert_eq!(found(&|r| r.filter.since = Some(minutes(1))), [of_anna[1]]);
    assert_eq!(found(&|r| r.filter.until = Some(minutes(1))), [of_anna[0], of_bob[0]]);
    assert_eq!(found(&|r| r.filter.until = Some(start())), Vec::<i64>::new());
    request.limit = 1;
    assert_eq!(ids(&home.store.search(&request).unwrap()).len(), 1);
}

#[test]
fn the_budget_is_spent_inside_the_askers_own_rows() {
    let mut home = Home::new();
    let session = home.session(1, |s| s.user_id = Some("anna".into()));
    let mine = home.say(&session, &["my tulip and my garden"]);
    // Of 24,000 rows with the word 4,000 are hers, all of them older than the others.
    home.sql(&format!(
        "insert into sessions (id, source, started_at) values ('others', 'cli', 1);
         with recursive n(i) as (select 1 union all select i + 1 from n where i < 24000)
         insert into messages (session_id, role, content, timestamp)
         select iif(i < 4000, '{session}', 'others'), 'user', iif(i < 4000, 'garden', 'tulip garden'), i
         from n"
    ));
    let mut request = SearchRequest::new("tulip");
    request.filter.user = Some("anna".into());
    assert_eq!(ids(&home.store.search(&request).unwrap()), mine);
    request.query = "tulip gardens".to_owned();
    let answer = home.store.search(&request).unwrap();
    assert_eq!(answer.results[0].message_id, Some(mine[0]));
    assert!(answer.results.iter().all(|result| result.session_id == session));
}

#[test]
fn rewound_messages_are_hidden_and_compacted_ones_are_found() {
    let mut home = Home::new();
    let session = home.session(1, |_| {});
    let said = home.say(&session, &["apricot one", "apricot two", "apricot three"]);
    home.sql(&format!("update messages set active = 0 where id = {}", said[0]));
    home.sql(&format!("update messages set active = 0, compacted = 1 where id = {}", said[1]));
    let answer = home.search("apricot");
    let mut found = ids(&answer);
    found.sort_unstable();
    assert_eq!(found, said[1..]);
    let compacted = answer.results.iter().find(|r| r.message_id == Some(said[1])).unwrap();
    assert_eq!(compacted.state, MessageState::Compacted);
    assert!(compacted.before.is_empty());
    let mut request = SearchRequest::new("apricot");
    request.filter.include_rewound = true;
    assert_eq!(home.store.search(&request).unwrap().results.len(), 3);
}

/// First `older` rows of alice, three of them about a zebra, then `newer` ones of bob, all about it.
fn zebras(older: i64, newer: i64) -> Home {
    let home = Home::new();
    home.sql(&format!(
        "insert into sessions (id, source, user_id, started_at)
         values ('a', 'cli', 'alice', 1), ('b', 'telegram', 'bob', 1);
         with recursive n(i) as (select 1 union all select i + 1 from n where i < {older} + {newer})
         insert into messages (session_id, role, content, timestamp)
         select iif(i <= {older}, 'a', 'b'), iif(i <= {older}, 'user', 'tool'),
                iif(i > {older} or i in (7, 900, 1100), 'a zebra here', 'nothing here'), i
         from n"
    ));
    home
}

fn found_by(home: &Home, query: &str, filter: SearchFilter) -> Vec<i64> {
    let request = SearchRequest { filter, limit: 100, neighbours: 0, ..SearchRequest::new(query) };
    let mut found = ids(&home.store.search(&request).unwrap());
    found.sort_unstable();
    found
}

#[test]
fn newer_matches_outside_the_filter_never_hide_older_ones_inside() {
    for (older, newer) in [(8_000, 12_000), (12_000, 8_000)] {
        let home = zebras(older, newer);
        let of = |change: &dyn Fn(&mut SearchFilter)| {
            let mut filter = SearchFilter::default();
            change(&mut filter);
            for query in ["zebra", "zebras unicorn", "\"a zebra\"", "zebra AND here"] {
                assert_eq!(
                    found_by(&home, query, filter.clone()),
                    [7, 900, 1100],
                    "{query} {filter:?}"
                );
            }
        };
        of(&|filter| filter.user = Some("alice".into()));
        of(&|filter| filter.source = Some("cli".into()));
        of(&|filter| filter.session = home.store.find("a").ok());
        of(&|filter| filter.roles = vec!["user".into()]);
        of(&|filter| filter.until = Timestamp::from_second(older + 1).ok());
        home.sql(&format!("update messages set active = 0 where id > {older}"));
        of(&|_| {});
    }
}

#[test]
fn older_matches_outside_the_filter_change_nothing_either() {
    let home = zebras(9_000, 3_000);
    home.sql("update messages set content = 'a zebra' where id <= 9000");
    home.sql("update messages set content = 'none' where id > 9003");
    let since = Timestamp::from_second(9_001).ok();
    let found = found_by(&home, "zebra", SearchFilter { since, ..SearchFilter::default() });
    assert_eq!(found, [9001, 9002, 9003]);
}

#[test]
fn what_is_common_elsewhere_is_rare_for_the_asker() {
    let home = zebras(8_000, 12_000);
    let mut request = SearchRequest::new("zebra nothing");
    request.filter.user = Some("alice".into());
    let answer = home.store.search(&request).unwrap();
    assert_eq!(ids(&answer).len(), 3);
    assert_eq!(answer.too_common, ["nothing"]);
    request.query = "zebra unheard".to_owned();
    request.filter.until = Timestamp::from_second(7).ok();
    assert_eq!(home.store.search(&request).unwrap().not_found, ["zebra", "unheard"]);
}

#[test]
fn the_budget_is_filled_where_the_filter_takes_every_other_row() {
    let home = zebras(0, 12_000);
    home.sql("update messages set role = iif(id % 2 = 0, 'user', 'assistant')");
    home.sql("update messages set active = 0 where id % 3 = 0");
    for role in ["user", "assistant"] {
        let mut request = SearchRequest::new("zebra");
        request.filter.roles = vec![role.to_owned()];
        request.limit = 2_000;
        request.neighbours = 0;
        let results = home.store.search(&request).unwrap().results;
        assert!((1_400..=1_500).contains(&results.len()), "{}", results.len());
        assert!(results.iter().all(|result| result.role.as_deref() == Some(role)));
    }
}

/// One made-up message: its user, source, role and state by number, and whether it has the word.
type Row = (u8, u8, u8, u8, bool);

/// Runs of messages alike, so that some filters take a run and others a bit of each.
fn runs() -> impl Strategy<Value = Vec<(Row, u16)>> {
    let row = (0..3u8, 0..2u8, 0..3u8, 0..4u8, prop::bool::weighted(0.3));
    prop::collection::vec((row, prop_oneof![1..20u16, 100..900u16]), 20..40)
}

const USERS: [&str; 3] = ["alice", "bob", "carol"];
const SOURCES: [&str; 2] = ["cli", "telegram"];
const ROLES: [&str; 3] = ["user", "assistant", "tool"];

fn store_of(runs: &[(Row, u16)]) -> Home {
    let home = Home::new();
    let mut sql = String::from("begin;");
    for (user, source) in (0..3).flat_map(|user| (0..2).map(move |source| (user, source))) {
        let _ = write!(
            sql,
            "insert into sessions (id, source, user_id, started_at)
             values ('{user}{source}', '{}', '{}', 1);",
            SOURCES[source], USERS[user]
        );
    }
    let mut time = 0;
    for ((user, source, role, state, has_word), count) in runs {
        let word = if *has_word { "zebra" } else { "none" };
        // Even where a run has not the word, a few of it may.
        let _ = write!(
            sql,
            "with recursive n(i) as (select 1 union all select i + 1 from n where i < {count})
             insert into messages (session_id, role, content, timestamp, active, compacted)
             select '{user}{source}', '{}', iif(i % 211 = 3, 'a zebra', '{word}'), {time} + i,
                    {}, {} from n;",
            ROLES[usize::from(*role)],
            u8::from(*state < 2),
            u8::from(*state == 2)
        );
        time += i64::from(*count);
    }
    home.sql(&format!("{sql} commit;"));
    home
}

fn any_filter() -> impl Strategy<Value = SearchFilter> {
    let user = prop::option::of((prop::sample::select(USERS.to_vec()), any::<bool>()));
    let source = prop::option::of(prop::sample::select(SOURCES.map(str::to_owned).to_vec()));
    let roles = prop::sample::subsequence(ROLES.map(str::to_owned).to_vec(), 0..3);
    let time = || {
        prop::option::weighted(0.3, (1i64..9_000).prop_map(|s| Timestamp::from_second(s).unwrap()))
    };
    (user, source, roles, (time(), time()), any::<bool>()).prop_map(
        |(user, source, roles, (since, until), include_rewound)| SearchFilter {
            user: user.map(|(user, others)| match others {
                true => Whose::everybody_but().and(user),
                false => Whose::named(user),
            }),
            source,
            roles,
            since,
            until,
            include_rewound,
            session: None,
        },
    )
}

/// The ids that have the word and pass the filter, told without any search.
fn expected(runs: &[(Row, u16)], filter: &SearchFilter) -> Vec<i64> {
    let mut id = 0;
    let mut ids = Vec::new();
    for ((user, source, role, state, has_word), count) in runs {
        for number in 1..=*count {
            id += 1;
            let time = Timestamp::from_second(id).unwrap();
            let passes =
                filter.user.as_ref().is_none_or(|u| {
                    u.has(SOURCES[usize::from(*source)], Some(USERS[usize::from(*user)]))
                }) && filter.source.as_deref().is_none_or(|s| s == SOURCES[usize::from(*source)])
                    && (filter.roles.is_empty()
                        || filter.roles.iter().any(|r| r == ROLES[usize::from(*role)]))
                    && filter.since.is_none_or(|since| time >= since)
                    && filter.until.is_none_or(|until| time < until)
                    && (filter.include_rewound || *state < 3);
            if passes && (*has_word || number % 211 == 3) {
                ids.push(id);
            }
        }
    }
    ids
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 40, ..ProptestConfig::with_cases(24) })]
    #[test]
    fn every_match_inside_the_filter_is_found_and_nothing_else(
        runs in runs(), filters in prop::collection::vec(any_filter(), 12)
    ) {
        let home = store_of(&runs);
        for filter in filters {
            let expected = expected(&runs, &filter);
            let mut request = SearchRequest::new("zebra");
            request.filter = filter.clone();
            request.limit = 1_300;
            request.neighbours = 0;
            let mut found = ids(&home.store.search(&request).unwrap());
            found.sort_unstable();
            if expected.len() <= 1_300 {
                prop_assert_eq!(found, expected, "{:?}", filter);
            } else {
                prop_assert_eq!(found.len(), 1_300);
                prop_assert!(found.iter().all(|id| expected.binary_search(id).is_ok()));
            }
        }
    }
}
