//! Measured figures: how they are summed up and shown as a Markdown table.

use std::fmt;
use std::io::{self, Write as _};
use std::time::Duration;

use serde::Serialize;

/// One line of the table.
#[derive(Debug, Serialize)]
pub(crate) struct Figure {
    pub(crate) what: String,
    pub(crate) measured: String,
    pub(crate) aim: &'static str,
    pub(crate) reached: Option<bool>,
}

/// The whole table.
#[derive(Debug, Serialize)]
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) results: Vec<Figure>,
}

impl Figure {
    pub(crate) fn new(what: &str, measured: String, aim: &'static str, reached: bool) -> Figure {
        Figure { what: what.to_owned(), measured, aim, reached: Some(reached) }
    }

    pub(crate) fn plain(what: &str, measured: String) -> Figure {
        Figure { what: what.to_owned(), measured, aim: "", reached: None }
    }
}

impl Table {
    /// Prints it for people or for programs.
    pub(crate) fn print(&self, json: bool) -> anyhow::Result<()> {
        let mut out = io::stdout().lock();
        match json {
            true => writeln!(out, "{}", serde_json::to_string(self)?)?,
            false => write!(out, "{self}")?,
        }
        Ok(out.flush()?)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, page: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(page, "{}\n\n| what | measured | aim | |\n|---|---|---|---|", self.title)?;
        for Figure { what, measured, aim, reached } in &self.results {
            let reached = match reached {
                Some(true) => "yes",
                Some(false) => "**missed**",
                None => "",
            };
            writeln!(page, "| {what} | {measured} | {aim} | {reached} |")?;
        }
        Ok(())
    }
}

/// Many measured times, sorted.
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn new(mut times: Vec<Duration>) -> Times {
        times.sort();
        Times(times)
    }

    /// The time that a share of all (0.5 for the median) did not exceed.
    pub(crate) fn at(&self, share: f64) -> Duration {
        let place = (self.0.len() as f64 * share).ceil() as usize;
        self.0.get(place.clamp(1, self.0.len().max(1)) - 1).copied().unwrap_or_default()
    }

    /// Whether half of them took no longer.
    pub(crate) fn are_within(&self, milliseconds: u64) -> bool {
        self.at(0.5) <= Duration::from_millis(milliseconds)
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn longest(&self) -> Duration {
        self.0.last().copied().unwrap_or_default()
    }

    /// The median and another share in hundredths: `p50 1.00 ms, p99 2.00 ms`.
    pub(crate) fn spread(&self, hundredths: u8) -> String {
        let high = milliseconds(self.at(f64::from(hundredths) / 100.0));
        format!("p50 {}, p{hundredths} {high}", milliseconds(self.at(0.5)))
    }

    /// The median and the longest.
    pub(crate) fn to_longest(&self) -> String {
        format!("p50 {}, longest {}", milliseconds(self.at(0.5)), milliseconds(self.longest()))
    }

    /// The median, the rare ones and the longest.
    pub(crate) fn with_rare_ones(&self) -> String {
        let (rare, longest) = (milliseconds(self.at(0.999)), milliseconds(self.longest()));
        format!("{}, p99.9 {rare}, longest {longest}", self.spread(99))
    }
}

/// Milliseconds with two digits.
pub(crate) fn milliseconds(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_times_are_taken_from_the_sorted_list() {
        let times = Times::new((1..=1000).rev().map(Duration::from_millis).collect());
        assert_eq!(times.at(0.5), Duration::from_millis(500));
        assert_eq!(times.at(0.999), Duration::from_millis(999));
        assert_eq!(times.longest(), Duration::from_millis(1000));
        assert_eq!(times.spread(99), "p50 500.00 ms, p99 990.00 ms");
        assert_eq!(Times::new(Vec::new()).at(0.5), Duration::ZERO);
    }

    #[test]
    fn a_table_says_what_was_reached_and_what_was_missed() {
        let results = vec![
            Figure::new("speed", "9".to_owned(), "≥ 8", true),
            Figure::new("size", "9".to_owned(), "≤ 8", false),
            Figure::plain("count", "7".to_owned()),
        ];
        let table = Table { title: "Made up".to_owned(), results };
        let lines =
            ["| speed | 9 | ≥ 8 | yes |", "| size | 9 | ≤ 8 | **missed** |", "| count | 7 |  |  |"];
        let text = table.to_string();
        assert!(
            text.starts_with("Made up\n\n| what |") && text.ends_with(&(lines.join("\n") + "\n"))
        );
    }
}
