//! How the tables of one state.db are laid out, and the SQL text that depends on it.

mod chat;
mod fts;

use rusqlite::Connection;

use self::fts::FtsTable;

/// Whose database it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Owner {
    /// Made by this program and touched by no other.
    Ours,
    /// Made by this program; Hermes Agent has added tables of its own since.
    Extended,
    /// Made by Hermes Agent.
    Foreign,
}

/// How the full-text table `messages_fts` gets its text.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FullText {
    /// There is no such table.
    None,
    /// The table is there and cannot be read.
    Unusable {
        /// What SQLite said.
        why: String,
    },
    /// It keeps a copy of the text.
    Inline,
    /// It reads the text through a view.
    OverView,
    /// It reads the text from the table `messages`.
    OverTable,
    /// It keeps no text at all.
    Contentless,
}

/// The layout of one state.db: what is there, and what we may do with it.
#[derive(Debug, Clone)]
pub struct Layout {
    owner: Owner,
    schema_version: i64,
    sessions: Vec<Column>,
    messages: Vec<Column>,
    full_text: FullText,
    full_text_columns: Vec<String>,
    must_avoid_nul: bool,
    full_text_insert: Option<String>,
    full_text_delete: Option<String>,
    tables: Vec<String>,
    unwritable: Option<String>,
}

/// One column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    declared: String,
    not_null: bool,
    default: Option<String>,
}

/// The two tables whose columns differ between layouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    Sessions,
    Messages,
}

/// The view of ours that only a database made by us has.
const OUR_VIEW: &str = "message_text";

/// Older names of columns: what we call it, what it may be called.
const OLDER_NAMES: &[(Table, &str, &str)] = &[
    (Table::Sessions, "source", "channel"),
    (Table::Sessions, "started_at", "created_at"),
    (Table::Messages, "timestamp", "created_at"),
];

const SCHEMA: &str = "
    select type, name, tbl_name, coalesce(sql, '') from sqlite_schema
    where type in ('table', 'view', 'trigger')";

const COLUMNS: &str = "select name, type, \"notnull\", dflt_value from pragma_table_info(?1)";

const VERSION: &str = "select coalesce(max(version), 0) from schema_version";

impl Layout {
    /// Looks at the schema; `None` if there are no sessions and messages in it.
    pub(crate) fn detect(connection: &Connection) -> rusqlite::Result<Option<Layout>> {
        let objects = schema_objects(connection)?;
        let has = |kind: &str, name: &str| objects.iter().any(|o| o.kind == kind && o.name == name);
        if !has("table", "sessions") || !has("table", "messages") {
            return Ok(None);
        }
        let schema_version = match has("table", "schema_version") {
            true => connection.query_row(VERSION, [], |row| row.get(0))?,
            false => 0,
        };
        let is_hermes_agents = has("table", "state_meta");
        let owner = match (has("view", OUR_VIEW), is_hermes_agents) {
            (true, false) => Owner::Ours,
            (true, true) => Owner::Extended,
            (false, _) => Owner::Foreign,
        };
        let full_text = fts::detect(connection, &objects)?;
        // Where Hermes Agent took its triggers away it will rebuild the index by itself.
        let ours_to_fill = full_text.as_ref().filter(|_| !is_hermes_agents);
        Ok(Some(Layout {
            owner,
            schema_version,
            sessions: columns(connection, "sessions")?,
            messages: columns(connection, "messages")?,
            must_avoid_nul: fts::has_trigrams(&objects),
            full_text_insert: ours_to_fill.and_then(FtsTable::insert_without_trigger),
            full_text_delete: ours_to_fill.and_then(FtsTable::delete_without_trigger),
            full_text_columns: full_text.as_ref().map(|f| f.columns.clone()).unwrap_or_default(),
            full_text: full_text.map_or(FullText::None, |f| f.kind),
            tables: objects.iter().filter(|o| o.kind == "table").map(|o| o.name.clone()).collect(),
            unwritable: fts::unwritable(connection, &objects)?,
        }))
    }

    /// Whose database it is.
    pub fn owner(&self) -> Owner {
        self.owner
    }

    /// The number in the table `schema_version`; 0 without one.
    pub fn schema_version(&self) -> i64 {
        self.schema_version
    }

    /// How `messages_fts` gets its text.
    pub fn full_text(&self) -> &FullText {
        &self.full_text
    }

