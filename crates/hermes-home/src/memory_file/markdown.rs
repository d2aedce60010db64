//! Entries and headings of a Markdown file.

use std::collections::HashMap;
use std::ops::Range;

use jiff::civil::Date;

use super::date_mark;
use super::lines::{self, Bullet, Line};
use super::parse::{Entry, Heading, Style, text_start};

/// Reads a text. A comment or fence that is never closed is plain text: it hides nothing.
pub(super) fn parse(text: &str) -> (Vec<Entry>, Vec<Heading>) {
    let lines = lines::split(text);
    let comments = matching_comments(text);
    let mut reader = Reader { text, lines, comments, open_fences: HashMap::new() };
    let blocks = reader.blocks();
    let blocks = attach_dates(&reader, blocks);
    finish(&reader, blocks)
}

/// A run of lines that belongs together.
#[derive(Debug)]
struct Block {
    kind: Kind,
    /// All its lines, a date comment above or below included.
    lines: Range<usize>,
    /// The lines with its text.
    body: Range<usize>,
    /// The date of comments on lines of their own.
    date: Option<Date>,
}

#[derive(Debug)]
enum Kind {
    Heading { level: usize, text: String },
    Date,
    Plain,
    Fence,
    Bullet(Bullet),
}

struct Reader<'a> {
    text: &'a str,
    lines: Vec<Line<'a>>,
    /// Where each closed comment ends, by where it begins.
    comments: HashMap<usize, usize>,
    /// For each fence character the shortest fence known to have no end below.
    open_fences: HashMap<char, usize>,
}

impl Reader<'_> {
    fn blocks(&mut self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut at = self.front_matter_end();
        while at < self.lines.len() {
            at = self.next_block(at, &mut blocks);
        }
        blocks
    }

    /// Reads the block that begins at a line, and returns the line after it.
    fn next_block(&mut self, at: usize, blocks: &mut Vec<Block>) -> usize {
        let line = self.lines[at].content;
        if line.trim().is_empty() || lines::is_rule(line) || lines::is_double_underline(line) {
            return at + 1;
        }
        if let Some((level, text)) = lines::heading(line) {
            blocks.push(block(Kind::Heading { level, text }, at..at + 1));
            return at + 1;
        }
        if let Some(end) = self.comment_end(at) {
            if let ("", Some(date)) = date_mark::split(line.trim_start()) {
                blocks.push(Block { date: Some(date), ..block(Kind::Date, at..end) });
            }
            return end;
        }
        if let Some(end) = self.fence_end(at) {
            blocks.push(block(Kind::Fence, at..end));
            return end;
        }
        if let Some(bullet) = lines::bullet(line) {
            let end = self.bullet_end(at, &bullet);
            blocks.push(block(Kind::Bullet(bullet), at..end));
            return end;
        }
        self.paragraph(at, blocks)
    }

    fn paragraph(&mut self, first: usize, blocks: &mut Vec<Block>) -> usize {
        let mut end = first + 1;
        while end < self.lines.len() && !self.ends_paragraph(end) {
            end += 1;
        }
        if let Some(level) = self.underline(first, end) {
            let text = self.lines[first].content.trim().to_owned();
            blocks.push(block(Kind::Heading { level, text }, first..end + 1));
            return end + 1;
        }
        let mut begin = first;
        for at in first + 1..end {
            if self.begins_key_value(at, first) {
                blocks.push(block(Kind::Plain, begin..at));
                begin = at;
            }
        }
        blocks.push(block(Kind::Plain, begin..end));
        end
    }

    /// A key in small letters counts only below another: it may be the end of a sentence.
    fn begins_key_value(&self, at: usize, first: usize) -> bool {
        let is_small =
            |at: usize| self.lines[at].content.trim_start().starts_with(char::is_lowercase);
        let is_key_value = |at: usize| lines::is_key_value(self.lines[at].content);
        is_key_value(at) && (!is_small(at) || (is_small(first) && is_key_value(first)))
    }

    fn ends_paragraph(&mut self, at: usize) -> bool {
        let line = self.lines[at].content;
        line.trim().is_empty()
            || lines::is_rule(line)
            || lines::is_double_underline(line)
            || lines::heading(line).is_some()
            || lines::bullet(line).is_some_and(|bullet| bullet.may_interrupt)
            || self.comment_end(at).is_some()
            || self.fence_end(at).is_some()
    }

    /// The level of the heading that a line of `===` or `---` makes of the one line above it.
    fn underline(&self, first: usize, end: usize) -> Option<usize> {
        let below = self.lines.get(end)?.content;
        if end != first + 1 || lines::is_key_value(self.lines[first].content) {
            None
        } else if lines::is_double_underline(below) {
            Some(1)
        } else {
            lines::is_single_underline(below).then_some(2)
        }
    }

    /// A list item goes on over indented lines, and over lines that begin nothing else.
    fn bullet_end(&mut self, first: usize, bullet: &Bullet) -> usize {
        let mut end = first + 1;
        let mut next = first + 1;
        while let Some(line) = self.lines.get(next).map(|line| line.content) {
            if line.trim().is_empty() {
                next += 1;
                continue;
            }
            let is_inside = lines::indent(line) >= bullet.indent + 2;
            if !is_inside && (next > end || self.ends_item(next, bullet)) {
                break;
            }
            next += 1;
            end = next;
        }
        end
    }

    fn ends_item(&mut self, at: usize, bullet: &Bullet) -> bool {
        let line = self.lines[at].content;
        let is_next_number = bullet.is_ordered && lines::bullet(line).is_some();
        is_next_number || self.begins_key_value(at, at - 1) || self.ends_paragraph(at)
    }

    /// The line after the comments that begin this line, unless it is text with a comment before it.
    fn comment_end(&self, at: usize) -> Option<usize> {
        let line = &self.lines[at];
        let mut begin = line.start + (line.content.len() - line.content.trim_start().len());
        loop {
            let close = *self.comments.get(&begin)?;
            let last = self.lines.partition_point(|line| line.start < close) - 1;
            let rest = &self.text[close..self.lines[last].start + self.lines[last].content.len()];
            if rest.trim().is_empty() || last > at {
                return Some(last + 1);
            }
            begin = close + (rest.len() - rest.trim_start().len());
        }
    }

    /// The line after the closing fence, when this line opens a block that is closed.
    fn fence_end(&mut self, at: usize) -> Option<usize> {
        let (mark, length) = lines::opening_fence(self.lines[at].content)?;
        if self.open_fences.get(&mark).is_some_and(|open| length >= *open) {
            return None;
        }
        let below = &self.lines[at + 1..];
        let close = below.iter().position(|line| lines::closes_fence(line.content, mark, length));
        if close.is_none() {
            self.open_fences.insert(mark, length);
        }
        close.map(|offset| at + 1 + offset + 1)
    }

    /// The line after the front matter; two rules with Markdown between them are none.
    fn front_matter_end(&self) -> usize {
        let line = |at: usize| self.lines.get(at).map_or("", |line| line.content.trim_end());
        let is_yaml = line(1).contains(':') && !line(1).starts_with(['#', '-', '*', '+', '<']);
        if line(0) != "---" || !is_yaml {
            return 0;
        }
        let closes = |line: &Line| matches!(line.content.trim_end(), "---" | "...");
        self.lines.iter().skip(1).position(closes).map_or(0, |offset| offset + 2)
    }

    fn bytes(&self, lines: &Range<usize>) -> Range<usize> {
        self.lines[lines.start].start..self.lines[lines.end - 1].next
    }

    fn entry_text(&self, block: &Block) -> (String, Option<Date>) {
        let first = self.lines[block.body.start].content;
        let (skip, column) = match &block.kind {
            Kind::Bullet(bullet) => (bullet.prefix.len(), bullet.column),
            _ => (first.len() - first.trim_start().len(), lines::indent(first)),
        };
        let mut text = first[skip..].to_owned();
        for line in &self.lines[block.body.start + 1..block.body.end] {
            text.push('\n');
            text.push_str(lines::dedent(line.content, column));
        }
        let (text, date) = match block.kind {
            Kind::Fence => (text, None),
            _ => date_mark::split_lines(&text),
        };
        (text.trim().to_owned(), date.max(block.date))
    }
}

