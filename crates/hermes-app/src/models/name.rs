//! The name of a model as people write it: `provider/name`, or an address.

use std::fmt;

use crate::models::provider::Provider;
use crate::problem::Problem;

/// A model and who runs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelName {
    /// Who serves it.
    pub provider: Provider,
    /// The name the provider knows it by.
    pub model: String,
    /// Where the provider is, if that was said together with the name.
    pub base: Option<String>,
}

const FORMS: &str = "write it as anthropic/NAME, openai/NAME, openrouter/VENDOR/NAME, ollama/NAME, \
                     lmstudio/NAME, llamacpp/NAME, or https://HOST/v1#NAME";

impl ModelName {
    /// Reads a name; one that names no provider is an error, never a guess.
    pub fn parse(text: &str) -> Result<ModelName, Problem> {
        let text = text.trim();
        if text.contains("://") {
            return parse_address(text);
        }
        if let Some((provider, model)) = text.split_once('/') {
            return match Provider::named(provider).filter(|_| is_name(model)) {
                Some(provider) => Ok(ModelName { provider, model: model.to_owned(), base: None }),
                None => Err(unclear(text, "names no provider")),
            };
        }
        let provider = match text {
            _ if text.starts_with("claude-") => Provider::Anthropic,
            _ if text.starts_with("gpt-") || is_o_series(text) => Provider::OpenAi,
            _ => return Err(unclear(text, "names no provider")),
        };
        match is_name(text) {
            true => Ok(ModelName { provider, model: text.to_owned(), base: None }),
            false => Err(unclear(text, "contains white space")),
        }
    }

    /// Reads `model.default`, whose provider and address may be in settings of their own.
    pub fn with_settings(
        text: &str,
        provider: Option<&str>,
        base: Option<&str>,
    ) -> Result<ModelName, Problem> {
        let text = text.trim();
        let base = base.map(str::to_owned);
        let provider = provider.map(str::trim).filter(|said| !said.is_empty() && *said != "auto");
        if text.contains("://") {
            return ModelName::parse(text);
        }
        let elsewhere = |base: String| ModelName {
            provider: Provider::Address,
            model: text.to_owned(),
            base: Some(base),
        };
        match (provider, base) {
            (None, None) => ModelName::parse(text),
            (None, Some(base)) => match ModelName::parse(text) {
                Ok(name) => Ok(ModelName { base: Some(base), ..name }),
                Err(_) if is_name(text) => Ok(elsewhere(base)),
                Err(problem) => Err(problem),
            },
            (Some("custom"), Some(base)) if is_name(text) => Ok(elsewhere(base)),
            (Some(said), base) => {
                let provider = Provider::named(said).ok_or_else(|| unknown_provider(said))?;
                let model = match text.split_once('/') {
                    Some((head, rest)) if Provider::named(head) == Some(provider) => rest,
                    _ => text,
                };
                match is_name(model) {
                    true => Ok(ModelName { provider, model: model.to_owned(), base }),
                    false => Err(unclear(text, "contains white space")),
                }
            }
        }
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.provider, &self.base) {
            (Provider::Address, Some(base)) => write!(formatter, "{base}#{}", self.model),
            _ => write!(formatter, "{}/{}", self.provider.as_str(), self.model),
        }
    }
}

fn parse_address(text: &str) -> Result<ModelName, Problem> {
    let (base, model) = text.split_once('#').unwrap_or((text, ""));
    let is_web = base.starts_with("http://") || base.starts_with("https://");
    // An address is printed in many places; a password in it would be as well.
    if base.contains('@') {
        let what = "the address of a model must not contain a user or a password";
        return Err(
            Problem::usage(what).hint("store the key with `hermes config set MODEL_API_KEY -`")
        );
    }
    match is_web && is_name(model) {
        true => Ok(ModelName {
            provider: Provider::Address,
            model: model.to_owned(),
            base: Some(base.trim_end_matches('/').to_owned()),
        }),
        false => Err(unclear(text, "is not an address with a name after #")),
    }
}

fn is_name(model: &str) -> bool {
    !model.is_empty() && !model.contains(|c: char| c.is_whitespace() || c.is_control())
}

fn is_o_series(text: &str) -> bool {
    text.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

fn unclear(text: &str, why: &str) -> Problem {
    Problem::usage(format!("could not tell which model {text:?} is: it {why}")).hint(FORMS)
}

fn unknown_provider(said: &str) -> Problem {
    let known: Vec<&str> = Provider::NAMED.iter().map(|provider| provider.as_str()).collect();
    Problem::usage(format!("could not use model.provider {said:?}: this provider is unknown")).hint(format!(
        "use {} or custom (with model.base_url); or write the whole model as in `hermes config set \
         model.main anthropic/claude-sonnet-5`",
        known.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> String {
        ModelName::parse(text).map_or_else(|problem| problem.to_string(), |name| name.to_string())
    }

    #[test]
    fn a_name_says_its_provider() {
        for (typed, name) in [
            ("anthropic/claude-haiku-4-5", "anthropic/claude-haiku-4-5"),
            ("claude-haiku-4-5", "anthropic/claude-haiku-4-5"),
            ("gpt-4o-mini", "openai/gpt-4o-mini"),
            ("o3-mini", "openai/o3-mini"),
            ("openrouter/anthropic/claude-haiku-4.5", "openrouter/anthropic/claude-haiku-4.5"),
            ("ollama/llama3.2:3b", "ollama/llama3.2:3b"),
            ("lm-studio/qwen", "lmstudio/qwen"),
            ("llama.cpp/any", "llamacpp/any"),
            ("http://box:9/v1/#my-model", "http://box:9/v1#my-model"),
        ] {
            assert_eq!(parsed(typed), name);
        }
    }

    #[test]
    fn what_names_no_provider_is_an_error_and_never_a_guess() {
        for typed in [
            "llama3.2",
            "mistral/large",
            "anthropic/",
            "opus",
            "",
            "http://h/v1",
            "ftp://h#x",
            "a b",
        ] {
            assert!(parsed(typed).starts_with("could not tell which model"), "{typed}");
        }
        assert!(!parsed("http://u:hunter2@h/v1#m").contains("hunter2"));
    }

    #[test]
    fn settings_of_hermes_agent_say_provider_and_address_apart() {
        let read = |text, provider, base| match ModelName::with_settings(text, provider, base) {
            Ok(name) => (name.to_string(), name.base),
            Err(problem) => (problem.to_string(), None),
        };
        let routed = read("anthropic/claude-opus-4.6", Some("openrouter"), None).0;
        assert_eq!(routed, "openrouter/anthropic/claude-opus-4.6");
        assert_eq!(read("anthropic/claude-x", Some("auto"), None).0, "anthropic/claude-x");
        assert_eq!(read("anthropic/claude-x", Some("anthropic"), None).0, "anthropic/claude-x");
        let (name, base) = read("claude-x", None, Some("http://proxy"));
        assert_eq!((name.as_str(), base.as_deref()), ("anthropic/claude-x", Some("http://proxy")));
        assert_eq!(read("qwen", Some("custom"), Some("http://h/v1")).0, "http://h/v1#qwen");
        assert_eq!(read("qwen", None, Some("http://h/v1")).0, "http://h/v1#qwen");
        assert!(read("hermes-4", Some("nous"), None).0.contains("model.provider \"nous\""));
    }
}
