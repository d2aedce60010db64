//! The files of one person: found, made another's, erased with every version that was kept.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use crate::error::{Error, Result};
use crate::layout::{Home, MemoryTarget};
use crate::memory_file::edit::{self, NewEntry};
use crate::memory_file::{self, Change, Context, Document, Edited, Entry};
use crate::name::UserId;
use crate::{atomic, lock, places, reflections, session_files, versions};

/// What a hook keeps of a turn.
const TURN_UNDER_WAY: &str = "turn under way";

/// Whose files.
#[derive(Debug, Clone, Default)]
pub struct Person {
    /// The names they have or had; for the owner those of users merged into them.
    pub ids: Vec<UserId>,
    /// Whether they are the owner of the home.
    pub is_owner: bool,
    /// What channels call them: the channel and their id there.
    pub identities: Vec<(String, String)>,
}

/// A file that went, by what it was and what it held; nothing of it is said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ErasedFile {
    /// What it was: `USER.md`, `REFLECTIONS.md`, `chat-history` …
    pub what: String,
    /// How large it was.
    pub bytes: u64,
    /// The SHA-256 of what it held.
    pub sha256: String,
}

/// What went.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ErasedFiles {
    /// Files.
    pub files: Vec<ErasedFile>,
    /// Kept versions of them.
    pub versions: u64,
    /// Turns that waited to be taken in.
    pub waiting_turns: u64,
    /// Copies of deleted sessions, and files as they were before an agent changed them.
    pub copies: u64,
}

/// The files of a person that are there, each with what it is.
pub fn files(home: &Home, person: &Person) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    if person.is_owner {
        for path in [home.memory_file(&MemoryTarget::User(None)), home.reflections(None)] {
            found.push(path);
        }
        found.extend(home.other_places(&MemoryTarget::User(None)));
        found.push(home.chat_history(None));
    }
    for id in &person.ids {
        below(&home.users().join(id.as_str()), &mut found);
        found.push(home.chat_history(Some(id)));
        below(&home.merged_users(id), &mut found);
    }
    found.retain(|path| path.is_file());
    let named = |path: PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_history = name.starts_with("chat-history");
        (if is_history { "chat-history".to_owned() } else { name.into_owned() }, path)
    };
    found.into_iter().map(named).collect()
}

/// What a file is, in words of ours: a receipt says it, and a name that somebody gave may be a word of theirs.
pub fn what_it_is(name: &str) -> &'static str {
    const KNOWN: [&str; 5] =
        ["USER.md", "REFLECTIONS.md", "memory.json", "chat-history", TURN_UNDER_WAY];
    KNOWN.into_iter().find(|known| *known == name).unwrap_or("another file")
}

/// Everything below a folder that is a file.
fn below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => below(&entry.path(), found),
            _ => found.push(entry.path()),
        }
    }
    found.sort();
}

/// The files whose versions are kept, as the log of versions names them.
fn versioned(home: &Home, person: &Person) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    if person.is_owner {
        paths.extend([home.memory_file(&MemoryTarget::User(None)), home.reflections(None)]);
    }
    for id in &person.ids {
        let target = MemoryTarget::User(Some(id.clone()));
        paths.extend([home.memory_file(&target), home.reflections(Some(id))]);
    }
    paths
}

