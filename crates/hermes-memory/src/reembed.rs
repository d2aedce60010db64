//! Make the vectors of a model for everything that lacks them, then let the model answer.

use hermes_llm::{Embedder, ModelId, Prefixes, Purpose};
use hermes_store::memory::{
    Admin, ChunkKey, Coverage, EmbedModel, Memory, ModelState, NewModel, Unembedded,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::Result;
use crate::chunk::{self, Words};

/// How the work is done.
#[derive(Debug, Clone)]
pub struct Settings<'a> {
    /// How many texts are embedded and kept at a time; what is kept stays if the next fails.
    pub batch: usize,
    /// When.
    pub now: Timestamp,
    /// The zone in which days are written, as when the texts were recorded.
    pub zone: &'a TimeZone,
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The model, which now answers.
    pub model: EmbedModel,
    /// How many vectors were made.
    pub embedded: u64,
    /// Whether another model answered before, or none.
    pub is_new: bool,
}

/// New texts may come in while the last ones are embedded; after so many rounds it is an error.
const MOST_ROUNDS: usize = 10;
/// From how many texts the middle of a new model's vectors is taken.
const SAMPLE: usize = 256;

/// Embeds every text that lacks a vector of the embedder's model; the model answers when none is
/// left. Until then the one before answers, also if this fails: the next call goes on where it ended.
pub fn reembed(
    store: &mut Memory,
    embedder: &dyn Embedder,
    settings: &Settings<'_>,
    progress: &mut dyn FnMut(Coverage),
) -> Result<Report> {
    let model = known_model(store, embedder, settings)?;
    let is_new = model.state != ModelState::Active;
    let mut work = Work {
        store,
        embedder,
        settings,
        model: model.id,
        coverage: Coverage { done: 0, all: 0 },
        embedded: 0,
    };
    work.coverage = work.store.coverage(Admin, model.id)?;
    progress(work.coverage);
    let mut rounds = 0;
    loop {
        work.sweep(progress)?;
        rounds += 1;
        match work.activate(is_new) {
            Err(error) if rounds < MOST_ROUNDS && is_incomplete(&error) => {}
            Err(error) => return Err(error.into()),
            Ok(()) => break,
        }
    }
    let state = ModelState::Active;
    Ok(Report { model: EmbedModel { state, ..model }, embedded: work.embedded, is_new })
}

/// What else than provider, name and width changes the vectors of a model, as the memory keeps it.
pub fn details_of(id: &ModelId) -> String {
    if id.prefixes == Prefixes::default() {
        return String::new();
    }
    format!("query={:?} document={:?}", id.prefixes.query, id.prefixes.document)
}

/// Whether a model of the memory is the one an embedder speaks for.
pub fn is_model(model: &EmbedModel, id: &ModelId) -> bool {
    model.provider == id.provider.as_str()
        && model.name == id.name
        && id.dims.is_none_or(|dims| dims == model.dims)
        && model.details == details_of(id)
}

/// The text whose vector stands for a chunk: the same as when it is recorded.
pub fn text_of(chunk: &Unembedded, zone: &TimeZone) -> String {
    chunk::meaning_text(&Words {
        text: &chunk.text,
        caption: None,
        speaker: chunk.speaker.as_deref(),
        day: chunk.at.map(|at| chunk::day_of(at, zone)),
    })
}

/// The work under way.
struct Work<'a> {
    store: &'a mut Memory,
    embedder: &'a dyn Embedder,
    settings: &'a Settings<'a>,
    model: i64,
    coverage: Coverage,
    embedded: u64,
}

impl Work<'_> {
    /// Goes once over everything that lacks a vector.
    fn sweep(&mut self, progress: &mut dyn FnMut(Coverage)) -> Result<()> {
        let batch = self.settings.batch.max(1);
        let mut after: Option<ChunkKey> = None;
        loop {
            let texts = self.store.unembedded(Admin, self.model, after, batch)?;
            let Some(last) = texts.last() else { return Ok(()) };
            after = Some(last.chunk);
            let vectors = embed(self.embedder, &texts, self.settings.zone)?;
            let pairs: Vec<_> = texts.iter().map(|text| text.chunk).zip(vectors).collect();
            let kept = self.store.put_vectors(Admin, self.model, &pairs)?;
            let kept = u64::try_from(kept).unwrap_or(0);
            self.embedded += kept;
            self.coverage.done += kept;
            self.coverage.all = self.coverage.all.max(self.coverage.done);
            progress(self.coverage);
        }
    }

    fn activate(&mut self, is_new: bool) -> hermes_store::Result<()> {
        if is_new { self.store.activate_model(Admin, self.model) } else { Ok(()) }
    }
}

