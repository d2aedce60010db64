//! The slash commands: one table for the parser, the help, the completion and the reference page.

use std::fmt::Write as _;

/// A slash command as it is typed and explained.
#[derive(Debug)]
pub(crate) struct Command {
    /// What it does here.
    pub(crate) verb: Verb,
    /// How it is typed, without the slash.
    pub(crate) name: &'static str,
    /// Other names for it.
    pub(crate) aliases: &'static [&'static str],
    /// What may stand after it.
    pub(crate) form: &'static str,
    /// One line: what it does.
    pub(crate) does: &'static str,
    /// What the words after it are.
    pub(crate) takes: Takes,
    /// First words that mean something of their own.
    pub(crate) parts: &'static [Part],
}

/// A first word after a command that means something of its own: `/memory pending`.
#[derive(Debug)]
pub(crate) struct Part {
    /// The word.
    pub(crate) name: &'static str,
    /// What may stand after it.
    pub(crate) form: &'static str,
    /// One line: what it does.
    pub(crate) does: &'static str,
    /// What the words after it are.
    pub(crate) takes: Takes,
    /// The command of the program that does the same.
    pub(crate) like: &'static str,
}

/// What words are, so that they can be completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    Nothing,
    Text,
    Commands,
    Facts,
    Sessions,
    Skills,
    Proposals,
    Checkpoints,
}

/// Every command there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Help,
    New,
    Resume,
    Save,
    Search,
    Context,
    Memory,
    Recall,
    Skills,
    Soul,
    User,
    Model,
    Compact,
    Rollback,
    Undo,
    Retry,
    Usage,
    Export,
    Edit,
    Remember,
    Quit,
}

/// A command with no parts; the rest is filled in where it is listed.
const fn command(
    verb: Verb,
    name: &'static str,
    form: &'static str,
    does: &'static str,
) -> Command {
    Command { verb, name, aliases: &[], form, does, takes: Takes::Nothing, parts: &[] }
}

const fn part(
    name: &'static str,
    takes: Takes,
    form: &'static str,
    does: &'static str,
    like: &'static str,
) -> Part {
    Part { name, form, does, takes, like }
}

/// All commands, in the order in which they are explained.
pub(crate) const COMMANDS: &[Command] = &[
    Command {
        takes: Takes::Commands,
        aliases: &["?"],
        ..command(Verb::Help, "help", "[COMMAND]", "list the commands, or explain one")
    },
    command(Verb::New, "new", "", "start a new conversation; this one is kept"),
    Command {
        takes: Takes::Sessions,
        ..command(
            Verb::Resume,
            "resume",
            "[ID or title]",
            "continue an earlier conversation, or list them",
        )
    },
    command(
        Verb::Save,
        "save",
        "[md|json|html] [FILE]",
        "save this conversation to a file (Markdown)",
    ),
    Command {
        takes: Takes::Text,
        ..command(Verb::Search, "search", "WORDS", "search the memory and past conversations")
    },
    command(
        Verb::Context,
        "context",
        "[--why]",
        "show the context window; --why: why it was recalled",
    ),
    Command {
        parts: MEMORY,
        ..command(
            Verb::Memory,
            "memory",
            "[list]",
            "list, add, edit and forget; decide on proposals",
        )
    },
    Command {
        takes: Takes::Text,
        ..command(Verb::Recall, "recall", "TASK", "show what would be recalled for a task")
    },
    Command {
        takes: Takes::Skills,
        parts: SKILLS,
        ..command(Verb::Skills, "skills", "[NAME]", "list the active skills, or show one")
    },
    Command { parts: SOUL, ..command(Verb::Soul, "soul", "", "show the persona in SOUL.md") },
    Command { parts: USER, ..command(Verb::User, "user", "", "show what USER.md says about you") },
    Command {
        parts: MODEL,
        ..command(
            Verb::Model,
            "model",
            "[PROVIDER/NAME]",
            "show the model, or switch to another one",
        )
    },
    Command {
        aliases: &["compress"],
        ..command(Verb::Compact, "compact", "", "summarise older turns to free the context window")
    },
    Command {
        takes: Takes::Checkpoints,
        parts: ROLLBACK,
        ..command(
            Verb::Rollback,
            "rollback",
            "[N]",
            "revert the last N changes to files; asks first",
        )
    },
    command(Verb::Undo, "undo", "", "undo the last thing that was remembered"),
    command(Verb::Retry, "retry", "", "ask the last question again"),
    command(Verb::Usage, "usage", "", "show tokens and cost of this conversation"),
    command(Verb::Export, "export", "[FILE]", "export your memory to a JSON file"),
    command(Verb::Edit, "edit", "", "write a long message in your editor"),
    Command {
        aliases: &["wrapup"],
        ..command(Verb::Remember, "remember", "", "review what to remember of this conversation")
    },
    Command {
        aliases: &["exit", "q"],
        ..command(Verb::Quit, "quit", "", "exit; offers first to remember what was learned")
    },
];

const MEMORY: &[Part] = &[
    part(
        "list",
        Takes::Nothing,
        "",
        "list entries of the memory files and the newest facts",
        "memory show",
    ),
    part("add", Takes::Text, "TEXT", "store something, as an entry and a fact", "memory add"),
    part(
        "edit",
        Takes::Facts,
        "ID TEXT",
        "change the text of a fact; the earlier text is kept",
        "memory fact edit",
    ),
    part("forget", Takes::Facts, "ID", "delete a fact; it can be restored", "memory fact delete"),
    part("restore", Takes::Facts, "ID", "restore a forgotten fact", "memory fact restore"),
    part(
        "pending",
        Takes::Nothing,
        "",
        "list proposals that are waiting for your approval",
        "memory pending",
    ),
    part("approve", Takes::Proposals, "ID", "approve a proposal", "memory approve"),
    part("reject", Takes::Proposals, "ID", "reject a proposal", "memory reject"),
];

