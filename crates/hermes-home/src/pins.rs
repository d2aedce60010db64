//! Which sessions are pinned, in a file of our own: the tables of other programs have no place for it.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use serde::{Deserialize, Serialize};

use crate::atomic;
use crate::error::{Error, Result};
use crate::layout::Home;

#[derive(Debug, Default, Serialize, Deserialize)]
struct Pins {
    sessions: BTreeSet<String>,
}

/// The ids of the pinned sessions.
pub fn read(home: &Home) -> Result<BTreeSet<String>> {
    let path = home.pins();
    match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeSet::new()),
        Err(error) => Err(Error::read(&path, error)),
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(|pins: Pins| pins.sessions)
            .map_err(|error| Error::read(&path, error.into())),
    }
}

/// Pins or unpins a session; returns whether that changed anything.
pub fn set(home: &Home, session: &str, pinned: bool) -> Result<bool> {
    let _lock = crate::lock::hold(&home.pins())?;
    let mut sessions = read(home)?;
    let changed =
        if pinned { sessions.insert(session.to_owned()) } else { sessions.remove(session) };
    if changed {
        write(home, sessions)?;
    }
    Ok(changed)
}

fn write(home: &Home, sessions: BTreeSet<String>) -> Result<()> {
    let path = home.pins();
    let text = serde_json::to_string_pretty(&Pins { sessions })
        .map_err(|error| Error::write(&path, error.into()))?;
    atomic::write(&path, format!("{text}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Env;
    use crate::layout::Wanted;

    #[test]
    fn a_pin_is_kept_until_it_is_taken_off() {
        let root = tempfile::tempdir().unwrap();
        let wanted = Wanted { home: Some(root.path().to_owned()), profile: None };
        let home = Home::locate(&wanted, &Env::default()).unwrap();
        assert!(set(&home, "a", true).unwrap());
        assert!(!set(&home, "a", true).unwrap());
        assert_eq!(read(&home).unwrap(), BTreeSet::from(["a".to_owned()]));
        assert!(set(&home, "a", false).unwrap());
        assert!(read(&home).unwrap().is_empty());
    }
}
