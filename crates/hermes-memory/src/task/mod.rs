//! What a task is about: its type and the names in it, by rules, without a model.

mod entities;
mod nod;
#[cfg(test)]
mod tests;
mod words;

pub use entities::guessed_names;
use entities::{is_no_name, without_title};
pub use nod::is_nod;
use words::{COMMON_STARTS, EMPTY_WORDS, TASK_WORDS};

use crate::reader;

/// What kind of task it is; procedures are kept and found by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskType {
    /// Find out and compare.
    Research,
    /// Write or rewrite a text.
    Writing,
    /// Write, repair or explain programs.
    Coding,
    /// Watch something and tell when it changes.
    Monitoring,
    /// Decide what to do and when.
    Planning,
    /// Work on tables and numbers.
    Data,
    /// Tell or answer other people.
    Communication,
    /// Anything else.
    General,
}

impl TaskType {
    /// Every type.
    pub const ALL: [TaskType; 8] = [
        TaskType::Research,
        TaskType::Writing,
        TaskType::Coding,
        TaskType::Monitoring,
        TaskType::Planning,
        TaskType::Data,
        TaskType::Communication,
        TaskType::General,
    ];

    /// The word that stands for it in the memory.
    pub fn as_str(self) -> &'static str {
        match self {
            TaskType::Research => "research",
            TaskType::Writing => "writing",
            TaskType::Coding => "coding",
            TaskType::Monitoring => "monitoring",
            TaskType::Planning => "planning",
            TaskType::Data => "data",
            TaskType::Communication => "communication",
            TaskType::General => "general",
        }
    }
}

/// The type of the task that a text asks for; `General` when it asks for none, or it is not sure which.
pub fn infer(text: &str) -> TaskType {
    const SURE: f32 = 0.68;
    let likely = reader::tasks::judge(text);
    let best = TaskType::ALL
        .into_iter()
        .zip(likely)
        .filter(|(kind, _)| *kind != TaskType::General)
        .max_by(|one, other| one.1.total_cmp(&other.1));
    best.filter(|(_, sure)| *sure >= SURE).map_or(TaskType::General, |(kind, _)| kind)
}

/// The names in a text that are worth tagging, each once and as it is written, without versions,
/// addresses and handles.
pub fn entities(text: &str) -> Vec<String> {
    let mut found = Names::default();
    for place in reader::names::find(text, &guessed_names(text)) {
        let name = without_title(&text[place]);
        if !is_no_name(name) {
            found.add(name);
        }
    }
    found.names
}

/// The names a task mentions: capitalised words inside sentences, quoted names, handles, tags, file
/// names, domains and versions. What stands at the start of a sentence is left out, unless it cannot
/// be an ordinary word.
pub fn names(text: &str) -> Vec<String> {
    let mut found = Names::default();
    quoted(text, &mut found);
    let mut phrase: Vec<&str> = Vec::new();
    let mut starts_sentence = true;
    for raw in text.split_whitespace() {
        let word = raw.trim_matches(is_around_a_name);
        let ends = raw.ends_with(['.', '!', '?', ':', ';', ',', ')']);
        match sort_of(word, starts_sentence) {
            Sort::Plain => found.take(&mut phrase),
            Sort::Alone => {
                found.take(&mut phrase);
                found.add(without_possessive(word));
            }
            Sort::Capital => phrase.push(without_possessive(word)),
            Sort::Version if phrase.is_empty() => {}
            Sort::Version => phrase.push(word),
        }
        if ends {
            found.take(&mut phrase);
        }
        starts_sentence = raw.ends_with(['.', '!', '?', ':']) || matches!(raw, "-" | "*" | "•");
    }
    found.take(&mut phrase);
    found.names
}

/// The words of a task that say what it is about, in lower case: no stop words, no courtesies.
pub fn content_words(text: &str) -> Vec<String> {
    lower_words(text)
        .into_iter()
        .filter(|word| word.chars().count() > 1 || word.chars().all(|c| !c.is_ascii()))
        .filter(|word| EMPTY_WORDS.binary_search(&word.as_str()).is_err())
        .collect()
}

/// Whether a word, in lower case, says nothing about what a text is about.
pub(crate) fn is_empty_word(lower: &str) -> bool {
    EMPTY_WORDS.binary_search(&lower).is_ok()
}

/// Whether a task says nothing that a search could look for: `thanks!`, `go on`.
pub fn says_little(text: &str) -> bool {
    content_words(text).is_empty() && names(text).is_empty()
}

fn lower_words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// A sign with a star fits every word that begins with it.
fn fits(word: &str, sign: &str) -> bool {
    match sign.strip_suffix('*') {
        Some(beginning) => word.starts_with(beginning),
        None => word == sign,
    }
}

fn is_address(word: &str) -> bool {
    word.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.'))
}

