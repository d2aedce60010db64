//! The embedded model gives what the reference implementation gave when the model was made.
#![expect(clippy::unwrap_used, reason = "helpers of tests stop at the first surprise")]

use hermes_llm::EmbeddedModel;
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Reference {
    text: String,
    tokens: Vec<u16>,
    float: Vec<f32>,
    int8: Vec<f32>,
}

fn references() -> Vec<Reference> {
    serde_json::from_str(include_str!("fixtures/reference.json")).unwrap()
}

fn cosine(left: &[f32], right: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
    };
    dot(left, right) / (dot(left, left) * dot(right, right)).sqrt()
}

fn length(vector: &[f32]) -> f64 {
    vector.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn tokens_equal_those_of_the_reference_tokenizer() {
    let references = references();
    assert!(references.len() >= 60);
    for reference in references {
        let mut tokens = Vec::new();
        EmbeddedModel::get().tokens(&reference.text, &mut tokens);
        assert_eq!(tokens, reference.tokens, "{:?}", reference.text);
    }
}

#[test]
fn vectors_point_where_the_reference_vectors_point() {
    for reference in references() {
        let vector = EmbeddedModel::get().embed(&reference.text);
        if reference.tokens.is_empty() {
            assert!(vector.iter().all(|value| *value == 0.0), "{:?}", reference.text);
            continue;
        }
        assert!(cosine(&vector, &reference.int8) >= 0.9999, "{:?}", reference.text);
        assert!(cosine(&vector, &reference.float) >= 0.998, "{:?}", reference.text);
    }
}

#[test]
fn related_sentences_are_nearer_than_unrelated_ones() {
    let model = EmbeddedModel::get();
    let near = |a: &str, b: &str| cosine(&model.embed(a), &model.embed(b));
    let dog = "my dog is ill and needs a doctor";
    assert!(near(dog, "the vet treated the puppy") > near(dog, "quarterly tax report") + 0.1);
}

#[test]
fn a_rare_word_is_several_pieces_and_a_common_one_a_single_piece() {
    let model = EmbeddedModel::get();
    assert_eq!(model.word_pieces("Memory").len(), 1);
    let pieces = model.word_pieces("supercalifragilistic");
    let spelled: Vec<_> = pieces.iter().map(|token| model.piece(*token).unwrap()).collect();
    assert!(spelled.len() > 1 && !spelled[0].1 && spelled[1..].iter().all(|piece| piece.1));
    assert_eq!(spelled.iter().map(|piece| piece.0).collect::<String>(), "supercalifragilistic");
}

#[test]
fn the_similarity_table_holds_the_cosines_of_the_rows() {
    let model = EmbeddedModel::get();
    let (question, others) = (model.word_pieces("red car"), model.word_pieces("blue truck red"));
    let table = model.similarity_table(&question, &others);
    for (i, token) in question.iter().enumerate() {
        assert_eq!(table.row(i).len(), others.len());
        for (j, other) in others.iter().enumerate() {
            let expected = cosine(&model.pool(&[*token]), &model.pool(&[*other]));
            assert!((f64::from(table.at(i, j).unwrap()) - expected).abs() < 1e-5);
        }
    }
    assert!((table.at(0, 2).unwrap() - 1.0).abs() < 1e-5);
    assert_eq!(table.at(2, 0), None);
    assert_eq!(model.similarity_table(&question, &[]).row(1), &[] as &[f32]);
}

proptest! {
    #[test]
    fn any_text_gives_a_vector_of_length_one_or_zero(text in any::<String>()) {
        let model = EmbeddedModel::get();
        let vector = model.embed(&text);
        prop_assert_eq!(vector.len(), model.dims());
        let length = length(&vector);
        prop_assert!(length == 0.0 || (length - 1.0).abs() < 1e-5, "{}", length);
        prop_assert_eq!(vector, model.embed(&text));
    }

    #[test]
    fn tokens_are_always_known_and_space_around_a_text_changes_nothing(text in "\\PC{0,80}") {
        let model = EmbeddedModel::get();
        let tokens = model.word_pieces(&text);
        prop_assert!(tokens.iter().all(|token| usize::from(*token) < model.token_count()));
        prop_assert_eq!(tokens, model.word_pieces(&format!(" \n{text}\t ")));
    }

    #[test]
    fn any_token_numbers_can_be_pooled_and_compared(tokens in prop::collection::vec(any::<u16>(), 0..20)) {
        let model = EmbeddedModel::get();
        let length = length(&model.pool(&tokens));
        prop_assert!(length == 0.0 || (length - 1.0).abs() < 1e-5);
        let table = model.similarity_table(&tokens, &tokens);
        for i in 0..tokens.len() {
            prop_assert!(table.row(i).iter().all(|cosine| cosine.abs() <= 1.0001));
        }
    }
}
