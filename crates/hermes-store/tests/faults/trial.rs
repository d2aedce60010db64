//! One operation with something going wrong at every place where it reaches the disk.

use std::path::{Path, PathBuf};

use hermes_store::Result;
use hermes_store::memory::Memory;
use hermes_store::sessions::SessionStore;

use crate::content::Content;
use crate::disk::{Chance, Files, after_power_loss, as_it_happened, lay_out, read_folder};
use crate::vfs::{Event, Fault, Watched};

/// What is opened and then worked on.
pub(crate) enum Store {
    Sessions(Box<SessionStore>),
    Memory(Box<Memory>),
    /// The work is done by a function that opens files itself.
    None,
}

/// Something that changes a database.
pub(crate) struct Operation {
    /// The file that it changes.
    pub(crate) database: &'static str,
    /// Makes the databases it begins with.
    pub(crate) prepare: fn(&Path),
    pub(crate) open: fn(&Path) -> Result<Store>,
    /// Done again after a failure it must come to the same end.
    pub(crate) act: fn(&mut Store, &Path) -> Result<()>,
    /// How many transactions it has; each by itself is done or not.
    pub(crate) steps: usize,
}

/// Whether the long counts are asked for.
pub(crate) fn is_full() -> bool {
    std::env::vars().any(|(name, value)| name == "HERMES_TEST_FULL" && value == "1")
}

/// How many states of a disk are looked at for each operation.
fn losses() -> usize {
    if is_full() { 600 } else { 48 }
}

/// Every how many calls one goes wrong, of the calls of an operation.
pub(crate) fn stride(calls: u64) -> u64 {
    if is_full() { 1 } else { calls.div_ceil(24).max(1) }
}

struct Scene {
    folder: tempfile::TempDir,
    before: Files,
}

impl Scene {
    fn of(operation: &Operation) -> Scene {
        let folder = tempfile::tempdir().unwrap();
        (operation.prepare)(folder.path());
        let before = read_folder(folder.path());
        Scene { folder, before }
    }

