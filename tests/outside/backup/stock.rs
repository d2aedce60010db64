//! An archive is opened with programs that everybody has.

use std::fs;
use std::process::{Command, Stdio};

use hermes_backup::create::create;
use hermes_backup::name::Compression;
use hermes_backup::seal::{Passphrase, Sealing};

use crate::places::{Place, check_database, run};

#[test]
fn tar_restores_every_database_under_its_own_name() {
    let place = Place::new();
    let created = place.create(1).unwrap();
    let restored = tempfile::tempdir().unwrap();
    let archive = &created.backup.path;
    run(Command::new("tar").args(["--zstd", "-xf"]).arg(archive).arg("-C").arg(restored.path()));
    let home = restored.path().join(".hermes");
    for database in ["state.db", "profiles/coder/state.db", "profiles/coder/memory.db"] {
        assert_eq!(check_database(&home.join(database)), 200, "{database}");
    }
    assert_eq!(fs::read(home.join(".env")).unwrap(), b"KEY=secret");
    assert_eq!(fs::read(home.join("skills/x/hermes-agent/SKILL.md")).unwrap(), b"a skill");
    assert!(home.join("profiles/writer/memories/MEMORY.md").exists());
    assert!(!home.join("hermes-agent").exists() && !home.join("logs").exists());
    assert!(home.join("hermesd/backup-manifest.json").exists());
}

#[test]
fn the_line_in_the_sidecar_opens_it() {
    let place = Place::new();
    for (tag, compression) in [(1, Compression::Zstd), (2, Compression::Gzip)] {
        let request =
            hermes_backup::create::Request { compression, ..place.request(&Sealing::Plain, tag) };
        let created = create(&request, &mut |_| {}).unwrap();
        let line = created.backup.sidecar.unwrap().open_with;
        let folder = place.folder.path();
        let live = std::fs::read(place.path("state.db")).unwrap();
        run(Command::new("sh").arg("-c").arg(line).current_dir(folder).env("HOME", folder));
        check_database(&folder.join("restored/.hermes/state.db"));
        assert!(!folder.join(".hermes").exists(), "never over a home");
        assert_eq!(std::fs::read(place.path("state.db")).unwrap(), live);
        std::fs::remove_dir_all(folder.join("restored")).unwrap();
    }
}

#[test]
fn gpg_and_tar_restore_an_encrypted_one() {
    let place = Place::new();
    let sealing = Sealing::GpgPassphrase(Passphrase::new("correct horse".to_owned()));
    let created = create(&place.request(&sealing, 1), &mut |_| {}).unwrap();
    let sidecar = created.backup.sidecar.unwrap();
    assert_eq!(sidecar.encrypted_to, ["passphrase"]);
    let line = "mkdir -p restored && gpg --decrypt hermes-all-";
    assert!(sidecar.open_with.starts_with(line), "{}", sidecar.open_with);
    let keys = tempfile::Builder::new().prefix("g").tempdir_in("/tmp").unwrap();
    let target = tempfile::tempdir().unwrap();
    let mut gpg = Command::new("gpg")
        .args(["--batch", "--no-tty", "--disable-dirmngr", "--no-auto-key-locate"])
        .args(["--pinentry-mode", "loopback", "--passphrase", "correct horse", "--decrypt"])
        .arg(&created.backup.path)
        .env("GNUPGHOME", keys.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let plain = gpg.stdout.take().unwrap();
    run(Command::new("tar").args(["--zstd", "-x", "-C"]).arg(target.path()).stdin(plain));
    assert!(gpg.wait().unwrap().success());
    run(Command::new("gpgconf").arg("--homedir").arg(keys.path()).args(["--kill", "all"]));
    check_database(&target.path().join(".hermes/state.db"));
}
