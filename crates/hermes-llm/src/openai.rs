//! The `/v1/embeddings` protocol of OpenAI, spoken by many servers.

use crate::model::ModelId;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// Where something is asked for, below a base that may name its version or not.
pub(crate) fn address(base: &str, what: &str) -> String {
    let base = base.trim().trim_end_matches('/');
    if base.ends_with(&format!("/{what}")) {
        return base.into();
    }
    let path = base.split_once("://").map_or(base, |(_, rest)| rest);
    let names_version = path.split('/').skip(1).any(is_version);
    format!("{base}{}/{what}", if names_version { "" } else { "/v1" })
}

/// The body of the request.
pub(crate) fn request(id: &ModelId, texts: &[String]) -> Value {
    let mut body = json!({"model": id.name, "input": texts, "encoding_format": "float"});
    if let Some(dims) = id.dims {
        body["dimensions"] = dims.into();
    }
    body
}

/// The vectors of an answer, put in the order of the texts.
pub(crate) fn vectors(answer: &[u8], count: usize) -> Result<Vec<Vec<f32>>, String> {
    let answer: Answer = serde_json::from_slice(answer).map_err(|error| error.to_string())?;
    if answer.data.len() != count {
        return Err(format!("{} vectors for {count} texts", answer.data.len()));
    }
    let mut ordered: Vec<Option<Vec<f32>>> = vec![None; count];
    for (position, item) in answer.data.into_iter().enumerate() {
        let index = item.index.unwrap_or(position);
        let place = ordered.get_mut(index).filter(|place| place.is_none());
        *place.ok_or_else(|| format!("index {index} is out of range or given twice"))? =
            Some(item.embedding);
    }
    Ok(ordered.into_iter().flatten().collect())
}

fn is_version(segment: &str) -> bool {
    let mut letters = segment.chars();
    letters.next() == Some('v') && letters.next().is_some_and(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_the_same_with_and_without_the_version() {
        for base in ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/embeddings"] {
            assert_eq!(address(base, "embeddings"), "http://h:1/v1/embeddings");
        }
        let address = |base| address(base, "embeddings");
        assert_eq!(address("https://h/v1beta/openai/"), "https://h/v1beta/openai/embeddings");
        assert_eq!(address("https://v2.example/api"), "https://v2.example/api/v1/embeddings");
    }
}
