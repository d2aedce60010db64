//! How much there is, and how it grew.

use std::path::PathBuf;
use std::sync::Arc;

use hermes_store::memory::{Admin, Counts, Growth, Scope, UserNumber};
use jiff::Timestamp;

use super::kept::Kept;
use hermes_app::pool::Seat;

/// Of less than this it is counted every time: 500,000 episodes take a quarter of a second.
const LARGE: u64 = 50_000;

static COUNTS: Kept<PathBuf, Counts> =
    Kept::new(|seat, _| count(seat), |counts| counts.messages + counts.facts >= LARGE);

/// Of whose memory, and from which day on.
static GROWTH: Kept<(PathBuf, UserNumber, Timestamp), Vec<Growth>> = Kept::new(
    |seat, (_, user, since)| Ok(seat.reader()?.2.store.growth(Scope::of(*user), *since)?),
    |days| days.iter().map(|day| day.facts + day.episodes).sum::<u64>() >= LARGE,
);

/// How much there is.
pub(super) fn counts(seat: &mut Seat) -> anyhow::Result<Arc<Counts>> {
    let path = seat.reader()?.2.path.clone();
    COUNTS.of(seat, path)
}

/// What came on each day since one.
pub(super) fn growth(
    seat: &mut Seat,
    scope: Scope,
    since: Timestamp,
) -> anyhow::Result<Arc<Vec<Growth>>> {
    let path = seat.reader()?.2.path.clone();
    GROWTH.of(seat, (path, scope.user(), since))
}

fn count(seat: &mut Seat) -> anyhow::Result<Counts> {
    let (_, _, memory) = seat.reader()?;
    let mut counts = memory.store.counts(Admin)?;
    if !memory.exists {
        counts.size = 0;
    }
    Ok(counts)
}
