//! Slash commands: what is typed to the program and not to the model.

pub(crate) mod complete;
mod help;
pub(crate) mod ids;
mod inside;
mod known;
mod parse;
mod rollback;
mod session;
pub(crate) mod table;
mod window;

use hermes_home::Home;

use self::parse::Typed;
use self::table::{Command, Verb};
use super::front::{Event, Front};
use super::wrap_up::{self, Occasion};
use super::{Conversation, Which};
use crate::terminal::Commands;
use hermes_app::app::App;
use hermes_app::asker::Asker;
use hermes_app::clock;
use hermes_app::problem::Problem;

/// How a conversation goes on after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Went {
    /// It goes on.
    On,
    /// It is over.
    Quit,
}

/// Where a command is carried out, and for whom.
pub(crate) struct Place<'a> {
    pub(crate) app: &'a App,
    pub(crate) home: &'a Home,
    pub(crate) asker: &'a Asker,
    pub(crate) session: &'a str,
    pub(crate) commands: Commands,
}

/// A command on its way: what was typed behind it, and who sees what comes of it.
struct Told<'a> {
    conversation: &'a mut Conversation,
    front: &'a mut dyn Front,
    command: &'static Command,
    rest: &'a str,
}

/// Whether a line is meant for the program; a space before the slash makes it a message.
pub(crate) fn is_command(line: &str) -> bool {
    line.starts_with('/')
}

/// Carries a command out; one that is not known never reaches the model.
pub(crate) fn carry_out(
    conversation: &mut Conversation,
    line: &str,
    front: &mut dyn Front,
) -> anyhow::Result<Went> {
    conversation.seat.app.now = clock::now();
    match parse::parse(line) {
        Typed::Command(command, rest) => dispatch(&mut Told { conversation, front, command, rest }),
        Typed::Unknown(name, near) => {
            front.show(&Event::Notice(&help::unknown(name, near)))?;
            Ok(Went::On)
        }
        Typed::Nothing | Typed::Message => Ok(Went::On),
    }
}

fn dispatch(told: &mut Told<'_>) -> anyhow::Result<Went> {
    match told.command.verb {
        Verb::Help => told.print(&help::text(told.rest)),
        Verb::New => told.conversation.change_to(Which::New, told.front),
        Verb::Resume => session::resume(told),
        Verb::Save => session::save(told),
        Verb::Search => known::search(told),
        Verb::Context => window::context(told),
        Verb::Memory => known::memory(told),
        Verb::Recall => known::recall(told),
        Verb::Skills => known::skills(told),
        Verb::Soul => known::soul(told),
        Verb::User => known::user(told),
        Verb::Model => session::model(told),
        Verb::Compact => session::compact(told),
        Verb::Rollback => rollback::rollback(told),
        Verb::Undo => known::undo(told),
        Verb::Retry => session::retry(told),
        Verb::Usage => window::usage(told),
        Verb::Export => known::export(told),
        Verb::Edit => session::edit(told),
        Verb::Remember => told.wrap_up(Occasion::Asked),
        Verb::Quit => {
            told.wrap_up(Occasion::Leaving)?;
            return Ok(Went::Quit);
        }
    }?;
    Ok(Went::On)
}

impl Told<'_> {
    fn place(&self) -> Place<'_> {
        place(self.conversation)
    }

    /// Shows what a command printed.
    fn print(&mut self, text: &str) -> anyhow::Result<()> {
        self.front.show(&Event::Output(text))
    }

    fn notice(&mut self, text: &str) -> anyhow::Result<()> {
        self.front.show(&Event::Notice(text))
    }

    /// Runs a command of the program for whoever talks, and shows what it printed.
    fn run_for(&mut self, words: &[&str], rest: &[&str]) -> anyhow::Result<()> {
        let text = inside::run_for(&self.place(), words, rest)?;
        self.print(&text)
    }

    /// The same for a command that is about nobody.
    fn run(&mut self, words: &[&str]) -> anyhow::Result<()> {
        let text = inside::run(&self.place(), words)?;
        self.print(&text)
    }

    /// What a command cannot do without.
    fn wanted(&self, usage: &str) -> anyhow::Error {
        Problem::usage("an argument is missing").hint(format!("usage: {usage}")).into()
    }

    /// A command that opens an editor needs somebody in front of it.
    fn must_be_seen(&self) -> anyhow::Result<()> {
        match self.front.is_interactive() {
            true => Ok(()),
            false => Err(Problem::usage("there is no terminal to edit in").into()),
        }
    }

    fn wrap_up(&mut self, occasion: Occasion) -> anyhow::Result<()> {
        let place = place(self.conversation);
        wrap_up::offer(&place, self.front, occasion)?;
        Ok(())
    }
}

fn place(conversation: &Conversation) -> Place<'_> {
    Place {
        app: conversation.app(),
        home: conversation.home(),
        asker: &conversation.asker,
        session: conversation.session.as_str(),
        commands: conversation.opening.commands,
    }
}