    /// Whether there is a full-text index that can be used.
    pub(crate) fn has_full_text(&self) -> bool {
        !matches!(self.full_text, FullText::None | FullText::Unusable { .. })
    }

    /// The columns of `messages_fts`, in order.
    pub fn full_text_columns(&self) -> &[String] {
        &self.full_text_columns
    }

    /// Why we must not write to this database, if so.
    pub fn unwritable(&self) -> Option<&str> {
        self.unwritable.as_deref()
    }

    /// Whether a message keeps its parts here; otherwise only its words, for the sake of an index
    /// that Hermes Agent keeps.
    pub fn takes_parts(&self) -> bool {
        !self.must_avoid_nul
    }

    /// Whether no text with a NUL may be written, for the sake of an index Hermes Agent keeps.
    pub(crate) fn must_avoid_nul(&self) -> bool {
        self.must_avoid_nul
    }

    /// Whether the database has a table of this name.
    pub(crate) fn has_table(&self, name: &str) -> bool {
        self.tables.iter().any(|table| table == name)
    }

    /// The columns of a table, in order.
    pub(crate) fn columns(&self, table: Table) -> &[Column] {
        match table {
            Table::Sessions => &self.sessions,
            Table::Messages => &self.messages,
        }
    }

    /// The column that holds what we call `name`, under that name or an older one.
    pub(crate) fn column(&self, table: Table, name: &str) -> Option<&Column> {
        let named = |name: &str| self.columns(table).iter().find(|c| c.name == name);
        named(name).or_else(|| {
            let older = OLDER_NAMES.iter().find(|(t, ours, _)| *t == table && *ours == name)?;
            named(older.2)
        })
    }

