//! What a command may touch: the folders of the agent, a temporary folder of its own, and the programs of the system.

use std::path::{Path, PathBuf};

use super::{Room, Walls};
use crate::fence::Fence;

/// Where programs and what they need are.
#[rustfmt::skip]
const SYSTEM: &[&str] = &[
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/proc", "/sys", "/nix", "/gnu",
    "/run/current-system", "/run/systemd/resolve",
];
/// Devices that every program uses.
const DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];
/// Where people have programs of their own; nothing in which keys are kept.
#[rustfmt::skip]
const OF_PEOPLE: &[&str] = &[
    ".asdf/installs", ".bun/bin", ".cargo/bin", ".cargo/config", ".cargo/config.toml", ".cargo/git", ".cargo/registry",
    ".config/git/attributes", ".config/git/config", ".config/git/ignore", ".deno/bin", ".gitconfig", ".local/bin",
    ".local/lib", ".nvm", ".pyenv", ".rbenv", ".rustup", ".sdkman/candidates", ".volta", "go/pkg",
];
/// What lies beside a folder of programs and belongs to them.
const BESIDE: &[&str] = &["lib", "lib64", "libexec", "include"];

/// What a command may touch, by the fence and its environment; the temporary folder is its own.
pub(crate) fn room(
    walls: Walls,
    fence: &Fence,
    environment: &[(String, String)],
    temporary: &Path,
) -> Room {
    let value = |name: &str| {
        environment.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    };
    // What cannot be hidden is not given at all, and then not the folder around it.
    let mut write = if walls.hides { fence.given() } else { fence.wholes() };
    let hidden = if walls.hides { fence.enclosed() } else { Vec::new() };
    write.push(temporary.to_owned());
    write.extend(DEVICES.iter().map(PathBuf::from));
    let mut read: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    if let Some(home) = value("HOME").map(Path::new).filter(|home| home.is_absolute()) {
        read.extend(OF_PEOPLE.iter().map(|name| home.join(name)));
    }
    for folder in value("PATH").unwrap_or_default().split(':').map(Path::new) {
        if let (true, Some(parent)) = (folder.is_absolute(), folder.parent()) {
            read.push(folder.to_owned());
            let is_bin = folder.file_name().is_some_and(|name| name == "bin");
            read.extend(BESIDE.iter().filter(|_| is_bin).map(|name| parent.join(name)));
        }
    }
    read.extend(value("RUSTUP_HOME").map(PathBuf::from));
    read.retain(|path| path.exists() && !fence.hides(path));
    Room { write, read, hidden, has_network: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Place;

    fn strings(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_room_has_the_fence_and_the_programs_and_nothing_of_the_home() {
        let place = Place::new();
        let user = place.home.root().parent().unwrap().to_owned();
        std::fs::create_dir_all(user.join(".cargo/bin")).unwrap();
        std::fs::create_dir_all(user.join(".ssh")).unwrap();
        let home = user.display().to_string();
        let inside = place.home.root().join("bin").display().to_string();
        std::fs::create_dir_all(&inside).unwrap();
        let path = format!("/usr/bin:{home}/.cargo/bin:{inside}:relative");
        let fence = Fence::new(&place.home, &place.working, &[]).unwrap();
        let environment = strings(&[("HOME", &home), ("PATH", &path)]);
        let room = room(Walls::NONE, &fence, &environment, Path::new("/tmp/x"));
        assert!(room.write.contains(&place.working) && room.write.contains(&"/tmp/x".into()));
        assert!(room.read.contains(&"/usr".into()) && room.read.contains(&user.join(".cargo/bin")));
        let all = room.read.iter().chain(&room.write);
        for path in all {
            assert!(!path.starts_with(place.home.root()), "{}", path.display());
            assert!(!user.starts_with(path) && !path.ends_with(".ssh"), "{}", path.display());
        }
    }

    #[test]
    fn a_working_folder_around_the_home_is_given_without_it() {
        let place = Place::new();
        let user = place.home.root().parent().unwrap().to_owned();
        for name in ["project/src", ".ssh", ".aws", "notes"] {
            std::fs::create_dir_all(user.join(name)).unwrap();
        }
        let fence = Fence::new(&place.home, &user, &[]).unwrap();
        let write = room(Walls::NONE, &fence, &[], Path::new("/tmp/x")).write;
        assert!(write.contains(&user.join("project")) && write.contains(&user.join("notes")));
        for hidden in [&user, place.home.root(), &user.join(".ssh"), &user.join(".aws")] {
            assert!(!write.iter().any(|given| hidden.starts_with(given)), "{}", hidden.display());
        }
        let walls = Walls { hides: true, ..Walls::NONE };
        let room = room(walls, &fence, &[], Path::new("/tmp/x"));
        assert!(room.write.contains(&user));
        for hidden in [place.home.root(), &user.join(".ssh"), &user.join(".aws")] {
            assert!(room.hidden.iter().any(|one| one == hidden), "{}", hidden.display());
        }
    }
}
