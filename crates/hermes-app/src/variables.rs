//! Variables that may be in the environment or in the `.env` of the home: keys and addresses.

use hermes_home::env::Env;
use hermes_home::secret::Secrets;
use hermes_home::{Home, Result};
use serde::Serialize;

/// Names a file of certificates that are trusted in the place of the built-in ones, as other programs know it.
pub const AUTHORITIES: &str = "SSL_CERT_FILE";

/// The environment, and behind it the home's `.env`.
pub struct Variables<'a> {
    env: &'a Env,
    secrets: Secrets,
}

/// Where a variable was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Place {
    /// The environment.
    #[serde(rename = "environment")]
    Environment,
    /// The `.env` of the home.
    #[serde(rename = ".env")]
    DotEnv,
}

impl<'a> Variables<'a> {
    /// The variables of a home.
    pub fn read(env: &'a Env, home: &Home) -> Result<Variables<'a>> {
        Ok(Variables { env, secrets: Secrets::read(home)? })
    }

    /// The value of a variable and where it was found; a blank one counts as not set.
    pub fn find(&self, name: &str) -> Option<(String, Place)> {
        let filled = |said: &str| Some(said.trim().to_owned()).filter(|said| !said.is_empty());
        let here = self.env.get(name).and_then(filled).map(|said| (said, Place::Environment));
        here.or_else(|| {
            let kept = self.secrets.get(name)?;
            filled(kept.reveal()).map(|said| (said, Place::DotEnv))
        })
    }

    /// The value of a variable.
    pub fn value(&self, name: &str) -> Option<String> {
        self.find(name).map(|(value, _)| value)
    }

    #[cfg(test)]
    pub(crate) fn of(env: &'a Env, dot_env: &str) -> Variables<'a> {
        Variables { env, secrets: Secrets::parse(dot_env) }
    }
}

impl Place {
    /// The place as people read it, after the name of the variable.
    pub fn shown(self) -> &'static str {
        match self {
            Place::Environment => "in the environment",
            Place::DotEnv => "in .env",
        }
    }
}
