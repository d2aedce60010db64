//! hermes sessions create, append, end, rename

use crate::terminal::Terminal;
use std::io;

use clap::{Args, ValueEnum};
use hermes_home::Home;
use hermes_store::sessions::{NewMessage, NewSession, SessionId, random_bytes};
use serde::Serialize;

use super::{reading, writing};
use crate::failure::Outcome;
use crate::input;
use crate::output::{Page, Show};
use hermes_app::{clock, sessions};

#[derive(Debug, Args)]
pub(crate) struct Create {
    /// A title; titles are unique
    #[arg(long)]
    title: Option<String>,
    /// Where the conversation takes place
    #[arg(long, default_value = "cli")]
    source: String,
    /// Who is talking
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// The model that answers
    #[arg(long)]
    model: Option<String>,
    /// The session that this one continues
    #[arg(long, value_name = "SESSION")]
    parent: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Append {
    /// The session: its id, the beginning of it, its title, or `last`
    session: String,
    /// The message; `-` reads it from standard input
    text: String,
    /// Who says it
    #[arg(long, value_enum)]
    role: Role,
    /// The tool that says it, for `--role tool`
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// When it was said [default: now]
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Role {
    User,
    Assistant,
    Tool,
    System,
}

#[derive(Debug, Args)]
pub(crate) struct End {
    /// The session: its id, the beginning of it, its title, or `last`
    session: String,
    /// Why it ended
    #[arg(long, default_value = "cli_close")]
    reason: String,
}

#[derive(Debug, Args)]
pub(crate) struct Rename {
    /// The session: its id, the beginning of it, its title, or `last`
    session: String,
    /// The new title
    title: String,
}

#[derive(Debug, Serialize)]
struct Created {
    session_id: SessionId,
}

#[derive(Debug, Serialize)]
struct Appended {
    session_id: SessionId,
    message_id: i64,
}

#[derive(Debug, Serialize)]
struct Done {
    session_id: SessionId,
    message: String,
}

pub(crate) fn create(
    arguments: &Create,
    home: &Home,
    app: &mut Terminal,
) -> anyhow::Result<Outcome> {
    let mut store = writing(app, home)?;
    let parent = arguments.parent.as_deref().map(|parent| store.find(parent)).transpose()?;
    let folder = std::env::current_dir().ok().and_then(|folder| folder.to_str().map(str::to_owned));
    let session_id = store.create_session(&NewSession {
        user_id: arguments.user.clone(),
        title: arguments.title.clone(),
        model: arguments.model.clone(),
        parent,
        cwd: folder,
        ..NewSession::plain(SessionId::new(app.now, random_bytes()), app.now, &arguments.source)
    })?;
    app.out.show(&Created { session_id })?;
    Ok(Outcome::Done)
}

pub(crate) fn append(
    arguments: &Append,
    home: &Home,
    app: &mut Terminal,
) -> anyhow::Result<Outcome> {
    let text = input::text(&arguments.text)?;
    let at = match &arguments.at {
        None => app.now,
        Some(at) => clock::parse_moment(at, app.now, &app.zone(home)?)?,
    };
    let role = match arguments.role {
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
        Role::System => "system",
    };
    let mut store = writing(app, home)?;
    let session_id = store.find(&arguments.session)?;
    let message =
        NewMessage { tool_name: arguments.tool.clone(), ..NewMessage::text(role, &text, at) };
    let ids = store.append(&session_id, &[message])?;
    let message_id = ids.first().copied().unwrap_or_default();
    app.out.show(&Appended { session_id, message_id })?;
    Ok(Outcome::Done)
}

pub(crate) fn end(arguments: &End, home: &Home, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let session_id = reading(app, home)?.find(&arguments.session)?;
    writing(app, home)?.end_session(&session_id, app.now, &arguments.reason)?;
    let message = format!("{session_id} has ended");
    app.out.show(&Done { session_id, message })?;
    Ok(Outcome::Done)
}

pub(crate) fn rename(
    arguments: &Rename,
    home: &Home,
    app: &mut Terminal,
) -> anyhow::Result<Outcome> {
    let session_id = sessions::rename(app, home, &arguments.session, &arguments.title)?;
    let message = format!("{session_id} is now called {:?}", arguments.title);
    app.out.show(&Done { session_id, message })?;
    Ok(Outcome::Done)
}

impl Show for Created {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(&self.session_id)
    }
}

impl Show for Appended {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(self.message_id)
    }
}

impl Show for Done {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(&self.message)
    }
}
