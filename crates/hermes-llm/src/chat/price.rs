//! What tokens cost: list prices known to this build, which settings override.

use super::Usage;

/// Prices in US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Tokens read.
    pub input: f64,
    /// Tokens written.
    pub output: f64,
}

/// What reading from a cache costs, as a share of the price of reading; providers ask 0.1 to 0.5.
const CACHE_READ: f64 = 0.5;
/// What writing to a cache costs, as a share of the price of reading.
const CACHE_WRITE: f64 = 1.25;

/// Providers that run on the user's own machine.
const OWN: &[&str] = &["ollama", "lmstudio", "llamacpp"];

/// List prices as the providers publish them; they change, so settings come first.
#[rustfmt::skip] // One model a row reads as a table.
const LIST: &[(&str, f64, f64)] = &[
    ("claude-fable-5", 10.0, 50.0),
    ("claude-fable-5-1", 10.0, 50.0),
    ("claude-opus-5-5", 4.0, 20.0),
    ("claude-opus-5", 5.0, 25.0),
    ("claude-opus-4-8", 5.0, 25.0),
    ("claude-opus-4-7", 5.0, 25.0),
    ("claude-opus-4-6", 5.0, 25.0),
    ("claude-opus-4-5", 5.0, 25.0),
    ("claude-opus-4-1", 15.0, 75.0),
    ("claude-sonnet-5-5", 2.0, 10.0),
    ("claude-sonnet-5", 2.0, 10.0),
    ("claude-sonnet-4-6", 3.0, 15.0),
    ("claude-sonnet-4-5", 3.0, 15.0),
    ("claude-sonnet-4", 3.0, 15.0),
    ("claude-haiku-4-5", 1.0, 5.0),
    ("claude-3-5-haiku", 0.8, 4.0),
    ("claude-3-haiku", 0.25, 1.25),
    ("gpt-5-4", 2.5, 15.0),
    ("gpt-5-4-mini", 0.75, 4.5),
    ("gpt-5", 1.25, 10.0),
    ("gpt-5-mini", 0.25, 2.0),
    ("gpt-5-nano", 0.05, 0.4),
    ("gpt-4-1", 2.0, 8.0),
    ("gpt-4-1-mini", 0.4, 1.6),
    ("gpt-4-1-nano", 0.1, 0.4),
    ("gpt-4o", 2.5, 10.0),
    ("gpt-4o-mini", 0.15, 0.6),
    ("o3", 2.0, 8.0),
    ("o3-mini", 1.1, 4.4),
    ("o4-mini", 1.1, 4.4),
];

/// The list price of a model by its full name; none when this build does not know it.
pub fn list_price(name: &str) -> Option<Price> {
    let (provider, model) = name.split_once('/')?;
    if OWN.contains(&provider) {
        return Some(Price { input: 0.0, output: 0.0 });
    }
    if !["anthropic", "openai", "openrouter"].contains(&provider) {
        return None;
    }
    let model = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase().replace('.', "-");
    let found = LIST.iter().find(|(known, ..)| {
        model.strip_prefix(known).is_some_and(|rest| rest.is_empty() || is_date(rest))
    });
    found.map(|(_, input, output)| Price { input: *input, output: *output })
}

impl Price {
    /// What a use of tokens costs, in US dollars, counted high where caches are concerned.
    pub fn cost(&self, usage: &Usage) -> f64 {
        let read = usage.input as f64
            + usage.cache_read as f64 * CACHE_READ
            + usage.cache_write as f64 * CACHE_WRITE;
        (read * self.input + usage.output as f64 * self.output) / 1e6
    }
}

/// Whether what follows a name only says which snapshot it is: `-20251001`, `-2025-08-07`, `-latest`.
fn is_date(rest: &str) -> bool {
    let digits = rest.chars().filter(char::is_ascii_digit).count();
    rest == "-latest"
        || (digits == 8
            && rest.starts_with('-')
            && rest.chars().all(|c| c == '-' || c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_found_by_name_snapshot_or_router() {
        let haiku = Some(Price { input: 1.0, output: 5.0 });
        for name in [
            "anthropic/claude-haiku-4-5",
            "anthropic/claude-haiku-4-5-20251001",
            "openrouter/anthropic/claude-haiku-4.5",
        ] {
            assert_eq!(list_price(name), haiku, "{name}");
        }
        assert_eq!(
            list_price("openai/gpt-4o-mini-2024-07-18").map(|price| price.input),
            Some(0.15)
        );
        assert_eq!(list_price("ollama/llama3.2"), Some(Price { input: 0.0, output: 0.0 }));
    }

    #[test]
    fn a_model_that_is_not_known_has_no_price() {
        for name in ["openai/gpt-5-pro", "anthropic/claude-next", "http://h/v1#gpt-4o", "gpt-4o"] {
            assert_eq!(list_price(name), None, "{name}");
        }
    }

    #[test]
    fn the_cost_counts_each_token_once() {
        let price = Price { input: 2.0, output: 10.0 };
        let usage = Usage { input: 500_000, output: 100_000, cache_read: 0, cache_write: 0 };
        assert!((price.cost(&usage) - 2.0).abs() < 1e-9);
        let cached = Usage { cache_write: 1_000_000, ..Usage::default() };
        assert!((price.cost(&cached) - 2.5).abs() < 1e-9);
    }
}
