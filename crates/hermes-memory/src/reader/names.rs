//! Which words of a text are names: people, projects, products, companies, places, files.

use std::ops::Range;
use std::sync::OnceLock;

use hermes_llm::EmbeddedModel;

use super::Linear;
use super::signs::{Signs, hash, join};

static MODEL: OnceLock<Linear<3>> = OnceLock::new();

/// As sure as this a name is tagged.
const SURE: f32 = 0.8;

/// What a word is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tag {
    /// No part of a name.
    Other,
    /// The first word of a name.
    Begins,
    /// A further word of a name.
    Goes,
}

impl Tag {
    /// Every tag, in the order of the model's classes.
    pub const ALL: [Tag; 3] = [Tag::Other, Tag::Begins, Tag::Goes];
}

/// One word, as it stands in the text.
#[derive(Debug, Clone)]
pub struct Word {
    /// Where it stands, without the punctuation around it and without a possessive ending.
    pub place: Range<usize>,
    lower: u32,
    start: u32,
    end: u32,
    look: u32,
    pieces: u32,
    starts_sentence: bool,
    opens: bool,
    /// Whether punctuation or a possessive ends what the word belongs to.
    pub is_end: bool,
    after: u32,
    /// What the rules take it for.
    guess: Tag,
}

/// The places of the names in a text; `guessed` are those that rules take for names.
pub fn find(text: &str, guessed: &[String]) -> Vec<Range<usize>> {
    let model = Linear::once(&MODEL, include_bytes!("../../model/names.bin"));
    let words = guess(words(text), text, guessed);
    let is_all_lower = is_all_lower(text);
    let mut found: Vec<(Range<usize>, f32)> = Vec::new();
    let mut before = Tag::Other;
    for at in 0..words.len() {
        let seen = signs(&words, at, before, is_all_lower);
        let [other, mut begins, mut goes] = model.judge(&seen, None, &[]);
        if before == Tag::Other {
            begins += std::mem::take(&mut goes);
        } else if words[at - 1].is_end {
            goes = 0.0;
        }
        let place = words[at].place.clone();
        before = if other >= begins.max(goes) {
            Tag::Other
        } else if begins >= goes {
            found.push((place, begins));
            Tag::Begins
        } else {
            if let Some((whole, sure)) = found.last_mut() {
                whole.end = place.end;
                *sure = sure.min(goes);
            }
            Tag::Goes
        };
    }
    found.into_iter().filter(|(_, sure)| *sure >= SURE).map(|(place, _)| place).collect()
}

/// Notes on the words which of them rules take for names.
pub fn guess(mut words: Vec<Word>, text: &str, guessed: &[String]) -> Vec<Word> {
    for name in guessed {
        for (start, _) in text.match_indices(name.as_str()) {
            let mut tag = Tag::Begins;
            let inside =
                |word: &Word| word.place.start >= start && word.place.end <= start + name.len();
            for word in words.iter_mut().filter(|word| inside(word)) {
                word.guess = std::mem::replace(&mut tag, Tag::Goes);
            }
        }
    }
    words
}

/// The words of a text.
pub fn words(text: &str) -> Vec<Word> {
    let mut found: Vec<Word> = Vec::new();
    let mut pieces = Vec::new();
    for line in text.split_inclusive('\n') {
        let line_start = line.as_ptr() as usize - text.as_ptr() as usize;
        let mut starts_sentence = true;
        for raw in line.split([' ', '\t', '\n', '\r', '—', '–', '(', '|']) {
            let at = line_start + (raw.as_ptr() as usize - line.as_ptr() as usize);
            let core = raw.trim_start_matches(is_before).trim_end_matches(is_after);
            if !core.chars().any(char::is_alphanumeric) {
                if let Some(last) = found.last_mut().filter(|_| !matches!(raw, "" | "&")) {
                    last.is_end = true;
                }
                continue;
            }
            let lead = core.as_ptr() as usize - raw.as_ptr() as usize;
            let after = &raw[lead + core.len()..];
            let bare = core.strip_suffix("'s").or_else(|| core.strip_suffix("’s")).unwrap_or(core);
            let lower = bare.to_lowercase();
            pieces.clear();
            EmbeddedModel::get().tokens(&lower, &mut pieces);
            let is_title = matches!(raw, "Dr." | "Mr." | "Mrs." | "Ms." | "Prof." | "St.");
            found.push(Word {
                place: at + lead..at + lead + bare.len(),
                lower: hash(&lower),
                start: hash(first(&lower, 3)),
                end: hash(last(&lower, 3)),
                look: look(bare),
                pieces: pieces.len().min(4) as u32,
                starts_sentence,
                opens: lead > 0,
                is_end: !is_title && (!after.is_empty() || bare.len() < core.len()),
                after: hash(if is_title { "" } else { first(after, 1) }),
                guess: Tag::Other,
            });
            starts_sentence = !is_title && after.contains(['.', '!', '?', ':', '…']);
        }
    }
    found
}

