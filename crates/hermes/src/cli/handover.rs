//! hermes handover

use crate::terminal::Terminal;
use std::io;

use clap::{Args, Subcommand};
use hermes_app::handover::{self, HandoverReport, Noted, Wanted};
use hermes_app::text::{counted, printable};

use crate::confirm;
use crate::failure::Outcome;
use crate::output::{Listing, Page, Show};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Profile to hand over from; `default` is the home itself
    #[arg(required = true)]
    from: Option<String>,
    /// Profile to hand over to
    #[arg(required = true)]
    to: Option<String>,
    /// Hand over facts that match these words
    #[arg(long, value_name = "TEXT")]
    query: Option<String>,
    /// Hand over these facts; can be given several times
    #[arg(long = "fact", alias = "facts", value_name = "ID", value_delimiter = ',')]
    facts: Vec<String>,
    /// Hand over what was asked, decided and learned in this session; can be given several times
    #[arg(long = "session", value_name = "ID")]
    sessions: Vec<String>,
    /// Hand over what happened and was learned since then (2d, 1w, 2026-05-31) [default: 1w, if nothing else is selected]
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Add a note in your own words
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Show what would be handed over, and change nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List what this profile handed over and received, newest first
    List,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    if let Some(Command::List) = arguments.command {
        let results = handover::list(app)?;
        app.out.show(&Listing { results })?;
        return Ok(Outcome::Done);
    }
    let wanted = Wanted {
        query: arguments.query.as_deref(),
        facts: &arguments.facts,
        sessions: &arguments.sessions,
        since: arguments.since.as_deref(),
        note: arguments.note.as_deref(),
    };
    let named = |name: &Option<String>| name.clone().unwrap_or_else(|| "default".to_owned());
    let handover = handover::look(app, &named(&arguments.from), &named(&arguments.to), &wanted)?;
    let plan = &handover.plan;
    if arguments.dry_run || !app.json {
        app.out.show(plan)?;
    }
    if arguments.dry_run {
        return Ok(Outcome::Done);
    }
    let question = format!("hand this over from profile {} to profile {}?", plan.from, plan.to);
    confirm::consent(app.asking, &question)?;
    let done = handover.carry_out(app)?;
    app.out.show(&done)?;
    Ok(Outcome::Done)
}

impl Show for HandoverReport {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let Some(kept) = &self.kept else {
            return self.text.lines().try_for_each(|line| page.line(printable(line)));
        };
        let new = counted(kept.facts.len() as u64, "new fact");
        page.line(format_args!(
            "profile {} received {new} ({} known already), as session {}",
            self.to, kept.known, kept.session
        ))
    }
}

impl Show for Listing<Noted> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for one in &self.results {
            let at = one.at.strftime("%Y-%m-%d %H:%M");
            let way = if one.way == "gave" { "handed over to" } else { "received from" };
            let facts = counted(one.facts, "fact");
            page.line(format_args!(
                "{at}  {way} profile {}: {facts}, session {}",
                one.profile, one.session
            ))?;
        }
        Ok(())
    }
}