/// The names found so far, each once.
#[derive(Default)]
struct Names {
    names: Vec<String>,
}

impl Names {
    fn add(&mut self, name: &str) {
        /// A task with more names than this is a document.
        const MOST: usize = 64;
        let name = name.trim();
        let is_known = || self.names.iter().any(|known| known.eq_ignore_ascii_case(name));
        if self.names.len() < MOST && (2..=80).contains(&name.chars().count()) && !is_known() {
            self.names.push(name.to_owned());
        }
    }

    /// A phrase is one name.
    fn take_whole(&mut self, phrase: &mut Vec<&str>) {
        if !phrase.is_empty() {
            self.add(&phrase.join(" "));
            phrase.clear();
        }
    }

    /// A phrase is a name, and so is each of its words: `Ada Lovelace`, `Ada`, `Lovelace`.
    fn take(&mut self, phrase: &mut Vec<&str>) {
        if phrase.len() > 1 {
            self.add(&phrase.join(" "));
        }
        if phrase.len() > 2 {
            // The first may be a verb that begins the sentence: `Ping Ada Lovelace`.
            self.add(&phrase[1..].join(" "));
        }
        for word in phrase.drain(..).filter(|word| word.starts_with(char::is_alphabetic)) {
            self.add(word);
        }
    }
}

/// What a word can be in a name.
enum Sort {
    /// An ordinary word.
    Plain,
    /// A name whatever stands around it.
    Alone,
    /// A part of a name.
    Capital,
    /// A number that belongs to the name before it: `Python 3.12`.
    Version,
}

fn sort_of(word: &str, starts_sentence: bool) -> Sort {
    let mut characters = word.chars();
    let Some(first) = characters.next() else { return Sort::Plain };
    if matches!(first, '@' | '#') {
        let is_name = characters.next().is_some_and(char::is_alphabetic);
        return if is_name { Sort::Alone } else { Sort::Plain };
    }
    if is_address(word) || is_dotted_name(word) {
        return Sort::Alone;
    }
    if is_version(word) {
        return Sort::Version;
    }
    let capitals = word.chars().filter(|c| c.is_uppercase()).count();
    if !first.is_uppercase() {
        // iPhone, eBay, but not an ordinary word.
        return if capitals > 0 && first.is_alphabetic() { Sort::Alone } else { Sort::Plain };
    }
    let lower = word.to_lowercase();
    if EMPTY_WORDS.binary_search(&lower.as_str()).is_ok() || lower.chars().count() == 1 {
        return Sort::Plain;
    }
    let cannot_be_ordinary = capitals > 1 || word.chars().any(|c| c.is_ascii_digit());
    if starts_sentence && !cannot_be_ordinary && is_common_start(&lower) {
        return Sort::Plain;
    }
    Sort::Capital
}

/// A capital at the start of a sentence says nothing if the word is a verb people begin tasks with.
fn is_common_start(lower: &str) -> bool {
    let is_sign = |sign: &str| fits(lower, sign);
    TASK_WORDS.iter().chain(COMMON_STARTS).any(|sign| is_sign(sign))
}

fn is_dotted_name(word: &str) -> bool {
    let Some((name, ending)) = word.rsplit_once('.') else { return false };
    let is_word = |part: &str| part.chars().all(|c| c.is_alphanumeric() || "-_./~:".contains(c));
    (2..=6).contains(&ending.len())
        && ending.starts_with(|c: char| c.is_ascii_alphabetic())
        && ending.chars().all(|c| c.is_ascii_alphanumeric())
        && !name.is_empty()
        && name.chars().any(char::is_alphanumeric)
        && is_word(name)
}

fn is_version(word: &str) -> bool {
    let digits = word.strip_prefix('v').unwrap_or(word);
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))
        && digits.len() <= 12
}

fn without_possessive(word: &str) -> &str {
    word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word)
}

fn is_around_a_name(c: char) -> bool {
    matches!(
        c,
        '.' | ','
            | ';'
            | ':'
            | '!'
            | '?'
            | '"'
            | '\''
            | '('
            | ')'
            | '['
            | ']'
            | '{'
            | '}'
            | '<'
            | '>'
            | '“'
            | '”'
            | '„'
            | '‘'
            | '’'
            | '«'
            | '»'
            | '`'
            | '*'
            | '_'
            | '…'
            | '。'
            | '、'
    )
}

/// Short quotes are names of things.
fn quoted(text: &str, found: &mut Names) {
    for (open, close) in [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('「', '」'), ('`', '`')]
    {
        let mut rest = text;
        while let Some(at) = rest.find(open) {
            rest = &rest[at + open.len_utf8()..];
            let Some(end) = rest.find(close) else { break };
            let inside = &rest[..end];
            if inside.split_whitespace().count() <= 5 && !inside.contains('\n') {
                found.add(inside);
            }
            rest = &rest[end + close.len_utf8()..];
        }
    }
}
