//! The `/api/embed` protocol of Ollama.

use crate::model::ModelId;
use serde::Deserialize;
use serde_json::{Value, json};

const PORT: u16 = 11434;

#[derive(Deserialize)]
struct Answer {
    embeddings: Vec<Vec<f32>>,
}

/// Where something is asked for; `host` and `host:port` are enough, as in Ollama's own setting.
pub(crate) fn address(base: &str, what: &str) -> String {
    let base = base.trim().trim_end_matches('/');
    let ends = ["/v1", "/api/embed", "/api/chat", "/api"];
    let base = ends.iter().find_map(|end| base.strip_suffix(end)).unwrap_or(base);
    if base.contains("://") {
        return format!("{base}/api/{what}");
    }
    let has_port = base.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let port = if has_port { String::new() } else { format!(":{PORT}") };
    format!("http://{base}{port}/api/{what}")
}

/// The body of the request.
pub(crate) fn request(id: &ModelId, texts: &[String]) -> Value {
    let mut body = json!({"model": id.name, "input": texts, "truncate": true});
    if let Some(dims) = id.dims {
        body["dimensions"] = dims.into();
    }
    body
}

/// The vectors of an answer, which come in the order of the texts.
pub(crate) fn vectors(answer: &[u8]) -> Result<Vec<Vec<f32>>, String> {
    let answer: Answer = serde_json::from_slice(answer).map_err(|error| error.to_string())?;
    Ok(answer.embeddings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_needs_neither_scheme_nor_port_nor_path() {
        assert_eq!(address("localhost", "embed"), "http://localhost:11434/api/embed");
        for base in ["box:5000", "http://box:5000/", "http://box:5000/v1", "http://box:5000/api"] {
            assert_eq!(address(base, "embed"), "http://box:5000/api/embed");
        }
    }
}
