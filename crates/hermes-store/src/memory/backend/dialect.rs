//! Statements as PostgreSQL reads them, from the one text that SQLite reads as it is.
//!
//! Every table is named with its schema and narrowed to one profile, beside what the server's own rules
//! let be seen: `from fact f` becomes `from (select * from hermes.fact where profile = $3) f`, and what is
//! added, changed or deleted says its profile too.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, RwLock};

use super::lexer::{Token, tokens};

/// A statement for PostgreSQL.
#[derive(Debug)]
pub(crate) struct Translated {
    /// Its text.
    pub(super) text: String,
    /// How many values the caller gives.
    pub(super) count: usize,
    /// The names of the values, with a colon, where they have names.
    pub(super) names: Vec<String>,
    /// Whether the profile is given after the caller's values.
    pub(super) has_profile: bool,
    /// Of which of the caller's values it is asked whether they are there; the answers come after the profile.
    /// PostgreSQL cannot tell the type of what is nothing from `$2 is null` alone.
    pub(super) asked_for: Vec<usize>,
    /// Whether it gives back the number of the row that was added.
    pub(super) gives_number: bool,
    /// Whether it only reads.
    pub(super) only_reads: bool,
}

/// The statement in PostgreSQL's words; each text is translated once.
pub(super) fn translated(sql: &str) -> Arc<Translated> {
    static KNOWN: LazyLock<RwLock<HashMap<String, Arc<Translated>>>> =
        LazyLock::new(RwLock::default);
    if let Ok(known) = KNOWN.read()
        && let Some(found) = known.get(sql)
    {
        return Arc::clone(found);
    }
    let made = Arc::new(translate(sql));
    if let Ok(mut known) = KNOWN.write() {
        known.insert(sql.to_owned(), Arc::clone(&made));
    }
    made
}

/// Tables whose rows get a number when they are added.
const NUMBERED: &str = "
    label episode fact source entity procedure event task embed_model job audit proposal";

/// Every table of a memory.
const TABLES: &str = "
    meta user identity label session episode message speaker origin fact source revision entity
    entity_alias mention procedure event task chunk chunk_words embed_model vector job schedule
    audit tombstone idempotency proposal receipt counter taken seen_identity grave step covered
    summary_session conflict file_entry number import_moved import_later import_session_end
    import_seen_receipt import_waiting_name";

fn is_table(name: &str) -> bool {
    is_in(TABLES, name)
}

