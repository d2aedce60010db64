//! How a command is started: inside of the walls that the kernel keeps here, or plainly where it keeps none.

use std::cell::OnceCell;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Hands;
use crate::confine::{self, NetworkWall, Room, Walls};
use crate::platform;

/// What puts up walls around commands.
#[derive(Debug)]
pub(super) struct Confining {
    launcher: PathBuf,
    /// Which walls hold here; found out when the first command is to be run.
    walls: OnceCell<Walls>,
    /// The temporary folder of commands, gone with this.
    temporary: OnceCell<tempfile::TempDir>,
}

impl Confining {
    pub(super) fn new(launcher: &Path) -> Confining {
        Confining {
            launcher: launcher.to_owned(),
            walls: OnceCell::new(),
            temporary: OnceCell::new(),
        }
    }

    fn walls(&self) -> Walls {
        *self.walls.get_or_init(|| Walls::found(&self.launcher))
    }

    fn temporary(&self) -> io::Result<&Path> {
        if self.temporary.get().is_none() {
            let folder = tempfile::Builder::new().prefix("hermes-command-").tempdir()?;
            let _ = self.temporary.set(folder);
        }
        let folder = self.temporary.get().map(tempfile::TempDir::path);
        folder.ok_or_else(|| io::Error::other("there is no temporary folder"))
    }
}

impl Hands {
    /// What a person is told about what keeps a command where it belongs.
    pub(super) fn confinement(&self, line: &str) -> String {
        match &self.confining {
            None => "not confined: the setting agent.confine is off".to_owned(),
            Some(confining) => {
                let has_network = self.rules.has_network(line);
                confining.walls().told(&Room { has_network, ..Room::default() })
            }
        }
    }

    /// What a model is told when a command failed that was confined; empty where nothing could be the reason.
    pub(super) fn remark_on_failure(&self, line: &str) -> &'static str {
        let Some(walls) = self.confining.as_ref().map(Confining::walls) else { return "" };
        let is_cut_off = walls.network != NetworkWall::None && !self.rules.has_network(line);
        match (walls.files, is_cut_off) {
            (true, true) => {
                "; it could change only what is in the working folder, and had no network"
            }
            (true, false) => "; it could change only what is in the working folder",
            (false, true) => "; it had no network",
            (false, false) => "",
        }
    }

    /// The process that runs a line, with all it starts in a group of its own.
    pub(super) fn process(&self, line: &str) -> io::Result<Command> {
        platform::close_to_others();
        let walls = self.confining.as_ref().map(|confining| (confining, confining.walls()));
        let Some((confining, walls)) = walls.filter(|(_, walls)| *walls != Walls::NONE) else {
            let mut command = platform::shell(line);
            command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
            return Ok(command);
        };
        let temporary = confining.temporary()?;
        let mut room = confine::room(walls, &self.fence, &self.environment, temporary);
        room.has_network = self.rules.has_network(line);
        let mut arguments = walls.arguments(&room);
        let shell = platform::shell(line);
        arguments.push(shell.get_program().to_owned());
        arguments.extend(shell.get_args().map(std::ffi::OsStr::to_owned));
        let mut command = platform::in_group(&confining.launcher);
        command.args(arguments).env_clear();
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        for name in ["TMPDIR", "TMP", "TEMP"] {
            command.env(name, temporary);
        }
        Ok(command)
    }
}
