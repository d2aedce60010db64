//! The transcript of a home: state.db, opened for reading or for writing where that is allowed.

use std::time::Duration;

use hermes_home::Home;
use hermes_home::databases::{Database, Noted};
use hermes_store::rot::HighWater;
use hermes_store::sessions::SessionStore;
use hermes_store::sqlite::Access;
use hermes_store::{Error as StoreError, ErrorKind};

use crate::app::{App, keep_before_upgrade};
use crate::clock;

/// The sessions of a home, if it has any.
pub(crate) fn to_read(app: &App, home: &Home) -> anyhow::Result<Option<SessionStore>> {
    match SessionStore::open(&home.state_db(), Access::Read, app.lock_wait(home)?) {
        Ok(sessions) => Ok(Some(sessions)),
        Err(StoreError::Missing { .. }) => {
            Ok(app.refuse_lost(home, Database::State).map(|()| None)?)
        }
        Err(error) => Err(error.into()),
    }
}

/// The sessions of a home, opened to be written if they may be; none if it never had any.
pub(crate) fn to_write(home: &Home, wait: Duration) -> Result<Option<SessionStore>, StoreError> {
    let path = home.state_db();
    let open = |access| {
        let mut keep = |schema| keep_before_upgrade(home, &path, schema, clock::now());
        SessionStore::open_keeping(&path, access, wait, &mut keep)
    };
    match open(Access::Write).or_else(|error| match error.kind() {
        ErrorKind::Refused => open(Access::Read),
        _ => Err(error),
    }) {
        Ok(mut store) => {
            store.keep_mark(&HighWater::at(home.high_water()))?;
            Ok(Some(store))
        }
        Err(StoreError::Missing { path }) if Noted::read(home).has(Database::State) => {
            let advice = "`hermes doctor` names a backup that has it".to_owned();
            Err(StoreError::Lost { path, advice })
        }
        Err(StoreError::Missing { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
