//! What every embedding model can do: turn texts into vectors that can be compared.

use crate::embedded::{EmbeddedModel, normalise};
use crate::error::{Error, Result, Server, Task};
use crate::http::{ApiKey, Client, Endpoint, KeyHeader, Limits};
use crate::model::{ModelId, Prefixes, Provider, Purpose};
use crate::retry::Sleep;
use crate::{ollama, openai, voyage};
use serde_json::Value;
use std::path::PathBuf;

/// Turns texts into vectors of length one, in the order of the texts; a blank text becomes zeros.
pub trait Embedder: Send + Sync {
    /// What to keep beside every vector: vectors of another id cannot be compared with these.
    fn id(&self) -> &ModelId;

    /// The vectors of some texts.
    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>>;
}

/// A model behind an endpoint, as plain values.
#[derive(Clone, Debug)]
pub struct HttpModel {
    /// Where the endpoint is.
    pub base_url: String,
    /// The key, where one is needed.
    pub key: Option<ApiKey>,
    /// The name of the model.
    pub model: String,
    /// The width to ask for and to insist on; the model's own when absent.
    pub dimensions: Option<usize>,
    /// What to put before the texts; chosen by the model's name when absent.
    pub prefixes: Option<Prefixes>,
    /// How many texts go into one request.
    pub batch: usize,
    /// The address of a proxy; the environment is not asked.
    pub proxy: Option<String>,
    /// A file of certificates that are trusted in the place of the built-in ones.
    pub authorities: Option<PathBuf>,
    /// How long and how often to try.
    pub limits: Limits,
}

/// The model inside the program, seen as an [`Embedder`].
#[derive(Clone, Debug)]
pub struct Embedded {
    id: ModelId,
}

/// A model behind an HTTP endpoint.
pub struct HttpEmbedder {
    id: ModelId,
    batch: usize,
    limits: Limits,
    sleep: Sleep,
    client: Client,
}

impl HttpModel {
    /// A model with nothing but its address and name: no key, batches of 64, the usual limits.
    pub fn new(base_url: &str, model: &str) -> HttpModel {
        HttpModel {
            base_url: base_url.into(),
            key: None,
            model: model.into(),
            dimensions: None,
            prefixes: None,
            batch: 64,
            proxy: None,
            authorities: None,
            limits: Limits::default(),
        }
    }
}

impl Embedded {
    /// The embedder of the model inside the program.
    pub fn new() -> Embedded {
        let model = EmbeddedModel::get();
        let id = ModelId {
            provider: Provider::Embedded,
            name: model.name().into(),
            dims: Some(model.dims()),
            prefixes: Prefixes::default(),
        };
        Embedded { id }
    }
}

impl Default for Embedded {
    fn default() -> Embedded {
        Embedded::new()
    }
}

impl Embedder for Embedded {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn embed(&self, texts: &[&str], _purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        let model = EmbeddedModel::get();
        let mut tokens = Vec::new();
        let vectors = texts.iter().map(|text| {
            tokens.clear();
            model.tokens(text, &mut tokens);
            model.pool(&tokens)
        });
        Ok(vectors.collect())
    }
}

impl HttpEmbedder {
    /// A model of OpenAI or of a server that speaks its protocol; the base may end in `/v1` or not.
    pub fn openai(model: HttpModel, sleep: Sleep) -> Result<HttpEmbedder> {
        let url = openai::address(&model.base_url, "embeddings");
        HttpEmbedder::new(Provider::OpenAi, url, model, sleep)
    }

    /// A model of Ollama; the base may be `host:port` alone.
    pub fn ollama(model: HttpModel, sleep: Sleep) -> Result<HttpEmbedder> {
        let url = ollama::address(&model.base_url, "embed");
        HttpEmbedder::new(Provider::Ollama, url, model, sleep)
    }

    /// A model of Voyage AI.
    pub fn voyage(model: HttpModel, sleep: Sleep) -> Result<HttpEmbedder> {
        let url = openai::address(&model.base_url, "embeddings");
        HttpEmbedder::new(Provider::Voyage, url, model, sleep)
    }

