//! A conversation of one user: open, resume, take turns, end.

mod context;
pub(crate) mod front;
mod opening;
mod outside;
mod parts;
mod recall;
mod record;
pub(crate) mod slash;
pub(crate) mod tools;
mod wishes;
pub(crate) mod wrap_up;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hermes_agent::prompt::Prompt;
use hermes_agent::turn::{self, Compressed, Ended, Means, Taken};
use hermes_agent::window::Window;
use hermes_home::pasted::is_pasted;
use hermes_home::{Home, UserId};
use hermes_llm::chat::ChatModel;
use hermes_llm::chat::price::Price;
use hermes_memory::reflect::retries::{self, Retry};
use hermes_store::sessions::{SessionId, Spending};

use hermes_app::app::App;
use hermes_app::asker::Asker;
use hermes_app::context::Given;
use hermes_app::pool::Seat;
use hermes_app::problem::Kind;
use hermes_app::turn::Transcripts;
use hermes_app::{clock, embedding};

use crate::terminal::Commands;
pub(crate) use context::ContextTable;
use front::{Event, Figures, Front, Input, ProblemShown};
use slash::Went;
use tools::Tools;

/// How a conversation is opened.
#[derive(Debug, Clone)]
pub(crate) struct Opening {
    /// Who talks; none: the owner.
    pub(crate) user: Option<UserId>,
    /// Where they talk.
    pub(crate) channel: String,
    /// Which session.
    pub(crate) which: Which,
    /// The model, as it was typed; none: the settings say.
    pub(crate) model: Option<String>,
    /// The folder it runs in.
    pub(crate) folder: PathBuf,
    /// How often a model may call tools in a turn; none: the settings say.
    pub(crate) max_rounds: Option<u32>,
    /// What may be done without asking, besides what the settings allow.
    pub(crate) allow: Vec<String>,
    /// Runs commands of the program that are typed in it.
    pub(crate) commands: Commands,
}

/// Which session a conversation is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Which {
    /// A new one.
    New,
    /// The last one of this user.
    Last,
    /// The one with this id, beginning of an id, or title.
    Named(String),
}

/// The model that answers.
pub(crate) struct Talker {
    /// Its name, as the settings write it.
    pub(crate) name: String,
    /// Who runs it.
    pub(crate) provider: String,
    /// What it costs.
    pub(crate) price: Option<Price>,
    /// Itself.
    pub(crate) chat: Arc<dyn ChatModel>,
}

/// Something that was remembered in this conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    /// `fact:91`.
    pub(crate) id: String,
    /// What is remembered.
    pub(crate) text: String,
}

/// How a turn went, for whoever asked for it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TurnEnd {
    /// The last words of the assistant.
    pub(crate) text: String,
    /// Whether it came to an answer.
    pub(crate) is_answered: bool,
    /// Whether the person cancelled it.
    pub(crate) is_cancelled: bool,
    /// What went wrong, where something did.
    pub(crate) problem: Option<ProblemShown>,
}

/// A conversation of one user.
pub(crate) struct Conversation {
    /// The settings, the home and the opened memory.
    pub(crate) seat: Seat,
    /// Who talks.
    pub(crate) asker: Asker,
    /// How it was opened.
    pub(crate) opening: Opening,
    /// The session.
    pub(crate) session: SessionId,
    /// Whether anything of it is written down.
    pub(crate) is_begun: bool,
    /// The system prompt, the same for all turns.
    pub(crate) prompt: Prompt,
    /// What the model sees of the conversation.
    pub(crate) window: Window,
    /// The model that answers.
    pub(crate) model: Talker,
    /// What the model may call.
    pub(crate) tools: Tools,
    /// What the session cost so far.
    pub(crate) spent: Spending,
    /// What was recalled last, with the reasons.
    pub(crate) last_recall: Option<Given>,
    /// The numbers of the last turn.
    pub(crate) figures: Figures,
    /// What was remembered in it, the last one last.
    pub(crate) written: Vec<Written>,
    /// How often a model may call tools in a turn, by the settings.
    pub(crate) max_rounds: u32,
    /// Whether the model is not known to take no tools.
    pub(crate) takes_tools: bool,
    /// Turns taken since it was opened.
    pub(crate) turns: usize,
    /// Set to end the turn that goes on.
    pub(crate) cancel: Arc<AtomicBool>,
    sessions: Transcripts,
}

