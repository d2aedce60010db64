//! A file system before SQLite's own: it counts, notes, fails or tears each call that reaches the disk.
#![allow(unsafe_code, reason = "SQLite is given functions that it calls with pointers of its own")]

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, OnceLock, PoisonError};

use rusqlite::ffi::{
    self, sqlite3_file, sqlite3_filename, sqlite3_int64, sqlite3_io_methods, sqlite3_vfs,
};

/// What SQLite asked of the disk; `path` is the whole path of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    Made {
        path: PathBuf,
    },
    Written {
        path: PathBuf,
        at: usize,
        bytes: Vec<u8>,
    },
    Cut {
        path: PathBuf,
        size: usize,
    },
    Synced {
        path: PathBuf,
    },
    /// `synced` if the folder was synced as well, so that the name cannot come back.
    Deleted {
        path: PathBuf,
        synced: bool,
    },
}

/// How a call goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing is done, and an error is returned.
    Refused,
    /// Half of a write is done, and an error is returned.
    Torn,
    /// All of a write or a sync is done, and an error is returned all the same.
    Late,
    /// From this call on nothing new fits on the disk.
    Full,
}

impl Fault {
    pub(crate) const ALL: [Fault; 4] = [Fault::Refused, Fault::Torn, Fault::Late, Fault::Full];
}

/// The calls that are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Open,
    Read,
    Write,
    Sync,
    Cut,
    Delete,
    Map,
}

