//! A conversation in a terminal: a line editor, Markdown as it comes, one line about each thing that happens.

mod approve;
pub(crate) mod clean;
mod editor;
mod markdown;
pub(crate) mod status;

use std::io::{self, Write};
use std::path::Path;

use anstyle::Style;
use hermes_agent::approval::{Kind, Request, Verdict};

use self::approve::Answer;
use self::clean::{clean, exact, keep_styles};
pub(crate) use self::editor::Ids;
use self::editor::{Editor, Typed};
use self::markdown::{Look, Markdown};
use super::{Event, Front, Input, ProblemShown};
use crate::output::{BAD, DIM};
use hermes_app::platform::Unseen;
use hermes_app::text::one_line;

/// The terminal in front of a conversation.
pub(crate) struct Terminal {
    editor: Editor,
    markdown: Markdown,
    is_styled: bool,
    /// Whether a line is shown that is wiped away by the next one.
    is_previewing: bool,
    /// Whether Ctrl-C was just pressed on an empty line.
    is_leaving: bool,
    /// While an answer comes, what is typed ahead does not stand in the middle of it.
    unseen: Option<Unseen>,
}

/// How the terminal looks and what it knows.
pub(crate) struct Setup<'a> {
    /// Where typed lines are kept; none: nowhere.
    pub(crate) history: Option<&'a Path>,
    /// Whether styles are used.
    pub(crate) is_styled: bool,
    /// What there is to be completed.
    pub(crate) ids: Ids,
}

/// The widest text is still read at ease.
const WIDEST: usize = 100;
/// Back to the beginning of the line, and away with it.
const WIPE: &str = "\r\u{1b}[K";