fn block(kind: Kind, lines: Range<usize>) -> Block {
    Block { kind, body: lines.clone(), lines, date: None }
}

/// Pairs each `<!--` with its `-->`; comments inside comments are counted.
fn matching_comments(text: &str) -> HashMap<usize, usize> {
    let mut open = Vec::new();
    let mut pairs = HashMap::new();
    let mut at = text_start(text);
    while let Some(offset) = text[at..].find("--") {
        let dashes = at + offset;
        if text[..dashes].ends_with("<!") {
            open.push(dashes - 2);
            at = dashes + 2;
        } else if text[dashes..].starts_with("-->") {
            if let Some(begin) = open.pop() {
                pairs.insert(begin, dashes + 3);
            }
            at = dashes + 3;
        } else {
            at = dashes + 1;
        }
    }
    pairs
}

/// Gives a date comment on its own line to the undated entry right above it, else to the one
/// right below.
fn attach_dates(reader: &Reader<'_>, blocks: Vec<Block>) -> Vec<Block> {
    let takes_date = |block: &Block| block.is_entry() && reader.entry_text(block).1.is_none();
    let mut attached: Vec<Block> = Vec::new();
    let mut waiting: Option<Block> = None;
    for mut block in blocks {
        if let Some(comment) = waiting.take()
            && comment.lines.end == block.lines.start
            && takes_date(&block)
        {
            block.lines.start = comment.lines.start;
            block.date = comment.date;
        }
        match (&block.kind, attached.last_mut()) {
            (Kind::Date, Some(above))
                if above.lines.end == block.lines.start && takes_date(above) =>
            {
                above.lines.end = block.lines.end;
                above.date = block.date;
            }
            (Kind::Date, _) => waiting = Some(block),
            _ => attached.push(block),
        }
    }
    attached
}

impl Block {
    fn is_entry(&self) -> bool {
        matches!(self.kind, Kind::Plain | Kind::Fence | Kind::Bullet(_))
    }
}

/// Numbers the entries and tells each which headings it stands under.
fn finish(reader: &Reader<'_>, blocks: Vec<Block>) -> (Vec<Entry>, Vec<Heading>) {
    let (mut entries, mut headings) = (Vec::new(), Vec::new());
    let mut path: Vec<(usize, String)> = Vec::new();
    for block in blocks {
        let range = reader.bytes(&block.lines);
        if let Kind::Heading { level, text } = block.kind {
            path.retain(|(above, _)| *above < level);
            path.push((level, text.clone()));
            headings.push(Heading { level, text, range });
            continue;
        }
        let (text, written) = reader.entry_text(&block);
        if text.is_empty() {
            continue;
        }
        let style = match block.kind {
            Kind::Bullet(Bullet { prefix, .. }) if prefix.ends_with([' ', '\t']) => {
                Style::Bullet { prefix }
            }
            Kind::Bullet(Bullet { prefix, .. }) => Style::Bullet { prefix: format!("{prefix} ") },
            _ => Style::Plain,
        };
        let section = path.iter().map(|(_, heading)| heading.clone()).collect();
        entries.push(Entry { number: entries.len() + 1, section, text, written, range, style });
    }
    (entries, headings)
}
