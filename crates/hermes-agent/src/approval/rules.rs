//! What the rules say before a person is asked: the settings, and what was answered with `always`. Pure.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::shell::{self, Command, Line, Word};
use super::{danger, options};
use crate::fence;

/// What the settings and the answers of this session allow and forbid.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// Commands that are run without asking, by their first words.
    pub allow: Vec<String>,
    /// Commands that are never run, by their first words.
    pub deny: Vec<String>,
    /// Commands that may reach the network, by their first words; `*`: all.
    pub network: Vec<String>,
    /// Folders, absolute and without links, in which files are written without asking.
    pub write_below: Vec<PathBuf>,
    /// The first words of commands that were answered with `always`.
    always: Vec<Cover>,
}

/// What the rules say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It is done without asking.
    Allow,
    /// It is not done, and why.
    Deny(String),
    /// A person decides.
    Ask,
}

/// What the rules say about a command, and what a person should know who is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// Whether it is run.
    pub decision: Decision,
    /// Why nothing but a person's word for this one time lets it pass.
    pub danger: Option<&'static str>,
    /// What `always` would cover; none: it cannot be answered.
    pub always: Option<String>,
}

/// Which commands a rule covers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cover {
    words: Vec<String>,
    /// Whether nothing may follow.
    is_whole: bool,
}

impl Rules {
    /// Rules of the settings, before anything was answered with `always`.
    pub fn new(allow: &[String], deny: &[String], write_below: Vec<PathBuf>) -> Rules {
        Rules { allow: allow.to_vec(), deny: deny.to_vec(), write_below, ..Rules::default() }
    }

    /// What the rules say about a shell line.
    pub fn on_command(&self, line: &str) -> Ruling {
        let danger = danger::danger(line);
        if let Some(rule) = self.denying(line) {
            let why = format!("the setting agent.deny forbids `{rule}`");
            return Ruling { decision: Decision::Deny(why), danger, always: None };
        }
        let Some(commands) = plain(line) else { return asked(danger, None) };
        // Rules know the words of a POSIX shell alone.
        if danger.is_some() || commands.iter().any(touches_secret) {
            return asked(danger, None);
        }
        let allow: Vec<Cover> = self.allow.iter().filter_map(|rule| Cover::of_rule(rule)).collect();
        let is_covered = |command: &Command| {
            allow.iter().chain(&self.always).any(|cover| cover.covers(&command.words))
        };
        if commands.iter().all(is_covered) {
            return Ruling { decision: Decision::Allow, danger, always: None };
        }
        let mut named: Vec<String> = Vec::new();
        for command in commands.iter().filter(|command| !is_covered(command)) {
            let shown = Cover::of_command(&command.words).to_string();
            if !named.contains(&shown) {
                named.push(shown);
            }
        }
        asked(danger, Some(named.join(", ")))
    }

    /// Whether a line may reach the network: each of its commands is named for it, or only reads.
    pub fn has_network(&self, line: &str) -> bool {
        if self.network.iter().any(|rule| rule.trim() == "*") {
            return true;
        }
        let named: Vec<Cover> =
            self.network.iter().filter_map(|rule| Cover::of_rule(rule)).collect();
        let is_named = |command: &Command| named.iter().any(|cover| cover.covers(&command.words));
        let is_reader = |command: &Command| READERS.contains(&command.words[0].text.as_str());
        plain(line).is_some_and(|commands| {
            commands.iter().any(is_named)
                && commands.iter().all(|command| is_named(command) || is_reader(command))
        })
    }

    /// What the rules say about writing a file; the path is absolute and without links.
    pub fn on_write(&self, path: &Path) -> Decision {
        let is_below = self.write_below.iter().any(|folder| path.starts_with(folder));
        if is_below { Decision::Allow } else { Decision::Ask }
    }

