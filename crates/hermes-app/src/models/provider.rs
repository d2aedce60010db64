//! Who runs models: the names, addresses and variables of each provider.

use hermes_llm::KeyHeader;
use hermes_llm::chat::Protocol;
use serde::Serialize;

/// Who runs a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// Anthropic.
    Anthropic,
    /// OpenAI, or another server of its form.
    OpenAi,
    /// OpenRouter.
    OpenRouter,
    /// Ollama.
    Ollama,
    /// LM Studio.
    LmStudio,
    /// llama.cpp.
    LlamaCpp,
    /// Any server that speaks OpenAI's protocol, known by its address alone.
    Address,
}

/// A variable that may hold a key, and the header the key goes in.
pub(crate) type KeyVariable = (&'static str, KeyHeader);

impl Provider {
    /// Those that have a name, in the order in which their keys are looked for.
    pub const NAMED: [Provider; 6] = [
        Provider::Anthropic,
        Provider::OpenAi,
        Provider::OpenRouter,
        Provider::Ollama,
        Provider::LmStudio,
        Provider::LlamaCpp,
    ];

    /// The provider with this name; some have several.
    pub fn named(name: &str) -> Option<Provider> {
        match name.to_ascii_lowercase().replace(['-', '_', '.'], "").as_str() {
            "anthropic" => Some(Provider::Anthropic),
            "openai" => Some(Provider::OpenAi),
            "openrouter" => Some(Provider::OpenRouter),
            "ollama" => Some(Provider::Ollama),
            "lmstudio" => Some(Provider::LmStudio),
            "llamacpp" => Some(Provider::LlamaCpp),
            _ => None,
        }
    }

    /// The name used in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Provider::Anthropic => "anthropic",
            Provider::OpenAi => "openai",
            Provider::OpenRouter => "openrouter",
            Provider::Ollama => "ollama",
            Provider::LmStudio => "lmstudio",
            Provider::LlamaCpp => "llamacpp",
            Provider::Address => "address",
        }
    }

    /// The variables that may hold its key, the first one first.
    pub fn keys(self) -> &'static [KeyVariable] {
        match self {
            Provider::Anthropic => &[
                ("ANTHROPIC_API_KEY", KeyHeader::XApiKey),
                ("ANTHROPIC_AUTH_TOKEN", KeyHeader::Bearer),
            ],
            Provider::OpenAi => &[("OPENAI_API_KEY", KeyHeader::Bearer)],
            Provider::OpenRouter => &[("OPENROUTER_API_KEY", KeyHeader::Bearer)],
            Provider::Ollama => &[],
            Provider::LmStudio => &[("LM_API_TOKEN", KeyHeader::Bearer)],
            Provider::LlamaCpp => &[("LLAMA_API_KEY", KeyHeader::Bearer)],
            // A key meant for a provider is never sent to an address it was not given for.
            Provider::Address => &[("MODEL_API_KEY", KeyHeader::Bearer)],
        }
    }

    /// Whether it answers nobody without a key, at its usual address.
    pub fn needs_key(self) -> bool {
        matches!(self, Provider::Anthropic | Provider::OpenAi | Provider::OpenRouter)
    }

    /// The variable that may say where it is.
    pub fn base_variable(self) -> Option<&'static str> {
        match self {
            Provider::Anthropic => Some("ANTHROPIC_BASE_URL"),
            Provider::OpenAi => Some("OPENAI_BASE_URL"),
            Provider::OpenRouter => Some("OPENROUTER_BASE_URL"),
            Provider::Ollama => Some("OLLAMA_HOST"),
            Provider::LmStudio => Some("LMSTUDIO_BASE_URL"),
            Provider::LlamaCpp => Some("LLAMACPP_BASE_URL"),
            Provider::Address => None,
        }
    }

    /// Where it is when nobody says otherwise.
    pub fn usual_base(self) -> &'static str {
        match self {
            Provider::Anthropic => "https://api.anthropic.com",
            Provider::OpenAi => "https://api.openai.com/v1",
            Provider::OpenRouter => "https://openrouter.ai/api/v1",
            Provider::Ollama => "http://127.0.0.1:11434",
            Provider::LmStudio => "http://127.0.0.1:1234/v1",
            Provider::LlamaCpp => "http://127.0.0.1:8080/v1",
            Provider::Address => "",
        }
    }

    /// The model for conversations when only a key is known.
    pub fn usual_model(self) -> Option<&'static str> {
        match self {
            Provider::Anthropic => Some("claude-sonnet-5"),
            Provider::OpenAi => Some("gpt-5.4-mini"),
            Provider::OpenRouter => Some("anthropic/claude-sonnet-5"),
            _ => None,
        }
    }

    /// How it is asked.
    pub fn protocol(self) -> Protocol {
        match self {
            Provider::Anthropic => Protocol::Anthropic,
            Provider::OpenAi => Protocol::OpenAi,
            Provider::OpenRouter => Protocol::OpenRouter,
            Provider::Ollama => Protocol::Ollama,
            Provider::LmStudio => Protocol::LmStudio,
            Provider::LlamaCpp | Provider::Address => Protocol::OpenAiShaped,
        }
    }
}
