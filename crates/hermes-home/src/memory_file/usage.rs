//! How much of a limit is used, in the words both programs use.

use std::fmt;

use crate::text::thousands;

/// Characters in a file, and how many there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Usage {
    /// Characters that count.
    pub chars: usize,
    /// The most there may be; none means no limit.
    pub limit: Option<usize>,
}

impl Usage {
    /// The share of the limit in whole percent, rounded down, at most 100.
    pub fn percent(&self) -> Option<usize> {
        self.limit.map(|limit| (self.chars * 100).checked_div(limit).map_or(100, |p| p.min(100)))
    }

    /// Usage with its share, such as `9% — 208/2,200 chars`.
    pub fn with_percent(&self) -> String {
        match self.percent() {
            Some(percent) => format!("{percent}% — {self}"),
            None => self.to_string(),
        }
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chars = thousands(self.chars as u64);
        match self.limit {
            Some(limit) => write!(formatter, "{chars}/{} chars", thousands(limit as u64)),
            None => write!(formatter, "{chars} chars"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usage_is_written_as_hermes_agent_writes_it() {
        let usage = Usage { chars: 208, limit: Some(2200) };
        assert_eq!(usage.to_string(), "208/2,200 chars");
        assert_eq!(usage.with_percent(), "9% — 208/2,200 chars");
        assert_eq!(Usage { chars: 1_234_567, limit: None }.with_percent(), "1,234,567 chars");
        assert_eq!(Usage { chars: 9000, limit: Some(2200) }.percent(), Some(100));
        assert_eq!(Usage { chars: 0, limit: Some(0) }.percent(), Some(100));
    }
}