/// The file system as one test uses it; while it lives no other test of this process can.
pub(crate) struct Watched(#[expect(dead_code, reason = "it is held")] MutexGuard<'static, ()>);

static ALONE: Mutex<()> = Mutex::new(());
static STATE: OnceLock<Mutex<State>> = OnceLock::new();

#[derive(Default)]
struct State {
    /// Open files by their address: SQLite's own functions for them, and their path.
    open: HashMap<usize, (usize, PathBuf)>,
    /// Our functions for each table of SQLite's own.
    tables: HashMap<usize, usize>,
    watched: Option<PathBuf>,
    fault: Option<(u64, Fault)>,
    calls: u64,
    fell: bool,
    events: Vec<Event>,
}

fn state() -> MutexGuard<'static, State> {
    STATE.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watched {
    /// Makes this file system the one that every database of the process is opened with.
    pub(crate) fn alone() -> Watched {
        static REGISTERED: Once = Once::new();
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        REGISTERED.call_once(register);
        *state() = State { open: std::mem::take(&mut state_open()), ..State::default() };
        Watched(alone)
    }

    /// Notes and counts from now on what happens to files below the folder; the n-th call goes wrong, if one is to.
    pub(crate) fn watch(&self, folder: &Path, fault: Option<(u64, Fault)>) {
        let mut state = state();
        state.watched = Some(folder.to_owned());
        (state.fault, state.calls, state.fell) = (fault, 0, false);
        state.events.clear();
    }

    /// How much was noted so far.
    pub(crate) fn noted(&self) -> usize {
        state().events.len()
    }

    /// Lets everything pass again; how many calls there were, and whether one of them went wrong.
    pub(crate) fn pass(&self) -> (u64, bool) {
        let mut state = state();
        state.watched = None;
        state.fault = None;
        (state.calls, state.fell)
    }

    /// What happened while it was watched.
    pub(crate) fn events(&self) -> Vec<Event> {
        std::mem::take(&mut state().events)
    }
}

fn state_open() -> HashMap<usize, (usize, PathBuf)> {
    std::mem::take(&mut state().open)
}

impl State {
    fn is_watched(&self, path: &Path) -> bool {
        self.watched.as_ref().is_some_and(|folder| path.starts_with(folder))
    }

    /// Counts a call; how it goes wrong, if it does.
    fn count(&mut self, call: Call, path: &Path) -> Option<Fault> {
        if !self.is_watched(path) {
            return None;
        }
        self.calls += 1;
        let (at, fault) = self.fault?;
        let grows = matches!(call, Call::Write | Call::Map | Call::Open);
        let falls = match fault {
            Fault::Full => self.calls >= at && grows,
            _ => self.calls == at,
        };
        self.fell |= falls;
        falls.then_some(fault)
    }

    fn note(&mut self, path: &Path, event: impl FnOnce(PathBuf) -> Event) {
        // What is in it is lost with the power, and made anew.
        if self.is_watched(path) && !path.to_string_lossy().ends_with("-shm") {
            self.events.push(event(path.to_owned()));
        }
    }

    fn path_of(&self, file: *mut sqlite3_file) -> PathBuf {
        self.open.get(&(file as usize)).map(|(_, path)| path.clone()).unwrap_or_default()
    }
}

/// SQLite's own file system.
static OWN: OnceLock<usize> = OnceLock::new();

fn own() -> *mut sqlite3_vfs {
    OWN.get().map_or(std::ptr::null_mut(), |address| *address as *mut sqlite3_vfs)
}

fn register() {
    // SAFETY: the table is a copy of SQLite's own with two functions replaced, and lives as long as the process.
    unsafe {
        let found = ffi::sqlite3_vfs_find(std::ptr::null());
        assert!(!found.is_null());
        OWN.get_or_init(|| found as usize);
        let mut copy = *found;
        copy.pNext = std::ptr::null_mut();
        copy.zName = c"watched".as_ptr();
        copy.xOpen = Some(open);
        copy.xDelete = Some(delete);
        let registered = ffi::sqlite3_vfs_register(Box::into_raw(Box::new(copy)), 1);
        assert_eq!(registered, ffi::SQLITE_OK);
    }
}

/// The path that SQLite names; an unnamed file of its own has none.
///
/// # Safety
/// The name is null or a text that ends with a zero.
unsafe fn named(name: *const c_char) -> PathBuf {
    if name.is_null() {
        return PathBuf::new();
    }
    // SAFETY: as promised by the caller.
    let name = unsafe { CStr::from_ptr(name) };
    PathBuf::from(name.to_string_lossy().into_owned())
}

unsafe extern "C" fn open(
    _: *mut sqlite3_vfs,
    name: sqlite3_filename,
    file: *mut sqlite3_file,
    flags: c_int,
    out_flags: *mut c_int,
) -> c_int {
    // SAFETY: SQLite passes what its own function expects, and the file's functions are a copy of its own.
    unsafe {
        let path = named(name);
        let is_new = flags & ffi::SQLITE_OPEN_CREATE != 0 && !path.exists();
        if state().count(Call::Open, &path).is_some() {
            (*file).pMethods = std::ptr::null();
            return ffi::SQLITE_CANTOPEN;
        }
        let Some(real) = (*own()).xOpen else { return ffi::SQLITE_ERROR };
        let done = real(own(), name, file, flags, out_flags);
        if done == ffi::SQLITE_OK && !(*file).pMethods.is_null() {
            let methods = (*file).pMethods;
            let mut state = state();
            if is_new {
                state.note(&path, |path| Event::Made { path });
            }
            state.open.insert(file as usize, (methods as usize, path));
            let ours = *state.tables.entry(methods as usize).or_insert_with(|| replaced(methods));
            (*file).pMethods = ours as *const sqlite3_io_methods;
        }
        done
    }
}

/// A copy of the table with the functions that reach the disk replaced.
///
/// # Safety
/// The table is one of SQLite's own.
unsafe fn replaced(methods: *const sqlite3_io_methods) -> usize {
    // SAFETY: as promised by the caller.
    let mut copy = unsafe { *methods };
    copy.xClose = Some(close);
    copy.xRead = Some(read);
    copy.xWrite = Some(write);
    copy.xTruncate = Some(truncate);
    copy.xSync = Some(sync);
    if copy.iVersion >= 2 && copy.xShmMap.is_some() {
        copy.xShmMap = Some(map_shared);
    }
    Box::into_raw(Box::new(copy)) as usize
}

/// SQLite's own functions for a file.
fn methods(file: *mut sqlite3_file) -> &'static sqlite3_io_methods {
    let address = state().open.get(&(file as usize)).map_or(0, |(address, _)| *address);
    assert_ne!(address, 0, "a file that was not opened here");
    // SAFETY: the tables of SQLite are never freed.
    unsafe { &*(address as *const sqlite3_io_methods) }
}

unsafe extern "C" fn close(file: *mut sqlite3_file) -> c_int {
    let own = methods(file);
    state().open.remove(&(file as usize));
    // SAFETY: SQLite passes what its own function expects.
    unsafe { own.xClose.map_or(ffi::SQLITE_ERROR, |close| close(file)) }
}

