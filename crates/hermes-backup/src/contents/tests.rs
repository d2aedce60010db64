//! The rules hold where they should and nowhere else.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use hermes_home::env::Env;
use hermes_home::layout::Wanted;

use super::*;

struct Made {
    _folder: tempfile::TempDir,
    home: Home,
}

fn made(files: &[&str]) -> Made {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join(".hermes");
    fs::create_dir(&root).unwrap();
    for file in files {
        put(&root.join(file), b"text");
    }
    let wanted = Wanted { home: Some(root), profile: None };
    let home = Home::locate(&wanted, &Env::default()).unwrap();
    Made { _folder: folder, home }
}

fn put(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    hermes_home::atomic::write(path, bytes).unwrap();
}

fn everything() -> Choice<'static> {
    Choice { exclude: &[], outside: &[], follow_links: false, secrets: true }
}

impl Made {
    fn list(&self, scope: &Scope) -> Contents {
        list(&self.home, scope, &everything()).unwrap()
    }

    fn path(&self, path: &str) -> PathBuf {
        self.home.root().join(path)
    }
}

fn files(contents: &Contents) -> Vec<&str> {
    let files = contents.entries.iter().filter(|entry| entry.what != What::Folder);
    files.map(|entry| entry.path.as_str()).collect()
}

fn out(contents: &Contents) -> Vec<&str> {
    contents.left_out.iter().map(|left| left.path.as_str()).collect()
}

fn what(contents: &Contents, path: &str) -> Option<What> {
    contents.entries.iter().find(|entry| entry.path == path).map(|entry| entry.what)
}

#[test]
fn rules_are_anchored_to_the_home_and_each_profile() {
    let unwanted = [
        "hermes-agent/run.py",
        "logs/agent.log",
        "cache/x",
        "migration/old.json",
        "profiles/coder/logs/agent.log",
        "profiles/coder/image_cache/a.png",
        "hermesd/logs/today",
        "hermesd/checkpoints/log/00000001.json",
        "profiles/coder/hermesd/checkpoints/contents/ab/cd",
        "hermesd/daemon.json",
        "hermesd/users.json",
        "profiles/coder/hermesd/backup-manifest.json",
        "skills/x/node_modules/a/index.js",
        "skills/x/scripts/__pycache__/a.pyc",
        "skills/x/a.pyc",
        "gateway.pid",
        "auth.lock",
        "memories/MEMORY.md.lock",
        "hermesd/skills.lock",
        "memories/.mem_x1.tmp",
        ".hermes_a8.tmp",
        "old/hermes-all-20261116T033000Z-1a2b3c4d.tar.zst.gpg",
        "old/hermes-all-20261116T033000Z-1a2b3c4d.tar.zst.gpg.json",
    ];
    let wanted = [
        ".env",
        "auth.json",
        "config.yaml",
        "hermesd/deleted-skills/x/SKILL.md",
        "hermesd/keys/backup.pub",
        "hermesd/spool/1.jsonl",
        "hermesd/versions/ab/cd",
        "memories/MEMORY.md",
        "pending/memory/12345678.json",
        "profiles/coder/.env",
        "profiles/coder/hermes-agent/notes.md",
        "skills/logs/SKILL.md",
        "skills/x/hermes-agent/SKILL.md",
        "skills/x/uv.lock",
    ];
    let home = made(&[unwanted.as_slice(), wanted.as_slice()].concat());
    let found = home.list(&Scope::All);
    assert_eq!(files(&found), wanted);
    assert!(found.left_out.iter().all(|left| !left.why.is_empty()));
    for path in unwanted {
        let covered = |left: &&str| path == *left || path.starts_with(&format!("{left}/"));
        assert!(out(&found).iter().any(covered), "{path} is in no list");
    }
}

