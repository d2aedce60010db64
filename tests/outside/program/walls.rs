//! The walls around the agent's commands, tried with the programs that agents run: sh, git, make, python3.
#![expect(clippy::print_stdout, reason = "docs/SECURITY.md has the counts")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::json;

use crate::model_server::{KEY, ModelServer, Reply};
use crate::sandbox::{Ran, Sandbox};
use crate::talks::{events, talk};

/// Runs one command of the agent and returns what the model was told of it.
fn command(sandbox: &Sandbox, line: &str, options: &[&str]) -> String {
    let server = ModelServer::start(vec![
        Reply::call("terminal", &json!({"command": line})),
        Reply::text("ok"),
    ]);
    let all: Vec<&str> = [&["--json", "-q", "go"][..], options].concat();
    let ran = talk(sandbox, &server, &all, &[]);
    let told = events(&ran).into_iter().find(|one| one["event"] == "tool_ended");
    told.map(|one| one["text"].as_str().unwrap_or_default().to_owned()).unwrap_or(ran.stderr)
}

/// Whether this kernel keeps commands inside of folders.
fn has_landlock() -> bool {
    let probe = Command::new(env!("CARGO_BIN_EXE_hermes")).args(["__confine", "--probe"]).output();
    String::from_utf8_lossy(&probe.unwrap().stdout).starts_with("files ")
}

#[test]
fn a_command_touches_its_folders_alone_and_has_no_network() {
    assert!(has_landlock(), "this test needs a kernel with Landlock");
    let sandbox = Sandbox::ready();
    let outside = tempfile::tempdir().unwrap();
    fs::set_permissions(outside.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let secret = outside.path().join("secret.txt");
    std::io::Write::write_all(&mut fs::File::create(&secret).unwrap(), b"hunter2\n").unwrap();
    let out = outside.path().display();
    let home = sandbox.home().display().to_string();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = port.local_addr().unwrap().port();
    let connect = format!(
        "python3 -c \"import socket; socket.create_connection(('127.0.0.1', {address}), 2); print('con'+'nected')\""
    );
    let udp = "python3 -c \"import socket; s=socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('127.0.0.1', 9)); s.send(b'x'); print('se'+'nt')\"";
    let breaches = [
        (format!("cat {}", secret.display()), "hunter2"),
        (format!("echo x > {out}/owned; ls {out} | tr w W"), "oWned"),
        (format!("ln -s {} link; cat link", secret.display()), "hunter2"),
        (format!("cat {home}/config.yaml && echo re''ad"), "read"),
        (format!("cat {home}/state.db > copied && echo co''pied"), "copied\n"),
        ("cat /proc/$PPID/environ | tr '\\0' '\\n'".to_owned(), KEY),
        (
            "for p in /pro?/[0-9]*; do cat $p/environ; done 2>/dev/null | tr '\\0' '\\n'"
                .to_owned(),
            KEY,
        ),
        (connect.clone(), "connected"),
        (udp.to_owned(), "sent"),
        ("env".to_owned(), KEY),
    ];
    let all = ["--allow", "sh", "--allow", "cat"];
    let mut found = 0;
    for (line, sign) in &breaches {
        // Quoted once more, as a rule of its own that lets exactly this pass.
        let rule = format!("sh -c {}", quoted(line));
        let told = command(&sandbox, &rule, &["--allow", &rule, all[0], all[1]]);
        let is_breach = told.contains(sign);
        assert!(!told.contains("not done") && told.contains("exit code"), "{line}: {told}");
        found += usize::from(is_breach);
        assert!(!is_breach, "{line}: {told}");
    }
    assert!(!outside.path().join("owned").exists());
    println!("commands that reach beyond the fence: {} tries, {found} breaches", breaches.len());
    // The same without walls, and with the network allowed: the tries themselves are sound.
    for (number, options) in [
        (0, vec!["--set", "agent.confine=false"]),
        (7, vec!["--set", "agent.confine=false"]),
        (7, vec!["--set", "agent.network=[\"*\"]"]),
        (8, vec!["--set", "agent.network=[\"*\"]"]),
    ] {
        let (line, sign) = &breaches[number];
        let rule = format!("sh -c {}", quoted(line));
        let told = command(&sandbox, &rule, &[&["--allow", &rule][..], &options].concat());
        assert!(told.contains(sign), "{line} {options:?}: {told}");
    }
}

fn quoted(line: &str) -> String {
    format!("'{}'", line.replace('\'', "'\\''"))
}

#[test]
fn a_confined_command_does_its_work() {
    let sandbox = Sandbox::ready();
    let line = "mkdir -p a && echo hello > a/b && cat a/b && echo x > $TMPDIR/t && rm -r a && ls /usr > /dev/null && echo done";
    let rule = format!("sh -c {}", quoted(line));
    let told = command(&sandbox, &rule, &["--allow", &rule]);
    assert!(told.contains("hello\ndone\n") && told.contains("(exit code 0)"), "{told}");
    let told = command(&sandbox, "git init -q . && git status", &["--allow", "git"]);
    assert!(told.contains("No commits yet"), "{told}");
    let told = command(&sandbox, "sh -c 'exit 3'", &["--allow", "sh -c 'exit 3'"]);
    assert!(told.contains("exit code 3; it could change only"), "{told}");
}

#[test]
fn each_wall_holds_by_itself_and_nothing_runs_without_one_that_was_announced() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!(
        "import socket; socket.create_connection(('127.0.0.1', {port}), 2); print('connected')"
    );
    let launched = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hermes"));
        Ran::of(&command.arg("__confine").args(arguments).output().unwrap())
    };
    let python = ["--", "python3", "-c", &connect];
    assert!(launched(&python).stdout.contains("connected"));
    for wall in ["tcp", "whole"] {
        let ran = launched(&[&["--no-network", wall][..], &python].concat());
        assert!(ran.code != 0 && !ran.stdout.contains("connected"), "{wall}: {}", ran.stderr);
    }
    // Landlock alone, as where no namespace can be made.
    let folder = tempfile::tempdir().unwrap();
    let (inside, outside) = (folder.path().join("in"), folder.path().join("out"));
    fs::create_dir_all(&inside).unwrap();
    fs::create_dir_all(&outside).unwrap();
    let line = format!("touch {0}/x; touch {1}/x", inside.display(), outside.display());
    let given = inside.display().to_string();
    let system = ["/usr", "/bin", "/lib", "/lib64", "/etc"].map(|path| ["--read", path]).concat();
    let walls = [&["--files", "--write", &given][..], &system].concat();
    launched(&[&walls[..], &["--", "/bin/sh", "-c", &line]].concat());
    assert!(inside.join("x").exists() && !outside.join("x").exists());
    // What cannot be hidden, or is not understood, lets nothing run.
    let made = inside.join("made").display().to_string();
    for walls in [&["--hide", "/no/such/folder"][..], &["--no-network", "some"], &["--walls"]] {
        let ran = launched(&[walls, &["--", "touch", &made]].concat());
        assert_eq!(ran.code, 126, "{walls:?}: {}", ran.stderr);
        assert!(!inside.join("made").exists(), "{walls:?}");
    }
}

