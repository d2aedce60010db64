//! How a result was found: by words that stand in it, by its meaning, or by neither.

use super::run::Looked;
use super::terms::Hits;

/// From so many texts on, those that stand out among them are near; among fewer nothing can stand out.
const ENOUGH: usize = 50;
/// How many standard deviations above the others a text must come: of 461 answers in recorded conversations 37 in
/// 100 do, of 192,000 other messages 2 in 100.
const STANDS_OUT: f32 = 2.0;
/// Among few texts a cosine says it: of the same answers 50 in 100 have it, of the others 15.
const FLOOR: f32 = 0.5;

/// What is known about how a result was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ways {
    /// The words of the question that stand in its own text.
    pub words: Vec<String>,
    /// How near it comes to the question in meaning, if there are vectors.
    pub cosine: Option<f64>,
    /// Whether that is nearer than what merely happens to be there.
    pub is_near: bool,
}

impl Ways {
    /// `keyword`, `semantic`, `both`; `weak` where neither is so: it stands beside what answers, or comes nearest.
    pub fn label(&self) -> &'static str {
        match (!self.words.is_empty(), self.is_near) {
            (true, true) => "both",
            (true, false) => "keyword",
            (false, true) => "semantic",
            (false, false) => "weak",
        }
    }
}

/// The cosine from which on a text is near, among all that were looked at.
pub(super) fn floor(looked: &Looked) -> f32 {
    let cosines: Vec<f32> = looked.chunks.iter().filter_map(|chunk| chunk.similarity).collect();
    floor_of(&cosines)
}

/// How the text with this number was found.
pub(super) fn of(looked: &Looked, text: i64, floor: f32) -> Ways {
    let first = looked.chunks.partition_point(|chunk| chunk.key.text() < text);
    let chunks = looked.chunks[first..].iter().take_while(|chunk| chunk.key.text() == text);
    let cosine = chunks.filter_map(|chunk| chunk.similarity).reduce(f32::max);
    Ways {
        words: words_in(&looked.hits, text),
        cosine: cosine.map(f64::from),
        is_near: cosine.is_some_and(|cosine| cosine >= floor),
    }
}

fn words_in(hits: &Hits, text: i64) -> Vec<String> {
    let first = hits.chunks.partition_point(|(key, _)| key.text() < text);
    let own = hits.chunks[first..].iter().take_while(|(key, _)| key.text() == text);
    let mask = own.fold(0, |all, (_, mask)| all | mask);
    let is_in = |place: &usize| mask >> place & 1 == 1;
    let places = (0..hits.terms.len()).filter(is_in);
    places.map(|place| hits.terms[place].text.clone()).collect()
}

fn floor_of(cosines: &[f32]) -> f32 {
    if cosines.len() < ENOUGH {
        return FLOOR;
    }
    let count = cosines.len() as f32;
    let mean = cosines.iter().sum::<f32>() / count;
    let spread = cosines.iter().map(|cosine| (cosine - mean).powi(2)).sum::<f32>() / count;
    mean + STANDS_OUT * spread.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_says_by_which_ways_something_was_found() {
        let label = |words: &[&str], is_near| {
            let words = words.iter().map(|word| (*word).to_owned()).collect();
            Ways { words, cosine: None, is_near }.label()
        };
        assert_eq!(label(&["tea"], true), "both");
        assert_eq!(label(&["tea"], false), "keyword");
        assert_eq!(label(&[], true), "semantic");
        assert_eq!(label(&[], false), "weak");
    }

    #[test]
    fn what_is_near_stands_out_among_many_and_is_told_by_its_cosine_among_few() {
        assert_eq!(floor_of(&[0.9; 49]), FLOOR);
        let mut many = vec![0.1; 98];
        many.extend([0.9, 0.9]);
        let floor = floor_of(&many);
        assert!(floor > 0.1 && floor < 0.9, "{floor}");
    }
}