    /// Takes in that a line was answered with `always`; a line that cannot be is not.
    pub fn always_run(&mut self, line: &str) {
        if self.on_command(line).always.is_none() {
            return;
        }
        for command in plain(line).unwrap_or_default() {
            let cover = Cover::of_command(&command.words);
            if !self.always.contains(&cover) {
                self.always.push(cover);
            }
        }
    }

    /// Takes in that writing below a folder was answered with `always`.
    pub fn always_write(&mut self, folder: &Path) {
        if !self.write_below.iter().any(|known| known == folder) {
            self.write_below.push(folder.to_owned());
        }
    }

    fn denying(&self, line: &str) -> Option<&str> {
        let hidden = shell::rough(line);
        let plain = match shell::parse(line) {
            Line::Plain(commands) => Some(commands),
            Line::Tangled(_) => None,
        };
        let is_denied = |rule: &str| {
            let mut words: Vec<&str> = rule.split_whitespace().collect();
            if words.len() > 1 && words.last() == Some(&"*") {
                words.pop();
            }
            if words.is_empty() {
                return false;
            }
            match &plain {
                Some(commands) => {
                    commands.iter().any(|command| is_of_rule(&command.words, &words))
                        || (commands.iter().any(|one| runs_others(&one.words))
                            && hidden.iter().any(|command| has(&command.words, &words)))
                }
                None => hidden.iter().any(|command| has(&command.words, &words)),
            }
        };
        self.deny.iter().map(String::as_str).find(|rule| is_denied(rule))
    }
}

/// The commands of a line that is plain, without options that change nothing of what they do.
fn plain(line: &str) -> Option<Vec<Command>> {
    let Line::Plain(mut commands) = shell::parse(line) else { return None };
    for command in &mut commands {
        command.words = options::without_harmless(&command.words);
    }
    Some(commands)
}

/// Whether a line reads files at most, so that nothing has to be kept before it.
pub(crate) fn only_reads(line: &str) -> bool {
    let Some(commands) = plain(line) else { return false };
    commands.iter().all(|command| {
        let words = &command.words;
        let second = words.get(1).map_or("", |word| word.text.as_str());
        READERS.contains(&words[0].text.as_str())
            || (words[0].text == "git"
                && GIT_READERS.contains(&second)
                && options::are_known(words, 2))
    })
}

/// Folders that a line deals with as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Folders {
    /// What is read with everything below it; some of these are words of another meaning.
    pub(crate) read_below: Vec<String>,
    /// What it goes to.
    pub(crate) entered: Vec<String>,
}

/// The folders of a line that is plain.
pub(crate) fn folders_of(line: &str) -> Folders {
    let mut folders = Folders::default();
    for command in plain(line).unwrap_or_default() {
        let words = &command.words;
        let operands = words[1..].iter().filter(|word| !word.text.starts_with('-'));
        let operands: Vec<String> = operands.map(|word| word.text.clone()).collect();
        match base(&words[0].text) {
            "cd" if operands.is_empty() => folders.entered.push("~".to_owned()),
            "cd" => folders.entered.extend(operands),
            _ if reads_below(words) => {
                // The first is what is looked for; a pattern may stand for any folder here.
                let is_here = operands.len() < 2 || words.iter().any(|word| word.is_pattern);
                folders.read_below.extend(operands);
                folders.read_below.extend(is_here.then(|| ".".to_owned()));
            }
            _ => {}
        }
    }
    folders
}

/// Whether a command reads every file below a folder.
fn reads_below(words: &[Word]) -> bool {
    let has_letter = |letters: &[char]| {
        words[1..].iter().any(|word| {
            let is_short = word.text.starts_with('-') && !word.text.starts_with("--");
            is_short && word.text.contains(letters)
        })
    };
    let has_word = |names: &[&str]| {
        words[1..].iter().any(|word| names.iter().any(|name| word.text.starts_with(name)))
    };
    match base(&words[0].text) {
        "grep" | "egrep" | "fgrep" => {
            has_letter(&['r', 'R', 'd']) || has_word(&["--rec", "--deref", "--dir"])
        }
        "diff" => has_letter(&['r']) || has_word(&["--rec"]),
        "rgrep" | "zgrep" | "ack" | "ag" => true,
        _ => false,
    }
}

