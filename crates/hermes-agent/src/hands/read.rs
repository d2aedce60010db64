//! read_file: a range of a text file, however large the file is.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::Hands;
use super::arguments::Arguments;
use super::output::{cancelled, counted, done, failed, refused};
use crate::diff::is_binary;
use crate::error::Error;
use crate::fence::Opened;
use crate::toolbox::{Call, Outcome};

/// A line is shown up to here.
const LONGEST_LINE: usize = 2_000;
/// So much is skipped to find a line; beyond it, a byte has to be named.
const MOST_SKIPPED: u64 = 512 * 1024 * 1024;
const PIECE: usize = 256 * 1024;

/// Which part is wanted.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    first: u64,
    lines: u64,
    from_byte: Option<u64>,
    cap: usize,
}

/// What was read.
#[derive(Debug, Default)]
struct Part {
    text: String,
    /// How many lines are in it.
    lines: u64,
    /// How many bytes of the file were taken, skipped ones too.
    bytes: u64,
    is_end: bool,
    /// Whether it stopped on the way to the first line.
    is_too_far: bool,
}

impl Hands {
    pub(super) fn read_file(&self, call: &Call) -> Result<Outcome, Outcome> {
        let known = ["path", "first", "lines", "from_byte"];
        let arguments = Arguments::of(&call.name, &call.input, &known)?;
        let text = arguments.text("path")?;
        let wanted = Wanted {
            first: arguments.number("first")?.unwrap_or(1).max(1),
            lines: arguments.number("lines")?.filter(|lines| *lines > 0).unwrap_or(u64::MAX),
            from_byte: arguments.number("from_byte")?,
            cap: self.output_cap,
        };
        let mut opened = self.fence.open(text).map_err(|error| self.unreadable(text, &error))?;
        let name = self.fence.shown(&opened.path);
        let size = opened.metadata.len();
        let read = |error: io::Error| failed(&Error::read(&opened.path, error));
        if is_not_text(&mut opened.file).map_err(read)? {
            return Err(refused(format!("{name} is a binary file of {}", in_bytes(size))));
        }
        let part = self.part(&mut opened.file, &wanted).map_err(read)?;
        if self.is_cancelled() {
            return Err(cancelled());
        }
        Ok(told(&name, &opened, &wanted, &part))
    }

    /// Reads line by line in bounded memory.
    fn part(&self, file: &mut File, wanted: &Wanted) -> io::Result<Part> {
        file.seek(SeekFrom::Start(wanted.from_byte.unwrap_or(0)))?;
        let mut reader = BufReader::with_capacity(PIECE, file);
        let mut part = Part::default();
        let first = if wanted.from_byte.is_some() { 1 } else { wanted.first };
        let mut number = 1;
        let mut line = Vec::new();
        loop {
            if number < first && part.bytes > MOST_SKIPPED {
                part.is_too_far = true;
                return Ok(part);
            }
            if part.lines >= wanted.lines || self.is_cancelled() {
                return Ok(part);
            }
            line.clear();
            let taken = self.take_line(&mut reader, &mut line)?;
            if taken == 0 {
                part.is_end = true;
                return Ok(part);
            }
            if number >= first {
                let row = row(&line, (wanted.from_byte.is_none()).then_some(number), taken);
                if !part.text.is_empty() && part.text.len() + row.len() > wanted.cap {
                    return Ok(part);
                }
                part.text.push_str(&row);
                part.lines += 1;
            }
            part.bytes += taken;
            number += 1;
        }
    }

