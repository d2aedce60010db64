//! A config file as a tree that knows its lines, whether it was YAML or JSON with comments.

use std::fmt;

use jsonc_parser::{ParseOptions, ast};
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};
use serde_saphyr::MessageFormatter;
use serde_saphyr::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};

/// How a config file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Yaml,
    Json,
}

/// What happens to a key that stands twice in one section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Twice {
    Refuse,
    LastWins,
}

/// One value of the file, with its line.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) line: usize,
    pub(crate) content: Content,
}

/// What a value is.
#[derive(Debug, Clone)]
pub(crate) enum Content {
    Scalar(Value),
    List(Vec<Node>),
    Section(Vec<Entry>),
}

/// One key of a section, as spelled in the file.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) value: Node,
}

/// Why a text is not YAML or JSON, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) why: String,
}

const BYTE_ORDER_MARK: char = '\u{feff}';

/// What JSON may look like: comments and a comma too many, nothing else beyond the standard.
pub(crate) const JSON: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// JSON when the first character that is not blank is `{`, else YAML.
pub(crate) fn format_of(text: &str) -> Format {
    let begins = text.trim_start_matches(BYTE_ORDER_MARK).trim_start().starts_with('{');
    if begins { Format::Json } else { Format::Yaml }
}

/// Splits off the byte order mark that some editors put in front.
pub(crate) fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 })
}

/// Reads the whole text; an empty file is an empty section.
pub(crate) fn parse(text: &str, twice: Twice) -> Result<Node, Fault> {
    let (_, text) = split_mark(text);
    let root = match format_of(text) {
        Format::Json => parse_json(text, twice)?,
        Format::Yaml => parse_yaml(text, twice)?,
    };
    as_section(root)
}

/// Nothing at all is an empty section.
fn as_section(root: Node) -> Result<Node, Fault> {
    match root.content {
        Content::Section(_) => Ok(root),
        Content::Scalar(Value::Null) => Ok(Node { line: 1, content: Content::Section(Vec::new()) }),
        _ => Err(Fault { line: root.line, column: 1, why: "expected `key: value` lines".into() }),
    }
}

/// Reads a text that must be YAML, and that a stranger may have written: its depth is bounded.
pub(crate) fn parse_foreign_yaml(text: &str) -> Result<Node, Fault> {
    const DEEPEST: usize = 32;
    let options = serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::Error,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        strict_booleans: true,
        with_snippet: false,
        budget: serde_saphyr::budget! { max_depth: DEEPEST },
    };
    as_section(
        serde_saphyr::from_str_with_options(text, options).map_err(|error| fault_of(&error))?,
    )
}

impl Node {
    /// Every value in the tree with the names that lead to it; empty sections and lists count as values.
    pub(crate) fn leaves(&self) -> Vec<(Vec<String>, Value)> {
        let mut leaves = Vec::new();
        collect_leaves(self, &mut Vec::new(), &mut leaves);
        leaves
    }

    pub(crate) fn to_value(&self) -> Value {
        match &self.content {
            Content::Scalar(value) => value.clone(),
            Content::List(items) => items.iter().map(Node::to_value).collect(),
            Content::Section(entries) => {
                entries.iter().map(|entry| (entry.name.clone(), entry.value.to_value())).collect()
            }
        }
    }
}

fn collect_leaves(node: &Node, path: &mut Vec<String>, leaves: &mut Vec<(Vec<String>, Value)>) {
    match &node.content {
        Content::Section(entries) if !entries.is_empty() => {
            for entry in entries {
                path.push(entry.name.clone());
                collect_leaves(&entry.value, path, leaves);
                path.pop();
            }
        }
        _ => leaves.push((path.clone(), node.to_value())),
    }
}

fn parse_yaml(text: &str, twice: Twice) -> Result<Node, Fault> {
    // No snippets: an error message must not quote a line that may hold a password.
    let options = serde_saphyr::options! {
        duplicate_keys: match twice {
            Twice::Refuse => DuplicateKeyPolicy::Error,
            Twice::LastWins => DuplicateKeyPolicy::LastWins,
        },
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        strict_booleans: true,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| fault_of(&error))
}

fn fault_of(error: &serde_saphyr::Error) -> Fault {
    let location = error.location();
    Fault {
        line: location.map_or(1, |location| location.line() as usize).max(1),
        column: location.map_or(1, |location| location.column() as usize).max(1),
        why: first_line(&plain_message(error)),
    }
}

