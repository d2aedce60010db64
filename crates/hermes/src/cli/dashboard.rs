//! hermes dashboard

use crate::terminal::Terminal;
use std::io::{self, IsTerminal as _};

use clap::Args;
use hermes_home::Home;
use serde::Serialize;

use crate::daemon::launch;
use crate::failure::Outcome;
use crate::output::{DIM, Page, Show};
use hermes_app::app::App;
use hermes_app::platform;
use hermes_app::problem::{Kind, Problem};
use hermes_app::running;
use hermes_server::login;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Print the address without opening a browser
    #[arg(long)]
    print: bool,
}

#[derive(Debug, Serialize)]
struct Address {
    url: String,
    #[serde(skip)]
    by_password: Option<String>,
    opened: bool,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    launch::start(&home)?;
    let door = door(app, &home)?.ok_or_else(|| not_listening(&home))?;
    let is_watched = io::stdout().is_terminal() && !app.json;
    let opened = is_watched && !arguments.print && open(&home, &door)?;
    app.out.show(&Address { url: door.url, by_password: door.by_password, opened })?;
    Ok(Outcome::Done)
}

/// An address that lets whoever opens it in, once.
struct Door {
    url: String,
    code: String,
    /// Where the code is given as a password, for browsers that do not find the name of the dashboard.
    by_password: Option<String>,
}

/// An address that lets whoever opens it in, once; none if the daemon does not listen.
pub(crate) fn address(app: &App, home: &Home) -> anyhow::Result<Option<String>> {
    Ok(door(app, home)?.map(|door| door.url))
}

/// Opens it in a browser: by a private page, so that the code is in no list of processes.
fn open(home: &Home, door: &Door) -> anyhow::Result<bool> {
    let page = login::open_door(home, &door.url, &door.code)?;
    let opened = platform::open_in_browser(&page);
    if !opened {
        login::close_doors(home);
    }
    Ok(opened)
}

fn door(app: &App, home: &Home) -> anyhow::Result<Option<Door>> {
    login::close_doors(home);
    let found = running::find(home)?;
    let Some(state) = found.pid.and(found.state) else { return Ok(None) };
    let Some(plain) = state.url else { return Ok(None) };
    let url = state.dashboard.unwrap_or_else(|| plain.clone());
    let by_password = (url != plain).then(|| format!("{plain}/enter"));
    // An address that stands for every address is none that a browser can open.
    let url = url.replace("//0.0.0.0:", "//localhost:").replace("//[::]:", "//localhost:");
    let code = login::new_code(home, app.now)?;
    Ok(Some(Door { url: format!("{url}/login?code={code}"), code, by_password }))
}

fn not_listening(home: &Home) -> Problem {
    let state = running::find(home).ok().and_then(|found| found.state);
    let why = state.and_then(|state| state.server_trouble);
    let why = why.unwrap_or_else(|| "server.enabled is off".to_owned());
    Problem::new(Kind::Unavailable, format!("the daemon is not listening: {why}")).hint(
        "turn the listener on with `hermes config set server.enabled true` and `hermes restart`",
    )
}

impl Show for Address {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(&self.url)?;
        page.line(format_args!(
            "{DIM}this link signs in one browser and expires after ten minutes{DIM:#}"
        ))?;
        let Some(address) = &self.by_password else { return Ok(()) };
        page.line(format_args!(
            "{DIM}if your browser cannot resolve this name, open {address} and enter the code as the password{DIM:#}"
        ))
    }
}