#[test]
fn databases_are_told_by_their_first_bytes_in_every_folder() {
    let home = made(&["skills/x/notes.db", "state.db-wal", "orphan.db-wal", "orphan.db-shm"]);
    let database = [MAGIC.as_slice(), &[0; 100]].concat();
    for path in ["state.db", "profiles/coder/memory.db", "skills/x/odd-name", "kanban.db"] {
        put(&home.path(path), &database);
    }
    put(&home.path("profiles/coder/state.db"), b"");
    put(&home.path("memory.db"), &[0; 4096]);
    put(&home.path("skills/x/state.db"), b"");
    put(&home.path("kanban.db-journal"), b"journal");
    let found = home.list(&Scope::All);
    for path in ["state.db", "profiles/coder/memory.db", "skills/x/odd-name", "kanban.db"] {
        assert_eq!(what(&found, path), Some(What::Database), "{path}");
    }
    for path in ["profiles/coder/state.db", "memory.db"] {
        assert_eq!(what(&found, path), Some(What::Damaged), "{path}");
    }
    for path in ["skills/x/state.db", "skills/x/notes.db", "orphan.db-wal", "orphan.db-shm"] {
        assert_eq!(what(&found, path), Some(What::File), "{path}");
    }
    assert_eq!(out(&found), ["kanban.db-journal", "state.db-wal"]);
}

#[test]
fn links_to_files_are_followed_and_links_to_folders_are_named() {
    let home = made(&["real.md", "elsewhere/a.md"]);
    let outside = tempfile::tempdir().unwrap();
    symlink("real.md", home.path("link.md")).unwrap();
    symlink(outside.path(), home.path("folder")).unwrap();
    symlink("elsewhere", home.path("inside")).unwrap();
    symlink("gone", home.path("nowhere")).unwrap();
    symlink("round", home.path("round")).unwrap();
    let _socket = UnixListener::bind(home.path("socket")).unwrap();
    let found = home.list(&Scope::All);
    assert_eq!(files(&found), ["elsewhere/a.md", "link.md", "real.md"]);
    assert_eq!(out(&found), ["folder", "inside", "nowhere", "round", "socket"]);
    assert_eq!(found.left_out[0].why, LINK_TO_FOLDER);
    let missed: Vec<&LeftOut> =
        found.left_out.iter().filter(|left| is_link_left_out(left)).collect();
    assert_eq!(missed.len(), 1, "what is in the home by itself is not missed: {missed:?}");
    assert_eq!(links_left_out(&home.home, &everything()).unwrap(), ["folder"]);
}

#[test]
fn one_profile_alone_is_that_profile_alone() {
    let home = made(&["a", "profiles/coder/b", "profiles/writer/c"]);
    assert_eq!(files(&home.list(&Scope::All)), ["a", "profiles/coder/b", "profiles/writer/c"]);
    assert_eq!(files(&home.list(&Scope::Profile("coder".into()))), ["profiles/coder/b"]);
    assert_eq!(files(&home.list(&Scope::Profile("default".into()))), ["a"]);
    let missing = Scope::Profile("nobody".into());
    assert!(list(&home.home, &missing, &everything()).is_err());
    let bad = Scope::Profile("../x".into());
    assert!(list(&home.home, &bad, &everything()).is_err());
}

#[test]
fn what_the_user_excludes_stays_out_with_all_that_is_in_it() {
    let home = made(&["workspace/big/a", "workspace/bigger", "workspace/c"]);
    let found = list(
        &home.home,
        &Scope::All,
        &Choice { exclude: &["./workspace/big/".into()], ..everything() },
    )
    .unwrap();
    assert_eq!(files(&found), ["workspace/bigger", "workspace/c"]);
    assert_eq!(out(&found), ["workspace/big"]);
}

#[test]
fn a_file_kept_elsewhere_takes_its_place_in_the_home() {
    let home = made(&["a"]);
    let elsewhere = tempfile::tempdir().unwrap();
    let from = elsewhere.path().join("moved.db");
    put(&from, &[MAGIC.as_slice(), &[0; 100]].concat());
    let outside = [("memory.db".to_owned(), from.clone())];
    let found =
        list(&home.home, &Scope::All, &Choice { outside: &outside, ..everything() }).unwrap();
    assert_eq!(files(&found), ["a", "memory.db"]);
    assert_eq!((found.entries[1].what, &found.entries[1].from), (What::Database, &from));
}

