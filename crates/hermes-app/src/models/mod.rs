//! Which chat model each kind of work uses, and how it is reached.

mod name;
mod provider;

use std::fmt;
use std::path::PathBuf;

use hermes_home::config::Model as Settings;
use hermes_llm::ApiKey;
use hermes_llm::chat::price::{Price, list_price};
use hermes_llm::chat::{ChatEndpoint, ChatLimits, HttpChat};
use serde::{Serialize, Serializer};

use crate::problem::{Kind, Problem};
use crate::variables::{AUTHORITIES, Place, Variables};
pub use name::ModelName;
pub use provider::Provider;

/// What a model is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Somebody talks to it.
    Conversation,
    /// Work that nobody asked for: only a model that the settings name is used for it.
    Background,
}

/// The model for a purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chosen {
    /// This one.
    Model(Picked),
    /// None: the rules do the work.
    RulesOnly,
    /// None: nobody said which, and no key was found.
    Nothing,
}

/// A model and why it is this one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Picked {
    /// The model.
    #[serde(serialize_with = "as_text")]
    pub name: ModelName,
    /// Why it was chosen.
    pub why: String,
}

/// A key and where it was found.
pub struct Key {
    /// The variable that holds the key.
    pub variable: &'static str,
    /// Where the variable was found.
    pub place: Place,
    value: ApiKey,
    header: hermes_llm::KeyHeader,
}

/// The models that settings and keys give.
pub struct Models<'a> {
    /// What the settings say of models.
    pub settings: &'a Settings,
    /// The variables that hold keys.
    pub variables: Variables<'a>,
}

