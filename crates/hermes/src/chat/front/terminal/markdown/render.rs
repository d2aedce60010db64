//! One block of Markdown as lines for a terminal.

use anstyle::{AnsiColor, Style};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::Look;
use super::table::Table;
use super::wrap::{Piece, width, wrap};
use crate::chat::front::terminal::clean::clean;
use crate::output::{BOLD, DIM};

/// What is understood beyond plain Markdown.
pub(super) const OPTIONS: Options =
    Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TASKLISTS);

const CODE: Style = AnsiColor::Cyan.on_default();
/// Before every line of code.
const INDENT: &str = "  ";
/// The longest rule.
const RULE: usize = 40;

/// The block as lines, each with its end.
pub(super) fn block(text: &str, look: Look) -> String {
    let mut painter = Painter::new(look);
    for event in Parser::new_ext(text, OPTIONS) {
        painter.take(event);
    }
    painter.flush();
    painter.out
}

/// A line of code; it is never parted, so that it can be copied.
pub(super) fn code_line(line: &str, look: Look) -> String {
    match look.is_styled {
        true => format!("{INDENT}{CODE}{line}{CODE:#}\n"),
        false => format!("{INDENT}{line}\n"),
    }
}

/// What a code block is written in, if it says so.
pub(super) fn label(language: &str, look: Look) -> String {
    match (language.is_empty(), look.is_styled) {
        (true, _) => String::new(),
        (false, true) => format!("{INDENT}{DIM}{language}{DIM:#}\n"),
        (false, false) => format!("{INDENT}[{language}]\n"),
    }
}

/// What stands before the lines of something nested.
struct Lead {
    /// Before the first line, until it is used: a bullet.
    first: Option<String>,
    rest: String,
}

struct Painter {
    look: Look,
    out: String,
    leads: Vec<Lead>,
    styles: Vec<Style>,
    pieces: Vec<Piece>,
    /// The next number of each list, none for bullets.
    lists: Vec<Option<u64>>,
    /// Where links and images lead.
    links: Vec<String>,
    code: Option<String>,
    table: Option<Table>,
    /// Whether an empty line is due before the next line.
    gap: bool,
}

