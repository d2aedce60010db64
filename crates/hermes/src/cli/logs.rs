//! hermes logs

use crate::terminal::Terminal;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::time::Duration;

use clap::Args;
use hermes_home::Home;
use serde::Serialize;

use crate::failure::Outcome;
use crate::output::{Listing, Page, Show};
use hermes_app::daemon::log::{self, End};
use hermes_app::text::printable;

/// How often a growing log is looked at.
const STEP: Duration = Duration::from_millis(250);

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Number of lines to print
    #[arg(long, short = 'n', default_value_t = 50, value_name = "N")]
    limit: usize,
    /// Keep printing new lines until Ctrl-C
    #[arg(long, short = 'f')]
    follow: bool,
}

#[derive(Debug, Serialize)]
#[serde(transparent)]
struct Line(String);

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.root_home()?;
    home.must_exist()?;
    let (lines, end) = log::last(&home, arguments.limit)?;
    if lines.is_empty() {
        app.out.note(format_args!("there is no log yet in {}", home.logs().display()));
    }
    let listing = Listing { results: lines.into_iter().map(Line).collect() };
    app.out.show(&listing)?;
    if arguments.follow {
        follow(&home, app, end)?;
    }
    Ok(Outcome::Done)
}

/// Prints what is added; goes on with the next day's file when there is one.
fn follow(home: &Home, app: &mut Terminal, end: Option<End>) -> anyhow::Result<()> {
    let mut end = end;
    loop {
        for path in log::files(&home.logs()) {
            let from = match &end {
                Some((last, _)) if path < *last => continue,
                Some((last, size)) if path == *last => *size,
                _ => 0,
            };
            let read = print_from(&path, from, app)?;
            end = Some((path, from + read));
        }
        std::thread::sleep(STEP);
    }
}

/// Prints the whole lines behind a place; returns how many bytes they are.
fn print_from(path: &std::path::Path, from: u64, app: &mut Terminal) -> anyhow::Result<u64> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(from))?;
    let (mut reader, mut line, mut read) = (BufReader::new(file), Vec::new(), 0);
    while reader.read_until(b'\n', &mut line)? > 0 && line.ends_with(b"\n") {
        read += line.len() as u64;
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        match app.json {
            true => app.out.show(&Line(text))?,
            false => app.out.raw().line(printable(&text))?,
        }
        line.clear();
    }
    app.out.raw().flush()?;
    Ok(read)
}

impl Show for Line {
    fn text(&self, page: &mut Page) -> std::io::Result<()> {
        page.line(printable(&self.0))
    }
}

impl Show for Listing<Line> {
    fn text(&self, page: &mut Page) -> std::io::Result<()> {
        self.results.iter().try_for_each(|line| line.text(page))
    }
}
