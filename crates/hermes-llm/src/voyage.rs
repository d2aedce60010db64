//! The embeddings protocol of Voyage AI, whose answers have the shape of OpenAI's.

use crate::model::{ModelId, Purpose};
use serde_json::{Value, json};

/// The body of the request.
pub(crate) fn request(id: &ModelId, texts: &[String], purpose: Purpose) -> Value {
    let input_type = match purpose {
        Purpose::Query => "query",
        Purpose::Document => "document",
    };
    let mut body = json!({"model": id.name, "input": texts, "input_type": input_type});
    if let Some(dims) = id.dims {
        body["output_dimension"] = dims.into();
    }
    body
}
