//! Databases of other programs that are read and never written: what Holographic knows.

use std::path::Path;

use rusqlite::{Connection, Row};

use crate::sqlite::{self, Access, DEFAULT_WAIT};
use crate::{Error, Result};

/// A fact of Holographic.
#[derive(Debug, Clone, PartialEq)]
pub struct HolographicFact {
    /// Its number there.
    pub id: i64,
    /// What it says.
    pub content: String,
    /// What it is filed under.
    pub category: String,
    /// How far it is trusted there, from 0 to 1.
    pub trust: f64,
    /// When it was noted, as the database has it.
    pub created_at: Option<String>,
    /// The names it is linked to.
    pub entities: Vec<String>,
}

/// The facts of a memory_store.db, which others may be writing to.
pub fn holographic_facts(path: &Path) -> Result<Vec<HolographicFact>> {
    let connection = sqlite::open(path, Access::Read, DEFAULT_WAIT)?;
    sqlite::forbid_writing(&connection).map_err(|source| Error::from_sqlite(path, source))?;
    let failed = |source| Error::from_sqlite(path, source);
    if !connection.table_exists(None, "facts").map_err(failed)? {
        let why = "it is not a memory of Holographic: it has no facts".to_owned();
        return Err(Error::NotSessions { path: path.to_owned(), why });
    }
    read(&connection).map_err(failed)
}

fn read(connection: &Connection) -> rusqlite::Result<Vec<HolographicFact>> {
    // One moment of a database that others write to.
    let moment = connection.unchecked_transaction()?;
    let mut facts: Vec<HolographicFact> =
        moment.prepare(FACTS)?.query_map([], fact)?.collect::<rusqlite::Result<_>>()?;
    if moment.table_exists(None, "fact_entities")? && moment.table_exists(None, "entities")? {
        let mut names = moment.prepare(NAMES)?;
        for fact in &mut facts {
            fact.entities =
                names.query_map([fact.id], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        }
    }
    Ok(facts)
}

fn fact(row: &Row<'_>) -> rusqlite::Result<HolographicFact> {
    Ok(HolographicFact {
        id: row.get(0)?,
        content: row.get(1)?,
        category: row.get(2)?,
        trust: row.get(3)?,
        created_at: row.get(4)?,
        entities: Vec::new(),
    })
}

const FACTS: &str = "
    select fact_id, cast(content as text), coalesce(category, ''),
      min(max(coalesce(cast(trust_score as real), 0.5), 0.0), 1.0), cast(created_at as text)
    from facts where content is not null order by fact_id";
const NAMES: &str = "
    select cast(e.name as text) from fact_entities f join entities e on e.entity_id = f.entity_id
    where f.fact_id = ?1 and e.name is not null order by e.entity_id";
