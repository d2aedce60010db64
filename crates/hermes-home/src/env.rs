//! The environment, read once. Every variable the program knows is listed here.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;

use crate::error::{Error, Result};

/// One documented environment variable.
#[derive(Debug, Clone, Copy)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub does: &'static str,
}

/// Where the home is.
pub const HERMES_HOME: &str = "HERMES_HOME";
/// Which profile to use.
pub const HERMES_PROFILE: &str = "HERMES_PROFILE";

/// Every variable that changes what the program does, for the reference page.
pub const VARIABLES: &[Variable] = &[
    Variable { name: HERMES_HOME, does: "The home folder, instead of `~/.hermes`." },
    Variable {
        name: HERMES_PROFILE,
        does: "The profile to use; takes precedence over `hermes profile use`.",
    },
    Variable {
        name: "HERMES_XDG",
        does: "If set to `1`, the default home is `$XDG_DATA_HOME/hermes` (or `~/.local/share/hermes`).",
    },
    Variable {
        name: "HERMES_<SECTION>__<KEY>",
        does: "Any setting, with dots written as two underscores: `HERMES_MEMORY__AUTO_WRITE=false`.",
    },
    Variable {
        name: "ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL",
        does: "The key (or the bearer token) and the address for models of Anthropic; can be in `.env`.",
    },
    Variable {
        name: "OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_ORG_ID",
        does: "The key, the address and the organisation for models and embeddings of OpenAI or a compatible server; can be in `.env`.",
    },
    Variable {
        name: "OPENROUTER_API_KEY, OPENROUTER_BASE_URL",
        does: "The key and the address for models of OpenRouter; can be in `.env`.",
    },
    Variable {
        name: "VOYAGE_API_KEY",
        does: "The key for embeddings of Voyage AI; can be in `.env`.",
    },
    Variable { name: "OLLAMA_HOST", does: "The address of Ollama, instead of `127.0.0.1:11434`." },
    Variable {
        name: "LMSTUDIO_BASE_URL, LM_API_TOKEN",
        does: "The address of LM Studio, instead of `http://127.0.0.1:1234/v1`, and its key, if required.",
    },
    Variable {
        name: "LLAMACPP_BASE_URL, LLAMA_API_KEY",
        does: "The address of llama.cpp, instead of `http://127.0.0.1:8080/v1`, and its key, if required.",
    },
    Variable {
        name: "MODEL_API_KEY",
        does: "The key for a model written as an address, `https://HOST/v1#NAME`; can be in `.env`.",
    },
    Variable { name: "TZ", does: "The time zone, if the setting `timezone` is not set." },
    Variable { name: "VISUAL, EDITOR", does: "The editor that the `edit` commands open." },
    Variable {
        name: "TERM",
        does: "If set to `dumb`, `hermes chat` reads plain lines, as if it were piped.",
    },
    Variable { name: "NO_COLOR", does: "If set to any value, the output has no colours." },
    Variable {
        name: "XDG_DATA_HOME",
        does: "Used only together with HERMES_XDG, or when `~/.hermes` is missing and `$XDG_DATA_HOME/hermes` exists.",
    },
    Variable {
        name: "CLAUDE_CONFIG_DIR, CODEX_HOME, OPENCLAW_STATE_DIR, OPENCLAW_CONFIG_PATH, OPENCODE_CONFIG, XDG_CONFIG_HOME",
        does: "Where agents keep their settings, for `hermes integrate`. These are the agents' own variables.",
    },
    Variable {
        name: "CLAUDE_PROJECT_DIR",
        does: "The project folder of Claude Code. If `hermes` without arguments receives one of its events, it looks there for the home that its settings name.",
    },
    Variable {
        name: "XDG_STATE_HOME, TMPDIR",
        does: "Where a turn waits if the home cannot be written: `$XDG_STATE_HOME/hermes/spool` (or `~/.local/state/hermes/spool`), else a private folder in `$TMPDIR` (or `/tmp`).",
    },
    Variable {
        name: "PATH",
        does: "Searched by `hermes doctor` for other programs called `hermes`, and by `hermes integrate` for agents.",
    },
];

/// A picture of the environment: a plain value, so that tests can make their own.
#[derive(Debug, Clone, Default)]
pub struct Env {
    variables: BTreeMap<String, String>,
    /// The names of those whose values are no text.
    not_unicode: BTreeSet<String>,
}

impl Env {
    /// The environment of this process.
    pub fn of_process() -> Env {
        Env::of_os(std::env::vars_os())
    }

    /// An environment of any bytes. No variable the program knows has a name that is not Unicode.
    pub(crate) fn of_os(pairs: impl IntoIterator<Item = (OsString, OsString)>) -> Env {
        let mut env = Env::default();
        for (name, value) in pairs {
            let Ok(name) = name.into_string() else { continue };
            match value.into_string() {
                Ok(value) => env.variables.insert(name, value).is_some(),
                Err(_) => env.not_unicode.insert(name),
            };
        }
        env
    }

    /// An environment made of the given pairs.
    pub fn of<const N: usize>(pairs: [(&str, &str); N]) -> Env {
        let owned = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Env { variables: owned.into(), not_unicode: BTreeSet::new() }
    }

    /// The same for any number of pairs.
    pub fn from_pairs<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Env {
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Env { variables: pairs.into_iter().map(owned).collect(), not_unicode: BTreeSet::new() }
    }

    /// The value of a variable; an empty one, or one that is not Unicode, counts as not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The value of a variable that must not be overlooked: one that is not Unicode is an error.
    pub fn text(&self, name: &str) -> Result<Option<&str>> {
        if self.not_unicode.contains(name) {
            return Err(Error::NotUnicode { name: name.to_owned() });
        }
        Ok(self.get(name))
    }

    /// The names of the variables whose values are not Unicode.
    pub fn not_unicode(&self) -> impl Iterator<Item = &str> {
        self.not_unicode.iter().map(String::as_str)
    }

    /// All pairs of Unicode text, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The user's own folder, where `~` points.
    pub fn user_folder(&self) -> Result<Option<PathBuf>> {
        Ok(self.text("HOME")?.map(PathBuf::from))
    }

    /// The command of the user's editor.
    pub fn editor(&self) -> Option<&str> {
        self.get("VISUAL").or_else(|| self.get("EDITOR"))
    }
}
