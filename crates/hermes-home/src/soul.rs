//! SOUL.md and the built-in default persona.

use std::path::PathBuf;

use crate::error::Result;
use crate::layout::Home;
use crate::text_file::read_text;
use crate::tokens;
use crate::versions;

/// Who the agent is when SOUL.md says nothing.
pub const DEFAULT: &str = "\
You are Hermes, a capable assistant with a long memory. You use what you know of the user and of \
their work without making a show of it, and you say where a memory comes from when that matters.

You are direct, warm and brief. You say what you know, what you only believe and what you do not \
know. When a task is unclear you ask one good question; otherwise you begin. Before anything that \
cannot be undone, such as deleting, sending, paying or publishing, you ask.
";

/// The persona in use.
#[derive(Debug, Clone)]
pub struct Soul {
    /// Where SOUL.md is, or would be.
    pub path: PathBuf,
    /// Whether there is such a file.
    pub exists: bool,
    /// The persona, word for word as in the file.
    pub text: String,
    /// Whether this is the built-in persona, because the file is missing or says nothing.
    pub is_built_in: bool,
    /// The hash of the file, to be given back to `memory_file::replace_whole`.
    pub hash: String,
    /// About how many tokens the persona costs in each session.
    pub tokens: usize,
}

/// Reads the persona; SOUL.md is changed with `memory_file::replace_whole`.
pub fn show(home: &Home) -> Result<Soul> {
    let path = home.soul();
    let found = read_text(&path)?;
    let exists = found.is_some();
    let own = found.unwrap_or_default();
    let is_built_in = says_nothing(&own);
    let hash = versions::hash(own.as_bytes());
    let text = if is_built_in { DEFAULT.to_owned() } else { own };
    Ok(Soul { path, exists, tokens: tokens::estimate(&text), text, is_built_in, hash })
}

/// Whether there is nothing in it but blanks and comments.
fn says_nothing(text: &str) -> bool {
    let mut rest = text.trim_start_matches('\u{feff}').trim_start();
    while let Some(comment) = rest.strip_prefix("<!--") {
        let Some((_, after)) = comment.split_once("-->") else { return false };
        rest = after.trim_start();
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_comments_say_nothing() {
        for nothing in ["", " \r\n\t", "\u{feff}\n", "<!-- a\n# b -->\n<!-- c -->", "<!---->"] {
            assert!(says_nothing(nothing), "{nothing:?}");
        }
        for something in ["x", "<!-- a --> x", "<!-- never closed", "# Persona"] {
            assert!(!says_nothing(something), "{something:?}");
        }
    }

    #[test]
    fn the_built_in_persona_stands_in_for_a_missing_file_and_costs_little() {
        let root = tempfile::tempdir().unwrap();
        let home = crate::testing::home(&root);
        let soul = show(&home).unwrap();
        assert!(soul.is_built_in && !soul.exists);
        assert_eq!(soul.text, DEFAULT);
        assert!(soul.tokens < 200, "{}", soul.tokens);
        crate::atomic::write(&home.soul(), b"You are terse.\r\n").unwrap();
        let soul = show(&home).unwrap();
        assert!(!soul.is_built_in && soul.exists);
        assert_eq!(soul.text, "You are terse.\r\n");
    }
}
