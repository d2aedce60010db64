//! The launcher: it puts up walls around itself, then becomes the command. It needs no unsafe code, because it is a
//! process of its own with one thread.

use std::ffi::OsString;
use std::io;

use super::{NetworkWall, Room, Walls};

/// The argument that asks which walls hold here.
pub(super) const PROBE: &str = "--probe";

/// What the launcher is asked for.
struct Asked {
    walls: Walls,
    room: Room,
    program: Vec<OsString>,
}

/// Does what the arguments behind [`super::LAUNCHER`] say. Returns what is to be printed for a probe; for a command it
/// returns only if that could not be run inside its walls.
pub fn launch(arguments: impl Iterator<Item = OsString>) -> io::Result<String> {
    let mut arguments = arguments.peekable();
    if arguments.next_if(|word| word == PROBE).is_some() {
        let walls = wall::probe();
        let files = if walls.files { "files" } else { "no-files" };
        let hides = if walls.hides { "hides" } else { "no-hiding" };
        return Ok(format!("{files} {} {hides}\n", walls.network.word()));
    }
    let asked = read(arguments)?;
    let leaves = !asked.room.has_network && asked.walls.network == NetworkWall::Whole;
    wall::separate(leaves, &asked.room.hidden)?;
    wall::restrict(asked.walls, &asked.room)?;
    Err(become_program(&asked.program))
}

fn read(mut arguments: impl Iterator<Item = OsString>) -> io::Result<Asked> {
    let bad = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what.to_owned());
    let mut asked = Asked {
        walls: Walls::NONE,
        room: Room { has_network: true, ..Room::default() },
        program: Vec::new(),
    };
    while let Some(word) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| bad("a value is missing"));
        match word.to_str() {
            Some("--files") => asked.walls.files = true,
            Some("--write") => asked.room.write.push(value()?.into()),
            Some("--read") => asked.room.read.push(value()?.into()),
            Some("--hide") => {
                asked.room.hidden.push(value()?.into());
                asked.walls.hides = true;
            }
            Some("--no-network") => {
                let word = value()?;
                let wall = word.to_str().and_then(NetworkWall::of_word);
                asked.walls.network = wall.ok_or_else(|| bad("there is no such wall"))?;
                asked.room.has_network = false;
            }
            Some("--") => {
                asked.program = arguments.by_ref().collect();
                return Ok(asked);
            }
            _ => return Err(bad("an argument is not known")),
        }
    }
    Err(bad("there is no command"))
}

fn become_program(program: &[OsString]) -> io::Error {
    use std::os::unix::process::CommandExt;
    match program.split_first() {
        Some((name, rest)) => std::process::Command::new(name).args(rest).exec(),
        None => io::Error::new(io::ErrorKind::InvalidInput, "there is no command"),
    }
}

