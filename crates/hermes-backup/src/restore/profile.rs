//! Takes in one profile of an archive, under a name that nothing has yet.

use std::fs;
use std::path::{Path, PathBuf};

use hermes_home::name::DEFAULT_PROFILE;
use hermes_home::{Home, ProfileName, atomic};
use hermes_store::memory::{Memory, Wanted};
use hermes_store::sqlite::{Access, DEFAULT_WAIT};

use crate::contents::SECRET;
use crate::database_files::{beside, remove_sidecars};
use crate::held::{self, Scratch};
use crate::manifest::{Kind, Manifest};
use crate::restore::{From, foreign, owner, unpack, unpack_and_check};
use crate::{Error, Result, Tell, erasure};

/// What is to be taken in.
#[derive(Debug, Clone, Copy, Default)]
pub struct Import<'a> {
    /// Which profile of the archive; needed where it holds several.
    pub profile: Option<&'a str>,
    /// The name it gets; its own unless said.
    pub name: Option<&'a str>,
    /// Whether only to look what would be done.
    pub dry_run: bool,
}

/// What was taken in, or would be.
#[derive(Debug)]
pub struct Imported {
    /// The name it has here.
    pub profile: String,
    /// The name it had.
    pub was: String,
    /// Where it is.
    pub at: PathBuf,
    /// How many files it has.
    pub files: u64,
    /// How large they are together.
    pub bytes: u64,
    /// The list in the archive; none for one of another program.
    pub manifest: Option<Manifest>,
    /// What the user should know.
    pub remarks: Vec<String>,
}

/// Unpacks and checks inside the home, gives the memory its new name, then puts the profile in its place by one
/// rename. What is there already is never touched.
pub fn profile(
    from: &From<'_>,
    import: Import<'_>,
    home: &Home,
    tell: Tell<'_>,
) -> Result<Imported> {
    let root = home.sibling(None);
    root.must_exist()?;
    let _in_place = held::keep_in_place(home)?;
    if let Some(name) = import.name {
        must_be_free(&root, &name.parse()?)?;
    }
    let scratch = Scratch::in_home(home)?;
    let unpacked = scratch.path().join("home");
    unpack::make_folder(&unpacked)?;
    let done = unpack_and_check(from, &unpacked, tell)?;
    let was = chosen(from, import, &unpacked, done.manifest.as_ref())?;
    let name = new_name(import, &was)?;
    let place = must_be_free(&root, &name)?;
    let folder = folder_of(&unpacked, &was)?;
    let mut remarks = done.remarks;
    remarks.extend(rename_memory(&folder, &was, name.as_str(), done.manifest.as_ref())?);
    remarks.extend(done.manifest.as_ref().and_then(without_secrets));
    if !import.dry_run {
        remarks.extend(forget_again(from, &root, &folder, &name)?);
    }
    let (files, bytes) = measure(&folder)?;
    if !import.dry_run {
        put(&folder, &place, root.root())?;
    }
    Ok(Imported {
        profile: name.as_str().to_owned(),
        was,
        at: place,
        files,
        bytes,
        manifest: done.manifest,
        remarks,
    })
}

/// Which profile of the archive is meant.
fn chosen(
    from: &From<'_>,
    import: Import<'_>,
    unpacked: &Path,
    manifest: Option<&Manifest>,
) -> Result<String> {
    let what = manifest.map_or("all", |list| list.what.as_str());
    let there = match what {
        "all" => profiles_in(unpacked),
        one => vec![one.to_owned()],
    };
    let refused = |why: String, hint: &str| {
        let what = from.archive.file_name().unwrap_or_default().display().to_string();
        Err(Error::NotImported { what, why, hint: hint.to_owned() })
    };
    match import.profile {
        Some(name) if there.iter().any(|one| one == name) => Ok(name.to_owned()),
        Some(name) => refused(
            format!("profile {name} is not in it; it contains {}", there.join(", ")),
            "choose one of those with `--profile NAME`",
        ),
        None if what == "all" => refused(
            format!("it is not a single profile but a home with {}", there.join(", ")),
            "restore all of it with `hermes backup restore FILE`, or choose one with `--profile \
             NAME`",
        ),
        None => Ok(what.to_owned()),
    }
}

fn profiles_in(unpacked: &Path) -> Vec<String> {
    let entries = fs::read_dir(unpacked.join("profiles")).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| name.parse::<ProfileName>().is_ok());
    names.sort();
    names.insert(0, DEFAULT_PROFILE.to_owned());
    names
}

fn new_name(import: Import<'_>, was: &str) -> Result<ProfileName> {
    match import.name {
        Some(name) => Ok(name.parse()?),
        None if was == DEFAULT_PROFILE => Err(Error::NotImported {
            what: format!("profile {was}"),
            why: "that is the home itself, which already exists".to_owned(),
            hint: "give it another name with `--name NEW`".to_owned(),
        }),
        None => Ok(was.parse()?),
    }
}

