//! What a person typed becomes a parsed query, which never fails.

use super::stop_words::is_stop_word;
use super::strict;
use super::variants::variants;
use super::words::{is_unspaced, split};

/// Characters of a query that are read; the rest is ignored.
pub(super) const LONGEST_QUERY: usize = 2_048;
/// Words of a query that are looked up; the rest is ignored.
pub(super) const MOST_TERMS: usize = 24;

/// How a query was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Bare words: messages with all of them first, then the best with some of them.
    Plain,
    /// Quotes, AND, OR, NOT or `prefix*`: exactly what was asked for.
    Strict,
}

/// A query as understood.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Query {
    pub(super) mode: Mode,
    pub(super) terms: Vec<Term>,
    /// What must hold of the terms in strict mode.
    pub(super) condition: Option<Node>,
    pub(super) notes: Vec<String>,
}

/// One thing to look for: a word with its forms, a phrase, the beginning of a word.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Term {
    pub(super) shown: String,
    pub(super) ways: Vec<Way>,
    pub(super) kind: TermKind,
}

/// What a term is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TermKind {
    /// It says what is looked for.
    Content,
    /// It is in every text and says little.
    Stop,
    /// It must not be there.
    Excluded,
}

/// One way in which a term can stand in a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Way {
    /// These words in a row.
    Words(Vec<String>),
    /// These words in a row, the last one only begun.
    Begun(Vec<String>),
    /// These characters, anywhere.
    Literal(String),
}

/// A condition on the terms, which are named by their number.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Term(usize),
    All(Vec<Node>),
    Any(Vec<Node>),
    Without(Box<Node>, Box<Node>),
}

/// Reads a query.
pub(super) fn parse(text: &str) -> Query {
    let mut notes = Vec::new();
    let clean: String =
        text.chars().take(LONGEST_QUERY).map(|c| if c.is_control() { ' ' } else { c }).collect();
    if text.chars().nth(LONGEST_QUERY).is_some() {
        notes.push(format!("only the first {LONGEST_QUERY} characters of the query were read"));
    }
    let mut query = match strict::read(&clean) {
        Some(marks) => strict::parse(marks, notes),
        None => parse_plain(&clean, notes),
    };
    if query.terms.is_empty() {
        query.terms = symbols(&clean);
    }
    query
}

impl Query {
    /// Takes phrases and runs apart that stand nowhere as a whole; says whether there were any.
    pub(super) fn take_apart(&mut self, is_nowhere: impl Fn(usize) -> bool) -> bool {
        if self.mode == Mode::Strict {
            return false;
        }
        let mut is_changed = false;
        let mut terms: Vec<Term> = Vec::new();
        for (number, term) in std::mem::take(&mut self.terms).into_iter().enumerate() {
            let parts = if is_nowhere(number) { term.apart() } else { Vec::new() };
            if parts.is_empty() {
                terms.push(term);
                continue;
            }
            is_changed = true;
            self.notes.push(format!(
                "no message contains {:?} as a whole: its parts were used",
                term.shown
            ));
            for part in parts {
                if !terms.iter().any(|known| known.ways[0] == part.ways[0]) {
                    terms.push(part);
                }
            }
        }
        self.terms = terms;
        is_changed
    }
}

impl Term {
    /// A word with its other forms.
    fn word(word: &str) -> Term {
        let ways = variants(word).into_iter().map(|form| Way::Words(vec![form])).collect();
        let kind = if is_stop_word(word) { TermKind::Stop } else { TermKind::Content };
        Term { shown: word.to_owned(), ways, kind }
    }

    fn literal(text: &str) -> Term {
        let ways = vec![Way::Literal(text.to_owned())];
        Term { shown: text.to_owned(), ways, kind: TermKind::Content }
    }

    pub(super) fn one_way(shown: &str, way: Way, kind: TermKind) -> Term {
        Term { shown: shown.to_owned(), ways: vec![way], kind }
    }

