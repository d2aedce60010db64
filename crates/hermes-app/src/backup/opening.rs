//! What opens an encrypted backup: what was given, else the passphrase of the settings, else a person is asked.

use std::path::PathBuf;

use hermes_backup::Error;
use hermes_backup::seal::{Keys, Passphrase};

use super::wanted::Wanted;
use crate::app::App;

/// Asks a person for a passphrase.
pub type Ask = dyn Fn(&str) -> anyhow::Result<Passphrase> + Sync;

/// What somebody has to open a backup with.
#[derive(Default)]
pub struct Opening<'a> {
    /// Files with private keys.
    pub identity: Vec<PathBuf>,
    /// A passphrase.
    pub passphrase: Option<Passphrase>,
    /// Asks a person for a passphrase, where somebody can be asked; it is told what the backup is encrypted to.
    pub ask: Option<&'a Ask>,
}

impl Opening<'_> {
    /// Does what needs keys.
    pub fn with<T>(
        &self,
        app: &App,
        wanted: &Wanted,
        mut deed: impl FnMut(&Keys) -> hermes_backup::Result<T>,
    ) -> anyhow::Result<T> {
        let passphrase = match &self.passphrase {
            Some(given) => Some(given.clone()),
            None if self.identity.is_empty() => wanted.passphrase(app)?,
            None => None,
        };
        let is_given = passphrase.is_some();
        let keys = Keys::read(&self.identity, passphrase)?;
        match (deed(&keys), self.ask) {
            (Err(Error::NoKey { to, .. }), Some(ask)) if !is_given => {
                Ok(deed(&Keys::read(&self.identity, Some(ask(&to)?))?)?)
            }
            (done, _) => Ok(done?),
        }
    }
}
