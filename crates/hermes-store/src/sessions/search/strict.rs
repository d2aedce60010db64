//! The query language: quotes, AND, OR, NOT, `prefix*` and parentheses, with slips put right.

use std::iter::Peekable;
use std::vec::IntoIter;

use super::query::{MOST_TERMS, Mode, Node, Query, Term, TermKind, Way};
use super::words::{is_unspaced, is_word_character, split};

/// Parentheses deeper than this are taken as blanks.
const DEEPEST_GROUP: usize = 24;

/// A piece of a query in which quotes, operators and stars may mean something.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Mark {
    Phrase(String),
    Word(String),
    Begun(String),
    And,
    Or,
    Not,
    Open,
    Close,
}

impl Mark {
    fn is_operand(&self) -> bool {
        matches!(self, Mark::Phrase(_) | Mark::Word(_) | Mark::Begun(_))
    }

    fn is_operator(&self) -> bool {
        matches!(self, Mark::And | Mark::Or | Mark::Not)
    }
}

/// The pieces of a query in the query language; `None` if it is merely a sentence.
pub(super) fn read(text: &str) -> Option<Vec<Mark>> {
    Some(lex(text)).filter(|marks| is_strict(marks))
}

/// Whether the person used the query language and did not merely write a sentence.
fn is_strict(marks: &[Mark]) -> bool {
    let quoted = |mark: &Mark| matches!(mark, Mark::Phrase(_) | Mark::Begun(_));
    let between = |at: usize| {
        marks[at].is_operator()
            && (at > 0 || marks[at] == Mark::Not)
            && marks[at + 1..].iter().any(Mark::is_operand)
            && (marks[at] == Mark::Not || marks[..at].iter().any(Mark::is_operand))
    };
    marks.iter().any(quoted) || (0..marks.len()).any(between)
}

fn lex(text: &str) -> Vec<Mark> {
    let mut marks = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        rest = match c {
            '"' => lex_phrase(after, &mut marks),
            '(' => push(&mut marks, Mark::Open, after),
            ')' => push(&mut marks, Mark::Close, after),
            c if c.is_whitespace() => after,
            _ => lex_word(rest, &mut marks),
        };
    }
    marks
}

fn push<'a>(marks: &mut Vec<Mark>, mark: Mark, rest: &'a str) -> &'a str {
    marks.push(mark);
    rest
}

/// Reads to the closing quote, where a doubled one stands for itself; an unclosed one is a blank.
fn lex_phrase<'a>(after: &'a str, marks: &mut Vec<Mark>) -> &'a str {
    let mut from = 0;
    let close = loop {
        let Some(found) = after[from..].find('"') else { return after };
        let at = from + found;
        if !after[at + 1..].starts_with('"') || !after[at + 2..].contains('"') {
            break at;
        }
        from = at + 2;
    };
    let phrase = &after[..close];
    let rest = &after[close + 1..];
    if split(phrase).is_empty() {
        return rest;
    }
    match rest.strip_prefix('*') {
        Some(rest) => push(marks, Mark::Begun(phrase.to_owned()), rest.trim_start_matches('*')),
        None => push(marks, Mark::Phrase(phrase.to_owned()), rest),
    }
}

fn lex_word<'a>(rest: &'a str, marks: &mut Vec<Mark>) -> &'a str {
    let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '"' | '(' | ')'));
    let (word, rest) = rest.split_at(end.unwrap_or(rest.len()));
    let stem = word.trim_end_matches('*');
    let is_begun = stem.len() < word.len()
        && !stem.contains('*')
        && stem.chars().next_back().is_some_and(is_word_character);
    match word {
        "AND" => marks.push(Mark::And),
        "OR" => marks.push(Mark::Or),
        "NOT" => marks.push(Mark::Not),
        _ if is_begun => marks.push(Mark::Begun(stem.to_owned())),
        _ if split(word).is_empty() => {}
        _ => marks.push(Mark::Word(word.to_owned())),
    }
    rest
}

/// A part of a strict query before the NOTs are put in their place.
enum Part {
    Wanted(Node),
    Unwanted(Node),
}

struct Parser {
    marks: Peekable<IntoIter<Mark>>,
    terms: Vec<Term>,
    notes: Vec<String>,
    depth: usize,
}

/// Reads the pieces as FTS5 would, and drops what has no meaning.
pub(super) fn parse(marks: Vec<Mark>, notes: Vec<String>) -> Query {
    let mut parser =
        Parser { marks: marks.into_iter().peekable(), terms: Vec::new(), notes, depth: 0 };
    let mut parts = Vec::new();
    while parser.marks.peek().is_some() {
        parts.extend(parser.any());
        // What stops the parser here is a parenthesis or an operator too many.
        parser.marks.next();
    }
    let condition = parser.wanted(parts);
    let Parser { mut terms, notes, .. } = parser;
    let mut wanted = Vec::new();
    condition.iter().for_each(|node| node.terms(&mut wanted));
    for (number, term) in terms.iter_mut().enumerate() {
        if !wanted.contains(&number) {
            term.kind = TermKind::Excluded;
        }
    }
    Query { mode: Mode::Strict, terms, condition, notes }
}

