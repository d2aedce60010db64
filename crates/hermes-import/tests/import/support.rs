//! A folder of files that goes away, and everything that an import hands out of it.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use hermes_import::{Error, Fact, Item, LeftOut, Message, Options, Source, Tally};
use jiff::tz::TimeZone;

/// A folder with files of another program.
pub(crate) struct Folder(tempfile::TempDir);

/// What was handed out.
#[derive(Default)]
pub(crate) struct Got {
    pub(crate) messages: Vec<Message>,
    pub(crate) facts: Vec<Fact>,
    pub(crate) others: Vec<Item>,
    pub(crate) tally: Tally,
}

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, inside: &str) -> PathBuf {
        self.0.path().join(inside)
    }

    #[expect(clippy::disallowed_methods, reason = "tests write files as other programs do")]
    pub(crate) fn write(&self, inside: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(inside);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }
}

pub(crate) fn options() -> Options {
    Options { since: None, project: None, zone: TimeZone::UTC }
}

pub(crate) fn try_read(source: Source, path: &Path, options: &Options) -> Result<Got, Error> {
    let mut got = Got::default();
    let mut take = |item: Item, _: &Tally| {
        match item {
            Item::Message(message) => got.messages.push(message),
            Item::Fact(fact) => got.facts.push(fact),
            other => got.others.push(other),
        }
        ControlFlow::Continue(())
    };
    let tally = hermes_import::read(source, path, options, &mut take)?;
    got.tally = tally;
    Ok(got)
}

pub(crate) fn read(source: Source, path: &Path) -> Got {
    try_read(source, path, &options()).unwrap()
}

impl Got {
    /// Who said what; calls without words are left out.
    pub(crate) fn said(&self) -> Vec<(&str, &str)> {
        let said = self.messages.iter().filter(|message| !message.text.is_empty());
        said.map(|message| (message.role.as_str(), message.text.as_str())).collect()
    }

    pub(crate) fn known(&self) -> Vec<&str> {
        self.facts.iter().map(|fact| fact.text.as_str()).collect()
    }

    pub(crate) fn left(&self, kind: LeftOut) -> u64 {
        self.tally.left_out.get(&kind).copied().unwrap_or(0)
    }

    pub(crate) fn reasons(&self) -> Vec<&str> {
        self.tally.problems.iter().map(|problem| problem.reason.as_str()).collect()
    }
}
