//! Commands on a real file system that has room for so many pages and no more.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use crate::doors::Door;
use crate::is_full;
use crate::model_server::{ModelServer, Reply};
use crate::sandbox::{Ran, Sandbox};
use crate::told::{Answer, Told};

const DOOR: &str = "HERMES_TEST_DOOR";

/// How many amounts of free space are tried for each door.
fn positions() -> usize {
    if is_full() { 120 } else { 8 }
}

/// The most pages that are left free; no command here needs more.
const MOST_PAGES: usize = 240;

const PAGE: u64 = 4096;

/// This same test on a disk of its own: a file system in memory that only this process and its children see.
fn on_a_small_disk(door: Door) {
    let mount = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=2g,mode=700 tmpfs \"$1\" && TMPDIR=\"$1\" && export TMPDIR && shift &&
        exec \"$@\"";
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"])
        .arg(mount.path())
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "small_disk::tells_with_little_room", "--ignored", "--nocapture"])
        .env(DOOR, format!("{door:?}"))
        .output()
        .unwrap();
    let told = Ran::of(&output);
    assert_eq!(told.code, 0, "{}{}", told.stdout, told.stderr);
    assert!(told.stderr.contains("positions"), "{}{}", told.stdout, told.stderr);
}

/// Makes the disk so large that this much is free.
fn resize(mount: &Path, free: u64) {
    let found = nix::sys::statvfs::statvfs(mount).unwrap();
    let used = (found.blocks() - found.blocks_free()) * found.fragment_size();
    let size = format!("remount,size={}", used + free);
    let status = Command::new("mount").args(["-o", &size]).arg(mount).status().unwrap();
    assert!(status.success(), "the disk could not be given another size");
}

/// Room enough for everything.
const MUCH: u64 = 2 << 30;

/// The work itself; only on a small disk.
#[test]
#[ignore = "started by other tests"]
#[expect(clippy::print_stderr, reason = "how much was tried is worth knowing")]
fn tells_with_little_room() {
    let Some((_, door)) = std::env::vars().find(|(name, _)| name == DOOR) else { return };
    let all = [Door::Turn, Door::TurnWithIds, Door::Append, Door::Fact, Door::Entry, Door::Mcp];
    let door = all.into_iter().find(|known| format!("{known:?}") == door).unwrap();
    let sandbox = Sandbox::ready();
    let mount = std::env::temp_dir();
    sandbox.ok(&[
        "memory",
        "turn",
        "--session",
        "harbour",
        "--user-text",
        "Hello",
        "--assistant-text",
        "Hi",
    ]);
    let model = ModelServer::start(vec![Reply::text("Hi")]);
    let mut told = Told::default();
    let mut refused = 0;
    for position in 0..positions() {
        let number = told.next();
        let pages = position * MOST_PAGES / positions();
        resize(&mount, pages as u64 * PAGE);
        let mut command = door.command(&sandbox, &model, &[], number);
        let mut child = command.spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(door.input(number).as_bytes());
        let ran = Ran::of(&child.wait_with_output().unwrap());
        resize(&mount, MUCH);
        let is_kept = door.is_kept(ran.code == 0, &ran.stdout);
        refused += usize::from(!is_kept);
        told.note(door.kind(), number, if is_kept { Answer::Kept } else { Answer::Refused });
        let said = format!("{} {}{}", ran.code, ran.stdout, ran.stderr);
        told.agrees_with(&sandbox, &format!("{door:?} {number} with {pages} pages: {said}"));
    }
    assert!(refused > 0, "the disk was never full");
    eprintln!("{} positions, {refused} refused", positions());
}

macro_rules! doors {
    ($($name:ident: $door:expr;)*) => {$(
        #[test]
        fn $name() {
            on_a_small_disk($door);
        }
    )*};
}

doors! {
    a_turn_is_kept_or_refused_as_answered: Door::Turn;
    a_turn_with_ids_is_kept_or_refused_as_answered: Door::TurnWithIds;
    a_message_is_kept_or_refused_as_answered: Door::Append;
    a_fact_is_kept_or_refused_as_answered: Door::Fact;
    an_entry_is_kept_or_refused_as_answered: Door::Entry;
    a_fact_over_mcp_is_kept_or_refused_as_answered: Door::Mcp;
}
