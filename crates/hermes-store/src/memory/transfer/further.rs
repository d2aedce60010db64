//! The words by which a summary is found and that do not stand in it, read from the keyword index.

use std::collections::HashMap;

use crate::memory::backend::postgres::Stems;
use crate::memory::backend::{self, Both, Connection};

/// The further words of every summary, as the index has them.
pub(in super::super) struct Further {
    terms: Vec<String>,
    /// The places of its terms, by the number of a summary.
    of: HashMap<i64, Vec<u32>>,
    stems: Stems,
}

impl Further {
    /// Reads the whole index once: it has no way from a text to its words.
    pub(super) fn read(connection: &Connection) -> backend::Result<Further> {
        let mut further = Further { terms: Vec::new(), of: HashMap::new(), stems: Stems::new()? };
        let mut statement = connection.prepare_both(&TERMS)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let term = row.get_ref(0)?.as_str()?;
            if further.terms.last().is_none_or(|last| last != term) {
                further.terms.push(term.to_owned());
            }
            let place = u32::try_from(further.terms.len() - 1).unwrap_or(u32::MAX);
            let places = further.of.entry(row.get(1)?).or_default();
            if places.last() != Some(&place) {
                places.push(place);
            }
        }
        Ok(further)
    }

    /// The words that find a summary and are not in its text, in an order that is always the same.
    pub(in super::super) fn of(&self, summary: i64, body: &str) -> backend::Result<String> {
        let shown = self.stems.of(body)?;
        let places = self.of.get(&summary).map_or(&[][..], Vec::as_slice);
        let terms = places.iter().filter_map(|place| self.terms.get(*place as usize));
        let hidden: Vec<&str> = terms.map(String::as_str).filter(|t| !shown.contains(*t)).collect();
        // A stem is not always its own stem (`hous`, of `house`): with an `e` it is.
        let stable = self.stems.of(&hidden.join(" "))?;
        let mut words = String::new();
        for term in hidden {
            let ending = if stable.contains(term) { "" } else { "e" };
            let space = if words.is_empty() { "" } else { " " };
            words.extend([space, term, ending]);
        }
        Ok(words)
    }
}

// The keyword index of a server is rows by themselves.
const TERMS: Both = Both {
    file: "
    select term, (doc >> 8) & 4294967295 from chunk_terms where (doc >> 40) & 7 = 4",
    server: "
    select word, (chunk >> 8) & 4294967295 from chunk_words where (chunk >> 40) & 7 = 4
    order by word",
};

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn stems_with_an_ending_lead_back_to_themselves() {
        let stems = Stems::new().unwrap();
        let text = "houses because agreed running cities decision Lisbon exercise focus emotions";
        let once = stems.of(text).unwrap();
        for stem in &once {
            let form = match stems.of(stem).unwrap().contains(stem) {
                true => stem.clone(),
                false => format!("{stem}e"),
            };
            assert_eq!(stems.of(&form).unwrap(), HashSet::from([stem.clone()]));
        }
    }
}
