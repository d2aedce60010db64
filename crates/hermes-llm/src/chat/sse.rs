//! Lines of an answer as they come over the network, and the server-sent events they make up.

use std::io::Read;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

const PIECE: usize = 16 << 10;
const PIECES_AHEAD: usize = 16;
/// Each word comes in an envelope, so a stream may be this much larger than what it says.
const ENVELOPES: usize = 64;

/// One server-sent event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its name; empty when none was given.
    pub(crate) name: String,
    /// Its data lines, joined by line breaks.
    pub(crate) data: String,
}

/// Why no line could be had.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LineFault {
    /// Nothing came for too long.
    Silent,
    /// The connection broke.
    Broken(String),
    /// A line, or all of them, is larger than allowed.
    TooLarge,
}

/// The lines of a body, read by a thread of their own so that a silence is noticed.
pub(crate) struct Lines {
    pieces: Receiver<Result<Vec<u8>, String>>,
    cut: LineCutter,
    ended: bool,
}

/// Puts lines together into events.
#[derive(Debug, Default)]
pub(crate) struct Events {
    event: Event,
    has_data: bool,
}

/// Cuts bytes into lines, within a bound.
#[derive(Debug)]
struct LineCutter {
    bytes: Vec<u8>,
    start: usize,
    scanned: usize,
    seen: usize,
    limit: usize,
    /// Whether the last line given had no end.
    is_unfinished: bool,
}

impl Lines {
    /// Begins to read; a line may have as many bytes as the answer may have.
    pub(crate) fn new(body: impl Read + Send + 'static, limit: usize) -> Lines {
        let (sender, pieces) = sync_channel(PIECES_AHEAD);
        std::thread::spawn(move || pump(body, &sender));
        Lines { pieces, cut: LineCutter::new(limit), ended: false }
    }

    /// Whether the body ended in the middle of the line that was given last.
    pub(crate) fn is_unfinished(&self) -> bool {
        self.cut.is_unfinished
    }

    /// The next line without its end; none when the body has ended.
    pub(crate) fn next(&mut self, wait: Duration) -> Result<Option<String>, LineFault> {
        loop {
            if let Some(line) = self.cut.line(self.ended) {
                return Ok(Some(line));
            }
            if self.ended {
                return Ok(None);
            }
            match self.pieces.recv_timeout(wait) {
                Ok(Ok(piece)) => self.cut.push(&piece)?,
                Ok(Err(why)) => return Err(LineFault::Broken(why)),
                Err(RecvTimeoutError::Timeout) => return Err(LineFault::Silent),
                Err(RecvTimeoutError::Disconnected) => self.ended = true,
            }
        }
    }
}

/// Reads until the end, an error, or until nobody listens; the request's own deadline ends it at last.
fn pump(mut body: impl Read, sender: &SyncSender<Result<Vec<u8>, String>>) {
    let mut buffer = vec![0; PIECE];
    loop {
        let piece = match body.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => Ok(buffer[..count].to_vec()),
            Err(error) => Err(error.to_string()),
        };
        let is_last = piece.is_err();
        if sender.send(piece).is_err() || is_last {
            return;
        }
    }
}

impl LineCutter {
    fn new(limit: usize) -> LineCutter {
        LineCutter { bytes: Vec::new(), start: 0, scanned: 0, seen: 0, limit, is_unfinished: false }
    }

    fn push(&mut self, piece: &[u8]) -> Result<(), LineFault> {
        self.bytes.drain(..self.start);
        self.scanned -= self.start;
        self.start = 0;
        self.seen += piece.len();
        if self.bytes.len() + piece.len() > self.limit + PIECE || self.seen / ENVELOPES > self.limit
        {
            return Err(LineFault::TooLarge);
        }
        self.bytes.extend_from_slice(piece);
        Ok(())
    }

