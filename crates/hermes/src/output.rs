//! Text for people, JSON for programs, from the same struct.

use std::fmt::Display;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use hermes_app::remarks::Remarks as _;
use hermes_app::text::{in_place, printable, with_marks};
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

    /// Where what people should know goes, for whoever prints nothing itself.
    pub(crate) fn remarks(&self) -> Remarks {
        Remarks {
            json: self.json,
            quiet: self.quiet,
            place: self.place.clone(),
            sheet: self.sheet.clone(),
            is_dirty: AtomicBool::new(false),
        }
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
        self.remarks().note(&text.to_string());
    }

    /// A `hint:` line for people.
    pub(crate) fn hint(&self, text: impl Display) {
        self.remarks().hint(&text.to_string());
    }
}

/// Remarks for people: on standard error, or on a sheet.
pub(crate) struct Remarks {
    json: bool,
    quiet: bool,
    place: String,
    sheet: Option<Sheet>,
    /// Whether a line about progress stands on the terminal.
    is_dirty: AtomicBool,
}

impl hermes_app::remarks::Remarks for Remarks {
    fn note(&self, text: &str) {
        match &self.sheet {
            Some(sheet) => sheet.clone().note(text),
            None if !self.json && !self.quiet => {
                let _ = writeln!(anstream::stderr(), "{}", with_marks(text));
            }
            None => {}
        }
    }

    fn hint(&self, text: &str) {
        let text = in_place(text, &self.place);
        if self.sheet.is_some() {
            return self.note(&format!("hint: {text}"));
        }
        let cyan = AnsiColor::Cyan.on_default();
        self.note(&format!("{cyan}hint:{cyan:#} {text}"));
    }

    fn progress(&self, text: Option<&str>) {
        let is_watched = self.sheet.is_none() && !self.json && io::stderr().is_terminal();
        match text {
            Some(text) if is_watched => {
                let _ = write!(io::stderr(), "\r\u{1b}[K{text}");
                self.is_dirty.store(true, Ordering::Relaxed);
            }
            None if self.is_dirty.swap(false, Ordering::Relaxed) => {
                let _ = write!(io::stderr(), "\r\u{1b}[K");
            }
            _ => {}
        }
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
