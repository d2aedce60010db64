//! hermes-bench pages: every page of the dashboard, on a home of made-up facts and messages

mod fill;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use clap::Args;

use hermes_app::text::thousands;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::daemon::Daemon;
use crate::figures::{Figure, Table, Times, milliseconds};
use crate::program::Program;
use crate::scratch::Scratch;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How many messages there are
    #[arg(long, default_value_t = 1_000_000, value_name = "COUNT")]
    messages: usize,
    /// How many facts are known
    #[arg(long, default_value_t = 100_000, value_name = "COUNT")]
    facts: usize,
    /// How often each page is looked at
    #[arg(long, default_value_t = 7, value_name = "COUNT")]
    looks: usize,
    /// Keep the home in this folder; one that was filled there before is used as it is
    #[arg(long, value_name = "DIR")]
    at: Option<PathBuf>,
}

/// A daemon that uses less than a fiftieth of this while it passes does nothing.
const QUIET: Duration = Duration::from_millis(200);
const MOST_QUIET_LOOKS: usize = 300;
const MOST_TIME: Duration = Duration::from_millis(50);
const MOST_BYTES: usize = 100_000;
const AIM: &str = "≤ 50 ms, ≤ 100 KB";

pub(crate) fn run(
    arguments: &Arguments,
    program: &Program,
    now: Timestamp,
) -> anyhow::Result<Table> {
    ensure!(arguments.messages >= 1000 && arguments.facts >= 1000, "at least 1000 of each");
    ensure!(arguments.looks > 0, "nothing would be measured");
    let scratch = match &arguments.at {
        Some(folder) => Scratch::at(folder, now)?,
        None => Scratch::new(now)?,
    };
    let words = fill::fill(&scratch, arguments.messages, arguments.facts, now)?;
    let daemon = Daemon::start(program, scratch.home())?;
    ensure!(daemon.cpu() > Duration::ZERO, "CPU time cannot be measured on this system");
    let browser = Browser::enter(program, scratch.home(), daemon)?;
    for question in &words.questions {
        // Has a context handed out, so that there is something to look at.
        browser.daemon.context(&json!({ "task": question, "session_id": "bench_000001" }))?;
    }
    let all = addresses(&browser, &words)?;
    browser.settle();
    let mut results = vec![browser.first_look("/p/default/")?];
    for (name, address) in all {
        results.push(browser.figure(&name, &address, arguments.looks)?);
        // What a page lets be done in the background is not counted with the next one.
        browser.settle();
    }
    let title = format!(
        "{} messages, {} facts; CPU time of the daemon for a page (p50, longest), bytes sent",
        thousands(arguments.messages as u64),
        thousands(arguments.facts as u64)
    );
    Ok(Table { title, results })
}

/// Somebody who was let in.
struct Browser {
    daemon: Daemon,
    /// The header that shows it.
    pass: String,
}

impl Browser {
    /// Enters with the code that the program prints, given as a password.
    fn enter(program: &Program, home: &Path, daemon: Daemon) -> anyhow::Result<Browser> {
        let printed = program
            .on(home, &["--json", "dashboard", "--print"])
            .stdout(Stdio::piped())
            .output()
            .context("could not ask for the address of the dashboard")?;
        let address: Value = serde_json::from_slice(&printed.stdout)?;
        let code = address["url"].as_str().and_then(|url| url.split_once("code="));
        let (_, code) = code.with_context(|| format!("no code to enter with: {address}"))?;
        let pass =
            format!("Authorization: Basic {}", BASE64_STANDARD.encode(format!("bench:{code}")));
        daemon.ask(&format!("GET /enter HTTP/1.1\r\n{pass}\r\n"), "", "303")?;
        Ok(Browser { daemon, pass })
    }

    fn get(&self, address: &str, encoding: &str) -> anyhow::Result<Vec<u8>> {
        let pass = &self.pass;
        let head = format!("GET {address} HTTP/1.1\r\nAccept: text/html\r\n{encoding}{pass}\r\n");
        self.daemon.ask(&head, "", "200").with_context(|| address.to_owned())
    }

    fn page(&self, address: &str) -> anyhow::Result<String> {
        Ok(String::from_utf8_lossy(&self.get(address, "")?).into_owned())
    }

    /// Waits until the daemon does nothing any more; how much CPU time that took.
    fn settle(&self) -> Duration {
        let began = self.daemon.cpu();
        for _ in 0..MOST_QUIET_LOOKS {
            let before = self.daemon.cpu();
            std::thread::sleep(QUIET);
            if self.daemon.cpu().saturating_sub(before) <= QUIET / 50 {
                break;
            }
        }
        self.daemon.cpu().saturating_sub(began)
    }

