//! Cut a text into parts, and make each ready for the index.

use std::collections::HashSet;
use std::ops::Range;

use hermes_llm::EmbeddedModel;
use hermes_store::memory::{MOST_PARTS, NewChunk};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// How many characters a part has at most, unless the text would have too many parts.
pub const LONGEST_PART: usize = 400;

/// A text with what is indexed beside it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Words<'a> {
    /// What was said, or is known.
    pub text: &'a str,
    /// The description of an attachment.
    pub caption: Option<&'a str>,
    /// Who said it.
    pub speaker: Option<&'a str>,
    /// The day it was said, where the reader lives.
    pub day: Option<Date>,
}

/// When the vectors of a text are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vectors {
    /// At once: the embedded model is the one that answers.
    Now,
    /// By a job: the model that answers is somewhere else.
    Later,
}

/// Cuts a text and makes every part ready for the index; a caption goes with the last one.
pub fn prepare(words: &Words<'_>, vectors: Vectors) -> Vec<NewChunk> {
    let mut parts = cut(words.text);
    if parts.is_empty() && words.caption.is_some_and(|caption| !caption.trim().is_empty()) {
        parts.push(0..0);
    }
    let last = parts.len().saturating_sub(1);
    let parts = parts.into_iter().enumerate();
    parts
        .map(|(number, part)| {
            let caption = words.caption.filter(|_| number == last);
            let part_words = Words { text: &words.text[part.clone()], caption, ..*words };
            prepare_part(part, &part_words, vectors)
        })
        .collect()
}

/// How many characters a part of a summary has at most: every part costs a vector, and who asks for
/// something in a summary asks with words from all over it.
pub const LONGEST_SUMMARY_PART: usize = 4_000;

/// Cuts a summary and makes every part ready for the index; the last one is found by further words too,
/// which were said and are not in the summary.
pub fn prepare_summary(body: &str, further: &str, vectors: Vectors) -> Vec<NewChunk> {
    let words = Words { text: body, ..Words::default() };
    let parts = cut_to_fit(body, LONGEST_SUMMARY_PART);
    let mut chunks: Vec<NewChunk> = parts
        .into_iter()
        .map(|part| {
            let part_words = Words { text: &body[part.clone()], ..words };
            prepare_part(part, &part_words, vectors)
        })
        .collect();
    if let Some(last) = chunks.last_mut() {
        last.words.push(' ');
        last.words.push_str(&index_words(&Words { text: further, ..Words::default() }));
    }
    chunks
}

/// The text of which tokens and vectors are made: `8 May 2023 Caroline: …`, and the caption.
pub fn meaning_text(words: &Words<'_>) -> String {
    let mut whole = String::with_capacity(words.text.len() + 40);
    if let Some(day) = words.day {
        whole.push_str(&written_day(day));
        whole.push(' ');
    }
    if let Some(speaker) = words.speaker.filter(|speaker| !speaker.trim().is_empty()) {
        whole.push_str(speaker.trim());
        whole.push_str(": ");
    }
    whole.push_str(words.text);
    if let Some(caption) = words.caption.filter(|caption| !caption.trim().is_empty()) {
        whole.push(' ');
        whole.push_str(caption.trim());
    }
    whole
}

/// The text for the keyword index: day, speaker, text and caption, with scripts that are written
/// without spaces as pairs of characters.
pub fn index_words(words: &Words<'_>) -> String {
    let whole = meaning_text(words);
    let is_plain = |c: char| !c.is_control() && !is_unspaced(c);
    if whole.chars().all(is_plain) {
        return whole;
    }
    let mut index = String::with_capacity(whole.len() * 2);
    for piece in pieces(&whole) {
        match piece {
            Piece::Other(c) if c.is_control() => index.push(' '),
            Piece::Other(c) => index.push(c),
            Piece::Run(run) => {
                index.push(' ');
                pairs(&run, |pair| {
                    index.push_str(pair);
                    index.push(' ');
                });
            }
        }
    }
    index
}

