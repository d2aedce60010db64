//! Lines of JSON, one object a line: a bad line is counted and the rest goes on.

use std::io::{self, BufRead, Read};
use std::path::Path;

use serde_json::{Map, Value};

use crate::reading::Reading;
use crate::{Error, Result};

/// An object on a line, with its number from 1.
pub(crate) type Line = (u64, Map<String, Value>);

/// A longer line is skipped: it has to fit in memory several times over.
pub(crate) const LONGEST_LINE: usize = 64 * 1024 * 1024;

/// Hands out every line that is a JSON object; counts the others.
pub(crate) fn each(
    path: &Path,
    input: &mut dyn BufRead,
    reading: &mut Reading<'_>,
    take: &mut dyn FnMut(&mut Reading<'_>, Line) -> Result<()>,
) -> Result<()> {
    reading.tally.files += 1;
    let mut bytes = Vec::new();
    for number in 1.. {
        let read = match next(input, &mut bytes, LONGEST_LINE) {
            Ok(read) => read,
            Err(why) if number == 1 && why.raw_os_error().is_some() => {
                return Err(Error::file(path, why));
            }
            Err(why) => {
                reading.tally.problem(path, Some(number), format!("could not read further: {why}"));
                return Ok(());
            }
        };
        if number == 1
            && let Some(why) = wrong_encoding(&bytes)
        {
            reading.tally.problem(path, None, why);
            return Ok(());
        }
        let text = without_mark(&bytes);
        match read {
            Next::End => return Ok(()),
            Next::TooLong => {
                reading.tally.problem(path, Some(number), "the line is longer than 64 MiB");
            }
            Next::Line | Next::Torn if text.trim_ascii().is_empty() => {}
            Next::Line | Next::Torn => match serde_json::from_slice(text) {
                Ok(Value::Object(object)) => take(reading, (number, object))?,
                Ok(_) => reading.tally.problem(path, Some(number), "not a JSON object"),
                Err(why) => reading.tally.problem(path, Some(number), fault(&read, text, &why)),
            },
        }
    }
    Ok(())
}

/// Why a file is no UTF-8 text, as far as its first bytes tell.
pub(crate) fn wrong_encoding(beginning: &[u8]) -> Option<&'static str> {
    if beginning.starts_with(b"\xff\xfe") || beginning.starts_with(b"\xfe\xff") {
        return Some("it is UTF-16: save it as UTF-8");
    }
    let first = &beginning[..beginning.len().min(512)];
    first.contains(&0).then_some("it is not text")
}

/// The bytes without the mark that some editors put at the start of a file.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

fn fault(read: &Next, text: &[u8], why: &serde_json::Error) -> String {
    if let Err(place) = std::str::from_utf8(text) {
        return format!("not UTF-8 at byte {}", place.valid_up_to() + 1);
    }
    match read {
        Next::Torn => "the last line is truncated".to_owned(),
        _ => format!("not JSON: {why}"),
    }
}

enum Next {
    Line,
    /// The last line, which has no line end.
    Torn,
    TooLong,
    End,
}

/// Reads a line without ever holding more than `longest` bytes; a longer one is skipped.
fn next(from: &mut dyn BufRead, line: &mut Vec<u8>, longest: usize) -> io::Result<Next> {
    line.clear();
    let room = u64::try_from(longest).unwrap_or(u64::MAX).saturating_add(1);
    if Read::take(&mut *from, room).read_until(b'\n', line)? == 0 {
        return Ok(Next::End);
    }
    match line.last() {
        Some(b'\n') => Ok(Next::Line),
        _ if line.len() <= longest => Ok(Next::Torn),
        _ => {
            line.clear();
            from.skip_until(b'\n')?;
            Ok(Next::TooLong)
        }
    }
}
