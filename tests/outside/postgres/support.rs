//! What the tests share: addresses, pools, questions.

use hermes_store::postgres::{Address, Pool, PoolSettings, Pooled, ServerError, Surroundings};
use hermes_store::{Error, Result};

/// What a connection string means for somebody without variables and files.
pub(crate) fn address(text: &str) -> Address {
    let around = Surroundings {
        variable: &|_| None,
        home: None,
        user: "nobody",
        application: "hermes/0.1.0/default",
        ssl_mode: None,
    };
    Address::parse(text, &around).unwrap()
}

pub(crate) fn pool(text: &str) -> Pool {
    pool_with(text, PoolSettings::default())
}

pub(crate) fn pool_with(text: &str, settings: PoolSettings) -> Pool {
    Pool::new(address(text), settings).unwrap()
}

/// Why there is no connection.
pub(crate) fn refusal(text: &str) -> ServerError {
    let refused = Pool::new(address(text), PoolSettings::default()).and_then(|pool| pool.get());
    match refused {
        Err(Error::Server(error)) => error,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("{text} was let in"),
    }
}

/// The one value that a statement answers, asked without leaving a name on the server.
pub(crate) fn asked(client: &mut Pooled, statement: &str) -> Result<String> {
    match client.query_typed(statement, &[]) {
        Ok(rows) => Ok(rows[0].get(0)),
        Err(error) => Err(client.refused(&error)),
    }
}
