//! What a task is about: its type and the names in it, by rules, without a model.

mod words;

use words::{CODE_ENDINGS, COMMON_STARTS, EMPTY_WORDS, NOT_NAMES, ORDINARY_STARTS, SIGNS};

/// Less than this is no sign of anything.
const LEAST_SCORE: u32 = 2;

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

/// Guesses the type of a task from its words; `General` when nothing speaks for another one.
pub fn infer(text: &str) -> TaskType {
    if !asks_for_work(text) {
        return TaskType::General;
    }
    let words = lower_words(text);
    let mut best = (TaskType::General, 0);
    for (kind, signs) in SIGNS {
        let weight = |word: &str| {
            signs
                .iter()
                .filter(|(sign, _)| fits(word, sign))
                .map(|(_, weight)| *weight)
                .max()
                .unwrap_or(0)
        };
        // The verb that begins a request says most: deploying a blog is not writing one.
        let first = words.first().map_or(0, |word| weight(word));
        let words_score: u32 = first + words.iter().map(|word| weight(word)).sum::<u32>();
        let score = words_score + shape_score(*kind, text);
        if score > best.1 {
            best = (*kind, score);
        }
    }
    if best.1 < LEAST_SCORE { TaskType::General } else { best.0 }
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

/// The names in a text that are worth tagging: each as it is written, without its parts, versions,
/// addresses and handles.
pub fn entities(text: &str) -> Vec<String> {
    let mut found = Names::default();
    let mut phrase: Vec<&str> = Vec::new();
    let mut starts_sentence = true;
    let is_german = is_german(text);
    let mut before = "";
    let mut raws = text.split_whitespace().peekable();
    while let Some(raw) = raws.next() {
        let word = raw.trim_matches(is_around_a_name).trim_end_matches(['—', '–', '-']);
        let next = raws.peek().copied().unwrap_or_default();
        let opens = raw.starts_with(['(', '"', '“', '«']);
        if opens {
            found.take_whole(&mut phrase);
        }
        // German writes every noun with a capital, and so do sentences their first word.
        let is_doubtful = (is_german && !matches!(before, "Frau" | "Herr" | "Herrn" | "Dr."))
            || (starts_sentence
                && phrase.is_empty()
                && !is_possessive(word)
                && !speaks_of_a_name(next));
        before = raw;
        match entity_sort(word, starts_sentence) {
            Sort::Capital if is_doubtful => found.take_whole(&mut phrase),
            Sort::Alone => {
                found.take_whole(&mut phrase);
                found.add(word);
            }
            Sort::Capital => phrase.push(without_possessive(word)),
            Sort::Plain | Sort::Version => found.take_whole(&mut phrase),
        }
        let is_title = matches!(raw, "Dr." | "Mr." | "Mrs." | "Ms." | "Prof." | "St.");
        let ends = raw.ends_with(['.', '!', '?', ':', ';', ',', ')', '"', '”', '»', '…'])
            || word.len() < raw.trim_end_matches(is_around_a_name).len()
            || is_possessive(word);
        if ends && !is_title {
            found.take_whole(&mut phrase);
        }
        starts_sentence = !is_title && raw.ends_with(['.', '!', '?', ':', '…'])
            || matches!(raw, "-" | "*" | "•" | "—");
    }
    found.take_whole(&mut phrase);
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

/// Whether a text asks for something to be done, or asks at all: what is told is no task.
fn asks_for_work(text: &str) -> bool {
    const COURTESIES: &[&str] = &[
        "please", "pls", "hi", "hey", "ok", "okay", "so", "and", "then", "also", "now", "kindly",
        "alright", "just", "bitte", "morning",
    ];
    const ASKS: &[&str] = &[
        "can you",
        "could you",
        "would you",
        "can u",
        "help me",
        "i need",
        "gimme",
        "let us",
        "what",
        "how",
        "why",
        "which",
        "where",
        "any idea",
    ];
    const NO_WORK: &[&str] = &[
        "always", "never", "don", "remember", "note", "next", "whenever", "keep", "my", "i", "we",
        "our", "the", "call",
    ];
    let mut sentences = text.split(['.', '!', '?', '\n', ':', ';']).map(lower_words);
    text.contains('?')
        || sentences.any(|words| {
            let mut rest = words
                .iter()
                .map(String::as_str)
                .skip_while(|word| COURTESIES.contains(word))
                .peekable();
            let first = rest.peek().copied().unwrap_or_default();
            let joined = rest.collect::<Vec<_>>().join(" ");
            let is_verb = !NO_WORK.contains(&first) && is_common_start(first);
            is_verb || ASKS.iter().any(|phrase| joined.starts_with(phrase))
        })
}

/// A sign with a star fits every word that begins with it.
fn fits(word: &str, sign: &str) -> bool {
    match sign.strip_suffix('*') {
        Some(beginning) => word.starts_with(beginning),
        None => word == sign,
    }
}

/// What the look of the text adds: code, file names, tables, addresses.
fn shape_score(kind: TaskType, text: &str) -> u32 {
    let words = || text.split_whitespace().map(|word| word.trim_matches(is_around_a_name));
    let has_ending = |endings: &[&str]| {
        words().any(|word| word.rsplit_once('.').is_some_and(|(_, end)| endings.contains(&end)))
    };
    match kind {
        TaskType::Coding if text.contains("```") || text.contains("::") => 3,
        TaskType::Coding if has_ending(CODE_ENDINGS) => 2,
        TaskType::Data if has_ending(&["csv", "xlsx", "tsv", "parquet", "jsonl"]) => 3,
        TaskType::Writing if has_ending(&["docx", "md", "tex"]) => 1,
        TaskType::Communication if words().any(is_address) => 2,
        _ => 0,
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

/// Whether a text is in German, by its small words.
fn is_german(text: &str) -> bool {
    #[rustfmt::skip]
    const SMALL: &[&str] = &[
        "ich", "und", "der", "die", "das", "bitte", "immer", "nicht", "für", "mit", "den", "dass", "ist",
        "wir", "im", "auf",
    ];
    lower_words(text).iter().filter(|word| SMALL.contains(&word.as_str())).count() >= 2
}

/// Whether the word before can only be a name: what follows a name that begins a sentence.
fn speaks_of_a_name(next: &str) -> bool {
    let word = next.trim_matches(is_around_a_name);
    matches!(
        word,
        "is" | "was"
            | "has"
            | "says"
            | "said"
            | "uses"
            | "runs"
            | "wants"
            | "thinks"
            | "stays"
            | "takes"
            | "leads"
            | "does"
            | "told"
            | "sent"
            | "handles"
            | "left"
            | "lives"
            | "works"
            | "and"
    ) || (word.starts_with(char::is_uppercase)
        && !NOT_NAMES.contains(&word.to_lowercase().as_str()))
}

fn is_possessive(word: &str) -> bool {
    word.ends_with("'s") || word.ends_with("’s")
}

/// What a word can be in a name that is worth tagging.
fn entity_sort(word: &str, starts_sentence: bool) -> Sort {
    let lower = word.to_lowercase();
    let core = without_possessive(&lower);
    let first = core.split(['\'', '’']).next().unwrap_or_default();
    if NOT_NAMES.contains(&core)
        || NOT_NAMES.contains(&first)
        || is_address(word)
        || word.starts_with(['@', '#'])
    {
        return Sort::Plain;
    }
    if is_dotted_name(word) {
        let is_file = word.rsplit_once('.').is_some_and(|(_, end)| {
            CODE_ENDINGS.contains(&end)
                || matches!(
                    end,
                    "csv"
                        | "xlsx"
                        | "md"
                        | "txt"
                        | "pdf"
                        | "docx"
                        | "gd"
                        | "log"
                        | "ini"
                        | "cfg"
                        | "env"
                        | "tsv"
                        | "png"
                        | "ipynb"
                        | "tex"
                        | "xml"
                        | "pptx"
                )
        });
        return if is_file { Sort::Alone } else { Sort::Plain };
    }
    if word.contains(|c: char| {
        !(c.is_alphanumeric() || matches!(c, '\'' | '’' | '-' | '&' | '+' | '#' | '.'))
    }) || word.chars().filter(|c| c.is_alphabetic()).count() < 2
    {
        return Sort::Plain;
    }
    let is_shouted =
        word.chars().count() > 3 && word.chars().all(|c| c.is_uppercase() || !c.is_alphabetic());
    if is_shouted && starts_sentence {
        return Sort::Plain;
    }
    match sort_of(word, starts_sentence) {
        Sort::Capital if starts_sentence && !is_possessive(word) && !is_unlikely_start(core) => {
            Sort::Capital
        }
        Sort::Capital if starts_sentence && !is_possessive(word) => Sort::Plain,
        other => other,
    }
}

/// Whether a word at the start of a sentence is more likely an ordinary word than a name.
fn is_unlikely_start(lower: &str) -> bool {
    const ENDINGS: &[&str] =
        &["ing", "ly", "ed", "tion", "ment", "ness", "less", "ful", "able", "ous", "ings", "ers"];
    lower.chars().count() < 3
        || ENDINGS.iter().any(|ending| lower.ends_with(ending))
        || ORDINARY_STARTS.contains(&lower)
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
    SIGNS.iter().any(|(_, signs)| signs.iter().any(|(sign, _)| is_sign(sign)))
        || COMMON_STARTS.iter().any(|sign| is_sign(sign))
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tasks_are_sorted_by_what_they_ask_for() {
        for (text, kind) in [
            ("Fix the failing test in parser.rs", TaskType::Coding),
            ("Write a blog post about our launch", TaskType::Writing),
            ("Research alternatives to Postgres and compare them", TaskType::Research),
            ("Watch the price page and alert me when it changes", TaskType::Monitoring),
            ("Plan a trip to Lisbon in May", TaskType::Planning),
            ("Calculate the median of each column in sales.csv", TaskType::Data),
            ("Reply to Anna's email and invite her", TaskType::Communication),
            ("Schreibe einen Brief", TaskType::Writing),
            ("Busca información sobre baterías", TaskType::Research),
            ("thanks!", TaskType::General),
            ("", TaskType::General),
        ] {
            assert_eq!(infer(text), kind, "{text}");
        }
    }

    #[test]
    fn names_are_found_inside_sentences() {
        let found = names("Ask Ada Lovelace about BrightCart and the \"north star\" deck.");
        for name in ["Ada Lovelace", "Ada", "BrightCart", "north star"] {
            assert!(found.iter().any(|known| known == name), "{name} in {found:?}");
        }
        assert!(!found.iter().any(|name| name == "Ask"));
    }

    #[test]
    fn handles_tags_files_domains_and_versions_are_names() {
        let found = names("Upgrade to Python 3.12, see docs.rs and src/main.rs, tell @jo #infra");
        for name in ["Python 3.12", "Python", "docs.rs", "src/main.rs", "@jo", "#infra"] {
            assert!(found.iter().any(|known| known == name), "{name} in {found:?}");
        }
    }

    #[test]
    fn a_name_at_the_start_is_kept_unless_it_is_a_word_tasks_begin_with() {
        assert_eq!(names("Caroline's birthday"), ["Caroline"]);
        assert!(names("Write a haiku. Then stop.").is_empty());
        assert!(names("What did I say? I forgot.").is_empty());
    }

    #[test]
    fn courtesies_say_little_and_questions_do_not() {
        for text in ["thanks!", "ok, go on", "", "hello there", "👍"] {
            assert!(says_little(text), "{text}");
        }
        for text in ["dentist appointment", "brakes", "What did Ada say?", "我们明天去哪里吃饭"]
        {
            assert!(!says_little(text), "{text}");
        }
    }

    #[test]
    fn the_words_searched_by_halving_are_sorted() {
        let mut sorted = EMPTY_WORDS.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, EMPTY_WORDS);
    }

    proptest! {
        #[test]
        fn any_text_has_a_type_and_short_names(text in any::<String>()) {
            infer(&text);
            says_little(&text);
            prop_assert!(names(&text).iter().all(|name| name.chars().count() <= 80));
        }
    }
}
