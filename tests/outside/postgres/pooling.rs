//! Connections are kept, counted and replaced.

use std::thread;
use std::time::Duration;

use hermes_store::postgres::{PoolSettings, ServerError};
use hermes_store::{Error, ErrorKind};

use crate::pg_server::{self, Flavour};
use crate::support::{asked, pool, pool_with};

const ME: &str = "select pg_catalog.pg_backend_pid()::text";

fn small(size: usize) -> PoolSettings {
    PoolSettings { size, wait: Duration::from_millis(200), ..PoolSettings::default() }
}

#[test]
fn a_connection_is_used_again() {
    let server = pg_server::shared(Flavour::Plain);
    let pool = pool(&server.url("postgres"));
    let first = asked(&mut pool.get().unwrap(), ME).unwrap();
    assert_eq!(asked(&mut pool.get().unwrap(), ME).unwrap(), first);
    let (mut one, mut other) = (pool.get().unwrap(), pool.get().unwrap());
    assert_ne!(asked(&mut one, ME).unwrap(), asked(&mut other, ME).unwrap());
}

#[test]
fn when_all_are_lent_one_waits_and_then_is_told() {
    let server = pg_server::shared(Flavour::Plain);
    let pool = pool_with(&server.url("postgres"), small(2));
    let (one, other) = (pool.get().unwrap(), pool.get().unwrap());
    let Err(error) = pool.get() else { panic!("a third was lent") };
    assert!(matches!(error, Error::Server(ServerError::PoolExhausted { size: 2, .. })), "{error}");
    assert_eq!(error.kind(), ErrorKind::Locked);
    drop(one);
    assert!(pool.get().is_ok());
    drop(other);
    let waiting =
        pool_with(&server.url("postgres"), PoolSettings { size: 1, ..PoolSettings::default() });
    let lent = waiting.get().unwrap();
    let asking = thread::spawn({
        let waiting = waiting.clone();
        move || waiting.get().map(|_| ()).is_ok()
    });
    drop(lent);
    assert!(asking.join().unwrap());
}

#[test]
fn many_threads_share_a_few() {
    let server = pg_server::shared(Flavour::Plain);
    let pool =
        pool_with(&server.url("postgres"), PoolSettings { size: 3, ..PoolSettings::default() });
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let pool = pool.clone();
            thread::spawn(move || {
                (0..25).all(|_| asked(&mut pool.get().unwrap(), "select 'yes'").unwrap() == "yes")
            })
        })
        .collect();
    assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
}

#[test]
fn a_broken_one_is_thrown_away() {
    let server = pg_server::shared(Flavour::Plain);
    let pool = pool_with(&server.url("postgres"), small(1));
    let mut client = pool.get().unwrap();
    let gone = asked(&mut client, ME).unwrap();
    server.sql("postgres", &format!("select pg_terminate_backend({gone})"));
    let error = asked(&mut client, ME).unwrap_err();
    assert!(matches!(error, Error::Server(ServerError::ConnectionCut { .. })), "{error}");
    assert!(error.is_retriable());
    drop(client);
    assert_ne!(asked(&mut pool.get().unwrap(), ME).unwrap(), gone);
    let mut given_up = pool.get().unwrap();
    let left = asked(&mut given_up, ME).unwrap();
    given_up.give_up();
    drop(given_up);
    assert_ne!(asked(&mut pool.get().unwrap(), ME).unwrap(), left);
}

#[test]
fn one_that_lay_idle_is_looked_at_before_it_is_lent() {
    let mut server = pg_server::start(Flavour::Plain);
    let settings = PoolSettings { trusted_for: Duration::ZERO, ..small(1) };
    let pool = pool_with(&server.url("postgres"), settings);
    asked(&mut pool.get().unwrap(), ME).unwrap();
    server.halt();
    let Err(error) = pool.get() else { panic!("a dead one was lent") };
    assert!(matches!(error, Error::Server(ServerError::Unreachable { .. })), "{error}");
    server.resume();
    assert!(asked(&mut pool.get().unwrap(), ME).is_ok());
}

#[test]
fn an_old_one_is_replaced() {
    let server = pg_server::shared(Flavour::Plain);
    let settings = PoolSettings { lifetime: Duration::ZERO, ..small(1) };
    let pool = pool_with(&server.url("postgres"), settings);
    let first = asked(&mut pool.get().unwrap(), ME).unwrap();
    assert_ne!(asked(&mut pool.get().unwrap(), ME).unwrap(), first);
}

#[test]
fn a_panic_leaves_no_open_transaction_behind() {
    let server = pg_server::shared(Flavour::Plain);
    let pool = pool_with(&server.url("postgres"), small(1));
    let panicked = thread::spawn({
        let pool = pool.clone();
        move || {
            let mut client = pool.get().unwrap();
            client.batch_execute("begin; create table half_done (id bigint)").unwrap();
            panic!("on purpose");
        }
    });
    assert!(panicked.join().is_err());
    let there = "select coalesce(to_regclass('half_done')::text, 'gone')";
    assert_eq!(asked(&mut pool.get().unwrap(), there).unwrap(), "gone");
}

#[test]
fn who_sleeps_holds_no_connection() {
    let server = pg_server::shared(Flavour::Plain);
    let url = server.fresh_database();
    let pool = pool(&url);
    drop(pool.get().unwrap());
    pool.close_idle();
    let database = pool.address().database().to_owned();
    let count = format!("select count(*) from pg_stat_activity where datname = '{database}'");
    let asked_at = std::time::Instant::now();
    while server.sql("postgres", &count).trim() != "0" {
        assert!(asked_at.elapsed() < Duration::from_secs(120));
    }
    assert!(pool.get().is_ok());
}
