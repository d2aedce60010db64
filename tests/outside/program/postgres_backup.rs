//! Backups of a memory on a PostgreSQL server: dumped, brought back by one command, never over what is there.

use serde_json::{Value, json};

use crate::folk::{facts, names, three_people};
use crate::pg_server::{self, Flavour, Server};
use crate::postgres::{as_app_role, database, found, home_on, join};
use crate::sandbox::{Ran, Sandbox};

const STAGING: &str = "The staging database listens on port 5433";

/// A home whose memory is used as the role of daemons, with something in it.
fn filled(server: &Server) -> (Sandbox, String) {
    let url = server.fresh_database();
    let sandbox = home_on(&url);
    let app = as_app_role(server, &url, &sandbox);
    join(&sandbox, &app);
    sandbox.ok(&["memory", "fact", "add", STAGING]);
    let turn = ["memory", "turn", "--user-text", "We moved the bakery to Lisbon."];
    sandbox.ok(&[&turn[..], &["--assistant-text", "Noted."]].concat());
    (sandbox, url)
}

/// Makes the tables anew, with the rights of the role, as whoever looks after a server would.
fn wipe(server: &Server, url: &str, sandbox: &Sandbox) {
    let name = database(url);
    server.sql(name, "drop schema hermes cascade");
    let role = format!("app_{name}");
    join(sandbox, url);
    let tables = sandbox.ok(&["db", "migrate", "--print-sql", "--role", &role]);
    server.sql(name, &tables);
    join(sandbox, &url.replace("postgres@", &format!("{role}@")));
}

fn backup(sandbox: &Sandbox) -> Value {
    sandbox.json(&["backup", "create", "--plaintext"])
}

/// How the memory of the home came, and what there is to say of it.
fn brought(done: &Value) -> (String, String) {
    let memory = &done["memories"][0];
    (memory["how"].as_str().unwrap_or_else(|| panic!("{done}")).to_owned(), memory.to_string())
}

/// The program where PostgreSQL's own programs are not.
fn without_programs(sandbox: &Sandbox, arguments: &[&str]) -> Ran {
    let folder = sandbox.folder().join("no-programs");
    std::fs::create_dir_all(&folder).unwrap();
    Ran::of(&sandbox.command(arguments).env("PATH", folder).output().unwrap())
}

fn is_found(sandbox: &Sandbox) {
    assert!(found(sandbox, "which port does staging use").contains("5433"));
    assert!(found(sandbox, "where is the bakery").contains("Lisbon"));
}

#[test]
fn a_memory_that_was_lost_on_the_server_is_back_by_one_command() {
    let server = pg_server::shared(Flavour::Plain);
    let (sandbox, url) = filled(server);
    let made = backup(&sandbox);
    assert_eq!(made["memories"][0]["how"], "dump", "{made}");
    let count = |what: &str| server.sql(database(&url), &format!("select count(*) from {what}"));
    let before = (count("hermes.vector"), count("hermes.chunk_words"), count("hermes.audit"));
    wipe(server, &url, &sandbox);
    assert_eq!(count("hermes.fact").trim(), "0");
    let done = sandbox.json(&["backup", "restore", "latest", "--yes"]);
    let (how, said) = brought(&done);
    assert_eq!((how.as_str(), &done["memories"][0]["remarks"]), ("dump", &json!([])), "{said}");
    is_found(&sandbox);
    let after = (count("hermes.vector"), count("hermes.chunk_words"), count("hermes.audit"));
    assert_eq!(before, after);
    assert!(!sandbox.path("memory.db").exists() && !sandbox.path("memory.pgdump").exists());
    // What comes afterwards gets numbers of its own, and another profile too.
    sandbox.ok(&["memory", "fact", "add", "The cat is called Kipper"]);
    assert_eq!(sandbox.json(&["memory", "fact", "list"])["results"].as_array().unwrap().len(), 2);
    sandbox.ok(&["profile", "create", "work"]);
    for file in ["config.yaml", ".env"] {
        sandbox.write(&format!("profiles/work/{file}"), sandbox.read(file));
    }
    sandbox.ok(&["-p", "work", "memory", "fact", "add", "The lease ends in May"]);
    assert!(!sandbox.ok(&["memory", "fact", "list"]).contains("lease"));
    sandbox.ok(&["doctor"]);
}

