//! Knows the tools that answer from a memory, so that what they say is not taken in as a new memory.

use serde_json::Value;

/// What tools of this program are called: those of the MCP server in each of its forms, of the chat, of the plugin.
const TOOLS: &[&str] = &[
    "memory_search",
    "memory_context",
    "memory_get",
    "memory_add",
    "memory_update",
    "memory_forget",
    "memory_history",
    "memory_reflect",
    "memory_status",
    "session_search",
    "add_memory",
    "search_memories",
    "get_memories",
    "get_memory",
    "update_memory",
    "delete_memory",
    "create_entities",
    "create_relations",
    "add_observations",
    "delete_entities",
    "delete_observations",
    "delete_relations",
    "read_graph",
    "search_nodes",
    "open_nodes",
];

/// The tool of memory files has a name that the names of other tools end with.
const WHOLE_NAME: &str = "memory";

/// What the server is called where it was connected by this program.
const SERVER: &str = "hermes";

/// The commands of this program that tell what is remembered or was said.
const COMMANDS: &[&str] = &["memory", "sessions", "session", "user", "users", "handover", "chat"];

/// How many words may stand between the program and its command: `hermes --profile x --json memory`.
const MOST_OPTIONS: usize = 6;

/// Files that hold memories, by the end of their path or a part of it.
const FILES: &[&str] =
    &["memories/memory.md", "memories/user.md", "memories/users/", "memory.db", "state.db"];

/// Whether a tool of this name answers from a memory, whatever a client puts before the name.
pub fn answers_from_memory(tool: &str) -> bool {
    let plain = plain_name(tool);
    let is_named = |known: &&str| {
        let before = plain.strip_suffix(*known);
        before.is_some_and(|before| before.is_empty() || before.ends_with('_'))
    };
    let of_server = plain
        .rsplit_once('_')
        .is_some_and(|(before, _)| before.split('_').any(|part| part == SERVER));
    plain == WHOLE_NAME || of_server || TOOLS.iter().any(is_named)
}

/// Whether a call reads a memory by other ways: this program in a shell, or the files of a home.
pub fn reads_memory(arguments: &Value) -> bool {
    match arguments {
        Value::String(text) => names_a_file(text) || runs_this_program(text),
        Value::Array(values) => {
            let words: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
            runs_this_program(&words.join(" ")) || values.iter().any(reads_memory)
        }
        Value::Object(fields) => fields.values().any(reads_memory),
        _ => false,
    }
}

/// `mcp__Hermes__memory-search` and `hermes.memorySearch` are `mcp_hermes_memory_search` and `hermes_memory_search`.
fn plain_name(tool: &str) -> String {
    let mut plain = String::with_capacity(tool.len() + 4);
    let mut was_small = false;
    for letter in tool.trim().chars() {
        if !letter.is_alphanumeric() {
            push_gap(&mut plain);
            was_small = false;
            continue;
        }
        if letter.is_uppercase() && was_small {
            push_gap(&mut plain);
        }
        was_small = letter.is_lowercase();
        plain.extend(letter.to_lowercase());
    }
    plain
}

fn push_gap(plain: &mut String) {
    if !plain.is_empty() && !plain.ends_with('_') {
        plain.push('_');
    }
}

fn names_a_file(text: &str) -> bool {
    let lower = text.to_lowercase().replace('\\', "/");
    FILES.iter().any(|file| lower.contains(file))
}

fn runs_this_program(text: &str) -> bool {
    let is_gap = |letter: char| letter.is_whitespace() || ";|&()`\"'".contains(letter);
    let words: Vec<&str> = text.split(is_gap).filter(|word| !word.is_empty()).collect();
    let is_program = |word: &str| word.rsplit(['/', '\\']).next() == Some(SERVER);
    words.iter().enumerate().any(|(place, word)| {
        let following = words.iter().skip(place + 1).take(MOST_OPTIONS);
        is_program(word) && following.into_iter().any(|word| COMMANDS.contains(word))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn our_tools_are_known_by_whatever_name_a_client_gives_them() {
        for tool in TOOLS.iter().chain(&[WHOLE_NAME]) {
            for name in [
                (*tool).to_owned(),
                format!("mcp__hermes__{tool}"),
                format!("mcp_hermes_{tool}"),
                format!("hermes.{tool}"),
                format!("hermes-{tool}"),
                format!("Hermes/{tool}"),
            ] {
                assert!(answers_from_memory(&name), "{name}");
            }
        }
        for name in
            ["mcp__hermes__search", "mcp__my_notes__memory_search", "memorySearch", "sessionSearch"]
        {
            assert!(answers_from_memory(name), "{name}");
        }
    }

    #[test]
    fn other_tools_are_taken_in() {
        for name in [
            "",
            "Bash",
            "read_file",
            "get_process_memory",
            "in_memory",
            "web_search",
            "hermes",
            "search",
        ] {
            assert!(!answers_from_memory(name), "{name}");
        }
    }

    #[test]
    fn a_shell_and_a_reader_of_files_can_ask_a_memory_too() {
        for asked in [
            json!({"command": "hermes memory search piano"}),
            json!({"command": "cd /tmp && /usr/bin/hermes --profile coder --json memory fact list | head"}),
            json!({"cmd": ["hermes", "sessions", "show", "s1"]}),
            json!({"path": "/home/a/.hermes/memories/MEMORY.md"}),
            json!({"files": [{"path": "~/.hermes/memories/users/ana/USER.md"}]}),
            json!({"command": "sqlite3 ~/.hermes/memory.db 'select text from message'"}),
            json!("cat ~/.hermes/memories/USER.md"),
        ] {
            assert!(reads_memory(&asked), "{asked}");
        }
        for asked in [
            json!({"command": "cargo test -p hermes-memory"}),
            json!({"command": "free -m"}),
            json!({"path": "docs/MEMORY.md"}),
            json!({"command": "hermes doctor"}),
            json!(null),
        ] {
            assert!(!reads_memory(&asked), "{asked}");
        }
    }
}
