//! How far a text can be trusted, and who changed what.

use jiff::Timestamp;

/// How far a text can be trusted; the numbers are in the file, higher is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// The output of tools, web pages, other people.
    Untrusted,
    /// What an agent or a model wrote.
    Agent,
    /// What the user said or typed.
    User,
}

impl Trust {
    /// The number that stands for it in the file.
    pub fn number(self) -> i64 {
        match self {
            Trust::Untrusted => 0,
            Trust::Agent => 1,
            Trust::User => 2,
        }
    }

    /// The trust with this number; what is unknown is not trusted.
    pub fn from_number(number: i64) -> Trust {
        match number {
            1 => Trust::Agent,
            2 => Trust::User,
            _ => Trust::Untrusted,
        }
    }
}

/// Who changes something, and when.
#[derive(Debug, Clone, Copy)]
pub struct Change<'a> {
    /// `user`, `agent`, or the name of a job.
    pub actor: &'a str,
    /// The time of the change.
    pub at: Timestamp,
}

impl Change<'_> {
    /// Whether a person made the change: what a person takes back stays so.
    pub fn is_by_a_person(&self) -> bool {
        self.actor == "user" || self.actor.starts_with("user:")
    }
}
