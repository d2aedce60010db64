//! TOML as text: a table of ours at the end, or inside what is there; every other byte as it was.

use serde_json::{Map, Value};
use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, Value as Toml};

use super::{Refusal, Result, not_alone, tree};

pub(super) fn read(text: &str) -> Result<Value> {
    Ok(of_table(parse(text)?.as_table()))
}

/// Sets the table at a path: as a section at the end of the file where that is possible.
pub(super) fn put(text: &str, path: &[String], value: &Value) -> Result<String> {
    let mut document = parse(text)?;
    let exists = find(document.as_table(), path).is_some();
    if let Some(keys) = value.as_object().filter(|_| !exists) {
        let appended = appended(text, path, keys);
        // Refused where a section above is written in one line.
        if parse(&appended).is_ok() {
            return Ok(appended);
        }
    }
    let ending = ending(&document, text, path)?;
    let Some((last, above)) = path.split_last() else { return Ok(text.to_owned()) };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for part in above {
        let item = table.entry(part).or_insert_with(|| {
            let mut made = Table::new();
            made.set_implicit(true);
            Item::Table(made)
        });
        table = item.as_table_like_mut().ok_or_else(|| not_alone(path, "it is not a section"))?;
    }
    table.insert(last, Item::Value(to_toml(value)));
    Ok(document.to_string().replace('\n', ending))
}

/// Takes out the table at a path, and the sections above that hold nothing else.
pub(super) fn take(text: &str, path: &[String]) -> Result<String> {
    let mut document = parse(text)?;
    let mut expected = of_table(document.as_table());
    tree::take(&mut expected, path);
    // Comments above a section belong to whoever wrote them: by lines they stay, by the library they go.
    if let Some(cut) = without_section(text, path)
        && read(&cut).is_ok_and(|left| tree::pruned(left) == tree::pruned(expected))
    {
        return Ok(cut);
    }
    let ending = ending(&document, text, path)?;
    for length in (1..=path.len()).rev() {
        let (last, above) = (&path[length - 1], &path[..length - 1]);
        let mut table: &mut dyn TableLike = document.as_table_mut();
        for part in above {
            match table.get_mut(part).and_then(Item::as_table_like_mut) {
                Some(inner) => table = inner,
                None => return Ok(text.to_owned()),
            }
        }
        let holds_others = length < path.len()
            && table.get(last).and_then(Item::as_table_like).is_none_or(|inner| !inner.is_empty());
        if holds_others {
            break;
        }
        table.remove(last);
    }
    Ok(document.to_string().replace('\n', ending))
}

/// The text without the lines of one section; none if it has no head of its own.
fn without_section(text: &str, path: &[String]) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let is_head = |line: &str| {
        let begins = line.trim_start().starts_with('[');
        begins && parse(line).is_ok_and(|alone| find(alone.as_table(), path).is_some())
    };
    let mut start = lines.iter().position(|line| is_head(line))?;
    let below = lines[start + 1..].iter().position(|line| line.trim_start().starts_with('['));
    let mut end = below.map_or(lines.len(), |below| start + 1 + below);
    let is_loose = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    while end > start + 1 && is_loose(lines[end - 1]) {
        end -= 1;
    }
    if start > 0 && lines[start - 1].trim().is_empty() {
        start -= 1;
    }
    Some([lines[..start].concat(), lines[end..].concat()].concat())
}

/// How the lines end; refused where the document as it is written out would not be the text.
fn ending(document: &DocumentMut, text: &str, path: &[String]) -> Result<&'static str> {
    let written = document.to_string();
    let mut endings = ["\n", "\r\n"].into_iter();
    let fits = |ending: &&str| written.replace('\n', ending) == text;
    endings
        .find(fits)
        .ok_or_else(|| not_alone(path, "the formatting of the file would not stay the same"))
}

fn parse(text: &str) -> Result<DocumentMut> {
    text.parse::<DocumentMut>().map_err(|error| {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count() + 1;
        let why = error.message().lines().next().unwrap_or("it is not TOML").to_lowercase();
        Refusal::Syntax { line, why }
    })
}

fn appended(text: &str, path: &[String], keys: &Map<String, Value>) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut made = text.to_owned();
    if !text.is_empty() {
        made.push_str(if text.ends_with('\n') { newline } else { "" });
        if !text.ends_with('\n') {
            made.push_str(&newline.repeat(2));
        }
    }
    let head: Vec<String> = path.iter().map(|part| key(part)).collect();
    made.push_str(&format!("[{}]{newline}", head.join(".")));
    for (name, value) in keys {
        made.push_str(&format!("{} = {}{newline}", key(name), to_toml(value)));
    }
    made
}

fn key(name: &str) -> String {
    toml_edit::Key::new(name).to_string()
}

fn find<'a>(table: &'a Table, path: &[String]) -> Option<&'a Item> {
    let (first, rest) = path.split_first()?;
    let mut item = table.get(first)?;
    for part in rest {
        item = item.as_table_like()?.get(part)?;
    }
    Some(item)
}

fn to_toml(value: &Value) -> Toml {
    match value {
        Value::Bool(truth) => Toml::from(*truth),
        Value::Number(number) => match number.as_i64() {
            Some(whole) => Toml::from(whole),
            None => Toml::from(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => Toml::from(text.as_str()),
        Value::Array(items) => items.iter().map(to_toml).collect(),
        Value::Object(keys) => {
            let pairs = keys.iter().map(|(key, value)| (key.clone(), to_toml(value)));
            Toml::InlineTable(pairs.collect::<InlineTable>())
        }
        Value::Null => Toml::from(""),
    }
}

fn of_table(table: &dyn TableLike) -> Value {
    let pairs = table.iter().map(|(key, item)| (key.to_owned(), of_item(item)));
    Value::Object(pairs.collect())
}

fn of_item(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => of_value(value),
        Item::Table(table) => of_table(table),
        Item::ArrayOfTables(tables) => tables.iter().map(|table| of_table(table)).collect(),
    }
}

fn of_value(value: &Toml) -> Value {
    match value {
        Toml::String(text) => Value::from(text.value().as_str()),
        Toml::Integer(number) => Value::from(*number.value()),
        Toml::Float(number) => Value::from(number.value().to_string()),
        Toml::Boolean(truth) => Value::from(*truth.value()),
        Toml::Datetime(moment) => Value::from(moment.value().to_string()),
        Toml::Array(items) => items.iter().map(of_value).collect(),
        Toml::InlineTable(table) => of_table(table),
    }
}
