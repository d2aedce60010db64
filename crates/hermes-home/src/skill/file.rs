//! Read one file of a skill: regular, not too big, never through a link.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::error::skill::{Fault, Problem};
use crate::skill::LARGEST_FILE;

/// The bytes of a file, or what is wrong with it.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Problem> {
    let what = || path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let cannot = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Fault::NoFile.at(1),
        _ => Fault::Unreadable { why: source.to_string() }.at(1),
    };
    let found = path.symlink_metadata().map_err(cannot)?;
    if !found.is_file() {
        return Err(Fault::NotPlain { what: what() }.at(1));
    }
    let too_big = |size| Fault::TooBig { what: what(), size }.at(1);
    if found.len() > LARGEST_FILE {
        return Err(too_big(found.len()));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(cannot)?;
    file.take(LARGEST_FILE + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() as u64 > LARGEST_FILE { Err(too_big(bytes.len() as u64)) } else { Ok(bytes) }
}