/// The words of a question as the index has them, each once, in their order and in lower case.
pub fn question_words(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut known: HashSet<String> = HashSet::new();
    let mut add = |word: &str| {
        if !word.is_empty() && !known.contains(word) {
            known.insert(word.to_owned());
            found.push(word.to_owned());
        }
    };
    let mut word = String::new();
    for piece in pieces(text) {
        match piece {
            Piece::Other(c) if c.is_alphanumeric() || is_mark(c) => word.extend(c.to_lowercase()),
            Piece::Other(_) => {
                add(&word);
                word.clear();
            }
            Piece::Run(run) => {
                add(&word);
                word.clear();
                pairs(&run, &mut add);
            }
        }
    }
    add(&word);
    found
}

/// The day of a time where the reader lives.
pub fn day_of(at: Timestamp, zone: &TimeZone) -> Date {
    at.to_zoned(zone.clone()).date()
}

/// The months by their names.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A day as it is indexed and shown: `8 May 2023`.
pub fn written_day(day: Date) -> String {
    let month = usize::from(day.month().unsigned_abs()).saturating_sub(1);
    format!("{} {} {}", day.day(), MONTHS.get(month).unwrap_or(&""), day.year())
}

/// Cuts a text into parts of at most 400 characters, at the ends of sentences and lines where it
/// can, else at spaces. A text that would have more parts than a text may have gets longer ones.
pub fn cut(text: &str) -> Vec<Range<usize>> {
    cut_to_fit(text, LONGEST_PART)
}

fn cut_to_fit(text: &str, mut longest: usize) -> Vec<Range<usize>> {
    loop {
        let parts = cut_at(text, longest);
        if parts.len() <= MOST_PARTS {
            return parts;
        }
        longest = longest * parts.len() / MOST_PARTS + 1;
    }
}

fn prepare_part(part: Range<usize>, words: &Words<'_>, vectors: Vectors) -> NewChunk {
    let model = EmbeddedModel::get();
    let mut tokens = Vec::new();
    model.tokens(&meaning_text(words), &mut tokens);
    let vector = (vectors == Vectors::Now).then(|| model.pool(&tokens));
    NewChunk { start: part.start, length: part.len(), words: index_words(words), tokens, vector }
}

fn cut_at(text: &str, longest: usize) -> Vec<Range<usize>> {
    let end = text.trim_end().len();
    let mut parts = Vec::new();
    let mut start = 0;
    loop {
        start += text[start..end].len() - text[start..end].trim_start().len();
        if start == end {
            return parts;
        }
        let stop = start + part_length(&text[start..end], longest);
        parts.push(start..start + text[start..stop].trim_end().len());
        start = stop;
    }
}

/// How many bytes of the text, which begins with a character, go into the next part.
fn part_length(text: &str, longest: usize) -> usize {
    let Some((room, _)) = text.char_indices().nth(longest) else { return text.len() };
    let window = &text[..room];
    sentence_end(window, &text[room..])
        .or_else(|| window.char_indices().rfind(|(_, c)| c.is_whitespace()).map(|(at, _)| at))
        .unwrap_or_else(|| whole_characters(text, room))
}

/// Where the last sentence or line of the window ends.
fn sentence_end(window: &str, after: &str) -> Option<usize> {
    let mut next = after.chars().next();
    for (at, c) in window.char_indices().rev() {
        let end = at + c.len_utf8();
        if c == '\n' || is_full_stop_of_itself(c) {
            return Some(end);
        }
        let is_stop = matches!(c, '.' | '!' | '?' | '…' | '؟' | '।');
        let followed_by_space = next.is_none_or(char::is_whitespace);
        if followed_by_space && (is_stop || closes_a_sentence(&window[..at], c)) {
            return Some(end);
        }
        next = Some(c);
    }
    None
}

/// Whether a quote or bracket closes after the end of a sentence: `(Yes.)`, `"No!"`.
fn closes_a_sentence(before: &str, c: char) -> bool {
    matches!(c, '"' | '\'' | ')' | ']' | '”' | '’' | '»') && before.ends_with(['.', '!', '?', '…'])
}

fn is_full_stop_of_itself(c: char) -> bool {
    matches!(c, '。' | '！' | '？' | '｡')
}