#[test]
fn without_the_programs_of_postgresql_an_export_does_it() {
    let server = pg_server::shared(Flavour::Plain);
    let (sandbox, url) = filled(server);
    let ran = without_programs(&sandbox, &["backup", "create", "--plaintext"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("pg_dump: it is not installed"), "{}", ran.stdout);
    wipe(server, &url, &sandbox);
    let done = sandbox.json(&["backup", "restore", "latest", "--yes"]);
    assert_eq!(brought(&done).0, "export", "{done}");
    is_found(&sandbox);
    // A dump that nothing can read is as good as none.
    backup(&sandbox);
    wipe(server, &url, &sandbox);
    let ran = without_programs(&sandbox, &["backup", "restore", "latest", "--yes", "--json"]);
    let done: Value =
        serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.stderr));
    let (how, said) = brought(&done);
    assert_eq!((how.as_str(), ran.code), ("export", 0), "{said}");
    assert!(said.contains("pg_restore"), "{said}");
    is_found(&sandbox);
}

#[test]
fn a_backup_holds_nothing_of_the_profiles_of_others() {
    let server = pg_server::shared(Flavour::Plain);
    let (sandbox, url) = filled(server);
    let other = home_on(&url);
    other.ok(&["profile", "create", "theirs"]);
    for file in ["config.yaml", ".env"] {
        other.write(&format!("profiles/theirs/{file}"), other.read(file));
    }
    other.ok(&["-p", "theirs", "memory", "fact", "add", "Their marmalade is hidden"]);
    let made = backup(&sandbox);
    assert_eq!(made["memories"][0]["how"], "dump", "{made}");
    let into = sandbox.folder().join("looked");
    sandbox.ok(&["backup", "restore", "latest", "--to", into.to_str().unwrap()]);
    let mut command = server.program("pg_restore");
    command.args(["--data-only", "--file", "-"]).arg(into.join("memory.pgdump"));
    let text = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(text.contains("port 5433") && !text.contains("marmalade"), "{text}");
    // Whoever is let past the rules would dump everything, so nothing is dumped.
    let made = backup(&other);
    assert_eq!(made["memories"][0]["how"], "export", "{made}");
    assert!(made["memories"][0].to_string().contains("bypasses the row-level security"), "{made}");
}

#[test]
fn a_memory_that_is_still_there_stays_or_goes_aside_and_comes_back() {
    let server = pg_server::shared(Flavour::Plain);
    let (sandbox, _) = filled(server);
    sandbox.ok(&["memory", "fact", "add", "The gate code is 4711"]);
    backup(&sandbox);
    let gate = sandbox.json(&["memory", "fact", "list"])["results"].as_array().unwrap().clone();
    let gate = gate.iter().find(|fact| fact["text"] == "The gate code is 4711").unwrap();
    sandbox.ok(&["memory", "fact", "delete", gate["id"].as_str().unwrap(), "--yes"]);
    sandbox.ok(&["memory", "fact", "add", "The cat is called Kipper"]);
    let cats = |sandbox: &Sandbox| sandbox.ok(&["memory", "fact", "list"]).contains("Kipper");
    let done = sandbox.json(&["backup", "restore", "latest", "--yes"]);
    assert_eq!(brought(&done).0, "left", "{done}");
    assert!(cats(&sandbox) && !sandbox.path("memory.db").exists());
    let done = sandbox.json(&["backup", "restore", "latest", "--replace-memory", "--yes"]);
    let kept = done["memories"][0]["kept_as"].as_str().unwrap_or_else(|| panic!("{done}"));
    assert!(kept.starts_with("default.before-restore-"), "{done}");
    assert!(!cats(&sandbox));
    // What was deleted since the backup stays so.
    assert!(!sandbox.ok(&["memory", "fact", "list"]).contains("4711"), "{done}");
    is_found(&sandbox);
    let back = sandbox.json(&["backup", "restore", "--rollback", "--yes"]);
    assert!(back["remarks"].to_string().contains("is the earlier one again"), "{back}");
    assert!(cats(&sandbox));
    is_found(&sandbox);
}