    /// The next line that is complete, or what is left when nothing more will come.
    fn line(&mut self, is_all: bool) -> Option<String> {
        let end = match self.bytes[self.scanned..].iter().position(|byte| *byte == b'\n') {
            Some(offset) => self.scanned + offset,
            None if is_all && self.start < self.bytes.len() => {
                self.is_unfinished = true;
                self.bytes.len()
            }
            None => {
                self.scanned = self.bytes.len();
                return None;
            }
        };
        let line = &self.bytes[self.start..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = String::from_utf8_lossy(line).into_owned();
        self.start = (end + 1).min(self.bytes.len());
        self.scanned = self.start;
        Some(line)
    }
}

impl Events {
    /// Takes a line; an empty one completes an event.
    pub(crate) fn line(&mut self, line: &str) -> Option<Event> {
        if line.is_empty() {
            return self.end();
        }
        // A line that begins with a colon is a comment, sent to keep the connection alive.
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "data" => {
                if self.has_data {
                    self.event.data.push('\n');
                }
                self.has_data = true;
                self.event.data.push_str(value);
            }
            _ => {}
        }
        None
    }

    /// What is left when nothing more will come; an event without data is none.
    pub(crate) fn end(&mut self) -> Option<Event> {
        let event = std::mem::take(&mut self.event);
        std::mem::take(&mut self.has_data).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WAIT: Duration = Duration::from_secs(5);

    fn events(text: &str) -> Vec<(String, String)> {
        let mut events = Events::default();
        let mut found: Vec<Event> = text.lines().filter_map(|line| events.line(line)).collect();
        found.extend(events.end());
        found.into_iter().map(|event| (event.name, event.data)).collect()
    }

    fn lines(bytes: &[u8]) -> Vec<String> {
        let mut lines = Lines::new(std::io::Cursor::new(bytes.to_vec()), 1 << 20);
        std::iter::from_fn(|| lines.next(WAIT).unwrap()).collect()
    }

    #[test]
    fn comments_are_skipped_and_data_lines_are_joined() {
        let text =
            ": keep alive\n\nevent: a\ndata: one\ndata:two\nid: 7\n\ndata: three\n\n\nevent: b\n\n";
        let expected = [("a", "one\ntwo"), ("", "three")];
        assert_eq!(events(text), expected.map(|(name, data)| (name.into(), data.into())));
        assert_eq!(events("data: unfinished").len(), 1);
    }

    #[test]
    fn lines_end_with_or_without_a_carriage_return() {
        assert_eq!(lines(b"a\r\nb\n\nc"), ["a", "b", "", "c"]);
        assert_eq!(lines(b""), Vec::<String>::new());
    }

    #[test]
    fn a_line_without_end_is_given_up() {
        let mut lines = Lines::new(std::io::repeat(b'x'), 100_000);
        assert_eq!(lines.next(WAIT), Err(LineFault::TooLarge));
        let endless = std::io::Cursor::new(b"x\n".repeat(400_000));
        let mut lines = Lines::new(endless, 10_000);
        let fault = std::iter::from_fn(|| Some(lines.next(WAIT))).find_map(Result::err);
        assert_eq!(fault, Some(LineFault::TooLarge));
    }

    #[test]
    fn a_silence_is_noticed() {
        struct Silent(std::sync::mpsc::Receiver<()>);
        impl Read for Silent {
            fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
                let _ = self.0.recv();
                Ok(0)
            }
        }
        let (_sender, receiver) = std::sync::mpsc::channel();
        let mut lines = Lines::new(Silent(receiver), 10);
        assert_eq!(lines.next(Duration::from_millis(1)), Err(LineFault::Silent));
    }

    proptest! {
        #[test]
        fn however_a_text_is_cut_into_pieces_its_lines_are_the_same(
            text in "[a-c\r\n:]{0,200}",
            sizes in proptest::collection::vec(1usize..9, 1..40),
        ) {
            let mut cutter = LineCutter::new(1000);
            let mut found = Vec::new();
            let mut rest = text.as_bytes();
            for size in sizes.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (piece, after) = rest.split_at((*size).min(rest.len()));
                rest = after;
                cutter.push(piece).unwrap();
                found.extend(std::iter::from_fn(|| cutter.line(false)));
            }
            found.extend(std::iter::from_fn(|| cutter.line(true)));
            let whole = text.split_inclusive('\n').map(|line| {
                let line = line.strip_suffix('\n').unwrap_or(line);
                line.strip_suffix('\r').unwrap_or(line).to_owned()
            });
            prop_assert_eq!(found, whole.collect::<Vec<_>>());
        }
    }
}
