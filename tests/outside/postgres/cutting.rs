//! A connection that is cut after any byte: always a clear error, never a hang, and a retry that does nothing twice.

use std::time::{Duration, Instant};

use hermes_store::postgres::{Delays, Pool, PoolSettings, ServerError, retried};
use hermes_store::{Error, Result};

use crate::pg_server::proxy::Proxy;
use crate::pg_server::{self, Flavour};
use crate::support::pool_with;

/// How long any one attempt may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// Notes a key, once, whatever happens on the way.
fn note(pool: &Pool, key: i64) -> Result<()> {
    let mut client = pool.get()?;
    let done = (|| {
        let mut transaction = client.transaction()?;
        let insert = "insert into noted (key) values ($1) on conflict do nothing";
        transaction.execute_typed(insert, &[(&key, postgres::types::Type::INT8)])?;
        transaction
            .execute_typed("update counted set times = (select count(*) from noted)", &[])?;
        transaction.commit()
    })();
    done.map_err(|error| client.refused(&error))
}

fn is_clear(error: &Error) -> bool {
    let clear = matches!(
        error,
        Error::Server(ServerError::Unreachable { .. } | ServerError::ConnectionCut { .. })
    );
    clear && error.is_retriable()
}

#[test]
fn a_cut_after_any_byte_is_a_clear_error_and_a_retry_does_nothing_twice() {
    for parameters in ["sslmode=disable", "sslmode=require"] {
        cut_everywhere(parameters);
    }
}

fn cut_everywhere(parameters: &str) {
    let server = pg_server::shared(Flavour::Plain);
    let url = server.fresh_database();
    let database = url.rsplit('/').next().unwrap();
    server.sql(database, "create table noted (key bigint primary key); create table counted (times bigint); insert into counted values (0)");
    let proxy = Proxy::to(server.port());
    let through =
        server.tcp_url(database).replace(&server.port().to_string(), &proxy.port().to_string());
    let through = format!("{through}?{parameters}&connect_timeout=15");
    let settings = PoolSettings { size: 1, ..PoolSettings::default() };
    note(&pool_with(&through, settings), 0).unwrap();
    let whole = proxy.passed();
    // Every byte in the full run; else steps that meet every message.
    let step = if pg_server::is_full() { 1 } else { 37 };
    let mut key = 0;
    for bytes in (0..whole).step_by(step) {
        key += 1;
        let pool = pool_with(&through, settings);
        proxy.cut_after(bytes);
        let asked = Instant::now();
        let first = note(&pool, key);
        assert!(asked.elapsed() < PATIENCE, "cut after {bytes} bytes: {:?}", asked.elapsed());
        if let Err(error) = &first {
            let is_handshake = parameters.ends_with("require")
                && matches!(error, Error::Server(ServerError::TlsRefused { .. }));
            assert!(is_clear(error) || is_handshake, "cut after {bytes} bytes: {error:?}");
        }
        proxy.heal();
        retried(Delays::usual(key.unsigned_abs()), &mut std::thread::sleep, &mut || {
            note(&pool, key)
        })
        .unwrap();
    }
    let counted = server
        .sql(database, "select (select count(*) from noted) || ' ' || (select times from counted)");
    assert_eq!(counted.trim(), format!("{0} {0}", key + 1));
}

#[test]
fn a_server_that_comes_back_is_found_by_the_retry() {
    let mut server = pg_server::start(Flavour::Plain);
    let url = server.url("postgres");
    let pool = pool_with(&url, PoolSettings::default());
    drop(pool.get().unwrap());
    server.halt();
    let mut waits = 0;
    let ask = &mut || {
        let mut client = pool.get()?;
        client.batch_execute("select 1").map_err(|error| client.refused(&error))
    };
    let done = retried(
        Delays::usual(3),
        &mut |_| {
            waits += 1;
            if waits == 2 {
                server.resume();
            }
        },
        ask,
    );
    assert!(done.is_ok(), "{done:?}");
    assert!(waits >= 2);
}
