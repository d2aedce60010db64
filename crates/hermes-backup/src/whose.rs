//! Whose an archive is: several homes may keep theirs in one folder or at one place.

use std::collections::BTreeSet;
use std::path::Path;

use hermes_home::Home;
use hermes_home::databases::{self, Noted};
use hermes_store::sqlite::{self, Access, DEFAULT_WAIT};

use crate::Result;
use crate::history::{Event, Happened};
use crate::manifest::Sidecar;
use crate::sign::{Signed, Signers};

/// Whose an archive is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// This home's.
    Ours,
    /// Another home's.
    Other,
    /// Nothing says so: it was made before archives said it, or this home cannot say who it is.
    Unknown,
}

/// How many archives were left alone because they are not surely this home's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeftAlone {
    /// Those of other homes.
    pub others: u64,
    /// Those that do not say whose they are.
    pub unknown: u64,
}

const HOME_ID: &str = "select value from meta where key = 'home_id'";

/// The random id in a memory, by which a home of an earlier version is known; none where there is none.
pub fn home_id(memory: &Path) -> Option<String> {
    if !memory.is_file() {
        return None;
    }
    let connection = sqlite::open(memory, Access::Read, DEFAULT_WAIT).ok()?;
    connection.query_row(HOME_ID, [], |row| row.get(0)).ok()
}

/// An archive that does not say whose it is, restored over a home, leaves that home who it is: its backups stay its own.
pub(crate) fn keep_id(home: &Home, unpacked: &Path) -> Result<()> {
    let (present, coming) = (home.sibling(None), Home::in_folder(unpacked, None));
    let noted = Noted::read(&present);
    let Some(id) = noted.home_id() else { return Ok(()) };
    let says =
        Noted::read(&coming).home_id().is_some() || home_id(&unpacked.join("memory.db")).is_some();
    if says { Ok(()) } else { Ok(databases::note_id(&coming, id)?) }
}

/// What a home knows of itself and of the archives that it made or sent away.
#[derive(Debug, Default)]
pub(crate) struct Owner {
    id: Option<String>,
    made: BTreeSet<String>,
    signers: Signers,
}

impl Owner {
    /// The owner of an id, with what its own history says.
    pub(crate) fn new(id: Option<&str>, history: &[Event], signers: &Signers) -> Owner {
        use Happened::{Created, CreatedDamaged, Pushed};
        let is_made = |event: &&Event| matches!(event.what, Created | CreatedDamaged | Pushed);
        let made = history.iter().filter(is_made).filter_map(|event| event.id.clone()).collect();
        Owner { id: id.map(str::to_owned), made, signers: signers.clone() }
    }

    /// Whether the history says that this home made the archive, or sent it away.
    pub(crate) fn has_made(&self, id: &str) -> bool {
        self.made.contains(id)
    }

    /// Whose an archive is: by its signature where the home signs its own, else by its sidecar first and the history
    /// second, which others may have written.
    pub(crate) fn whose(&self, id: &str, sidecar: Option<&Sidecar>) -> Whose {
        let said = self.said(id, sidecar);
        if !self.signers.is_any() {
            return said;
        }
        match (self.signers.look_beside(sidecar), said) {
            (Signed::Ours, _) => Whose::Ours,
            (Signed::Other(_), _) | (_, Whose::Other) => Whose::Other,
            (Signed::No | Signed::Broken, _) => Whose::Unknown,
        }
    }

    fn said(&self, id: &str, sidecar: Option<&Sidecar>) -> Whose {
        match (sidecar.and_then(|sidecar| sidecar.home.as_ref()), &self.id) {
            (Some(theirs), Some(ours)) if theirs == ours => Whose::Ours,
            (Some(_), Some(_)) => Whose::Other,
            (Some(_), None) => Whose::Unknown,
            (None, _) if self.has_made(id) => Whose::Ours,
            (None, _) => Whose::Unknown,
        }
    }
}

/// Whether archives may be of several homes, by what their sidecars say.
pub fn are_of_several<'a>(homes: impl Iterator<Item = Option<&'a str>>) -> bool {
    homes.flatten().collect::<BTreeSet<_>>().len() > 1
}

impl LeftAlone {
    /// Counts one more.
    pub fn add(&mut self, whose: Whose) {
        match whose {
            Whose::Ours => {}
            Whose::Other => self.others += 1,
            Whose::Unknown => self.unknown += 1,
        }
    }

    /// What there is to say of them.
    pub fn said(&self) -> Vec<String> {
        let archives = |count: u64| match count {
            1 => "1 archive".to_owned(),
            many => format!("{many} archives"),
        };
        let homes = if self.others == 1 { "another home" } else { "other homes" };
        let others = format!("{} of {homes} left alone", archives(self.others));
        let unknown = format!(
            "{} left alone: Hermes cannot tell whether this home made {}",
            archives(self.unknown),
            if self.unknown == 1 { "it" } else { "them" }
        );
        let said = [(self.others, others), (self.unknown, unknown)];
        said.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_alone_is_counted_in_words() {
        let mut left = LeftAlone::default();
        assert!(left.said().is_empty());
        for whose in [Whose::Other, Whose::Other, Whose::Other, Whose::Ours, Whose::Unknown] {
            left.add(whose);
        }
        assert_eq!(
            left.said(),
            [
                "3 archives of other homes left alone",
                "1 archive left alone: Hermes cannot tell whether this home made it"
            ]
        );
    }

    #[test]
    fn a_home_without_a_memory_has_no_id() {
        let place = tempfile::tempdir().unwrap();
        assert_eq!(home_id(&place.path().join("memory.db")), None);
        assert!(!place.path().join("memory.db").exists());
    }
}
