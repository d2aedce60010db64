//! `hermes` without a command, in a terminal: the state of the home in a few lines, and what to do next

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use hermes_app::backup;
use hermes_app::clock;
use hermes_app::running;
use hermes_app::text::counted;
use hermes_home::Home;
use hermes_store::memory::Admin;
use hermes_store::sqlite::Access;

use super::{Cli, help};
use crate::failure;
use crate::terminal::Terminal;

/// Whether a person typed it and reads the answer.
pub(crate) fn is_for_a_person() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

pub(crate) fn run() -> ExitCode {
    let Ok(Cli { global, .. }) = super::parse(["hermes", "help"]) else {
        return ExitCode::FAILURE;
    };
    match show(&mut Terminal::new(global)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error, false, ""),
    }
}

fn show(app: &mut Terminal) -> anyhow::Result<()> {
    let home = app.home()?;
    let mut lines = match home.must_exist() {
        Err(_) => vec![
            format!("There is no home in {} yet.", home.folder().display()),
            "Run `hermes start` to create it.".to_owned(),
        ],
        Ok(()) => state(app, &home)?,
    };
    lines.push(String::new());
    let text = lines.join("\n") + "\n" + &help::screen();
    app.out.raw().write_all(text.as_bytes())?;
    Ok(app.out.raw().flush()?)
}

/// What is in the home, whether the daemon runs, what it works with, and how old the newest backup is.
fn state(app: &Terminal, home: &Home) -> anyhow::Result<Vec<String>> {
    let zone = app.zone(home)?;
    let memory = match app.memory(home, Access::Read).and_then(|it| Ok(it.store.counts(Admin)?)) {
        Ok(counts) => format!(
            "{}, {} in {}",
            counted(counts.facts, "fact"),
            counted(counts.messages, "message"),
            counted(counts.raw_episodes + counts.compressed_episodes, "episode")
        ),
        Err(error) => format!("cannot be read: {error}; run `hermes doctor`"),
    };
    let found = running::find(&app.root_home()?)?;
    let daemon = match (found.pid, found.state.and_then(|state| state.url)) {
        (Some(pid), Some(url)) => format!("running, pid {pid}, listens on {url}"),
        (Some(pid), None) => format!("running, pid {pid}"),
        (None, _) => "not running; start it with `hermes start`".to_owned(),
    };
    let newest = backup::status::of_home(app, &app.root_home()?)?.and_then(|it| it.newest);
    let backup = match newest {
        Some(at) => format!("latest verified backup {}", clock::minute(at, &zone)),
        None => "none; set them up with `hermes backup setup`".to_owned(),
    };
    Ok(vec![
        format!("Home     {} (profile {})", home.folder().display(), home.profile_name()),
        format!("Memory   {memory}"),
        format!("Daemon   {daemon}"),
        format!("Models   {}", hermes_app::daemon::models_line(app, home)),
        format!("Backups  {backup}"),
    ])
}