impl Parser {
    fn any(&mut self) -> Option<Part> {
        let mut branches = vec![self.all()];
        while self.marks.next_if_eq(&Mark::Or).is_some() {
            branches.push(self.all());
        }
        let mut branches: Vec<Part> = branches.into_iter().flatten().collect();
        if branches.len() < 2 {
            return branches.pop();
        }
        let count = branches.len();
        let wanted: Vec<Node> = branches.into_iter().filter_map(Part::wanted).collect();
        if wanted.len() < count {
            self.note("NOT beside OR was ignored: it would match nearly every message");
        }
        gather(wanted, Node::Any).map(Part::Wanted)
    }

    fn all(&mut self) -> Option<Part> {
        let mut parts = Vec::from_iter(self.without());
        loop {
            let is_joined = self.marks.next_if_eq(&Mark::And).is_some();
            let goes_on = |mark: &Mark| mark.is_operand() || matches!(mark, Mark::Open | Mark::Not);
            if !is_joined && !self.marks.peek().is_some_and(goes_on) {
                break;
            }
            parts.extend(self.without());
        }
        if parts.iter().any(|part| matches!(part, Part::Wanted(_))) {
            return self.wanted(parts).map(Part::Wanted);
        }
        let unwanted = parts.into_iter().filter_map(Part::unwanted).collect();
        gather(unwanted, Node::Any).map(Part::Unwanted)
    }

    fn without(&mut self) -> Option<Part> {
        let mut node = match self.marks.next_if_eq(&Mark::Not) {
            Some(_) => {
                self.skip_operators();
                return self.operand().map(Part::negated);
            }
            None => self.operand()?,
        };
        while self.marks.next_if_eq(&Mark::Not).is_some() {
            self.skip_operators();
            node = match (node, self.operand()) {
                (Part::Wanted(left), Some(Part::Wanted(right))) => {
                    Part::Wanted(Node::Without(Box::new(left), Box::new(right)))
                }
                (node, _) => node,
            };
        }
        Some(node)
    }

    fn skip_operators(&mut self) {
        while self.marks.next_if(Mark::is_operator).is_some() {}
    }

    /// A group in parentheses, or the words and phrases that stand side by side.
    fn operand(&mut self) -> Option<Part> {
        if self.marks.next_if_eq(&Mark::Open).is_some() {
            if self.depth >= DEEPEST_GROUP {
                return self.operand_after_open();
            }
            self.depth += 1;
            let part = self.any();
            self.depth -= 1;
            self.marks.next_if_eq(&Mark::Close);
            return part;
        }
        let mut nodes = Vec::new();
        while let Some(mark) = self.marks.next_if(Mark::is_operand) {
            nodes.extend(self.term(&mark));
        }
        gather(nodes, Node::All).map(Part::Wanted)
    }

    fn operand_after_open(&mut self) -> Option<Part> {
        while self.marks.next_if_eq(&Mark::Open).is_some() {}
        self.operand()
    }

    fn term(&mut self, mark: &Mark) -> Option<Node> {
        let (Mark::Phrase(text) | Mark::Word(text) | Mark::Begun(text)) = mark else { return None };
        let text = text.trim();
        let way = match mark {
            _ if text.chars().any(is_unspaced) => Way::Literal(text.to_owned()),
            Mark::Begun(_) => Way::Begun(split(text)),
            _ => Way::Words(split(text)),
        };
        if let Some(known) = self.terms.iter().position(|term| term.ways[0] == way) {
            return Some(Node::Term(known));
        }
        if self.terms.len() >= MOST_TERMS {
            self.note("the query has too many words; the last ones were ignored");
            return None;
        }
        let star = if matches!(way, Way::Begun(_)) { "*" } else { "" };
        self.terms.push(Term::one_way(&format!("{text}{star}"), way, TermKind::Content));
        Some(Node::Term(self.terms.len() - 1))
    }

    /// One condition for several parts that must all hold.
    fn wanted(&mut self, parts: Vec<Part>) -> Option<Node> {
        let (mut wanted, mut unwanted) = (Vec::new(), Vec::new());
        for part in parts {
            match part {
                Part::Wanted(node) => wanted.push(node),
                Part::Unwanted(node) => unwanted.push(node),
            }
        }
        let Some(wanted) = gather(wanted, Node::All) else {
            let unwanted = gather(unwanted, Node::All)?;
            self.note("NOT needs another word beside it; it was ignored");
            return Some(unwanted);
        };
        match gather(unwanted, Node::Any) {
            Some(unwanted) => Some(Node::Without(Box::new(wanted), Box::new(unwanted))),
            None => Some(wanted),
        }
    }

    fn note(&mut self, text: &str) {
        if !self.notes.iter().any(|note| note == text) {
            self.notes.push(text.to_owned());
        }
    }
}

impl Part {
    fn wanted(self) -> Option<Node> {
        match self {
            Part::Wanted(node) => Some(node),
            Part::Unwanted(_) => None,
        }
    }

    fn unwanted(self) -> Option<Node> {
        match self {
            Part::Wanted(_) => None,
            Part::Unwanted(node) => Some(node),
        }
    }

    fn negated(self) -> Part {
        match self {
            Part::Wanted(node) => Part::Unwanted(node),
            Part::Unwanted(node) => Part::Wanted(node),
        }
    }
}

fn gather(mut nodes: Vec<Node>, join: fn(Vec<Node>) -> Node) -> Option<Node> {
    match nodes.len() {
        0 | 1 => nodes.pop(),
        _ => Some(join(nodes)),
    }
}
