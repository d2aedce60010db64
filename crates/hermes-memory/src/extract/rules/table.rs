//! The patterns that say what exactly a clause states, one table for each kind, in the order in which they
//! are tried.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::super::Kind;
use super::pattern::Pattern;

/// A pattern and what it means when it is found.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) kind: Kind,
    pub(super) pattern: Pattern,
    /// The sentence; without one the whole clause in the third person.
    pub(super) statement: Option<&'static str>,
    /// Subject, predicate and object.
    pub(super) triple: Option<(&'static str, &'static str, &'static str)>,
    /// What must hold besides the words.
    pub(super) needs: Needs,
}

/// What must hold besides the words of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// Nothing.
    Words,
    /// Its `{x}` is a job or a trait.
    Trait,
    /// Its `{x}` is the name of a person.
    Person,
    /// A day is named in it.
    Day,
}

/// Every rule, found by the first word of its pattern.
pub(super) struct Table {
    pub(super) rules: Vec<Rule>,
    by_first: HashMap<&'static str, Vec<usize>>,
    others: Vec<usize>,
}

impl Table {
    /// The rules that can begin with this word, in their order.
    pub(super) fn starting_with(&self, word: &str) -> impl Iterator<Item = usize> {
        let known = self.by_first.get(word).map_or(&[][..], Vec::as_slice);
        known.iter().chain(&self.others).copied()
    }
}

/// The table, read once.
pub(super) fn table() -> &'static Table {
    static TABLE: LazyLock<Table> = LazyLock::new(build);
    &TABLE
}

fn build() -> Table {
    let lists: [(Kind, &[Row]); 7] = [
        (Kind::Account, super::table_self::ACCOUNT),
        (Kind::Identity, super::table_self::IDENTITY),
        (Kind::Relation, super::table_self::RELATION),
        (Kind::Deadline, super::table_work::DEADLINE),
        (Kind::Preference, super::table_work::PREFERENCE),
        (Kind::Tool, super::table_work::TOOL),
        (Kind::Identity, super::table_self::IDENTITY_IN_OTHER_LANGUAGES),
    ];
    let mut rules = Vec::new();
    for (kind, rows) in lists {
        rules.extend(rows.iter().map(|row| rule(kind, row)));
    }
    let mut table = Table { rules: Vec::new(), by_first: HashMap::new(), others: Vec::new() };
    for (number, rule) in rules.iter().enumerate() {
        match rule.pattern.first_words() {
            Some(words) => {
                for word in words {
                    table.by_first.entry(word).or_default().push(number);
                }
            }
            None => table.others.push(number),
        }
    }
    table.rules = rules;
    table
}

/// One row: the pattern, the sentence (empty: the clause), `subject|predicate|object` (or empty), and
/// what is needed.
pub(super) type Row = (&'static str, &'static str, &'static str, Needs);

fn rule(kind: Kind, row: &Row) -> Rule {
    let (pattern, statement, triple, needs) = *row;
    let mut parts = triple.splitn(3, '|');
    let triple = match (parts.next(), parts.next(), parts.next()) {
        (Some(subject), Some(predicate), Some(object)) => Some((subject, predicate, object)),
        _ => None,
    };
    Rule {
        kind,
        pattern: Pattern::parse(pattern),
        statement: (!statement.is_empty()).then_some(statement),
        triple,
        needs,
    }
}
