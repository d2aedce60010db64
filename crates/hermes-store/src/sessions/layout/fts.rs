//! How the full-text tables of one state.db are laid out, and who keeps them.

use rusqlite::Connection;

use super::{FullText, SchemaObject, quoted};

const FTS: &str = "messages_fts";

/// What we index of a message where the full-text table has one column and no trigger fills it.
const WHOLE_TEXT: &str =
    "coalesce(content, '') || ' ' || coalesce(tool_name, '') || ' ' || coalesce(tool_calls, '')";

/// The table `messages_fts` as found.
#[derive(Debug)]
pub(super) struct FtsTable {
    pub(super) kind: FullText,
    pub(super) columns: Vec<String>,
    content: Option<String>,
    content_rowid: String,
    message_columns: Vec<String>,
    insert_trigger: bool,
    delete_trigger: bool,
}

/// Finds `messages_fts`; `None` if there is no such table.
pub(super) fn detect(
    connection: &Connection,
    objects: &[SchemaObject],
) -> rusqlite::Result<Option<FtsTable>> {
    let Some(table) = objects.iter().find(|o| o.kind == "table" && o.name == FTS) else {
        return Ok(None);
    };
    let content = option(&table.sql, "content");
    let is_view = |name: &str| objects.iter().any(|o| o.kind == "view" && o.name == name);
    let mut kind = match content.as_deref() {
        None => FullText::Inline,
        Some("") => FullText::Contentless,
        Some(name) if is_view(name) => FullText::OverView,
        Some(_) => FullText::OverTable,
    };
    let mut columns = Vec::new();
    match fault(connection, table)? {
        Some(why) => kind = FullText::Unusable { why },
        None => columns = names(connection, FTS)?,
    }
    let has_trigger = |event: &str| {
        objects.iter().filter(|o| fires_for(o, FTS)).any(|o| event_of(&o.sql) == event)
    };
    Ok(Some(FtsTable {
        kind,
        columns,
        content: content.filter(|name| !name.is_empty()),
        content_rowid: option(&table.sql, "content_rowid").unwrap_or_else(|| "rowid".to_owned()),
        message_columns: names(connection, "messages")?,
        insert_trigger: has_trigger("insert"),
        delete_trigger: has_trigger("delete"),
    }))
}

/// Why a row cannot be added to `messages`: one of its triggers feeds a table we cannot use.
pub(super) fn unwritable(
    connection: &Connection,
    objects: &[SchemaObject],
) -> rusqlite::Result<Option<String>> {
    for table in fts_tables(objects) {
        if !objects.iter().any(|o| fires_for(o, &table.name)) {
            continue;
        }
        if let Some(why) = fault(connection, table)? {
            return Ok(Some(format!("its index {} cannot be used here ({why})", table.name)));
        }
    }
    Ok(None)
}

/// Whether a trigram index is kept of the messages: older versions of SQLite (seen in 3.40) end a
/// text at a NUL there, ours (3.54) reads on, and each finds the rows of the other damaged.
pub(super) fn has_trigrams(objects: &[SchemaObject]) -> bool {
    fts_tables(objects).any(|table| {
        option(&table.sql, "tokenize").is_some_and(|option| option.contains("trigram"))
            && objects.iter().any(|o| fires_for(o, &table.name))
    })
}

fn fts_tables(objects: &[SchemaObject]) -> impl Iterator<Item = &SchemaObject> {
    let is_fts =
        |o: &&SchemaObject| o.kind == "table" && o.sql.to_ascii_lowercase().contains("using fts5");
    objects.iter().filter(is_fts)
}

impl FtsTable {
    /// Adds message ?1; `None` where a trigger does it.
    pub(super) fn insert_without_trigger(&self) -> Option<String> {
        if self.insert_trigger || self.columns.is_empty() {
            return None;
        }
        let (rowid, source, values) = self.source();
        Some(format!(
            "insert into {FTS} (rowid, {}) select {rowid}, {values} from {source} where {rowid} = ?1",
            self.column_list()
        ))
    }

    /// Takes message ?1 out, before its row is deleted; `None` where a trigger does it.
    pub(super) fn delete_without_trigger(&self) -> Option<String> {
        if self.delete_trigger || self.columns.is_empty() {
            return None;
        }
        if self.kind == FullText::Inline {
            return Some(format!("delete from {FTS} where rowid = ?1"));
        }
        let (rowid, source, values) = self.source();
        Some(format!(
            "insert into {FTS} ({FTS}, rowid, {}) \
             select 'delete', {rowid}, {values} from {source} where {rowid} = ?1",
            self.column_list()
        ))
    }

    fn column_list(&self) -> String {
        self.columns.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ")
    }

    /// The row id, the table and the expressions the index text is read from.
    fn source(&self) -> (String, String, String) {
        match &self.content {
            Some(content) => (quoted(&self.content_rowid), quoted(content), self.column_list()),
            None => ("id".to_owned(), "messages".to_owned(), self.message_values()),
        }
    }