fn embed(embedder: &dyn Embedder, texts: &[Unembedded], zone: &TimeZone) -> Result<Vec<Vec<f32>>> {
    let whole: Vec<String> = texts.iter().map(|text| text_of(text, zone)).collect();
    let parts: Vec<&str> = whole.iter().map(String::as_str).collect();
    Ok(embedder.embed(&parts, Purpose::Document)?)
}

/// The embedder's model as the memory knows it; made known if it is new.
fn known_model(
    store: &mut Memory,
    embedder: &dyn Embedder,
    settings: &Settings<'_>,
) -> Result<EmbedModel> {
    let id = embedder.id();
    let known = store.models(Admin)?.into_iter().find(|model| is_model(model, id));
    let mean = match &known {
        Some(model) => vec![0.0; model.dims],
        None => middle(store, embedder, settings)?,
    };
    let model = NewModel {
        provider: id.provider.as_str(),
        name: &id.name,
        dims: mean.len(),
        details: &details_of(id),
        mean: &mean,
    };
    Ok(store.add_model(Admin, &model, settings.now)?)
}

/// What is usually said, for a memory in which nothing was said yet.
const USUAL: [&str; 16] = [
    "8 May 2023 user: Can you have a look at this and tell me what you think?",
    "2 June 2024 assistant: Sure, here is what I would do. First check that the file is there, then run it again.",
    "19 January 2025 user: I was at the market yesterday with my sister and we had a great time.",
    "30 March 2025 assistant: That sounds good! What did you like best about it?",
    "11 July 2023 user: the build fails on the server but it works on my machine, any idea why?",
    "5 October 2024 assistant: The error says that the connection was closed. You can set a longer time-out in the config.",
    "27 February 2026 user: Please remember that we meet every Tuesday at ten, not on Monday.",
    "14 August 2025 assistant: Done. I have moved it to the new folder and kept a copy of the old one.",
    "3 December 2023 user: No, the other one. We decided to use the second option for the report.",
    "22 April 2024 assistant: You are right, and thank you for telling me. Here is the list again with the changes.",
    "9 September 2025 user: How much did it cost last year, and who paid for it?",
    "16 November 2024 assistant: It depends on how many people use it. For a small team it is about twenty a month.",
    "25 May 2026 user: I want to learn something new this summer, maybe music or a language.",
    "1 June 2025 assistant: A good way to begin is a little every day. I can make a plan for the first weeks.",
    "12 October 2023 user: thanks, that helped a lot",
    "6 February 2025 assistant: You are welcome. Let me know if there is anything else.",
];

/// The middle of the vectors of some texts, or of what is usually said in an empty memory.
fn middle(store: &Memory, embedder: &dyn Embedder, settings: &Settings<'_>) -> Result<Vec<f32>> {
    /// No model has this number, so every text lacks a vector of it.
    const NO_MODEL: i64 = -1;
    let texts = store.unembedded(Admin, NO_MODEL, None, SAMPLE)?;
    if texts.is_empty() {
        return Ok(mean(&embedder.embed(&USUAL, Purpose::Document)?));
    }
    let mut vectors = Vec::new();
    for part in texts.chunks(settings.batch.max(1)) {
        vectors.extend(embed(embedder, part, settings.zone)?);
    }
    Ok(mean(&vectors))
}

fn mean(vectors: &[Vec<f32>]) -> Vec<f32> {
    let mut sum = vec![0.0; vectors.first().map_or(0, Vec::len)];
    for vector in vectors {
        sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
    }
    sum.iter().map(|sum| sum / vectors.len() as f32).collect()
}

/// Whether a model may not answer yet, since a text came in that lacks its vector.
fn is_incomplete(error: &hermes_store::Error) -> bool {
    matches!(error, hermes_store::Error::ItemRefused { .. })
}

#[cfg(test)]
mod tests {
    use hermes_llm::Provider;

    use super::*;

    fn id(dims: Option<usize>, query: &str) -> ModelId {
        let prefixes = Prefixes { query: query.to_owned(), document: String::new() };
        ModelId { provider: Provider::Ollama, name: "m".to_owned(), dims, prefixes }
    }

    #[test]
    fn a_model_with_other_prefixes_or_width_is_another_model() {
        let model = EmbedModel {
            id: 1,
            provider: "ollama".to_owned(),
            name: "m".to_owned(),
            dims: 3,
            details: String::new(),
            state: ModelState::Active,
        };
        assert!(is_model(&model, &id(None, "")) && is_model(&model, &id(Some(3), "")));
        assert!(!is_model(&model, &id(Some(4), "")) && !is_model(&model, &id(None, "query: ")));
    }

    #[test]
    fn the_middle_of_vectors_is_their_mean() {
        assert_eq!(mean(&[vec![1.0, 0.0], vec![0.0, 1.0]]), [0.5, 0.5]);
        assert!(mean(&[]).is_empty());
    }
}