impl Terminal {
    pub(crate) fn open(setup: Setup<'_>) -> Terminal {
        let is_styled = setup.is_styled;
        Terminal {
            editor: Editor::open(setup.history, is_styled, setup.ids),
            markdown: Markdown::new(look(is_styled)),
            is_styled,
            is_previewing: false,
            is_leaving: false,
            unseen: None,
        }
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        let mut out = io::stdout();
        if std::mem::take(&mut self.is_previewing) {
            out.write_all(WIPE.as_bytes())?;
        }
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// One line of our own; what others said in it is cleaned.
    fn line(&mut self, style: Style, text: &str) -> io::Result<()> {
        let text = clean(text);
        match self.is_styled {
            true => self.write(&format!("{style}{text}{style:#}\n")),
            false => self.write(&format!("{text}\n")),
        }
    }

    /// Words that are on their way, until they are shown as they should be.
    fn preview(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let shown = match self.is_styled {
            true => format!("{DIM}{text}{DIM:#}"),
            false => text.to_owned(),
        };
        self.write(&shown)?;
        self.is_previewing = true;
        Ok(())
    }

    fn problem(&mut self, problem: &ProblemShown) -> io::Result<()> {
        self.line(BAD, &format!("hermes: {}", problem.message))?;
        match &problem.hint {
            Some(hint) => self.line(DIM, &format!("hint: {hint}")),
            None => Ok(()),
        }
    }

    fn text(&mut self, piece: &str) -> io::Result<()> {
        let shown = self.markdown.push(piece);
        self.write(&shown)?;
        let preview = self.markdown.preview();
        self.preview(&preview)
    }

    fn end_text(&mut self) -> io::Result<()> {
        let rest = self.markdown.finish();
        // The screen may have another size by now.
        self.markdown = Markdown::new(look(self.is_styled));
        self.write(&rest)
    }

    fn event(&mut self, event: &Event<'_>) -> io::Result<()> {
        match event {
            Event::Began { session, model, is_resumed } => {
                let way = if *is_resumed { "continuing session" } else { "session" };
                self.line(DIM, &format!("{model} · {way} {session} · /help lists the commands"))
            }
            Event::Recalled { items: 0, .. } => Ok(()),
            Event::Recalled { items, tokens } => {
                let noun = if *items == 1 { "thing" } else { "things" };
                self.line(DIM, &format!("· recalled {items} {noun}, {tokens} tokens"))
            }
            Event::Text(piece) => self.text(piece),
            Event::TextEnd => self.end_text(),
            Event::ToolBegins { describe, .. } => {
                self.line(DIM, &format!("· {}", one_line(&exact(describe), WIDEST)))
            }
            Event::ToolEnded { outcome, .. } => match (&outcome.shown, outcome.is_error) {
                (Some(shown), false) => self.line(DIM, &format!("  {}", exact(shown))),
                (Some(shown), true) => self.line(BAD, &format!("  {}", exact(shown))),
                (None, true) => {
                    self.line(BAD, &format!("  failed: {}", one_line(&outcome.text, WIDEST)))
                }
                (None, false) => Ok(()),
            },
            Event::Remembered { id, text, undo } => {
                let undo = if *undo { " (/undo)" } else { "" };
                self.line(DIM, &format!("+ remembered {id} \"{}\"{undo}", one_line(text, WIDEST)))
            }
            Event::Notice(text) => self.line(DIM, text),
            Event::Output(text) => self.output(text),
            Event::Problem(problem) => self.problem(problem),
            Event::TurnEnded(figures) => self.line(DIM, &status::line(figures)),
            Event::Ended { session, turns } => match turns {
                0 => Ok(()),
                _ => self
                    .line(DIM, &format!("saved; continue with `hermes chat --resume {session}`")),
            },
        }
    }

    /// What a command of ours printed; its styles are ours, and its texts were made printable.
    fn output(&mut self, text: &str) -> io::Result<()> {
        match self.is_styled {
            true => self.write(&keep_styles(text)),
            false => self.write(&clean(&anstream::adapter::strip_str(text).to_string())),
        }
    }

    fn answer(&mut self, request: &Request) -> anyhow::Result<Verdict> {
        let question = approve::question(request);
        loop {
            let Typed::Line(answer) = self.editor.ask(&question, "")? else {
                return Ok(Verdict::No { reason: None });
            };
            match approve::read(&answer, request) {
                Answer::Decided(verdict) => return Ok(verdict),
                Answer::Edit => {
                    let before = request.editable.as_deref().unwrap_or_default();
                    match self.editor.ask("  edit:", before)? {
                        Typed::Line(text) if text.trim().is_empty() => {}
                        Typed::Line(text) if text == before => return Ok(Verdict::Once),
                        Typed::Line(text) => return Ok(Verdict::Edited(text)),
                        _ => return Ok(Verdict::No { reason: None }),
                    }
                }
                Answer::Explain => self.write(&approve::explained(request))?,
                Answer::Again => self
                    .line(DIM, "  answer with y, n or one of the other letters; ? explains them")?,
            }
        }
    }
}

impl Front for Terminal {
    fn read(&mut self) -> anyhow::Result<Input> {
        self.unseen = None;
        self.write("")?;
        let was_leaving = std::mem::take(&mut self.is_leaving);
        match self.editor.read()? {
            Typed::Line(line) => {
                if !line.trim().is_empty() && !line.starts_with('/') {
                    self.unseen = Some(Unseen::begin());
                    self.preview("…")?;
                }
                Ok(Input::Line(line))
            }
            Typed::Interrupted { was_empty: true } if was_leaving => Ok(Input::End),
            Typed::Interrupted { was_empty } => {
                self.is_leaving = was_empty;
                if was_empty {
                    self.line(DIM, "press Ctrl-C again, or Ctrl-D, to exit")?;
                }
                Ok(Input::Cancelled)
            }
            Typed::End => Ok(Input::End),
        }
    }

    fn show(&mut self, event: &Event<'_>) -> anyhow::Result<()> {
        Ok(self.event(event)?)
    }

    fn ask(&mut self, request: &Request) -> Verdict {
        let was_unseen = self.unseen.take().is_some();
        let shown = approve::shown(request, self.is_styled);
        let asked = self.write(&shown).map_err(anyhow::Error::from);
        let answer = asked.and_then(|()| self.answer(request));
        self.unseen = was_unseen.then(Unseen::begin);
        // A terminal that is gone agrees to nothing.
        answer.unwrap_or(Verdict::No { reason: None })
    }

    fn confirm(&mut self, question: &str, detail: &str) -> bool {
        let detail: String = exact(detail)
            .lines()
            .map(|line| approve::detail_line(Kind::Write, line, self.is_styled))
            .collect();
        let question = format!("{} [y/N]", exact(question));
        let asked = self.write(&detail).map_err(anyhow::Error::from);
        let answer = asked.and_then(|()| self.editor.ask(&question, ""));
        let is_yes = |line: &str| matches!(line.trim().to_lowercase().as_str(), "y" | "yes");
        matches!(answer, Ok(Typed::Line(line)) if is_yes(&line))
    }

    fn is_interactive(&self) -> bool {
        true
    }
}

fn look(is_styled: bool) -> Look {
    let width = terminal_size::terminal_size().map_or(0, |(width, _)| usize::from(width.0));
    let columns = if width == 0 { 80 } else { width };
    Look { columns: columns.min(WIDEST), is_styled }
}
