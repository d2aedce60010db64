//! Which embedding model the settings ask for, which one answers in a memory, and how each is reached.

use std::path::PathBuf;
use std::time::Duration;

use hermes_home::config::{EmbeddingProvider, Embeddings};
use hermes_llm::{ApiKey, Embedded, Embedder, HttpEmbedder, HttpModel, Limits, Prefixes, Provider};
use hermes_memory::chunk::Vectors;
use hermes_memory::reembed;
use hermes_store::memory::EmbedModel;

use crate::problem::{Kind, Problem};
use crate::variables::AUTHORITIES;

/// What is needed to reach a model.
pub struct Means<'a> {
    /// What the settings say.
    pub settings: &'a Embeddings,
    /// The value of a variable, of the environment or of `.env`.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// How long it may take.
    pub haste: Haste,
}

/// How long a model may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Haste {
    /// Somebody waits for the answer to a question.
    Question,
    /// Many texts are embedded.
    Work,
}

/// The model that answers in a memory, if it can be had, and what the asker should know.
#[derive(Default)]
pub struct Answering {
    /// The model.
    pub embedder: Option<Box<dyn Embedder>>,
    /// What the asker should know.
    pub notes: Vec<String>,
}

const OPENAI: &str = "https://api.openai.com/v1";
const OPENAI_MODEL: &str = "text-embedding-3-small";
const OLLAMA: &str = "http://127.0.0.1:11434";
const OLLAMA_MODEL: &str = "nomic-embed-text";
const VOYAGE: &str = "https://api.voyageai.com/v1";
const VOYAGE_MODEL: &str = "voyage-3.5";
const VOYAGE_KEY: &str = "VOYAGE_API_KEY";

/// The model the settings ask for.
pub fn wanted(means: &Means<'_>) -> anyhow::Result<Box<dyn Embedder>> {
    let model = means.settings.model.as_deref();
    match means.settings.provider {
        EmbeddingProvider::Embedded => Ok(Box::new(Embedded::new())),
        EmbeddingProvider::Openai => means.reach(Provider::OpenAi, model.unwrap_or(OPENAI_MODEL)),
        EmbeddingProvider::Local | EmbeddingProvider::Ollama => {
            means.reach(Provider::Ollama, model.unwrap_or(OLLAMA_MODEL))
        }
        EmbeddingProvider::Voyage => means.reach(Provider::Voyage, model.unwrap_or(VOYAGE_MODEL)),
        EmbeddingProvider::Anthropic if (means.variable)(VOYAGE_KEY).is_some() => {
            // Another provider's model may be left over in the settings.
            let model = model.filter(|model| model.starts_with("voyage"));
            means.reach(Provider::Voyage, model.unwrap_or(VOYAGE_MODEL))
        }
        EmbeddingProvider::Anthropic => Err(no_anthropic().into()),
    }
}

/// The model that answers; where the settings ask for another one, that is said and not done.
pub fn answering(active: &EmbedModel, means: &Means<'_>) -> Answering {
    let shown = name(active);
    let mut notes = Vec::new();
    match wanted(means) {
        Ok(embedder) if reembed::is_model(active, embedder.id()) => {
            return Answering { embedder: Some(embedder), notes };
        }
        Ok(other) => notes.push(format!(
            "the settings name {} ({}); {shown} stays active until `hermes memory reembed` has \
             switched",
            other.id().name,
            other.id().provider
        )),
        Err(error) => notes.push(format!("{error}; {shown} stays active")),
    }
    // Nothing is sent to a provider that the settings no longer name.
    let embedded = Embedded::new();
    if reembed::is_model(active, embedded.id()) {
        return Answering { embedder: Some(Box::new(embedded)), notes };
    }
    notes.push(format!(
        "the settings do not name {shown}, so it is not used: the search uses keywords only"
    ));
    Answering { embedder: None, notes }
}

/// Whether the vectors of a new text can be made where it is recorded.
pub fn vectors(active: Option<&EmbedModel>) -> Vectors {
    let is_ours = active.is_none_or(|model| reembed::is_model(model, Embedded::new().id()));
    if is_ours { Vectors::Now } else { Vectors::Later }
}

/// A model as people read it.
pub fn name(model: &EmbedModel) -> String {
    format!("{} ({})", model.name, model.provider)
}

