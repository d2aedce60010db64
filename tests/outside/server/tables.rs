//! The tables on a server: made once by whoever comes first, refused when they are of another version.

use hermes_store::memory::{Memory, NewFact, migrate_server, server_sql, server_state};
use hermes_store::postgres::ServerError;
use hermes_store::{Error, memory};

use crate::pg_server::{self, Flavour};
use crate::place::{KNOWN, Place, ROLE, as_role, pool};
use crate::support::{alice, by, fact};

fn refused(place: &Place) -> ServerError {
    match place.open(hermes_store::sqlite::Access::Write) {
        Err(Error::Server(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn many_who_start_together_in_an_empty_database_make_one_set_of_tables() {
    let server = pg_server::shared(Flavour::Plain);
    let url = server.fresh_database();
    let opened: Vec<Memory> = std::thread::scope(|scope| {
        let all: Vec<_> =
            (0..8).map(|_| scope.spawn(|| Place::beside(&url, "default").write())).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(opened.len(), 8);
    let database = url.rsplit('/').next().unwrap();
    let count = |table: &str| server.sql(database, &format!("select count(*) from hermes.{table}"));
    assert_eq!(count("migration").trim(), KNOWN.to_string());
    assert_eq!(count("profile").trim(), "1");
    assert_eq!(count("\"user\"").trim(), "2");
}

#[test]
fn tables_of_another_version_are_refused_and_say_what_to_do() {
    let server = pg_server::shared(Flavour::Plain);
    let url = server.fresh_database();
    let database = url.rsplit('/').next().unwrap();
    let place = Place::beside(&url, "default");
    place.write();
    server.sql(database, "insert into hermes.migration (number, checksum) values (99, '')");
    assert!(matches!(refused(&place), ServerError::NewerSchema { found: 99, .. }));
    assert!(migrate_server(&pool(&url)).is_err());
    server.sql(database, "delete from hermes.migration");
    assert!(refused(&place).hint().is_some_and(|hint| hint.contains("hermes db migrate")));
}

#[test]
fn tables_that_are_migrated_while_a_memory_is_open_are_written_no_more() {
    let server = pg_server::shared(Flavour::Plain);
    let url = server.fresh_database();
    let database = url.rsplit('/').next().unwrap();
    let mut memory = Place::beside(&url, "default").write();
    memory.add_fact(alice(), &fact("tea is hot"), by("user", 1)).unwrap();
    for number in [99, 0] {
        if number == 0 {
            server.sql(database, "delete from hermes.migration");
        }
        let note = format!("insert into hermes.migration (number, checksum) values ({number}, '')");
        server.sql(database, &note);
        let refused = memory.add_fact(alice(), &fact("tea is cold"), by("user", 2)).unwrap_err();
        let Error::Server(refused) = refused else { panic!("{refused}") };
        match number {
            0 => assert!(matches!(refused, ServerError::OlderSchema { found: 0, .. }), "{refused}"),
            _ => {
                assert!(matches!(refused, ServerError::NewerSchema { found: 99, .. }), "{refused}")
            }
        }
        assert_eq!(server.sql(database, "select count(*) from hermes.fact").trim(), "1");
    }
    server.sql(database, &format!("update hermes.migration set number = {KNOWN}"));
    memory.add_fact(alice(), &fact("tea is cold"), by("user", 2)).unwrap();
}

/// Waits until a condition on the server holds.
fn until(server: &pg_server::Server, database: &str, condition: &str) {
    let begun = std::time::Instant::now();
    while server.sql(database, &format!("select {condition}")).trim() != "t" {
        assert!(begun.elapsed() < std::time::Duration::from_secs(60), "never: {condition}");
    }
}

#[test]
fn whoever_writes_is_waited_for_by_a_migration_and_waits_for_one() {
    let server = pg_server::shared(Flavour::Plain);
    let url = server.fresh_database();
    let database = url.rsplit('/').next().unwrap();
    let mut memory = Place::beside(&url, "default").write();
    let waits = |lock: &str| {
        let condition = format!(
            "exists (select 1 from pg_locks l join pg_stat_activity a using (pid) where not l.granted \
             and l.locktype = 'advisory' and a.datname = '{database}' and a.query like '%{lock}(%' \
             and clock_timestamp() - a.query_start > interval '300 ms')"
        );
        until(server, database, &condition);
    };
    let mut held = pool(&url).get().unwrap();
    // A transaction as a writer begins it.
    held.batch_execute("begin; select pg_advisory_xact_lock_shared(4839208417)").unwrap();
    std::thread::scope(|scope| {
        // It may take longer than the server lets a statement take.
        let hasty = format!("{url}?options=-c%20statement_timeout%3D100");
        let migrating = scope.spawn(move || migrate_server(&pool(&hasty)));
        waits("pg_advisory_xact_lock");
        held.batch_execute("commit").unwrap();
        assert_eq!(migrating.join().unwrap().unwrap(), 0);
    });
    // One as a migration begins it.
    held.batch_execute("begin; select pg_advisory_xact_lock(4839208417)").unwrap();
    std::thread::scope(|scope| {
        let writing =
            scope.spawn(move || memory.add_fact(alice(), &fact("tea is hot"), by("user", 1)));
        waits("pg_advisory_xact_lock_shared");
        held.batch_execute(
            "insert into hermes.migration (number, checksum) values (99, ''); commit",
        )
        .unwrap();
        let refused = writing.join().unwrap().unwrap_err();
        assert!(
            matches!(refused, Error::Server(ServerError::NewerSchema { found: 99, .. })),
            "what was migrated meanwhile is seen: {refused}"
        );
    });
}

#[test]
fn a_role_without_rights_is_told_so_and_the_printed_statements_give_them() {
    let server = pg_server::start(Flavour::Plain);
    let url = server.fresh_database();
    let database = url.rsplit('/').next().unwrap();
    server.sql(database, &format!("create role {ROLE} login"));
    let place = Place::beside(&as_role(&url), "default");
    assert!(matches!(refused(&place), ServerError::NoRights { .. }));
    server.sql(database, &server_sql(&pool(&url), 0, Some(ROLE)).unwrap());
    place.write();
    let state = server_state(&pool(&as_role(&url))).unwrap();
    assert_eq!((state.schema, state.known_schema, state.pgvector), (KNOWN, KNOWN, None));
    assert!(!state.passes_rules && !state.owns_tables, "{}", state.user);
    assert_eq!(state.user, ROLE);
    let above = memory::server_state(&pool(&url)).unwrap();
    assert!(above.passes_rules && above.owns_tables);
    assert!(above.version.starts_with("15."), "{}", above.version);
}

#[test]
fn a_server_with_pgvector_is_known_as_one() {
    let server = pg_server::shared(Flavour::Vector);
    let url = server.fresh_database();
    server.sql(url.rsplit('/').next().unwrap(), "create extension vector");
    let state = server_state(&pool(&url)).unwrap();
    assert!(state.pgvector.is_some(), "{state:?}");
    assert_eq!(state.schema, 0);
}

#[test]
fn the_owner_of_a_database_needs_no_other_right_to_make_the_tables_and_to_use_them() {
    let server = pg_server::start(Flavour::Plain);
    let url = server.fresh_database();
    let database = url.rsplit('/').next().unwrap();
    server.sql(
        database,
        &format!("create role {ROLE} login; alter database {database} owner to {ROLE}"),
    );
    let place = Place::beside(&as_role(&url), "default");
    let mut memory = place.write();
    for name in ["Anna", "Ben"] {
        let said = format!("{name} lives in Oslo");
        let entities = [name.to_owned()];
        memory
            .add_fact(alice(), &NewFact { entities: &entities, ..fact(&said) }, by("user", 1))
            .unwrap();
    }
    assert_eq!(server.sql(database, "select count(*) from hermes.entity").trim(), "2");
    let state = server_state(&pool(&as_role(&url))).unwrap();
    assert!(state.owns_tables && !state.passes_rules, "{}", state.user);
}
