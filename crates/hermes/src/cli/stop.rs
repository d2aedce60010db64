//! hermes stop, hermes restart

use crate::terminal::Terminal;
use std::io;

use hermes_home::Home;
use serde::Serialize;

use crate::cli::{service, start};
use crate::daemon::launch::{self, Launched};
use crate::failure::Outcome;
use crate::output::{Page, Show};

#[derive(Debug, Serialize)]
struct Stopped {
    /// The process that was ended.
    pid: Option<u32>,
}

#[derive(Debug, Serialize)]
struct Restarted {
    /// The process that was ended.
    stopped: Option<u32>,
    /// The process that runs now.
    pid: u32,
}

pub(crate) fn stop(app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.root_home()?;
    home.must_exist()?;
    let pid = launch::stop(&home)?;
    app.out.show(&Stopped { pid })?;
    Ok(Outcome::Done)
}

pub(crate) fn restart(app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.root_home()?;
    home.must_exist()?;
    let (stopped, launched) = match service::restart(app, &home)? {
        Some(done) => done,
        None => (launch::stop(&home)?, launch::start(&home)?),
    };
    app.out.show(&Restarted { stopped, pid: launched.pid() })?;
    say_loss(&launched, app, &home)?;
    Ok(Outcome::Done)
}

fn say_loss(launched: &Launched, app: &Terminal, home: &Home) -> anyhow::Result<()> {
    if let Launched::Started { lost: Some(lost), .. } = launched {
        app.out.note(start::after_a_loss(lost, app, home)?);
    }
    Ok(())
}

impl Show for Stopped {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        match self.pid {
            Some(pid) => page.line(format_args!("stopped the daemon (pid {pid})")),
            None => page.line("the daemon is not running"),
        }
    }
}

impl Show for Restarted {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        match self.stopped {
            Some(before) => {
                page.line(format_args!("restarted the daemon: pid {} (before: {before})", self.pid))
            }
            None => page.line(format_args!("started the daemon: pid {}", self.pid)),
        }
    }
}
