//! Search in the entries of the memory files: by words, and by what they mean.

use std::collections::HashSet;

use hermes_home::layout::MemoryTarget;
use hermes_home::{memory_file, places};
use hermes_llm::EmbeddedModel;
use hermes_memory::chunk;
use hermes_memory::search::{Part, Ways};
use hermes_memory::task;

use super::hit::Hit;
use super::rules;
use crate::recall::Recall;

/// How much words and meaning count; words more, as in every search here.
const WORDS: f64 = 0.6;
const MEANING: f64 = 0.4;
/// An entry without a word of the question must mean at least this much the same.
const NEAR: f64 = 0.5;

/// The entries of MEMORY.md, USER.md and workspace/MEMORY.md that answer a question, best first.
pub fn find(recall: &Recall<'_>, text: &str) -> anyhow::Result<Vec<Hit>> {
    let Recall { app, home, asker, .. } = *recall;
    let asked = Asked::new(text);
    let mut hits = Vec::new();
    for target in [MemoryTarget::Memory, MemoryTarget::User(asker.user.clone())] {
        let rules = rules::of_file(app, home, &target)?;
        let main = memory_file::read(home, &target, rules)?;
        let others = places::find(home, &target, rules.owner)?;
        let files = std::iter::once((main.path, main.document))
            .chain(others.into_iter().map(|place| (place.path, place.document)));
        for (path, document) in files {
            let name = path.strip_prefix(home.folder()).unwrap_or(&path).display().to_string();
            for entry in document.entries() {
                app.stop.check()?;
                hits.extend(score(&asked, &entry.text).map(|(parts, ways)| {
                    Hit::of_entry(&name, entry.number, &entry.text, parts, ways)
                }));
            }
        }
    }
    hits.sort_by(|left: &Hit, right: &Hit| right.score.total_cmp(&left.score));
    Ok(hits)
}

/// A question, read once for all entries.
struct Asked {
    /// Its words, each with its stem.
    words: Vec<(String, String)>,
    meaning: Vec<f32>,
}

impl Asked {
    fn new(question: &str) -> Asked {
        let mut words = task::content_words(question);
        if words.is_empty() {
            words = chunk::question_words(question);
        }
        let words = chunk::question_words(&words.join(" ")).into_iter();
        let words = words.map(|word| (word.clone(), stem(&word))).collect();
        Asked { words, meaning: EmbeddedModel::get().embed(question) }
    }
}

/// How well an entry answers; none if it does not.
fn score(asked: &Asked, entry: &str) -> Option<(Vec<Part>, Ways)> {
    let said = chunk::index_words(&chunk::Words { text: entry, ..chunk::Words::default() });
    let said = chunk::question_words(&said).into_iter().chain(task::content_words(entry));
    let said: HashSet<String> = said.map(|word| stem(&word)).collect();
    let found = asked.words.iter().filter(|(_, stem)| said.contains(stem));
    let found: Vec<String> = found.map(|(word, _)| word.clone()).collect();
    let words = found.len() as f64 / asked.words.len().max(1) as f64;
    let meaning = f64::from(likeness(&asked.meaning, entry)).max(0.0);
    let ways = Ways { words: found, cosine: Some(meaning), is_near: meaning >= NEAR };
    let parts = vec![
        Part { name: "words", value: WORDS * words },
        Part { name: "meaning", value: MEANING * meaning },
    ];
    (!ways.words.is_empty() || ways.is_near).then_some((parts, ways))
}

fn likeness(asked: &[f32], entry: &str) -> f32 {
    let said = EmbeddedModel::get().embed(entry);
    asked.iter().zip(&said).map(|(a, b)| a * b).sum()
}

/// The word without the endings that English puts on: good enough for a handful of entries.
fn stem(word: &str) -> String {
    const ENDINGS: [&str; 6] = ["ing", "ed", "es", "s", "ly", "e"];
    let cut = ENDINGS.iter().find_map(|ending| word.strip_suffix(ending));
    cut.filter(|rest| rest.chars().count() >= 3).unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(question: &str, entry: &str) -> f64 {
        score(&Asked::new(question), entry)
            .map_or(0.0, |(parts, _)| parts.iter().map(|part| part.value).sum())
    }

    #[test]
    fn an_entry_is_found_by_its_words_and_by_what_it_means() {
        let tea = "Prefers tea over coffee";
        assert!(
            value("does she prefer tea?", tea) > value("does she prefer tea?", "Lives in Porto")
        );
        assert_eq!(value("kubernetes rollout", tea), 0.0);
        assert!(value("季度计划", "白板上写着季度计划") > 0.0);
        assert_eq!(value("", tea), 0.0);
        let label =
            |question: &str| score(&Asked::new(question), tea).map(|(_, ways)| ways.label());
        assert_eq!((label("tea"), label("kubernetes")), (Some("both"), None));
        assert_eq!(label("What hot drink does she prefer?"), Some("keyword"));
    }
}
