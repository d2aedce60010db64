//! What a look at the settings finds.

use std::fmt;

use serde::Serialize;

/// One thing that is wrong, doubtful or worth knowing about a setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// The setting, as it was typed.
    pub key: Option<String>,
    /// Its line in the config file, when it comes from there.
    pub line: Option<usize>,
    /// What was found; never the value of a secret.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Whether it says only that there is no such setting: whoever must go on can go on without it.
    #[serde(skip)]
    pub is_unknown_key: bool,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know.
    Note,
    /// Probably not what was meant.
    Warning,
    /// The settings cannot be used like this.
    Error,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(formatter, "line {line}: ")?;
        }
        formatter.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(formatter, " ({hint})"),
            None => Ok(()),
        }
    }
}