    fn message_values(&self) -> String {
        let has = |name: &str| self.message_columns.iter().any(|column| column == name);
        let values = self.columns.iter().map(|name| match name.as_str() {
            "content" if self.columns.len() == 1 && has("tool_name") && has("tool_calls") => {
                WHOLE_TEXT.to_owned()
            }
            name if has(name) => quoted(name),
            "message_id" => "id".to_owned(),
            _ => "null".to_owned(),
        });
        values.collect::<Vec<_>>().join(", ")
    }
}

/// What SQLite says, or would say, when the table is used, if it cannot be.
fn fault(connection: &Connection, table: &SchemaObject) -> rusqlite::Result<Option<String>> {
    // SQLite looks for the tokenizer only when the first text comes in.
    let tokenizers = option(&table.sql, "tokenize").unwrap_or_default();
    if let Some(unknown) = unknown_tokenizer(&tokenizers) {
        return Ok(Some(format!("no such tokenizer: {unknown}")));
    }
    match connection.prepare(&format!("select rowid from {} limit 0", quoted(&table.name))) {
        Ok(_) => Ok(None),
        Err(rusqlite::Error::SqliteFailure(_, Some(why))) => Ok(Some(why)),
        Err(rusqlite::Error::SqlInputError { msg, .. }) => Ok(Some(msg)),
        Err(other) => Err(other),
    }
}

/// The tokenizer named first, or behind `porter`, if it is not one that SQLite brings along.
fn unknown_tokenizer(option: &str) -> Option<&str> {
    let mut names = option.split_whitespace().map(|name| name.trim_matches(['\'', '"']));
    let name = match names.next() {
        Some("porter") => names.next(),
        first => first,
    };
    name.filter(|name| !["unicode61", "ascii", "porter", "trigram"].contains(name))
}

fn names(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    Ok(super::columns(connection, table)?.into_iter().map(|column| column.name).collect())
}

/// Whether the object is a trigger on `messages` that writes to the table.
fn fires_for(object: &SchemaObject, table: &str) -> bool {
    object.kind == "trigger" && object.table == "messages" && words(&object.sql).any(|w| w == table)
}

/// `insert`, `delete` or `update`: what makes a trigger fire.
fn event_of(sql: &str) -> String {
    words(sql)
        .map(str::to_ascii_lowercase)
        .skip_while(|word| word != "trigger")
        .find(|word| ["insert", "delete", "update"].contains(&word.as_str()))
        .unwrap_or_default()
}

fn words(sql: &str) -> impl Iterator<Item = &str> {
    sql.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// The value of `name = value` in the arguments of a virtual table, without its quotes.
fn option(sql: &str, name: &str) -> Option<String> {
    // Damaged text may have the brackets the wrong way round.
    let arguments = sql.get(sql.find('(')? + 1..sql.rfind(')')?)?;
    split_arguments(arguments).into_iter().find_map(|argument| {
        let (key, value) = argument.split_once('=')?;
        (key.trim().eq_ignore_ascii_case(name))
            .then(|| value.trim().trim_matches(['\'', '"', '`', '[', ']']).to_owned())
    })
}

/// Splits at the commas that are not inside quotes.
fn split_arguments(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut quote) = (0, None);
    for (at, c) in text.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '\'' || c == '"' => quote = Some(c),
            None if c == ',' => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            None => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_found_whatever_the_spacing_and_quotes() {
        let sql = "create virtual table f using fts5(content, tool_name,\n content='src', \
                   content_rowid = \"id\", tokenize='unicode61 tokenchars '',(''')";
        assert_eq!(option(sql, "content").as_deref(), Some("src"));
        assert_eq!(option(sql, "content_rowid").as_deref(), Some("id"));
        assert_eq!(option("create virtual table f using fts5(content)", "content"), None);
        assert_eq!(
            option("create virtual table f using fts5(a, content='')", "content").as_deref(),
            Some("")
        );
    }

    #[test]
    fn damaged_text_has_no_options() {
        for sql in ["create virtual table f using fts5 )(", ")", "(", "()", "fts5 )ü("] {
            assert_eq!(option(sql, "content"), None, "{sql}");
        }
    }

    #[test]
    fn tokenizers_are_told_from_their_settings() {
        let check = |option, unknown| assert_eq!(unknown_tokenizer(option), unknown);
        check("", None);
        check("unicode61 remove_diacritics 2", None);
        check("porter unicode61", None);
        check("porter", None);
        check("porter cjk_unicode61", Some("cjk_unicode61"));
        check("cjk_unicode61 tokenchars '-_'", Some("cjk_unicode61"));
    }

    #[test]
    fn a_trigger_name_does_not_hide_its_event() {
        let sql =
            "CREATE TRIGGER t_update AFTER DELETE ON messages BEGIN insert into x values(1); END";
        assert_eq!(event_of(sql), "delete");
    }
}
