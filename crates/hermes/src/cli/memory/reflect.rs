//! hermes memory reflect

use crate::terminal::Terminal;
use std::io;

use hermes_home::skill::State;
use hermes_home::{Home, UserId};
use hermes_memory::learn;
use hermes_memory::reflect::{self, look_back};
use hermes_store::memory::{Admin, Memory, UserNumber};
use hermes_store::sqlite::Access;
use serde::Serialize;

use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::background::Background;
use hermes_app::daemon::reflection;
use hermes_app::later;
use hermes_app::progress::Progress;
use hermes_app::text::counted;

/// What looking back came to.
#[derive(Debug, Default, Serialize)]
struct Looked {
    sessions: reflect::Report,
    habits: look_back::Report,
    skills: learn::Report,
}

pub(crate) fn run(app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    if !reflection::is_enabled(app, &home)? {
        app.out.show(&Looked::default())?;
        app.out.note("memory.reflection_enabled is false: nothing was done");
        return Ok(Outcome::Done);
    }
    if !app.memory(&home, Access::Read)?.exists {
        app.out.show(&Looked::default())?;
        return Ok(Outcome::Done);
    }
    let mut memory = app.memory(&home, Access::Write)?;
    let looked = look(app, &home, &mut memory.store)?;
    app.out.show(&looked)?;
    hints(&looked, app, &home, &memory.store)?;
    later::fill_in(&home, app, &mut memory.store)?;
    Ok(Outcome::Done)
}

fn look(app: &Terminal, home: &Home, store: &mut Memory) -> anyhow::Result<Looked> {
    let model = Background::open(app, home)?;
    let progress = Progress::of(app);
    let sessions = reflection::sessions(app, home, store, model.as_ref(), &mut |count| {
        progress.say(format_args!("reflected on {}", counted(count, "session")));
        Ok(())
    })?;
    drop(progress);
    let habits = reflection::habits(app, home, store)?;
    let skills = reflection::skills(app, home, store, model.as_ref())?;
    Ok(Looked { sessions, habits, skills })
}

fn hints(looked: &Looked, app: &Terminal, home: &Home, store: &Memory) -> anyhow::Result<()> {
    for user in store.users(Admin)? {
        if !looked.sessions.taught.contains(&user.number) {
            continue;
        }
        let own = (user.number != UserNumber::OWNER).then(|| user.name.parse::<UserId>());
        let own = own.and_then(Result::ok);
        let file = home.reflections(own.as_ref());
        let file = file.strip_prefix(home.folder()).unwrap_or(&file).display().to_string();
        let whose = own.map(|name| format!(" --user {name}")).unwrap_or_default();
        app.out.hint(format_args!(
            "read them with `hermes memory reflections list{whose}`, or in {file}"
        ));
    }
    if looked.habits.proposed + looked.habits.stale > 0 {
        app.out.hint("list the proposals with `hermes memory pending`");
    }
    if looked.skills.drafted.iter().any(|one| one.state == State::Pending) {
        app.out.hint("list the drafts with `hermes skills list --pending`");
    }
    Ok(())
}

impl Show for Looked {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let Looked { sessions, habits, skills } = self;
        page.line(format_args!(
            "reflected on {}: {}, {}",
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
                State::Pending => "waits for your approval",
                State::Active => "is now in use",
            };
            page.line(format_args!(
                "skill {} was drafted from {} and {state}",
                one.name,
                counted(one.tasks as u64, "task")
            ))?;
        }
        Ok(())
    }
}
