//! Single things come back beside what is there, or in its place.

use std::fs;
use std::path::Path;

use hermes_backup::restore::{self, From, Part, Piece};
use hermes_backup::seal::Keys;
use hermes_backup::sign::{Signed, Trust};
use hermes_backup::{Error, Result};

use crate::sandbox::{Sandbox, now, said_in};

fn bring(sandbox: &Sandbox, archive: &Path, part: Part, replace: bool) -> Result<Piece> {
    let keys = Keys::default();
    let from = From {
        archive,
        sha256: None,
        keys: &keys,
        signed: Signed::No,
        trust: Trust::Anybody,
        now: now(),
    };
    let mut pieces = restore::parts(&from, &[part], &sandbox.home(), replace, &mut |_| {})?;
    assert!(sandbox.beside().iter().all(|name| !name.contains("restoring")));
    Ok(pieces.pop().unwrap())
}

#[test]
fn a_file_comes_back_beside_the_present_one_or_in_its_place() {
    let sandbox = Sandbox::filled();
    let archive = sandbox.backup().backup.path;
    let path = || Part::Path("memories/MEMORY.md".to_owned());
    let old = sandbox.read("memories/MEMORY.md");
    sandbox.write("memories/MEMORY.md", "new\n");
    let piece = bring(&sandbox, &archive, path(), false).unwrap();
    assert_eq!(fs::read_to_string(&piece.at).unwrap(), old);
    assert!(piece.at.ends_with("memories/MEMORY.md.restored-20261116T033000Z"));
    assert_eq!(sandbox.read("memories/MEMORY.md"), "new\n");
    let again = bring(&sandbox, &archive, path(), false).unwrap();
    assert_ne!(again.at, piece.at);
    let piece = bring(&sandbox, &archive, path(), true).unwrap();
    assert_eq!(sandbox.read("memories/MEMORY.md"), old);
    assert_eq!(fs::read_to_string(piece.aside.unwrap()).unwrap(), "new\n");
    fs::remove_file(sandbox.root().join("memories/MEMORY.md")).unwrap();
    let piece = bring(&sandbox, &archive, path(), false).unwrap();
    assert!(piece.at.ends_with("memories/MEMORY.md"), "{}", piece.at.display());
}

#[test]
fn a_database_in_the_place_of_another_has_no_log_of_it() {
    let sandbox = Sandbox::filled();
    let archive = sandbox.backup().backup.path;
    sandbox.talk("state.db", "first", &["later"]);
    sandbox.write("state.db-wal", "the log of another database");
    let piece = bring(&sandbox, &archive, Part::Path("state.db".to_owned()), true).unwrap();
    assert_eq!(sandbox.said("state.db").len(), 2);
    assert!(piece.aside.unwrap().exists());
    assert!(!sandbox.root().join("state.db-wal").exists());
}

#[test]
fn a_skill_is_found_by_its_name_whatever_its_category() {
    let sandbox = Sandbox::filled();
    let archive = sandbox.backup().backup.path;
    fs::remove_dir_all(sandbox.root().join("skills")).unwrap();
    for (name, at) in
        [("solo", "skills/solo/SKILL.md"), ("deploy", "skills/devops/deploy/SKILL.md")]
    {
        bring(&sandbox, &archive, Part::Skill(name.to_owned()), false).unwrap();
        assert!(sandbox.root().join(at).exists(), "{at}");
    }
    let refused = bring(&sandbox, &archive, Part::Skill("none".to_owned()), false).unwrap_err();
    assert!(matches!(refused, Error::NotInBackup { .. }), "{refused}");
}

#[test]
fn a_session_is_added_or_written_beside() {
    let sandbox = Sandbox::filled();
    let archive = sandbox.backup().backup.path;
    let session = || Part::Session("first".to_owned());
    let piece = bring(&sandbox, &archive, session(), false).unwrap();
    let text = fs::read_to_string(&piece.at).unwrap();
    assert!(text.contains("zebrafish"), "{text}");
    assert!(piece.at.to_str().unwrap().ends_with("first.restored-20261116T033000Z.jsonl"));
    fs::remove_file(sandbox.root().join("state.db")).unwrap();
    sandbox.talk("state.db", "other", &["something else"]);
    bring(&sandbox, &archive, session(), false).unwrap();
    let mut said = said_in(&sandbox.root().join("state.db"));
    said.sort();
    assert_eq!(said, ["an answer about harbours", "something else", "the quick zebrafish swims"]);
    let none = bring(&sandbox, &archive, Part::Session("none".to_owned()), false).unwrap_err();
    assert!(matches!(none, Error::NotInBackup { .. }), "{none}");
}

#[test]
fn a_path_that_leads_out_of_the_home_is_refused() {
    let sandbox = Sandbox::filled();
    let archive = sandbox.backup().backup.path;
    for path in ["../evil", "/etc/passwd", "", "a/../../b"] {
        let refused = bring(&sandbox, &archive, Part::Path(path.to_owned()), true).unwrap_err();
        assert!(matches!(refused, Error::Setting { .. }), "{path}: {refused}");
    }
    let name = "../../evil".to_owned();
    assert!(bring(&sandbox, &archive, Part::Skill(name), true).is_err());
    let absolute = sandbox.root().canonicalize().unwrap().join("SOUL.md");
    let absolute = absolute.to_str().unwrap().to_owned();
    bring(&sandbox, &archive, Part::Path(absolute), true).unwrap();
}

#[test]
fn replacing_a_skill_leaves_those_whose_names_begin_like_it() {
    let sandbox = Sandbox::filled();
    sandbox.write("skills/bullet/SKILL.md", "archived\n");
    let archive = sandbox.backup().backup.path;
    sandbox.write("skills/bullet/SKILL.md", "present\n");
    sandbox.write("skills/bullet-journal/SKILL.md", "another\n");
    sandbox.write("skills/bullet-wal/SKILL.md", "one more\n");
    bring(&sandbox, &archive, Part::Skill("bullet".to_owned()), true).unwrap();
    assert_eq!(sandbox.read("skills/bullet/SKILL.md"), "archived\n");
    assert_eq!(sandbox.read("skills/bullet-journal/SKILL.md"), "another\n");
    assert_eq!(sandbox.read("skills/bullet-wal/SKILL.md"), "one more\n");
}
