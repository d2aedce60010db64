//! Which model makes vectors, and what it wants before each text.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Whether a text asks or is what may be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A question.
    Query,
    /// Something to be found by a question.
    Document,
}

/// Whose model it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// The model inside the program.
    Embedded,
    /// OpenAI, or any server that speaks its protocol.
    OpenAi,
    /// Ollama.
    Ollama,
    /// Voyage AI.
    Voyage,
}

/// What a model wants before each text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Prefixes {
    /// Before a question.
    pub query: String,
    /// Before something to be found.
    pub document: String,
}

/// Which model made a vector, and how.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelId {
    /// Whose model it is.
    pub provider: Provider,
    /// The name of the model.
    pub name: String,
    /// The width that is known or was asked for.
    pub dims: Option<usize>,
    /// What was put before the texts.
    pub prefixes: Prefixes,
}

impl Provider {
    /// The name used in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Provider::Embedded => "embedded",
            Provider::OpenAi => "openai",
            Provider::Ollama => "ollama",
            Provider::Voyage => "voyage",
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Prefixes {
    /// What the makers of a model ask for, known by its name; nothing for most.
    pub fn for_model(name: &str) -> Prefixes {
        let name = name.to_ascii_lowercase();
        let is_e5 = name.split(['/', '-', ':', '_']).any(|part| part == "e5");
        if name.contains("nomic-embed") {
            Prefixes { query: "search_query: ".into(), document: "search_document: ".into() }
        } else if is_e5 {
            Prefixes { query: "query: ".into(), document: "passage: ".into() }
        } else {
            Prefixes::default()
        }
    }

    pub(crate) fn of(&self, purpose: Purpose) -> &str {
        match purpose {
            Purpose::Query => &self.query,
            Purpose::Document => &self.document,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_follow_the_name_of_the_model() {
        assert_eq!(Prefixes::for_model("nomic-embed-text:v1.5").query, "search_query: ");
        assert_eq!(Prefixes::for_model("intfloat/multilingual-e5-large").document, "passage: ");
        assert_eq!(Prefixes::for_model("text-embedding-3-small"), Prefixes::default());
        assert_eq!(Prefixes::for_model("none5-model"), Prefixes::default());
    }
}
