//! Lines in, words out: piped conversations, one question, and `hermes run`.

use std::io::{self, BufRead, Write};

use hermes_agent::approval::{Request, Verdict};
use hermes_home::pasted::is_document;

use super::terminal::clean::clean;
use super::{Event, Front, Input};

/// The longest line that is taken in.
const LONGEST_LINE: u64 = 8 << 20;

/// Standard input and output, without a person who could be asked.
pub(crate) struct Plain {
    source: Source,
    is_quiet: bool,
    /// Whether the last words ended without a line break.
    is_open: bool,
}

enum Source {
    /// Every line of standard input is a message, a document is one.
    Lines,
    /// One message, and no more.
    One(Option<String>),
}

impl Plain {
    /// Every line of standard input is a message.
    pub(crate) fn lines(is_quiet: bool) -> Plain {
        Plain { source: Source::Lines, is_quiet, is_open: false }
    }

    /// This message and no more.
    pub(crate) fn one(text: String, is_quiet: bool) -> Plain {
        Plain { source: Source::One(Some(text)), is_quiet, is_open: false }
    }

    /// A remark for people.
    fn remark(&self, text: impl std::fmt::Display) {
        if !self.is_quiet {
            let _ = writeln!(anstream::stderr(), "{text}");
        }
    }

    fn end_line(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.is_open) {
            writeln!(io::stdout())?;
        }
        Ok(())
    }
}

impl Front for Plain {
    fn read(&mut self) -> anyhow::Result<Input> {
        match &mut self.source {
            Source::One(text) => Ok(text.take().map_or(Input::End, Input::Line)),
            Source::Lines => read_line(),
        }
    }

    fn show(&mut self, event: &Event<'_>) -> anyhow::Result<()> {
        match event {
            Event::Text(piece) => {
                let piece = clean(piece);
                self.is_open = !piece.ends_with('\n');
                let mut out = io::stdout();
                out.write_all(piece.as_bytes())?;
                out.flush()?;
            }
            Event::TextEnd => self.end_line()?,
            Event::ToolBegins { describe, .. } => {
                self.remark(format_args!("· {}", clean(describe)))
            }
            Event::ToolEnded { outcome, .. } => {
                if let Some(shown) = &outcome.shown {
                    self.remark(format_args!("  {}", clean(shown)));
                } else if outcome.is_error {
                    let first = outcome.text.lines().next().unwrap_or_default();
                    self.remark(format_args!("  failed: {}", clean(first)));
                }
            }
            Event::Remembered { id, text, .. } => {
                self.remark(format_args!("+ remembered {id} \"{}\"", clean(text)));
            }
            Event::Notice(text) => self.remark(clean(text)),
            Event::Output(text) => {
                self.end_line()?;
                let mut out = io::stdout();
                out.write_all(clean(&anstream::adapter::strip_str(text).to_string()).as_bytes())?;
                out.flush()?;
            }
            Event::Problem(problem) => {
                self.end_line()?;
                let mut stderr = anstream::stderr();
                let _ = writeln!(stderr, "hermes: {}", clean(&problem.message));
                if let Some(hint) = &problem.hint {
                    let _ = writeln!(stderr, "hint: {hint}");
                }
            }
            Event::Began { .. }
            | Event::Recalled { .. }
            | Event::TurnEnded(_)
            | Event::Ended { .. } => {}
        }
        Ok(())
    }

    fn ask(&mut self, _request: &Request) -> Verdict {
        Verdict::No { reason: Some("nobody is there to be asked".to_owned()) }
    }

    fn confirm(&mut self, _question: &str, _detail: &str) -> bool {
        false
    }

    fn is_interactive(&self) -> bool {
        false
    }
}

/// Whether what came in at once is a document of several lines, and not what was typed or what a program says.
fn is_piped_document(waiting: &[u8]) -> bool {
    let text = String::from_utf8_lossy(waiting);
    let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
    lines > 1 && !text.trim_start().starts_with('{') && is_document(&text)
}

/// The next line of standard input; all of it where what comes is a document: its lines are no messages of their own.
pub(super) fn read_line() -> anyhow::Result<Input> {
    use io::Read as _;
    let mut bytes = Vec::new();
    let mut stdin = io::stdin().lock();
    let is_whole = is_piped_document(stdin.fill_buf()?);
    let mut input = stdin.take(LONGEST_LINE);
    let read = match is_whole {
        true => input.read_to_end(&mut bytes)?,
        false => input.read_until(b'\n', &mut bytes)?,
    };
    if read == 0 {
        return Ok(Input::End);
    }
    let text = String::from_utf8_lossy(&bytes);
    Ok(Input::Line(text.trim_end_matches(['\n', '\r']).to_owned()))
}
