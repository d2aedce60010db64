//! Why a fact was forgotten: a word that goes into the chain of changes with whoever did it.

use hermes_store::memory::Change;

use crate::app::App;

/// Why a fact is forgotten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Reason {
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

impl Reason {
    /// Every reason.
    pub(crate) const ALL: [Reason; 5] =
        [Reason::Wrong, Reason::Outdated, Reason::Private, Reason::Duplicate, Reason::Useless];

    /// In a word.
    pub(crate) fn word(self) -> &'static str {
        self.actor().trim_start_matches("user:")
    }

    /// The reason that a word names.
    pub(crate) fn parse(word: &str) -> Option<Reason> {
        Reason::ALL.into_iter().find(|reason| reason.word() == word)
    }

    /// Why somebody did something, if what the chain says of them tells it.
    pub(crate) fn of_actor(actor: &str) -> Option<Reason> {
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

/// Who changes something now, and why; only a person has reasons.
pub(crate) fn change(app: &App, reason: Option<Reason>) -> Change<'static> {
    let change = app.change();
    match reason.filter(|_| change.is_by_a_person()) {
        Some(reason) => Change { actor: reason.actor(), ..change },
        None => change,
    }
}

/// Who did something, and why: `user (outdated)`.
pub(crate) fn told(actor: &str) -> String {
    match Reason::of_actor(actor) {
        Some(reason) => format!("user ({})", reason.word()),
        None => actor.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_found_again_by_its_word_and_by_who_did_it() {
        for reason in Reason::ALL {
            assert_eq!(Reason::parse(reason.word()), Some(reason));
            assert_eq!(told(reason.actor()), format!("user ({})", reason.word()));
        }
        assert_eq!((Reason::parse("because"), told("extract")), (None, "extract".to_owned()));
    }
}