    /// The other name a column of this name has in older or newer layouts.
    pub(crate) fn other_name(table: Table, name: &str) -> Option<&'static str> {
        OLDER_NAMES.iter().find_map(|(of, newer, older)| match *of == table {
            true if *newer == name => Some(*older),
            true if *older == name => Some(*newer),
            _ => None,
        })
    }

    /// The statement that adds message ?1 to the full-text index, where no trigger does.
    pub(crate) fn full_text_insert(&self) -> Option<&str> {
        self.full_text_insert.as_deref()
    }

    /// The statement that takes message ?1 out of the full-text index, where no trigger does.
    pub(crate) fn full_text_delete(&self) -> Option<&str> {
        self.full_text_delete.as_deref()
    }

    /// `insert into TABLE (COLUMNS) values (?1, …)` for columns that are there.
    pub(crate) fn insert(&self, table: Table, names: &[&str]) -> String {
        let columns: Vec<String> = names.iter().map(|name| quoted(name)).collect();
        let values: Vec<String> = (1..=names.len()).map(|n| format!("?{n}")).collect();
        format!(
            "insert into {} ({}) values ({})",
            table.name(),
            columns.join(", "),
            values.join(", ")
        )
    }

    /// `update TABLE set COLUMN = ?2 where id = ?1` for a column that is there.
    pub(crate) fn update(&self, table: Table, name: &str) -> String {
        format!("update {} set {} = ?2 where id = ?1", table.name(), quoted(name))
    }

    /// Adds ?2 messages and ?3 tool calls to the counters of session ?1; `None` without counters.
    pub(crate) fn add_counts(&self) -> Option<String> {
        let counters = [("message_count", "?2"), ("tool_call_count", "?3")];
        let changes: Vec<String> = counters
            .iter()
            .filter(|(name, _)| self.column(Table::Sessions, name).is_some())
            .map(|(name, added)| format!("{name} = coalesce({name}, 0) + {added}"))
            .collect();
        (!changes.is_empty())
            .then(|| format!("update sessions set {} where id = ?1", changes.join(", ")))
    }

    /// Sets the counters of every session to what is live; `None` without counters.
    pub(crate) fn recount(&self) -> Option<String> {
        let value = |name, otherwise| self.value(Table::Messages, name, otherwise);
        let live = format!(
            "from messages where messages.session_id = sessions.id and {} <> 0",
            value("active", Otherwise::Number(1))
        );
        let calls = value("tool_calls", Otherwise::Null);
        let tool_calls = format!(
            "coalesce(sum(case when {calls} is null then 0 when not json_valid({calls}) then 1 \
             else case json_type({calls}) when 'null' then 0 \
             when 'array' then json_array_length({calls}) else 1 end end), 0)"
        );
        let counters = [("message_count", "count(*)"), ("tool_call_count", &tool_calls)];
        let changes: Vec<String> = counters
            .iter()
            .filter(|(name, _)| self.column(Table::Sessions, name).is_some())
            .map(|(name, counted)| format!("{name} = (select {counted} {live})"))
            .collect();
        (!changes.is_empty()).then(|| format!("update sessions set {}", changes.join(", ")))
    }

    /// `select` of every column of the sessions, or the messages of one session, in table order.
    pub(crate) fn select_all(&self, table: Table) -> String {
        let columns: Vec<String> = self.columns(table).iter().map(|c| quoted(&c.name)).collect();
        let condition = match table {
            Table::Sessions => "id = ?1",
            Table::Messages => "session_id = ?1 order by id",
        };
        format!("select {} from {} where {condition}", columns.join(", "), table.name())
    }

    /// `select` of the row number and every column, for the rows after number ?1, in order.
    pub(crate) fn rows_after(&self, table: Table) -> String {
        format!("{} not indexed where rowid > ?1 order by rowid", self.numbered_rows(table))
    }

    /// The same for the one row with number ?1.
    pub(crate) fn row_at(&self, table: Table) -> String {
        format!("{} not indexed where rowid = ?1", self.numbered_rows(table))
    }

    /// The highest row number.
    pub(crate) fn highest_row(&self, table: Table) -> String {
        format!("select max(rowid) from {} not indexed", table.name())
    }

    fn numbered_rows(&self, table: Table) -> String {
        let columns: Vec<String> = self.columns(table).iter().map(|c| quoted(&c.name)).collect();
        format!("select rowid, {} from {}", columns.join(", "), table.name())
    }

    /// Makes `session_view` and `message_view`, so that all other SQL is the same in every layout.
    pub(crate) fn make_views(&self, connection: &Connection) -> rusqlite::Result<()> {
        connection.execute_batch(&self.view("message_view", Table::Messages, MESSAGE_VIEW))?;
        connection.execute_batch(&self.view("session_view", Table::Sessions, SESSION_VIEW))
    }

    fn view(&self, name: &str, table: Table, columns: &[(&str, Otherwise)]) -> String {
        let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
        let values: Vec<String> =
            columns.iter().map(|(name, otherwise)| self.value(table, name, *otherwise)).collect();
        format!(
            "create temp view {name} ({}) as select {} from main.{}",
            names.join(", "),
            values.join(", "),
            table.name()
        )
    }

    /// The expression for one column of a view; a bare column where possible, so that indexes serve.
    fn value(&self, table: Table, name: &str, otherwise: Otherwise) -> String {
        if let Otherwise::LastActive = otherwise {
            let started_at = self.value(table, "started_at", Otherwise::Time);
            return format!("coalesce({LAST_MESSAGE_AT}, {started_at})");
        }
        let Some(column) = self.column(table, name) else {
            let derived = self.derived(table, name);
            return derived.unwrap_or_else(|| otherwise.missing()).to_owned();
        };
        let found = quoted(&column.name);
        match otherwise {
            Otherwise::Time if !column.is_number() => format!(
                "case typeof({found}) when 'text' \
                 then coalesce(unixepoch({found}, 'subsec'), cast({found} as real)) \
                 else {found} end"
            ),
            Otherwise::Number(default) if !column.not_null => {
                format!("coalesce({found}, {default})")
            }
            _ => found,
        }
    }
}

impl Layout {
    /// What a session lacks a column for and its messages can tell.
    fn derived(&self, table: Table, name: &str) -> Option<&'static str> {
        let is_said_by_messages = self.columns(Table::Messages).iter().any(|c| c.name == "channel");
        match (table, name) {
            (Table::Sessions, "message_count") => Some(COUNTED),
            (Table::Sessions, "source") if is_said_by_messages => Some(FIRST_CHANNEL),
            _ => None,
        }
    }
}

impl Column {
    /// Whether the column was declared to hold numbers; times are text otherwise.
    pub(crate) fn is_number(&self) -> bool {
        let declared = self.declared.to_ascii_uppercase();
        ["REAL", "INT", "FLOA", "DOUB", "NUM"].iter().any(|kind| declared.contains(kind))
    }

