//! hermes user forget

use crate::terminal::Terminal;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use clap::Args;
use hermes_app::problem::{Kind, Problem};
use hermes_app::users::forget::{self, UserForgotten};
use hermes_home::{Home, UserId};
use serde::Serialize;

use crate::failure::Outcome;
use crate::output::{Page, Show};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// User to forget; `owner` is you
    #[arg(required_unless_present = "again")]
    user: Option<UserId>,
    /// Show what would be erased and which backups contain it, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Also erase the user's sessions in a state.db that another program created
    #[arg(long)]
    agent_sessions: bool,
    /// Erase forgotten users again who came back, for example with a restore
    #[arg(long, conflicts_with_all = ["user", "dry_run", "agent_sessions"])]
    again: bool,
}

#[derive(Debug, Serialize)]
struct Again {
    results: Vec<String>,
}

pub(super) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let Some(name) = &arguments.user else { return again(app, &home) };
    let forget = forget::look(app, &home, name, arguments.agent_sessions)?;
    if !app.json || arguments.dry_run {
        app.out.show(&forget.plan)?;
    }
    if arguments.dry_run {
        return Ok(Outcome::Done);
    }
    must_mean_it(app, &forget.plan.user)?;
    let done = forget.carry_out(app, &home)?;
    app.out.show(&done)?;
    Ok(Outcome::Done)
}

/// Typing the name is harder to do by accident than a letter.
fn must_mean_it(app: &Terminal, name: &str) -> anyhow::Result<()> {
    if app.asking.yes {
        return Ok(());
    }
    let refused = || {
        Problem::new(
            Kind::Refused,
            format!("not confirmed: permanently forget everything of {name}?"),
        )
    };
    if app.asking.no_input || !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(refused().hint("add `--yes` to confirm").into());
    }
    let mut stderr = io::stderr();
    write!(stderr, "this permanently erases everything of {name}; type the name to confirm: ")?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    if answer.trim() == name { Ok(()) } else { Err(refused().into()) }
}

/// Forgets everybody again who was forgotten in this home.
fn again(app: &mut Terminal, home: &Home) -> anyhow::Result<Outcome> {
    app.out.show(&Again { results: forget::again(app, home)? })?;
    Ok(Outcome::Done)
}

impl Show for Again {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.results.is_empty() {
            page.line("no forgotten user came back")?;
        }
        self.results.iter().try_for_each(|line| page.line(line))
    }
}

impl Show for UserForgotten {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        self.lines().iter().try_for_each(|line| page.line(line))
    }
}
