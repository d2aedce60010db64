//! The order of all sessions: what a list of very many is cut from, without reading each again.

use jiff::Timestamp;

use super::{SessionFilter, SessionId, SessionKind, SessionStore, SessionSummary};
use crate::Result;

/// A session and its place among the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// Which it is.
    pub id: SessionId,
    /// Where it came from.
    pub source: String,
    /// Whose it is, where users are told apart.
    pub user_id: Option<String>,
    /// What it is.
    pub kind: SessionKind,
    /// When something was last said in it.
    pub last_active: Timestamp,
}

impl SessionStore {
    /// All sessions that lists show, the one with the newest activity first. With very many it takes a while.
    pub fn order(&self) -> Result<Vec<Placed>> {
        self.placed(None)
    }

    /// The same of those that were written to last: what an order that is a while old does not know.
    pub fn order_of_latest(&self) -> Result<Vec<Placed>> {
        let ids = self.written_last().map_err(|source| self.fault(source))?;
        self.placed(Some(&ids))
    }

    fn placed(&self, ids: Option<&[String]>) -> Result<Vec<Placed>> {
        let shown = SessionFilter::default();
        self.each_summary(ids, &shown, |summary| Ok(Placed::of(summary)))
            .map_err(|source| self.fault(source))
    }
}

impl Placed {
    fn of(summary: SessionSummary) -> Placed {
        let SessionSummary { id, source, user_id, kind, last_active, .. } = summary;
        Placed { id, source, user_id, kind, last_active }
    }
}
