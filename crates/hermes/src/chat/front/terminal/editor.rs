//! The line that is typed: history, search in it, several lines, completion, hints.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossterm::event;
use hermes_home::atomic;
use reedline::{
    Color, ColumnarMenu, Completer, CompletionResult, DefaultHinter, EditCommand, Emacs,
    FileBackedHistory, Highlighter, Hinter, History, KeyCode, KeyModifiers, MenuBuilder, Prompt,
    PromptEditMode, PromptHistorySearch, PromptHistorySearchStatus, Reedline, ReedlineEvent,
    ReedlineMenu, Signal, Span, StyledText, Suggestion, ValidationResult, Validator,
    default_emacs_keybindings,
};

use crate::chat::slash::complete::{self, Choice};
use crate::chat::slash::table::{self, Takes};
use hermes_app::platform;
use hermes_app::text::one_line;

/// What there is of a kind of thing, asked when somebody completes a word.
pub(crate) type Ids = Box<dyn FnMut(Takes) -> Vec<Choice> + Send>;

/// The line editor of a conversation.
pub(crate) struct Editor {
    typing: Reedline,
    asking: Reedline,
    /// Whether the line was empty when it was shown last.
    is_empty: Arc<AtomicBool>,
}

/// What came of reading a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    Line(String),
    /// Ctrl-C, and whether the line was empty.
    Interrupted {
        was_empty: bool,
    },
    /// Ctrl-D, or the terminal is gone.
    End,
}

/// So many lines are kept.
const KEPT: usize = 2_000;
const MENU: &str = "completion";
/// What a line is about is cut here in the menu.
const ABOUT: usize = 60;

impl Editor {
    /// Opens the editor with the history in a file; one that cannot be used is none.
    pub(crate) fn open(history: Option<&Path>, is_styled: bool, ids: Ids) -> Editor {
        let is_empty = Arc::new(AtomicBool::new(true));
        let menu = ColumnarMenu::default().with_name(MENU).with_columns(1).with_marker("› ");
        let mut typing = Reedline::create()
            .with_edit_mode(Box::new(Emacs::new(keys())))
            .with_completer(Box::new(Words { ids }))
            .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
            .with_quick_completions(true)
            .with_partial_completions(true)
            .with_hinter(Box::new(Hints::new()))
            .with_highlighter(Box::new(Look { is_empty: Arc::clone(&is_empty), is_styled }))
            .with_validator(Box::new(Whole))
            .with_history_exclusion_prefix(Some(" ".to_owned()))
            .with_ansi_colors(is_styled)
            .use_bracketed_paste(true);
        if let Some(history) = history.and_then(kept) {
            typing = typing.with_history(history);
        }
        let asking = Reedline::create().with_ansi_colors(is_styled).use_bracketed_paste(true);
        Editor { typing, asking, is_empty }
    }

    /// Reads what is to be said.
    pub(crate) fn read(&mut self) -> anyhow::Result<Typed> {
        self.is_empty.store(true, Ordering::Relaxed);
        let signal = self.typing.read_line(&Mark { question: None });
        let was_empty = self.is_empty.load(Ordering::Relaxed);
        let typed = typed(signal?, was_empty);
        // Lines are kept at once: a killed program loses none.
        let _ = self.typing.sync_history();
        Ok(typed)
    }

    /// Reads the answer to a question, which may be filled in already.
    pub(crate) fn ask(&mut self, question: &str, filled: &str) -> anyhow::Result<Typed> {
        drop_typed();
        self.asking
            .run_edit_commands(&[EditCommand::Clear, EditCommand::InsertString(filled.to_owned())]);
        let signal = self.asking.read_line(&Mark { question: Some(question.to_owned()) });
        Ok(typed(signal?, false))
    }
}

/// What was typed before a question was shown is no answer to it.
fn drop_typed() {
    platform::drop_typed();
    while event::poll(Duration::ZERO).is_ok_and(|has_more| has_more) {
        if event::read().is_err() {
            return;
        }
    }
}

fn typed(signal: Signal, was_empty: bool) -> Typed {
    match signal {
        Signal::Success(line) => Typed::Line(joined(&line)),
        Signal::CtrlC => Typed::Interrupted { was_empty },
        _ => Typed::End,
    }
}

/// The history in a file that only its owner may read.
fn kept(path: &Path) -> Option<Box<dyn History>> {
    if atomic::create(path, b"").ok()? || platform::mode(path).is_some_and(|mode| mode != 0o600) {
        platform::set_mode(path, 0o600).ok()?;
    }
    let history = FileBackedHistory::with_file(KEPT, path.to_owned()).ok()?;
    Some(Box::new(history))
}

fn keys() -> reedline::Keybindings {
    let mut keys = default_emacs_keybindings();
    let newline = || ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
    keys.add_binding(KeyModifiers::ALT, KeyCode::Enter, newline());
    keys.add_binding(KeyModifiers::SHIFT, KeyCode::Enter, newline());
    keys.add_binding(
        KeyModifiers::NONE,
        KeyCode::Tab,
        ReedlineEvent::UntilFound(vec![
            ReedlineEvent::Menu(MENU.to_owned()),
            ReedlineEvent::MenuNext,
        ]),
    );
    keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
    keys
}

/// Lines that ended with a backslash, joined as they were meant.
fn joined(line: &str) -> String {
    line.replace("\\\n", "\n")
}

/// A backslash at the end of a line says that it goes on.
struct Whole;

