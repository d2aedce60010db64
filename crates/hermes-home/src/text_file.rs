//! A text file of the home that people edit: how its entries are set apart; read unless it is too big or no text.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::error::{Error, Result};

/// The most bytes a memory file may have.
pub const LARGEST_FILE: u64 = 4 * 1024 * 1024;

/// How the entries of a file are set apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// Headings, bullets and paragraphs, with date comments.
    Markdown,
    /// Entries with a line `§` between them, as Hermes Agent writes them.
    Sections,
}

/// A whole new text, from an editor.
#[derive(Debug, Clone)]
pub struct WholeText<'a> {
    /// The new text.
    pub text: &'a str,
    /// The hash of the text that was edited.
    pub expected_hash: &'a str,
}

/// The bytes of a file; none when there is no such file.
pub(crate) fn read_bytes(path: &Path) -> Result<Option<Vec<u8>>> {
    let found = match path.metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::read(path, error)),
        Ok(found) => found,
    };
    if !found.is_file() {
        return Err(Error::NotText { path: path.to_owned(), why: "it is not a regular file" });
    }
    check_size(path, found.len())?;
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|source| Error::read(path, source))?;
    file.take(LARGEST_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(|source| Error::read(path, source))?;
    check_size(path, bytes.len() as u64)?;
    Ok(Some(bytes))
}

/// The text of a file; none when there is no such file.
pub(crate) fn read_text(path: &Path) -> Result<Option<String>> {
    let Some(bytes) = read_bytes(path)? else { return Ok(None) };
    let refused = |why| Error::NotText { path: path.to_owned(), why };
    let text = String::from_utf8(bytes).map_err(|_| refused("it is not UTF-8"))?;
    if text.contains('\0') {
        return Err(refused("it contains a NUL character"));
    }
    Ok(Some(text))
}

/// Fails when a memory file of this size would be too big.
pub(crate) fn check_size(path: &Path, size: u64) -> Result<()> {
    if size <= LARGEST_FILE {
        return Ok(());
    }
    Err(Error::FileTooBig { path: path.to_owned(), size, limit: LARGEST_FILE })
}
