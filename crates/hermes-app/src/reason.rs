//! Why a fact was forgotten: a usual word goes into the chain of changes, other words are kept beside it.

use hermes_store::memory::{Change, Memory, Scope};

use crate::app::App;
use crate::problem::Problem;

/// A usual reason for which a fact is forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It was never true
    Wrong,
    /// It is no longer true
    Outdated,
    /// It is nobody's business
    Private,
    /// Another fact says the same
    Duplicate,
    /// It is of no use
    Useless,
}

/// Why somebody forgets a fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// A usual reason.
    Usual(Reason),
    /// Their own words.
    Words(String),
}

/// How many letters a reason may have.
const LONGEST: usize = 300;

impl Reason {
    /// Every usual reason.
    pub const ALL: [Reason; 5] =
        [Reason::Wrong, Reason::Outdated, Reason::Private, Reason::Duplicate, Reason::Useless];

    /// In a word.
    pub fn word(self) -> &'static str {
        self.actor().trim_start_matches("user:")
    }

    /// Why somebody did something, if what the chain says of them tells it.
    pub fn of_actor(actor: &str) -> Option<Reason> {
        Reason::ALL.into_iter().find(|reason| reason.actor() == actor)
    }

    /// The person who does it, with the reason: the chain holds no texts, and a word is none.
    fn actor(self) -> &'static str {
        match self {
            Reason::Wrong => "user:wrong",
            Reason::Outdated => "user:outdated",
            Reason::Private => "user:private",
            Reason::Duplicate => "user:duplicate",
            Reason::Useless => "user:useless",
        }
    }
}

impl Why {
    /// What somebody typed; none if that is nothing.
    pub fn parse(text: &str) -> Result<Option<Why>, Problem> {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let usual = Reason::ALL.into_iter().find(|reason| reason.word() == text);
        match (text.is_empty(), usual) {
            (true, _) => Ok(None),
            (false, Some(usual)) => Ok(Some(Why::Usual(usual))),
            _ if text.chars().count() > LONGEST => Err(Problem::usage(format!(
                "the reason is too long: at most {LONGEST} characters are allowed"
            ))),
            _ => Ok(Some(Why::Words(text))),
        }
    }
}

/// Who changes something now, with a usual reason; only a person has one.
pub fn change<'a>(app: &'a App, why: Option<&Why>) -> Change<'a> {
    let change = app.change();
    match why {
        Some(Why::Usual(reason)) if change.is_by_a_person() => {
            Change { actor: reason.actor(), ..change }
        }
        _ => change,
    }
}

/// Takes a fact out of every answer, and keeps the words that say why.
pub fn retire(
    app: &App,
    store: &mut Memory,
    scope: Scope,
    fact: i64,
    why: Option<&Why>,
) -> anyhow::Result<()> {
    let change = change(app, why);
    let words = match why {
        Some(Why::Words(words)) => Some(words.as_str()),
        Some(Why::Usual(usual)) if !change.is_by_a_person() => Some(usual.word()),
        _ => None,
    };
    match words {
        Some(words) => store.retire_fact_because(scope, fact, words, change)?,
        None => store.retire_fact(scope, fact, change)?,
    }
    Ok(())
}

/// Who did something, and why: `user (outdated)`, `user (we moved to Lisbon)`.
pub fn told(actor: &str, words: Option<&str>) -> String {
    match (words, Reason::of_actor(actor)) {
        (Some(words), _) => format!("{actor} ({words})"),
        (None, Some(reason)) => format!("user ({})", reason.word()),
        (None, None) => actor.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usual_reason_is_a_word_and_others_are_kept_as_they_are_said() {
        for reason in Reason::ALL {
            assert_eq!(Why::parse(reason.word()).unwrap(), Some(Why::Usual(reason)));
            assert_eq!(told(reason.actor(), None), format!("user ({})", reason.word()));
        }
        let own = Why::parse("  we moved\nto Lisbon ").unwrap();
        assert_eq!(own, Some(Why::Words("we moved to Lisbon".to_owned())));
        assert_eq!(Why::parse(" ").unwrap(), None);
        assert!(Why::parse(&"x".repeat(301)).is_err());
        assert_eq!(told("user", Some("we moved")), "user (we moved)");
        assert_eq!(told("extract", None), "extract");
    }
}
