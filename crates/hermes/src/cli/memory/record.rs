//! hermes memory record

use crate::terminal::Terminal;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use hermes_memory::record::{self, Report};
use hermes_store::sqlite::Access;
use serde::Serialize;

use super::whose::Whose;
use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::embedding;
use hermes_app::later;
use hermes_app::problem::Problem;
use hermes_app::progress::Progress;
use hermes_app::text::{counted, printable, thousands};

/// Shown below `hermes memory record --help`.
pub(crate) const FORM: &str = "Each line is one message as a JSON object:
  session_id   id of the conversation (required)
  role         user, assistant, tool or system (required)
  text         text of the message (required, unless there is a caption)
  timestamp    when: 2026-05-31T14:00:00Z, 2026-05-31 14:00, or seconds since 1970
  speaker      name of the speaker
  caption      description of an attached picture or file
  channel, agent, project, user, external_id
Recording the same messages again adds nothing.";

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// File of JSON lines, one message per line; `-` is standard input
    file: PathBuf,
    /// Program or file the messages come from [default: the name of the file]
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    #[command(flatten)]
    whose: Whose,
}

#[derive(Debug, Serialize)]
struct Recorded {
    source: String,
    #[serde(flatten)]
    report: Report,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let source = source(arguments)?;
    arguments.whose.id()?;
    let mut lines: Box<dyn BufRead> = match arguments.file.as_path() {
        path if path == Path::new("-") => Box::new(io::stdin().lock()),
        path => {
            let failed = || format!("could not read {}", path.display());
            Box::new(BufReader::new(File::open(path).with_context(failed)?))
        }
    };
    let zone = app.zone(&home)?;
    let mut memory = app.memory(&home, Access::Write)?;
    let scope = arguments.whose.writer(&mut memory.store, app.change())?;
    let vectors = embedding::vectors(memory.store.active_model()?.as_ref());
    let secrets = app.config(&home)?.config.recording.secrets;
    let settings =
        record::Settings { source: &source, scope, zone: &zone, now: app.now, vectors, secrets };
    let progress = Progress::of(app);
    let report = record::record(&mut memory.store, &mut *lines, &settings, &mut |lines| {
        progress.say(format_args!("{} lines", thousands(lines)));
    })?;
    drop(progress);
    let is_partial = report.is_partial();
    app.out.show(&Recorded { source, report })?;
    later::fill_in(&home, app, &mut memory.store)?;
    Ok(if is_partial { Outcome::Partial } else { Outcome::Done })
}

/// The name that tells the messages of one origin from those of another.
fn source(arguments: &Arguments) -> Result<String, Problem> {
    let name = match &arguments.source {
        Some(name) => name.trim().to_owned(),
        None if arguments.file == Path::new("-") => "stdin".to_owned(),
        None => arguments.file.file_name().unwrap_or_default().to_string_lossy().into_owned(),
    };
    if name.is_empty() {
        return Err(Problem::usage("the source has no name").hint("give one with `--source`"));
    }
    Ok(name)
}

impl Show for Recorded {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let report = &self.report;
        page.line(format_args!(
            "{} added in {}, {} known already",
            counted(report.added, "message"),
            counted(report.episodes, "episode"),
            thousands(report.known),
        ))?;
        for problem in &report.problems {
            let reason = printable(&problem.reason);
            page.line(format_args!("line {} was skipped: {reason}", problem.line))?;
        }
        if report.more_problems > 0 {
            page.line(format_args!("and {} more lines", thousands(report.more_problems)))?;
        }
        page.flush()
    }
}