impl Validator for Whole {
    fn validate(&self, line: &str) -> ValidationResult {
        let slashes = line.chars().rev().take_while(|c| *c == '\\').count();
        match slashes % 2 {
            0 => ValidationResult::Complete,
            _ => ValidationResult::Incomplete,
        }
    }
}

/// Completes commands and ids.
struct Words {
    ids: Ids,
}

impl Completer for Words {
    fn complete(&mut self, line: &str, position: usize) -> CompletionResult {
        let before = line.get(..position).unwrap_or(line);
        let found = complete::complete(before, &mut self.ids);
        let suggestions = found.choices.into_iter().map(|choice| Suggestion {
            value: choice.value,
            description: Some(one_line(&choice.about, ABOUT)),
            span: Span::new(found.start, before.len()),
            append_whitespace: true,
            ..Suggestion::default()
        });
        CompletionResult::fresh(suggestions.collect::<Vec<_>>())
    }
}

/// What a command wants, else what was typed before.
struct Hints {
    earlier: DefaultHinter,
    /// The hint where it may be taken over, not only read.
    command: Option<String>,
}

impl Hints {
    fn new() -> Hints {
        let earlier = DefaultHinter::default().with_style(Color::Default.dimmed());
        Hints { earlier, command: None }
    }
}

impl Hinter for Hints {
    fn handle(
        &mut self,
        line: &str,
        position: usize,
        history: &dyn History,
        has_colors: bool,
        folder: &str,
    ) -> String {
        self.command =
            complete::hint(line).map(|hint| match hint.starts_with(char::is_lowercase) {
                true => hint,
                // Only the end of a name can be taken over: what it wants is for the eye.
                false => format!("\0{hint}"),
            });
        let Some(hint) = &self.command else {
            return self.earlier.handle(line, position, history, has_colors, folder);
        };
        let shown = hint.trim_start_matches('\0');
        match has_colors {
            true => Color::Default.dimmed().paint(shown).to_string(),
            // Without colours it could not be told from what was typed.
            false => String::new(),
        }
    }

    fn complete_hint(&self) -> String {
        match &self.command {
            Some(hint) if hint.starts_with('\0') => String::new(),
            Some(hint) => hint.clone(),
            None => self.earlier.complete_hint(),
        }
    }

    fn next_hint_token(&self) -> String {
        match &self.command {
            Some(_) => self.complete_hint(),
            None => self.earlier.next_hint_token(),
        }
    }
}

/// Shows commands that exist in another colour, and notes whether anything is typed.
struct Look {
    is_empty: Arc<AtomicBool>,
    is_styled: bool,
}

impl Highlighter for Look {
    fn highlight(&self, line: &str, _cursor: usize) -> StyledText {
        self.is_empty.store(line.is_empty(), Ordering::Relaxed);
        let mut styled = StyledText::new();
        let plain = Color::Default.normal();
        let name = line.strip_prefix('/').and_then(|rest| rest.split_whitespace().next());
        match name.filter(|name| self.is_styled && table::find(name).is_some()) {
            Some(name) => {
                let (command, rest) = line.split_at(name.len() + 1);
                styled.push((Color::Cyan.normal(), command.to_owned()));
                styled.push((plain, rest.to_owned()));
            }
            None => styled.push((plain, line.to_owned())),
        }
        styled
    }
}

/// What stands before the line.
struct Mark {
    question: Option<String>,
}

impl Prompt for Mark {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed(self.question.as_deref().unwrap_or_default())
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _mode: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed(if self.question.is_some() { " " } else { "› " })
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("… ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        let found = match search.status {
            PromptHistorySearchStatus::Passing => "",
            PromptHistorySearchStatus::Failing => "no match for ",
        };
        Cow::Owned(format!("(search history: {found}{}) ", search.term))
    }

    fn get_prompt_color(&self) -> Color {
        Color::Default
    }

    fn get_prompt_multiline_color(&self) -> Color {
        Color::DarkGray
    }

    fn get_indicator_color(&self) -> Color {
        Color::Cyan
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_whole(line: &str) -> bool {
        matches!(Whole.validate(line), ValidationResult::Complete)
    }

    #[test]
    fn a_backslash_at_the_end_lets_the_line_go_on() {
        assert!(is_whole("one") && is_whole("path\\\\") && !is_whole("one\\"));
        assert_eq!(joined("one\\\ntwo\nthree"), "one\ntwo\nthree");
    }

    #[test]
    fn the_history_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chat-history");
        assert!(kept(&path).is_some());
        assert_eq!(platform::mode(&path), Some(0o600));
        platform::set_mode(&path, 0o644).unwrap();
        assert!(kept(&path).is_some());
        assert_eq!(platform::mode(&path), Some(0o600));
        assert!(kept(&folder.path().join("missing/chat-history")).is_none());
    }

    #[test]
    fn completion_replaces_the_word_that_is_typed() {
        let mut words = Words { ids: Box::new(|_| vec![Choice::new("fact:007", "tea")]) };
        let found = words.complete("/memory forget fa", 17);
        let [only] = found.suggestions() else { panic!("{found:?}") };
        assert_eq!((only.value.as_str(), only.span.start, only.span.end), ("fact:007", 15, 17));
    }

    #[test]
    fn only_the_end_of_a_name_is_taken_over() {
        let history = FileBackedHistory::default();
        let mut hints = Hints::new();
        hints.handle("/sea", 4, &history, true, "");
        assert_eq!(hints.complete_hint(), "rch");
        let shown = hints.handle("/search", 7, &history, true, "");
        assert!(shown.contains("WORDS") && !shown.contains('\0'), "{shown:?}");
        assert_eq!(hints.complete_hint(), "");
    }
}