fn is_in(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

/// Words that end the name of a table, so that they are no other name for it.
const AFTER_TABLE: &str = "
    where join on order group limit left inner cross union set select values returning as from
    using offset having for natural";

pub(super) fn translate(sql: &str) -> Translated {
    let mut reader = Reader { tokens: tokens(sql), at: 0, names: Vec::new(), count: 0 };
    reader.join_schemas();
    reader.number_values();
    let first = reader.words_from(0).next().unwrap_or_default();
    let only_reads = matches!(first.as_str(), "select" | "with");
    let mut text = String::with_capacity(sql.len() * 2);
    let profile = format!("${}", reader.count + 1);
    let ignores = reader.take_or_ignore();
    let target = reader.target();
    let has_returning = reader.has_word("returning");
    let mut writer = Writer {
        profile: &profile,
        first_answer: reader.count + 2,
        asked_for: Vec::new(),
        target: target.clone(),
        state: State::default(),
    };
    writer.write(&mut reader, &mut text);
    writer.finish(&mut text);
    let asked_for = writer.asked_for;
    let is_insert = first == "insert";
    if ignores {
        text.push_str(" on conflict do nothing");
    }
    let gives_number =
        is_insert && !has_returning && target.is_some_and(|table| is_in(NUMBERED, &table));
    if gives_number {
        text.push_str(" returning id");
    }
    let has_profile = text.contains(&profile);
    let (count, names) = (reader.count, reader.names);
    Translated { text, count, names, has_profile, asked_for, gives_number, only_reads }
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
    names: Vec<String>,
    count: usize,
}

impl Reader {
    /// `temp.moved` and `main.receipt` as one word each, and the table of numbers by its name here.
    fn join_schemas(&mut self) {
        let mut joined: Vec<Token> = Vec::with_capacity(self.tokens.len());
        let mut rest = std::mem::take(&mut self.tokens).into_iter().peekable();
        while let Some(token) = rest.next() {
            let before = match &token {
                Token::Word(word) if word == "temp" => "import_",
                Token::Word(word) if word == "main" => "",
                Token::Word(word) if word == "sqlite_sequence" => {
                    joined.push(Token::Word("number".to_owned()));
                    continue;
                }
                _ => {
                    joined.push(token);
                    continue;
                }
            };
            if rest.peek() == Some(&Token::Mark('.')) {
                rest.next();
                if let Some(Token::Word(table)) = rest.next() {
                    joined.push(Token::Word(format!("{before}{table}")));
                }
            } else {
                joined.push(token);
            }
        }
        self.tokens = joined;
    }

    /// Values as PostgreSQL counts them.
    fn number_values(&mut self) {
        for token in &mut self.tokens {
            let Token::Value(name) = token else { continue };
            let number = match name.strip_prefix('?').and_then(|number| number.parse().ok()) {
                Some(number) => number,
                None => match self.names.iter().position(|known| known == name) {
                    Some(place) => place + 1,
                    None => {
                        self.names.push(name.clone());
                        self.names.len()
                    }
                },
            };
            self.count = self.count.max(number);
            *token = Token::Value(format!("${number}"));
        }
    }

    fn words_from(&self, at: usize) -> impl Iterator<Item = String> + '_ {
        self.tokens[at.min(self.tokens.len())..].iter().filter_map(|token| match token {
            Token::Word(word) => Some(word.clone()),
            _ => None,
        })
    }

    fn has_word(&self, wanted: &str) -> bool {
        self.words_from(0).any(|word| word == wanted)
    }

    /// Takes `or ignore` out; whether it was there.
    fn take_or_ignore(&mut self) -> bool {
        let words: Vec<String> = self.words_from(0).take(3).collect();
        if words.get(1).map(String::as_str) != Some("or")
            || words.get(2).map(String::as_str) != Some("ignore")
        {
            return false;
        }
        for gone in ["or", "ignore"] {
            let place = self.tokens.iter().position(|token| *token == Token::Word(gone.to_owned()));
            if let Some(place) = place {
                self.tokens.remove(place);
            }
        }
        true
    }

    /// The table that is added to, changed or deleted from.
    fn target(&self) -> Option<String> {
        let words: Vec<String> = self.words_from(0).take(3).collect();
        match (words.first().map(String::as_str), words.get(1).map(String::as_str)) {
            (Some("insert" | "delete"), _) => words.get(2).cloned(),
            (Some("update"), Some(table)) => Some(table.to_owned()),
            _ => None,
        }
        .filter(|table| is_table(table))
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).cloned();
        self.at += 1;
        token
    }

    /// The next token that is no space, and its place.
    fn peek(&self) -> Option<(usize, &Token)> {
        let rest = self.tokens.get(self.at..)?;
        let place = rest.iter().position(|token| !matches!(token, Token::Space(_)))?;
        Some((self.at + place, &rest[place]))
    }

    fn peek_word(&self) -> Option<(usize, String)> {
        match self.peek() {
            Some((place, Token::Word(word))) => Some((place, word.clone())),
            _ => None,
        }
    }

    /// Whether the brackets that open next hold more than one thing.
    fn holds_several(&self) -> bool {
        let mut depth = 0;
        for token in &self.tokens[self.at.min(self.tokens.len())..] {
            match token {
                Token::Mark('(') => depth += 1,
                Token::Mark(')') if depth == 1 => return false,
                Token::Mark(')') => depth -= 1,
                Token::Mark(',') if depth == 1 => return true,
                _ => {}
            }
        }
        false
    }
}

