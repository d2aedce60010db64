//! hermes memory context

use crate::terminal::Terminal;
use std::io::{self, Write as _};

use clap::Args;
use hermes_memory::retrieval;
use hermes_store::sqlite::Access;
use serde::Serialize;

use super::whose::Whose;
use crate::failure::Outcome;
use crate::input;
use crate::output::{Page, Show};
use hermes_app::context::{self, Given, Handed, Request};
use hermes_app::problem::Problem;
use hermes_app::recall::Recall;
use hermes_app::text::{printable, with_marks};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Task, in the user's words; `-` reads it from standard input
    task: String,
    /// Current session, which is left out of its own context
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Folder or repository of the task [default: the git repository of the current folder]
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Channel the conversation takes place in: cli, telegram, …
    #[arg(long)]
    channel: Option<String>,
    /// Maximum number of tokens [default: memory.retrieval.context_budget_tokens]
    #[arg(long, value_name = "TOKENS")]
    budget: Option<usize>,
    /// Leave out MEMORY.md, USER.md and workspace/MEMORY.md
    #[arg(long)]
    no_files: bool,
    /// Show where every line comes from, what was left out, and why
    #[arg(long)]
    why: bool,
    #[command(flatten)]
    whose: Whose,
}

/// What is printed: the text for a model or for a person, and for programs all of it.
#[derive(Debug, Serialize)]
struct Shown {
    #[serde(flatten)]
    given: Given,
    #[serde(skip)]
    why: bool,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let task = input::text(&arguments.task)?;
    if task.trim().is_empty() {
        return Err(Problem::usage("the task is empty").into());
    }
    let memory = app.memory(&home, Access::Read)?;
    let asker = arguments.whose.asker(&memory.store, app)?;
    let project = arguments.project.clone().or_else(current_project);
    let request = Request {
        task: &task,
        session: arguments.session.as_deref(),
        project: project.as_deref(),
        channel: arguments.channel.as_deref(),
        budget: arguments.budget,
        no_files: arguments.no_files,
        ..Request::default()
    };
    let recall = Recall { app, home: &home, store: &memory.store, asker: &asker };
    let given = recall.give(&request)?;
    for note in &given.context.notes {
        app.out.note(note);
    }
    if given.context.sections.is_empty() {
        app.out.note("the memory has nothing relevant to this task");
    }
    let exists = memory.exists;
    drop(memory);
    let shown = Shown { given, why: arguments.why };
    app.out.show(&shown)?;
    if exists {
        let given = &shown.given.context;
        let handed = Handed::of(asker.scope, request.session, given, app.now);
        context::hand_out(app, &home, handed.as_slice());
    }
    Ok(Outcome::Done)
}

/// The git repository around the current folder.
fn current_project() -> Option<String> {
    context::project_of(&std::env::current_dir().ok()?)
}

impl Show for Shown {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let text = match self.why {
            true => retrieval::why(&self.given.context),
            false => self.given.text.clone(),
        };
        // What is remembered is data: nothing in it drives a terminal.
        page.write_all(with_marks(&printable(&text)).as_bytes())
    }
}
