//! Holographic: the facts in a memory_store.db, read while others write to it.

use std::path::Path;

use hermes_store::foreign;
use serde_json::Value;

use crate::item::Fact;
use crate::reading::Reading;
use crate::value;
use crate::{Result, files};

/// The name of the database.
pub(crate) const DATABASE: &str = "memory_store.db";

/// Reads a database, or the one in a home of Hermes Agent.
pub(crate) fn read(path: &Path, reading: &mut Reading<'_>) -> Result<()> {
    let inside = path.join(DATABASE);
    let path = if path.is_dir() { &inside } else { path };
    files::refuse_special(path)?;
    let facts = foreign::holographic_facts(path)?;
    reading.tally.files += 1;
    for fact in facts {
        let at = fact.created_at.map(Value::String);
        reading.fact(Fact {
            id: fact.id.to_string(),
            text: fact.content,
            kind: kind_of(&fact.category),
            subject: None,
            names: fact.entities,
            // SQLite writes the time of Greenwich, without saying so.
            at: value::time(at.as_ref(), &jiff::tz::TimeZone::UTC),
            until: None,
            confidence: Some(fact.trust),
        })?;
    }
    Ok(())
}

fn kind_of(category: &str) -> Option<&'static str> {
    match category {
        "user_pref" | "preference" => Some("preference"),
        "tool" => Some("tool"),
        _ => None,
    }
}
