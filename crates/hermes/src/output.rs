//! Text for people, JSON for programs, from the same struct.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, BufWriter, Write};
use std::sync::{Arc, Mutex};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
pub(crate) use hermes_home::text::thousands;
use serde::Serialize;

/// What a command has to show: serialised for `--json`, written by hand for people.
pub(crate) trait Show: Serialize {
    /// Writes the form for people.
    fn text(&self, page: &mut Page) -> io::Result<()>;
}

/// A list as JSON: `{"results":[…]}`.
#[derive(Debug, Serialize)]
pub(crate) struct Listing<T> {
    pub(crate) results: Vec<T>,
}

/// Where data goes: standard output, and nothing else.
pub(crate) struct Output {
    json: bool,
    quiet: bool,
    /// The flags that name the home, so that a command in a hint means the same home.
    place: String,
    page: Page,
    /// Where remarks go instead of standard error.
    sheet: Option<Sheet>,
}

impl Output {
    pub(crate) fn new(json: bool, quiet: bool, color: ColorChoice, place: String) -> Output {
        Output { json, quiet, place, page: Page::new(color), sheet: None }
    }

    /// Text for people on a sheet: data and remarks in the order in which they were made.
    pub(crate) fn on_sheet(sheet: Sheet) -> Output {
        let page = Page::on(Box::new(sheet.clone()), ColorChoice::AlwaysAnsi);
        Output { json: false, quiet: false, place: String::new(), page, sheet: Some(sheet) }
    }

    /// The same without styles: for people, or as JSON for programs.
    pub(crate) fn plain_on(sheet: Sheet, json: bool) -> Output {
        let page = Page::on(Box::new(sheet.clone()), ColorChoice::Never);
        // Data must stay data: remarks have no place beside it.
        let remarks = if json { Sheet::default() } else { sheet };
        Output { json, quiet: false, place: String::new(), page, sheet: Some(remarks) }
    }

    /// Whether styles are shown.
    pub(crate) fn is_styled(&self) -> bool {
        self.page.writer.get_ref().current_choice() != ColorChoice::Never
    }

    /// Shows the value in the form the user asked for.
    pub(crate) fn show<T: Show>(&mut self, value: &T) -> anyhow::Result<()> {
        if self.json {
            serde_json::to_writer(&mut self.page, value).map_err(io::Error::from)?;
            writeln!(self.page)?;
        } else {
            value.text(&mut self.page)?;
        }
        Ok(self.page.flush()?)
    }

    /// Whether remarks are not wanted.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// The page itself, for data that is already in its final form.
    pub(crate) fn raw(&mut self) -> &mut Page {
        &mut self.page
    }

    /// A remark for people, on standard error; programs and `--quiet` do not get it.
    pub(crate) fn note(&self, text: impl Display) {
        match &self.sheet {
            Some(sheet) => sheet.clone().note(&text.to_string()),
            None if !self.json && !self.quiet => {
                let _ = writeln!(anstream::stderr(), "{}", with_marks(&text.to_string()));
            }
            None => {}
        }
    }

    /// A `hint:` line for people.
    pub(crate) fn hint(&self, text: impl Display) {
        let text = in_place(&text.to_string(), &self.place);
        if self.sheet.is_some() {
            return self.note(format_args!("hint: {text}"));
        }
        let cyan = AnsiColor::Cyan.on_default();
        self.note(format_args!("{cyan}hint:{cyan:#} {text}"));
    }
}

/// Standard output, buffered, colours removed where they do not belong.
pub(crate) struct Page {
    writer: BufWriter<AutoStream<Box<dyn Write + Send>>>,
}

/// Text that is shown later, by whoever asked for it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sheet(Arc<Mutex<Vec<u8>>>);