unsafe extern "C" fn read(
    file: *mut sqlite3_file,
    into: *mut c_void,
    length: c_int,
    at: sqlite3_int64,
) -> c_int {
    let own = methods(file);
    let mut state = state();
    let path = state.path_of(file);
    if matches!(state.count(Call::Read, &path), Some(Fault::Refused | Fault::Torn)) {
        return ffi::SQLITE_IOERR_READ;
    }
    drop(state);
    // SAFETY: SQLite passes what its own function expects.
    unsafe { own.xRead.map_or(ffi::SQLITE_ERROR, |read| read(file, into, length, at)) }
}

unsafe extern "C" fn write(
    file: *mut sqlite3_file,
    from: *const c_void,
    length: c_int,
    at: sqlite3_int64,
) -> c_int {
    let own = methods(file);
    let mut state = state();
    let path = state.path_of(file);
    let fault = state.count(Call::Write, &path);
    let done = match fault {
        Some(Fault::Refused) => 0,
        Some(Fault::Torn | Fault::Full) => length / 2,
        Some(Fault::Late) | None => length,
    };
    let size = usize::try_from(done).unwrap_or(0);
    // SAFETY: SQLite passes as many bytes as it says.
    let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), size) }.to_vec();
    let offset = usize::try_from(at).unwrap_or(0);
    state.note(&path, |path| Event::Written { path, at: offset, bytes });
    drop(state);
    // SAFETY: SQLite passes what its own function expects; no more is written than it asked for.
    let answer = unsafe {
        match (done, own.xWrite) {
            (0, _) => ffi::SQLITE_OK,
            (_, Some(write)) => write(file, from, done, at),
            (_, None) => ffi::SQLITE_ERROR,
        }
    };
    match fault {
        None => answer,
        Some(Fault::Full) => ffi::SQLITE_FULL,
        Some(_) => ffi::SQLITE_IOERR_WRITE,
    }
}

unsafe extern "C" fn truncate(file: *mut sqlite3_file, size: sqlite3_int64) -> c_int {
    let own = methods(file);
    let mut state = state();
    let path = state.path_of(file);
    if state.count(Call::Cut, &path).is_some() {
        return ffi::SQLITE_IOERR_TRUNCATE;
    }
    let wanted = usize::try_from(size).unwrap_or(0);
    state.note(&path, |path| Event::Cut { path, size: wanted });
    drop(state);
    // SAFETY: SQLite passes what its own function expects.
    unsafe { own.xTruncate.map_or(ffi::SQLITE_ERROR, |truncate| truncate(file, size)) }
}

unsafe extern "C" fn sync(file: *mut sqlite3_file, flags: c_int) -> c_int {
    let own = methods(file);
    let mut state = state();
    let path = state.path_of(file);
    let fault = state.count(Call::Sync, &path);
    if fault.is_none() {
        state.note(&path, |path| Event::Synced { path });
    }
    drop(state);
    if matches!(fault, Some(Fault::Refused | Fault::Torn)) {
        return ffi::SQLITE_IOERR_FSYNC;
    }
    // SAFETY: SQLite passes what its own function expects.
    let answer = unsafe { own.xSync.map_or(ffi::SQLITE_ERROR, |sync| sync(file, flags)) };
    if fault.is_some() { ffi::SQLITE_IOERR_FSYNC } else { answer }
}

unsafe extern "C" fn delete(_: *mut sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    // SAFETY: SQLite passes what its own function expects.
    unsafe {
        let path = named(name);
        let mut state = state();
        if state.count(Call::Delete, &path).is_some() {
            return ffi::SQLITE_IOERR_DELETE;
        }
        state.note(&path, |path| Event::Deleted { path, synced: sync != 0 });
        drop(state);
        let Some(real) = (*own()).xDelete else { return ffi::SQLITE_ERROR };
        real(own(), name, sync)
    }
}

unsafe extern "C" fn map_shared(
    file: *mut sqlite3_file,
    page: c_int,
    size: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    let own = methods(file);
    let mut state = state();
    let path = state.path_of(file);
    if extend != 0 && state.count(Call::Map, &path).is_some() {
        // SAFETY: SQLite passes a place for the address.
        unsafe { *out = std::ptr::null_mut() };
        return ffi::SQLITE_IOERR_SHMMAP;
    }
    drop(state);
    // SAFETY: SQLite passes what its own function expects.
    unsafe { own.xShmMap.map_or(ffi::SQLITE_ERROR, |map| map(file, page, size, extend, out)) }
}
