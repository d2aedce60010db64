//! Every route, by what it is about.

mod backups;
mod context;
mod facts;
mod files;
mod items;
mod jobs;
mod sessions;
mod skills;
mod status;
pub(crate) mod transfer;
mod turns;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::route::Route;

/// All of them, in the order of the page.
pub(super) fn all() -> Vec<Route> {
    let parts = [
        status::routes(),
        turns::routes(),
        context::routes(),
        facts::routes(),
        items::routes(),
        files::routes(),
        sessions::routes(),
        skills::routes(),
        jobs::routes(),
        backups::routes(),
        transfer::routes(),
    ];
    parts.into_iter().flatten().collect()
}

/// Which part of a list is wanted.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
struct Part {
    /// At most so many; 50 when nothing is said, 500 at most.
    limit: Option<u16>,
    /// So many are left out at the beginning: `next_offset` of the answer before.
    offset: Option<u32>,
}

/// A part of a list, and where the next part begins.
#[derive(Debug, Serialize)]
struct Listed<T> {
    results: Vec<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<u32>,
}

impl Part {
    fn limit(self) -> usize {
        usize::from(self.limit.unwrap_or(50).clamp(1, 500))
    }

    fn offset(self) -> usize {
        self.offset.unwrap_or(0) as usize
    }

    /// How many must be read to know whether there are more.
    fn needed(self) -> usize {
        self.offset().saturating_add(self.limit()).saturating_add(1)
    }

    fn of<T>(self, all: Vec<T>) -> Listed<T> {
        let end = self.offset().saturating_add(self.limit());
        let next_offset = (all.len() > end).then(|| u32::try_from(end).ok()).flatten();
        let results = all.into_iter().skip(self.offset()).take(self.limit()).collect();
        Listed { results, next_offset }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_part_by_part() {
        let part = |limit, offset| Part { limit: Some(limit), offset: Some(offset) };
        let first = part(2, 0).of(vec![1, 2, 3]);
        assert_eq!((first.results, first.next_offset), (vec![1, 2], Some(2)));
        let last = part(2, 2).of(vec![1, 2, 3]);
        assert_eq!((last.results, last.next_offset), (vec![3], None));
        assert!(part(2, 9).of(vec![1]).results.is_empty());
        assert_eq!(part(0, 0).limit(), 1);
    }

    #[test]
    fn no_two_routes_are_the_same() {
        let mut seen: Vec<String> =
            all().iter().map(|route| format!("{} {}", route.method, route.path)).collect();
        let count = seen.len();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), count);
    }
}
