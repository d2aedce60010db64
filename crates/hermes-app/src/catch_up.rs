//! Taking into the memory what other programs, hooks and the spool have and it lacks.

use hermes_home::Home;
use hermes_memory::catch_up::{self, Report};
use hermes_memory::record::{spool, turn, whose};
use hermes_store::memory::Memory;
use hermes_store::sessions::{Owner, SessionStore, random_bytes};

use crate::app::App;
use crate::hooks::finish;
use crate::text::counted;
use crate::{clock, embedding, transcript};

/// What was put right of an earlier version, if anything.
pub fn put_right(report: &Report) -> Option<String> {
    let (named, noted) = (report.sessions_named, report.summaries_noted);
    (named + noted > 0).then(|| {
        let named = counted(named, "session");
        format!("repaired: {named} assigned to the name of their user, {noted} summaries by number")
    })
}

/// Takes in what the memory of a home lacks, and first of all what hooks left.
pub fn take_in(app: &App, home: &Home, store: &mut Memory) -> anyhow::Result<Report> {
    take_in_telling(app, home, store, &mut || {})
}

/// The same; `tell` hears of each session and each turn that is in.
pub(crate) fn take_in_telling(
    app: &App,
    home: &Home,
    store: &mut Memory,
    tell: &mut dyn FnMut(),
) -> anyhow::Result<Report> {
    let zone = app.zone(home)?;
    let settings = turn::Settings {
        zone: &zone,
        now: clock::now(),
        vectors: embedding::vectors(store.active_model()?.as_ref()),
        random: random_bytes(),
        secrets: app.config(home)?.config.recording.secrets,
        transcript_note: &home.transcript_note(),
    };
    finish::to_spool(app, home)?;
    // Turns that wait in files go to the transcript as well.
    let waiting = spool::waiting(&home.spool()) > 0;
    let mut sessions = transcript::to_read(app, home)?;
    let is_due = match &sessions {
        Some(sessions) if sessions.layout().owner() == Owner::Ours => {
            let note = &home.transcript_note();
            let database = catch_up::database(sessions, note, settings.now)?;
            whose::is_due(sessions, store, &database)?
        }
        _ => false,
    };
    if waiting || is_due || sessions.as_ref().is_some_and(lacks_identity) {
        sessions = transcript::to_write(home, app.lock_wait(home)?)?;
    }
    Ok(catch_up::catch_up_telling(sessions.as_mut(), store, &home.spool(), &settings, tell)?)
}

/// Whether a database of ours was not opened for writing since it can say which one it is.
fn lacks_identity(sessions: &SessionStore) -> bool {
    sessions.layout().owner() == Owner::Ours && matches!(sessions.row_names(), Ok(None))
}
