//! Whose sessions are meant. A session says who talks in it by the name of a user, or by a channel and an id there; the
//! two are never taken for one another.

use super::{SessionId, SessionStore};
use crate::Result;

/// The channel of the command line: an id there is the name of a user.
pub const COMMAND_LINE: &str = "cli";

/// Stands before the name of a user where a channel's id could stand as well; no id has it.
const BY_NAME: char = '\u{1f}';

/// What a session that takes place at `source` keeps as its user, who is known by name.
pub fn kept_name(source: &str, name: &str) -> String {
    match source == COMMAND_LINE {
        true => name.to_owned(),
        false => format!("{BY_NAME}{name}"),
    }
}

/// The name of the user whom a session names, if it is not an id of its channel.
pub fn name_in<'a>(source: &str, user_id: &'a str) -> Option<&'a str> {
    match user_id.strip_prefix(BY_NAME) {
        Some(name) => Some(name),
        None => (source == COMMAND_LINE).then_some(user_id),
    }
}

/// A user or an id as people read it.
pub fn shown_user(user_id: &str) -> &str {
    user_id.strip_prefix(BY_NAME).unwrap_or(user_id)
}

const IDS_THAT_MAY_BE_NAMES: &str = "
    select id, source, user_id from session_view
    where coalesce(user_id, '') <> '' and source <> 'cli' and substr(user_id, 1, 1) <> char(31)";
const SET_USER: &str = "update sessions set user_id = ?2 where id = ?1";

impl SessionStore {
    /// Sessions with an id that an earlier version may have written for the name of a user: session, source and id.
    pub fn ids_that_may_be_names(&self) -> Result<Vec<(SessionId, String, String)>> {
        let read = || -> rusqlite::Result<Vec<(SessionId, String, String)>> {
            let row = |row: &rusqlite::Row<'_>| {
                Ok((SessionId::from(row.get::<_, String>(0)?), row.get(1)?, row.get(2)?))
            };
            self.connection().prepare(IDS_THAT_MAY_BE_NAMES)?.query_map([], row)?.collect()
        };
        read().map_err(|source| self.fault(source))
    }

    /// Says of sessions, all or none, whose they are: what each keeps as its user.
    pub fn set_users(&mut self, users: &[(SessionId, String)]) -> Result<()> {
        let step = self.begin()?;
        for (id, user) in users {
            let done = step.transaction.execute(SET_USER, (id.as_str(), user));
            done.map_err(|source| step.fault(source))?;
        }
        step.commit()
    }
}

/// Whose sessions, by the ways in which sessions say it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Whose {
    /// Names of users.
    names: Vec<String>,
    /// Channels, each with an id there.
    pairs: Vec<String>,
    /// Ids whatever the channel.
    ids: Vec<String>,
    /// Whether those are meant that name nobody.
    unnamed: bool,
    /// Whether all but these are meant.
    others: bool,
}

impl Whose {
    /// Those of the user of this name.
    pub fn named(name: &str) -> Whose {
        Whose { names: vec![name.to_owned()], ..Whose::default() }
    }

    /// Those of whoever has this name, or this id at any channel: for somebody who may see all of them.
    pub fn called(text: &str) -> Whose {
        Whose { ids: vec![text.to_owned()], ..Whose::named(text) }
    }

    /// Those of everybody, and those that name nobody, but not those that are added.
    pub fn everybody_but() -> Whose {
        Whose { others: true, ..Whose::default() }
    }

    /// And those of a user of this name.
    #[must_use]
    pub fn and(mut self, name: &str) -> Whose {
        self.names.push(name.to_owned());
        self
    }

    /// And this id at a source.
    #[must_use]
    pub fn and_at(mut self, source: &str, id: &str) -> Whose {
        self.pairs.push(pair(source, id));
        self
    }

    /// And those that name nobody.
    #[must_use]
    pub fn and_unnamed(mut self) -> Whose {
        self.unnamed = true;
        self
    }

    /// Whether a session is one of these.
    pub fn has(&self, source: &str, user_id: Option<&str>) -> bool {
        let Some(id) = user_id.filter(|id| !id.is_empty()) else {
            return self.unnamed != self.others;
        };
        let is_named =
            name_in(source, id).is_some_and(|name| self.names.iter().any(|known| known == name));
        let is_known =
            self.pairs.contains(&pair(source, id)) || self.ids.iter().any(|one| one == id);
        (is_named || is_known) != self.others
    }

    /// The same for `is_whose!`.
    pub(super) fn listed(&self) -> String {
        serde_json::json!({
            "names": self.names, "pairs": self.pairs, "ids": self.ids,
            "unnamed": i64::from(self.unnamed), "others": i64::from(self.others),
        })
        .to_string()
    }
}

/// A channel with an id there: no two pairs have the same text.
fn pair(source: &str, id: &str) -> String {
    format!("{}:{source}{id}", source.chars().count())
}

impl From<&str> for Whose {
    fn from(name: &str) -> Whose {
        Whose::named(name)
    }
}

/// Whether the session `s` is one of those that the parameter lists; any is, if it is null.
macro_rules! is_whose {
    ($whose:literal) => {
        concat!(
            "(",
            $whose,
            " is null or (case when coalesce(s.user_id, '') = '' then json_extract(",
            $whose,
            ", '$.unnamed') else coalesce(case
                when substr(s.user_id, 1, 1) = char(31) then substr(s.user_id, 2)
                when s.source = 'cli' then s.user_id
            end in (select value from json_each(",
            $whose,
            ", '$.names')), 0)
            or (length(s.source) || ':' || s.source || s.user_id) in (select value from json_each(",
            $whose,
            ", '$.pairs'))
            or s.user_id in (select value from json_each(",
            $whose,
            ", '$.ids')) end) <> json_extract(",
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
        assert!(anna.has("telegram", Some(&kept_name("telegram", "anna"))));
        assert!(!anna.has("discord", Some("77")) && !anna.has("telegram", Some("7")));
        assert!(!anna.has("cli", None) && !anna.has("cli", Some("")));
    }

    #[test]
    fn an_id_of_a_channel_is_no_name() {
        let anna = Whose::named("anna");
        assert!(!anna.has("telegram", Some("anna")) && !anna.has("", Some("anna")));
        assert!(!Whose::named("an").and_at("a", "b").has("", Some("1:ab")));
        assert!(Whose::called("anna").has("telegram", Some("anna")));
        assert_eq!(name_in("telegram", "anna"), None);
        assert_eq!(name_in("telegram", &kept_name("telegram", "anna")), Some("anna"));
        assert_eq!(shown_user(&kept_name("telegram", "anna")), "anna");
    }

    #[test]
    fn everybody_but_some_is_everybody_else_and_nobody_in_particular() {
        let rest = Whose::everybody_but().and("anna").and_at("telegram", "77");
        assert!(!rest.has("cli", Some("anna")) && !rest.has("telegram", Some("77")));
        assert!(rest.has("discord", Some("77")) && rest.has("cli", None));
        assert!(rest.has("telegram", Some("anna")));
    }

    #[test]
    fn those_that_name_nobody_are_meant_where_it_is_said() {
        let owner = Whose::named("owner").and_unnamed();
        assert!(owner.has("cli", None) && owner.has("cli", Some("owner")));
        assert!(!owner.has("telegram", Some("77")));
    }
}
