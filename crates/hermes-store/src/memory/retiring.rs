//! What events and procedures do alike: they are read by their numbers, retired, brought back, and say where they came from.

use rusqlite::params;

use super::backend::{self, OptionalExtension, Row};
use super::{Memory, audit, rows};
use crate::memory::{Change, ItemKind, Scope, Source};
use crate::{Error, Result};

/// One of the two, with its statements.
#[derive(Debug, Clone, Copy)]
pub(super) struct Noun {
    pub(super) kind: ItemKind,
    pub(super) by_id: &'static str,
    pub(super) retire: &'static str,
    pub(super) restore: &'static str,
    pub(super) sources: &'static str,
    /// What the changes are called in the chain.
    pub(super) retired: &'static str,
    pub(super) restored: &'static str,
}

impl Memory {
    /// Those with these numbers that the scope may read, in the order asked for.
    pub(super) fn items<T>(
        &self,
        noun: &Noun,
        scope: Scope,
        ids: &[i64],
        read_row: fn(&Row<'_>) -> backend::Result<T>,
    ) -> Result<Vec<T>> {
        let read = || -> backend::Result<_> {
            let mut statement = self.asking(scope).prepare_cached(noun.by_id)?;
            let user = scope.user().get();
            ids.iter()
                .map(|id| statement.query_row([user, *id], read_row).optional())
                .filter_map(backend::Result::transpose)
                .collect()
        };
        read().map_err(|source| self.failed(source))
    }

    /// Takes one out of every answer; it can be brought back.
    pub(super) fn retire_item(
        &mut self,
        noun: &Noun,
        scope: Scope,
        id: i64,
        change: Change<'_>,
    ) -> Result<()> {
        self.write(scope, |transaction| {
            let item = audit::item_name(noun.kind, id);
            let at = change.at.as_millisecond();
            if transaction.execute(noun.retire, params![scope.user().get(), id, at])? == 0 {
                return Err(Error::NoSuchItem { item }.into());
            }
            audit::append(transaction, change, noun.retired, &item, None, None)
        })
    }

    /// Brings a retired one back.
    pub(super) fn restore_item(
        &mut self,
        noun: &Noun,
        scope: Scope,
        id: i64,
        change: Change<'_>,
    ) -> Result<()> {
        self.write(scope, |transaction| {
            let item = audit::item_name(noun.kind, id);
            if transaction.execute(noun.restore, params![scope.user().get(), id])? == 1 {
                return audit::append(transaction, change, noun.restored, &item, None, None);
            }
            if transaction.prepare_cached(noun.by_id)?.exists([scope.user().get(), id])? {
                let why = "it was not retired".to_owned();
                return Err(Error::ItemRefused { doing: "restore", item, why }.into());
            }
            Err(Error::NoSuchItem { item }.into())
        })
    }

    /// Where one came from.
    pub(super) fn sources_of_item(
        &self,
        noun: &Noun,
        scope: Scope,
        id: i64,
    ) -> Result<Vec<Source>> {
        let read = || -> backend::Result<_> {
            self.asking(scope)
                .prepare_cached(noun.sources)?
                .query_map([scope.user().get(), id], rows::source)?
                .collect()
        };
        read().map_err(|source| self.failed(source))
    }
}
