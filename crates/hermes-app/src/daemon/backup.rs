//! The daemon's own schedule of backups: each is made by a process of its own.

use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use hermes_home::Home;
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};

use super::log::{self, Log};
use crate::app::App;
use crate::backup::record::{self, By, Ended};
use crate::clock;
use crate::problem::kind_word;
use crate::process;

/// How often the schedule is looked at.
const PAUSE: Duration = Duration::from_secs(30);
/// How often a backup that is being made is looked at.
const WATCH: SignedDuration = SignedDuration::from_secs(2);
/// How long a backup may take to end when the daemon must stop.
const GRACE: Duration = Duration::from_secs(2);

/// The schedule as it was last seen, and the backup that is being made.
pub struct Backups {
    /// The program as it was called: a new version is in the same place.
    program: Option<PathBuf>,
    running: Option<Running>,
    looked: Option<Instant>,
    next: Option<Timestamp>,
    /// The day whose backup this daemon has made, or tried to.
    tried: Option<Date>,
    is_in_trouble: bool,
}

struct Running {
    child: Child,
    day: Date,
    began: Timestamp,
}

impl Default for Backups {
    /// Nothing was looked at yet.
    fn default() -> Backups {
        let program = std::env::current_exe().ok();
        Backups {
            program,
            running: None,
            looked: None,
            next: None,
            tried: None,
            is_in_trouble: false,
        }
    }
}

impl Backups {
    /// The next look is a real one.
    pub fn look_again(&mut self) {
        self.looked = None;
    }

    /// Starts a backup if one is due; says when the next one is.
    ///
    /// The databases must not be opened as files by the process that holds them, so that a backup is another process.
    pub fn look(&mut self, app: &App, home: &Home, log: &mut Log) -> Option<Timestamp> {
        if self.is_running(home, log) {
            return clock::now().checked_add(WATCH).ok();
        }
        let is_time = self.next.is_some_and(|next| next <= clock::now());
        if !is_time && self.looked.is_some_and(|looked| looked.elapsed() < PAUSE) {
            return self.next;
        }
        self.looked = Some(Instant::now());
        match self.plan(app, home, log) {
            Ok(next) => {
                self.next = next;
                self.is_in_trouble = false;
            }
            Err(error) => {
                self.next = None;
                if !std::mem::replace(&mut self.is_in_trouble, true) {
                    log.line(
                        clock::now(),
                        &format!("backup: could not start ({})", kind_word(&error)),
                    );
                }
            }
        }
        self.next
    }

    /// Ends a backup that is being made; it is made again when the next daemon starts.
    pub fn stop(&mut self) {
        let Some(mut running) = self.running.take() else { return };
        let _ = process::ask_to_end(running.child.id());
        let begun = Instant::now();
        while begun.elapsed() < GRACE && matches!(running.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = running.child.kill();
        let _ = running.child.wait();
    }

    fn plan(&mut self, app: &App, home: &Home, log: &mut Log) -> anyhow::Result<Option<Timestamp>> {
        let Some(record) = record::read(home)?.filter(|record| record.by == By::Daemon) else {
            return Ok(None);
        };
        let app = app.for_profile(home);
        let next = record.next(&app, home)?;
        if next.is_none_or(|next| next > app.now) {
            return Ok(next);
        }
        let day = record.plan(&app, home)?.day_of(app.now, &app.zone(home)?);
        // A day that could not be noted must not come again and again.
        let day = day.filter(|day| self.tried != Some(*day));
        let Some((day, program)) = day.zip(self.program.clone()) else { return Ok(None) };
        let mut command = Command::new(program);
        command.arg("--home").arg(home.root()).args(["--quiet", "--no-input"]);
        command.args(["backup", "create", "--scheduled", By::Daemon.word()]);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(log::open_today(home, app.now)?);
        let child = command.spawn()?;
        log.line(app.now, &format!("backup: started for {day}, pid {}", child.id()));
        self.running = Some(Running { child, day, began: app.now });
        self.tried = Some(day);
        Ok(app.now.checked_add(WATCH).ok())
    }

    /// Whether a backup is being made; what became of one that is over is noted.
    fn is_running(&mut self, home: &Home, log: &mut Log) -> bool {
        let Some(running) = &mut self.running else { return false };
        let status = match running.child.try_wait() {
            Ok(None) => return true,
            Ok(Some(status)) => Some(status),
            Err(_) => None,
        };
        let now = clock::now();
        let well = status.is_some_and(|status| status.success());
        let how = status.map_or("lost".to_owned(), describe);
        log.line(now, &format!("backup: {how}"));
        // The process has noted more than this, unless it ended before it could.
        let ended = Ended { at: now, well, detail: how };
        let _ = record::finish_for(home, running.day, running.began, ended);
        self.running = None;
        self.looked = None;
        false
    }
}

fn describe(status: ExitStatus) -> String {
    match status.code() {
        Some(0) => "done".to_owned(),
        Some(code) => format!("ended with exit code {code}"),
        None => "ended by a signal".to_owned(),
    }
}
