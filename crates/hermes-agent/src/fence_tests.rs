//! The fence holds whatever path is tried.

use std::fs;
use std::os::unix::fs::symlink;

use proptest::prelude::*;

use super::*;
use crate::testing::{Place, write};

fn fence(place: &Place) -> Fence {
    Fence::new(&place.home, &place.working, &[]).unwrap()
}

fn is_outside(fence: &Fence, text: &str) -> bool {
    matches!(fence.resolve(text, Aim::Read), Err(Error::OutOfBounds { .. }))
}

#[test]
fn what_is_inside_is_found_also_when_it_is_not_there_yet() {
    let place = Place::new();
    let fence = fence(&place);
    place.write("src/main.rs", "x");
    for (text, wanted) in [
        ("src/main.rs", "src/main.rs"),
        ("./src/../src/main.rs", "src/main.rs"),
        ("new/deep/file.txt", "new/deep/file.txt"),
        (".", ""),
    ] {
        assert_eq!(fence.resolve(text, Aim::Write).unwrap(), place.path(wanted), "{text}");
    }
    let absolute = place.path("src/main.rs");
    assert_eq!(fence.resolve(absolute.to_str().unwrap(), Aim::Read).unwrap(), absolute);
    assert_eq!(fence.shown(&absolute), "src/main.rs");
}

#[test]
fn no_way_leads_out() {
    let place = Place::new();
    let fence = fence(&place);
    let outside = place.working.parent().unwrap().join("outside");
    write(&outside.join("file"), b"x");
    write(&place.working.parent().unwrap().join("work-two/file"), b"x");
    symlink(&outside, place.path("folder")).unwrap();
    symlink(outside.join("file"), place.path("file")).unwrap();
    symlink("..", place.path("up")).unwrap();
    symlink(outside.join("nothing"), place.path("broken")).unwrap();
    for text in [
        "..",
        "../outside/file",
        "/etc/passwd",
        "/",
        "folder/file",
        "folder",
        "file",
        "up/outside/file",
        "up",
        "src/../../outside/file",
        "missing/../../outside/file",
        "../work-two/file",
        "folder/../file",
        "folder/new",
    ] {
        // `folder/../file` is `outside/../file`, as the system sees it.
        assert!(fence.resolve(text, Aim::Read).is_err(), "{text}");
    }
    assert!(is_outside(&fence, "../outside/file"));
    assert!(matches!(fence.resolve("broken", Aim::Write), Err(Error::BrokenLink { .. })));
    assert!(fence.resolve("", Aim::Read).is_err() && fence.resolve("a\0b", Aim::Read).is_err());
}

#[test]
fn links_inside_are_followed_and_other_folders_can_be_opened() {
    let place = Place::new();
    place.write("real/file", "x");
    symlink("real", place.path("link")).unwrap();
    let other = place.working.parent().unwrap().join("other");
    fs::create_dir(&other).unwrap();
    let fence = Fence::new(&place.home, &place.working, std::slice::from_ref(&other)).unwrap();
    assert_eq!(fence.resolve("link/file", Aim::Read).unwrap(), place.path("real/file"));
    assert_eq!(fence.resolve("../other/new", Aim::Write).unwrap(), other.join("new"));
    assert!(Fence::new(&place.home, &place.path("real/file"), &[]).is_err());
}

#[test]
fn secrets_are_out_of_reach() {
    let place = Place::new();
    let fence = fence(&place);
    for text in [
        ".env",
        ".ENV",
        "a/.env.local",
        ".ssh/config",
        "x/.gnupg/key",
        "id_rsa",
        ".netrc",
        ".aws/credentials",
        "api-token",
    ] {
        assert!(is_outside(&fence, text), "{text}");
    }
    for text in [".env.example", "environment", "id_rsa.pub", ".gitignore"] {
        assert!(fence.resolve(text, Aim::Write).is_ok(), "{text}");
    }
    assert!(fence.resolve(".git/config", Aim::Read).is_ok());
    assert!(fence.resolve(".git/hooks/pre-commit", Aim::Write).is_err());
}

#[test]
fn the_files_of_the_home_are_out_of_reach_but_for_its_workspace() {
    let place = Place::new();
    let above = place.home.root().parent().unwrap();
    fs::create_dir_all(place.home.workspace()).unwrap();
    let fence = Fence::new(&place.home, above, &[]).unwrap();
    for text in [".hermes/state.db", ".hermes/hermesd/api-token", ".hermes/config.yaml", ".hermes"]
    {
        assert!(is_outside(&fence, text), "{text}");
    }
    assert!(is_outside(&fence, ".hermes-backups/x"));
    assert!(fence.resolve(".hermes/workspace/notes.md", Aim::Write).is_ok());
    assert!(fence.resolve("other/file", Aim::Write).is_ok());
}

#[test]
fn only_plain_files_are_opened_and_nobody_is_waited_for() {
    let place = Place::new();
    let fence = fence(&place);
    let fifo = place.path("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(place.path("socket")).unwrap();
    fs::create_dir(place.path("folder")).unwrap();
    for name in ["fifo", "socket", "folder"] {
        assert!(matches!(fence.open(name), Err(Error::NotPlain { .. })), "{name}");
    }
    place.write("file", "text");
    let opened = fence.open("file").unwrap();
    assert_eq!((opened.path, opened.metadata.len()), (place.path("file"), 4));
    let devices = Fence::new(&place.home, Path::new("/dev"), &[]).unwrap();
    assert!(matches!(devices.open("null"), Err(Error::NotPlain { .. })));
}

#[test]
fn what_was_replaced_by_a_link_after_it_was_resolved_is_not_opened() {
    let place = Place::new();
    let fence = fence(&place);
    let outside = place.working.parent().unwrap().join("outside");
    write(&outside.join("file"), b"secret");
    place.write("folder/file", "mine");
    let resolved = fence.resolve("folder/file", Aim::Read).unwrap();
    fs::rename(place.path("folder"), place.path("moved")).unwrap();
    symlink(&outside, place.path("folder")).unwrap();
    assert!(fence.open_resolved(resolved).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Whatever is tried, what is resolved is inside, and what is opened is what was resolved.
    #[test]
    fn the_fence_can_not_be_left(parts in prop::collection::vec(
        prop::sample::select(vec![
            "..", ".", "/", "a", "b", "link-out", "link-up", "link-in", "loop", "missing", "outside",
            "work", "etc", "passwd", "file", "", ".ssh", "//", "~", "a/../..",
        ]), 0..8,
    )) {
        let place = Place::new();
        let fence = fence(&place);
        let outside = place.working.parent().unwrap().join("outside");
        write(&outside.join("file"), b"x");
        place.write("a/file", "x");
        symlink(&outside, place.path("link-out")).unwrap();
        symlink("..", place.path("a/link-up")).unwrap();
        symlink("../a", place.path("a/link-in")).unwrap();
        symlink("loop", place.path("loop")).unwrap();
        let text = parts.join("/");
        if let Ok(path) = fence.resolve(&text, Aim::Write) {
            prop_assert!(path.starts_with(&place.working), "{text} became {path:?}");
            prop_assert!(!path.components().any(|part| part == Component::ParentDir));
            if let Ok(real) = path.canonicalize() {
                prop_assert_eq!(&real, &path);
            }
            if let Some(above) = path.ancestors().find(|above| above.exists()) {
                prop_assert!(above.canonicalize().unwrap().starts_with(&place.working));
            }
        }
    }
}
