//! The power goes at any step of a command: what it answered is there, and nothing is half written.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::contents::{Contents, contents, is_sound, lies_between};
use crate::is_full;
use crate::sandbox::Sandbox;
use crate::traced;
use crate::tree::{Chance, Step, Steps, Tree};

/// A command that changes a home.
struct Deed {
    prepare: fn(&Sandbox),
    arguments: &'static [&'static str],
    input: &'static str,
}

/// The exit code where a restore was cut off half way.
const CUT_OFF: i32 = 5;

/// How many disks are looked at for each command.
fn disks() -> usize {
    if is_full() { 500 } else { 14 }
}

impl Deed {
    fn of(prepare: fn(&Sandbox), arguments: &'static [&'static str]) -> Deed {
        Deed { prepare, arguments, input: "" }
    }

    #[expect(clippy::print_stderr, reason = "how much was tried is worth knowing")]
    fn survives_power_loss(&self) {
        let sandbox = Sandbox::ready();
        (self.prepare)(&sandbox);
        let before = contents(&sandbox);
        let disk = Tree::read(sandbox.folder());
        let (_, calls) = traced::run(&sandbox, self.arguments, self.input.as_bytes());
        let steps = Steps::of(&calls, sandbox.folder(), &disk);
        let answered =
            steps.iter().rposition(|step| matches!(step, Step::Say)).unwrap_or(steps.len());
        let texts = Texts::of(&disk, &steps);
        let after = contents(&sandbox);
        assert!(before != after, "the command does nothing");
        for number in 0..disks() {
            let mut chance = Chance::new(number as u64);
            // Every fourth is one that was answered.
            let first = if number % 4 == 3 { answered.min(steps.len()) } else { 0 };
            let cut = first + chance.below(steps.len() + 1 - first);
            let left = disk.after_power_loss(&steps[..cut], &mut chance);
            let what = format!(
                "{:?}: disk {number}, after {cut} of {} steps",
                self.arguments,
                steps.len()
            );
            texts.are_whole(&left, &what);
            left.lay_out(sandbox.folder());
            let found = self.found(&sandbox, &what);
            lies_between(&found, &before, &after, &what);
            if cut > answered {
                same(&found, &after, &format!("{what}: what was answered is lost"));
            }
            if found != after {
                sandbox.feed(self.arguments, self.input.as_bytes());
                let again = contents(&sandbox);
                same(&again, &after, &format!("{what}: done again, it came to another end"));
            }
        }
        eprintln!("{} disks of {} steps", disks(), steps.len());
    }

    fn found(&self, sandbox: &Sandbox, what: &str) -> Contents {
        // A restore that was cut off says so, and is undone.
        if self.arguments.contains(&"restore") && sandbox.run(&["doctor"]).code == CUT_OFF {
            sandbox.ok(&["--yes", "backup", "restore", "--rollback"]);
        }
        // What is to be repaired is not sound before.
        if !self.arguments.contains(&"repair") {
            is_sound(sandbox, what);
        }
        contents(sandbox)
    }
}

/// Fails with what differs; all of it would fill the screen.
fn same(found: &Contents, wanted: &Contents, what: &str) {
    for (aspect, lines) in wanted {
        assert_eq!(&found[aspect], lines, "{what}: {aspect}");
    }
}

/// What each file held whenever it had its name; nobody may find anything else in it.
struct Texts(BTreeMap<PathBuf, Vec<Vec<u8>>>);

/// Files that are written piece by piece and say themselves where they end, and those that hold nothing of worth.
fn is_exempt(path: &std::path::Path) -> bool {
    // What a backup or a restore copies before it has its place.
    let unnamed = [".staging-", ".hermes.restoring-"];
    if path.iter().any(|part| unnamed.iter().any(|name| part.to_string_lossy().starts_with(name))) {
        return true;
    }
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_database = [".db", ".db-wal", ".db-journal"].iter().any(|end| name.ends_with(end));
    let is_log = name.ends_with(".jsonl") || name.ends_with(".log");
    // Two slots, each with a checksum: one that is torn is known as such, and an older one says less.
    let is_mark = path.iter().any(|part| part == "high-water");
    // It is synced before anything is moved: one that is torn is in a home whose restore is undone, and goes with that.
    let is_note_of_restore = name == ".moved-aside.json";
    is_database
        || is_log
        || is_note_of_restore
        || is_mark
        || name.ends_with(".lock")
        || name.starts_with(".new-")
        || name.contains(".tmp")
        || name.ends_with(".part")
        || name.ends_with(".partial")
}

impl Texts {
    /// Of the files before, and after each name that was given.
    fn of(disk: &Tree, steps: &[Step]) -> Texts {
        let mut all: BTreeMap<PathBuf, Vec<Vec<u8>>> = BTreeMap::new();
        let mut add = |tree: &Tree| {
            for (path, content) in tree.files() {
                let known = all.entry(path).or_default();
                if !known.contains(&content) {
                    known.push(content);
                }
            }
        };
        add(disk);
        for (number, step) in steps.iter().enumerate() {
            if matches!(step, Step::Rename { .. }) {
                add(&disk.after(&steps[..=number]));
            }
        }
        add(&disk.after(steps));
        Texts(all)
    }

