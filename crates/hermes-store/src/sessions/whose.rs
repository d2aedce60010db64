//! Whose sessions are meant: all the ways in which a state.db names one person, or everybody but some.

/// Whose sessions, by the ids that sessions have for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Whose {
    /// An id that is somebody's everywhere, or a source and their id there.
    ids: Vec<String>,
    /// Whether all but these are meant.
    others: bool,
}

/// Stands between a source and an id; no id has it.
const BETWEEN: char = '\u{1f}';

impl Whose {
    /// Those of whoever has this id, wherever they speak.
    pub fn named(id: &str) -> Whose {
        Whose { ids: vec![id.to_owned()], others: false }
    }

    /// Those of everybody, and of nobody in particular, but not those that are added.
    pub fn everybody_but() -> Whose {
        Whose { ids: Vec::new(), others: true }
    }

    /// And this id, wherever it is met.
    #[must_use]
    pub fn and(mut self, id: &str) -> Whose {
        self.ids.push(id.to_owned());
        self
    }

    /// And this id at a source.
    #[must_use]
    pub fn and_at(mut self, source: &str, id: &str) -> Whose {
        self.ids.push(format!("{source}{BETWEEN}{id}"));
        self
    }

    /// Whether a session is one of these.
    pub fn has(&self, source: &str, id: Option<&str>) -> bool {
        let is_named = id.is_some_and(|id| {
            let there = format!("{source}{BETWEEN}{id}");
            self.ids.iter().any(|known| known == id || *known == there)
        });
        is_named != self.others
    }

    /// The same for `is_whose!`.
    pub(super) fn listed(&self) -> String {
        serde_json::json!({ "ids": self.ids, "others": i64::from(self.others) }).to_string()
    }
}

impl From<&str> for Whose {
    fn from(id: &str) -> Whose {
        Whose::named(id)
    }
}

/// Whether the session `s` is one of those that the parameter lists; any is, if it is null.
macro_rules! is_whose {
    ($whose:literal) => {
        concat!(
            "(",
            $whose,
            " is null or exists (select 1 from json_each(",
            $whose,
            ", '$.ids') where value in (s.user_id, s.source || char(31) || s.user_id)) <> json_extract(",
            $whose,
            ", '$.others'))"
        )
    };
}

pub(super) use is_whose;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn somebody_is_known_by_name_everywhere_and_by_an_id_where_it_was_given() {
        let anna = Whose::named("anna").and_at("telegram", "77");
        assert!(anna.has("cli", Some("anna")) && anna.has("telegram", Some("77")));
        assert!(!anna.has("discord", Some("77")) && !anna.has("telegram", Some("7")));
        assert!(!anna.has("cli", None));
    }

    #[test]
    fn everybody_but_some_is_everybody_else_and_nobody_in_particular() {
        let rest = Whose::everybody_but().and("anna").and_at("telegram", "77");
        assert!(!rest.has("cli", Some("anna")) && !rest.has("telegram", Some("77")));
        assert!(rest.has("discord", Some("77")) && rest.has("cli", None));
    }
}
