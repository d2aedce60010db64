//! Which sessions a page of the list shows, also where there are very many.

use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use hermes_store::sessions::{Placed, SessionId, SessionKind, SessionStore, Whose};
use hermes_store::sqlite::Access;

use crate::pages::kept::Kept;
use hermes_app::pool::Seat;

/// Of fewer it is read every time: the last message of each of 50,000 takes a quarter of a second.
const MANY: usize = 2000;

static ORDER: Kept<PathBuf, Vec<Placed>> =
    Kept::new(|seat, _| read(seat), |order| order.len() >= MANY);

/// From this size on the order is made while somebody looks at the first page: a megabyte has 80 sessions.
const LARGE: u64 = 50_000_000;

/// Makes the order of very many sessions while nobody waits for it.
pub(in crate::pages) fn prepare(seat: &Seat) {
    let path = seat.home.state_db();
    if path.metadata().is_ok_and(|found| found.len() >= LARGE) {
        ORDER.prepare(seat, path);
    }
}

/// The sessions that somebody may see, the one with the newest activity first.
pub(super) struct Order {
    kept: Arc<Vec<Placed>>,
    /// Those that were written to since it was kept, and a few more.
    latest: Vec<Placed>,
    whose: Option<Whose>,
}

/// Which of them are wanted.
pub(super) struct Wanted<'a> {
    pub(super) source: Option<&'a str>,
    /// Empty for all.
    pub(super) kinds: &'a [SessionKind],
}

impl Order {
    pub(super) fn of(
        seat: &mut Seat,
        store: &SessionStore,
        whose: Option<Whose>,
    ) -> anyhow::Result<Order> {
        let path = seat.home.state_db();
        let kept = ORDER.of(seat, path)?;
        let latest = if kept.len() < MANY { Vec::new() } else { store.order_of_latest()? };
        Ok(Order { kept, latest, whose })
    }

    /// The same without what was written last.
    pub(super) fn without_latest(seat: &mut Seat, whose: Option<Whose>) -> anyhow::Result<Order> {
        let path = seat.home.state_db();
        Ok(Order { kept: ORDER.of(seat, path)?, latest: Vec::new(), whose })
    }

    /// The ids of those that are wanted.
    pub(super) fn ids(&self, wanted: &Wanted<'_>, offset: usize, count: usize) -> Vec<SessionId> {
        let fits = |one: &&Placed| {
            wanted.source.is_none_or(|source| one.source == source)
                && (wanted.kinds.is_empty() || wanted.kinds.contains(&one.kind))
        };
        let mut all: Vec<&Placed> = self.all().filter(fits).collect();
        all.sort_by(|a, b| (b.last_active, b.id.as_str()).cmp(&(a.last_active, a.id.as_str())));
        all.into_iter().skip(offset).take(count).map(|one| one.id.clone()).collect()
    }

    /// Where they come from.
    pub(super) fn sources(&self) -> Vec<String> {
        let names: BTreeSet<&str> = self.all().map(|one| one.source.as_str()).collect();
        names.into_iter().map(str::to_owned).collect()
    }

    fn all(&self) -> impl Iterator<Item = &Placed> {
        let newer: HashSet<&str> = self.latest.iter().map(|one| one.id.as_str()).collect();
        let older = self.kept.iter().filter(move |one| !newer.contains(one.id.as_str()));
        let whose = self.whose.as_ref();
        self.latest.iter().chain(older).filter(move |one| {
            whose.is_none_or(|whose| whose.has(&one.source, one.user_id.as_deref()))
        })
    }
}

fn read(seat: &mut Seat) -> anyhow::Result<Vec<Placed>> {
    Ok(seat.app.sessions(&seat.home, Access::Read)?.order()?)
}