/// Talks until nothing more comes in; what goes wrong in a turn is shown, and the conversation goes on.
/// Returns how the last turn went.
pub(crate) fn talk(
    conversation: &mut Conversation,
    front: &mut dyn Front,
) -> anyhow::Result<Option<TurnEnd>> {
    conversation.began(front)?;
    let mut last = None;
    loop {
        let line = match front.read()? {
            Input::Line(line) => line,
            Input::Cancelled => continue,
            Input::End => break,
        };
        if line.trim().is_empty() {
            continue;
        }
        // A text that was piped in may begin with anything.
        if slash::is_command(&line) && !is_pasted(&line) {
            match slash::carry_out(conversation, &line, front) {
                Ok(Went::On) => {}
                Ok(Went::Quit) => break,
                Err(error) => front.show(&Event::Problem(&ProblemShown::of(&error)))?,
            }
            continue;
        }
        let end = conversation.say(&line, front)?;
        // Nobody is there who could say more.
        let is_over = end.is_cancelled && !front.is_interactive();
        last = Some(end);
        if is_over {
            break;
        }
    }
    conversation.end(front)?;
    Ok(last)
}

impl Conversation {
    /// The home.
    pub(crate) fn home(&self) -> &Home {
        &self.seat.home
    }

    /// The settings.
    pub(crate) fn app(&self) -> &App {
        &self.seat.app
    }

    /// Tells the front which session it is.
    pub(crate) fn began(&self, front: &mut dyn Front) -> anyhow::Result<()> {
        let is_resumed = self.is_begun;
        let (session, model) = (self.session.as_str(), self.model.name.as_str());
        front.show(&Event::Began { session, model, is_resumed })
    }

    /// Takes a turn: what was said, what came of it. Only the front's own failure is an error.
    pub(crate) fn say(&mut self, text: &str, front: &mut dyn Front) -> anyhow::Result<TurnEnd> {
        self.seat.app.now = clock::now();
        self.cancel.store(false, Ordering::SeqCst);
        self.tools.begin_turn(self.window.exchanges.len() + 1);
        let recalled = match self.settle() {
            Ok(()) => self.recall(text, front)?,
            Err(error) => {
                recall::show_failure(&error, front)?;
                None
            }
        };
        self.window.begin(text, recalled);
        self.record_said(text, front)?;
        let taken = self.take(front);
        self.turns += 1;
        self.takes_tools &= !taken.refused_tools;
        self.note_spending(&taken);
        self.remember_wishes(front)?;
        self.finish(taken, front)
    }

    /// Finds out whose memory it is, if the server that knows was away when the conversation began.
    fn settle(&mut self) -> anyhow::Result<()> {
        if let (true, Some(user)) = (self.asker.is_unasked(), &self.opening.user) {
            self.asker = opening::asked(&mut self.seat, user)?;
            self.tools.asker = self.asker.clone();
        }
        Ok(())
    }

    /// Runs the model and its tools.
    fn take(&mut self, front: &mut dyn Front) -> Taken {
        let max_rounds = self.opening.max_rounds.unwrap_or(self.max_rounds);
        let system = self.prompt.system();
        let cancel = Arc::clone(&self.cancel);
        let means = Means {
            model: Arc::clone(&self.model.chat),
            system: &system,
            system_tokens: self.prompt.tokens(),
            max_rounds,
            answer_tokens: answer_tokens(self.window.size),
            takes_tools: self.takes_tools,
            cancel: &cancel,
        };
        let mut watching = record::Watching {
            recorder: record::Recorder {
                seat: &mut self.seat,
                sessions: &mut self.sessions,
                session: &self.session,
                asker: &self.asker,
                opening: &self.opening,
            },
            front,
        };
        turn::take(&means, &mut self.window, &mut self.tools, &mut watching)
    }

    /// Shows how a turn ended.
    fn finish(&mut self, taken: Taken, front: &mut dyn Front) -> anyhow::Result<TurnEnd> {
        let problem = self.problem_of(&taken.ended);
        if let Some(problem) = &problem {
            front.show(&Event::Problem(problem))?;
        }
        self.figures = self.figures_of(&taken);
        front.show(&Event::TurnEnded(&self.figures))?;
        Ok(TurnEnd {
            text: taken.text,
            is_answered: taken.ended == Ended::Answered,
            is_cancelled: taken.ended == Ended::Cancelled,
            problem,
        })
    }

    /// What is to be said about a turn that did not end with an answer.
    fn problem_of(&self, ended: &Ended) -> Option<ProblemShown> {
        let plain = |message: &str, hint: &str| {
            Some(ProblemShown {
                kind: Kind::Partial,
                message: message.to_owned(),
                hint: Some(hint.to_owned()),
            })
        };
        match ended {
            Ended::Answered | Ended::Cancelled | Ended::ByTool => None,
            Ended::TooLong => plain("the answer reached its length limit", "ask it to continue"),
            Ended::Rounds => plain(
                "the model reached the maximum number of tool rounds in one turn",
                "ask it to continue, or raise `agent.max_rounds`",
            ),
            Ended::Looped => plain(
                "the model kept repeating the same call and was stopped",
                "rephrase your request, or try another model",
            ),
            Ended::Refused => plain("the model declined to continue", "rephrase your request"),
            Ended::Failed(error) => {
                let mut shown = ProblemShown::of(&anyhow::Error::new(error.clone()));
                shown.hint = shown.hint.or_else(|| opening::hint_for(error));
                Some(shown)
            }
        }
    }