fn asked(danger: Option<&'static str>, always: Option<String>) -> Ruling {
    Ruling { decision: Decision::Ask, danger, always }
}

/// Programs whose first argument says what they do.
const WITH_SUBCOMMANDS: &[&str] = &[
    "apt",
    "brew",
    "bun",
    "bundle",
    "cargo",
    "composer",
    "deno",
    "docker",
    "dotnet",
    "gem",
    "gh",
    "git",
    "go",
    "gradle",
    "helm",
    "just",
    "kubectl",
    "make",
    "mix",
    "mvn",
    "npm",
    "nx",
    "pip",
    "pipenv",
    "pnpm",
    "poetry",
    "rustup",
    "swift",
    "systemctl",
    "terraform",
    "uv",
    "yarn",
];
/// Programs that only read, whatever their arguments are.
const READERS: &[&str] = &[
    "basename", "cat", "cd", "cmp", "cut", "df", "diff", "dirname", "du", "echo", "false", "grep",
    "head", "id", "ls", "nl", "printf", "pwd", "sleep", "stat", "tail", "tr", "true", "type",
    "uname", "wc", "which", "whoami",
];
const GIT_READERS: &[&str] = &["blame", "diff", "log", "ls-files", "rev-parse", "show", "status"];
/// Programs that run what their arguments name.
const WRAPPERS: &[&str] = &[
    ".", "awk", "builtin", "busybox", "chroot", "command", "doas", "env", "eval", "exec", "flock",
    "gawk", "ionice", "mawk", "nice", "nohup", "npx", "parallel", "script", "setsid", "source",
    "ssh", "stdbuf", "strace", "su", "sudo", "time", "timeout", "trap", "unshare", "watch",
    "xargs", "alias",
];
const INTERPRETERS: &[&str] = &[
    "bash", "dash", "fish", "ksh", "lua", "node", "perl", "php", "python", "python3", "ruby", "sh",
    "zsh",
];

/// Whether other commands may be hidden in the words of this one.
fn runs_others(words: &[Word]) -> bool {
    let name = base(&words[0].text);
    let has = |wanted: &[&str]| words[1..].iter().any(|word| wanted.contains(&word.text.as_str()));
    match name {
        name if WRAPPERS.contains(&name) => true,
        name if INTERPRETERS.contains(&name) => {
            let is_option = |word: &Word| word.text.starts_with('-');
            words.len() == 1 || words[1..].iter().any(is_option)
        }
        "find" => words[1..].iter().any(|word| {
            ["-exec", "-ok", "-delete", "-fprint", "-fls"]
                .iter()
                .any(|it| word.text.starts_with(it))
        }),
        "git" => {
            has(&["-c", "--exec-path", "--config-env", "-C"]) || has(&["bisect", "filter-branch"])
        }
        _ => false,
    }
}

fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// Whether the words of a rule stand anywhere in a command.
fn has(words: &[Word], rule: &[&str]) -> bool {
    (0..words.len()).any(|from| is_of_rule(&words[from..], rule))
}

/// Whether a command is what a rule names, whatever options stand between its words.
fn is_of_rule(words: &[Word], rule: &[&str]) -> bool {
    let Some((program, rest)) = rule.split_first() else { return false };
    let is_program =
        words.first().is_some_and(|word| word.text == *program || base(&word.text) == *program);
    let (options, names): (Vec<&str>, Vec<&str>) =
        rest.iter().copied().partition(|word| word.starts_with('-'));
    is_program
        && follow(&words[1..], &names)
        && options.iter().all(|option| words[1..].iter().any(|word| is_option(&word.text, option)))
}

