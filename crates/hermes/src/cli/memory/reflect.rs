//! hermes memory reflect

use std::io;

use hermes_home::skill::State;
use hermes_memory::reflect::{self, look_back};
use hermes_memory::{learn, remember};
use hermes_store::memory::Vectors as _;
use hermes_store::sqlite::Access;
use serde::Serialize;

use super::later;
use super::progress::Progress;
use super::remembering::rules_for;
use crate::app::App;
use crate::embedding;
use crate::failure::Outcome;
use crate::output::{Page, Show, counted};

/// What looking back came to.
#[derive(Debug, Default, Serialize)]
struct Looked {
    sessions: reflect::Report,
    habits: look_back::Report,
    skills: learn::Report,
}

pub(crate) fn run(app: &mut App) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let config = &app.config(&home)?.config;
    if !config.memory.reflection_enabled {
        app.out.show(&Looked::default())?;
        app.out.note("memory.reflection_enabled is false: nothing was looked at");
        return Ok(Outcome::Done);
    }
    let (keep, stale_after_days) = (config.keeps_learned(), config.memory.stale_after_days);
    if !app.memory(&home, Access::Read)?.exists {
        app.out.show(&Looked::default())?;
        return Ok(Outcome::Done);
    }
    let zone = app.zone(&home)?;
    let mut memory = app.memory(&home, Access::Write)?;
    let vectors = embedding::vectors(memory.store.active_model()?.as_ref());
    let mut progress = Progress::of(app);
    let settings = reflect::Settings { now: app.now, zone: &zone, vectors, limit: usize::MAX };
    let sessions = reflect::run(&home, &mut memory.store, &settings, None, &mut |count| {
        progress.say(format_args!("{} looked back on", counted(count, "session")));
        Ok(())
    })?;
    progress.end();
    let rules: remember::Rules<'_> = rules_for(app, &home, &memory.store)?;
    let answering = app.answering(&home, &memory.store)?;
    let days = i32::try_from(stale_after_days).unwrap_or(i32::MAX);
    let looking = look_back::Settings {
        now: app.now,
        zone: &zone,
        stale_after_days: days,
        embedder: answering.embedder.as_deref(),
    };
    let habits = look_back::look_back(&mut memory.store, &rules, &looking)?;
    let learning = learn::Settings { home: &home, keep, now: app.now, zone: &zone, vectors };
    let skills = learn::learn(&mut memory.store, &learning, None)?;
    let looked = Looked { sessions, habits, skills };
    app.out.show(&looked)?;
    hints(&looked, app);
    later::fill_in(&home, app, &mut memory.store)?;
    Ok(Outcome::Done)
}

fn hints(looked: &Looked, app: &App) {
    if looked.sessions.lessons > 0 {
        app.out.hint(
            "read them with `hermes memory reflections list`, or in workspace/REFLECTIONS.md",
        );
    }
    if looked.habits.proposed + looked.habits.stale > 0 {
        app.out.hint("see what is proposed with `hermes memory pending`");
    }
    if looked.skills.drafted.iter().any(|one| one.state == State::Pending) {
        app.out.hint("see the drafts with `hermes skills list --pending`");
    }
}

impl Show for Looked {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let Looked { sessions, habits, skills } = self;
        page.line(format_args!(
            "{} looked back on: {}, {}",
            counted(sessions.sessions, "session"),
            counted(sessions.lessons, "lesson"),
            counted(sessions.events, "event"),
        ))?;
        if habits.written + habits.proposed + habits.stale > 0 {
            page.line(format_args!(
                "habits: {} written, {} proposed; {} proposed for removal",
                habits.written, habits.proposed, habits.stale
            ))?;
        }
        for one in &skills.drafted {
            let state = match one.state {
                State::Pending => "waits for your word",
                State::Active => "is used from now on",
            };
            page.line(format_args!(
                "skill {} is drafted from {} and {state}",
                one.name,
                counted(one.tasks as u64, "task")
            ))?;
        }
        Ok(())
    }
}
