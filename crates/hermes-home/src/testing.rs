//! What the tests of several parts need: a home in a temporary folder.

use jiff::Timestamp;

use crate::env::Env;
use crate::init::Owner;
use crate::layout::{Home, Wanted};
use crate::memory_file::{Context, Rules};

/// The root home in a folder.
pub(crate) fn home(root: &tempfile::TempDir) -> Home {
    let wanted = Wanted { home: Some(root.path().to_owned()), profile: None };
    Home::locate(&wanted, &Env::default()).unwrap()
}

/// A change in a home, some seconds after the beginning of time.
pub(crate) fn context(owner: Owner, limit: Option<usize>, second: i64) -> Context<'static> {
    let now = Timestamp::from_second(second).unwrap();
    Context { rules: Rules { owner, limit }, now, reason: "test" }
}