impl Models<'_> {
    /// The model for a purpose; a key that lies around never makes background work use a model.
    pub fn chosen(&self, purpose: Purpose) -> Result<Chosen, Problem> {
        let Settings { default, provider, base_url, main, light, .. } = self.settings;
        let picked =
            |name: ModelName, why: &str| Ok(Chosen::Model(Picked { name, why: why.into() }));
        match (purpose, light, main, default) {
            (Purpose::Background, None, ..) => Ok(Chosen::RulesOnly),
            (Purpose::Background, Some(light), ..) => {
                picked(ModelName::parse(light)?, "model.light")
            }
            (Purpose::Conversation, _, Some(main), _) => {
                picked(ModelName::parse(main)?, "model.main")
            }
            (Purpose::Conversation, _, None, Some(default)) => {
                let (provider, base) = (provider.as_deref(), base_url.as_deref());
                picked(ModelName::with_settings(default, provider, base)?, "model.default")
            }
            (Purpose::Conversation, _, None, None) => Ok(self.by_key()),
        }
    }

    /// One line about what works in the background.
    pub fn describe(&self) -> String {
        match self.chosen(Purpose::Background) {
            Ok(Chosen::Model(Picked { name, .. })) => match self.missing_key(&name) {
                None => format!("background work: {name}"),
                Some(variable) => format!("background work: {name}, but {variable} is not set"),
            },
            Ok(_) => "background work: rules only (no model.light set)".to_owned(),
            Err(problem) => format!("background work: rules only (model.light: {problem})"),
        }
    }

    /// A model ready to be asked; fails where its key is missing.
    pub fn open(&self, name: &ModelName, limits: ChatLimits) -> anyhow::Result<HttpChat> {
        if let Some(variable) = self.missing_key(name) {
            let what = format!("could not use {name}: {variable} is not set");
            let hint = format!("store the key with `hermes config set {variable} -`");
            return Err(Problem::new(Kind::Refused, what).hint(hint).into());
        }
        self.prepare(name, limits)
    }

    /// The same without the check for a key, for requests that are only shown.
    pub fn prepare(&self, name: &ModelName, limits: ChatLimits) -> anyhow::Result<HttpChat> {
        let base = self.address(name.provider, name.base.as_deref());
        let usual = ChatEndpoint::new(name.provider.protocol(), &base, &name.model);
        let key = self.key(name.provider);
        let organization = self.variables.value("OPENAI_ORG_ID");
        let endpoint = ChatEndpoint {
            name: name.to_string(),
            key_header: key.as_ref().map_or(usual.key_header, |key| key.header),
            key_from: key.as_ref().map(Key::to_string),
            key: key.map(|key| key.value),
            organization: organization.filter(|_| name.provider == Provider::OpenAi),
            limits,
            authorities: self.variables.value(AUTHORITIES).map(PathBuf::from),
            ..usual
        };
        Ok(HttpChat::new(endpoint, Box::new(std::thread::sleep))?)
    }

    /// The variable whose key is missing, if the model cannot be used without one.
    pub fn missing_key(&self, name: &ModelName) -> Option<&'static str> {
        let provider = name.provider;
        let elsewhere = provider.base_variable().and_then(|name| self.variables.value(name));
        let may_do_without = name.base.is_some() || elsewhere.is_some() || !provider.needs_key();
        if may_do_without || self.key(provider).is_some() {
            return None;
        }
        provider.keys().first().map(|(variable, _)| *variable)
    }

    /// The key for a provider, if one is found.
    pub fn key(&self, provider: Provider) -> Option<Key> {
        provider.keys().iter().find_map(|(variable, header)| {
            let (value, place) = self.variables.find(variable)?;
            Some(Key { variable, place, value: ApiKey::new(&value), header: *header })
        })
    }

    /// Where a provider is.
    pub fn address(&self, provider: Provider, said: Option<&str>) -> String {
        let variable = || provider.base_variable().and_then(|name| self.variables.value(name));
        let base = said.map(str::to_owned).or_else(variable);
        let base = base.unwrap_or_else(|| provider.usual_base().to_owned());
        match provider {
            // Ollama's own setting may name the address it listens at, which is no place to go.
            Provider::Ollama => base.replace("0.0.0.0", "127.0.0.1"),
            _ => base,
        }
    }

    /// What a million tokens of a model cost, by the settings or else by the list.
    pub fn price(&self, name: &ModelName) -> Option<Price> {
        let list = list_price(&name.to_string());
        let light = self.settings.light.as_deref().map(ModelName::parse);
        if !matches!(light, Some(Ok(light)) if light == *name) {
            return list;
        }
        Some(Price {
            input: self.settings.price_input.or(list.map(|price| price.input))?,
            output: self.settings.price_output.or(list.map(|price| price.output))?,
        })
    }

    /// The usual model of the first provider whose key is found.
    fn by_key(&self) -> Chosen {
        let found = Provider::NAMED.into_iter().find_map(|provider| {
            let (key, model) = (self.key(provider)?, provider.usual_model()?);
            let name = ModelName { provider, model: model.to_owned(), base: None };
            Some(Picked { name, why: key.to_string() })
        });
        found.map_or(Chosen::Nothing, Chosen::Model)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.variable, self.place.shown())
    }
}

fn as_text<S: Serializer>(name: &ModelName, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(name)
}

#[cfg(test)]
mod tests {
    use hermes_home::env::Env;
    use hermes_llm::chat::ChatModel;

    use super::*;

    fn chosen(settings: &Settings, env: &Env, purpose: Purpose) -> String {
        let models = Models { settings, variables: Variables::of(env, "") };
        match models.chosen(purpose) {
            Ok(Chosen::Model(picked)) => format!("{} by {}", picked.name, picked.why),
            Ok(other) => format!("{other:?}"),
            Err(problem) => problem.to_string(),
        }
    }

