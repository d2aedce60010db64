//! Drawing facts from what was recorded: once, from the user's words, and again after a kill.

use hermes_memory::Error;
use hermes_memory::ask::{Prompt, Reply};
use hermes_memory::chunk::Vectors;
use hermes_memory::extract::{self, Report, Settings};
use hermes_store::memory::{FactFilter, Memory, Scope};
use jiff::tz::TimeZone;

use crate::support::{change, line, memory, now, owner, record, record_as};

fn settings() -> Settings<'static> {
    Settings {
        now: now(),
        zone_of: &|_| TimeZone::UTC,
        idle_since: now(),
        limit: 100,
        vectors: Vectors::Now,
        imported_with_model: true,
        remember: None,
    }
}

fn draw(memory: &mut Memory) -> Report {
    extract::run(memory, &settings(), None).unwrap()
}

fn statements(memory: &Memory) -> Vec<String> {
    let facts = memory.list_facts(owner(), &FactFilter::default(), now()).unwrap();
    let mut statements: Vec<String> = facts.into_iter().map(|fact| fact.statement).collect();
    statements.sort();
    statements
}

#[test]
fn facts_come_from_the_users_words_and_only_once() {
    let (_folder, mut memory) = memory();
    record(
        &mut memory,
        &line(
            "a",
            "user",
            "2026-10-01",
            "I live in Lyon. Please remember that my dog is called Rex.",
        ),
    );
    record(&mut memory, &line("a", "assistant", "2026-10-01", "You live in Rome."));
    let report = draw(&mut memory);
    assert_eq!((report.episodes, report.facts), (1, 2), "{report:?}");
    assert!(statements(&memory).contains(&"User lives in Lyon".to_owned()));
    assert_eq!(draw(&mut memory).episodes, 0);
}

#[test]
fn a_move_takes_the_place_of_the_old_home() {
    let (_folder, mut memory) = memory();
    record(&mut memory, &line("a", "user", "2026-10-01", "I live in Lyon."));
    draw(&mut memory);
    record(&mut memory, &line("b", "user", "2026-10-05", "We moved to Porto."));
    assert_eq!(draw(&mut memory).superseded, 1);
    assert_eq!(statements(&memory), ["User lives in Porto (moved to Porto)"]);
}

#[test]
fn a_bad_answer_leaves_the_episode_waiting_and_a_good_one_is_kept() {
    let (_folder, mut memory) = memory();
    record(&mut memory, &line("a", "user", "2026-10-01", "I live in Lyon."));
    let mut garbage = |_: &Prompt| Ok(Reply { text: "Sorry".to_owned(), model: "m".to_owned() });
    let failed = extract::run(&mut memory, &settings(), Some(&mut garbage));
    assert!(matches!(failed, Err(Error::BadReply { .. })));
    assert!(statements(&memory).is_empty());
    let answer = r#"{"facts":[{"message":"m1","quote":"I live in Lyon","statement":"User lives in Lyon","kind":"identity"}],
        "events":[{"message":"m1","quote":"I live in Lyon","text":"User chose Lyon"}]}"#;
    let mut model = |_: &Prompt| Ok(Reply { text: answer.to_owned(), model: "m".to_owned() });
    let report = extract::run(&mut memory, &settings(), Some(&mut model)).unwrap();
    assert_eq!((report.facts, report.events, report.episodes, report.calls), (1, 1, 1, 1));
    assert_eq!(statements(&memory), ["User lives in Lyon"]);
}

#[test]
#[expect(clippy::print_stdout, reason = "the numbers of docs/SECURITY.md")]
fn no_call_of_a_model_reads_the_words_of_two_users() {
    const USERS: usize = 12;
    let (_folder, mut memory) = memory();
    let scopes: Vec<Scope> = (0..USERS)
        .map(|user| Scope::of(memory.user_or_new(&format!("user{user}"), change()).unwrap()))
        .collect();
    // Interleaved, and long enough that each user needs several calls.
    for round in 0..6 {
        for (user, scope) in scopes.iter().enumerate() {
            let text = format!("Canary{user}x says: {}", "a long story about a boat. ".repeat(200));
            let session = format!("talk{round}-{user}");
            record_as(&mut memory, *scope, &line(&session, "user", "2026-10-01", &text));
        }
    }
    let mut calls = 0;
    let mut mixed = 0;
    let mut model = |prompt: &Prompt| {
        let told = (0..USERS).filter(|user| prompt.user.contains(&format!("Canary{user}x")));
        calls += 1;
        mixed += usize::from(told.count() != 1);
        Ok(Reply { text: r#"{"facts":[]}"#.to_owned(), model: "m".to_owned() })
    };
    let report = extract::run(&mut memory, &settings(), Some(&mut model)).unwrap();
    println!("{calls} calls about {} episodes of {USERS} users, {mixed} mixed", report.episodes);
    assert_eq!((report.episodes, mixed), (72, 0));
    assert!(calls > USERS, "each user needs several calls: {calls}");
    assert_eq!(extract::run(&mut memory, &settings(), None).unwrap().episodes, 0);
}
