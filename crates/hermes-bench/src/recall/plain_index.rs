//! A plain full-text index, the thing that searches are compared with; never part of a memory.

use rusqlite::{Connection, params};

/// An FTS5 table in memory, as anybody would set one up: porter stems, ranked by `bm25`.
#[derive(Debug)]
pub(super) struct PlainIndex {
    connection: Connection,
}

impl PlainIndex {
    /// An empty index.
    pub(super) fn new() -> rusqlite::Result<PlainIndex> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(TABLE)?;
        Ok(PlainIndex { connection })
    }

    /// Adds texts with their numbers, in one transaction.
    pub(super) fn add(&mut self, texts: &[(i64, String)]) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        let mut add = transaction.prepare_cached(ADD)?;
        for (number, text) in texts {
            add.execute(params![number, text])?;
        }
        drop(add);
        transaction.commit()
    }

    /// The numbers of the texts that have any of the words, best first.
    pub(super) fn search(&self, words: &[&str], limit: usize) -> rusqlite::Result<Vec<i64>> {
        if words.is_empty() {
            return Ok(Vec::new());
        }
        let quoted: Vec<String> =
            words.iter().map(|word| format!("\"{}\"", word.replace('"', "\"\""))).collect();
        let mut search = self.connection.prepare_cached(SEARCH)?;
        search.query_map(params![quoted.join(" OR "), limit], |row| row.get(0))?.collect()
    }
}

const TABLE: &str =
    "create virtual table plain using fts5 (words, content = '', tokenize = 'porter unicode61')";
const ADD: &str = "insert into plain (rowid, words) values (?1, ?2)";
const SEARCH: &str = "select rowid from plain where plain match ?1 order by rank limit ?2";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_word_finds_a_text_and_more_words_find_it_better() {
        let mut index = PlainIndex::new().unwrap();
        let texts = ["the cat sat", "two dogs and a cat", "nothing of the kind"];
        let numbered: Vec<_> = (1..).zip(texts.map(str::to_owned)).collect();
        index.add(&numbered).unwrap();
        assert_eq!(index.search(&["cats", "dog"], 10).unwrap(), [2, 1]);
        assert_eq!(index.search(&["cats", "dog"], 1).unwrap(), [2]);
        assert!(index.search(&["fish", "\""], 10).unwrap().is_empty());
        assert!(index.search(&[], 10).unwrap().is_empty());
    }
}
