//! Who is let in, and what is said to who is not.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use hermes_store::postgres::ServerError;
use hermes_store::{Error, ErrorKind};

use crate::pg_server::{self, Flavour, free_port};
use crate::support::{asked, pool, refusal};

#[test]
fn both_servers_answer_by_socket_and_by_tcp_with_a_password() {
    for flavour in [Flavour::Plain, Flavour::Vector] {
        let server = pg_server::shared(flavour);
        for url in [server.url("postgres"), server.tcp_url("postgres")] {
            let mut client = pool(&url).get().unwrap();
            assert_eq!(asked(&mut client, "select current_user::text").unwrap(), "postgres");
            let name = asked(&mut client, "select current_setting('application_name')").unwrap();
            assert_eq!(name, "hermes/0.1.0/default");
        }
    }
}

#[test]
fn a_wrong_or_missing_password_is_said_without_repeating_it() {
    let server = pg_server::shared(Flavour::Plain);
    for who in ["postgres:hunter2", "postgres", "stranger:hunter2"] {
        let error = refusal(&format!("postgres://{who}@127.0.0.1:{}/postgres", server.port()));
        assert!(matches!(error, ServerError::WrongPassword { .. }), "{who}: {error}");
        assert_eq!(error.kind(), ErrorKind::Unauthorized);
        let shown = format!("{error} {error:?} {:?}", error.hint());
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(!error.is_retriable());
    }
}

#[test]
fn a_database_that_is_not_there_is_named() {
    let server = pg_server::shared(Flavour::Plain);
    let error = refusal(&server.url("nowhere"));
    assert!(error.to_string().ends_with("there is no database nowhere"), "{error}");
    assert_eq!(error.hint().unwrap(), "create it on the server: `createdb nowhere`");
    assert_eq!(error.kind(), ErrorKind::Missing);
}

#[test]
fn missing_rights_are_said_in_the_servers_words() {
    let server = pg_server::shared(Flavour::Plain);
    server.sql("postgres", "create role guest login; create table kept (id bigint)");
    let url = server.url("postgres").replace("postgres@", "guest@");
    let mut client = pool(&url).get().unwrap();
    let error = asked(&mut client, "select max(id)::text from kept").unwrap_err();
    assert!(matches!(error, Error::Server(ServerError::NoRights { .. })), "{error}");
    assert!(error.to_string().ends_with("permission denied for table kept"), "{error}");
    assert!(error.hint().unwrap().contains("hermes db migrate --print-sql"));
}

#[test]
fn nobody_there_is_unreachable() {
    let closed = free_port();
    for place in
        [format!("127.0.0.1:{closed}"), "%2Fnowhere:5432".to_owned(), "name.invalid".to_owned()]
    {
        let error = refusal(&format!("postgres://u@{place}/x?sslmode=disable"));
        assert!(matches!(error, ServerError::Unreachable { .. }), "{place}: {error}");
        assert!(error.is_retriable());
    }
}

#[test]
fn a_server_that_takes_the_call_and_says_nothing_is_left_in_time() {
    let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = silent.local_addr().unwrap().port();
    let asked = Instant::now();
    let error =
        refusal(&format!("postgres://u@127.0.0.1:{port}/x?connect_timeout=1&sslmode=disable"));
    assert!(error.to_string().ends_with("it did not respond within 1 s"), "{error}");
    assert!(asked.elapsed() < Duration::from_secs(10));
}

#[test]
fn the_next_host_is_asked_when_the_first_is_away() {
    let server = pg_server::shared(Flavour::Plain);
    let closed = free_port();
    let good = server.tcp_url("postgres");
    let url = good.replace("127.0.0.1:", &format!("127.0.0.1:{closed},127.0.0.1:"));
    let mut client = pool(&url).get().unwrap();
    assert_eq!(asked(&mut client, "select 'here'").unwrap(), "here");
}

#[test]
fn what_the_address_says_of_a_session_holds_in_it() {
    let server = pg_server::shared(Flavour::Plain);
    let cases = [
        ("statement_timeout=200ms", "statement_timeout", "200ms"),
        ("options=-c%20statement_timeout%3D200ms", "statement_timeout", "200ms"),
        ("options=-c%20work_mem%3D5MB&statement_timeout=200ms", "work_mem", "5MB"),
        ("idle_in_transaction_session_timeout=7s", "idle_in_transaction_session_timeout", "7s"),
    ];
    for (parameters, setting, wanted) in cases {
        let mut client = pool(&format!("{}?{parameters}", server.url("postgres"))).get().unwrap();
        let show = format!("select current_setting('{setting}')");
        assert_eq!(asked(&mut client, &show).unwrap(), wanted, "{parameters}");
        if parameters.contains("statement") {
            let error = asked(&mut client, "select pg_sleep(20)::text").unwrap_err();
            let is_slow = matches!(error, Error::Server(ServerError::StatementTooSlow { .. }));
            assert!(is_slow && !error.is_retriable(), "{error}");
        }
    }
}
