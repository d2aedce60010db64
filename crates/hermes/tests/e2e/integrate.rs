//! Agents are connected and disconnected: files of others come back to the byte, broken ones are left alone.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::sandbox::Sandbox;

/// Every agent with the files it may have, as people have them.
const AGENTS: &[(&str, &[(&str, &str)])] = &[
    (
        "claude-code",
        &[
            (".claude/settings.json", CLAUDE_SETTINGS),
            (
                ".claude.json",
                "{\"numStartups\":4,\"mcpServers\":{\"time\":{\"command\":\"uvx\",\"env\":{\"API_KEY\":\"sk-1\"}}}}",
            ),
        ],
    ),
    (
        "codex",
        &[
            (
                ".codex/config.toml",
                "model = \"o\" # mine\r\n\r\n[mcp_servers.time]\r\ncommand = \"uvx\"\r\n",
            ),
            (
                ".codex/hooks.json",
                "{\n\t\"hooks\": {\n\t\t\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say\"}]}]\n\t}\n}",
            ),
        ],
    ),
    (
        "cursor",
        &[
            (".cursor/mcp.json", "{\n    // mine\n    \"mcpServers\": {}\n}\n"),
            (
                ".cursor/hooks.json",
                "{\"version\": 1, \"hooks\": {\"stop\": [{\"command\": \"./x.sh\"}]}}\n",
            ),
        ],
    ),
    (
        "openclaw",
        &[(
            ".openclaw/openclaw.json",
            "{\n  // gateway\n  gateway: { port: 18789, },\n  agents: { list: ['a'] }\n}\n",
        )],
    ),
    (
        "hermes-agent",
        &[(
            ".hermes/config.yaml",
            "_config_version: 3\nmemory:\n  provider: mem0  # paid\n  write_approval: false\n# the end\n",
        )],
    ),
    (
        "goose",
        &[(
            ".config/goose/config.yaml",
            "GOOSE_MODEL: x\nextensions:\n  developer:\n    enabled: true # on\n    type: builtin\n",
        )],
    ),
    (
        "opencode",
        &[(
            ".config/opencode/opencode.jsonc",
            "{\n  \"$schema\": \"https://opencode.ai/config.json\", // s\n}\n",
        )],
    ),
    ("vscode", &[(".config/Code/User/mcp.json", "\u{feff}{\n\t\"servers\": {\n\t}\n}\n")]),
    (
        "zed",
        &[(".config/zed/settings.json", "// Zed settings\n{\n  \"theme\": \"One Dark\",\n}\n")],
    ),
];

const CLAUDE_SETTINGS: &str = r#"{
  "permissions": { "allow": ["Bash(ls:*)"] },
  // mine
  "hooks": {
    "Stop": [
      { "hooks": [ { "type": "command", "command": "notify-send done" } ] }
    ]
  },
  "model": "opus"
}
"#;

/// Every file below the user's folder but those of our own home, with its bytes.
fn tree(sandbox: &Sandbox) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    collect(sandbox.folder(), &mut found);
    found.retain(|path, _| {
        // What a killed run was writing.
        if path.extension().is_some_and(|ending| ending == "tmp") {
            return false;
        }
        let inside = path.strip_prefix(sandbox.home());
        !inside.is_ok_and(|inside| {
            !inside.starts_with("config.yaml") && !inside.starts_with("plugins")
        })
    });
    found
}