    /// One line, of which only the beginning is kept; says how many bytes it has in the file.
    fn take_line(&self, reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<u64> {
        let mut taken = 0;
        loop {
            let piece = reader.fill_buf()?;
            if piece.is_empty() || self.is_cancelled() || taken > MOST_SKIPPED {
                return Ok(taken);
            }
            let end = piece.iter().position(|byte| *byte == b'\n');
            let count = end.map_or(piece.len(), |end| end + 1);
            let room = (LONGEST_LINE * 4 + 1).saturating_sub(line.len());
            line.extend_from_slice(&piece[..count.min(room)]);
            reader.consume(count);
            taken += count as u64;
            if end.is_some() {
                return Ok(taken);
            }
        }
    }

    /// Why a file cannot be read, with names that are like it.
    pub(super) fn unreadable(&self, text: &str, error: &Error) -> Outcome {
        let is_missing =
            matches!(error, Error::Read { source, .. } if source.kind() == io::ErrorKind::NotFound);
        if matches!(error, Error::NotPlain { what: "a folder", .. }) {
            return refused(format!("{error}; list_files shows what is in it"));
        }
        if !is_missing {
            return failed(error);
        }
        let near = self.names_like(text);
        match near.is_empty() {
            true => refused(format!("there is no file {text}")),
            false => refused(format!("there is no file {text}; there is {}", near.join(", "))),
        }
    }

    /// Names in the same folder that look like the one that is not there.
    fn names_like(&self, text: &str) -> Vec<String> {
        const MOST: usize = 2_000;
        let Ok(path) = self.fence.resolve(text, crate::fence::Aim::Read) else { return Vec::new() };
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Vec::new();
        };
        let Ok(entries) = folder.read_dir() else { return Vec::new() };
        let names: Vec<String> = entries
            .take(MOST)
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        let names: Vec<&str> = names
            .iter()
            .map(String::as_str)
            .filter(|name| self.fence.judge(&folder.join(name), crate::fence::Aim::Read).is_ok())
            .collect();
        let near = similar::get_close_matches(name.to_string_lossy().as_ref(), &names, 3, 0.6);
        near.into_iter().map(|name| self.fence.shown(&folder.join(name))).collect()
    }
}

fn is_not_text(file: &mut File) -> io::Result<bool> {
    let mut head = Vec::new();
    file.take(8_192).read_to_end(&mut head)?;
    Ok(is_binary(&head))
}

fn row(line: &[u8], number: Option<u64>, taken: u64) -> String {
    let body = line.strip_suffix(b"\n").unwrap_or(line);
    let body = String::from_utf8_lossy(body.strip_suffix(b"\r").unwrap_or(body)).into_owned();
    let mut letters = body.chars();
    let mut shown: String = letters.by_ref().take(LONGEST_LINE).collect();
    if letters.next().is_some() || taken > line.len() as u64 {
        shown.push_str(&format!(" [… the line has {}]", in_bytes(taken)));
    }
    match number {
        Some(number) => format!("{number}\t{shown}\n"),
        None => format!("{shown}\n"),
    }
}

fn told(name: &str, opened: &Opened, wanted: &Wanted, part: &Part) -> Outcome {
    let size = opened.metadata.len();
    if part.is_too_far {
        return refused(format!(
            "{name} has {}: line {} is too far in it; begin at a byte with from_byte",
            in_bytes(size),
            wanted.first
        ));
    }
    let shown = format!(
        "read {name}, {}",
        counted(usize::try_from(part.lines).unwrap_or(usize::MAX), "line")
    );
    let mut text = part.text.clone();
    let last = wanted.first + part.lines.saturating_sub(1);
    match (part.lines, wanted.from_byte, part.is_end) {
        (0, _, _) if size == 0 => text = format!("({name} is empty)"),
        (0, None, _) => text = format!("({name} has fewer than {} lines)", wanted.first),
        (0, Some(_), _) => text = format!("({name} has only {})", in_bytes(size)),
        (_, None, true) => {}
        (_, None, false) => {
            text.push_str(&format!(
                "(lines {} to {last}; it goes on, next is first {})",
                wanted.first,
                last + 1
            ));
        }
        (_, Some(from), _) => {
            let end = from + part.bytes;
            text.push_str(&format!("(bytes {from} to {end} of {size})"));
        }
    }
    done(text, shown)
}

fn in_bytes(size: u64) -> String {
    format!("{} bytes", hermes_home::text::thousands(size))
}

/// What a whole file holds, up to a size.
pub(super) fn whole(opened: &mut Opened, most: u64) -> Result<Vec<u8>, Outcome> {
    let size = opened.metadata.len();
    if size > most {
        return Err(refused(format!(
            "{} has {}: that is too large to be changed here",
            display(&opened.path),
            in_bytes(size)
        )));
    }
    let mut bytes = Vec::new();
    let read = Read::by_ref(&mut opened.file).take(most + 1).read_to_end(&mut bytes);
    read.map_err(|error| failed(&Error::read(&opened.path, error)))?;
    Ok(bytes)
}

fn display(path: &Path) -> String {
    path.display().to_string()
}