    /// The characters to scan for, where the index cannot help.
    pub(super) fn as_literal(&self) -> Option<&str> {
        match self.ways.as_slice() {
            [Way::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// The words of a phrase one by one, for when the phrase is nowhere; empty for anything else.
    pub(super) fn apart(&self) -> Vec<Term> {
        match self.ways.as_slice() {
            [Way::Words(words)] if words.len() > 1 => words.iter().map(|w| Term::word(w)).collect(),
            [Way::Literal(text)] if text.chars().count() > 2 => {
                bigrams(text).iter().map(|pair| Term::literal(pair)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The term in the language of FTS5; `None` where the index cannot answer.
    pub(super) fn expression(&self) -> Option<String> {
        let ways: Option<Vec<String>> = self.ways.iter().map(Way::expression).collect();
        ways.filter(|ways| !ways.is_empty()).map(|ways| ways.join(" OR "))
    }
}

impl Way {
    fn expression(&self) -> Option<String> {
        // Words hold no quotes, but quoting them twice costs nothing.
        let phrase = |words: &[String]| format!("\"{}\"", words.join(" ").replace('"', "\"\""));
        match self {
            Way::Words(words) => Some(phrase(words)),
            Way::Begun(words) => Some(format!("{} *", phrase(words))),
            Way::Literal(_) => None,
        }
    }
}

impl Node {
    /// The condition in the language of FTS5; `None` where the index cannot answer.
    pub(super) fn expression(&self, terms: &[Term]) -> Option<String> {
        let joined = |nodes: &[Node], operator: &str| {
            let parts: Option<Vec<String>> =
                nodes.iter().map(|node| node.expression(terms)).collect();
            parts.map(|parts| format!("({})", parts.join(operator)))
        };
        match self {
            Node::Term(number) => terms.get(*number)?.expression().map(|text| format!("({text})")),
            Node::All(nodes) => joined(nodes, " AND "),
            Node::Any(nodes) => joined(nodes, " OR "),
            Node::Without(wanted, unwanted) => {
                Some(format!("({} NOT {})", wanted.expression(terms)?, unwanted.expression(terms)?))
            }
        }
    }

    /// Whether the condition holds of a text in which these terms are present.
    pub(super) fn holds(&self, present: &[bool]) -> bool {
        match self {
            Node::Term(number) => present.get(*number).copied().unwrap_or(false),
            Node::All(nodes) => nodes.iter().all(|node| node.holds(present)),
            Node::Any(nodes) => nodes.iter().any(|node| node.holds(present)),
            Node::Without(wanted, unwanted) => wanted.holds(present) && !unwanted.holds(present),
        }
    }

    /// Adds the numbers of the terms that are wanted, not those to be kept out.
    pub(super) fn terms(&self, found: &mut Vec<usize>) {
        match self {
            Node::Term(number) => found.push(*number),
            Node::All(nodes) | Node::Any(nodes) => nodes.iter().for_each(|node| node.terms(found)),
            Node::Without(wanted, _) => wanted.terms(found),
        }
    }
}

fn parse_plain(text: &str, mut notes: Vec<String>) -> Query {
    let mut terms: Vec<Term> = Vec::new();
    let mut is_cut = false;
    for term in text.split_whitespace().flat_map(plain_terms) {
        let is_known = terms.iter().any(|known| known.ways.iter().any(|way| *way == term.ways[0]));
        let is_full = terms.iter().filter(|t| t.kind == term.kind).count() >= MOST_TERMS;
        is_cut |= is_full && !is_known;
        if !is_known && !is_full {
            terms.push(term);
        }
    }
    if is_cut {
        notes.push(format!("only the first {MOST_TERMS} words of the query were used"));
    }
    Query { mode: Mode::Plain, terms, condition: None, notes }
}

/// The terms of what stands between two blanks.
fn plain_terms(chunk: &str) -> Vec<Term> {
    if chunk.chars().any(is_unspaced) {
        return mixed_terms(chunk);
    }
    let mut words = split(chunk);
    let mut kind = TermKind::Content;
    if words.len() > 1 && chunk.contains(['\'', '’']) {
        match words.last().map(String::as_str) {
            Some("t") => kind = TermKind::Stop,
            Some("s" | "re" | "ve" | "ll" | "d" | "m") => _ = words.pop(),
            _ => {}
        }
    }
    match words.as_slice() {
        [] => Vec::new(),
        [word] => vec![with_escapes(Term::word(word), chunk)],
        _ => vec![Term::one_way(&words.join(" "), Way::Words(words.clone()), kind)],
    }
}

/// Adds the word as it is indexed inside JSON text, where `é` is written `\\u00e9`.
fn with_escapes(mut term: Term, typed: &str) -> Term {
    if !typed.is_ascii() {
        term.ways.push(Way::Words(split(&json_escaped(typed))));
    }
    term
}

/// The text as ASCII-only JSON writes it, without the quotes around it.
pub(super) fn json_escaped(text: &str) -> String {
    let mut escaped = String::new();
    let mut units = [0; 2];
    for c in text.chars() {
        match c.is_ascii() {
            true => escaped.push(c),
            false => c
                .encode_utf16(&mut units)
                .iter()
                .for_each(|unit| escaped.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    escaped
}

/// Runs of Han, Kana or Hangul as literals, what stands between them as words.
fn mixed_terms(chunk: &str) -> Vec<Term> {
    let mut terms = Vec::new();
    let mut run = String::new();
    let mut is_unspaced_run = false;
    for c in chunk.chars().chain([' ']) {
        if (is_unspaced(c) != is_unspaced_run || c == ' ') && !run.is_empty() {
            match is_unspaced_run {
                true => terms.push(Term::literal(&run)),
                false => terms.extend(split(&run).iter().map(|word| Term::word(word))),
            }
            run.clear();
        }
        is_unspaced_run = is_unspaced(c);
        run.push(c);
    }
    terms
}

/// A query of symbols alone (emoji, arrows) is looked for as it stands.
fn symbols(text: &str) -> Vec<Term> {
    let is_symbol = |c: char| !c.is_ascii() && !c.is_whitespace();
    let chunks = text.split_whitespace().filter(|chunk| chunk.chars().any(is_symbol));
    chunks.take(4).map(Term::literal).collect()
}

fn bigrams(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let pairs = characters.windows(2).take(MOST_TERMS).map(|pair| pair.iter().collect());
    let mut unique: Vec<String> = Vec::new();
    pairs.for_each(|pair| {
        if !unique.contains(&pair) {
            unique.push(pair);
        }
    });
    unique
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
