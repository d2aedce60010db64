//! Stops a model that makes the same call again and again.

use std::collections::HashMap;

use crate::toolbox::{Call, Outcome};

/// After so many times the same result the call is no longer made.
const SAME: u32 = 3;
/// After so many calls that were not made the turn ends.
const MOST_REFUSED: u32 = 3;

/// The calls of a turn.
#[derive(Debug, Default)]
pub(super) struct Guard {
    seen: HashMap<(String, String), Seen>,
    refused: u32,
}

#[derive(Debug)]
struct Seen {
    text: String,
    times: u32,
}

impl Guard {
    /// Why a call is not made once more, if it was made often enough.
    pub(super) fn refuses(&mut self, call: &Call) -> Option<String> {
        let times = self.seen.get(&key(call)).map_or(0, |seen| seen.times);
        if times < SAME {
            return None;
        }
        self.refused += 1;
        Some(format!(
            "{} was called {times} times with these arguments and brought the same each time: do something else, or answer",
            call.name
        ))
    }

    /// Notes what came of a call; another result begins the count anew.
    pub(super) fn note(&mut self, call: &Call, outcome: &Outcome) {
        let seen = self.seen.entry(key(call)).or_insert(Seen { text: String::new(), times: 0 });
        if seen.text != outcome.text {
            *seen = Seen { text: outcome.text.clone(), times: 0 };
        }
        seen.times += 1;
    }

    /// Whether the model does not listen.
    pub(super) fn is_stuck(&self) -> bool {
        self.refused >= MOST_REFUSED
    }
}

fn key(call: &Call) -> (String, String) {
    (call.name.clone(), call.input.to_string())
}
