//! What a version of a memory file is called that came with a fact, and how it is read again.

/// What happened to the entry of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The entry came.
    Remember(i64),
    /// The entry got the fact's new text.
    Edit(i64),
    /// The entry of a fact gave way to that of the one that holds in its place.
    Replace {
        /// The fact whose entry it was.
        old: i64,
        /// The fact that it says now.
        new: i64,
    },
    /// The entry went with its fact.
    Withdraw(i64),
    /// One of the above was taken back.
    Undo(i64),
}

impl Step {
    /// The words in the list of versions.
    pub(super) fn reason(self) -> String {
        match self {
            Step::Remember(fact) => format!("remember fact:{fact}"),
            Step::Edit(fact) => format!("edit fact:{fact}"),
            Step::Replace { old, new } => format!("replace fact:{old} by fact:{new}"),
            Step::Withdraw(fact) => format!("withdraw fact:{fact}"),
            Step::Undo(fact) => format!("undo fact:{fact}"),
        }
    }

    /// The step that a version came with.
    pub(super) fn read(reason: &str) -> Option<Step> {
        let (verb, rest) = reason.split_once(" fact:")?;
        if verb == "replace" {
            let (old, new) = rest.split_once(" by fact:")?;
            return Some(Step::Replace { old: old.parse().ok()?, new: new.parse().ok()? });
        }
        let fact = rest.parse().ok()?;
        match verb {
            "remember" => Some(Step::Remember(fact)),
            "edit" => Some(Step::Edit(fact)),
            "withdraw" => Some(Step::Withdraw(fact)),
            "undo" => Some(Step::Undo(fact)),
            _ => None,
        }
    }

    /// The fact that the entry belongs to afterwards, or did before it went.
    pub(super) fn fact(self) -> i64 {
        match self {
            Step::Remember(fact) | Step::Edit(fact) | Step::Withdraw(fact) | Step::Undo(fact) => {
                fact
            }
            Step::Replace { new, .. } => new,
        }
    }

    /// Whether a fact has a part in it.
    pub(super) fn is_about(self, fact: i64) -> bool {
        self.fact() == fact || matches!(self, Step::Replace { old, .. } if old == fact)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_step_is_read_as_it_was_written(kind in 0..5_u8, fact in 1..i64::MAX, other in 1..i64::MAX) {
            let step = match kind {
                0 => Step::Remember(fact),
                1 => Step::Edit(fact),
                2 => Step::Replace { old: other, new: fact },
                3 => Step::Withdraw(fact),
                _ => Step::Undo(fact),
            };
            prop_assert_eq!(Step::read(&step.reason()), Some(step));
        }

        #[test]
        fn other_reasons_are_no_steps(reason in "(add|remove|restored) [a-z0-9: ]{0,20}") {
            prop_assert_eq!(Step::read(&reason), None);
        }
    }
}
