//! Files and folders of others: looked at carefully, read only, links out of them not followed.

use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::{Error, Result};

/// How many folders may stand inside one another.
const DEEPEST: usize = 24;
/// How many files one import looks at.
const MOST_FILES: usize = 1_000_000;
const BUFFER: usize = 128 * 1024;

/// A file with what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) path: PathBuf,
    pub(crate) size: u64,
    pub(crate) changed: Option<Timestamp>,
}

/// The regular files below a folder.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) files: Vec<Listed>,
    /// Links, which are not followed.
    pub(crate) links: u64,
    /// Folders that cannot be read, with the reason.
    pub(crate) unreadable: Vec<(PathBuf, String)>,
}

/// Opens a regular file; devices, pipes and folders are refused, for they may never end.
pub(crate) fn open(path: &Path) -> Result<BufReader<File>> {
    let failed = |source| Error::file(path, source);
    refuse_special(path)?;
    Ok(BufReader::with_capacity(BUFFER, File::open(path).map_err(failed)?))
}

/// A whole text file of a bounded size; none, with the reason, if it is bigger or no text.
pub(crate) fn text(path: &Path, largest: u64) -> Result<std::result::Result<String, String>> {
    let mut bytes = Vec::new();
    open(path)?
        .take(largest.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|source| Error::file(path, source))?;
    if bytes.len() as u64 > largest {
        return Ok(Err(format!("it is larger than {} MiB", largest / 1024 / 1024)));
    }
    if let Some(why) = crate::lines::wrong_encoding(&bytes) {
        return Ok(Err(why.to_owned()));
    }
    let text = String::from_utf8(bytes);
    Ok(text
        .map(|text| text.trim_start_matches('\u{feff}').to_owned())
        .map_err(|why| format!("not UTF-8 at byte {}", why.utf8_error().valid_up_to() + 1)))
}

/// Fails if there is nothing, or something that is neither a regular file nor a folder.
pub(crate) fn refuse_special(path: &Path) -> Result<fs::Metadata> {
    let found = path.metadata().map_err(|source| Error::file(path, source))?;
    if found.is_file() {
        return Ok(found);
    }
    let why = if found.is_dir() { "it is a folder" } else { "it is not a regular file" };
    Err(Error::not_this(path, why))
}

/// When a file was changed last.
pub(crate) fn changed(path: &Path) -> Option<Timestamp> {
    path.metadata().ok().as_ref().and_then(changed_of)
}

fn changed_of(found: &fs::Metadata) -> Option<Timestamp> {
    Timestamp::try_from(found.modified().ok()?).ok()
}

/// All regular files below a folder whose names are wanted, sorted by path. Links are counted, not followed.
pub(crate) fn below(folder: &Path, is_wanted: &dyn Fn(&Path) -> bool) -> Listing {
    let mut listing = Listing::default();
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((inside, depth)) = open.pop() {
        let entries = match fs::read_dir(&inside) {
            Ok(entries) => entries,
            Err(why) => {
                listing.unreadable.push((inside, why.to_string()));
                continue;
            }
        };
        for entry in entries.flatten() {
            let path = entry.path();
            let Ok(found) = path.symlink_metadata() else { continue };
            if found.is_symlink() {
                listing.links += u64::from(is_wanted(&path) || path.is_dir());
            } else if found.is_dir() && depth < DEEPEST {
                open.push((path, depth + 1));
            } else if found.is_file() && is_wanted(&path) && listing.files.len() < MOST_FILES {
                let changed = changed_of(&found);
                listing.files.push(Listed { path, size: found.len(), changed });
            }
        }
    }
    listing.files.sort_by(|a, b| a.path.cmp(&b.path));
    listing
}

/// Whether the name of a file ends so, whatever its case.
pub(crate) fn ends_with(path: &Path, ending: &str) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    name.ends_with(ending)
}

/// The name of a file without its folder.
pub(crate) fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The name of a file without its folder and ending.
pub(crate) fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
