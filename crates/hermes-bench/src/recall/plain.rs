//! The same questions asked of a plain full-text index, for comparison.

use jiff::Timestamp;

use super::ask::Answered;
use super::corpus::Conversation;
use super::fill::{Amount, each_message};
use super::plain_index::PlainIndex;
use crate::cpu;
use crate::text::is_empty_word;

const BATCH: usize = 5_000;

/// Asks every question of an index over its own conversation and the same noise.
pub(super) fn search_all(
    conversations: &[Conversation],
    amount: Amount,
    limit: usize,
    now: Timestamp,
) -> anyhow::Result<Vec<Answered>> {
    let mut answers = Vec::new();
    for conversation in conversations {
        let (index, names) = index(conversation, amount, now)?;
        for asked in &conversation.questions {
            let (found, spent) = cpu::timed(|| index.search(&words(&asked.question), limit))?;
            let name = |number: i64| names.get(usize::try_from(number).ok()?).cloned();
            let found = found.into_iter().filter_map(name).collect();
            answers.push(Answered::new(asked, found, spent));
        }
    }
    Ok(answers)
}

/// An index over a conversation and its noise, and the name of each text.
fn index(
    conversation: &Conversation,
    amount: Amount,
    now: Timestamp,
) -> anyhow::Result<(PlainIndex, Vec<String>)> {
    let mut index = PlainIndex::new()?;
    let mut names = Vec::new();
    let mut waiting = Vec::new();
    each_message(conversation, amount, now, |line| {
        let speaker = line.speaker.unwrap_or(line.role);
        waiting.push((names.len() as i64, format!("{speaker}: {}", line.text)));
        names.push(line.external_id.to_owned());
        if waiting.len() >= BATCH {
            index.add(&waiting)?;
            waiting.clear();
        }
        Ok(())
    })?;
    index.add(&waiting)?;
    Ok((index, names))
}

/// The words of a question that say something; all of them if none does.
fn words(question: &str) -> Vec<&str> {
    let all: Vec<&str> = question
        .split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .filter(|word| !word.is_empty())
        .collect();
    let telling: Vec<&str> =
        all.iter().copied().filter(|word| !is_empty_word(&word.to_lowercase())).collect();
    if telling.is_empty() { all } else { telling }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_say_nothing_are_left_out_unless_there_are_no_others() {
        assert_eq!(words("When did Mel's dog run?"), ["Mel", "s", "dog", "run"]);
        assert_eq!(words("Who is it?"), ["Who", "is", "it"]);
    }
}
