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
    /// Title, which must be unique
    #[arg(long)]
    title: Option<String>,
    /// Channel the conversation takes place in
    #[arg(long, default_value = "cli")]
    source: String,
    /// User who is talking
    #[arg(long, value_name = "ID")]
    user: Option<String>,
    /// Model that answers
    #[arg(long)]
    model: Option<String>,
    /// Session that this one continues
    #[arg(long, value_name = "SESSION")]
    parent: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Append {
    /// Session: its id, the beginning of it, its title, or `last`
    session: String,
    /// Text of the message; `-` reads it from standard input
    text: String,
    /// Role of the speaker
    #[arg(long, value_enum)]
    role: Role,
    /// Name of the tool, for `--role tool`
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// Time of the message [default: now]
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
    /// Session: its id, the beginning of it, its title, or `last`
    session: String,
    /// Reason for the end
    #[arg(long, default_value = "cli_close")]
    reason: String,
}

#[derive(Debug, Args)]
pub(crate) struct Rename {
    /// Session: its id, the beginning of it, its title, or `last`
    session: String,
    /// New title
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
    let message = format!("ended {session_id}");
    app.out.show(&Done { session_id, message })?;
    Ok(Outcome::Done)
}

pub(crate) fn rename(
    arguments: &Rename,
    home: &Home,
    app: &mut Terminal,
) -> anyhow::Result<Outcome> {
    let session_id = sessions::rename(app, home, &arguments.session, &arguments.title)?;
    let message = format!("renamed {session_id} to {:?}", arguments.title);
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
