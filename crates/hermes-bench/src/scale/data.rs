//! The made-up messages of a large memory, and questions about them that never repeat.

use std::collections::{HashMap, HashSet};

use hermes_llm::EmbeddedModel;
use hermes_store::memory::{Scope, UserNumber};
use jiff::{SignedDuration, Timestamp};

use crate::made_up::{PER_SESSION, role};
use crate::scratch::{Filling, Line, Whose};
use crate::text::Vocabulary;
use hermes_app::numbers::Numbers;

const SMALL_USERS: usize = 20;
const SMALL_MESSAGES: usize = 50;
const SAMPLES: usize = 4_000;
const SOURCE: &str = "bench";

/// What there is to ask about.
pub(crate) struct Data {
    vocabulary: Vocabulary,
    ranks: HashMap<String, usize>,
    /// Some messages of the large user.
    samples: Vec<String>,
    /// The small users, each with a message.
    pub(super) small: Vec<(Scope, String)>,
    /// Characters of a message on average.
    pub(crate) mean_length: usize,
    asked: HashSet<String>,
    numbers: Numbers,
}

/// How common the words of a question are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Words {
    Rare,
    Middling,
    Common,
}

impl Words {
    fn holds(self, rank: usize) -> bool {
        const COMMON: usize = 300;
        const RARE: usize = 3_000;
        match self {
            Words::Rare => rank >= RARE,
            Words::Middling => (COMMON..RARE).contains(&rank),
            Words::Common => rank < COMMON,
        }
    }
}

/// Records all messages: those of the owner, then those of the small users.
pub(crate) fn fill(
    filling: &mut Filling,
    turns: usize,
    seed: u64,
    begin: Timestamp,
) -> anyhow::Result<Data> {
    let mut data = Data::new(seed);
    let owner = Whose { scope: Scope::of(UserNumber::OWNER), source: SOURCE };
    let sample_every = (turns / SAMPLES).max(1);
    let mut characters = 0;
    for number in 0..turns {
        let text = data.message(number);
        characters += text.chars().count();
        add(filling, &owner, &text, number, begin)?;
        if number % sample_every == 0 {
            data.samples.push(text);
        }
    }
    filling.finish(&owner)?;
    data.mean_length = characters / turns.max(1);
    for user in 0..SMALL_USERS {
        let name = format!("small-{user}");
        let whose = Whose { scope: filling.user(&name)?, source: &name };
        for number in 0..SMALL_MESSAGES {
            let text = data.message(number);
            add(filling, &whose, &text, number, begin)?;
            data.small.push((whose.scope, text));
        }
        filling.finish(&whose)?;
    }
    Ok(data)
}

/// Adds one message; the user and the assistant take turns, one message a minute.
pub(crate) fn add(
    filling: &mut Filling,
    whose: &Whose<'_>,
    text: &str,
    number: usize,
    begin: Timestamp,
) -> anyhow::Result<()> {
    let line = Line {
        session_id: &format!("bench_{:07}", number / PER_SESSION),
        role: role(number),
        speaker: None,
        timestamp: Some(begin + SignedDuration::from_mins(number as i64)),
        text,
        caption: None,
        external_id: &number.to_string(),
    };
    filling.add(whose, &line)
}

impl Data {
    fn new(seed: u64) -> Data {
        let vocabulary = Vocabulary::real(real_words());
        let words = vocabulary.words().iter();
        let ranks = words.enumerate().map(|(rank, word)| (word.clone(), rank)).collect();
        Data {
            vocabulary,
            ranks,
            samples: Vec::new(),
            small: Vec::new(),
            mean_length: 0,
            asked: HashSet::new(),
            numbers: Numbers::new(seed),
        }
    }

    /// The next message: 50 to 550 characters, about 300 on average.
    pub(super) fn message(&mut self, number: usize) -> String {
        const STEPS: usize = 11;
        self.vocabulary.message(&mut self.numbers, 46 + number % STEPS * 50)
    }

    /// Questions about stored messages of the large user.
    pub(super) fn questions(&mut self, words: Words, count: usize) -> Vec<String> {
        (0..count)
            .map(|_| {
                self.new_question(|data| {
                    let place = data.numbers.below(data.samples.len());
                    data.words_of(&data.samples[place], words)
                })
            })
            .collect()
    }

    /// All three kinds, a third each, mixed.
    pub(crate) fn mixed_questions(&mut self, count: usize) -> Vec<String> {
        let kinds = [Words::Rare, Words::Middling, Words::Common];
        (0..count).flat_map(|number| self.questions(kinds[number % kinds.len()], 1)).collect()
    }

    /// Questions about what a small user said, each with who asks.
    pub(super) fn small_questions(&mut self, count: usize) -> Vec<(Scope, String)> {
        (0..count)
            .map(|_| {
                let place = self.numbers.below(self.small.len());
                let scope = self.small[place].0;
                let question = self.new_question(|data| {
                    let (_, text) = &data.small[place];
                    let mut words = data.words_of(text, Words::Middling);
                    words.extend(data.words_of(text, Words::Rare));
                    words
                });
                (scope, question)
            })
            .collect()
    }

    /// The words of a text that are as common as wanted, each once.
    fn words_of(&self, text: &str, wanted: Words) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for word in text.split([' ', '.']).filter(|word| !word.is_empty()) {
            let holds = self.ranks.get(word).is_some_and(|rank| wanted.holds(*rank));
            if holds && !found.iter().any(|known| known == word) {
                found.push(word.to_owned());
            }
        }
        found
    }

    /// Four to eight of the words that are drawn, as no question before had them.
    fn new_question(&mut self, mut draw: impl FnMut(&mut Data) -> Vec<String>) -> String {
        loop {
            let wanted = 4 + self.numbers.below(5);
            let mut words: Vec<String> = Vec::new();
            while words.len() < wanted {
                let mut more = draw(self);
                while words.len() < wanted && !more.is_empty() {
                    words.push(more.swap_remove(self.numbers.below(more.len())));
                }
                if !words.is_empty() && words.len() >= 4 {
                    break;
                }
            }
            let question = words.join(" ");
            if self.asked.insert(question.clone()) {
                return question;
            }
        }
    }
}

/// The words that the embedded model knows whole; it lists them commonest first.
pub(crate) fn real_words() -> impl Iterator<Item = &'static str> {
    let model = EmbeddedModel::get();
    let tokens = 0..u16::try_from(model.token_count()).unwrap_or(u16::MAX);
    tokens
        .filter_map(|token| model.piece(token))
        .filter(|(letters, continues)| {
            !continues && letters.len() > 1 && letters.bytes().all(|byte| byte.is_ascii_lowercase())
        })
        .map(|(letters, _)| letters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_have_four_to_eight_words_and_never_repeat() {
        let mut data = Data::new(1);
        data.samples = (0..50).map(|number| data.message(number)).collect();
        let questions = data.mixed_questions(60);
        let mut different = questions.clone();
        different.sort();
        different.dedup();
        assert_eq!(different.len(), 60);
        assert!(questions.iter().all(|question| (4..=8).contains(&question.split(' ').count())));
    }

    #[test]
    fn messages_have_three_hundred_characters_on_average() {
        let mut data = Data::new(1);
        let total: usize = (0..1100).map(|number| data.message(number).len()).sum();
        assert!((290..320).contains(&(total / 1100)), "{}", total / 1100);
    }
}