#[derive(Default)]
struct State {
    depth: usize,
    last_word: String,
    has_columns: bool,
    has_values: bool,
    has_where: bool,
    is_where_closed: bool,
    other_name: Option<String>,
}

struct Writer<'p> {
    profile: &'p str,
    /// The place of the first answer to whether a value is there.
    first_answer: usize,
    asked_for: Vec<usize>,
    target: Option<String>,
    state: State,
}

impl Writer<'_> {
    fn write(&mut self, reader: &mut Reader, out: &mut String) {
        let kind = reader.words_from(0).next().unwrap_or_default();
        while let Some(token) = reader.next() {
            match token {
                Token::Space(space) => out.push_str(&space),
                Token::Text(text) => out.push_str(&text),
                Token::Value(value) => self.value(&value, reader, out),
                Token::Number(number) => out.push_str(&decimal(&number)),
                Token::Mark(mark) => self.mark(mark, &kind, out),
                Token::Word(word) => self.word(&word, &kind, reader, out),
            }
        }
    }

    fn mark(&mut self, mark: char, kind: &str, out: &mut String) {
        match mark {
            '(' => self.state.depth += 1,
            ')' => self.state.depth = self.state.depth.saturating_sub(1),
            _ => {}
        }
        out.push(mark);
        if mark != '(' || self.state.depth != 1 || self.target.is_none() {
            return;
        }
        if kind == "insert" && !self.state.has_columns {
            self.state.has_columns = true;
            out.push_str("profile, ");
        } else if self.state.last_word == "values" && !self.state.has_values {
            self.state.has_values = true;
            out.push_str(self.profile);
            out.push_str(", ");
        } else if self.state.last_word == "conflict" {
            out.push_str("profile, ");
        }
    }

    fn value(&mut self, value: &str, reader: &mut Reader, out: &mut String) {
        let rest: Vec<String> = reader.words_from(reader.at).take(3).collect();
        let is_asked = reader.peek_word().is_some_and(|(_, word)| word == "is");
        let sense = match rest.get(1).map(String::as_str) {
            Some("null") => Some((2, "")),
            Some("not") if rest.get(2).map(String::as_str) == Some("null") => Some((3, "not ")),
            _ => None,
        };
        if let (true, Some((words, sense))) = (is_asked, sense) {
            let number: usize = value.trim_start_matches('$').parse().unwrap_or(0);
            let place = match self.asked_for.iter().position(|known| *known == number) {
                Some(place) => place,
                None => {
                    self.asked_for.push(number);
                    self.asked_for.len() - 1
                }
            };
            out.push_str(&format!("{sense}${}", self.first_answer + place));
            for _ in 0..words {
                if let Some((place, _)) = reader.peek_word() {
                    reader.at = place + 1;
                }
            }
            return;
        }
        let is_next = reader.peek_word().is_some_and(|(_, word)| word == "collate");
        if !is_next || rest.get(1).map(String::as_str) != Some("nocase") {
            out.push_str(value);
            return;
        }
        // `subject = ?2 collate nocase`: the word before the sign is compared without regard to case.
        let column = std::mem::take(&mut self.state.last_word);
        if let Some(place) = out.rfind(&column) {
            out.truncate(place);
        }
        out.push_str(&format!("lower({column}) = lower({value} collate \"C\")"));
        for _ in 0..2 {
            if let Some((place, _)) = reader.peek_word() {
                reader.at = place + 1;
            }
        }
    }

    fn word(&mut self, word: &str, kind: &str, reader: &mut Reader, out: &mut String) {
        let before = std::mem::replace(&mut self.state.last_word, word.to_owned());
        match word {
            "from" | "join" if kind == "delete" && self.state.depth == 0 && before == "delete" => {
                out.push_str(word);
                self.take_target(reader, out);
            }
            "from" | "join" => {
                out.push_str(word);
                self.narrow_table(reader, out);
            }
            "into" => {
                out.push_str(word);
                self.take_target(reader, out);
            }
            "update" if before.is_empty() => {
                out.push_str(word);
                self.take_target(reader, out);
            }
            "where" if self.state.depth == 0 && self.narrows(kind) && !self.state.has_where => {
                self.state.has_where = true;
                out.push_str(&format!("where {} and (", self.own_profile()));
            }
            "returning" if self.state.depth == 0 => {
                self.finish_where(kind, out);
                out.push_str(word);
            }
            "select" if kind == "insert" && self.state.depth == 0 && !self.state.has_values => {
                self.state.has_values = true;
                out.push_str(&format!("select {},", self.profile));
            }
            "max" | "min"
                if reader.peek().is_some_and(|(_, t)| *t == Token::Mark('('))
                    && reader.holds_several() =>
            {
                out.push_str(if word == "max" { "greatest" } else { "least" });
            }
            "char" => out.push_str("chr"),
            _ => out.push_str(word),
        }
    }

    fn narrows(&self, kind: &str) -> bool {
        self.target.is_some() && matches!(kind, "update" | "delete")
    }

    fn own_profile(&self) -> String {
        let table = self.state.other_name.as_ref().or(self.target.as_ref());
        format!("{}.profile = {}", table.map_or("", |name| quoted(name)), self.profile)
    }

    /// Writes the name of the table that is changed, with its schema.
    fn take_target(&mut self, reader: &mut Reader, out: &mut String) {
        let Some((place, table)) = reader.peek_word().filter(|(_, word)| is_table(word)) else {
            return;
        };
        reader.at = place + 1;
        out.push_str(" hermes.");
        out.push_str(quoted(&table));
        if let Some((place, name)) = reader.peek_word()
            && !is_in(AFTER_TABLE, &name)
        {
            reader.at = place + 1;
            out.push(' ');
            out.push_str(&name);
            self.state.other_name = Some(name);
        }
        self.state.last_word = table;
    }

    /// Writes a table that is read as the rows of it that belong to the profile.
    fn narrow_table(&mut self, reader: &mut Reader, out: &mut String) {
        let Some((place, table)) = reader.peek_word().filter(|(_, word)| is_table(word)) else {
            return;
        };
        reader.at = place + 1;
        let (table_name, profile) = (quoted(&table), self.profile);
        out.push_str(&format!(" (select * from hermes.{table_name} where profile = {profile}) "));
        match reader.peek_word() {
            Some((place, name)) if !is_in(AFTER_TABLE, &name) => {
                reader.at = place + 1;
                out.push_str(&name);
            }
            Some((_, name)) if name == "as" => {}
            _ => out.push_str(table_name),
        }
        self.state.last_word = table;
    }

    fn finish_where(&mut self, kind: &str, out: &mut String) {
        if !self.narrows(kind) || std::mem::replace(&mut self.state.is_where_closed, true) {
            return;
        }
        if self.state.has_where {
            out.push_str(") ");
        } else {
            out.push_str(&format!(" where {} ", self.own_profile()));
        }
    }

    fn finish(&mut self, out: &mut String) {
        let kind = out.split_whitespace().next().unwrap_or_default().to_owned();
        self.finish_where(&kind, out);
    }
}

/// `user` is a word of PostgreSQL's own.
fn quoted(name: &str) -> &str {
    if name == "user" { "\"user\"" } else { name }
}

/// PostgreSQL reads hexadecimal numbers only from version 16 on.
fn decimal(number: &str) -> String {
    let hexadecimal =
        number.strip_prefix("0x").and_then(|digits| i64::from_str_radix(digits, 16).ok());
    hexadecimal.map_or_else(|| number.to_owned(), |number| number.to_string())
}