    fn new(provider: Provider, url: String, model: HttpModel, sleep: Sleep) -> Result<Self> {
        let prefixes = match (&model.prefixes, provider) {
            (Some(chosen), _) => chosen.clone(),
            (None, Provider::Voyage) => Prefixes::default(),
            (None, _) => Prefixes::for_model(&model.model),
        };
        let id = ModelId { provider, name: model.model.clone(), dims: model.dimensions, prefixes };
        let (batch, limits) = (model.batch.max(1), model.limits);
        let is_ollama = provider == Provider::Ollama;
        let client = Client::new(Endpoint {
            task: Task::Embed,
            server: if is_ollama { Server::Ollama } else { Server::Other },
            url,
            model: model.model,
            key: model.key,
            key_header: KeyHeader::Bearer,
            key_from: None,
            headers: Vec::new(),
            proxy: model.proxy,
            authorities: model.authorities,
            connect: limits.connect,
        })?;
        Ok(HttpEmbedder { id, batch, limits, sleep, client })
    }

    fn request(&self, texts: &[String], purpose: Purpose) -> Value {
        match self.id.provider {
            Provider::Ollama => ollama::request(&self.id, texts),
            Provider::Voyage => voyage::request(&self.id, texts, purpose),
            Provider::OpenAi | Provider::Embedded => openai::request(&self.id, texts),
        }
    }

    fn vectors(&self, answer: &[u8], count: usize) -> Result<Vec<Vec<f32>>> {
        let read = match self.id.provider {
            Provider::Ollama => ollama::vectors(answer),
            _ => openai::vectors(answer, count),
        };
        let vectors = read.map_err(|why| self.client.bad_answer(answer, why))?;
        if vectors.len() != count {
            let why = format!("{} vectors for {count} texts", vectors.len());
            return Err(self.client.bad_answer(answer, why));
        }
        if vectors.iter().any(Vec::is_empty) {
            return Err(self.client.bad_answer(answer, "a vector is empty".into()));
        }
        if vectors.iter().flatten().any(|value| !value.is_finite()) {
            return Err(self.client.bad_answer(answer, "a number is not finite".into()));
        }
        Ok(vectors)
    }

    fn check_width(&self, vectors: &[Vec<f32>], width: &mut Option<usize>) -> Result<()> {
        for vector in vectors {
            let expected = *width.get_or_insert(vector.len());
            if vector.len() != expected {
                let model = self.id.name.clone();
                return Err(Error::Dimensions { model, expected, found: vector.len() });
            }
        }
        Ok(())
    }
}

impl Embedder for HttpEmbedder {
    fn id(&self) -> &ModelId {
        &self.id
    }

    /// Sends the texts in batches; the deadline holds for all of them together.
    fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        let prefix = self.id.prefixes.of(purpose);
        let filled: Vec<usize> =
            (0..texts.len()).filter(|i| !texts[*i].trim().is_empty()).collect();
        let mut found = vec![Vec::new(); texts.len()];
        let mut width = self.id.dims;
        let mut remaining = self.limits.deadline;
        for batch in filled.chunks(self.batch) {
            let inputs: Vec<String> =
                batch.iter().map(|i| format!("{prefix}{}", texts[*i])).collect();
            let body = self.request(&inputs, purpose).to_string();
            let answer = self.client.post(&body, &self.limits, &self.sleep, &mut remaining)?;
            let vectors = self.vectors(&answer, batch.len())?;
            self.check_width(&vectors, &mut width)?;
            for (index, mut vector) in batch.iter().zip(vectors) {
                normalise(&mut vector);
                found[*index] = vector;
            }
        }
        fill_blanks(found, width).ok_or_else(|| Error::NoText { model: self.id.name.clone() })
    }
}

/// Endpoints refuse blank texts, so those were not sent; they become zeros here.
fn fill_blanks(mut vectors: Vec<Vec<f32>>, width: Option<usize>) -> Option<Vec<Vec<f32>>> {
    for vector in vectors.iter_mut().filter(|vector| vector.is_empty()) {
        *vector = vec![0.0; width?];
    }
    Some(vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_model_is_an_embedder_like_the_others() {
        let embedder = Embedded::new();
        let vectors = embedder.embed(&["one text", ""], Purpose::Query).unwrap();
        assert_eq!(vectors[0], EmbeddedModel::get().embed("one text"));
        assert_eq!(vectors[1], vec![0.0; 256]);
        assert_eq!(embedder.id().dims, Some(256));
    }
}