#[test]
fn folders_come_before_what_is_in_them() {
    let home = made(&["a/b/c", "a-b", "a/b.md"]);
    let paths: Vec<String> =
        home.list(&Scope::All).entries.into_iter().map(|entry| entry.path).collect();
    assert_eq!(paths, ["a", "a-b", "a/b", "a/b.md", "a/b/c"]);
}

#[test]
fn a_home_that_is_not_there_is_an_error() {
    let home = made(&[]);
    fs::remove_dir(home.home.root()).unwrap();
    assert!(list(&home.home, &Scope::All, &everything()).is_err());
}

#[test]
fn links_to_folders_are_followed_where_that_is_wanted_but_in_no_circle() {
    let home = made(&["a.md"]);
    let outside = tempfile::tempdir().unwrap();
    put(&outside.path().join("deploy/SKILL.md"), b"how");
    put(&outside.path().join("notes.sqlite"), &[MAGIC.as_slice(), &[0; 100]].concat());
    symlink(outside.path(), outside.path().join("again")).unwrap();
    symlink("/etc/hostname", outside.path().join("host")).unwrap();
    symlink(outside.path(), home.path("skills")).unwrap();
    symlink("..", home.path("up")).unwrap();
    let choice = Choice { follow_links: true, ..everything() };
    let found = list(&home.home, &Scope::All, &choice).unwrap();
    assert_eq!(files(&found), ["a.md", "skills/deploy/SKILL.md", "skills/notes.sqlite"]);
    assert_eq!(what(&found, "skills/notes.sqlite"), Some(What::Database));
    assert_eq!(out(&found), ["skills/again", "skills/host", "up"]);
    assert_eq!(links_left_out(&home.home, &choice).unwrap(), ["skills/again", "skills/host", "up"]);
}

#[test]
fn secrets_stay_out_where_they_are_not_wanted() {
    let secret =
        [".env", "auth.json", "hermesd/keys/mira.asc", "skills/x/server.key", "profiles/p/.env"];
    let open = ["SOUL.md", "config.yaml", "skills/x/.env.example", "skills/x/SKILL.md"];
    let home = made(&[secret.as_slice(), open.as_slice()].concat());
    let found = list(&home.home, &Scope::All, &Choice { secrets: false, ..everything() }).unwrap();
    assert_eq!(files(&found), open);
    assert!(found.left_out.iter().all(|left| left.why == SECRET), "{:?}", found.left_out);
    assert_eq!(files(&home.list(&Scope::All)).len(), secret.len() + open.len());
}

#[test]
fn what_goes_away_between_two_looks_is_gone_and_no_failure() {
    let gone = io::Error::from(io::ErrorKind::NotFound);
    assert_eq!(why_gone(false, &gone), Some(VANISHED));
    assert!(why_gone(true, &gone).unwrap().contains("broken link"));
    let refused = io::Error::from(io::ErrorKind::PermissionDenied);
    assert_eq!(why_gone(false, &refused), None);
    let home = made(&["SOUL.md"]);
    let (path, is_over) = (home.path("memories/.note"), std::sync::atomic::AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                put(&path, b"here");
                fs::remove_file(&path).unwrap();
            }
        });
        let listed: Vec<bool> =
            (0..500).map(|_| list(&home.home, &Scope::All, &everything()).is_ok()).collect();
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(listed.iter().all(|is_ok| *is_ok), "a listing failed");
    });
}

#[test]
fn what_cannot_be_read_is_named_with_what_helps() {
    let path = Path::new("/home/mira/.hermes/skills/it's mine/key.md");
    let error = Error::file("read", path, io::Error::from(io::ErrorKind::PermissionDenied));
    let hint = error.hint().unwrap();
    assert!(hint.contains(r"ls -ld '/home/mira/.hermes/skills/it'\''s mine/key.md'"), "{hint}");
    assert!(hint.contains("backup.exclude"), "{hint}");
}
