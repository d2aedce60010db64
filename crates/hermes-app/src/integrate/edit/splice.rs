//! One change of a text as what went and what came, so that it can be undone to the byte.

use serde::{Deserialize, Serialize};

/// At one place, one piece of text took the place of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Splice {
    /// Where, in bytes.
    pub at: usize,
    pub removed: String,
    pub added: String,
}

impl Splice {
    /// The smallest one that makes the second text of the first.
    pub fn between(before: &str, after: &str) -> Splice {
        let mut head = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
        while !before.is_char_boundary(head) || !after.is_char_boundary(head) {
            head -= 1;
        }
        let (left, right) = (&before[head..], &after[head..]);
        let pairs = left.bytes().rev().zip(right.bytes().rev());
        let mut tail = pairs.take_while(|(a, b)| a == b).count();
        while !left.is_char_boundary(left.len() - tail)
            || !right.is_char_boundary(right.len() - tail)
        {
            tail -= 1;
        }
        Splice {
            at: head,
            removed: left[..left.len() - tail].to_owned(),
            added: right[..right.len() - tail].to_owned(),
        }
    }
}

/// The text as it was before the splices; none if it is not the text they led to.
pub(crate) fn undo(text: &str, splices: &[Splice]) -> Option<String> {
    let mut now = text.to_owned();
    for splice in splices.iter().rev() {
        let end = splice.at.checked_add(splice.added.len())?;
        if now.get(splice.at..end)? != splice.added {
            return None;
        }
        now.replace_range(splice.at..end, &splice.removed);
    }
    Some(now)
}

/// The same in a text that others have changed since: each piece must stand there once, word for word.
pub(crate) fn undo_elsewhere(text: &str, splices: &[Splice]) -> Option<String> {
    let mut now = text.to_owned();
    for splice in splices.iter().rev() {
        let mut found = now.match_indices(&splice.added).map(|(at, _)| at);
        let at = found.next().filter(|_| !splice.added.trim().is_empty())?;
        if found.next().is_some() {
            return None;
        }
        now.replace_range(at..at + splice.added.len(), &splice.removed);
    }
    Some(now)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn whatever_a_splice_did_can_be_undone(before in "[aä\\n☕]{0,12}", after in "[aä\\n☕]{0,12}") {
            let splice = Splice::between(&before, &after);
            let mut made = before.clone();
            made.replace_range(splice.at..splice.at + splice.removed.len(), &splice.added);
            prop_assert_eq!(&made, &after);
            prop_assert_eq!(undo(&after, &[splice]), Some(before));
        }
    }

    #[test]
    fn a_text_that_others_changed_is_undone_where_ours_stands_once() {
        let splice = Splice::between("{}", "{\"ours\": 1}");
        let undone = undo_elsewhere("// new\n{\"ours\": 1}", std::slice::from_ref(&splice));
        assert_eq!(undone.as_deref(), Some("// new\n{}"));
        assert_eq!(undo_elsewhere("\"ours\": 1 \"ours\": 1", &[splice]), None);
    }
}
