//! Every column of a memory is carried, or named here as one that is made anew or stays behind.

use rusqlite::Connection;

use super::{reading, writing};
use crate::memory::Section;
use crate::migrate;

/// Tables that are made anew on import, or belong to the place and not to the memory.
const LEFT: [&str; 18] = [
    "meta",
    "label",
    "speaker",
    "chunk",
    "chunk_words",
    "chunk_terms",
    "chunk_words_data",
    "chunk_words_idx",
    "chunk_words_docsize",
    "chunk_words_config",
    "embed_model",
    "vector",
    "vector_segment",
    "vector_codes",
    "vector_slots",
    "job",
    "schedule",
    "counter",
];

/// Columns that follow from others.
const MADE_ANEW: [(&str, &str); 2] = [("message", "marks"), ("fact", "norm_hash")];

fn reads() -> String {
    let lists = [
        reading::ALIASES,
        reading::MESSAGES,
        reading::STEPS,
        reading::COVERS,
        reading::TOLD_SESSIONS,
        reading::MESSAGE_ORIGINS,
        reading::FILES,
        reading::SOURCES,
        reading::REVISIONS,
        reading::MENTIONS,
        reading::ITEM_ORIGINS,
    ];
    let sections = Section::ALL.into_iter().map(reading::of);
    sections.chain(lists).collect::<Vec<_>>().join("\n;")
}

/// The words of the statements about a table.
fn words_about<'s>(statements: &'s str, table: &str, before: &str) -> Vec<&'s str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let about = statements.split(';').filter(|sql| {
        sql.split(before)
            .skip(1)
            .any(|rest| rest.split(|c: char| !is_word(c)).next() == Some(table))
    });
    about.flat_map(|sql| sql.split(|c: char| !is_word(c))).collect()
}

#[test]
fn every_column_is_read_and_written_or_known_to_stay() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate::apply(&mut connection, migrate::MEMORY).unwrap();
    let mut statement = connection
        .prepare(
            "select t.name, c.name from sqlite_schema t join pragma_table_info(t.name) c
             where t.type = 'table' and t.name not like 'sqlite_%'",
        )
        .unwrap();
    let columns: Vec<(String, String)> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    let [reads, writes] = [reads(), writing::ALL.join("\n;")].map(|all| all.replace('"', ""));
    for (table, column) in &columns {
        // The number of a source is named nowhere.
        let is_nameless = table == "source" && column == "id";
        // Checksums are made by the triggers of whoever writes.
        if column == "sum"
            || LEFT.contains(&table.as_str())
            || table == "idempotency"
            || is_nameless
        {
            continue;
        }
        let is_written = words_about(&writes, table, "into ").contains(&column.as_str())
            || words_about(&writes, table, "update ").contains(&column.as_str());
        let ties = ["superseded_by", "compressed_into", "messages", "dropped"];
        assert!(is_written || ties.contains(&column.as_str()), "{table}.{column} is not written");
        let is_anew = MADE_ANEW.contains(&(table.as_str(), column.as_str()));
        let is_read = words_about(&reads, table, "from ").contains(&column.as_str());
        assert!(is_read || is_anew, "{table}.{column} is not read");
    }
}
