//! The elements of a JSON array, one after the other, never more of the file in memory than one of them.

use std::io::{self, BufRead};
use std::path::Path;

use serde_json::Value;

use crate::lines::{self, Line};
use crate::reading::Reading;
use crate::{Error, Result};

/// A longer element is skipped: it has to fit in memory several times over.
const LONGEST_ELEMENT: usize = 256 * 1024 * 1024;
/// Deeper nesting is no document that a program wrote.
const LONGEST_KEY: usize = 4096;

/// Hands out the objects of an array, which is the document itself or stands below one of the `keys` of an
/// object. A bad element is counted and the rest goes on. False: there is no such array.
pub(crate) fn each(
    path: &Path,
    input: &mut dyn BufRead,
    keys: &[&str],
    reading: &mut Reading<'_>,
    take: &mut dyn FnMut(&mut Reading<'_>, Line) -> Result<()>,
) -> Result<bool> {
    let mut scanner = Scanner { input, line: 1 };
    let failed = |why| Error::file(path, why);
    let beginning = scanner.input.fill_buf().map_err(failed)?;
    if let Some(why) = lines::wrong_encoding(beginning) {
        return Err(Error::not_this(path, why));
    }
    if beginning.starts_with(b"\xef\xbb\xbf") {
        scanner.input.consume(3);
    }
    reading.tally.files += 1;
    if !scanner.enter(keys).map_err(failed)? {
        return Ok(false);
    }
    let mut element = Vec::new();
    loop {
        let line = match scanner.next(&mut element) {
            Ok(Next::End) => return Ok(true),
            Ok(Next::Element(line)) => line,
            Ok(Next::TooLong(line)) => {
                reading.tally.problem(path, Some(line), "the element is longer than 256 MiB");
                continue;
            }
            Ok(Next::Cut(line)) => {
                reading.tally.problem(path, Some(line), "the file is truncated or damaged here");
                return Ok(true);
            }
            Err(why) => {
                let reason = format!("could not read further: {why}");
                reading.tally.problem(path, Some(scanner.line), reason);
                return Ok(true);
            }
        };
        match serde_json::from_slice(&element) {
            Ok(Value::Object(object)) => take(reading, (line, object))?,
            Ok(_) => reading.tally.problem(path, Some(line), "not a JSON object"),
            Err(why) => reading.tally.problem(path, Some(line), format!("not JSON: {why}")),
        }
    }
}

enum Next {
    Element(u64),
    TooLong(u64),
    Cut(u64),
    End,
}

/// Finds where values begin and end, without understanding them.
struct Scanner<'a> {
    input: &'a mut dyn BufRead,
    line: u64,
}

impl Scanner<'_> {
    /// Goes to the first element of the array; false if there is none to go to.
    fn enter(&mut self, keys: &[&str]) -> io::Result<bool> {
        match self.peek()? {
            Some(b'[') => {
                self.input.consume(1);
                return Ok(true);
            }
            Some(b'{') => self.input.consume(1),
            _ => return Ok(false),
        }
        let mut key = Vec::new();
        loop {
            match self.peek()? {
                Some(b',') => self.input.consume(1),
                Some(b'"') => {
                    key.clear();
                    if !self.value(&mut key, LONGEST_KEY)? || self.peek()? != Some(b':') {
                        return Ok(false);
                    }
                    self.input.consume(1);
                    let name: String = serde_json::from_slice(&key).unwrap_or_default();
                    if self.peek()? == Some(b'[') && keys.contains(&name.as_str()) {
                        self.input.consume(1);
                        return Ok(true);
                    }
                    key.clear();
                    if !self.value(&mut key, 0)? {
                        return Ok(false);
                    }
                }
                _ => return Ok(false),
            }
        }
    }

    fn next(&mut self, element: &mut Vec<u8>) -> io::Result<Next> {
        element.clear();
        if self.peek()? == Some(b',') {
            self.input.consume(1);
        }
        match self.peek()? {
            Some(b']') => {
                self.input.consume(1);
                return Ok(Next::End);
            }
            None | Some(b',' | b'}' | b':') => return Ok(Next::Cut(self.line)),
            Some(_) => {}
        }
        let line = self.line;
        if !self.value(element, LONGEST_ELEMENT)? {
            return Ok(Next::Cut(line));
        }
        Ok(if element.len() > LONGEST_ELEMENT { Next::TooLong(line) } else { Next::Element(line) })
    }

    /// The next byte that is no space.
    fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            let buffer = self.input.fill_buf()?;
            let Some(first) = buffer.first().copied() else { return Ok(None) };
            if !first.is_ascii_whitespace() {
                return Ok(Some(first));
            }
            self.line += u64::from(first == b'\n');
            self.input.consume(1);
        }
    }

    /// Reads one value; false if the input ends in it. Of a longer one than `longest` only that it is longer is kept.
    fn value(&mut self, kept: &mut Vec<u8>, longest: usize) -> io::Result<bool> {
        let mut shape = Shape::default();
        loop {
            let buffer = self.input.fill_buf()?;
            if buffer.is_empty() {
                // A number or a word may end with the input.
                return Ok(shape.is_bare);
            }
            let end = buffer.iter().position(|byte| shape.ends_before(*byte));
            let length = end.unwrap_or(buffer.len());
            self.line += buffer[..length].iter().filter(|byte| **byte == b'\n').count() as u64;
            if kept.len() <= longest {
                let room = (longest + 1).saturating_sub(kept.len());
                kept.extend_from_slice(&buffer[..length.min(room)]);
            }
            self.input.consume(length);
            if end.is_some() {
                return Ok(true);
            }
        }
    }
}

