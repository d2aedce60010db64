//! The members of a zip, as Hermes Agent makes one, checked for what no home holds.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use zip::ZipArchive;
use zip::read::ZipFile;

use crate::archive::Limits;
use crate::archive::members::{Announced, Sort};
use crate::archive::unsealed::{Known, Safe};
use crate::{Error, Result};

/// The first bytes of a zip.
pub(crate) const ZIP: [u8; 4] = *b"PK\x03\x04";

/// The bits of a mode that say what a file is.
const KIND: u32 = 0o170_000;
const LINK: u32 = 0o120_000;

/// Reads all members and hands them out one by one; links are handed out without content.
pub(crate) fn members(
    path: &Path,
    limits: Limits,
    take: &mut dyn FnMut(&mut Safe<'_>) -> Result<()>,
) -> Result<()> {
    let what = path.display().to_string();
    let tampered = |why: String| Error::Tampered { what: what.clone(), why };
    let file = File::open(path).map_err(|error| Error::file("read", path, error))?;
    let broken = |error: zip::result::ZipError| match error {
        zip::result::ZipError::Io(error) if error.raw_os_error().is_some() => {
            Error::file("read", path, error)
        }
        error => tampered(format!("it was changed or truncated ({error})")),
    };
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(broken)?;
    if archive.len() as u64 > limits.members || archive.has_duplicate_names() {
        return Err(tampered("it contains a file twice, or too many files".to_owned()));
    }
    let mut known = Known::new(limits);
    for place in 0..archive.len() {
        let mut member = archive.by_index(place).map_err(broken)?;
        let announced = announce(&member);
        let (path, sort) =
            known.admit(&announced, super::unsealed::Links::PassedOver).map_err(&tampered)?;
        let mut content =
            Exact { input: &mut member as &mut dyn Read, left: announced.size, failed: None };
        let taken = take(&mut Safe {
            path,
            sort,
            size: announced.size,
            mode: announced.mode,
            modified: announced.modified,
            content: &mut content,
        });
        // To the end, where the checksum is compared.
        let rest = io::copy(&mut content, &mut io::sink());
        if let Some(why) = content.failed.or_else(|| rest.err().map(|error| error.to_string())) {
            return Err(tampered(format!("it was changed or truncated ({why})")));
        }
        taken?;
    }
    Ok(())
}

fn announce<R: Read>(member: &ZipFile<'_, R>) -> Announced {
    let mode = member.unix_mode().unwrap_or(0o600);
    let is_link = member.is_symlink() || mode & KIND == LINK;
    let kind = match (is_link, member.is_dir(), mode & KIND) {
        (true, ..) => Sort::Link("a symbolic link"),
        (_, true, _) => Sort::Folder,
        (_, _, 0 | 0o100_000) => Sort::File,
        _ => Sort::Other("of an unsupported type"),
    };
    let modified = member.last_modified().and_then(|at| {
        let [month, day] = [at.month(), at.day()].map(|number| i8::try_from(number).ok());
        let [hour, minute, second] =
            [at.hour(), at.minute(), at.second()].map(|number| i8::try_from(number).ok());
        let year = i16::try_from(at.year()).ok()?;
        let at = jiff::civil::DateTime::new(year, month?, day?, hour?, minute?, second?, 0).ok()?;
        Some(at.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_second())
    });
    Announced {
        path: member.name_raw().to_vec(),
        kind,
        size: if is_link || kind == Sort::Folder { 0 } else { member.size() },
        mode: mode & 0o777,
        modified: modified.unwrap_or(0),
    }
}

/// Content of exactly the announced size.
struct Exact<'a> {
    input: &'a mut dyn Read,
    left: u64,
    failed: Option<String>,
}

impl Read for Exact<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer).inspect_err(|error| {
            if error.kind() != io::ErrorKind::Interrupted {
                self.failed = Some(error.to_string());
            }
        })?;
        let wrong = match self.left.checked_sub(count as u64) {
            None => Some("a file in it is larger than its entry says"),
            Some(left) if count == 0 && left > 0 && !buffer.is_empty() => {
                Some("a file in it is smaller than its entry says")
            }
            Some(left) => {
                self.left = left;
                None
            }
        };
        match wrong {
            None => Ok(count),
            Some(why) => {
                self.failed = Some(why.to_owned());
                Err(io::Error::other(why))
            }
        }
    }
}