/// The same place or a little before it, so that a letter keeps its marks and an emoji its parts.
fn whole_characters(text: &str, room: usize) -> usize {
    const FURTHEST: usize = 16;
    let mut place = room;
    for (at, c) in text[..room].char_indices().rev().take(FURTHEST) {
        let next = text[place..].chars().next();
        if at == 0 || !(next.is_some_and(joins) || c == '\u{200d}') {
            break;
        }
        place = at;
    }
    let next = text[place..].chars().next();
    if next.is_some_and(joins) || place == 0 { room } else { place }
}

/// Whether a character belongs to the one before it.
fn joins(c: char) -> bool {
    is_mark(c)
        || matches!(u32::from(c), 0x200d | 0xfe00..=0xfe0f | 0x1f3fb..=0x1f3ff | 0xe0020..=0xe007f)
}

fn is_mark(c: char) -> bool {
    matches!(u32::from(c), 0x300..=0x36f | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff | 0x20d0..=0x20ff)
        || is_dropped_mark(c)
}

/// One character, or a run of a script that is written without spaces.
enum Piece {
    Other(char),
    Run(Vec<char>),
}

fn pieces(text: &str) -> impl Iterator<Item = Piece> {
    let mut characters = text.chars().peekable();
    std::iter::from_fn(move || {
        let first = characters.next()?;
        if !is_unspaced(first) {
            return Some(Piece::Other(first));
        }
        let mut run = vec![first];
        while let Some(next) = characters.next_if(|c| is_unspaced(*c)) {
            run.push(next);
        }
        // SQLite's tokenizer takes these marks for spaces.
        run.retain(|c| !is_dropped_mark(*c));
        Some(Piece::Run(run))
    })
}

fn pairs(run: &[char], mut add: impl FnMut(&str)) {
    if let [alone] = run {
        return add(alone.encode_utf8(&mut [0; 4]));
    }
    for pair in run.windows(2) {
        add(&pair.iter().collect::<String>());
    }
}

/// Han, Hiragana, Katakana, Hangul, Thai and Lao.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0e01..=0x0e3a | 0x0e40..=0x0e4e | 0x0e81..=0x0ece
        | 0x1100..=0x11ff | 0x3005..=0x3007 | 0x3041..=0x309f | 0x30a1..=0x30fa | 0x30fc..=0x30ff
        | 0x3131..=0x318e | 0x31f0..=0x31ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xa960..=0xa97c
        | 0xac00..=0xd7fb | 0xf900..=0xfaff | 0xff66..=0xff9f | 0x1b000..=0x1b16f
        | 0x20000..=0x323af)
}

