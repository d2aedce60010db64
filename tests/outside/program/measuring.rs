//! What is measured beside programs of others: shell programs, a PostgreSQL server.

use std::path::Path;
use std::process::Command;

/// Runs a measurement, and looks whether each of these figures is in its table.
fn is_measured(arguments: &[&str], figures: &[&str]) {
    let program = Path::new(env!("CARGO_BIN_EXE_hermes")).with_file_name("hermes-bench");
    let output = Command::new(program).args(arguments).output().unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for what in figures {
        let line = table.lines().find(|line| line.contains(what));
        let measured = line.unwrap_or_else(|| panic!("no figure for {what}")).split('|').nth(2);
        assert!(measured.unwrap().contains(|c: char| c.is_ascii_digit()), "{what}: {table}");
    }
}

#[test]
fn a_memory_on_a_server_is_measured_beside_one_in_a_file() {
    let programs = std::env::vars().find(|(name, _)| name == "HERMES_TEST_PGVECTOR");
    let programs = programs.expect("./test sets HERMES_TEST_PGVECTOR").1 + "/bin";
    let mut arguments = vec!["server", "--programs", &programs, "--messages", "1000"];
    arguments.extend(["--questions", "3", "--turns", "10", "--indexed", "100"]);
    let figures = [
        "context at 1,000 messages",
        "alike",
        "on disk",
        "turns, one process",
        "turns, 4 processes",
        "against one",
        "over HTTP, 4 connections",
        "with pgvector's index",
    ];
    is_measured(&arguments, &figures);
}

#[test]
fn backups_are_measured_beside_shell_programs() {
    let arguments =
        ["backup", "--messages", "200", "--length", "100", "--appends", "20", "--large", "1"];
    let figures = ["sqlite3 .backup", "backup verify", "writer's p99", "memory of restore"];
    is_measured(&arguments, &figures);
}
