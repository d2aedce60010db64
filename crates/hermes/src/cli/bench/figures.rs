//! Measured figures: how they are summed up and shown as a Markdown table.

use std::io;
use std::time::Duration;

use serde::Serialize;

use crate::output::{Page, Show};

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

impl Show for Table {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(format_args!("{}\n", self.title))?;
        page.line("| what | measured | aim | |\n|---|---|---|---|")?;
        for figure in &self.results {
            let reached = match figure.reached {
                Some(true) => "yes",
                Some(false) => "**missed**",
                None => "",
            };
            page.line(format_args!(
                "| {} | {} | {} | {reached} |",
                figure.what, figure.measured, figure.aim
            ))?;
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

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn longest(&self) -> Duration {
        self.0.last().copied().unwrap_or_default()
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
        assert_eq!(Times::new(Vec::new()).at(0.5), Duration::ZERO);
    }
}