    fn anew(&self) {
        lay_out(&self.before, self.folder.path());
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Operation {
    fn whole(&self, folder: &Path) -> Result<()> {
        let mut store = (self.open)(folder)?;
        (self.act)(&mut store, folder)
    }

    /// Errors at every call: what is answered as done is there, and what is answered as not done is not.
    #[expect(clippy::print_stderr, reason = "how much was tried is worth knowing")]
    pub(crate) fn survives_errors(&self) {
        let disk = Watched::alone();
        let scene = Scene::of(self);
        let database = scene.path().join(self.database);
        let before = Content::of(&database, "before");
        disk.watch(scene.path(), None);
        self.whole(scene.path()).unwrap();
        let (calls, _) = disk.pass();
        let after = Content::of(&database, "after");
        assert!(before.alike != after.alike, "the operation does nothing");
        let (mut fell, mut refused) = (0, 0);
        for fault in Fault::ALL {
            for call in (1..=calls).step_by(usize::try_from(stride(calls)).unwrap()) {
                scene.anew();
                disk.watch(scene.path(), Some((call, fault)));
                let trial =
                    Trial { operation: self, before: &before, after: &after, database: &database };
                let what = format!("{fault:?} at call {call} of {calls}");
                let (is_hit, is_refused) = trial.run(&disk, scene.path(), &what, call % 2 == 0);
                fell += u32::from(is_hit);
                refused += u32::from(is_refused);
            }
        }
        eprintln!("{fell} faults in {calls} calls, {refused} answered as an error");
        assert!(refused > 0, "no fault was noticed");
    }

    /// The power goes after every call: each transaction is there whole or not at all, and it is there if it was
    /// answered as done.
    #[expect(clippy::print_stderr, reason = "how much was tried is worth knowing")]
    pub(crate) fn survives_power_loss(&self) {
        let disk = Watched::alone();
        let scene = Scene::of(self);
        disk.watch(scene.path(), None);
        let mut store = (self.open)(scene.path()).unwrap();
        (self.act)(&mut store, scene.path()).unwrap();
        let answered = disk.noted();
        drop(store);
        disk.pass();
        let events = disk.events();
        let other = tempfile::tempdir().unwrap();
        let state_of = |files: &Files, what: &str| {
            lay_out(files, other.path());
            Content::of(&other.path().join(self.database), what).exact
        };
        let (legal, reached) = self.kills(&scene.before, &events, &state_of);
        for number in 0..losses() {
            let mut chance = Chance::new(number as u64);
            let cut = chance.below(events.len() + 1);
            let files = after_power_loss(&scene.before, &events[..cut], &mut chance);
            let what = format!("power loss {number} after {cut} of {} calls", events.len());
            let found = state_of(&files, &what);
            let Some(place) = legal.iter().position(|state| *state == found) else {
                let near = &legal[reached[cut]];
                panic!(
                    "{what}: something between two states: {:?}",
                    first_difference(&found, near)
                );
            };
            assert!(place <= reached[cut], "{what}: what was never done is there");
            assert!(
                cut < answered || place + 1 == legal.len(),
                "{what}: what was answered is lost"
            );
        }
        eprintln!("{} kills and {} power losses", events.len() + 1, losses());
    }

    /// A process that ends after each call; the states that there are, and which of them was reached when.
    fn kills(
        &self,
        before: &Files,
        events: &[Event],
        state_of: &dyn Fn(&Files, &str) -> String,
    ) -> (Vec<String>, Vec<usize>) {
        let (mut legal, mut reached): (Vec<String>, Vec<usize>) = (Vec::new(), Vec::new());
        for cut in 0..=events.len() {
            let what = format!("a kill after {cut} of {} calls", events.len());
            let found = state_of(&as_it_happened(before, &events[..cut]), &what);
            if legal.last() != Some(&found) {
                assert!(!legal.contains(&found), "an earlier state came back");
                legal.push(found);
            }
            reached.push(legal.len() - 1);
        }
        assert_eq!(legal.len(), self.steps + 1, "transactions of the operation, and the beginning");
        (legal, reached)
    }
}

/// One fault.
struct Trial<'a> {
    operation: &'a Operation,
    before: &'a Content,
    after: &'a Content,
    database: &'a PathBuf,
}

impl Trial<'_> {
    /// Whether a call went wrong, and whether that was answered as an error.
    fn run(&self, disk: &Watched, folder: &Path, what: &str, same_store: bool) -> (bool, bool) {
        let mut store = (self.operation.open)(folder);
        let answer = match &mut store {
            Ok(store) => (self.operation.act)(store, folder),
            Err(_) => store.as_ref().map(drop).map_err(|_| refused(folder)),
        };
        let (_, is_hit) = disk.pass();
        let found = Content::of(self.database, what);
        match &answer {
            Ok(()) => {
                same(&found.alike, &self.after.alike, &format!("{what}: answered and not there"))
            }
            Err(_) if self.operation.steps == 1 => {
                same(
                    &found.exact,
                    &self.before.exact,
                    &format!("{what}: {answer:?} and yet there"),
                );
            }
            Err(_) => {
                assert!(found.alike != self.after.alike, "{what}: {answer:?} and yet all there")
            }
        }
        if answer.is_err() {
            match &mut store {
                Ok(store) if same_store => {
                    let again = (self.operation.act)(store, folder);
                    assert!(
                        again.is_ok(),
                        "{what}: the same store, when all is well again: {again:?}"
                    );
                }
                _ => {
                    drop(store);
                    let left = Content::of(self.database, what);
                    same(
                        &left.exact,
                        &found.exact,
                        &format!("{what}: closing it changed something"),
                    );
                    self.operation
                        .whole(folder)
                        .unwrap_or_else(|why| panic!("{what}: again: {why}"));
                }
            }
            let ended = Content::of(self.database, what);
            same(
                &ended.alike,
                &self.after.alike,
                &format!("{what}: done again, it came to another end"),
            );
        }
        (is_hit, answer.is_err())
    }
}

/// Fails with the first lines that differ; all of them would fill the screen.
fn same(found: &str, wanted: &str, what: &str) {
    assert!(found == wanted, "{what}: {:?}", first_difference(found, wanted));
}

fn first_difference<'a>(found: &'a str, wanted: &'a str) -> Option<(&'a str, &'a str)> {
    let nothing = std::iter::repeat("");
    let lines = found.lines().chain(nothing.clone()).zip(wanted.lines().chain(nothing));
    lines.take(found.lines().count().max(wanted.lines().count())).find(|(one, other)| one != other)
}

/// An error for a store that did not open; which one does not matter here.
fn refused(folder: &Path) -> hermes_store::Error {
    hermes_store::Error::Missing { path: folder.to_owned() }
}
