//! Markdown that comes in pieces, shown block by block as blocks are complete.

mod render;
mod table;
mod wrap;

use pulldown_cmark::{Event, Parser, Tag};

use super::clean::clean;
use render::{OPTIONS, code_line, label};

/// How it is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// How many columns a line may have.
    pub(crate) columns: usize,
    /// Whether styles are used; otherwise the marks of Markdown stay.
    pub(crate) is_styled: bool,
}

/// A text on its way.
#[derive(Debug)]
pub(crate) struct Markdown {
    look: Look,
    /// Whole lines of blocks that may go on.
    pending: String,
    /// The line that has no end yet.
    line: String,
    fence: Option<Fence>,
    last: Last,
}

/// A code block that is open.
#[derive(Debug, Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
}

/// What was shown last, for the empty line before the next block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    Block,
    /// An item of a list, and whether an empty line came after it.
    Item {
        is_loose: bool,
    },
}

/// A block, or an item of a list, that begins at a place of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Unit {
    start: usize,
    is_item: bool,
    /// What more it may take in.
    open: Open,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    /// Nothing: a heading, a rule.
    No,
    /// Lines up to an empty one.
    ToEmptyLine,
    /// Whatever comes: a list.
    ToNext,
}

/// A block that gets longer than this is shown as far as it came, so that reading it costs no time.
const LONGEST_BLOCK: usize = 32 * 1024;

impl Markdown {
    pub(crate) fn new(look: Look) -> Markdown {
        let (pending, line) = (String::new(), String::new());
        Markdown { look, pending, line, fence: None, last: Last::Nothing }
    }

    /// Takes a piece in; what is complete by now comes out.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        let mut shown = String::new();
        for part in clean(piece).split_inclusive('\n') {
            self.line.push_str(part);
            if part.ends_with('\n') {
                let line = std::mem::take(&mut self.line);
                self.take(&line, &mut shown);
            }
        }
        shown
    }

    /// The rest; after it a new text may begin.
    pub(crate) fn finish(&mut self) -> String {
        let mut shown = String::new();
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.take(&(line + "\n"), &mut shown);
        }
        self.flush(&mut shown);
        self.fence = None;
        self.last = Last::Nothing;
        shown
    }

    /// The end of what is not shown yet, on one line and without marks.
    pub(crate) fn preview(&self) -> String {
        let text = format!("{}{}", self.pending, self.line).replace(['*', '`', '#', '|'], "");
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let room = self.look.columns.saturating_sub(1);
        let mut tail: Vec<char> = Vec::new();
        let mut used = 0;
        for c in flat.chars().rev() {
            used += wrap::width(c.encode_utf8(&mut [0; 4]));
            if used > room {
                break;
            }
            tail.push(c);
        }
        tail.iter().rev().collect()
    }

    fn take(&mut self, line: &str, shown: &mut String) {
        if let Some(fence) = self.fence {
            match fence.is_closed_by(line) {
                true => self.fence = None,
                false => shown.push_str(&code_line(line.trim_end_matches('\n'), self.look)),
            }
            return;
        }
        if let Some((fence, language)) = Fence::opened_by(line) {
            self.flush(shown);
            self.gap(shown, false);
            shown.push_str(&label(language, self.look));
            (self.fence, self.last) = (Some(fence), Last::Block);
            return;
        }
        if self.pending.is_empty() && line.trim().is_empty() {
            if let Last::Item { is_loose } = &mut self.last {
                *is_loose = true;
            }
            return;
        }
        self.pending.push_str(line);
        let last = units(&self.pending).last().copied();
        let is_empty = line.trim().is_empty();
        let is_done = last.is_none_or(|unit| match unit.open {
            Open::No => true,
            Open::ToEmptyLine => is_empty,
            Open::ToNext => false,
        });
        match last {
            _ if is_done || self.pending.len() > LONGEST_BLOCK => self.flush(shown),
            Some(unit) if unit.start > 0 => {
                let rest = self.pending.split_off(unit.start);
                self.flush(shown);
                self.pending = rest;
            }
            _ => {}
        }
    }

    /// Shows all that waits.
    fn flush(&mut self, shown: &mut String) {
        let text = std::mem::take(&mut self.pending);
        let units = units(&text);
        let ends = units.iter().skip(1).map(|unit| unit.start).chain([text.len()]);
        for (unit, end) in units.iter().zip(ends) {
            let part = &text[unit.start..end];
            self.gap(shown, unit.is_item);
            shown.push_str(&render::block(part, self.look));
            let is_loose = part.ends_with("\n\n");
            self.last = if unit.is_item { Last::Item { is_loose } } else { Last::Block };
        }
    }

    /// The empty line between two blocks.
    fn gap(&self, shown: &mut String, is_item: bool) {
        let is_parted = match self.last {
            Last::Nothing => false,
            Last::Item { is_loose } if is_item => is_loose,
            Last::Item { .. } | Last::Block => true,
        };
        if is_parted {
            shown.push('\n');
        }
    }
}

impl Fence {
    /// A fence at the very beginning of a line is in no list; others are left to the parser.
    fn opened_by(line: &str) -> Option<(Fence, &str)> {
        let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let length = line.chars().take_while(|c| *c == mark).count();
        let language = line[length..].trim();
        let is_fence = length >= 3 && !(mark == '`' && language.contains('`'));
        is_fence.then_some((Fence { mark, length }, language))
    }

    fn is_closed_by(self, line: &str) -> bool {
        let line = line.trim_end();
        let bare = line.trim_start_matches(' ');
        line.len() - bare.len() <= 3
            && bare.chars().count() >= self.length
            && bare.chars().all(|c| c == self.mark)
    }
}

/// Where blocks begin, and items of lists that are in nothing else.
fn units(text: &str) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    let (mut depth, mut is_in_list) = (0_usize, false);
    for (event, range) in Parser::new_ext(text, OPTIONS).into_offset_iter() {
        let unit = |is_item: bool, open: Open| Unit { start: range.start, is_item, open };
        match &event {
            Event::Start(tag) => {
                match (depth, tag) {
                    (0, Tag::List(_)) => is_in_list = true,
                    (0, tag) => units.push(unit(false, open(tag))),
                    (1, Tag::Item) if is_in_list => units.push(unit(true, Open::ToNext)),
                    _ => {}
                }
                depth += 1;
            }
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                is_in_list &= depth > 0;
            }
            Event::Rule if depth == 0 => units.push(unit(false, Open::No)),
            _ => {}
        }
    }
    units
}

fn open(tag: &Tag<'_>) -> Open {
    match tag {
        Tag::Heading { .. } => Open::No,
        Tag::Paragraph | Tag::Table(_) | Tag::BlockQuote(_) => Open::ToEmptyLine,
        _ => Open::ToNext,
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
