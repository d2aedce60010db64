//! A command that does not exist: the one that was meant, by its meaning or by its letters.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use hermes_app::problem::Problem;

/// What people type, and what does it here.
const MEANT: &[(&[&str], &str)] = &[
    (&["find", "grep", "query", "recall", "lookup"], "search with `hermes search \"…\"`"),
    (
        &["remember", "note", "save", "store", "learn", "write"],
        "store an entry with `hermes add \"…\"`",
    ),
    (&["delete", "remove", "rm", "erase", "drop"], "forget a fact with `hermes forget`"),
    (
        &["list", "ls", "fact", "facts", "entries"],
        "list facts with `hermes memory fact list`, entries with `hermes memory show`",
    ),
    (
        &["show", "cat", "get"],
        "show entries with `hermes memory show`, a fact with `hermes memory fact show ID`",
    ),
    (&["ask", "talk", "agent", "prompt"], "talk to a model with `hermes chat`"),
    (
        &["connect", "link", "setup", "install", "hooks", "plugin"],
        "connect an agent with `hermes integrate`; `hermes start` creates the home",
    ),
    (&["ui", "web", "gui", "open", "browser"], "open the dashboard with `hermes dashboard`"),
    (&["daemon", "serve", "server", "up"], "start the daemon with `hermes start`"),
    (&["down", "kill", "quit"], "stop the daemon with `hermes stop`"),
    (&["settings", "setting", "set", "env"], "read and change settings with `hermes config`"),
    (&["health", "check", "verify", "fix", "repair"], "check everything with `hermes doctor`"),
    (&["info", "stats", "state"], "see what the memory contains with `hermes memory status`"),
    (&["restore", "snapshot"], "restore a backup with `hermes backup restore`"),
    (
        &["export", "dump"],
        "export the memory with `hermes memory export`, conversations with `hermes sessions export`",
    ),
    (
        &["history", "conversations", "chats", "transcript"],
        "list conversations with `hermes sessions list`",
    ),
    (&["undo", "revert"], "undo the last thing that was remembered with `hermes memory undo`"),
    (&["persona", "identity", "personality"], "edit the persona with `hermes soul edit`"),
    (
        &["migrate", "migration"],
        "migrate the tables of a server with `hermes db migrate`, from OpenClaw with `hermes claw migrate`",
    ),
    (&["reflect", "lessons", "reflections"], "list lessons with `hermes memory reflections list`"),
    (
        &["compact", "summarise", "summarize", "compress"],
        "summarise old conversations with `hermes memory compact`",
    ),
    (
        &["login", "auth", "key", "keys"],
        "manage tokens of the API with `hermes token`; store a model's key with `hermes config set`",
    ),
    (&["models", "llm"], "list models with `hermes model list`"),
    (&["version"], "print the version with `hermes --version`"),
    (
        &["update", "upgrade"],
        "build and install a newer version with `cargo install --path crates/hermes`",
    ),
    (
        &["honcho", "mem0", "letta", "zep", "supermemory", "hindsight"],
        "this is an external memory service; Hermes stores the memory itself and does not connect to it",
    ),
];

/// The error for a word that is no command below another.
pub(crate) fn problem(word: &str, parent: &clap::Command) -> Problem {
    let names: Vec<&str> =
        parent.get_subcommands().flat_map(|one| one.get_name_and_visible_aliases()).collect();
    let hint = meant(word).map(str::to_owned).or_else(|| {
        let near =
            names.iter().map(|name| (strsim::normalized_damerau_levenshtein(word, name), name));
        // Of equals the first: a name comes before its aliases.
        let (likeness, name) = near.rev().max_by(|a, b| a.0.total_cmp(&b.0))?;
        (likeness >= 0.6).then(|| format!("did you mean `{}`?", full_name(parent, name)))
    });
    let path = parent.get_bin_name().unwrap_or_default().trim_start_matches("hermes").trim();
    let list = if path.is_empty() { "--all" } else { path };
    Problem::usage(format!("there is no command `{}`", full_name(parent, word)))
        .hint(hint.unwrap_or_else(|| format!("list the commands with `hermes help {list}`")))
}

/// The same for what the parser of the command line refused, if that was the reason.
pub(crate) fn of_usage(error: &clap::Error) -> Option<Problem> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let mut root = super::help::command();
    root.build();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut parent = &root;
    for typed in words.iter().take_while(|typed| *typed != word) {
        parent = parent.find_subcommand(typed).unwrap_or(parent);
    }
    Some(problem(word, parent))
}

fn full_name(parent: &clap::Command, word: &str) -> String {
    format!("{} {word}", parent.get_bin_name().unwrap_or_else(|| parent.get_name()))
}

fn meant(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    MEANT.iter().find(|(words, _)| words.contains(&word.as_str())).map(|(_, hint)| *hint)
}