/// Rules that allow and deny, and lines that try to get around them.
#[test]
fn rules_see_through_options() {
    let sandbox = Sandbox::ready();
    sandbox.write("../.env", "TOKEN=hunter2\n");
    sandbox.write("../Makefile", "all:\n\t@echo made\n");
    sandbox.ok(&["config", "set", "agent.allow", "[\"git\", \"make\", \"grep\", \"cat\", \"cd\"]"]);
    sandbox.ok(&["config", "set", "agent.deny", "[\"git push\"]"]);
    assert!(command(&sandbox, "git init -q", &[]).contains("exit code 0"));
    let asks = [
        "git diff --output=owned",
        "git fetch --upload-pack='touch owned' .",
        "make --eval='x:;touch owned' x",
        "make SHELL=/tmp/x",
        "cat /proc/self/environ",
        "cat /proc/1/environ",
        "grep -r TOKEN",
        "grep -r TOKEN .",
        "grep -R TOKEN *",
        "grep --recursive TOKEN .",
        "grep -f.env x",
        "git show HEAD:.env",
        "cd / && cat etc/passwd",
        "cd .. && cat x",
    ];
    let denied =
        ["git --no-pager push", "git -C . push", "git -c a=b push", "cat x; git --bare push"];
    for line in asks.into_iter().chain(denied) {
        let told = command(&sandbox, line, &[]);
        let is_stopped = told.contains("nobody is there to be asked") || told.contains("not run:");
        assert!(is_stopped && !told.contains("exit code"), "{line}: {told}");
        assert_eq!(denied.contains(&line), told.contains("agent.deny forbids"), "{line}: {told}");
    }
    assert!(!sandbox.folder().join("owned").exists());
    println!(
        "lines that go around rules by options: {} tries, 0 breaches",
        asks.len() + denied.len()
    );
    for line in [
        "git --no-pager log -5",
        "git diff --stat",
        "make -s all",
        "grep -n all Makefile",
        "cd . && cat Makefile",
    ] {
        assert!(!command(&sandbox, line, &[]).contains("nobody is there"), "{line}");
    }
}
