//! What goes back to the model and to the person: short enough, and sane.

use crate::toolbox::Outcome;

/// A call that failed or was not done. Whatever comes from files and commands is not the person's words, also the
/// names in an error.
pub(super) fn refused(text: impl Into<String>) -> Outcome {
    Outcome { text: text.into(), is_error: true, shown: None, ends_turn: false, is_outside: true }
}

/// The same for an error of this crate.
pub(super) fn failed(error: &crate::Error) -> Outcome {
    refused(error.to_string())
}

/// A call that was carried out.
pub(super) fn done(text: impl Into<String>, shown: impl Into<String>) -> Outcome {
    Outcome { is_error: false, shown: Some(shown.into()), ..refused(text) }
}

/// The end of a turn because the person wants it.
pub(super) fn cancelled() -> Outcome {
    Outcome {
        shown: Some("cancelled".to_owned()),
        ends_turn: true,
        ..refused("cancelled by the user")
    }
}

/// One line of at most so many characters.
pub(super) fn short(text: &str, most: usize) -> String {
    let line = text.lines().next().unwrap_or_default();
    let is_whole = line.len() == text.trim_end_matches('\n').len();
    let mut letters = line.chars();
    let mut shown: String = letters.by_ref().take(most).collect();
    if letters.next().is_some() || !is_whole {
        shown.push('…');
    }
    shown
}

/// `1 line`, `2 lines`.
pub(super) fn counted(count: usize, what: &str) -> String {
    let number = hermes_home::text::thousands(count as u64);
    if count == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// Bytes that come in, of which the beginning and the end are kept.
#[derive(Debug)]
pub(super) struct Pile {
    head: Vec<u8>,
    tail: std::collections::VecDeque<u8>,
    /// How many bytes each of the two may have.
    half: usize,
    total: u64,
}

impl Pile {
    pub(super) fn new(cap: usize) -> Pile {
        Pile { head: Vec::new(), tail: std::collections::VecDeque::new(), half: cap / 2, total: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let to_head = bytes.len().min(self.half.saturating_sub(self.head.len()));
        self.head.extend_from_slice(&bytes[..to_head]);
        let rest = &bytes[to_head..];
        self.tail.extend(&rest[rest.len().saturating_sub(self.half)..]);
        let surplus = self.tail.len().saturating_sub(self.half);
        self.tail.drain(..surplus);
    }

    /// All of it, or the beginning and the end with what is between counted.
    pub(super) fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        let kept = (self.head.len() + tail.len()) as u64;
        if kept == self.total {
            let whole: Vec<u8> = self.head.iter().copied().chain(tail).collect();
            return String::from_utf8_lossy(&whole).into_owned();
        }
        let left_out = hermes_home::text::thousands(self.total - kept);
        let head = String::from_utf8_lossy(&self.head).into_owned();
        let tail = String::from_utf8_lossy(&tail).into_owned();
        format!("{head}\n[… {left_out} bytes left out …]\n{tail}")
    }

    pub(super) fn is_empty(&self) -> bool {
        self.total == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pile_keeps_the_beginning_and_the_end() {
        let mut pile = Pile::new(10);
        pile.push(b"abc");
        assert_eq!(pile.text(), "abc");
        pile.push(b"defghij");
        assert_eq!(pile.text(), "abcdefghij");
        for _ in 0..100 {
            pile.push(b"0123456789");
        }
        assert_eq!(pile.text(), "abcde\n[… 1,000 bytes left out …]\n56789");
    }

    #[test]
    fn a_short_text_is_one_line() {
        assert_eq!(short("abc", 3), "abc");
        assert_eq!(short("abcd", 3), "abc…");
        assert_eq!(short("a\nb", 3), "a…");
    }
}