/// Files with their bytes, folders with none.
fn collect(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.insert(path.clone(), Vec::new());
            collect(&path, found);
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "tests write files as an editor would")]
fn put(sandbox: &Sandbox, path: &str, text: &str) -> PathBuf {
    let path = sandbox.folder().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn every_agent_is_connected_once_and_disconnected_to_the_byte() {
    for (agent, files) in AGENTS {
        for with_files in [true, false] {
            let sandbox = Sandbox::ready();
            if with_files {
                files.iter().for_each(|(path, text)| drop(put(&sandbox, path, text)));
            }
            let before = tree(&sandbox);
            if *agent == "hermes-agent" && !with_files {
                sandbox.fails(&["integrate", agent, "--yes"], 4, &["no home of Hermes Agent"]);
                continue;
            }
            sandbox.ok(&["integrate", agent, "--dry-run"]);
            assert_eq!(tree(&sandbox), before, "{agent}: a dry run wrote");
            sandbox.fails(&["integrate", agent], 5, &["--yes"]);
            assert_eq!(tree(&sandbox), before, "{agent}: written without consent");
            let diff = sandbox.ok(&["integrate", agent, "--yes"]);
            assert!(diff.contains("+++ ") && diff.contains("hermes"), "{agent}: {diff}");
            assert!(!diff.contains("sk-1"), "{diff}");
            let connected = tree(&sandbox);
            assert_ne!(connected, before, "{agent}");
            let again = sandbox.ok(&["integrate", agent, "--yes"]);
            assert!(again.contains("nothing to change"), "{agent}: {again}");
            assert_eq!(tree(&sandbox), connected, "{agent}: a second time changed something");
            let rows = sandbox.json(&["integrate"]);
            let row = rows["results"].as_array().unwrap().iter().find(|row| row["agent"] == *agent);
            assert_eq!(row.unwrap()["mcp"], "yes", "{agent}");
            sandbox.ok(&["integrate", "--remove", agent, "--yes"]);
            assert_eq!(tree(&sandbox), before, "{agent}: with files {with_files}");
            let gone = sandbox.ok(&["integrate", "--remove", agent, "--yes"]);
            assert!(gone.contains("nothing to change"), "{agent}: {gone}");
        }
    }
}

#[test]
fn a_bare_call_shows_the_table_and_changes_nothing() {
    let sandbox = Sandbox::empty();
    put(&sandbox, ".claude/settings.json", "{}");
    let before = tree(&sandbox);
    let shown = sandbox.ok(&["integrate"]);
    assert!(shown.contains("LAST EVENT SEEN") && shown.contains("claude-code"), "{shown}");
    let rows = sandbox.json(&["integrate"]);
    assert_eq!(rows["results"][0]["detected"], true);
    assert_eq!(rows["results"][1]["detected"], false);
    assert_eq!(tree(&sandbox), before);
    assert!(!sandbox.home().exists());
}

#[test]
fn broken_files_of_others_are_refused_by_line_and_left_as_they_are() {
    let broken = [
        ("claude-code", ".claude/settings.json", "{\n  \"a\": ]\n}\n", "line 2"),
        ("codex", ".codex/config.toml", "model = \n", "line 1"),
        ("goose", ".config/goose/config.yaml", "a: [1\nb: 2\n", "line"),
        ("openclaw", ".openclaw/openclaw.json", "{ gateway: { \n", "openclaw mcp set hermes"),
        ("zed", ".config/zed/settings.json", "[1, 2]", "not an object"),
    ];
    for (agent, path, text, words) in broken {
        let sandbox = Sandbox::ready();
        put(&sandbox, path, text);
        let before = tree(&sandbox);
        let ran = sandbox.run(&["integrate", agent, "--yes"]);
        ran.failed(1, &["could not change", words]);
        assert_eq!(tree(&sandbox), before, "{agent}");
    }
    let sandbox = Sandbox::ready();
    let path = put(&sandbox, ".claude/settings.json", "{}");
    #[expect(clippy::disallowed_methods, reason = "a file that is no text")]
    fs::write(&path, b"{\"a\": \"\xff\"}").unwrap();
    sandbox.fails(&["integrate", "claude-code", "--yes"], 1, &["not UTF-8"]);
    let taken =
        "{\"mcpServers\": {\"hermes\": {\"command\": \"hermes\", \"args\": [\"mcp\", \"serve\"]}}}";
    put(&sandbox, ".claude/settings.json", "{}");
    put(&sandbox, ".claude.json", taken);
    sandbox.fails(
        &["integrate", "claude-code", "--yes"],
        5,
        &["mcpServers.hermes", "not added by Hermes"],
    );
    assert_eq!(fs::read_to_string(sandbox.folder().join(".claude/settings.json")).unwrap(), "{}");
}

#[test]
fn all_that_are_here_are_connected_and_one_that_cannot_be_does_not_stop_the_others() {
    let sandbox = Sandbox::ready();
    put(&sandbox, ".codex/config.toml", "model = \n");
    put(&sandbox, ".cursor/mcp.json", "{}");
    put(&sandbox, ".config/zed/settings.json", "{}");
    let ran = sandbox.run(&["integrate", "--all-detected", "--yes"]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(ran.stderr.contains("skipped codex"), "{}", ran.stderr);
    let rows = sandbox.json(&["integrate"]);
    let connected: Vec<&str> = rows["results"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["mcp"] == "yes")
        .map(|row| row["agent"].as_str().unwrap())
        .collect();
    assert_eq!(connected, ["cursor", "zed"]);
    assert!(!sandbox.folder().join(".claude").exists());
}

#[test]
fn read_only_files_are_refused_and_links_stay_links() {
    let sandbox = Sandbox::ready();
    let path = put(&sandbox, ".claude/settings.json", CLAUDE_SETTINGS);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    sandbox.fails(&["integrate", "claude-code", "--yes"], 5, &["read-only"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), CLAUDE_SETTINGS);
    fs::remove_file(&path).unwrap();
    let real = put(&sandbox, "dotfiles/claude.json", CLAUDE_SETTINGS);
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&real, &path).unwrap();
    sandbox.ok(&["integrate", "claude-code", "--yes"]);
    assert!(path.symlink_metadata().unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("SessionStart"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    sandbox.ok(&["integrate", "--remove", "claude-code", "--yes"]);
    assert_eq!(fs::read_to_string(&real).unwrap(), CLAUDE_SETTINGS);
    fs::remove_file(&real).unwrap();
    sandbox.fails(&["integrate", "claude-code", "--yes"], 1, &["broken link"]);
}

#[test]
fn what_others_changed_since_stays_and_a_copy_of_before_is_kept() {
    let sandbox = Sandbox::ready();
    let path = put(&sandbox, ".claude/settings.json", CLAUDE_SETTINGS);
    sandbox.ok(&["integrate", "claude-code", "--yes"]);
    let kept: Value = serde_json::from_str(&sandbox.read("hermesd/integrations.json")).unwrap();
    let copy = kept["installed"][0]["files"][0]["copy"].as_str().unwrap();
    assert_eq!(fs::read_to_string(copy).unwrap(), CLAUDE_SETTINGS);
    let touched = fs::read_to_string(&path).unwrap().replace("\"opus\"", "\"sonnet\" // new");
    put(&sandbox, ".claude/settings.json", &touched);
    put(
        &sandbox,
        ".claude.json",
        "{\"mcpServers\": {\"hermes\": 1, \"mine\": {\"command\": \"x\"}}}",
    );
    sandbox.ok(&["integrate", "--remove", "claude-code", "--yes"]);
    let left = fs::read_to_string(&path).unwrap();
    assert_eq!(left, CLAUDE_SETTINGS.replace("\"opus\"", "\"sonnet\" // new"));
    // What took the place of ours is not ours.
    let servers = fs::read_to_string(sandbox.folder().join(".claude.json")).unwrap();
    assert!(servers.contains("\"hermes\": 1") && servers.contains("mine"), "{servers}");
}

#[test]
fn commands_name_this_program_and_the_home_and_follow_a_move() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["init", "--home", "other place"]);
    sandbox.ok(&["integrate", "codex", "--yes"]);
    let hooks = sandbox.folder().join(".codex/hooks.json");
    let first = fs::read_to_string(&hooks).unwrap();
    let program = env!("CARGO_BIN_EXE_hermes");
    assert!(first.contains(&format!("{program} hook codex")), "{first}");
    let other = sandbox.folder().join("other place");
    let text = sandbox.ok(&["integrate", "codex", "--yes", "--home", other.to_str().unwrap()]);
    assert!(text.contains("--home"), "{text}");
    let second: Value = serde_json::from_str(&fs::read_to_string(&hooks).unwrap()).unwrap();
    assert_eq!(second["hooks"]["Stop"].as_array().unwrap().len(), 1, "{second}");
    let line = second["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap();
    assert!(line.contains(&format!("--home '{}' hook codex", other.display())), "{line}");
}

#[test]
fn hooks_are_not_installed_beside_the_plugin() {
    let sandbox = Sandbox::ready();
    put(
        &sandbox,
        ".claude/settings.json",
        "{\"enabledPlugins\": {\"hermes-memory@hermes\": true}}",
    );
    sandbox.fails(&["integrate", "claude-code", "--yes"], 5, &["plugin", "--no-hooks"]);
    sandbox.ok(&["integrate", "claude-code", "--yes", "--no-hooks"]);
    put(&sandbox, ".codex/config.toml", "[plugins.\"hermes-memory@x\"]\nenabled = true\n");
    sandbox.fails(&["integrate", "codex", "--yes"], 5, &["plugin"]);
}

#[test]
fn a_project_gets_files_of_its_own() {
    let sandbox = Sandbox::ready();
    let project = sandbox.folder().join("shop");
    fs::create_dir_all(&project).unwrap();
    let run = |arguments: &[&str]| {
        let output = sandbox.command(arguments).current_dir(&project).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    for agent in ["claude-code", "cursor", "vscode"] {
        run(&["integrate", agent, "--scope", "project", "--yes"]);
    }
    for path in [
        ".mcp.json",
        ".claude/settings.json",
        ".cursor/rules/hermes-memory.mdc",
        ".vscode/mcp.json",
    ] {
        assert!(project.join(path).is_file(), "{path}");
    }
    assert!(!sandbox.folder().join(".claude").exists());
    for agent in ["claude-code", "cursor", "vscode"] {
        run(&["integrate", "--remove", agent, "--scope", "project", "--yes"]);
    }
    assert_eq!(fs::read_dir(&project).unwrap().count(), 0);
    sandbox.fails(&["integrate", "goose", "--scope", "project"], 2, &["project"]);
}

#[test]
fn variables_of_the_agents_move_their_files() {
    let sandbox = Sandbox::ready();
    let at = |inside: &str| sandbox.folder().join(inside);
    let run = |agent: &str| {
        let mut command = sandbox.command(&["integrate", agent, "--yes"]);
        command.env("CLAUDE_CONFIG_DIR", at("c")).env("CODEX_HOME", at("x"));
        command.env("XDG_CONFIG_HOME", at("s")).env("OPENCLAW_CONFIG_PATH", at("o/claw.json"));
        assert!(command.output().unwrap().status.success());
    };
    ["claude-code", "codex", "goose", "zed", "openclaw"].iter().for_each(|agent| run(agent));
    for path in [
        "c/settings.json",
        "c/.claude.json",
        "x/hooks.json",
        "s/goose/config.yaml",
        "s/zed/settings.json",
        "o/claw.json",
    ] {
        assert!(at(path).is_file(), "{path}");
    }
    assert!(!at(".claude").exists() && !at(".codex").exists() && !at(".config").exists());
}

#[test]
fn a_check_runs_what_is_installed_and_leaves_no_trace() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["memory", "fact", "add", "How we work on this project: trunk-based."]);
    for agent in ["claude-code", "codex", "cursor"] {
        sandbox.ok(&["integrate", agent, "--yes", "--no-mcp"]);
    }
    let before = sandbox.json(&["sessions", "list"]);
    let checked = sandbox.json(&["integrate", "--check"]);
    let results = checked["results"].as_array().unwrap();
    assert_eq!(results.len(), 3, "{checked}");
    for result in results {
        assert_eq!(result["ok"], true, "{checked}");
        assert!(result["milliseconds"].as_u64().unwrap() < 1000, "{checked}");
    }
    assert_eq!(sandbox.json(&["sessions", "list"]), before);
    assert!(!sandbox.path("hermesd/hooks.json").exists());
    let path = sandbox.folder().join(".codex/hooks.json");
    let text = fs::read_to_string(&path).unwrap();
    put(&sandbox, ".codex/hooks.json", &text.replace(env!("CARGO_BIN_EXE_hermes"), "/gone/hermes"));
    let ran = sandbox.run(&["integrate", "--check", "codex"]);
    assert_eq!(ran.code, 6, "{}", ran.stdout);
    assert!(ran.stdout.contains("could not start"), "{}", ran.stdout);
    sandbox.fails(&["integrate", "--check", "emacs"], 2, &["no agent emacs", "zed"]);
}

#[test]
fn killed_in_the_middle_a_file_is_the_old_one_or_the_new_one() {
    let sandbox = Sandbox::ready();
    let path = put(&sandbox, ".claude/settings.json", CLAUDE_SETTINGS);
    sandbox.ok(&["integrate", "claude-code", "--yes"]);
    let whole = tree(&sandbox);
    let new = fs::read_to_string(&path).unwrap();
    sandbox.ok(&["integrate", "--remove", "claude-code", "--yes"]);
    let before = tree(&sandbox);
    for round in 0..12 {
        let mut command = sandbox.command(&["integrate", "claude-code", "--yes"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        (0..round * 400).for_each(|_| std::thread::yield_now());
        let _ = child.kill();
        child.wait().unwrap();
        let now = fs::read_to_string(&path).unwrap();
        assert!(now == CLAUDE_SETTINGS || now == new, "{now}");
        if round % 3 == 2 {
            sandbox.ok(&["integrate", "--remove", "claude-code", "--yes"]);
            assert_eq!(tree(&sandbox), before);
        }
    }
    sandbox.ok(&["integrate", "claude-code", "--yes"]);
    assert_eq!(tree(&sandbox), whole);
}

#[test]
fn a_page_gets_one_block_that_goes_without_a_trace() {
    let sandbox = Sandbox::ready();
    let text = "# Rules\n\nBe kind.";
    let path = put(&sandbox, "AGENTS.md", text);
    sandbox.ok(&["integrate", "--agents-md", "AGENTS.md", "--yes"]);
    let with = fs::read_to_string(&path).unwrap();
    assert!(with.starts_with(text) && with.matches("hermes:begin").count() == 1, "{with}");
    let again = sandbox.ok(&["integrate", "--agents-md", "AGENTS.md", "--yes"]);
    assert!(again.contains("nothing to change"), "{again}");
    sandbox.ok(&["integrate", "--agents-md", "NEW.md", "--yes"]);
    sandbox.ok(&["integrate", "--remove", "agents-md", "--yes"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert!(!sandbox.folder().join("NEW.md").exists());
    put(&sandbox, "AGENTS.md", "<!-- hermes:end --> x <!-- hermes:begin -->");
    sandbox.fails(&["integrate", "--agents-md", "AGENTS.md", "--yes"], 5, &["markers"]);
}

#[test]
fn a_plugin_folder_has_every_manifest_and_never_replaces_something_else() {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["integrate", "--emit-plugin", "out"]);
    let read = |path: &str| fs::read_to_string(sandbox.folder().join("out").join(path)).unwrap();
    let json = |path: &str| -> Value { serde_json::from_str(&read(path)).unwrap() };
    for path in ["plugin.json", ".claude-plugin/plugin.json", ".codex-plugin/plugin.json"] {
        assert_eq!(json(path)["name"], "hermes-memory", "{path}");
    }
    assert_eq!(json(".mcp.json")["mcpServers"]["hermes"]["args"][0], "mcp");
    assert!(json("hooks/hooks.json")["hooks"]["UserPromptSubmit"].is_array());
    let skill = sandbox.folder().join("out/skills/hermes-memory");
    sandbox.ok(&["skills", "validate", skill.to_str().unwrap()]);
    sandbox.ok(&["integrate", "--emit-plugin", "out"]);
    put(&sandbox, "full/notes.txt", "mine");
    sandbox.fails(&["integrate", "--emit-plugin", "full"], 5, &["notes.txt"]);
}
