//! hermes memory versions, restore

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use clap::Args;
use hermes_home::layout::MemoryTarget;
use hermes_home::versions::{self, Version};
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::cli::memory::Which;
use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::text::bytes;

#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// Number of the version, or the first characters of its hash
    #[arg(value_name = "VERSION")]
    pub(super) wanted: String,
    #[command(flatten)]
    pub(super) which: Which,
}

#[derive(Debug, Serialize)]
struct Versions {
    file: PathBuf,
    results: Vec<Version>,
    #[serde(skip)]
    zone: TimeZone,
}

#[derive(Debug, Serialize)]
struct Restored {
    file: PathBuf,
    changed: bool,
    version: Version,
}

/// Lists the earlier versions of a file.
pub(crate) fn versions(target: &MemoryTarget, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let results = versions::list(&home, target)?;
    let file = home.memory_file(target);
    app.out.show(&Versions { file, results, zone: app.zone(&home)? })?;
    Ok(Outcome::Done)
}

/// Brings an earlier version of a file back.
pub(crate) fn restore(
    target: &MemoryTarget,
    wanted: &str,
    app: &mut Terminal,
) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let restored = versions::restore(&home, target, &wanted.parse()?, app.now)?;
    let shown =
        Restored { file: restored.path, changed: restored.changed, version: restored.version };
    app.out.show(&shown)?;
    Ok(Outcome::Done)
}

impl Show for Versions {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.results.is_empty() {
            return page.line(format_args!("{} has no versions yet", self.file.display()));
        }
        let row = |version: &Version| {
            vec![
                if version.current { "*".into() } else { String::new() },
                version.number.to_string(),
                version.at.to_zoned(self.zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string(),
                bytes(version.size),
                version.hash.chars().take(8).collect(),
                version.reason.clone(),
            ]
        };
        let rows: Vec<_> = self.results.iter().map(row).collect();
        page.table(&["", "version", "time", "size", "hash", "made by"], &rows)
    }
}

impl Show for Restored {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let file = self.file.display();
        let number = self.version.number;
        match self.changed {
            true => page.line(format_args!("{file} was restored to version {number}")),
            false => page
                .line(format_args!("{file} is already at version {number}; nothing was changed")),
        }
    }
}
