//! Turns that hooks told are recorded, or wait where they are taken in from.

use std::path::Path;

use hermes_home::Home;
use hermes_memory::chunk::Vectors;
use hermes_memory::record::spool;
use hermes_memory::record::turn::{Settings, Turn};
use hermes_store::sessions::random_bytes;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::{elsewhere, session};
use crate::app::App;
use crate::turn::Recorder;

/// Records turns; each leaves the file of its session when it is in the memory, or waits elsewhere.
pub fn record_all(app: &App, home: &Home, path: &Path, told: &[Value]) -> anyhow::Result<()> {
    let mut outcome = Ok(());
    // Their sessions are not in state.db: it need not be opened.
    let mut recorder = Recorder::without_transcripts();
    for turn in told {
        let (is_somewhere, recorded) = record(app, home, turn, &mut recorder);
        if is_somewhere {
            // One that stays there is recorded again, with the same ids: nothing comes of it.
            let _ = session::change(path, |session| session.told.retain(|other| other != turn));
        }
        outcome = outcome.and(recorded);
    }
    outcome
}

/// Records one turn, or puts it where it waits: the home, else a folder of the user. Whether it is somewhere, and what
/// went wrong.
fn record(
    app: &App,
    home: &Home,
    told: &Value,
    recorder: &mut Recorder,
) -> (bool, anyhow::Result<()>) {
    let turn = match Turn::from_json(told, &TimeZone::UTC) {
        Ok(turn) => turn,
        // Nobody could ever record it.
        Err(why) => return (true, Err(anyhow::anyhow!("the turn cannot be recorded: {why}"))),
    };
    let recorded = match turn.messages.is_empty() {
        // That a session is over is the daemon's to note.
        true => return wait(app, home, &turn, Ok(())),
        false => direct(app, home, &turn, recorder),
    };
    match recorded {
        Ok(()) => (true, Ok(())),
        Err(error) => wait(app, home, &turn, Err(error)),
    }
}

fn direct(app: &App, home: &Home, turn: &Turn, recorder: &mut Recorder) -> anyhow::Result<()> {
    if let Some(slip) = app.doubtful_memory(home)? {
        anyhow::bail!("{slip}");
    }
    recorder.record(app, home, turn).map(drop)
}

fn wait(
    app: &App,
    home: &Home,
    turn: &Turn,
    outcome: anyhow::Result<()>,
) -> (bool, anyhow::Result<()>) {
    let put = spool_put(home, turn, app.now).or_else(|_| elsewhere::put(&app.env, home, turn));
    match put {
        Ok(()) => (true, outcome),
        Err(error) => (false, outcome.and(Err(error))),
    }
}

/// Puts a turn into the spool of the home.
pub fn spool_put(home: &Home, turn: &Turn, now: Timestamp) -> anyhow::Result<()> {
    let settings = Settings {
        zone: &TimeZone::UTC,
        now,
        vectors: Vectors::Later,
        secrets: hermes_home::redaction::Policy::Redact,
        random: random_bytes(),
        transcript_note: &home.transcript_note(),
    };
    spool::put(&home.spool(), turn, &settings)?;
    Ok(())
}
