//! How numbers and pieces of text are written for people.

use std::fmt;

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

/// A number with commas between the thousands, such as `1,234,567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The first 80 characters of a text, on one line.
pub fn preview(text: &str) -> String {
    const SHOWN: usize = 80;
    let one_line = |c: char| if c == '\n' { ' ' } else { c };
    let mut short: String = text.chars().take(SHOWN).map(one_line).collect();
    if text.chars().nth(SHOWN).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_stand_between_the_thousands() {
        for (number, text) in [
            (0, "0"),
            (12, "12"),
            (999, "999"),
            (1000, "1,000"),
            (123_456, "123,456"),
            (1_234_567, "1,234,567"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(thousands(number), text);
        }
    }

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
