//! What kind of task a message asks for.

use std::sync::OnceLock;

use hermes_llm::EmbeddedModel;

use super::Linear;
use super::signs::{Signs, join};
use super::tokens::{self, Token, hashes, without_courtesies};

static MODEL: OnceLock<Linear<8>> = OnceLock::new();

/// A longer text is judged by its beginning.
const LONGEST: usize = 4_000;

/// How likely each type of task is, in the order of `TaskType::ALL`.
pub fn judge(text: &str) -> [f32; 8] {
    let text = &text[..text.floor_char_boundary(LONGEST)];
    let model = Linear::once(&MODEL, include_bytes!("../../model/tasks.bin"));
    let meant = model.meant(0, &EmbeddedModel::get().embed(text));
    model.judge(&seen(text), None, &[meant])
}

/// What can be seen of a text that may ask for something to be done.
pub fn seen(text: &str) -> Signs {
    signs(&tokens::of_text(text), text.contains("```") || text.contains("::"))
}

fn signs(tokens: &[Token], has_code: bool) -> Signs {
    let mut signs = Signs::default();
    signs.runs("", &hashes(tokens), 2, 1.0);
    let mut starts = true;
    for (at, token) in tokens.iter().enumerate() {
        if let Some(stem) = token.stem {
            signs.add("stem", stem, 0.5);
        }
        if token.is_mark {
            starts |= token.word != super::signs::hash(",");
        } else if starts && !token.is_courtesy {
            signs.add("starts", token.word, 1.0);
            if let Some(next) = tokens.get(at + 1) {
                signs.add("starts with", join(token.word, next.word), 1.0);
            }
            starts = false;
        }
    }
    let point = without_courtesies(tokens);
    for (at, sort) in ["first", "second"].into_iter().enumerate() {
        if let Some(token) = point.get(at) {
            signs.add(sort, token.word, 1.0);
        }
    }
    if let [first, second, ..] = point {
        signs.add("first two", join(first.word, second.word), 1.0);
    }
    signs.flag(has_code, "code");
    signs.add("length", (tokens.len() / 8).min(6) as u32, 1.0);
    signs.settle(0.0)
}
