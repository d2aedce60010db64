//! Carrying a memory elsewhere: its rows as lines of JSON, and lines of JSON as rows.
//!
//! The name of a column in a reading statement is the key in the document, and the name of a
//! parameter in a writing statement is the key that fills it: the statements are the format.

mod begin;
mod belongings;
mod chain;
#[cfg(test)]
mod columns_tests;
mod conversations;
mod export;
mod further;
mod importer;
mod knowledge;
mod marks;
mod people;
mod reading;
mod tables;
mod values;
mod writing;

pub(super) use begin::is_blank;
pub(super) use further::Further;

use super::{Memory, backend};
use crate::Result;
use crate::memory::{
    Admin, Change, Chunker, ExportChoice, ExportHead, Exported, Import, Imported, PortableItem, Uid,
};

/// The further words of every summary, as the index has them.
pub(super) fn further_words(connection: &backend::Connection) -> backend::Result<Further> {
    Further::read(connection)
}

impl Memory {
    /// Hands out everything that is chosen, as it was at one moment, while others may write.
    pub fn export(
        &self,
        _admin: Admin,
        choice: &ExportChoice<'_>,
        sink: &mut dyn FnMut(Exported<'_>) -> std::io::Result<()>,
    ) -> Result<()> {
        export::export(self, choice, sink)
    }

    /// Begins to take in an export, or goes on with one that was cut off.
    pub fn import_begin(
        &mut self,
        _admin: Admin,
        head: &ExportHead,
        _change: Change<'_>,
    ) -> Result<Import> {
        self.write(Admin, |transaction| {
            begin::prepare(transaction)?;
            begin::begin(transaction, head)
        })
    }

    /// Takes in some items in one transaction; those known already add nothing.
    pub fn import_items(
        &mut self,
        import: &mut Import,
        items: &[PortableItem],
        chunker: Chunker<'_>,
        change: Change<'_>,
    ) -> Result<Imported> {
        let before = import.clone();
        let (imported, after) = self.write(Admin, |transaction| {
            let mut after = before.clone();
            let imported = importer::take_in(transaction, &mut after, items, chunker, change)?;
            Ok((imported, after))
        })?;
        *import = after;
        Ok(imported)
    }

    /// Ties together what refers to later items; `is_whole` if the document came to its end.
    pub fn import_end(
        &mut self,
        import: &Import,
        is_whole: bool,
        change: Change<'_>,
    ) -> Result<()> {
        self.write(Admin, |transaction| begin::end(transaction, import, is_whole, change))
    }

    /// Whether an item with this id is kept here.
    pub fn has_item(&self, _admin: Admin, uid: Uid) -> Result<bool> {
        self.asking(Admin)
            .prepare_cached(HAS_ITEM)
            .and_then(|mut found| found.exists([uid.as_bytes()]))
            .map_err(|source| self.failed(source))
    }
}

const HAS_ITEM: &str = "
    select 1 from fact where uid = ?1 union all select 1 from episode where uid = ?1
    union all select 1 from procedure where uid = ?1 union all select 1 from event where uid = ?1
    union all select 1 from task where uid = ?1 union all select 1 from proposal where uid = ?1
    union all select 1 from \"user\" where uid = ?1";
