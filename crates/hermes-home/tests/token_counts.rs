//! Compares the estimated tokens of texts of many kinds with the recorded counts of OpenAI's o200k.

use hermes_home::tokens;

/// Texts, each below a line `=== KIND: COUNT tokens, within PERCENT %`. Apart from the one in Rust
/// the tables of letters were not fitted to them, but a few single costs were set with them in view,
/// so they guard against changes for the worse rather than prove the bounds.
const TEXTS: &str = include_str!("fixtures/token_counts.txt");

struct Sample {
    kind: &'static str,
    counted: usize,
    percent: usize,
    text: &'static str,
}

#[test]
fn estimates_are_near_the_counts_of_the_tokenizer_for_every_kind_of_text() {
    let samples = samples().unwrap();
    assert!(samples.len() >= 30, "{} samples", samples.len());
    let far: Vec<String> = samples.iter().filter_map(too_far).collect();
    assert!(far.is_empty(), "{}", far.join("\n"));
}

#[test]
fn the_texts_together_are_estimated_within_five_percent() {
    let samples = samples().unwrap();
    let counted: usize = samples.iter().map(|sample| sample.counted).sum();
    let estimated: usize = samples.iter().map(|sample| tokens::estimate(sample.text)).sum();
    assert!(estimated.abs_diff(counted) * 100 <= counted * 5, "{estimated} instead of {counted}");
}

fn too_far(sample: &Sample) -> Option<String> {
    let estimate = tokens::estimate(sample.text);
    let off = estimate.abs_diff(sample.counted) * 100;
    (off > sample.counted * sample.percent)
        .then(|| format!("{}: {estimate} instead of about {}", sample.kind, sample.counted))
}

fn samples() -> Option<Vec<Sample>> {
    TEXTS.split("=== ").skip(1).map(sample).collect()
}

fn sample(part: &'static str) -> Option<Sample> {
    let (head, text) = part.split_once('\n')?;
    let (kind, numbers) = head.split_once(": ")?;
    let (counted, percent) = numbers.split_once(" tokens, within ")?;
    Some(Sample {
        kind,
        counted: counted.parse().ok()?,
        percent: percent.trim_end_matches(" %").parse().ok()?,
        text: text.trim_end_matches('\n'),
    })
}