#[test]
fn what_cannot_be_brought_now_waits_in_the_home_and_goes_to_another_server() {
    let server = pg_server::shared(Flavour::Plain);
    let url = server.tcp_url(database(&server.fresh_database()));
    let sandbox = home_on(&url);
    sandbox.ok(&["memory", "fact", "add", STAGING]);
    let made = backup(&sandbox);
    let file = made["path"].as_str().unwrap().to_owned();
    let other = Sandbox::empty();
    let nowhere = "postgres://u@127.0.0.1:1/x?connect_timeout=2";
    let restore = ["backup", "restore", &file, "--yes", "--json"];
    let ran = Ran::of(&other.command(&restore).env("HERMES_DB_URL", nowhere).output().unwrap());
    assert_eq!(ran.code, 3, "{} {}", ran.stdout, ran.stderr);
    let done: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(brought(&done).0, "failed", "{done}");
    assert!(other.path("memory.db").exists() && !other.path("memory.pgdump").exists());
    join(&other, &server.fresh_database());
    let copied = other.json(&["db", "copy", "--to", "postgres"]);
    assert_eq!(copied["is_twin"], true, "{copied}");
    assert!(found(&other, "staging port").contains("5433"));
}

#[test]
fn who_was_forgotten_on_a_server_stays_so_when_an_older_backup_is_restored() {
    let server = pg_server::shared(Flavour::Plain);
    for programs in [true, false] {
        let (sandbox, url) = filled(server);
        three_people(&sandbox);
        backup(&sandbox);
        sandbox.ok(&["user", "forget", "ana", "--yes"]);
        wipe(server, &url, &sandbox);
        let restore = ["backup", "restore", "latest", "--yes", "--json"];
        let ran = match programs {
            true => sandbox.run(&restore),
            false => without_programs(&sandbox, &restore),
        };
        let done: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(brought(&done).0, if programs { "dump" } else { "export" }, "{done}");
        assert!(done.to_string().contains("erased again"), "{done}");
        assert_eq!(names(&sandbox), ["owner", "ben"]);
        assert!(facts(&sandbox, "ben").contains(&"porridge is good".to_owned()));
        let left = server.sql(
            database(&url),
            "select count(*) from hermes.fact where statement like '%marmalade%'",
        );
        let said = server.sql(
            database(&url),
            "select count(*) from hermes.message where text like '%marmalade%'",
        );
        assert_eq!((left.trim(), said.trim()), ("0", "0"));
        assert!(sandbox.ok(&["user", "forget", "--again"]).contains("no forgotten user came back"));
    }
}

#[test]
fn a_server_that_is_newer_than_pg_dump_is_exported() {
    let server = pg_server::shared(Flavour::Vector);
    let url = server.fresh_database();
    let sandbox = home_on(&url);
    sandbox.ok(&["memory", "fact", "add", STAGING]);
    // A program that says that it is older.
    let folder = sandbox.folder().join("old-programs");
    sandbox.write("../old-programs/pg_dump", "#!/bin/sh\necho 'pg_dump (PostgreSQL) 9.6.1'\n");
    let mut command = std::process::Command::new("chmod");
    assert!(command.arg("+x").arg(folder.join("pg_dump")).status().unwrap().success());
    let create = ["backup", "create", "--plaintext"];
    let ran = Ran::of(&sandbox.command(&create).env("PATH", &folder).output().unwrap());
    assert!(ran.stdout.contains("older than the server"), "{} {}", ran.stdout, ran.stderr);
    server.sql(database(&url), "drop schema hermes cascade");
    let done = sandbox.json(&["backup", "restore", "latest", "--yes"]);
    assert_eq!(brought(&done).0, "export", "{done}");
    assert!(found(&sandbox, "staging port").contains("5433"));
}