const SKILLS: &[Part] = &[
    part(
        "pending",
        Takes::Nothing,
        "",
        "list skills that are waiting for your approval",
        "skills list --pending",
    ),
    part("approve", Takes::Skills, "NAME", "approve a pending skill", "skills approve"),
    part("reject", Takes::Skills, "NAME", "reject a pending skill", "skills reject"),
];

const SOUL: &[Part] = &[part(
    "edit",
    Takes::Nothing,
    "",
    "open SOUL.md in your editor; takes effect in the next conversation",
    "soul edit",
)];

const USER: &[Part] = &[part(
    "edit",
    Takes::Nothing,
    "",
    "open USER.md in your editor; takes effect in the next conversation",
    "memory edit --file user",
)];

const MODEL: &[Part] = &[part(
    "list",
    Takes::Nothing,
    "",
    "list the providers, and where each key was found",
    "model list",
)];

const ROLLBACK: &[Part] = &[
    part("list", Takes::Nothing, "", "list the changes that can be reverted", "checkpoint list"),
    part("undo", Takes::Nothing, "", "undo the last rollback", "checkpoint restore"),
];

/// The command of a name or an alias.
pub(crate) fn find(name: &str) -> Option<&'static Command> {
    let name = name.to_lowercase();
    COMMANDS.iter().find(|one| one.name == name || one.aliases.contains(&name.as_str()))
}

/// The command that was probably meant.
pub(crate) fn nearest(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    let begins: Vec<&str> =
        COMMANDS.iter().map(|one| one.name).filter(|known| known.starts_with(&name)).collect();
    if let ([only], false) = (begins.as_slice(), name.is_empty()) {
        return Some(only);
    }
    let likeness = |known: &str| strsim::normalized_damerau_levenshtein(known, &name);
    let names = COMMANDS.iter().flat_map(|one| {
        std::iter::once((one.name, one.name))
            .chain(one.aliases.iter().map(|alias| (*alias, one.name)))
    });
    let best = names.max_by(|left, right| likeness(left.0).total_cmp(&likeness(right.0)))?;
    (likeness(best.0) >= 0.5).then_some(best.1)
}

impl Command {
    /// `/memory [list]`
    pub(crate) fn usage(&self) -> String {
        format!("/{} {}", self.name, self.form).trim_end().to_owned()
    }

    /// The part that a word names.
    pub(crate) fn part(&self, word: &str) -> Option<&'static Part> {
        self.parts.iter().find(|part| part.name == word)
    }
}

impl Part {
    /// `/memory edit ID TEXT`
    pub(crate) fn usage(&self, command: &Command) -> String {
        format!("/{} {} {}", command.name, self.name, self.form).trim_end().to_owned()
    }
}

/// The reference page.
pub(crate) fn reference() -> String {
    let mut text = String::from(
        "# Slash commands\n\nType these in `hermes chat` instead of a message, in a terminal or piped. An unknown \
        command is never sent to the model. To send a message that begins with a slash, put a space before it. \
        A slash command prints what the equivalent `hermes` command prints.\n\n\
        | command | what it does | equivalent command |\n|---|---|---|\n",
    );
    for command in COMMANDS {
        let aliases: String = command.aliases.iter().map(|alias| format!(", `/{alias}`")).collect();
        let like = like(command.verb).map(|like| format!("`hermes {like}`")).unwrap_or_default();
        let usage = command.usage().replace('|', "\\|");
        let _ = writeln!(text, "| `{usage}`{aliases} | {} | {like} |", command.does);
        for part in command.parts {
            let usage = part.usage(command);
            let _ = writeln!(text, "| `{usage}` | {} | `hermes {}` |", part.does, part.like);
        }
    }
    text
}

/// The command of the program that does the same as a command alone.
pub(crate) fn like(verb: Verb) -> Option<&'static str> {
    match verb {
        Verb::Resume => Some("chat --resume"),
        Verb::Save => Some("sessions export"),
        Verb::Search => Some("memory search"),
        Verb::Memory => Some("memory show"),
        Verb::Recall => Some("memory context"),
        Verb::Skills => Some("skills list"),
        Verb::Soul => Some("soul show"),
        Verb::User => Some("memory show --file user"),
        Verb::Model => Some("chat --model"),
        Verb::Rollback => Some("checkpoint restore"),
        Verb::Undo => Some("memory undo"),
        Verb::Export => Some("memory export"),
        Verb::Help
        | Verb::New
        | Verb::Context
        | Verb::Compact
        | Verb::Retry
        | Verb::Usage
        | Verb::Edit
        | Verb::Remember
        | Verb::Quit => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_said_once() {
        let mut names: Vec<&str> = COMMANDS
            .iter()
            .flat_map(|one| std::iter::once(one.name).chain(one.aliases.iter().copied()))
            .collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn a_slip_of_the_pen_finds_its_command() {
        assert_eq!(nearest("contxt"), Some("context"));
        assert_eq!(nearest("memroy"), Some("memory"));
        assert_eq!(nearest("exti"), Some("quit"));
        assert_eq!(nearest("roll"), Some("rollback"));
        assert_eq!(nearest("HELP"), Some("help"));
        assert_eq!(nearest("xyzzy"), None);
        assert_eq!(nearest(""), None);
    }

    #[test]
    fn the_reference_names_every_command() {
        let page = reference();
        assert!(COMMANDS.iter().all(|one| page.contains(&format!("`/{}", one.name))), "{page}");
        assert!(page.contains("`/memory approve ID`"), "{page}");
    }
}