/// Whether words come in this order, with nothing but options between them; an option may take the word behind it.
fn follow(words: &[Word], names: &[&str]) -> bool {
    let mut starts = BTreeSet::from([0]);
    for name in names {
        let mut ends = BTreeSet::new();
        let mut reached = starts;
        for (place, word) in words.iter().enumerate() {
            if !reached.contains(&place) {
                continue;
            }
            if word.text == *name {
                ends.insert(place + 1);
            }
            if word.text.starts_with(['-', '+']) {
                reached.extend([place + 1, place + 2]);
            }
        }
        if ends.is_empty() {
            return false;
        }
        starts = ends;
    }
    true
}

/// Whether a word is an option, with a value, shortened, or among other letters.
fn is_option(word: &str, option: &str) -> bool {
    const SHORTEST: usize = 4;
    let name = word.split('=').next().unwrap_or(word);
    let is_shortened =
        option.starts_with("--") && name.len() >= SHORTEST && option.starts_with(name);
    let letter = option.strip_prefix('-').filter(|letter| letter.chars().count() == 1);
    let is_among = letter.is_some_and(|letter| {
        word.starts_with('-') && !word.starts_with("--") && word.contains(letter)
    });
    name == option || is_shortened || is_among
}

/// Whether a command may read or change what no rule opens.
fn touches_secret(command: &Command) -> bool {
    command.words.iter().any(|word| {
        let is_hidden = |text: &str| {
            text.starts_with(['.', '/', '~']) || text.contains("/.") || text.contains("..")
        };
        let value = word.text.rsplit('=').next().unwrap_or_default();
        // `-f.env` and `HEAD:.env`.
        let attached = word.text.strip_prefix('-').and_then(|rest| rest.get(1..));
        let of_tree = word.text.split(':').skip(1);
        let parts = [word.text.as_str(), value].into_iter().chain(attached).chain(of_tree);
        parts.into_iter().any(|part| fence::names_secret(Path::new(part)))
            || (word.is_pattern && (is_hidden(&word.text) || is_hidden(value)))
    })
}

impl Cover {
    /// A rule of the settings; one that is no plain command covers nothing.
    fn of_rule(rule: &str) -> Option<Cover> {
        let Line::Plain(commands) = shell::parse(rule) else { return None };
        let [command] = commands.as_slice() else { return None };
        let mut words: Vec<String> = command.words.iter().map(|word| word.text.clone()).collect();
        // `cargo test *` means what `cargo test` means.
        if words.len() > 1
            && command.words.last().is_some_and(|word| word.is_pattern && word.text == "*")
        {
            words.pop();
        }
        Some(Cover { words, is_whole: false })
    }

    /// What `always` covers: a program with its subcommand, one that only reads, else these very words.
    fn of_command(words: &[Word]) -> Cover {
        let texts: Vec<String> = words.iter().map(|word| word.text.clone()).collect();
        let name = texts[0].as_str();
        let is_subcommand = |word: &String| {
            let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-:_".contains(letter);
            !word.starts_with('-') && word.chars().all(is_letter)
        };
        if runs_others(words) || !options::are_known(words, 2.min(words.len())) {
            return Cover { words: texts, is_whole: true };
        }
        if READERS.contains(&name) {
            return Cover { words: texts[..1].to_vec(), is_whole: false };
        }
        if WITH_SUBCOMMANDS.contains(&name) && texts.get(1).is_some_and(is_subcommand) {
            return Cover { words: texts[..2].to_vec(), is_whole: false };
        }
        Cover { words: texts, is_whole: true }
    }

    fn covers(&self, words: &[Word]) -> bool {
        let is_whole = self.is_whole || runs_others(words);
        let count = self.words.len();
        let is_longer = !is_whole && words.len() > count && options::are_known(words, count);
        (words.len() == count || is_longer)
            && words.iter().zip(&self.words).all(|(word, rule)| word.text == *rule)
    }
}

impl std::fmt::Display for Cover {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "`{}`", self.words.join(" "))?;
        if self.is_whole { formatter.write_str(" exactly") } else { Ok(()) }
    }
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
