//! What is said after a deed, with the way back: kept a while for the visitor who did it.

use std::collections::VecDeque;
use std::sync::Mutex;

use super::login;

/// What is said on top of the next page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    /// What was done.
    pub(crate) text: String,
    /// How it is taken back.
    pub(crate) undo: Option<Undo>,
}

/// A form that takes something back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Undo {
    /// Where it is sent.
    pub(crate) action: String,
    /// What it says.
    pub(crate) fields: Vec<(String, String)>,
}

impl Notice {
    /// What was done.
    pub(crate) fn new(text: impl Into<String>) -> Notice {
        Notice { text: text.into(), undo: None }
    }

    /// With a form that takes it back: the address of the thing, the deed, and what else it says.
    pub(crate) fn undo(self, action: &str, deed: &str, more: &[(&str, &str)]) -> Notice {
        let more = more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let fields = std::iter::once(("deed".to_owned(), deed.to_owned())).chain(more).collect();
        Notice { undo: Some(Undo { action: action.to_owned(), fields }), ..self }
    }
}

/// The latest notices of everybody.
#[derive(Debug, Default)]
pub(crate) struct Notices(Mutex<VecDeque<Kept>>);

#[derive(Debug)]
struct Kept {
    id: String,
    visitor: String,
    notice: Notice,
}

/// How many are kept.
const MOST: usize = 200;

impl Notices {
    /// Keeps a notice; its id goes into the address.
    pub(crate) fn keep(&self, visitor: &str, notice: Notice) -> anyhow::Result<String> {
        let id = login::random(8)?;
        let mut kept = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        kept.push_back(Kept { id: id.clone(), visitor: visitor.to_owned(), notice });
        if kept.len() > MOST {
            kept.pop_front();
        }
        Ok(id)
    }

    /// The notice of this visitor.
    pub(crate) fn find(&self, visitor: &str, id: &str) -> Option<Notice> {
        let kept = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let found = kept.iter().find(|kept| kept.id == id && kept.visitor == visitor);
        found.map(|kept| kept.notice.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_is_for_its_visitor_and_old_ones_go() {
        let notices = Notices::default();
        let id = notices
            .keep("a", Notice::new("done").undo("/p/default/facts/1", "restore", &[]))
            .unwrap();
        assert_eq!(notices.find("a", &id).unwrap().text, "done");
        assert_eq!(notices.find("b", &id), None);
        for _ in 0..MOST {
            notices.keep("a", Notice::new("more")).unwrap();
        }
        assert_eq!(notices.find("a", &id), None);
    }
}