/// How far a value is, byte by byte.
#[derive(Default)]
struct Shape {
    depth: usize,
    in_text: bool,
    is_escaped: bool,
    /// Neither a text nor something in brackets.
    is_bare: bool,
    is_over: bool,
}

impl Shape {
    /// Whether the value ended before this byte.
    fn ends_before(&mut self, byte: u8) -> bool {
        if self.is_over {
            return true;
        }
        if self.in_text {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => {
                    self.in_text = false;
                    self.is_over = self.depth == 0;
                }
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' if !self.is_bare => self.in_text = true,
            b'[' | b'{' => self.depth += 1,
            b']' | b'}' if self.depth == 0 => return true,
            b']' | b'}' => {
                self.depth -= 1;
                self.is_over = self.depth == 0;
            }
            b',' | b':' if self.depth == 0 => return true,
            _ if self.depth == 0 && byte.is_ascii_whitespace() => return true,
            _ if self.depth == 0 => self.is_bare = true,
            _ => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use proptest::prelude::*;

    use super::*;

    fn elements(text: &str, keys: &[&str]) -> (Vec<String>, bool) {
        // A buffer of three bytes: every value is cut somewhere.
        let mut input = BufReader::with_capacity(3, text.as_bytes());
        let mut scanner = Scanner { input: &mut input, line: 1 };
        let mut found = Vec::new();
        if !scanner.enter(keys).unwrap() {
            return (found, false);
        }
        let mut element = Vec::new();
        loop {
            match scanner.next(&mut element).unwrap() {
                Next::Element(_) => found.push(String::from_utf8(element.clone()).unwrap()),
                Next::End => return (found, true),
                _ => return (found, false),
            }
        }
    }

    #[test]
    fn elements_are_found_whatever_is_in_them() {
        let text = r#" [ {"a":"]}\"["} , [1,{"b":2}], 7 ,"x" ,true] "#;
        let wanted = [r#"{"a":"]}\"["}"#, r#"[1,{"b":2}]"#, "7", r#""x""#, "true"];
        assert_eq!(elements(text, &[]), (wanted.map(str::to_owned).to_vec(), true));
        assert_eq!(elements("[]", &[]), (Vec::new(), true));
    }

    #[test]
    fn an_array_may_stand_below_a_key() {
        let text = r#"{"count": 2, "x":{"results":[9]}, "results": [{"a":1}], "next":null}"#;
        assert_eq!(elements(text, &["results"]), (vec![r#"{"a":1}"#.to_owned()], true));
        assert!(!elements(text, &["memories"]).1);
        assert!(!elements("nonsense", &["results"]).1);
    }

    #[test]
    fn what_stands_before_a_cut_is_found() {
        assert_eq!(elements(r#"[{"a":1},{"b":"#, &[]), (vec![r#"{"a":1}"#.to_owned()], false));
    }

    proptest! {
        #[test]
        fn any_text_comes_to_an_end(text in r#"[\[\]{}",:a1 \\]{0,60}"#) {
            elements(&text, &["a"]);
        }
    }
}
