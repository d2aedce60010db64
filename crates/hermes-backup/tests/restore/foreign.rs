//! Archives of other programs come back too.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use hermes_backup::Error;
use hermes_backup::restore::{self, From};
use hermes_backup::seal::Keys;
use hermes_backup::sign::{Signed, Trust};
use hermes_store::sessions::SessionStore;
use hermes_store::sqlite::{Access, DEFAULT_WAIT};
use zip::write::SimpleFileOptions;

use crate::sandbox::{Sandbox, now, said_in, tree};

fn run(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A zip as Hermes Agent makes one: the files of the home by their paths, no folders.
fn zip_of(sandbox: &Sandbox) -> PathBuf {
    let path = sandbox.path().join("hermes-backup.zip");
    let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
    for (name, (mode, content)) in tree(&sandbox.root()) {
        if sandbox.root().join(&name).is_file() {
            zip.start_file(&*name, SimpleFileOptions::default().unix_permissions(mode)).unwrap();
            zip.write_all(&content).unwrap();
        }
    }
    zip.start_file("auth.lock", SimpleFileOptions::default()).unwrap();
    zip.finish().unwrap();
    path
}

#[test]
fn the_zip_of_hermes_agent_comes_back() {
    let (old, new) = (Sandbox::filled(), Sandbox::empty());
    let restored = new.restore(&zip_of(&old)).unwrap();
    assert_eq!(new.read("SOUL.md"), "I am calm.\n");
    assert_eq!(new.said("state.db").len(), 2);
    assert_eq!(new.said("profiles/coder/state.db").len(), 1);
    assert!(!new.root().join("auth.lock").exists());
    let remarks = restored.remarks.join("\n");
    assert!(remarks.contains("auth.lock"), "{remarks}");
    assert!(restored.manifest.is_none());
    let mode = |path: &str| fs::metadata(new.root().join(path)).unwrap().permissions().mode();
    assert_eq!(mode(".env") & 0o777, 0o600);
    assert_eq!(mode("state.db") & 0o777, 0o600);
    assert_eq!(mode("skills/devops/deploy/run.sh") & 0o777, 0o755);
}

#[test]
fn a_zip_with_a_path_that_leads_elsewhere_or_a_wrong_checksum_is_refused() {
    let sandbox = Sandbox::filled();
    let path = sandbox.path().join("evil.zip");
    for name in ["../evil", "/evil", "a/../../evil"] {
        let mut zip = zip::ZipWriter::new(File::create(&path).unwrap());
        zip.start_file(name, SimpleFileOptions::default()).unwrap();
        zip.write_all(b"evil").unwrap();
        zip.finish().unwrap();
        let refused = sandbox.restore(&path).unwrap_err();
        assert!(matches!(refused, Error::Tampered { .. }), "{name}: {refused}");
    }
    let good = zip_of(&sandbox);
    let bytes = fs::read(&good).unwrap();
    let place = bytes.windows(10).position(|window| window == b"auth.lock\0").unwrap_or(200) / 2;
    for at in [place, bytes.len() / 3, bytes.len() / 2] {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        hermes_home::atomic::write(&good, &changed).unwrap();
        assert!(sandbox.restore(&good).is_err(), "a flip at {at} was not seen");
    }
    assert_eq!(sandbox.read("SOUL.md"), "I am calm.\n");
}

/// A home as people pack it, with the program `tar`.
fn pack(sandbox: &Sandbox, arguments: &[&str], name: &str) -> PathBuf {
    let path = sandbox.path().join(name);
    run(Command::new("tar").arg("-cf").arg(&path).args(arguments));
    path
}

#[test]
fn a_tar_of_the_folder_or_of_its_content_comes_back() {
    let old = Sandbox::filled();
    let dotted = old.path().join("user/.hermes");
    fs::create_dir_all(dotted.parent().unwrap()).unwrap();
    run(Command::new("cp").arg("-a").arg(old.root()).arg(&dotted));
    let user = dotted.parent().unwrap().to_str().unwrap();
    let inside = dotted.to_str().unwrap();
    let ways: [(&[&str], &str); 4] = [
        (&["-z", "-C", user, ".hermes"], "a.tar.gz"),
        (&["-C", inside, "."], "content.tar"),
        (&["-z", inside], "absolute.tar.gz"),
        (&["--format=pax", "-z", "-C", user, ".hermes"], "pax.tar.gz"),
    ];
    for (arguments, name) in ways {
        let new = Sandbox::empty();
        new.restore(&pack(&old, arguments, name)).unwrap();
        assert_eq!(new.read("memories/MEMORY.md"), old.read("memories/MEMORY.md"), "{name}");
        assert_eq!(new.said("state.db").len(), 2, "{name}");
        assert!(new.beside().is_empty(), "{name}: {:?}", new.beside());
    }
}

#[test]
fn a_copy_of_the_database_outside_of_the_home_is_taken_as_state_db() {
    let old = Sandbox::filled();
    let top = old.path().join("top");
    fs::create_dir_all(top.join("tmp")).unwrap();
    run(Command::new("cp").arg("-a").arg(old.root()).arg(top.join(".hermes")));
    fs::rename(top.join(".hermes/state.db"), top.join("tmp/hermes-state-Ab12Cd.db")).unwrap();
    let top = top.to_str().unwrap();
    let arguments = ["-z", "-C", top, ".hermes", "tmp/hermes-state-Ab12Cd.db"];
    let new = Sandbox::empty();
    let restored = new.restore(&pack(&old, &arguments, "seed.tar.gz")).unwrap();
    assert_eq!(new.said("state.db").len(), 2);
    assert!(restored.remarks.iter().any(|remark| remark.contains("hermes-state-Ab12Cd.db")));
    assert!(!new.root().join("tmp").exists());
}

#[test]
fn rows_that_are_only_in_the_log_are_not_lost() {
    let old = Sandbox::filled();
    let path = old.root().join("state.db");
    let open = SessionStore::open(&path, Access::Write, DEFAULT_WAIT).unwrap();
    old.talk("state.db", "first", &["only in the log"]);
    assert!(old.root().join("state.db-wal").metadata().unwrap().len() > 0);
    let parent = old.path().to_str().unwrap();
    let archive = pack(&old, &["-z", "-C", parent, "hermes"], "live.tar.gz");
    drop(open);
    let new = Sandbox::empty();
    new.restore(&archive).unwrap();
    assert!(new.said("state.db").contains(&"only in the log".to_owned()));
    for ending in ["-wal", "-shm"] {
        assert!(!new.root().join(format!("state.db{ending}")).exists());
    }
}

#[test]
fn links_in_a_tar_are_left_out_and_named() {
    let old = Sandbox::filled();
    let secret = old.path().join("secret");
    hermes_home::atomic::write(&secret, b"secret").unwrap();
    std::os::unix::fs::symlink(&secret, old.root().join("skills/link")).unwrap();
    let archive = pack(&old, &["-C", old.root().to_str().unwrap(), "."], "links.tar");
    let new = Sandbox::empty();
    let restored = new.restore(&archive).unwrap();
    assert!(new.root().join("skills/link").symlink_metadata().is_err());
    assert!(restored.remarks.join("\n").contains("skills/link"));
}

#[test]
fn a_damaged_database_in_a_tar_is_not_put_in_the_place_of_a_home() {
    let old = Sandbox::filled();
    let path = old.root().join("state.db");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[4096..middle].fill(0xa5);
    hermes_home::atomic::write(&path, &bytes).unwrap();
    let archive = pack(&old, &["-C", old.root().to_str().unwrap(), "."], "damaged.tar");
    let new = Sandbox::filled();
    let refused = new.restore(&archive).unwrap_err();
    assert!(matches!(refused, Error::Tampered { .. }), "{refused}");
    assert_eq!(said_in(&new.root().join("state.db")).len(), 2);
    assert!(new.beside().is_empty());
}

#[test]
fn what_holds_no_home_is_refused() {
    let sandbox = Sandbox::filled();
    let other = sandbox.path().join("pictures");
    fs::create_dir_all(&other).unwrap();
    hermes_home::atomic::write(&other.join("a.png"), b"x").unwrap();
    let archive = pack(&sandbox, &["-C", sandbox.path().to_str().unwrap(), "pictures"], "p.tar");
    let keys = Keys::default();
    let no_home = |path: &Path| {
        let from = From {
            archive: path,
            sha256: None,
            keys: &keys,
            signed: Signed::No,
            trust: Trust::Anybody,
            now: now(),
        };
        restore::whole(&from, &sandbox.home(), &mut |_| {}).unwrap_err()
    };
    let refused = no_home(&archive);
    assert!(matches!(refused, Error::NotArchive { .. }), "{refused}");
    let text = sandbox.path().join("text.txt");
    hermes_home::atomic::write(&text, b"just text").unwrap();
    assert!(matches!(no_home(&text), Error::Tampered { .. }));
    assert_eq!(sandbox.read("SOUL.md"), "I am calm.\n");
}
