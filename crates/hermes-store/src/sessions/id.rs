//! The id of a session.

use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};

use jiff::Timestamp;

/// The id of a session; new ones read `YYYYMMDD_HHMMSS_` and six hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(transparent)]
pub struct SessionId(String);

impl SessionId {
    /// A new id from the time in UTC and three random bytes.
    pub fn new(now: Timestamp, random: [u8; 3]) -> SessionId {
        let [a, b, c] = random;
        SessionId(format!("{}_{a:02x}{b:02x}{c:02x}", now.strftime("%Y%m%d_%H%M%S")))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An id that was kept somewhere else; whether there is such a session shows when it is used.
impl From<String> for SessionId {
    fn from(id: String) -> SessionId {
        SessionId(id)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Three bytes for a new id, from the keys the system gives each hash map; not for secrets.
pub fn random_bytes() -> [u8; 3] {
    let [a, b, c, ..] = RandomState::new().build_hasher().finish().to_le_bytes();
    [a, b, c]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_shows_its_time() {
        let now: Timestamp = "2026-06-01T09:08:07Z".parse().unwrap();
        assert_eq!(SessionId::new(now, [0, 0xab, 0xff]).as_str(), "20260601_090807_00abff");
    }

    #[test]
    fn random_bytes_differ() {
        let drawn: std::collections::HashSet<_> = (0..100).map(|_| random_bytes()).collect();
        assert!(drawn.len() > 95);
    }
}
