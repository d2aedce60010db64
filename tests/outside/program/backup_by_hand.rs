//! A backup is opened with the line that the program prints and with stock programs alone.

use std::fs;
use std::path::Path;

use crate::sandbox::Sandbox;

/// Runs a line of shell in the user's folder; what it prints.
fn shell(sandbox: &Sandbox, line: &str) -> String {
    let output = sandbox.command_of(Path::new("/bin/sh"), &["-c", line]).output().unwrap();
    assert!(output.status.success(), "{line}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_printed_line_opens_a_backup_with_stock_programs_alone() {
    const GPG: &str = "gpg --homedir g --batch --quiet --disable-dirmngr";
    let sandbox = Sandbox::ready();
    sandbox.write("SOUL.md", "You are a careful librarian.\n");
    let id = sandbox.ok(&["sessions", "create"]);
    sandbox.ok(&["sessions", "append", id.trim(), "--role", "user", "the capstan is deployed"]);
    sandbox.ok(&["backup", "key", "generate", "--no-passphrase", "--private", "private.asc"]);
    let made = sandbox.json(&["backup", "create"]);
    let archive = made["path"].as_str().unwrap();
    shell(&sandbox, &format!("mkdir -m 700 g && {GPG} --import private.asc"));
    let line = made["open_with"].as_str().unwrap();
    let line = line
        .replacen("gpg ", &format!("{GPG} "), 1)
        .replace(Path::new(archive).file_name().unwrap().to_str().unwrap(), archive);
    shell(&sandbox, &line);
    shell(&sandbox, "gpgconf --homedir g --kill all");
    let soul = fs::read_to_string(sandbox.folder().join("restored/.hermes/SOUL.md")).unwrap();
    assert_eq!(soul, "You are a careful librarian.\n");
    let count = "sqlite3 restored/.hermes/state.db 'select count(*) from messages'";
    assert_eq!(shell(&sandbox, count).trim(), "1");
}
