//! Where a turn waits when its home cannot be written: the user's folder of state, else a private temporary one.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;
use hermes_home::env::Env;
use hermes_home::{Home, atomic};
use hermes_memory::record::turn::Turn;
use hermes_store::sessions::random_bytes;
use serde_json::{Value, json};

use crate::{clock, platform};

/// A larger file is not one of ours.
const LARGEST: u64 = 64 * 1024 * 1024;

/// Puts a turn into the first of the folders that takes it, with the home and the profile it is for.
pub fn put(env: &Env, home: &Home, turn: &Turn) -> anyhow::Result<()> {
    put_line(env, home, &turn.to_json())
}

/// The same for a turn as it is written down.
pub fn put_line(env: &Env, home: &Home, turn: &Value) -> anyhow::Result<()> {
    let for_home = json!({"root": home.root(), "profile": home.profile_name()});
    let line = format!("{}\n", json!({"for": for_home, "turn": turn}));
    let [a, b, c] = random_bytes();
    let at = clock::now().as_millisecond();
    let name = format!("{at}-{}-{a:02x}{b:02x}{c:02x}.jsonl", std::process::id());
    let mut outcome = Err(anyhow::anyhow!("there is no folder for it"));
    for folder in folders(env) {
        outcome = put_into(&folder, &name, &line);
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

/// How many turns wait there for this home.
pub fn waiting(env: &Env, home: &Home) -> usize {
    files(env).iter().filter(|path| turn_for(path, home).is_some()).count()
}

/// Moves what waits for this home into its spool. One that is moved twice is the same turn: its messages have ids.
pub fn collect(env: &Env, home: &Home) -> anyhow::Result<()> {
    for path in files(env) {
        let Some(turn) = turn_for(&path, home) else { continue };
        let spool = home.spool();
        if !spool.exists() {
            atomic::make_folder(&spool)?;
        }
        let name = path.file_name().unwrap_or_default();
        atomic::create(&spool.join(name), format!("{turn}\n").as_bytes())?;
        fs::remove_file(&path).with_context(|| format!("could not remove {}", path.display()))?;
    }
    Ok(())
}

fn put_into(folder: &Path, name: &str, line: &str) -> anyhow::Result<()> {
    if folder.symlink_metadata().is_err() {
        atomic::make_folder(folder)?;
    }
    if !platform::is_private_folder(folder) {
        anyhow::bail!("{} is not a private folder of this user", folder.display());
    }
    let path = folder.join(name);
    match atomic::create(&path, line.as_bytes())? {
        true => Ok(()),
        false => anyhow::bail!("{} already exists", path.display()),
    }
}

/// The folders in the order in which they are tried.
fn folders(env: &Env) -> Vec<PathBuf> {
    let set = |name: &str| env.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let usual = env.user_folder().ok().flatten().map(|user| user.join(".local/state"));
    let state = set("XDG_STATE_HOME").or(usual).map(|state| state.join("hermes").join("spool"));
    let temporary = set("TMPDIR").unwrap_or_else(std::env::temp_dir);
    let user = platform::user_number();
    state.into_iter().chain([temporary.join(format!("hermes-spool-{user}"))]).collect()
}

/// What waits in the folders that are ours alone, oldest first in each.
pub fn files(env: &Env) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in folders(env).iter().filter(|folder| platform::is_private_folder(folder)) {
        let listed = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_one = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "jsonl");
        let mut inside: Vec<PathBuf> = listed.filter(is_one).collect();
        inside.sort();
        found.extend(inside);
    }
    found
}

/// The turn in a file, if it is for this home.
fn turn_for(path: &Path, home: &Home) -> Option<Value> {
    let found = path.symlink_metadata().ok().filter(|found| found.is_file())?;
    let bytes = fs::read(path).ok().filter(|_| found.len() <= LARGEST)?;
    let mut value: Value = serde_json::from_slice(&bytes).ok()?;
    let is_for = value["for"]["root"] == json!(home.root())
        && value["for"]["profile"] == json!(home.profile_name());
    is_for.then(|| value["turn"].take()).filter(Value::is_object)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn env(folder: &Path) -> Env {
        let at = |name: &str| folder.join(name).display().to_string();
        Env::of([("HOME", at("user").as_str()), ("TMPDIR", at("tmp").as_str())])
    }

    #[test]
    fn a_turn_comes_to_its_own_home_alone_and_once() {
        let folder = tempfile::tempdir().unwrap();
        let home = |name: &str| {
            let root = folder.path().join(name);
            fs::create_dir_all(&root).unwrap();
            Home::in_folder(&root, None)
        };
        let (env, one, other) = (env(folder.path()), home("one"), home("other"));
        put_line(&env, &one, &json!({"messages": []})).unwrap();
        assert!(waiting(&env, &one) == 1 && waiting(&env, &other) == 0);
        collect(&env, &other).unwrap();
        assert!(waiting(&env, &one) == 1 && !other.spool().exists());
        collect(&env, &one).unwrap();
        collect(&env, &one).unwrap();
        assert!(waiting(&env, &one) == 0);
        let waits: Vec<_> = fs::read_dir(one.spool()).unwrap().flatten().collect();
        assert_eq!(waits.len(), 1);
        assert_eq!(fs::read_to_string(waits[0].path()).unwrap(), "{\"messages\":[]}\n");
    }

    #[test]
    fn a_folder_that_others_may_touch_is_neither_written_nor_read() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::in_folder(&folder.path().join("home"), None);
        let env = env(folder.path());
        let [state, temporary] = <[PathBuf; 2]>::try_from(folders(&env)).unwrap();
        fs::create_dir_all(&state).unwrap();
        fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).unwrap();
        fs::create_dir_all(temporary.parent().unwrap()).unwrap();
        put_line(&env, &home, &json!({})).unwrap();
        assert_eq!(fs::read_dir(&state).unwrap().count(), 0);
        assert_eq!(fs::metadata(&temporary).unwrap().permissions().mode() & 0o777, 0o700);
        assert!(waiting(&env, &home) == 1);
        let moved = folder.path().join("moved");
        fs::rename(&temporary, &moved).unwrap();
        symlink(&moved, &temporary).unwrap();
        assert!(waiting(&env, &home) == 0);
        assert!(put_line(&env, &home, &json!({})).is_err());
    }
}
