//! The model inside the program: a vector for each token, read in place, pooled into one for a text.

use crate::kernel::{self, DIMS, Row};
use crate::table::Table;
use crate::wordpiece;

static MODEL: EmbeddedModel =
    EmbeddedModel { table: Table::parse(include_bytes!("../model/embedded.bin")) };

/// Stands in for a token the model does not have.
static NOTHING: Row = [0; DIMS];

/// The static model distilled from all-MiniLM-L6-v2; loading it costs nothing.
pub struct EmbeddedModel {
    table: Table,
}

/// The cosine of each token of a question with each of some other tokens.
#[derive(Clone, Debug, PartialEq)]
pub struct SimilarityTable {
    columns: usize,
    values: Vec<f32>,
}

impl EmbeddedModel {
    /// The model, the same one each time.
    pub fn get() -> &'static EmbeddedModel {
        &MODEL
    }

    /// The name to keep with every vector; another name means vectors that cannot be compared.
    pub fn name(&self) -> &'static str {
        "hermes-static-1"
    }

    /// How many numbers a vector has.
    pub fn dims(&self) -> usize {
        DIMS
    }

    /// How many tokens the model knows; their numbers are below it.
    pub fn token_count(&self) -> usize {
        self.table.rows.len()
    }

    /// Appends the tokens of a text; what the model does not know is left out.
    pub fn tokens(&self, text: &str, out: &mut Vec<u16>) {
        wordpiece::tokenize(&self.table, text, out);
    }

    /// The tokens of one word: one for a common word, several for a rare one.
    pub fn word_pieces(&self, word: &str) -> Vec<u16> {
        let mut pieces = Vec::new();
        self.tokens(word, &mut pieces);
        pieces
    }

    /// The letters of a token, and whether it continues a word; nothing for an unknown number.
    pub fn piece(&self, token: u16) -> Option<(&'static str, bool)> {
        let token = usize::from(token);
        (token < self.token_count()).then(|| self.table.piece(token))
    }

    /// The int8 row of a token and its scale; zeros for an unknown number.
    pub fn row(&self, token: u16) -> (&'static [i8], f32) {
        let (row, scale) = self.scaled_row(token);
        (row, scale)
    }

    /// The mean of the tokens' vectors, of length one; zeros when there are none.
    pub fn pool(&self, tokens: &[u16]) -> Vec<f32> {
        let mut sum = [0f32; DIMS];
        kernel::add(&mut sum, tokens.iter().map(|token| self.scaled_row(*token)));
        let mut vector = sum.to_vec();
        normalise(&mut vector);
        vector
    }

    /// The vector of a text.
    pub fn embed(&self, text: &str) -> Vec<f32> {
        self.pool(&self.word_pieces(text))
    }

    /// The cosine between each token of a question and each of the others.
    pub fn similarity_table(&self, question: &[u16], others: &[u16]) -> SimilarityTable {
        let rows: Vec<_> =
            question.iter().map(|token| kernel::widen(self.scaled_row(*token).0)).collect();
        let lengths: Vec<f32> = question.iter().map(|token| self.inverse_length(*token)).collect();
        let mut values = vec![0.0; question.len() * others.len()];
        let mut dots = vec![0; question.len()];
        for (column, other) in others.iter().enumerate() {
            kernel::dots(&rows, self.scaled_row(*other).0, &mut dots);
            let other_length = self.inverse_length(*other);
            for (row, dot) in dots.iter().enumerate() {
                values[row * others.len() + column] = *dot as f32 * lengths[row] * other_length;
            }
        }
        SimilarityTable { columns: others.len(), values }
    }

    fn scaled_row(&self, token: u16) -> (&'static Row, f32) {
        let token = usize::from(token);
        match self.table.rows.get(token) {
            Some(row) => (row, self.table.scale(token)),
            None => (&NOTHING, 0.0),
        }
    }

    fn inverse_length(&self, token: u16) -> f32 {
        let token = usize::from(token);
        if token < self.token_count() { self.table.inverse_length(token) } else { 0.0 }
    }
}

impl SimilarityTable {
    /// The cosines of one token of the question, in the order of the others.
    pub fn row(&self, question: usize) -> &[f32] {
        self.values.get(question * self.columns..(question + 1) * self.columns).unwrap_or_default()
    }

    /// One cosine.
    pub fn at(&self, question: usize, other: usize) -> Option<f32> {
        self.row(question).get(other).copied()
    }
}

/// Gives a vector length one; zeros stay zeros.
pub(crate) fn normalise(vector: &mut [f32]) {
    // Eight sums side by side, always in this order: quick, and the same on every machine.
    let mut squares = [0f32; 8];
    for chunk in vector.chunks(8) {
        for (sum, value) in squares.iter_mut().zip(chunk) {
            *sum += value * value;
        }
    }
    let length = squares.iter().sum::<f32>().sqrt();
    if length.is_normal() {
        vector.iter_mut().for_each(|value| *value /= length);
    } else {
        vector.fill(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Class, hash_start, hash_step};

    #[test]
    fn every_token_is_found_by_its_letters() {
        for token in 0..MODEL.table.rows.len() {
            let (letters, continues) = MODEL.table.piece(token);
            let hash = letters.bytes().fold(hash_start(continues), hash_step);
            let found = MODEL.table.find(letters.as_bytes(), continues, hash);
            assert_eq!(found.map(usize::from), Some(token), "{letters}");
        }
    }

    #[test]
    fn every_scale_and_length_fits_its_row() {
        for (token, row) in MODEL.table.rows.iter().enumerate() {
            let length = row.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
            assert!((length * f64::from(MODEL.table.inverse_length(token)) - 1.0).abs() < 1e-6);
            assert!(MODEL.table.scale(token) > 0.0 && row.iter().any(|v| v.abs() == 127));
        }
    }

    #[test]
    fn characters_have_the_class_the_reference_gives_them() {
        let class = |c| MODEL.table.class(c);
        assert_eq!(class('\u{301}'), Class::Mark);
        assert_eq!(class('\u{200b}'), Class::Removed);
        assert_eq!(class('\u{85}'), Class::Removed);
        assert_eq!(class('—'), Class::Punctuation);
        assert_eq!(class('é'), Class::Plain);
        assert_eq!(class(char::MAX), Class::Plain);
    }

    #[test]
    fn a_token_the_model_does_not_have_is_nothing() {
        assert_eq!(MODEL.piece(u16::MAX), None);
        assert_eq!(MODEL.row(u16::MAX).1, 0.0);
        assert_eq!(MODEL.pool(&[u16::MAX]), vec![0.0; DIMS]);
    }
}