impl Sheet {
    /// What was written, with its styles.
    pub(crate) fn text(&self) -> String {
        let bytes = self.0.lock().map(|bytes| bytes.clone()).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn note(&mut self, text: &str) {
        let _ = writeln!(self, "{DIM}{}{DIM:#}", with_marks(text));
    }
}

impl Write for Sheet {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Ok(mut kept) = self.0.lock() {
            kept.extend_from_slice(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Page {
    fn new(color: ColorChoice) -> Page {
        Page::on(Box::new(io::stdout()), color)
    }

    fn on(writer: Box<dyn Write + Send>, color: ColorChoice) -> Page {
        Page { writer: BufWriter::new(AutoStream::new(writer, color)) }
    }

    /// One line.
    pub(crate) fn line(&mut self, text: impl Display) -> io::Result<()> {
        writeln!(self.writer, "{}", with_marks(&text.to_string()))
    }

    /// A table without rules: columns two spaces apart, the head dimmed.
    pub(crate) fn table(&mut self, head: &[&str], rows: &[Vec<String>]) -> io::Result<()> {
        let mut table = comfy_table::Table::new();
        table.load_style(comfy_table::presets::NOTHING);
        table.set_header(head.iter().map(|cell| cell.to_uppercase()));
        for row in rows {
            table.add_row(row.iter().map(|cell| with_marks(&printable(cell)).into_owned()));
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        for (number, line) in table.lines().enumerate() {
            let style = if number == 0 { DIM } else { Style::new() };
            writeln!(self.writer, "{style}{}{style:#}", line.trim_end())?;
        }
        Ok(())
    }
}

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// For what matters less.
pub(crate) const DIM: Style = Style::new().dimmed();
/// For headings and names.
pub(crate) const BOLD: Style = Style::new().bold();
/// For what is well.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// For what should be looked at.
pub(crate) const CARE: Style = AnsiColor::Yellow.on_default();
/// For what is broken.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
/// For the words that were searched for.
pub(crate) const FOUND: Style = AnsiColor::Yellow.on_default().bold();

/// The text with the flags that name the home put into every command it shows.
pub(crate) fn in_place(text: &str, place: &str) -> String {
    const COMMAND: &str = "`hermes ";
    // Commands about profiles work on all of them.
    let home_alone = place.split("--profile").next().unwrap_or_default();
    let mut pieces = text.split(COMMAND);
    let mut placed = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let place = if piece.starts_with("profile ") { home_alone } else { place };
        placed = placed + COMMAND + place + piece;
    }
    placed
}

/// A number of bytes as people read it.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if count < 1000 {
        return format!("{count} B");
    }
    let mut value = count as f64 / 1000.0;
    let mut unit = 0;
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// A count with its noun: "1 session", "2 sessions".
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", thousands(count))
}

/// A count of entries of a memory file.
pub(crate) fn entries(count: usize) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{} entries", thousands(count as u64)) }
}

/// The text on one line and at most `width` characters long.
pub(crate) fn one_line(text: &str, width: usize) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let flat: String = flat.chars().filter(|c| !c.is_control()).collect();
    if flat.chars().count() <= width {
        return flat;
    }
    let mut short: String = flat.chars().take(width.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// The text without control characters that could drive the terminal; line breaks and tabs stay.
pub(crate) fn printable(text: &str) -> String {
    text.replace("\r\n", "\n")
        .chars()
        .map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c })
        .collect()
}

/// Characters that turn the direction of others, the ends of lines that nobody sees, and tags that no font shows: text that
/// holds them may look like another.
pub(crate) fn is_turning(c: char) -> bool {
    matches!(
        c,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            | '\u{2028}' | '\u{2029}' | '\u{e0000}'..='\u{e007f}'
    )
}

/// The sign for a character that cannot be shown: `<U+202E>`.
pub(crate) fn mark(c: char) -> String {
    format!("<U+{:04X}>", u32::from(c))
}

/// Text as a person sees it: what turns its direction is a mark. Every line, remark and error goes through here; data for
/// programs does not.
pub(crate) fn with_marks(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_turning) {
        return Cow::Borrowed(text);
    }
    let mut marked = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_turning(c) { marked.push_str(&mark(c)) } else { marked.push(c) }
    }
    Cow::Owned(marked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(18_400_000), "18.4 MB");
        assert_eq!(bytes(999_999), "1.0 MB");
        assert_eq!(counted(1, "session"), "1 session");
        assert_eq!(counted(0, "session"), "0 sessions");
    }

    #[test]
    fn what_turns_a_text_round_is_a_mark() {
        assert_eq!(with_marks("abc\u{202e}fed\u{2066}\u{200f}"), "abc<U+202E>fed<U+2066><U+200F>");
        assert_eq!(with_marks("שלום naïve 界 👩‍👧"), "שלום naïve 界 👩‍👧");
    }

    #[test]
    fn one_line_is_short_and_harmless() {
        assert_eq!(one_line("a\n  b\tc", 10), "a b c");
        assert_eq!(one_line("abcdef", 4), "abc…");
        assert_eq!(one_line("\u{1b}[31mred", 20), "[31mred");
        assert_eq!(printable("a\u{1b}b\nc"), "a\u{fffd}b\nc");
    }
}