/// The parser's own words, without the line and column that stand in front already.
fn plain_message(error: &serde_saphyr::Error) -> String {
    let words = serde_saphyr::DefaultMessageFormatter.format_message(error.without_snippet());
    words.escape_debug().to_string().replace("\\'", "'").replace("\\\"", "\"")
}

fn first_line(message: &str) -> String {
    message.lines().next().unwrap_or("not valid YAML").trim().trim_end_matches('.').to_owned()
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node, D::Error> {
        let spanned = serde_saphyr::Spanned::<Content>::deserialize(deserializer)?;
        Ok(Node { line: spanned.referenced.line() as usize, content: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Content, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Content, E> {
        Ok(Content::Scalar(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Content, E> {
        Ok(Content::Scalar(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Content, D::Error> {
        Content::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Content, E> {
        Ok(Content::Scalar(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Content, E> {
        Ok(Content::Scalar(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Content, E> {
        Ok(Content::Scalar(value.into()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Content, E> {
        Ok(Content::Scalar(value.to_string().into()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Content, E> {
        Ok(Content::Scalar(value.to_string().into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Content, E> {
        let number = Number::from_f64(value).map(Value::Number);
        Ok(Content::Scalar(number.unwrap_or_else(|| value.to_string().into())))
    }

    fn visit_str<E>(self, value: &str) -> Result<Content, E> {
        Ok(Content::Scalar(value.into()))
    }

    fn visit_bytes<E>(self, value: &[u8]) -> Result<Content, E> {
        Ok(Content::Scalar(String::from_utf8_lossy(value).into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Content, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Content::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Content, A::Error> {
        let mut entries = Vec::new();
        while let Some(name) = access.next_key::<Node>()? {
            let mut value: Node = access.next_value()?;
            // An empty value has no place of its own; a value may also begin on a later line.
            value.line = name.line;
            entries.push(Entry { name: name_of(&name), value });
        }
        Ok(Content::Section(entries))
    }
}

/// A key may be a number or `true` to YAML; here it is always a name.
fn name_of(node: &Node) -> String {
    match node.to_value() {
        Value::String(name) => name,
        other => other.to_string(),
    }
}

fn parse_json(text: &str, twice: Twice) -> Result<Node, Fault> {
    let parsed =
        jsonc_parser::parse_to_ast(text, &Default::default(), &JSON).map_err(|error| Fault {
            line: error.line_display(),
            column: error.column_display(),
            why: lower_first(&error.kind().to_string()),
        })?;
    let lines = Lines::of(text);
    match parsed.value {
        Some(value) => from_json(&value, &lines, twice),
        None => Ok(Node { line: 1, content: Content::Scalar(Value::Null) }),
    }
}

fn from_json(value: &ast::Value<'_>, lines: &Lines, twice: Twice) -> Result<Node, Fault> {
    use jsonc_parser::common::Ranged;
    let content = match value {
        ast::Value::NullKeyword(_) => Content::Scalar(Value::Null),
        ast::Value::BooleanLit(literal) => Content::Scalar(literal.value.into()),
        ast::Value::StringLit(literal) => Content::Scalar(literal.value.as_ref().into()),
        ast::Value::NumberLit(literal) => {
            let number = literal.value.parse::<Number>().map(Value::Number);
            Content::Scalar(number.unwrap_or_else(|_| literal.value.into()))
        }
        ast::Value::Array(array) => Content::List(
            array
                .elements
                .iter()
                .map(|item| from_json(item, lines, twice))
                .collect::<Result<_, _>>()?,
        ),
        ast::Value::Object(object) => Content::Section(json_entries(object, lines, twice)?),
    };
    Ok(Node { line: lines.line_of(value.start()), content })
}

fn json_entries(
    object: &ast::Object<'_>,
    lines: &Lines,
    twice: Twice,
) -> Result<Vec<Entry>, Fault> {
    let mut entries: Vec<Entry> = Vec::with_capacity(object.properties.len());
    for property in &object.properties {
        let name = property.name.as_str().to_owned();
        let line = lines.line_of(property.range.start);
        if let Some(position) = entries.iter().position(|entry| entry.name == name) {
            if twice == Twice::Refuse {
                return Err(Fault { line, column: 1, why: format!("{name:?} is given twice") });
            }
            entries.remove(position);
        }
        let value = from_json(&property.value, lines, twice)?;
        entries.push(Entry { name, value: Node { line, ..value } });
    }
    Ok(entries)
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_lowercase().to_string()).unwrap_or_default();
    format!("{first}{}", letters.as_str())
}

/// Where each line begins, to turn a byte offset into a line number.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Lines {
        Lines(text.match_indices('\n').map(|(offset, _)| offset).collect())
    }

    fn line_of(&self, offset: usize) -> usize {
        self.0.partition_point(|newline| *newline < offset) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves(text: &str) -> Vec<(String, Value)> {
        let leaves = parse(text, Twice::LastWins).unwrap().leaves();
        leaves.into_iter().map(|(path, value)| (path.join("."), value)).collect()
    }

    #[test]
    fn yaml_and_json_give_the_same_tree() {
        let yaml = "# c\nmemory: # x\n  path: '~/m.db'\n  n: 5\n  f: 0.65\n  on: true\nlist: [1, a]\nnone:\n";
        let json = "{ // c\n\"memory\": {\"path\": \"~/m.db\", \"n\": 5, /* x */ \"f\": 0.65, \"on\": true},\n\
                    \"list\": [1, \"a\"], \"none\": null,\n}";
        assert_eq!(leaves(yaml), leaves(json));
        assert_eq!(leaves(yaml).len(), 6);
    }

    #[test]
    fn an_empty_file_is_an_empty_section() {
        for text in
            ["", "\n", "# only a comment\n", "---\n", "\u{feff}", "null\n", "{}", "{ /* c */ }"]
        {
            assert!(
                matches!(parse(text, Twice::Refuse).map(|node| node.content),
                Ok(Content::Section(entries)) if entries.is_empty()),
                "{text:?}"
            );
        }
    }

    #[test]
    fn lines_are_those_of_the_keys() {
        for text in [
            "a: 1\nmemory:\n  x:\n    y: |\n      text\n",
            "{\n\"memory\": {\n\"x\": {\n\"y\": 1}}}",
        ] {
            let root = parse(text, Twice::Refuse).unwrap();
            let mut lines = Vec::new();
            let mut node = &root;
            while let Content::Section(entries) = &node.content {
                node = &entries.last().unwrap().value;
                lines.push(node.line);
            }
            assert_eq!(lines, [2, 3, 4], "{text}");
        }
    }

    #[test]
    fn what_is_not_yaml_or_json_is_told_with_its_place() {
        for (text, line) in [
            ("memory:\n  a: 1\n b: 2\n", 3),
            ("a: [1, 2\n", 2),
            ("a: 1\na: 2\n", 2),
            ("{\n  \"a\": 1,,\n}", 2),
            ("{\n\"a\": 1,\n\"a\": 2\n}", 3),
            ("{ \"a\": 1", 1),
            ("{ a: 1 }", 1),
            ("- a\n- b\n", 1),
            ("just text\n", 1),
            ("a: 1\n---\nb: 2\n", 2),
            ("a: *nobody\n", 1),
        ] {
            let fault = parse(text, Twice::Refuse).unwrap_err();
            assert!(!fault.why.is_empty() && !fault.why.contains('\n'), "{text:?}: {fault:?}");
            assert!(fault.line.abs_diff(line) <= 1, "{text:?}: {fault:?}");
        }
    }

    #[test]
    fn strange_but_valid_yaml_is_read() {
        let text = "5: five\ntrue: t\ninf: .inf\nbig: 99999999999999999999999\n\
                    base: &b {x: 1}\nmore:\n  <<: *b\n  y: 2\ntag: !thing z\nalias: *b\nwhen: 2026-01-02\n";
        let leaves = leaves(text);
        let get = |path: &str| leaves.iter().find(|(at, _)| at == path).map(|(_, value)| value);
        assert_eq!(get("5"), Some(&"five".into()));
        assert_eq!(get("more.x"), Some(&1.into()));
        assert_eq!(get("alias.x"), Some(&1.into()));
    }

    #[test]
    fn bombs_are_refused() {
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..12 {
            let alias = format!("*a{}", level - 1);
            bomb += &format!("a{level}: &a{level} [{}]\n", [alias.as_str(); 10].join(", "));
        }
        assert!(parse(&bomb, Twice::LastWins).is_err());
        for open in ["[", "{\"a\":"] {
            let deep = format!("{{\"a\": {}", open.repeat(100_000));
            assert!(parse(&deep, Twice::LastWins).is_err());
            assert!(parse(&format!("a: {}", open.repeat(100_000)), Twice::LastWins).is_err());
        }
    }
}
