//! hermes chat

use crate::terminal::Terminal;
use std::io::{self, IsTerminal as _};

use anyhow::Context as _;
use clap::Args;
use hermes_home::UserId;

use crate::chat::front::Front;
use crate::chat::front::events::Events;
use crate::chat::front::plain::Plain;
use crate::chat::front::terminal::{Setup, Terminal as ChatTerminal};
use crate::chat::slash::ids;
use crate::chat::{self, Conversation, Opening, TurnEnd, Which};
use crate::cli::run_words;
use crate::failure::Outcome;
use crate::input;
use hermes_app::platform;
use hermes_app::problem::Problem;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  hermes chat                                  start a conversation
  hermes chat -c                               continue the last session
  hermes chat -q \"what did we decide on ports?\"  ask one question and exit
  git diff | hermes chat -                     read one message from standard input
  hermes chat --json                           print one JSON event per line, for programs")]
pub(crate) struct Arguments {
    /// With `-`, read all of standard input as one message
    #[arg(value_name = "-", conflicts_with = "question", value_parser = ["-"])]
    dash: Option<String>,
    /// Ask one question, print the answer and exit
    #[arg(long, short = 'q', value_name = "TEXT")]
    question: Option<String>,
    /// Continue the last session
    #[arg(long = "continue", short = 'c', conflicts_with = "resume")]
    go_on: bool,
    /// Continue this session, given by its id, the beginning of its id, or its title
    #[arg(long, value_name = "ID")]
    resume: Option<String>,
    #[command(flatten)]
    talker: Talker,
}

/// Who talks with which model.
#[derive(Debug, Args)]
pub(crate) struct Talker {
    /// Model to use, as provider/name [default: model.main, else model.default]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// User who is talking [default: the owner]
    #[arg(long, value_name = "NAME")]
    user: Option<UserId>,
    /// Channel the conversation takes place in
    #[arg(long, value_name = "NAME", default_value = "cli")]
    channel: String,
    /// Allow these commands without asking, as `agent.allow` does: their first words, or `write FOLDER`
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// Maximum rounds of tool calls before the model must answer [default: agent.max_rounds]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1000))]
    max_rounds: Option<u32>,
}

impl Talker {
    /// How a conversation is opened for them.
    pub(crate) fn opening(self, which: Which) -> anyhow::Result<Opening> {
        let folder = std::env::current_dir().context("could not find the working folder")?;
        Ok(Opening {
            user: self.user,
            channel: self.channel,
            which,
            model: self.model,
            folder,
            max_rounds: self.max_rounds,
            allow: self.allow,
            commands: run_words,
        })
    }
}

pub(crate) fn run(arguments: Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let question = match (&arguments.dash, arguments.question) {
        (Some(dash), _) => Some(input::text(dash)?.trim_end().to_owned()),
        (None, question) => question,
    };
    if question.as_deref().is_some_and(|text| text.trim().is_empty()) {
        return Err(Problem::usage("the message is empty").into());
    }
    let which = match arguments.resume {
        Some(id) => Which::Named(id),
        None if arguments.go_on => Which::Last,
        None => Which::New,
    };
    let is_one = question.is_some();
    let mut conversation = Conversation::open(app, arguments.talker.opening(which)?)?;
    let mut front = front(app, question, &conversation)?;
    if !front.is_interactive() {
        platform::on_interrupt_once(&conversation.cancel)?;
    }
    let is_seen = front.is_interactive();
    let last = chat::talk(&mut conversation, front.as_mut())?;
    let is_interrupted = last.as_ref().is_some_and(|turn| turn.is_cancelled && !is_seen);
    Ok(if is_one || is_interrupted { outcome(last.as_ref()) } else { Outcome::Done })
}

/// Who sits in front: a program, lines, or a person at a terminal.
fn front(
    app: &Terminal,
    question: Option<String>,
    conversation: &Conversation,
) -> anyhow::Result<Box<dyn Front>> {
    let is_seen = io::stdin().is_terminal() && io::stdout().is_terminal() && app.asks();
    Ok(match (app.json, question) {
        (true, Some(text)) => Box::new(Events::one(text)),
        (true, None) => Box::new(Events::lines()),
        (false, Some(text)) => Box::new(Plain::one(text, app.out.is_quiet())),
        (false, None) if is_seen => Box::new(terminal(app, conversation)?),
        (false, None) => Box::new(Plain::lines(app.out.is_quiet())),
    })
}

/// The terminal; Ctrl-C stops the answer that is on its way.
fn terminal(app: &Terminal, conversation: &Conversation) -> anyhow::Result<ChatTerminal> {
    platform::on_interrupt(&conversation.cancel)?;
    let home = conversation.home();
    let history = home.chat_history(conversation.asker.user.as_ref());
    Ok(ChatTerminal::open(Setup {
        history: Some(&history),
        is_styled: app.out.is_styled(),
        ids: ids::of_home(app, home, &conversation.asker),
    }))
}

/// What one question came to.
pub(crate) fn outcome(last: Option<&TurnEnd>) -> Outcome {
    match last {
        Some(turn) if turn.is_cancelled => Outcome::Interrupted,
        Some(turn) if !turn.is_answered => {
            let kind = turn.problem.as_ref().map(|problem| problem.kind);
            kind.map_or(Outcome::Partial, Outcome::Told)
        }
        _ => Outcome::Done,
    }
}
