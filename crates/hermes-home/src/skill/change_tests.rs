//! Tests of what changes skills: offer, lock, approve, reject, delete, add.

use std::fs;
use std::path::Path;

use jiff::Timestamp;
use tempfile::TempDir;

use crate::error::{Error, ErrorKind};
use crate::layout::Home;
use crate::skill::{
    Catalog, Keep, NewSkill, OfLocked, Offered, Origin, Refusal, State, Trouble, add, approve,
    check_path, delete, edit as edit_skill, lock, offer, read_text, reject, restore, unlock,
};
use crate::text_file::WholeText;
use crate::{atomic, testing, versions};

fn now(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn new(body: &str) -> NewSkill {
    NewSkill {
        name: "deploy".parse().unwrap(),
        description: "Deploy the shop: build, push, check".to_owned(),
        body: body.to_owned(),
        task_type: "deploy".to_owned(),
        sources: vec!["episode:12".to_owned(), "episode:40".to_owned()],
        made_at: now(100),
    }
}

fn written(offered: &Offered) -> (State, bool) {
    match offered {
        Offered::Written { state, replaced, .. } => (*state, *replaced),
        other => panic!("{other:?}"),
    }
}

fn refused(offered: &Offered) -> Refusal {
    match offered {
        Offered::Refused { why } => *why,
        other => panic!("{other:?}"),
    }
}

fn write(path: &Path, text: &str) {
    atomic::make_folder(path.parent().unwrap()).unwrap();
    atomic::write(path, text.as_bytes()).unwrap();
}

fn edit(path: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{text}");
    write(path, &text.replacen(from, to, 1));
}

struct Case {
    _root: TempDir,
    home: Home,
}

fn case() -> Case {
    let root = tempfile::tempdir().unwrap();
    let home = testing::home(&root);
    Case { _root: root, home }
}

#[test]
fn an_offered_skill_waits_and_is_used_once_it_is_approved() {
    let Case { home, .. } = &case();
    let offered = offer(home, &new("1. build"), Keep::Pending).unwrap();
    assert_eq!(written(&offered), (State::Pending, false));
    assert!(Catalog::read(home).unwrap().skills.is_empty());
    assert_eq!(
        offer(home, &new("1. build"), Keep::Pending).unwrap(),
        Offered::Same { path: home.pending_skills().join("deploy/SKILL.md") }
    );
    assert!(!approve(home, "deploy", now(2)).unwrap().replaced);
    let skill = Catalog::find(home, "deploy").unwrap();
    assert_eq!((skill.origin(), skill.content.body.as_str()), (Origin::Learned, "1. build"));
    assert_eq!(skill.content.learned.unwrap().sources, ["episode:12", "episode:40"]);
    assert!(Catalog::pending(home).unwrap().skills.is_empty());
    assert!(!home.pending_skills().join("deploy").exists());
    assert_eq!(written(&offer(home, &new("2."), Keep::Pending).unwrap()), (State::Pending, false));
    assert!(approve(home, "deploy", now(3)).unwrap().replaced);
    assert_eq!(Catalog::find(home, "deploy").unwrap().content.body, "2.");
}

#[test]
fn a_replaced_skill_is_kept_as_a_version() {
    let Case { home, .. } = &case();
    assert_eq!(written(&offer(home, &new("old"), Keep::Active).unwrap()), (State::Active, false));
    let file = home.skills().join("deploy/SKILL.md");
    let old = fs::read(&file).unwrap();
    assert_eq!(written(&offer(home, &new("new"), Keep::Active).unwrap()), (State::Active, true));
    let kept = versions::list_of(home, &file).unwrap();
    assert_eq!(kept.len(), 2);
    assert_eq!(versions::content(home, &kept[1].hash).unwrap(), old);
}

#[test]
fn what_a_person_wrote_changed_or_locked_is_never_touched() {
    for keep in [Keep::Pending, Keep::Active] {
        let Case { home, .. } = &case();
        let file = home.skills().join("deploy/SKILL.md");
        let stays = |why| {
            let before = fs::read(&file).unwrap();
            assert_eq!(refused(&offer(home, &new("other"), keep).unwrap()), why);
            assert_eq!(fs::read(&file).unwrap(), before);
            assert!(!home.pending_skills().join("deploy").exists());
        };
        write(&file, "---\nname: deploy\ndescription: mine\n---\nmine\n");
        stays(Refusal::NotGenerated);
        write(&file, "no frontmatter\n");
        stays(Refusal::InTheWay);
        fs::remove_dir_all(home.skills()).unwrap();
        for (from, to) in [
            ("1. build", "1. build twice"),
            ("Deploy the shop", "Deploy all"),
            ("metadata:\n", "license: MIT\nmetadata:\n"),
            ("metadata:\n", "metadata:\n  author: me\n"),
        ] {
            fs::remove_dir_all(home.skills()).unwrap_or_default();
            offer(home, &new("1. build"), Keep::Active).unwrap();
            edit(&file, from, to);
            assert_eq!(Catalog::find(home, "deploy").unwrap().origin(), Origin::Edited, "{to}");
            stays(Refusal::Edited);
        }
        for lock_line in ["locked: true\n", "user-locked: yes\n", "metadata:\n  hermes-locked: 1\n"]
        {
            fs::remove_dir_all(home.skills()).unwrap();
            offer(home, &new("1. build"), Keep::Active).unwrap();
            let line = if lock_line.starts_with("metadata") { "metadata:\n" } else { "name:" };
            let fresh =
                if line == "name:" { format!("{lock_line}name:") } else { lock_line.into() };
            edit(&file, line, &fresh);
            stays(Refusal::Locked);
            assert!(!unlock(home, "deploy", now(5)).unwrap().is_locked);
            assert_eq!(
                written(&offer(home, &new("x"), Keep::Active).unwrap()),
                (State::Active, true)
            );
        }
    }
}

#[test]
fn a_waiting_skill_that_was_edited_or_locked_stays_too() {
    let Case { home, .. } = &case();
    offer(home, &new("one"), Keep::Pending).unwrap();
    assert_eq!(written(&offer(home, &new("two"), Keep::Pending).unwrap()), (State::Pending, true));
    assert!(lock(home, "deploy", now(3)).unwrap().changed);
    assert_eq!(refused(&offer(home, &new("three"), Keep::Pending).unwrap()), Refusal::Locked);
    unlock(home, "deploy", now(4)).unwrap();
    edit(&home.pending_skills().join("deploy/SKILL.md"), "two", "mine");
    assert_eq!(refused(&offer(home, &new("three"), Keep::Pending).unwrap()), Refusal::Edited);
    approve(home, "deploy", now(5)).unwrap();
    assert_eq!(Catalog::find(home, "deploy").unwrap().origin(), Origin::Edited);
}

#[test]
fn a_category_or_a_file_of_that_name_is_in_the_way() {
    let Case { home, .. } = &case();
    write(&home.skills().join("deploy/inner/SKILL.md"), "---\nname: inner\ndescription: d\n---\n");
    assert_eq!(refused(&offer(home, &new("x"), Keep::Active).unwrap()), Refusal::InTheWay);
    fs::remove_dir_all(home.skills().join("deploy")).unwrap();
    write(&home.skills().join("deploy"), "a file");
    assert_eq!(refused(&offer(home, &new("x"), Keep::Active).unwrap()), Refusal::InTheWay);
    fs::remove_file(home.skills().join("deploy")).unwrap();
    fs::create_dir(home.skills().join("deploy")).unwrap();
    assert_eq!(written(&offer(home, &new("x"), Keep::Active).unwrap()), (State::Active, false));
}

#[test]
fn a_skill_moved_to_a_category_is_replaced_there() {
    let Case { home, .. } = &case();
    offer(home, &new("x"), Keep::Active).unwrap();
    fs::create_dir(home.skills().join("ops")).unwrap();
    fs::rename(home.skills().join("deploy"), home.skills().join("ops/deploy")).unwrap();
    assert_eq!(written(&offer(home, &new("y"), Keep::Active).unwrap()), (State::Active, true));
    let skill = Catalog::find(home, "deploy").unwrap();
    assert_eq!((skill.category.as_deref(), skill.content.body.as_str()), (Some("ops"), "y"));
    assert!(!home.skills().join("deploy").exists());
}

#[test]
fn a_rejected_skill_is_not_offered_again() {
    let Case { home, .. } = &case();
    offer(home, &new("unwanted"), Keep::Pending).unwrap();
    edit(&home.pending_skills().join("deploy/SKILL.md"), "unwanted", "unwanted!");
    let gone = reject(home, "deploy", now(7)).unwrap();
    assert!(gone.remembered && gone.kept_in.join("SKILL.md").is_file());
    for body in ["unwanted", "unwanted!\n"] {
        for keep in [Keep::Pending, Keep::Active] {
            assert_eq!(refused(&offer(home, &new(body), keep).unwrap()), Refusal::Rejected);
        }
    }
    assert_eq!(written(&offer(home, &new("better"), Keep::Pending).unwrap()).0, State::Pending);
}

#[test]
fn a_draft_that_is_no_skill_is_an_error_and_nothing_is_written() {
    let Case { home, .. } = &case();
    let long = NewSkill { description: "x".repeat(1025), ..new("b") };
    let empty = NewSkill { description: " \n".to_owned(), ..new("b") };
    for bad in [long, empty, new(&"y".repeat(100_000)), new("a\0b")] {
        let error = offer(home, &bad, Keep::Active).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
        assert!(!home.skills().exists() && !home.pending_skills().exists());
    }
}

#[test]
fn approving_never_replaces_what_a_person_made() {
    let Case { home, .. } = &case();
    offer(home, &new("x"), Keep::Pending).unwrap();
    write(&home.skills().join("deploy/SKILL.md"), "---\nname: deploy\ndescription: m\n---\nmine");
    let error = approve(home, "deploy", now(2)).unwrap_err();
    assert!(
        matches!(
            &error,
            Error::Skill { trouble: Trouble::Kept { why: Refusal::NotGenerated }, .. }
        ),
        "{error}"
    );
    assert!(home.pending_skills().join("deploy/SKILL.md").is_file());
    assert_eq!(Catalog::find(home, "deploy").unwrap().content.body, "mine");
}

#[test]
fn a_deleted_skill_is_kept_aside_and_a_locked_one_stays() {
    let Case { home, .. } = &case();
    offer(home, &new("x"), Keep::Active).unwrap();
    lock(home, "deploy", now(1)).unwrap();
    let error = delete(home, "deploy", OfLocked::Refuse, now(2)).unwrap_err();
    assert!(error.hint().unwrap().contains("hermes skills unlock deploy"), "{error}");
    let first = delete(home, "deploy", OfLocked::Take, now(2)).unwrap();
    assert!(first.kept_in.join("SKILL.md").is_file() && !first.folder.exists());
    offer(home, &new("x"), Keep::Active).unwrap();
    let second = delete(home, "deploy", OfLocked::Refuse, now(2)).unwrap();
    assert_ne!(first.kept_in, second.kept_in);
    let error = delete(home, "deploi", OfLocked::Refuse, now(2)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}

#[test]
fn a_lock_that_would_change_more_is_refused_and_nothing_is_written() {
    let Case { home, .. } = &case();
    let file = home.skills().join("a/SKILL.md");
    for metadata in
        ["metadata: &m {x: 1}\nother: *m", "metadata: &m\n  x: 1", "metadata: !t {x: 1}"]
    {
        let text = format!("---\nname: a\ndescription: b\n{metadata}\n---\nbody\n");
        write(&file, &text);
        let error = lock(home, "a", now(1)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Refused, "{error}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}

#[test]
fn a_line_that_says_no_lock_is_not_touched_by_unlocking() {
    let Case { home, .. } = &case();
    let file = home.skills().join("a/SKILL.md");
    let text = "---\nname: a\nlocked: false # not this one\ndescription: b\n---\nbody\n";
    write(&file, &text.replace("description", "user-locked: true\ndescription"));
    assert!(Catalog::find(home, "a").unwrap().content.is_locked);
    unlock(home, "a", now(1)).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn a_skill_is_added_whole_and_never_through_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let Case { home, .. } = &case();
    let elsewhere = tempfile::tempdir().unwrap();
    let from = elsewhere.path().join("download-main");
    write(&from.join("SKILL.md"), "---\nname: pdf\ndescription: Read PDF files\n---\n# How\n");
    write(&from.join("scripts/run.sh"), "#!/bin/sh\n");
    write(&from.join(".git/config"), "x");
    fs::set_permissions(from.join("scripts/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let secret = elsewhere.path().join("secret");
    write(&secret, "s");
    symlink(&secret, from.join("notes.md")).unwrap();
    let error = add(home, &from).unwrap_err();
    assert!(error.to_string().contains("notes.md: it is a link"), "{error}");
    assert!(!home.skills().exists());
    assert_eq!(check_path(&from).unwrap().len(), 2, "the folder name, and the link");
    fs::remove_file(from.join("notes.md")).unwrap();
    let added = add(home, &from).unwrap();
    assert_eq!((added.name.as_str(), added.files), ("pdf", 2));
    let folder = home.skills().join("pdf");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    assert_eq!(mode(&folder.join("SKILL.md")), 0o600);
    assert_eq!(mode(&folder.join("scripts/run.sh")), 0o700);
    assert!(!folder.join(".git").exists());
    assert_eq!(fs::read_dir(home.skills()).unwrap().count(), 1);
    assert!(matches!(
        add(home, &from).unwrap_err(),
        Error::Skill { trouble: Trouble::Exists { .. }, .. }
    ));
    let link = elsewhere.path().join("link");
    symlink(&from, &link).unwrap();
    assert_eq!(add(home, &link).unwrap_err().kind(), ErrorKind::Refused);
    assert_eq!(add(home, Path::new("/dev/null")).unwrap_err().kind(), ErrorKind::Refused);
}

#[test]
fn the_catalog_follows_no_links_and_every_name_is_there_once() {
    use std::os::unix::fs::symlink;
    let Case { home, .. } = &case();
    let text = |name: &str| format!("---\nname: {name}\ndescription: d\n---\n");
    let elsewhere = tempfile::tempdir().unwrap();
    write(&elsewhere.path().join("outside/SKILL.md"), &text("outside"));
    write(&home.skills().join("ops/twice/SKILL.md"), &text("twice"));
    write(&home.skills().join("twice/SKILL.md"), &text("twice"));
    write(&home.skills().join(".archive/old/SKILL.md"), &text("old"));
    write(&home.skills().join("ops/deep/er/SKILL.md"), &text("er"));
    write(&home.skills().join("wrong/SKILL.md"), &text("other"));
    symlink(elsewhere.path().join("outside"), home.skills().join("outside")).unwrap();
    symlink(elsewhere.path(), home.skills().join("all")).unwrap();
    fs::create_dir(home.skills().join("linked")).unwrap();
    let target = elsewhere.path().join("outside/SKILL.md");
    symlink(target, home.skills().join("linked/SKILL.md")).unwrap();
    let catalog = Catalog::read(home).unwrap();
    let names: Vec<&str> = catalog.skills.iter().map(|skill| skill.name()).collect();
    assert_eq!(names, ["twice"]);
    assert_eq!(catalog.skills[0].category, None);
    let mut broken: Vec<&str> = catalog.broken.iter().map(|broken| broken.name.as_str()).collect();
    broken.sort_unstable();
    assert_eq!(broken, ["linked", "outside", "twice", "wrong"]);
}

#[test]
fn what_a_write_that_was_cut_short_left_behind_is_not_in_the_way() {
    let Case { home, .. } = &case();
    write(&home.pending_skills().join("deploy/.hermes_a1b2c3.tmp"), "---\nname: dep");
    let offered = offer(home, &new("x"), Keep::Pending).unwrap();
    assert_eq!(written(&offered), (State::Pending, false));
}

#[test]
fn a_rejected_skill_comes_back_to_wait_and_may_be_offered_again() {
    let Case { home, .. } = &case();
    offer(home, &new("wanted after all"), Keep::Pending).unwrap();
    reject(home, "deploy", now(7)).unwrap();
    assert_eq!(restore(home, "deploy").unwrap().state, State::Pending);
    assert_eq!(Catalog::find_pending(home, "deploy").unwrap().content.body, "wanted after all");
    let same = offer(home, &new("wanted after all"), Keep::Pending).unwrap();
    assert!(matches!(same, Offered::Same { .. }), "{same:?}");
    let again = restore(home, "deploy").unwrap_err();
    assert_eq!(again.kind(), ErrorKind::NotFound, "{again}");
}

#[test]
fn a_skill_that_was_taken_away_comes_back_to_its_category_and_never_over_another() {
    let Case { home, .. } = &case();
    let text = "---\nname: deploy\ndescription: m\n---\nmine";
    write(&home.skills().join("ops/deploy/SKILL.md"), text);
    delete(home, "deploy", OfLocked::Refuse, now(3)).unwrap();
    write(&home.skills().join("ops/deploy/SKILL.md"), &text.replace("mine", "newer"));
    delete(home, "deploy", OfLocked::Refuse, now(9)).unwrap();
    let back = restore(home, "deploy").unwrap();
    assert_eq!((back.folder, back.state), (home.skills().join("ops/deploy"), State::Active));
    assert_eq!(Catalog::find(home, "deploy").unwrap().content.body, "newer");
    let error = restore(home, "deploy").unwrap_err();
    assert!(matches!(error, Error::Skill { trouble: Trouble::Exists { .. }, .. }), "{error}");
}

#[test]
fn an_edit_is_checked_first_kept_as_a_version_and_written_over_no_newer_text() {
    let Case { home, .. } = &case();
    let text = "---\nname: deploy\ndescription: m\n---\nmine\n";
    write(&home.skills().join("deploy/SKILL.md"), text);
    let read = read_text(home, "deploy", State::Active).unwrap();
    let edit = |text: &str, second| {
        let whole = WholeText { text, expected_hash: &read.hash };
        edit_skill(home, "deploy", State::Active, &whole, now(second))
    };
    let bad = edit("no frontmatter", 2).unwrap_err();
    assert!(matches!(bad, Error::Skill { trouble: Trouble::Bad { .. }, .. }), "{bad}");
    let renamed = text.replace("name: deploy", "name: other");
    assert!(edit(&renamed, 2).is_err());
    let better = text.replace("mine", "better");
    let edited = edit(&better, 2).unwrap();
    assert!(edited.changed && edited.before == read.hash);
    assert_eq!(versions::content(home, &read.hash).unwrap(), text.as_bytes());
    let late = edit(text, 3).unwrap_err();
    assert!(matches!(late, Error::ChangedMeanwhile { .. }), "{late}");
    assert_eq!(Catalog::find(home, "deploy").unwrap().content.body.trim(), "better");
}
