//! The command by which an agent starts us: the absolute path of this program and the home it works on.

use std::path::{Path, PathBuf};

use hermes_home::Home;
use hermes_home::env::{Env, HERMES_HOME};
use hermes_home::layout::{ChosenBy, Wanted};
use serde_json::{Value, json};

/// This program as others should call it.
#[derive(Debug, Clone)]
pub struct Program {
    /// Where it is.
    pub path: String,
    /// `--home` and `--profile`, where they are not the default.
    flags: Vec<String>,
}

impl Program {
    /// The program as agents call it for a home.
    pub fn new(path: &Path, home: &Home, env: &Env) -> Program {
        let mut flags = Vec::new();
        // Whoever starts the agent may not have the variable that is set here.
        let plain = env.iter().filter(|(name, _)| *name != HERMES_HOME);
        let usual = Home::locate(
            &Wanted { home: None, profile: Some("default".to_owned()) },
            &Env::from_pairs(plain),
        );
        if usual.is_ok_and(|usual| usual.root() != home.root()) {
            flags.extend(["--home".to_owned(), home.root().display().to_string()]);
        }
        if !matches!(home.chosen_by(), ChosenBy::Default | ChosenBy::Sticky) {
            flags.extend(["--profile".to_owned(), home.profile_name().to_owned()]);
        }
        Program { path: path.display().to_string(), flags }
    }

    /// The arguments of `hermes mcp`.
    pub fn mcp(&self) -> Vec<String> {
        self.arguments(&["mcp"])
    }

    /// The arguments of `hermes hook AGENT`.
    pub fn hook(&self, agent: &str) -> Vec<String> {
        self.arguments(&["hook", agent])
    }

    /// `hermes hook AGENT` as one line for a shell.
    pub fn hook_line(&self, agent: &str) -> String {
        let arguments = self.hook(agent);
        let words = std::iter::once(&self.path).chain(&arguments);
        words.map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    /// `{"command": …, "args": […]}`, as most agents want a server.
    pub fn server(&self) -> Value {
        json!({"command": self.path, "args": self.mcp()})
    }

    fn arguments(&self, verb: &[&str]) -> Vec<String> {
        let verb = verb.iter().map(|word| (*word).to_owned());
        self.flags.iter().cloned().chain(verb).collect()
    }
}

/// Where this program is, by the name in PATH that leads to it if there is one: an upgrade may move what is behind it.
pub fn find(env: &Env) -> std::io::Result<PathBuf> {
    let running = std::env::current_exe()?;
    let real = running.canonicalize().unwrap_or_else(|_| running.clone());
    let name = running.file_name().unwrap_or_default();
    let folders = env.get("PATH").map(std::env::split_paths).into_iter().flatten();
    let mut named = folders.filter(|folder| folder.is_absolute()).map(|folder| folder.join(name));
    let leads_here = |path: &PathBuf| path.canonicalize().is_ok_and(|found| found == real);
    Ok(named.find(leads_here).unwrap_or(running))
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::super::ours;
    use super::*;

    #[test]
    fn flags_are_there_only_where_the_home_is_not_the_usual_one() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join(".hermes/profiles/work")).unwrap();
        let user = root.path().to_str().unwrap();
        let env = Env::of([("HOME", user)]);
        let program = |wanted: &Wanted, env: &Env| {
            Program::new(Path::new("/opt/hermes"), &Home::locate(wanted, env).unwrap(), env)
        };
        assert_eq!(program(&Wanted::default(), &env).mcp(), ["mcp"]);
        let moved = Env::of([("HOME", user), ("HERMES_HOME", "/srv/it's here")]);
        let there = program(&Wanted::default(), &moved);
        assert_eq!(there.mcp(), ["--home", "/srv/it's here", "mcp"]);
        let line = there.hook_line("codex");
        assert_eq!(
            ours::split(&line),
            ["/opt/hermes", "--home", "/srv/it's here", "hook", "codex"]
        );
        let work = Wanted { home: None, profile: Some("work".to_owned()) };
        assert_eq!(program(&work, &env).hook("codex"), ["--profile", "work", "hook", "codex"]);
    }
}
