//! What the made-up set promises.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::*;

fn characters(turn: &Turn) -> usize {
    turn.text.chars().count()
}

#[test]
fn the_same_number_gives_the_same_bytes_and_another_number_others() {
    let first = generate(1).files().unwrap();
    assert_eq!(first, generate(1).files().unwrap());
    assert_ne!(first, generate(2).files().unwrap());
}

#[test]
fn every_evidence_is_a_message_of_the_asked_conversation() {
    for number in 1..4 {
        let set = generate(number);
        let ids: HashSet<(&str, &str)> =
            set.turns.iter().map(|turn| (&*turn.conversation_id, &*turn.turn_id)).collect();
        assert_eq!(ids.len(), set.turns.len());
        for (question, gold) in set.questions.iter().zip(&set.gold) {
            assert_eq!(question.question_id, gold.question_id);
            assert!(!gold.evidence.is_empty() && gold.evidence.len() <= 3, "{gold:?}");
            assert!(gold.evidence.iter().all(|id| ids.contains(&(&question.conversation_id, id))));
        }
    }
}

#[test]
fn the_evidence_contains_the_answer_and_has_the_right_speaker() {
    let set = generate(1);
    let turns: HashMap<(&str, &str), &Turn> =
        set.turns.iter().map(|turn| ((&*turn.conversation_id, &*turn.turn_id), turn)).collect();
    for (question, gold) in set.questions.iter().zip(&set.gold) {
        let found: Vec<&Turn> =
            gold.evidence.iter().map(|id| turns[&(&*question.conversation_id, &**id)]).collect();
        let role = if question.category.starts_with("assistant") { "assistant" } else { "user" };
        if question.category != "multi" {
            assert!(found.iter().all(|turn| turn.role == role), "{question:?}");
            assert!(found[0].text.contains(&gold.answer), "{question:?} {gold:?}");
        }
    }
}

#[test]
fn conversations_have_the_promised_size() {
    let set = generate(1);
    let mut sessions: BTreeMap<&str, BTreeMap<usize, usize>> = BTreeMap::new();
    for turn in &set.turns {
        let of_one = sessions.entry(&turn.conversation_id).or_default();
        *of_one.entry(turn.session_index).or_default() += 1;
    }
    assert!(sessions.len() >= 6);
    assert!(sessions.values().all(|of_one| of_one.len() >= 40));
    assert!(sessions.values().flat_map(BTreeMap::values).all(|count| (4..=16).contains(count)));
}

#[test]
fn messages_have_the_promised_lengths_and_are_filled_in() {
    let set = generate(1);
    let (user, assistant): (Vec<&Turn>, Vec<&Turn>) =
        set.turns.iter().partition(|turn| turn.role == "user");
    for turn in &user {
        assert!((15..=400).contains(&characters(turn)), "{turn:?}");
    }
    let total: usize = assistant.iter().map(|turn| characters(turn)).sum();
    assert!(total / assistant.len() >= 1_500, "{}", total / assistant.len());
    for turn in &set.turns {
        let places = ["{x}", "{n}", "{k}", "{v}", "{o}", "{me}"];
        assert!(!places.iter().any(|place| turn.text.contains(place)), "{turn:?}");
    }
}

#[test]
fn questions_have_the_promised_kinds_and_their_own_words() {
    let set = generate(1);
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for question in &set.questions {
        *kinds.entry(&question.category).or_default() += 1;
        assert!(!question.question.contains('{'), "{question:?}");
    }
    assert!(set.questions.len() >= 240, "{}", set.questions.len());
    assert!(kinds["assistant-advice"] + kinds["assistant-number"] >= 70, "{kinds:?}");
    assert_eq!(kinds.len(), 8, "{kinds:?}");
    assert!(set.shared_words() <= 0.45, "{}", set.shared_words());
    let asked: HashSet<(&str, &str)> =
        set.questions.iter().map(|q| (&*q.conversation_id, &*q.question)).collect();
    assert_eq!(asked.len(), set.questions.len());
}

#[test]
fn files_are_lines_of_json_and_other_files_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = Arguments { out: folder.path().join("set"), seed: 3 };
    write(&generate(3), &arguments).unwrap();
    write(&generate(3), &arguments).unwrap();
    let corpus = fs::read_to_string(arguments.out.join("corpus.jsonl")).unwrap();
    for line in corpus.lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(value["speaker"], value["role"]);
    }
    assert!(write(&generate(4), &arguments).is_err());
    assert_eq!(corpus, fs::read_to_string(arguments.out.join("corpus.jsonl")).unwrap());
}
