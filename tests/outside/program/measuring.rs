//! Backups are measured beside what a shell script with sqlite3, tar and gpg takes.

use std::path::Path;
use std::process::Command;

#[test]
fn backups_are_measured_beside_shell_programs() {
    let arguments =
        ["backup", "--messages", "200", "--length", "100", "--appends", "20", "--large", "1"];
    let program = Path::new(env!("CARGO_BIN_EXE_hermes")).with_file_name("hermes-bench");
    let output = Command::new(program).args(arguments).output().unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for what in ["sqlite3 .backup", "backup verify", "writer's p99", "memory of restore"] {
        let line = table.lines().find(|line| line.contains(what));
        let measured = line.unwrap_or_else(|| panic!("no figure for {what}")).split('|').nth(2);
        assert!(measured.unwrap().contains(|c: char| c.is_ascii_digit()), "{what}: {table}");
    }
}
