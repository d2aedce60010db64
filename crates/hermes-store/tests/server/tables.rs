//! The tables on a server: made once by whoever comes first, refused when they are of another version.

use hermes_store::memory::{
    Facts as _, NewFact, SqliteMemory, migrate_server, server_sql, server_state,
};
use hermes_store::postgres::ServerError;
use hermes_store::{Error, memory};

use crate::pg_server::{self, Flavour};
use crate::place::{Place, ROLE, as_role, pool};
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
    let opened: Vec<SqliteMemory> = std::thread::scope(|scope| {
        let all: Vec<_> =
            (0..8).map(|_| scope.spawn(|| Place::beside(&url, "default").write())).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(opened.len(), 8);
    let database = url.rsplit('/').next().unwrap();
    let count = |table: &str| server.sql(database, &format!("select count(*) from hermes.{table}"));
    assert_eq!(count("migration").trim(), "1");
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
fn a_role_without_rights_is_told_so_and_the_printed_statements_give_them() {
    let server = pg_server::start(Flavour::Plain);
    let url = server.fresh_database();
    let database = url.rsplit('/').next().unwrap();
    server.sql(database, &format!("create role {ROLE} login"));
    let place = Place::beside(&as_role(&url), "default");
    assert!(matches!(refused(&place), ServerError::NoRights { .. }));
    server.sql(database, &server_sql(0, Some(ROLE)));
    place.write();
    let state = server_state(&pool(&as_role(&url))).unwrap();
    assert_eq!((state.schema, state.known_schema, state.pgvector), (1, 1, None));
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