impl Means<'_> {
    /// A model behind an endpoint; the settings say where, else the environment, else the usual place.
    fn reach(&self, provider: Provider, model: &str) -> anyhow::Result<Box<dyn Embedder>> {
        self.refuse_without_key(provider)?;
        let base = match (&self.settings.base_url, provider) {
            (Some(base), _) => base.clone(),
            (None, Provider::OpenAi) => self.variable("OPENAI_BASE_URL", OPENAI),
            (None, Provider::Voyage) => VOYAGE.to_owned(),
            (None, _) if self.settings.provider == EmbeddingProvider::Local => OLLAMA.to_owned(),
            // Ollama's own setting may name the address it listens at, which is no place to go.
            (None, _) => self.variable("OLLAMA_HOST", OLLAMA).replace("0.0.0.0", "127.0.0.1"),
        };
        self.connect(
            provider,
            HttpModel {
                dimensions: self.settings.dimensions.map(|count| count as usize),
                prefixes: self.prefixes(model),
                ..HttpModel::new(&base, model)
            },
        )
    }

    /// A provider at its own address wants a key; another address may do without.
    fn refuse_without_key(&self, provider: Provider) -> anyhow::Result<()> {
        let (variable, is_elsewhere) = match provider {
            Provider::OpenAi => ("OPENAI_API_KEY", (self.variable)("OPENAI_BASE_URL").is_some()),
            Provider::Voyage => (VOYAGE_KEY, false),
            Provider::Ollama | Provider::Embedded => return Ok(()),
        };
        if is_elsewhere || self.settings.base_url.is_some() || (self.variable)(variable).is_some() {
            return Ok(());
        }
        let what = format!("could not use {provider} for embeddings: {variable} is not set");
        let hint = format!(
            "store the key with `hermes config set {variable} -`, or use the built-in model, which \
             needs no network: `hermes config set memory.embeddings.provider embedded`"
        );
        Err(Problem::new(Kind::Refused, what).hint(hint).into())
    }

    fn connect(&self, provider: Provider, model: HttpModel) -> anyhow::Result<Box<dyn Embedder>> {
        let key = match provider {
            Provider::OpenAi => (self.variable)("OPENAI_API_KEY"),
            Provider::Voyage => (self.variable)(VOYAGE_KEY),
            Provider::Ollama | Provider::Embedded => None,
        };
        let model = HttpModel {
            key: key.as_deref().map(ApiKey::new),
            batch: self.settings.batch_size as usize,
            authorities: (self.variable)(AUTHORITIES).map(PathBuf::from),
            limits: self.haste.limits(),
            ..model
        };
        let sleep = Box::new(std::thread::sleep);
        Ok(Box::new(match provider {
            Provider::Ollama => HttpEmbedder::ollama(model, sleep)?,
            Provider::Voyage => HttpEmbedder::voyage(model, sleep)?,
            Provider::OpenAi | Provider::Embedded => HttpEmbedder::openai(model, sleep)?,
        }))
    }

    fn prefixes(&self, model: &str) -> Option<Prefixes> {
        let Embeddings { query_prefix, document_prefix, .. } = self.settings;
        if query_prefix.is_none() && document_prefix.is_none() {
            return None;
        }
        let usual = Prefixes::for_model(model);
        Some(Prefixes {
            query: query_prefix.clone().unwrap_or(usual.query),
            document: document_prefix.clone().unwrap_or(usual.document),
        })
    }

    fn variable(&self, name: &str, usual: &str) -> String {
        (self.variable)(name).unwrap_or_else(|| usual.to_owned())
    }
}

impl Haste {
    fn limits(self) -> Limits {
        match self {
            Haste::Work => Limits::default(),
            // Words are found without a model, so nobody should wait long for one.
            Haste::Question => Limits {
                connect: Duration::from_secs(2),
                request: Duration::from_secs(8),
                deadline: Duration::from_secs(8),
                tries: 1,
            },
        }
    }
}

fn no_anthropic() -> Problem {
    Problem::new(Kind::Refused, "could not use anthropic for embeddings: VOYAGE_API_KEY is not set")
        .hint(
            "Anthropic has no embedding endpoint and recommends Voyage AI: store the key with \
             `hermes config set VOYAGE_API_KEY -`, or use the built-in model, which needs no \
             network: `hermes config set memory.embeddings.provider embedded`",
        )
}

#[cfg(test)]
mod tests {
    use hermes_store::memory::ModelState;

    use super::*;

    fn settings(provider: EmbeddingProvider) -> Embeddings {
        Embeddings { provider, ..Embeddings::default() }
    }

    fn id_of(settings: &Embeddings, variable: &dyn Fn(&str) -> Option<String>) -> String {
        match wanted(&Means { settings, variable, haste: Haste::Question }) {
            Ok(embedder) => format!("{} {}", embedder.id().provider, embedder.id().name),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn each_provider_has_its_usual_model() {
        let key = |name: &str| name.ends_with("_API_KEY").then(|| "k".to_owned());
        for (provider, expected) in [
            (EmbeddingProvider::Embedded, "embedded hermes-static-1"),
            (EmbeddingProvider::Local, "ollama nomic-embed-text"),
            (EmbeddingProvider::Ollama, "ollama nomic-embed-text"),
            (EmbeddingProvider::Openai, "openai text-embedding-3-small"),
            (EmbeddingProvider::Voyage, "voyage voyage-3.5"),
        ] {
            assert_eq!(id_of(&settings(provider), &key), expected);
        }
        let without = id_of(&settings(EmbeddingProvider::Openai), &|_| None);
        assert!(without.contains("OPENAI_API_KEY is not set"), "{without}");
    }

    #[test]
    fn anthropic_means_voyage_and_says_so_without_a_key() {
        let mut anthropic = settings(EmbeddingProvider::Anthropic);
        anthropic.model = Some("text-embedding-3-small".to_owned());
        let key = |name: &str| (name == VOYAGE_KEY).then(|| "k".to_owned());
        assert_eq!(id_of(&anthropic, &key), "voyage voyage-3.5");
        assert!(id_of(&anthropic, &|_| None).contains("VOYAGE_API_KEY is not set"));
    }

    #[test]
    fn the_model_that_answers_stays_until_the_switch() {
        let embedded = EmbedModel {
            id: 1,
            provider: "embedded".to_owned(),
            name: Embedded::new().id().name.clone(),
            dims: 256,
            details: String::new(),
            state: ModelState::Active,
        };
        let settings = settings(EmbeddingProvider::Openai);
        let key = |name: &str| name.ends_with("_API_KEY").then(|| "k".to_owned());
        let means = Means { settings: &settings, variable: &key, haste: Haste::Question };
        let answering = super::answering(&embedded, &means);
        assert_eq!(answering.embedder.unwrap().id().provider, Provider::Embedded);
        assert!(answering.notes[0].contains("hermes memory reembed"));
        assert_eq!(vectors(Some(&embedded)), Vectors::Now);
        let other = EmbedModel { provider: "voyage".to_owned(), ..embedded };
        assert_eq!(vectors(Some(&other)), Vectors::Later);
        let left = super::answering(&other, &means);
        assert!(left.embedder.is_none(), "nobody is asked whom the settings do not name");
    }
}