/// What can be seen of a word and its neighbours; `before` is what the word before it is.
pub fn signs(words: &[Word], at: usize, before: Tag, is_all_lower: bool) -> Signs {
    let mut signs = Signs::default();
    let own = &words[at];
    let near = |offset: isize| at.checked_add_signed(offset).and_then(|at| words.get(at));
    let state = join(own.look, u32::from(own.starts_sentence));
    signs.add("word", own.lower, 1.5);
    signs.add("look", own.look, 1.0);
    signs.add("state", state, 1.5);
    signs.add("state of all", join(state, u32::from(is_all_lower)), 1.0);
    signs.add("word and look", join(own.lower, state), 1.0);
    signs.add("start", own.start, 0.5);
    signs.add("end", own.end, 0.7);
    signs.add("end and look", join(own.end, state), 0.7);
    signs.add("pieces", join(own.pieces, state), 1.0);
    signs.add("tag before", before as u32, 1.0);
    signs.add("tag before and look", join(before as u32, state), 1.2);
    signs.add("tag before and word", join(before as u32, own.lower), 0.7);
    signs.add("after", own.after, 0.5);
    signs.flag(own.opens, "opens");
    signs.add("guess", own.guess as u32, 2.0);
    signs.add("guess and tag before", join(own.guess as u32, before as u32), 1.5);
    signs.add("guess and look", join(own.guess as u32, state), 1.5);
    signs.add("guess and word", join(own.guess as u32, own.lower), 1.0);
    signs.add("guess next", near(1).map_or(9, |word| word.guess as u32), 1.0);
    for (offset, sort) in [(-2, "word -2"), (-1, "word -1"), (1, "word +1"), (2, "word +2")] {
        let other = near(offset).map_or(0, |word| word.lower);
        signs.add(sort, other, if offset.abs() == 1 { 1.0 } else { 0.5 });
        let other = near(offset).map_or(0, |word| word.look);
        signs.add(sort, join(other, 77), 0.6);
        if offset.abs() == 1 {
            let mark = near(offset).map_or(1, |word| u32::from(word.is_end));
            signs.add(sort, join(join(other, state), mark), 0.9);
        }
    }
    let (left, right) = (near(-1).map_or(0, |w| w.lower), near(1).map_or(0, |w| w.lower));
    signs.add("left and look", join(left, state), 1.0);
    signs.add("right and look", join(right, state), 1.0);
    signs.add("around", join(left, right), 0.5);
    signs.add("left and word", join(left, own.lower), 0.7);
    signs.add("right and word", join(own.lower, right), 0.7);
    signs.flag(at > 0 && words[at - 1].is_end, "a mark before");
    signs.settle(0.0)
}

/// Whether a text is written without capitals.
pub fn is_all_lower(text: &str) -> bool {
    !text
        .split_whitespace()
        .any(|word| word.starts_with(char::is_uppercase) && word != "I" && !word.starts_with("I'"))
}

fn is_before(c: char) -> bool {
    !(c.is_alphanumeric() || matches!(c, '@' | '#' | '/' | '.' | '_' | '~' | '$'))
}

fn is_after(c: char) -> bool {
    !(c.is_alphanumeric() || matches!(c, '+' | '#' | '/' | '_'))
}

/// The look of a word: capitals, digits and marks, each run once.
fn look(word: &str) -> u32 {
    let mut shape = String::new();
    for c in word.chars() {
        let sort = match c {
            c if c.is_uppercase() => 'X',
            c if c.is_alphabetic() => 'x',
            c if c.is_numeric() => '0',
            '\'' | '’' => '\'',
            c => c,
        };
        let is_run = shape.ends_with(sort) && (sort != 'X' || shape.len() > 1);
        if !is_run && shape.len() < 8 {
            shape.push(sort);
        }
    }
    hash(&shape)
}

fn first(text: &str, count: usize) -> &str {
    &text[..text.char_indices().nth(count).map_or(text.len(), |(at, _)| at)]
}

fn last(text: &str, count: usize) -> &str {
    let start = text.chars().count().saturating_sub(count);
    &text[text.char_indices().nth(start).map_or(0, |(at, _)| at)..]
}