fn must_be_free(root: &Home, name: &ProfileName) -> Result<PathBuf> {
    let place = root.sibling(Some(name.clone())).folder().to_owned();
    if place.symlink_metadata().is_err() {
        return Ok(place);
    }
    Err(Error::NotImported {
        what: format!("profile {name}"),
        why: "a profile of that name already exists, and profiles are never overwritten".to_owned(),
        hint: "give it another name with `--name NEW`".to_owned(),
    })
}

/// The folder that becomes the profile; what only a root home has goes from it.
fn folder_of(unpacked: &Path, was: &str) -> Result<PathBuf> {
    if was != DEFAULT_PROFILE {
        let folder = unpacked.join("profiles").join(was);
        return match folder.is_dir() {
            true => Ok(folder),
            false => Err(Error::NotFound {
                id: format!("profile {was}"),
                why: "it is not in this archive".to_owned(),
            }),
        };
    }
    for path in ["profiles", "active_profile", "hermesd/deleted-profiles"] {
        let path = unpacked.join(path);
        let removed = match path.is_dir() {
            true => fs::remove_dir_all(&path),
            false if path.exists() => fs::remove_file(&path),
            false => Ok(()),
        };
        removed.map_err(|error| Error::file("remove", &path, error))?;
    }
    Ok(unpacked.to_owned())
}

/// A memory names its profile, so that no other one opens it.
fn rename_memory(
    folder: &Path,
    was: &str,
    name: &str,
    manifest: Option<&Manifest>,
) -> Result<Option<String>> {
    let path = folder.join("memory.db");
    let inside = match was {
        DEFAULT_PROFILE => "memory.db".to_owned(),
        _ => format!("profiles/{was}/memory.db"),
    };
    let is_damaged = |list: &Manifest| {
        list.files.iter().any(|file| file.path == inside && file.kind == Kind::Damaged)
    };
    if !foreign::is_database(&path) || manifest.is_some_and(is_damaged) {
        let remark = "memory.db is damaged: it still has the name of the profile it was made for";
        return Ok(path.exists().then(|| remark.to_owned()));
    }
    let mut memory =
        Memory::open(Wanted { path: &path, profile: was }, Access::Write, DEFAULT_WAIT)?;
    memory.rename_profile(name)?;
    drop(memory);
    if beside(&path, "-wal").symlink_metadata().is_ok_and(|log| log.len() > 0) {
        let why = std::io::Error::other("its write-ahead log could not be merged");
        return Err(Error::file("rename the profile of", &path, why));
    }
    remove_sidecars(&path)?;
    Ok(None)
}

/// Whoever was forgotten here since does not come back with the profile.
fn forget_again(
    from: &From<'_>,
    root: &Home,
    folder: &Path,
    name: &ProfileName,
) -> Result<Vec<String>> {
    let mut places = vec![root.root().to_owned(), root.backups()];
    places.extend(from.archive.parent().map(Path::to_owned));
    // As a home of its own it would be called default, and its memory has its new name already.
    let path = folder.join("memory.db");
    let rename = |was: &str, name: &str| -> Result<()> {
        let wanted = Wanted { path: &path, profile: was };
        let mut memory = Memory::open(wanted, Access::Write, DEFAULT_WAIT)?;
        Ok(memory.rename_profile(name)?)
    };
    if erasure::noted(&places).is_empty() || !path.is_file() {
        return Ok(Vec::new());
    }
    rename(name.as_str(), DEFAULT_PROFILE)?;
    let archive = from.archive.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let said = erasure::again(folder, &places, &archive, from.now);
    rename(DEFAULT_PROFILE, name.as_str())?;
    remove_sidecars(&path)?;
    Ok(said)
}

fn without_secrets(manifest: &Manifest) -> Option<String> {
    let out = manifest.left_out.iter().filter(|left| left.why == SECRET);
    let names: Vec<&str> = out.map(|left| left.path.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!("its secrets were not exported and must be set again: {}", names.join(", "))
    })
}

fn measure(folder: &Path) -> Result<(u64, u64)> {
    let failed = |error| Error::file("read", folder, error);
    let (mut files, mut bytes) = (0, 0);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let found = entry.metadata().map_err(failed)?;
        let (more, larger) =
            if found.is_dir() { measure(&entry.path())? } else { (1, found.len()) };
        files += more;
        bytes += larger;
    }
    Ok((files, bytes))
}

fn put(folder: &Path, place: &Path, root: &Path) -> Result<()> {
    owner::give_to_owner_of(folder, root)?;
    let profiles = place.parent().unwrap_or(root);
    atomic::make_folder(profiles)?;
    owner::give_to_owner_of(profiles, root)?;
    owner::sync(folder)?;
    fs::rename(folder, place)
        .and_then(|()| atomic::sync_folder(profiles))
        .map_err(|error| Error::file("move into place", place, error))
}