impl Painter {
    fn new(look: Look) -> Painter {
        Painter {
            look,
            out: String::new(),
            leads: Vec::new(),
            styles: Vec::new(),
            pieces: Vec::new(),
            lists: Vec::new(),
            links: Vec::new(),
            code: None,
            table: None,
            gap: false,
        }
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some(code) => code.push_str(&text),
                None => self.text(&text),
            },
            Event::Code(text) => self.code_span(&text),
            Event::SoftBreak => self.text(" "),
            Event::HardBreak => self.text("\n"),
            Event::Rule => {
                let columns = self.columns().min(RULE);
                self.line(&[Piece::new("─".repeat(columns), DIM)]);
                self.gap = true;
            }
            Event::TaskListMarker(is_done) => self.text(if is_done { "[x] " } else { "[ ] " }),
            Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::FootnoteReference(name) => self.text(&format!("[^{name}]")),
            Event::InlineMath(text) | Event::DisplayMath(text) => self.text(&text),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => {
                let mark = "#".repeat(level as usize) + " ";
                self.mark(&mark);
                self.styles.push(if level as usize == 1 { BOLD.underline() } else { BOLD });
            }
            Tag::BlockQuote(_) => {
                self.leads.push(Lead { first: None, rest: "│ ".to_owned() });
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                self.code = Some(String::new());
                if let CodeBlockKind::Fenced(language) = kind {
                    let label = label(&clean(&language), self.look);
                    self.raw(&label);
                }
            }
            Tag::List(start) => {
                self.flush();
                self.lists.push(start);
            }
            Tag::Item => self.item(),
            Tag::Emphasis => self.open("*", Style::new().italic()),
            Tag::Strong => self.open("**", BOLD),
            Tag::Strikethrough => self.open("~~", Style::new().strikethrough()),
            Tag::Link { dest_url, .. } => {
                self.links.push(clean(&dest_url));
                self.styles.push(Style::new().underline());
            }
            Tag::Image { dest_url, .. } => {
                self.links.push(clean(&dest_url));
                self.text("[image: ");
            }
            Tag::Table(alignments) => self.table = Some(Table::new(alignments)),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => {
                self.flush();
                self.gap = true;
            }
            TagEnd::Heading(_) => {
                self.styles.pop();
                self.flush();
                self.gap = true;
            }
            TagEnd::BlockQuote(_) => {
                self.flush();
                self.leads.pop();
                self.gap = true;
            }
            TagEnd::CodeBlock => self.code_block(),
            TagEnd::List(_) => {
                self.lists.pop();
                self.gap |= self.lists.is_empty();
            }
            TagEnd::Item => {
                self.flush();
                // An item without a word still has its bullet.
                if self.leads.last().is_some_and(|lead| lead.first.is_some()) {
                    self.line(&[]);
                }
                self.leads.pop();
            }
            TagEnd::Emphasis => self.close("*"),
            TagEnd::Strong => self.close("**"),
            TagEnd::Strikethrough => self.close("~~"),
            TagEnd::Link => self.link(),
            TagEnd::Image => {
                self.text("]");
                let to = self.links.pop().unwrap_or_default();
                self.pieces.push(Piece::new(format!(" ({to})"), DIM));
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.pieces);
                if let Some(table) = &mut self.table {
                    table.cell(cell);
                }
            }
            TagEnd::TableHead | TagEnd::TableRow => {
                if let Some(table) = &mut self.table {
                    table.end_row();
                }
            }
            TagEnd::Table => self.end_table(),
            _ => {}
        }
    }

    fn item(&mut self) {
        let bullet = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number += 1;
                format!("{}. ", *number - 1)
            }
            _ => "• ".to_owned(),
        };
        let rest = " ".repeat(width(&bullet));
        self.leads.push(Lead { first: Some(bullet), rest });
    }

    fn link(&mut self) {
        let style = self.styles.pop().unwrap_or_default();
        let to = self.links.pop().unwrap_or_default();
        let said: String = self
            .pieces
            .iter()
            .rev()
            .take_while(|piece| piece.style == style)
            .map(|piece| piece.text.as_str())
            .collect();
        if !to.is_empty()
            && !self.pieces.iter().any(|piece| piece.text.ends_with(&to))
            && said != to
        {
            self.pieces.push(Piece::new(format!(" ({to})"), DIM));
        }
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        for line in table.lines(self.columns()) {
            self.line(&line);
        }
        self.gap = true;
    }

    fn code_span(&mut self, text: &str) {
        let text = clean(text);
        match self.look.is_styled {
            true => self.pieces.push(Piece::new(text, CODE)),
            false => self.pieces.push(Piece::new(format!("`{text}`"), Style::new())),
        }
    }

    fn code_block(&mut self) {
        for line in self.code.take().unwrap_or_default().lines() {
            let line = code_line(line, self.look);
            self.raw(&line);
        }
        self.gap = true;
    }

    fn open(&mut self, mark: &str, style: Style) {
        self.mark(mark);
        let around = self.styles.last().copied().unwrap_or_default();
        self.styles.push(style.effects(style.get_effects() | around.get_effects()));
    }

    fn close(&mut self, mark: &str) {
        self.styles.pop();
        self.mark(mark);
    }

    /// The mark of Markdown itself, where no style says it.
    fn mark(&mut self, mark: &str) {
        if !self.look.is_styled {
            self.text(mark);
        }
    }

    fn text(&mut self, text: &str) {
        let style = self.styles.last().copied().unwrap_or_default();
        self.pieces.push(Piece::new(clean(text), style));
    }

    /// How many columns are left beside what stands before the lines.
    fn columns(&self) -> usize {
        let taken: usize = self.leads.iter().map(|lead| width(&lead.rest)).sum();
        self.look.columns.saturating_sub(taken).max(10)
    }

    fn flush(&mut self) {
        let pieces = std::mem::take(&mut self.pieces);
        if pieces.iter().all(|piece| piece.text.trim().is_empty()) {
            return;
        }
        for line in wrap(&pieces, self.columns()) {
            self.line(&line);
        }
    }

    fn line(&mut self, pieces: &[Piece]) {
        let mut text = String::new();
        for piece in pieces {
            match self.look.is_styled && piece.style != Style::new() {
                true => {
                    let style = piece.style;
                    text.push_str(&format!("{style}{}{style:#}", piece.text));
                }
                false => text.push_str(&piece.text),
            }
        }
        self.raw(&(text + "\n"));
    }

    /// A line that is styled already, behind what stands before it.
    fn raw(&mut self, line: &str) {
        if line.is_empty() {
            return;
        }
        if std::mem::take(&mut self.gap) && !self.out.is_empty() {
            let before: String = self.leads.iter().map(|lead| lead.rest.as_str()).collect();
            // Bullets that wait do not belong to the line before them.
            self.out.push_str(before.trim_end());
            self.out.push('\n');
        }
        for lead in &mut self.leads {
            let text = lead.first.take();
            self.out.push_str(text.as_deref().unwrap_or(&lead.rest));
        }
        self.out.push_str(line);
    }
}
