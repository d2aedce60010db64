//! A large archive needs no more memory than a small one.

use std::fs::File;
use std::io::Write;

use hermes_backup::contents::Scope;
use hermes_backup::seal::{Keys, Passphrase, Sealing};
use hermes_backup::verify::verify;

use crate::sandbox::{Sandbox, is_full, now};

/// The most memory this process has had, in megabytes.
fn most_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

#[test]
fn two_gigabytes_are_verified_and_restored_in_little_memory() {
    let megabytes = if is_full() { 2048 } else { 64 };
    let sandbox = Sandbox::filled();
    let mut file = File::create(sandbox.root().join("large.bin")).unwrap();
    let mut block = vec![0u8; 1 << 20];
    let mut state = 1u64;
    for _ in 0..megabytes {
        // Half of it cannot be made smaller.
        for chunk in block[..1 << 19].chunks_mut(8) {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            chunk.copy_from_slice(&state.to_le_bytes());
        }
        file.write_all(&block).unwrap();
    }
    drop(file);
    let word = Passphrase::new("a long word".to_owned());
    let created = sandbox.backup_as(&Sealing::GpgPassphrase(word.clone()), Scope::All, 1);
    let keys = Keys::read(&[], Some(word)).unwrap();
    verify(&sandbox.backups(), &created.backup, &keys, now(), &mut |_| {}).unwrap();
    std::fs::remove_dir_all(sandbox.root()).unwrap();
    sandbox.restore_with(&created.backup.path, &keys).unwrap();
    let most = most_memory();
    assert!(most < 128, "{most} MB were needed");
}