    /// Whether null is refused.
    pub(crate) fn is_not_null(&self) -> bool {
        self.not_null
    }

    /// Whether the column was declared to hold bytes.
    pub(crate) fn is_blob(&self) -> bool {
        self.declared.eq_ignore_ascii_case("blob")
    }

    /// The SQL text of its default.
    pub(crate) fn default(&self) -> Option<&str> {
        self.default.as_deref()
    }
}

impl Table {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Table::Sessions => "sessions",
            Table::Messages => "messages",
        }
    }
}

/// What stands in a view for a column that is missing or null.
#[derive(Debug, Clone, Copy)]
enum Otherwise {
    Null,
    Number(i64),
    Time,
    Text(&'static str),
    /// Worked out whatever columns there are: when something was last said.
    LastActive,
}

impl Otherwise {
    fn missing(self) -> &'static str {
        match self {
            Otherwise::Null | Otherwise::Time | Otherwise::LastActive => "null",
            Otherwise::Number(0) => "0",
            Otherwise::Number(_) => "1",
            Otherwise::Text(literal) => literal,
        }
    }
}

const SESSION_VIEW: &[(&str, Otherwise)] = &[
    ("id", Otherwise::Null),
    ("source", Otherwise::Text("'unknown'")),
    ("user_id", Otherwise::Null),
    ("title", Otherwise::Null),
    ("model", Otherwise::Null),
    ("model_config", Otherwise::Null),
    ("parent_session_id", Otherwise::Null),
    ("started_at", Otherwise::Time),
    ("ended_at", Otherwise::Time),
    ("end_reason", Otherwise::Null),
    ("message_count", Otherwise::Number(0)),
    ("archived", Otherwise::Number(0)),
    ("pinned", Otherwise::Number(0)),
    ("hidden", Otherwise::Number(0)),
    ("cwd", Otherwise::Null),
    ("git_repo_root", Otherwise::Null),
    ("chat_id", Otherwise::Null),
    ("chat_type", Otherwise::Null),
    ("display_name", Otherwise::Null),
    ("input_tokens", Otherwise::Number(0)),
    ("output_tokens", Otherwise::Number(0)),
    ("last_active", Otherwise::LastActive),
];

const LAST_MESSAGE_AT: &str =
    "(select max(m.timestamp) from temp.message_view m where m.session_id = main.sessions.id)";

const COUNTED: &str = "(select count(*) from temp.message_view m
    where m.session_id = main.sessions.id and m.active = 1)";

const FIRST_CHANNEL: &str = "coalesce((select m.channel from main.messages m
    where m.session_id = main.sessions.id and m.channel is not null order by m.id limit 1), 'unknown')";

const MESSAGE_VIEW: &[(&str, Otherwise)] = &[
    ("id", Otherwise::Null),
    ("session_id", Otherwise::Null),
    ("role", Otherwise::Text("'user'")),
    ("content", Otherwise::Null),
    ("tool_name", Otherwise::Null),
    ("tool_calls", Otherwise::Null),
    ("tool_call_id", Otherwise::Null),
    ("timestamp", Otherwise::Time),
    ("active", Otherwise::Number(1)),
    ("compacted", Otherwise::Number(0)),
    ("token_count", Otherwise::Null),
    ("_compressed_summary", Otherwise::Number(0)),
    ("display_kind", Otherwise::Null),
];

/// One row of the schema.
#[derive(Debug, Clone)]
pub(crate) struct SchemaObject {
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) table: String,
    pub(crate) sql: String,
}

fn schema_objects(connection: &Connection) -> rusqlite::Result<Vec<SchemaObject>> {
    connection
        .prepare(SCHEMA)?
        .query_map([], |row| {
            Ok(SchemaObject {
                kind: row.get(0)?,
                name: row.get(1)?,
                table: row.get(2)?,
                sql: row.get(3)?,
            })
        })?
        .collect()
}

fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<Column>> {
    connection
        .prepare(COLUMNS)?
        .query_map([table], |row| {
            Ok(Column {
                name: row.get(0)?,
                declared: row.get(1)?,
                not_null: row.get(2)?,
                default: row.get(3)?,
            })
        })?
        .collect()
}

/// A name as SQL text.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