    fn said(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn conversations_go_by_main_then_default_then_a_key() {
        let mut settings = Settings::default();
        let none = Env::default();
        let key = Env::of([("OPENAI_API_KEY", "k")]);
        assert_eq!(chosen(&settings, &none, Purpose::Conversation), "Nothing");
        assert_eq!(
            chosen(&settings, &key, Purpose::Conversation),
            "openai/gpt-5.4-mini by OPENAI_API_KEY in the environment"
        );
        settings.default = said("ollama/llama3.2");
        let by_default = chosen(&settings, &key, Purpose::Conversation);
        assert_eq!(by_default, "ollama/llama3.2 by model.default");
        settings.main = said("claude-opus-5");
        let by_main = chosen(&settings, &key, Purpose::Conversation);
        assert_eq!(by_main, "anthropic/claude-opus-5 by model.main");
    }

    #[test]
    fn background_work_uses_a_model_only_when_the_settings_name_it() {
        let key = Env::of([("ANTHROPIC_API_KEY", "k"), ("OPENAI_API_KEY", "k")]);
        let mut settings = Settings { main: said("claude-opus-5"), ..Settings::default() };
        assert_eq!(chosen(&settings, &key, Purpose::Background), "RulesOnly");
        settings.light = said("claude-haiku-4-5");
        let light = chosen(&settings, &key, Purpose::Background);
        assert_eq!(light, "anthropic/claude-haiku-4-5 by model.light");
        settings.light = said("haiku");
        assert!(chosen(&settings, &key, Purpose::Background).starts_with("could not tell"));
    }

    #[test]
    fn one_line_says_what_works_in_the_background() {
        let line = |light: Option<&str>, env: &Env| {
            let settings = Settings { light: light.map(str::to_owned), ..Settings::default() };
            Models { settings: &settings, variables: Variables::of(env, "") }.describe()
        };
        let (none, key) = (Env::default(), Env::of([("ANTHROPIC_API_KEY", "k")]));
        assert_eq!(line(None, &key), "background work: rules only (no model.light set)");
        let haiku = Some("anthropic/claude-haiku-4-5");
        assert_eq!(line(haiku, &key), "background work: anthropic/claude-haiku-4-5");
        assert!(line(haiku, &none).ends_with("but ANTHROPIC_API_KEY is not set"));
        assert!(line(Some("haiku"), &key).contains("rules only (model.light: could not tell"));
    }

    #[test]
    fn a_key_is_looked_for_in_the_environment_and_then_in_dot_env() {
        let settings = Settings::default();
        let env = Env::of([("OPENAI_API_KEY", " "), ("ANTHROPIC_AUTH_TOKEN", "t")]);
        let variables = Variables::of(&env, "OPENAI_API_KEY=k\nANTHROPIC_API_KEY=\n");
        let models = Models { settings: &settings, variables };
        let found = |provider| models.key(provider).map(|key| key.to_string());
        assert_eq!(found(Provider::OpenAi).as_deref(), Some("OPENAI_API_KEY in .env"));
        let token = found(Provider::Anthropic);
        assert_eq!(token.as_deref(), Some("ANTHROPIC_AUTH_TOKEN in the environment"));
        assert_eq!(found(Provider::OpenRouter), None);
    }

    #[test]
    fn a_missing_key_is_named_unless_another_address_may_do_without() {
        let settings = Settings::default();
        let opened = |env: &Env, name: &str| {
            let models = Models { settings: &settings, variables: Variables::of(env, "") };
            let name = ModelName::parse(name).unwrap();
            match models.open(&name, ChatLimits::default()) {
                Ok(model) => model.name().to_owned(),
                Err(error) => error.to_string(),
            }
        };
        let none = Env::default();
        let refused = opened(&none, "openai/gpt-5.4");
        assert_eq!(refused, "could not use openai/gpt-5.4: OPENAI_API_KEY is not set");
        assert_eq!(opened(&none, "ollama/llama3.2"), "ollama/llama3.2");
        assert_eq!(opened(&none, "http://h/v1#m"), "http://h/v1#m");
        let elsewhere = Env::of([("OPENAI_BASE_URL", "http://h/v1")]);
        assert_eq!(opened(&elsewhere, "openai/gpt-5.4"), "openai/gpt-5.4");
    }

    #[test]
    fn the_settings_price_comes_before_the_list() {
        let env = Env::default();
        let mut settings = Settings { light: said("claude-haiku-4-5"), ..Settings::default() };
        settings.price_output = Some(7.0);
        let models = Models { settings: &settings, variables: Variables::of(&env, "") };
        let price = |name: &str| models.price(&ModelName::parse(name).unwrap());
        assert_eq!(price("claude-haiku-4-5"), Some(Price { input: 1.0, output: 7.0 }));
        assert_eq!(price("claude-opus-5").map(|price| price.output), Some(25.0));
        assert_eq!(price("openai/gpt-next"), None);
    }
}