/// The marks among them: vowel signs and tones above and below, and the voicing of kana.
fn is_dropped_mark(c: char) -> bool {
    matches!(u32::from(c),
        0x0e31 | 0x0e34..=0x0e3a | 0x0e47..=0x0e4e | 0x0eb1 | 0x0eb4..=0x0ebc | 0x0ec8..=0x0ece
        | 0x3099..=0x309a)
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use proptest::prelude::*;

    use super::*;

    fn parts_of(text: &str) -> Vec<&str> {
        cut(text).into_iter().map(|part| &text[part]).collect()
    }

    #[test]
    fn a_short_text_is_one_part_and_white_space_is_none() {
        assert_eq!(parts_of("  Hello there. How are you?\n"), ["Hello there. How are you?"]);
        assert!(parts_of(" \n\t ").is_empty());
        assert!(parts_of("").is_empty());
    }

    #[test]
    fn a_long_text_is_cut_at_the_last_sentence_that_fits() {
        let first = format!("{}.", "a".repeat(200));
        let second = format!("{}!", "b".repeat(150));
        let third = format!("{}?", "c".repeat(100));
        let text = format!("{first} {second} {third}");
        assert_eq!(parts_of(&text), [format!("{first} {second}"), third]);
    }

    #[test]
    fn a_closing_quote_stays_with_its_sentence_and_a_number_is_not_one() {
        let text = format!(
            "He said \"{}.\" Then {} 3.14 {}",
            "a".repeat(300),
            "b ".repeat(20),
            "c".repeat(90)
        );
        let parts = parts_of(&text);
        assert!(parts[0].ends_with(".\""), "{parts:?}");
    }

    #[test]
    fn lines_and_cjk_sentences_are_ends_too() {
        let lines = format!("- {}\n- {}\n", "x".repeat(300), "y".repeat(300));
        assert_eq!(
            parts_of(&lines),
            [format!("- {}", "x".repeat(300)), format!("- {}", "y".repeat(300))]
        );
        let chinese = format!("{}。{}。", "你".repeat(250), "好".repeat(250));
        assert_eq!(parts_of(&chinese).len(), 2);
        assert!(parts_of(&chinese)[0].ends_with('。'));
    }

    #[test]
    fn without_sentences_spaces_are_used_and_without_spaces_characters() {
        let words = "word ".repeat(200);
        assert!(parts_of(&words).iter().all(|part| part.ends_with("word")));
        assert_eq!(parts_of(&"x".repeat(1000)).len(), 3);
        let accents = "e\u{301}".repeat(300);
        assert!(parts_of(&format!("x{accents}")).iter().all(|part| !part.starts_with('\u{301}')));
    }

    #[test]
    fn a_very_long_text_has_no_more_parts_than_a_text_may_have() {
        assert!(cut(&"A sentence of some length. ".repeat(40_000)).len() <= MOST_PARTS);
        assert!(cut(&"x".repeat(1_000_000)).len() <= MOST_PARTS);
    }

    #[test]
    fn day_speaker_and_caption_are_indexed_with_the_text() {
        let words = Words {
            text: "Look at this",
            caption: Some("a dog on a beach"),
            speaker: Some("Jo"),
            day: Some(date(2023, 5, 8)),
        };
        assert_eq!(index_words(&words), "8 May 2023 Jo: Look at this a dog on a beach");
        let chunks = prepare(&words, Vectors::Now);
        assert_eq!(chunks.len(), 1);
        assert!(chunks[0].vector.is_some() && !chunks[0].tokens.is_empty());
        assert!(prepare(&Words { text: " ", ..words }, Vectors::Later)[0].vector.is_none());
    }

    #[test]
    fn a_caption_without_text_is_a_part_and_goes_with_the_last_of_several() {
        let alone = Words { caption: Some("a red kite"), ..Words::default() };
        assert_eq!(prepare(&alone, Vectors::Later)[0].words.trim(), "a red kite");
        let text = "One sentence here. ".repeat(40);
        let chunks = prepare(&Words { text: &text, ..alone }, Vectors::Later);
        let with_caption = chunks.iter().filter(|chunk| chunk.words.contains("kite")).count();
        assert_eq!((with_caption, chunks.last().unwrap().words.contains("kite")), (1, true));
    }

    #[test]
    fn scripts_without_spaces_become_pairs_on_both_sides() {
        let words = Words { text: "我喜欢tea和茶\0x", ..Words::default() };
        let index: Vec<String> =
            index_words(&words).split_whitespace().map(str::to_owned).collect();
        assert_eq!(index, ["我喜", "喜欢", "tea", "和茶", "x"]);
        assert_eq!(question_words("喜欢 Tea?"), ["喜欢", "tea"]);
        assert_eq!(question_words("犬"), ["犬"]);
        assert_eq!(question_words("한국어 คน don't DON'T"), ["한국", "국어", "คน", "don", "t"]);
    }

    proptest! {
        #[test]
        fn parts_cover_everything_but_white_space_in_order_and_within_bounds(
            text in prop_oneof![any::<String>(), "[a-z .!?\n。é\u{301}你]{0,2000}"],
        ) {
            let parts = cut(&text);
            let mut before = 0;
            for part in &parts {
                prop_assert!(part.start >= before && part.end > part.start);
                prop_assert!(text[before..part.start].trim().is_empty());
                prop_assert!(text[part.clone()].chars().count() <= LONGEST_PART);
                before = part.end;
            }
            prop_assert!(text[before..].trim().is_empty());
            prop_assert!(parts.len() <= MOST_PARTS);
        }

        #[test]
        fn words_of_any_text_have_no_control_characters_and_hold_the_words_of_the_question(
            text in any::<String>(), speaker in any::<String>(),
        ) {
            let index = index_words(&Words { text: &text, speaker: Some(&speaker), ..Words::default() });
            prop_assert!(!index.chars().any(char::is_control));
            let indexed = question_words(&index);
            for word in question_words(&text) {
                prop_assert!(indexed.contains(&word), "{word}");
            }
        }
    }
}