    fn are_whole(&self, found: &Tree, what: &str) {
        for (path, content) in found.files() {
            if is_exempt(&path) {
                continue;
            }
            let is_known = self.0.get(&path).is_some_and(|known| known.contains(&content));
            let text = String::from_utf8_lossy(&content);
            let begin: String = text.chars().take(200).collect();
            assert!(is_known, "{what}: {} holds what nobody wrote: {begin:?}", path.display());
        }
    }
}

fn talked(sandbox: &Sandbox) {
    for number in 0..3 {
        let (asked, answered) = (format!("asked {number}"), format!("answered {number}"));
        let session = format!("s{number}");
        sandbox.ok(&[
            "memory",
            "turn",
            "--session",
            &session,
            "--user-text",
            &asked,
            "--assistant-text",
            &answered,
        ]);
    }
    sandbox.ok(&["memory", "fact", "add", "The lantern is in the shed"]);
    sandbox.ok(&["memory", "add", "Tea is in the pantry"]);
}

fn to_be_drawn_from(sandbox: &Sandbox) {
    talked(sandbox);
    for said in ["Remember that I live in Lyon.", "We decided to use Redis for Atlas."] {
        let turn = ["memory", "turn", "--user-text", said, "--assistant-text", "I see.", "--ended"];
        sandbox.ok(&turn);
    }
}

fn old(sandbox: &Sandbox) {
    let lines: String = (0..4)
        .map(|number| {
            let text =
                format!("Secret word rare{number}. {}", "A long story about boats. ".repeat(8));
            let (asked, answered) = ("user", "assistant");
            let line = |role: &str, minute: u32| {
                serde_json::json!({"session_id": format!("old{number}"), "role": role, "text": text,
                    "timestamp": format!("2024-03-0{}T10:{minute:02}:00Z", number + 1)})
            };
            format!("{}\n{}\n", line(asked, 0), line(answered, 1))
        })
        .collect();
    sandbox.write("../old.jsonl", lines);
    sandbox.ok(&["memory", "record", "old.jsonl"]);
    sandbox.ok(&["memory", "extract"]);
}

fn saved(sandbox: &Sandbox) {
    talked(sandbox);
    sandbox.ok(&["backup", "create", "--plaintext"]);
    sandbox.write("SOUL.md", "Somebody else.\n");
}

fn exported(sandbox: &Sandbox) {
    let other = Sandbox::ready();
    talked(&other);
    sandbox.write("../export.json", other.ok(&["memory", "export"]));
}

fn broken(sandbox: &Sandbox) {
    talked(sandbox);
    crate::contents::rows(
        sandbox,
        "state.db",
        "insert into messages_fts (messages_fts) values ('delete-all')",
    );
}

/// A test of its own for each command, so that they can run side by side.
macro_rules! deeds {
    ($($name:ident: $deed:expr;)*) => {$(
        #[test]
        fn $name() {
            $deed.survives_power_loss();
        }
    )*};
}

deeds! {
    an_entry_of_a_memory_file: Deed::of(talked, &["memory", "add", "The shed is red"]);
    a_replaced_entry: Deed::of(talked, &["memory", "replace", "Tea is in the pantry", "Tea is in the hall"]);
    a_setting: Deed::of(talked, &["config", "set", "timezone", "Europe/Lisbon"]);
    a_message: Deed::of(talked, &["sessions", "append", "s1", "--role", "user", "one more"]);
    a_turn: Deed::of(talked, &["memory", "turn", "--session", "s9", "--user-text", "asked 9", "--assistant-text", "answered 9"]);
    a_fact: Deed::of(talked, &["memory", "fact", "add", "The shed is red"]);
    an_edited_fact: Deed::of(talked, &["memory", "fact", "edit", "fact:1", "The lantern is in the hall"]);
    a_forgotten_session: Deed::of(talked, &["memory", "forget", "--session", "s1", "--yes"]);
    an_erased_session: Deed::of(talked, &["memory", "forget", "--session", "s1", "--erase", "--yes"]);
    extraction: Deed::of(to_be_drawn_from, &["memory", "extract"]);
    compression: Deed::of(old, &["memory", "compact"]);
    an_import: Deed::of(exported, &["memory", "import", "export.json"]);
    a_backup: Deed::of(talked, &["backup", "create", "--plaintext"]);
    a_profile: Deed::of(talked, &["profile", "create", "other"]);
    a_restore: Deed::of(saved, &["--yes", "backup", "restore"]);
    a_repair: Deed::of(broken, &["sessions", "repair", "--yes"]);
}
