//! Every program that the tests of this package run is there; what is not is named.

use std::path::Path;

const PROGRAMS: &[&str] = &[
    "/usr/lib/postgresql/15/bin/postgres",
    "/usr/sbin/pgbouncer",
    "/usr/sbin/sshd",
    "age",
    "age-keygen",
    "chromium",
    "curl",
    "git",
    "gpg",
    "gpgconf",
    "make",
    "mount",
    "node",
    "openssl",
    "python3",
    "rsync",
    "script",
    "setpriv",
    "sftp",
    "sqlite3",
    "ssh",
    "ssh-keygen",
    "strace",
    "systemd-analyze",
    "tar",
    "unshare",
    "zstd",
];

/// What `./test` installs for itself, and the variables that say where.
const VARIABLES: &[&str] = &[
    "HERMES_TEST_BROWSER",
    "HERMES_TEST_CLIENTS",
    "HERMES_TEST_PEER",
    "HERMES_TEST_PGVECTOR",
    "HERMES_TEST_S3",
];

fn variable(wanted: &str) -> String {
    let found = std::env::vars().find(|(name, _)| name == wanted);
    found.map(|(_, value)| value).unwrap_or_default()
}

#[test]
fn every_program_that_these_tests_run_is_there() {
    let path = variable("PATH");
    let is_there = |name: &str| path.split(':').any(|folder| Path::new(folder).join(name).exists());
    let programs = PROGRAMS.iter().filter(|name| !is_there(name));
    let variables = VARIABLES.iter().filter(|name| !Path::new(&variable(name)).exists());
    let missing: Vec<&&str> = programs.chain(variables).collect();
    assert!(missing.is_empty(), "missing, `./test` installs or names them: {missing:?}");
}