    fn figures_of(&self, taken: &Taken) -> Figures {
        let filled = self.window.filled();
        Figures {
            model: self.model.name.clone(),
            window_used: self.context_table().tokens,
            window_size: filled.size,
            memory_tokens: self.prompt.memory_tokens() + filled.recalled,
            input_tokens: taken.usage.input + taken.usage.cache_write,
            output_tokens: taken.usage.output,
            cached_tokens: taken.usage.cache_read,
            cost: self.model.price.map(|price| price.cost(&taken.usage)),
            is_cut: matches!(taken.ended, Ended::Cancelled | Ended::Failed(_) | Ended::TooLong),
            ended: ended_word(&taken.ended),
        }
    }

    /// Lets a summary stand for all turns but the last ones; none if there is nothing to shorten.
    pub(crate) fn compact(&mut self) -> anyhow::Result<Option<Compressed>> {
        self.seat.app.now = clock::now();
        let count = self.window.to_leave(0).max(self.window.exchanges.len().saturating_sub(2));
        if count == 0 {
            return Ok(None);
        }
        let compressed = turn::compress(&mut self.window, count, Some(self.model.chat.as_ref()));
        self.note_compacted(&compressed)?;
        Ok(Some(compressed))
    }

    fn note_compacted(&mut self, compressed: &Compressed) -> anyhow::Result<()> {
        let Some(up_to) = compressed.up_to else { return Ok(()) };
        let Conversation { seat, sessions, session, .. } = self;
        record::compact(seat, sessions, session, up_to, &compressed.summary)
    }

    /// Takes the last turn back and returns what was said in it; what tools changed stays changed.
    pub(crate) fn take_back(&mut self) -> anyhow::Result<Option<String>> {
        self.seat.app.now = clock::now();
        let Some(last) = self.window.take_back() else { return Ok(None) };
        if let (Some(row), Ok(Some(sessions))) = (last.first_row, &mut self.sessions) {
            sessions.rewind(&self.session, row)?;
            let (app, home, memory) = self.seat.writer()?;
            hermes_app::catch_up::take_in(app, home, &mut memory.store)?;
        }
        Ok(Some(last.said))
    }

    /// Says again what was said last, in its place.
    pub(crate) fn retry(&mut self, front: &mut dyn Front) -> anyhow::Result<Option<TurnEnd>> {
        match self.take_back()? {
            Some(said) => {
                self.note_retry(&said);
                self.say(&said, front).map(Some)
            }
            None => Ok(None),
        }
    }

    /// An answer that was not wanted is a sign of how the work went; without it the question is asked all the same.
    fn note_retry(&mut self, question: &str) {
        let (scope, session) = (self.asker.scope, self.session.to_string());
        if self.asker.is_unasked() {
            return;
        }
        let Ok((app, home, memory)) = self.seat.writer() else { return };
        let Ok(zone) = app.zone_of(home, &memory.store, scope.user()) else { return };
        let vectors = embedding::vectors(memory.store.active_model().ok().flatten().as_ref());
        let retry = Retry { session_id: &session, question, zone: &zone, vectors };
        let _ = retries::note(&mut memory.store, scope, &retry, app.change());
    }

    /// Goes on with another model.
    pub(crate) fn set_model(&mut self, name: &str) -> anyhow::Result<()> {
        self.model = opening::talker(&self.seat.app, &self.seat.home, Some(name))?;
        self.takes_tools = true;
        self.window.size = opening::window_size(&self.seat.app, &self.seat.home, &self.model.name)?;
        self.note_beginning()
    }

    /// Leaves this session and opens another one in its place.
    pub(crate) fn change_to(&mut self, which: Which, front: &mut dyn Front) -> anyhow::Result<()> {
        let opening =
            Opening { which, model: Some(self.model.name.clone()), ..self.opening.clone() };
        let next = Conversation::open_with(&self.seat.app, opening, Arc::clone(&self.cancel))?;
        self.end(front)?;
        *self = next;
        self.began(front)
    }

    /// Ends the session.
    pub(crate) fn end(&mut self, front: &mut dyn Front) -> anyhow::Result<()> {
        self.seat.app.now = clock::now();
        if self.is_begun {
            self.record_end();
        }
        front.show(&Event::Ended { session: self.session.as_str(), turns: self.turns })
    }
}

/// How long an answer may be in a window of this size.
fn answer_tokens(size: usize) -> u32 {
    u32::try_from((size / 4).min(8_192)).unwrap_or(8_192)
}

fn ended_word(ended: &Ended) -> &'static str {
    match ended {
        Ended::Answered => "answered",
        Ended::TooLong => "too_long",
        Ended::Cancelled => "cancelled",
        Ended::ByTool => "stopped",
        Ended::Rounds => "rounds",
        Ended::Looped => "looped",
        Ended::Refused => "refused",
        Ended::Failed(_) => "failed",
    }
}