/// Every kept content of a person's files, oldest first: what the file is, its number, its bytes.
pub fn kept_versions(home: &Home, person: &Person) -> Result<Vec<(String, usize, Vec<u8>)>> {
    let mut found = Vec::new();
    for path in versioned(home, person) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for version in versions::list_of(home, &path)?.into_iter().rev() {
            match versions::content(home, &version.hash) {
                Ok(bytes) => found.push((name.clone(), version.number, bytes)),
                // What is in the file now need not be kept as a version.
                Err(_) if version.current => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(found)
}

/// Erases the files of a person, every kept version, and the turns of theirs that wait. `sessions` are the
/// conversations of theirs that hooks may be in the middle of.
pub fn erase(home: &Home, person: &Person, sessions: &[String]) -> Result<ErasedFiles> {
    let mut erased = ErasedFiles::default();
    let mut going = files(home, person);
    going.extend(hook_files(home, person, sessions));
    for (what, path) in going {
        // A program may be about to write to a file that people edit; the others are ours alone.
        let is_edited = matches!(what.as_str(), "USER.md" | "REFLECTIONS.md");
        let _lock = is_edited.then(|| lock::hold(&path)).transpose()?;
        let bytes = read(&path)?;
        remove(&path)?;
        if what.ends_with(".lock") {
            continue;
        }
        erased.files.push(ErasedFile {
            what: what_it_is(&what).to_owned(),
            bytes: bytes.len() as u64,
            sha256: versions::hash(&bytes),
        });
    }
    erased.versions = versions::erase_files(home, &versioned(home, person))? as u64;
    erased.waiting_turns = erase_waiting(home, person)?;
    erased.copies = erase_copies(home, person, sessions)?;
    for path in versioned(home, person) {
        reflections::forget_file(home, &path)?;
    }
    for id in &person.ids {
        for folder in [home.users().join(id.as_str()), home.merged_users(id)] {
            remove_folder(&folder)?;
        }
    }
    Ok(erased)
}

/// The entries of one person's USER.md that another's has not are added there, and the log of reflections goes on with
/// theirs; the files of the one are gone then. Returns how many entries and sections that were.
pub fn merge(
    home: &Home,
    [from, into]: [&UserId; 2],
    into_owner: bool,
    context: &Context<'_>,
) -> Result<[usize; 2]> {
    let into = (!into_owner).then(|| into.clone());
    let (old, new) = (MemoryTarget::User(Some(from.clone())), MemoryTarget::User(into.clone()));
    let theirs = memory_file::read(home, &old, context.rules)?;
    let mut entries = 0;
    if theirs.exists {
        let missing = |main: &Document| places::merge_plan(main, &theirs.document);
        let before = memory_file::read(home, &new, context.rules)?;
        entries = missing(&before.document).len();
        memory_file::change(home, &new, context, |main| {
            let plan = missing(main);
            let added: Vec<NewEntry<'_>> = plan.iter().map(places::Missing::as_new).collect();
            let document = edit::insert_all(main, &added)?.document;
            let change = match added.len() {
                0 => Change::Nothing,
                entries => Change::Merged { entries },
            };
            Ok(Edited { document, change, entry: None })
        })?;
    }
    let sections = reflections::merge(home, Some(from), into.as_ref())?;
    let going = Person { ids: vec![from.clone()], ..Person::default() };
    for (_, path) in files(home, &going) {
        if path.starts_with(home.users().join(from.as_str())) {
            remove(&path)?;
        }
    }
    remove_folder(&home.users().join(from.as_str()))?;
    Ok([entries, sections])
}

/// The texts of the entries of one person's USER.md that another's has not.
pub fn missing_entries(
    home: &Home,
    targets: [&MemoryTarget; 2],
    rules: memory_file::Rules,
) -> Result<Vec<String>> {
    let [theirs, main] = targets.map(|target| memory_file::read(home, target, rules));
    let missing = places::merge_plan(&main?.document, &theirs?.document);
    Ok(missing.into_iter().map(|one| one.text).collect())
}

/// What was kept of the files of somebody who was merged.
#[derive(Debug, Clone, Default)]
pub struct KeptFiles {
    /// Their USER.md.
    pub user: Option<String>,
    /// Their REFLECTIONS.md.
    pub reflections: Option<String>,
    /// The entries of USER.md that the other got.
    pub added: Vec<String>,
}

/// Gives somebody who was merged their files back; what the other got from them goes from the other's. What was
/// changed or taken out there since stays so. Returns how many entries and sections went back.
pub fn unmerge(
    home: &Home,
    [from, into]: [&UserId; 2],
    (kept, into_owner): (&KeptFiles, bool),
    context: &Context<'_>,
) -> Result<[usize; 2]> {
    let into = (!into_owner).then(|| into.clone());
    let (old, new) = (MemoryTarget::User(Some(from.clone())), MemoryTarget::User(into.clone()));
    // A merge that was cut off before the files left them where they are.
    let is_there = memory_file::read(home, &old, context.rules)?.exists;
    let main = memory_file::read(home, &new, context.rules)?;
    let is_added = |entry: &&Entry| kept.added.contains(&entry.text);
    let there: Vec<Entry> = main.document.entries().iter().filter(is_added).cloned().collect();
    if let Some(text) = kept.user.as_deref().filter(|_| !is_there) {
        let theirs = Document::parse(text, context.rules.owner);
        let is_gone =
            |entry: &&Entry| is_added(entry) && there.iter().all(|other| other.text != entry.text);
        let gone: Vec<Entry> = theirs.entries().iter().filter(is_gone).cloned().collect();
        memory_file::change(home, &old, context, |_| {
            Ok(Edited { change: Change::Rewritten, ..edit::prune(&theirs, &gone)? })
        })?;
    }
    if !there.is_empty() {
        memory_file::change(home, &new, context, |main| {
            let is_added = |entry: &&Entry| kept.added.contains(&entry.text);
            let plan: Vec<Entry> = main.entries().iter().filter(is_added).cloned().collect();
            edit::prune(main, &plan)
        })?;
    }
    let theirs = kept.reflections.as_deref().unwrap_or_default();
    let sections = reflections::unmerge(home, from, into.as_ref(), theirs)?;
    Ok([there.len(), sections])
}

/// What hooks keep of turns that are under way. The owner's are all.
fn hook_files(home: &Home, person: &Person, sessions: &[String]) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    match person.is_owner {
        true => below(&home.hook_sessions(), &mut found),
        false => found = session_files::turns_under_way(home, sessions),
    }
    found.sort();
    found.into_iter().map(|path| (TURN_UNDER_WAY.to_owned(), path)).collect()
}

/// Erases copies of deleted sessions and checkpoints of a person; returns how many there were.
fn erase_copies(home: &Home, person: &Person, sessions: &[String]) -> Result<u64> {
    let gone = session_files::erase(home, sessions)?;
    let text = |head: &Value, key: &str| head.get(key).and_then(Value::as_str).map(str::to_owned);
    let is_theirs = |head: &Value| match text(head, "user_id") {
        None => person.is_owner,
        Some(user) if person.ids.iter().any(|id| id.as_str() == user) => true,
        Some(user) => {
            let channel = text(head, "source").unwrap_or_default();
            person.identities.contains(&(channel, user))
        }
    };
    Ok(gone + session_files::erase_deleted(home, is_theirs)?)
}

/// Takes the person's lines out of what waits to be taken in, and out of what was refused.
fn erase_waiting(home: &Home, person: &Person) -> Result<u64> {
    let mut gone = 0;
    let mut waiting = Vec::new();
    below(&home.spool(), &mut waiting);
    let is_waiting =
        |path: &&PathBuf| path.extension().is_some_and(|end| end == "jsonl" || end == "json");
    for path in waiting.iter().filter(is_waiting) {
        let bytes = read(path)?;
        let (theirs, others): (Vec<&[u8]>, Vec<&[u8]>) =
            bytes.split_inclusive(|byte| *byte == b'\n').partition(|line| is_theirs(line, person));
        if theirs.is_empty() {
            continue;
        }
        gone += theirs.len() as u64;
        match others.is_empty() {
            true => remove(path)?,
            false => atomic::write(path, &others.concat())?,
        }
    }
    Ok(gone)
}

fn is_theirs(line: &[u8], person: &Person) -> bool {
    let Ok(mut turn) = serde_json::from_slice::<Value>(line) else { return false };
    // What was refused stands inside as text, with the reason beside it.
    if let (Some(text), Some(_)) = (turn.get("text").and_then(Value::as_str), turn.get("reason")) {
        turn = serde_json::from_str(text).unwrap_or_default();
    }
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let identity = turn.get("identity").filter(|identity| !identity.is_null());
    let id =
        identity.and_then(|identity| text(Some(identity)).or_else(|| text(identity.get("id"))));
    match (text(turn.get("user")), id) {
        (Some(user), _) => person.ids.iter().any(|id| id.as_str() == user),
        (None, Some(id)) => {
            let channel = text(turn.get("channel")).unwrap_or_else(|| "cli".to_owned());
            person.identities.contains(&(channel, id))
        }
        (None, None) => person.is_owner && turn.get("messages").is_some(),
    }
}

fn read(path: &Path) -> Result<Vec<u8>> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        other => other.map_err(|source| Error::read(path, source)),
    }
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(|source| Error::write(path, source)),
    }
}

/// What is left in it are locks of files that are gone.
fn remove_folder(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(|source| Error::write(folder, source)),
    }
}