    /// What it costs to look at a home for the first time since its daemon started, and what follows from it.
    fn first_look(&self, address: &str) -> anyhow::Result<Figure> {
        let before = self.daemon.cpu();
        self.get(address, "Accept-Encoding: gzip\r\n")?;
        let page = self.daemon.cpu().saturating_sub(before);
        let after = self.settle();
        let said =
            format!("{}, then {} in the background", milliseconds(page), milliseconds(after));
        Ok(Figure::plain("the first look at the overview", said))
    }

    fn figure(&self, name: &str, address: &str, looks: usize) -> anyhow::Result<Figure> {
        let (mut times, mut size) = (Vec::new(), 0);
        for _ in 0..looks {
            let before = self.daemon.cpu();
            let sent = self.get(address, "Accept-Encoding: gzip\r\n")?;
            times.push(self.daemon.cpu().saturating_sub(before));
            size = size.max(sent.len());
        }
        let times = Times::new(times);
        let said = format!(
            "{}, {}; {:.1} KB",
            milliseconds(times.at(0.5)),
            milliseconds(times.longest()),
            size as f64 / 1000.0
        );
        let reached = times.at(0.5) <= MOST_TIME && size <= MOST_BYTES;
        Ok(Figure::new(name, said, AIM, reached))
    }
}

/// Every page, what is reached from the lists among them, and lists further down.
fn addresses(browser: &Browser, words: &fill::Words) -> anyhow::Result<Vec<(String, String)>> {
    let base = "/p/default";
    let at = |rest: &str| format!("{base}/{rest}");
    let rare = words.rare.replace(' ', "+");
    let common = words.common.replace(' ', "+");
    let last = words.facts.saturating_sub(100);
    let mut all: Vec<(String, String)> = [
        ("overview", at("")),
        ("search, rare words", at(&format!("search?q={rare}"))),
        ("search, common words", at(&format!("search?q={common}"))),
        ("timeline", at("timeline")),
        ("timeline, events", at("timeline?show=events")),
        ("facts", at("facts")),
        ("facts, oldest first", at("facts?sort=oldest")),
        ("facts, most used first", at("facts?sort=used")),
        ("facts, the last of the list", at(&format!("facts?offset={last}"))),
        ("facts, also retired ones", at("facts?show=all")),
        ("facts, of one name", at("facts?entity=Pelican")),
        ("facts, searched", at(&format!("facts?q={rare}"))),
        ("facts, conflicts", at("facts/conflicts")),
        ("procedures", at("procedures")),
        ("files", at("files")),
        ("skills", at("skills")),
        ("sessions", at("sessions")),
        ("sessions, far down", at("sessions?offset=20000")),
        ("sessions, searched", at(&format!("sessions?q={rare}"))),
        ("inspector", at("inspector")),
        ("inspector, a task", at(&format!("inspector?task={rare}"))),
        ("inspector, compared", at(&format!("inspector?task={common}&compare=1&budget=4000&k=40"))),
        ("backups", at("backups")),
        ("people", at("people")),
        ("jobs", at("jobs")),
        ("integrations", at("integrations")),
        ("settings", at("settings")),
        ("export and reset", at("carry")),
    ]
    .map(|(name, address)| (name.to_owned(), address))
    .into();
    for (name, list, below) in [
        ("one episode", "timeline", "timeline/"),
        ("one fact", "facts", "facts/"),
        ("one file", "files", "files/"),
        ("one session", "sessions", "sessions/"),
        ("timeline, further down", "timeline", "timeline?before="),
    ] {
        let page = browser.page(&at(list))?;
        let found = linked(&page, &at(below));
        let found = found.with_context(|| format!("the page {list} leads nowhere"))?;
        all.push((name.to_owned(), found));
    }
    Ok(all)
}

/// The first address on a page that begins so and goes on.
fn linked(page: &str, beginning: &str) -> Option<String> {
    let mut parts = page.split("href=\"").skip(1).filter_map(|part| part.split('"').next());
    let found = parts.find(|address| {
        address.strip_prefix(beginning).is_some_and(|rest| {
            !rest.is_empty() && !rest.starts_with("conflicts") && !rest.contains("format=")
        })
    });
    found.map(|address| address.replace("&amp;", "&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_link_below_a_list_is_found() {
        let page = r#"<a href="/p/default/facts">Facts</a> <a href="/p/default/facts/conflicts">1</a>
            <a href="/p/default/facts/fact:042?user=a&amp;x=1">it</a>"#;
        let found = linked(page, "/p/default/facts/");
        assert_eq!(found.as_deref(), Some("/p/default/facts/fact:042?user=a&x=1"));
        assert_eq!(linked(page, "/p/default/sessions/"), None);
    }
}
