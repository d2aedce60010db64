//! Commands inside walls that the kernel keeps: which folders they touch, and whether they reach the network.

mod launch;
mod room;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub use launch::launch;
pub(crate) use room::room;

/// The first argument with which this program is started to put up walls around itself and become a command.
pub const LAUNCHER: &str = "__confine";

/// Which walls the kernel keeps here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Walls {
    /// Whether it keeps commands inside of folders.
    pub files: bool,
    /// How much of the network it keeps them from.
    pub network: NetworkWall,
    /// Whether it can hide a folder that lies inside of one which a command may touch.
    pub hides: bool,
}

/// How much of the network can be kept from a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkWall {
    /// All of it.
    Whole,
    /// TCP; other protocols stay open.
    Tcp,
    /// Nothing.
    None,
}

/// What a command may touch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Room {
    /// Folders and files that it may read and change.
    pub write: Vec<PathBuf>,
    /// Folders and files that it may read and run.
    pub read: Vec<PathBuf>,
    /// Folders inside of those that are empty for it.
    pub hidden: Vec<PathBuf>,
    /// Whether it may reach the network.
    pub has_network: bool,
}

impl NetworkWall {
    fn word(self) -> &'static str {
        match self {
            NetworkWall::Whole => "whole",
            NetworkWall::Tcp => "tcp",
            NetworkWall::None => "none",
        }
    }

    fn of_word(word: &str) -> Option<NetworkWall> {
        let all = [NetworkWall::Whole, NetworkWall::Tcp, NetworkWall::None];
        all.into_iter().find(|wall| wall.word() == word)
    }
}

impl Walls {
    /// No walls at all.
    pub const NONE: Walls = Walls { files: false, network: NetworkWall::None, hides: false };

    /// Finds out which walls hold here, by putting them up around a process that ends at once.
    pub fn found(launcher: &Path) -> Walls {
        let mut command = Command::new(launcher);
        command.arg(LAUNCHER).arg(launch::PROBE).env_clear();
        command.stdin(Stdio::null()).stderr(Stdio::null());
        let answer = command.output().ok().filter(|answer| answer.status.success());
        answer.and_then(|answer| Walls::read(&answer.stdout)).unwrap_or(Walls::NONE)
    }

    fn read(answer: &[u8]) -> Option<Walls> {
        let text = std::str::from_utf8(answer).ok()?;
        let mut words = text.split_whitespace();
        let files = words.next()? == "files";
        let network = NetworkWall::of_word(words.next()?)?;
        Some(Walls { files, network, hides: words.next()? == "hides" })
    }

    /// What a person is told about a command in this room, in one line.
    pub fn told(self, room: &Room) -> String {
        let files = match self.files {
            true => {
                "confined: it can change only the agent's folders, and read none of your other \
                 files"
            }
            false => "not confined: this system cannot confine commands to folders",
        };
        let network = match (room.has_network, self.network) {
            (true, _) => "it can use the network",
            (false, NetworkWall::Whole) => "it has no network",
            (false, NetworkWall::Tcp) => "it has no TCP, but can use other network protocols",
            (false, NetworkWall::None) => "nothing prevents it from using the network",
        };
        format!("{files}; {network}")
    }

    /// The arguments that let the launcher put up these walls around a room and run a program in it.
    pub(crate) fn arguments(self, room: &Room) -> Vec<OsString> {
        let mut all: Vec<OsString> = vec![LAUNCHER.into()];
        if self.files {
            all.push("--files".into());
            for (flag, paths) in [("--write", &room.write), ("--read", &room.read)] {
                for path in paths {
                    all.extend([flag.into(), path.clone().into_os_string()]);
                }
            }
        }
        for path in room.hidden.iter().filter(|_| self.hides) {
            all.extend(["--hide".into(), path.clone().into_os_string()]);
        }
        if !room.has_network {
            all.extend(["--no-network".into(), self.network.word().into()]);
        }
        all.push("--".into());
        all
    }
}
