//! Users and profiles never see each other: asked through the store, and past it as the role the daemons use.

use hermes_store::memory::{Scope, UserNumber};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use crate::operations::{Changer, Operation, operation};
use crate::pg_server::{self, Flavour};
use crate::place::{self, Place};
use crate::reads::all_reads;
use crate::support::{alice, by, fact};

const PROFILES: i64 = 5;
const USERS: i64 = 50;

/// Reading everything as one user is about four hundred reads; all of them are a hundred thousand.
fn readers() -> usize {
    if std::env::var("HERMES_TEST_FULL").as_deref() == Ok("1") { 50 } else { 6 }
}

/// In each profile only a fifth of the users say something, so that a word of anybody else is foreign.
#[test]
fn no_answer_holds_a_word_of_another_user_or_profile() {
    for flavour in [Flavour::Plain, Flavour::Vector] {
        let mut runner = TestRunner::deterministic();
        let places: Vec<Place> = (0..PROFILES).map(|_| Place::on(flavour)).collect();
        for (profile, place) in (0..).zip(&places) {
            let said = prop::collection::vec(operation(USERS), 300..301);
            let said: Vec<Operation> = said.new_tree(&mut runner).unwrap().current();
            fill(place, profile, &said);
        }
        for (profile, place) in (0..).zip(&places) {
            let own = canaries_read(place, profile);
            assert!(own > 5, "only {own} canaries of profile {profile} were read by their owners");
        }
    }
}

fn fill(place: &Place, profile: i64, said: &[Operation]) {
    let mut memory = place.write();
    for number in 2..=USERS {
        memory.user_or_new(&format!("user{number}"), by("user", 0)).unwrap();
    }
    let mut changer = Changer::with_canaries();
    let here = said.iter().filter(|operation| operation.user % PROFILES == profile);
    for (minute, operation) in (10..).zip(here) {
        changer.apply(&mut memory, operation, minute);
    }
}

fn canaries_read(place: &Place, profile: i64) -> usize {
    let memory = place.read();
    let mut own = 0;
    // Those who spoke here first, then those who did not.
    let mut users: Vec<i64> = (1..=USERS).collect();
    users.sort_by_key(|user| user % PROFILES != profile);
    let strangers = users.split_off(users.len() / 5);
    let half = readers().div_ceil(2).max(readers().saturating_sub(strangers.len()));
    let users = users.into_iter().take(half).chain(strangers.into_iter().take(readers() - half));
    for user in users {
        for line in all_reads(&memory, Scope::of(UserNumber::new(user)), 410) {
            let words = line.split(|letter: char| !letter.is_alphanumeric());
            for word in words.filter_map(|word| word.strip_prefix("canary")) {
                assert_eq!(word, user.to_string(), "user {user} of {profile} reads: {line}");
                assert_eq!(user % PROFILES, profile, "{line}");
                own += 1;
            }
        }
    }
    own
}

/// Every table with the rows of a profile in it.
const TABLES: &str = "select relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'hermes' and relkind = 'r' and relname not in ('migration', 'member') order by 1";

#[test]
fn past_the_store_nothing_is_seen_without_saying_who_asks() {
    let (here, there) = (Place::new(), Place::new());
    for place in [&here, &there] {
        let mut memory = place.write();
        let bob = Scope::of(memory.user_or_new("bob", by("user", 1)).unwrap());
        memory.add_fact(alice(), &fact("The harbor is north."), by("user", 2)).unwrap();
        memory.add_fact(bob, &fact("The copper is mine."), by("user", 3)).unwrap();
    }
    let server = pg_server::shared(Flavour::Plain);
    let url = place::database(Flavour::Plain);
    let database = url.rsplit('/').next().unwrap();
    let ask = |settings: &str, statement: &str| {
        let told = format!("begin; {settings} {statement}; rollback");
        let arguments = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", place::ROLE];
        pg_server::run(server.program("psql").args(arguments).args(["-d", database, "-c", &told]))
    };
    let tables = server.sql(database, TABLES);
    assert!(tables.lines().count() > 40, "{tables}");
    for table in tables.lines() {
        let all = server.sql(database, &format!("select count(*) from hermes.\"{table}\""));
        let seen = ask("", &format!("select count(*) from hermes.\"{table}\""));
        assert_eq!(seen.trim(), "0", "{table} with {} rows", all.trim());
    }
    let number = |place: &Place| {
        let name = place.profile();
        let sql = format!("select profile from hermes.profile where name = '{name}'");
        server.sql(database, &sql).trim().to_owned()
    };
    let facts = "select coalesce(string_agg(user_id || ' ' || statement, ',' order by id), '') from hermes.fact";
    let as_user = |place: &Place, user: &str| {
        format!(
            "set local hermes.profile = '{}'; set local hermes.\"user\" = '{user}';",
            number(place)
        )
    };
    assert_eq!(ask(&as_user(&here, "1"), facts).trim(), "1 The harbor is north.");
    assert_eq!(ask(&as_user(&here, "7"), facts).trim(), "");
    assert_eq!(ask(&as_user(&here, "drop"), facts).trim(), "");
    assert_eq!(
        ask(&as_user(&there, "*"), facts).trim(),
        "1 The harbor is north.,2 The copper is mine."
    );
    // Nor can a row be put where another would read it.
    let moved = ask(
        &as_user(&here, "1"),
        "update hermes.fact set pinned = 1 where user_id = 2 returning 1",
    );
    assert_eq!(moved.trim(), "");
    let into = format!(
        "begin; {} insert into hermes.label (profile, text) values ({}, 'x'); rollback",
        as_user(&here, "1"),
        number(&there)
    );
    let refused = server
        .program("psql")
        .args(["-X", "-U", place::ROLE, "-d", database, "-v", "ON_ERROR_STOP=1", "-c", &into])
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("row-level security"), "{refused:?}");
}