#[cfg(target_os = "linux")]
mod wall {
    use std::io::{self, Write as _};
    use std::path::PathBuf;

    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, Ruleset,
        RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
    };
    use nix::mount::{MsFlags, mount};
    use nix::sched::{CloneFlags, unshare};
    use nix::unistd::{getegid, geteuid};

    use super::super::{NetworkWall, Room, Walls};

    /// The newest rights that are asked for; a kernel that knows fewer keeps those.
    const NEWEST: ABI = ABI::V6;

    pub(super) fn probe() -> Walls {
        let everything = Room { write: vec!["/".into()], ..Room::default() };
        let holds =
            |files, network| restrict(Walls { files, network, hides: false }, &everything).is_ok();
        // In this order: each wall stays up around this process, and nothing is hidden any more behind the last.
        let hides = separate(true, &[std::env::temp_dir()]).is_ok();
        let has_tcp = holds(false, NetworkWall::Tcp);
        let files = holds(true, NetworkWall::None);
        let network = match (hides, has_tcp) {
            (true, _) => NetworkWall::Whole,
            (false, true) => NetworkWall::Tcp,
            (false, false) => NetworkWall::None,
        };
        Walls { files, network, hides }
    }

    /// Goes to a network of its own, in which there is nobody, and to a view of the files in which some are hidden.
    pub(super) fn separate(leaves_network: bool, hidden: &[PathBuf]) -> io::Result<()> {
        let mut flags = CloneFlags::empty();
        flags.set(CloneFlags::CLONE_NEWNET, leaves_network);
        flags.set(CloneFlags::CLONE_NEWNS, !hidden.is_empty());
        if flags.is_empty() {
            return Ok(());
        }
        if unshare(flags).is_err() {
            // As somebody who may do that in a world of their own.
            become_own_user(flags)?;
        }
        hide(hidden)
    }

    /// An empty folder stands for each of these; what others see stays as it is.
    fn hide(hidden: &[PathBuf]) -> io::Result<()> {
        const NOTHING: Option<&str> = None;
        if hidden.is_empty() {
            return Ok(());
        }
        mount(NOTHING, "/", NOTHING, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NOTHING)?;
        let flags =
            MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        for path in hidden {
            mount(Some("tmpfs"), path, Some("tmpfs"), flags, Some("size=4k,mode=0700"))?;
        }
        Ok(())
    }

    fn become_own_user(flags: CloneFlags) -> io::Result<()> {
        let (user, group) = (geteuid(), getegid());
        unshare(flags | CloneFlags::CLONE_NEWUSER)?;
        for (file, text) in [
            ("/proc/self/setgroups", "deny".to_owned()),
            ("/proc/self/uid_map", format!("{user} {user} 1")),
            ("/proc/self/gid_map", format!("{group} {group} 1")),
        ] {
            std::fs::File::options().write(true).open(file)?.write_all(text.as_bytes())?;
        }
        Ok(())
    }

    /// Restricts this process and all it becomes and starts; fails where a wall that is asked for does not hold.
    pub(super) fn restrict(walls: Walls, room: &Room) -> io::Result<()> {
        let is_tcp = !room.has_network && walls.network == NetworkWall::Tcp;
        if !walls.files && !is_tcp {
            return Ok(());
        }
        let failed = |error: landlock::RulesetError| io::Error::other(error.to_string());
        let mut ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
        if is_tcp {
            ruleset = ruleset.handle_access(AccessNet::from_all(ABI::V4)).map_err(failed)?;
        }
        if walls.files {
            ruleset = ruleset
                .handle_access(AccessFs::from_all(ABI::V1))
                .map_err(failed)?
                .set_compatibility(CompatLevel::BestEffort)
                .handle_access(AccessFs::from_all(NEWEST))
                .map_err(failed)?;
        }
        let created = ruleset
            .set_compatibility(CompatLevel::BestEffort)
            .scope(Scope::from_all(NEWEST))
            .map_err(failed)?
            .create()
            .map_err(failed)?;
        let created = match walls.files {
            false => created,
            true => created
                .add_rules(path_beneath_rules(&room.read, AccessFs::from_read(NEWEST)))
                .map_err(failed)?
                .add_rules(path_beneath_rules(&room.write, AccessFs::from_all(NEWEST)))
                .map_err(failed)?,
        };
        let status = created.restrict_self().map_err(failed)?;
        match status.ruleset {
            RulesetStatus::NotEnforced => Err(io::Error::other("the kernel keeps no walls")),
            _ => Ok(()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod wall {
    use std::io;
    use std::path::PathBuf;

    use super::super::{NetworkWall, Room, Walls};

    pub(super) fn probe() -> Walls {
        Walls::NONE
    }

    pub(super) fn separate(leaves_network: bool, hidden: &[PathBuf]) -> io::Result<()> {
        match leaves_network || !hidden.is_empty() {
            true => Err(io::Error::from(io::ErrorKind::Unsupported)),
            false => Ok(()),
        }
    }

    pub(super) fn restrict(walls: Walls, room: &Room) -> io::Result<()> {
        let is_wanted = walls.files || (!room.has_network && walls.network != NetworkWall::None);
        if is_wanted { Err(io::Error::from(io::ErrorKind::Unsupported)) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(all: &[&str]) -> impl Iterator<Item = OsString> {
        all.iter().map(OsString::from).collect::<Vec<_>>().into_iter()
    }

    #[test]
    fn what_is_asked_for_comes_out_as_it_went_in() {
        let walls = Walls { files: true, network: NetworkWall::Tcp, hides: true };
        let room = Room {
            write: vec!["/a".into(), "/b c".into()],
            read: vec!["/usr".into()],
            hidden: vec!["/a/secret".into()],
            has_network: false,
        };
        let mut arguments = walls.arguments(&room);
        arguments.extend(["/bin/sh".into(), "-c".into(), "--files".into()]);
        let asked = read(arguments.into_iter().skip(1)).unwrap();
        assert_eq!((asked.walls, &asked.room), (walls, &room));
        assert_eq!(asked.program, ["/bin/sh", "-c", "--files"]);
        let open = Room { has_network: true, ..room };
        assert!(read(walls.arguments(&open).into_iter().skip(1)).unwrap().room.has_network);
    }

    #[test]
    fn arguments_that_are_not_understood_run_nothing() {
        for all in [
            &["--files"][..],
            &["--write"],
            &["--no-network", "some", "--", "true"],
            &["--unknown", "--", "true"],
            &["true"],
            &[],
        ] {
            assert!(launch(words(all)).is_err(), "{all:?}");
        }
    }
}
