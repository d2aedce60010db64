//! Whose sessions are meant: all the ways in which a state.db names one person.

/// One person, by the ids that sessions have for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// An id that is theirs everywhere, or a source and their id there.
    ids: Vec<String>,
}

/// Stands between a source and an id; no id has it.
const BETWEEN: char = '\u{1f}';

impl Person {
    /// Whoever has this id, wherever they speak.
    pub fn named(id: &str) -> Person {
        Person { ids: vec![id.to_owned()] }
    }

    /// The same person has this id at a source.
    #[must_use]
    pub fn also(mut self, source: &str, id: &str) -> Person {
        self.ids.push(format!("{source}{BETWEEN}{id}"));
        self
    }

    /// Whether a session is theirs.
    pub fn has(&self, source: &str, id: Option<&str>) -> bool {
        let Some(id) = id else { return false };
        let there = format!("{source}{BETWEEN}{id}");
        self.ids.iter().any(|known| known == id || *known == there)
    }

    /// All ids as a list for `json_each`.
    pub(super) fn listed(&self) -> String {
        serde_json::Value::from(self.ids.clone()).to_string()
    }
}

impl From<&str> for Person {
    fn from(id: &str) -> Person {
        Person::named(id)
    }
}

/// Whether the session `s` is of the person whose list is the parameter; anybody's, if it is null.
macro_rules! is_whose {
    ($user:literal) => {
        concat!(
            "(",
            $user,
            " is null or exists (select 1 from json_each(",
            $user,
            ") where value in (s.user_id, s.source || char(31) || s.user_id)))"
        )
    };
}

pub(super) use is_whose;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_is_known_by_name_everywhere_and_by_an_id_where_it_was_given() {
        let anna = Person::named("anna").also("telegram", "77");
        assert!(anna.has("cli", Some("anna")) && anna.has("telegram", Some("77")));
        assert!(!anna.has("discord", Some("77")) && !anna.has("telegram", Some("7")));
        assert!(!anna.has("cli", None));
        assert_eq!(anna.listed(), "[\"anna\",\"telegram\\u001f77\"]");
    }
}
