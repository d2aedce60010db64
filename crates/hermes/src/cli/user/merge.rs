//! hermes user merge

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use clap::Args;
use hermes_home::layout::MemoryTarget;
use hermes_home::{Home, UserId, atomic, person};
use hermes_memory::transfer;
use hermes_store::memory::{Admin, Moved, People as _, User, UserNumber, Vectors as _};
use hermes_store::sqlite::Access;
use serde::Serialize;

use super::export;
use crate::confirm;
use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::app::App;
use hermes_app::catch_up;
use hermes_app::embedding;
use hermes_app::problem::Problem;
use hermes_app::rules;
use hermes_app::tokens;
use hermes_app::users::known_user;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Who is somebody else from now on
    from: UserId,
    /// Who they are; `owner` is you
    into: UserId,
    /// Only show what would move
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Serialize)]
struct Merged {
    from: String,
    into: String,
    done: bool,
    #[serde(flatten)]
    moved: Moved,
    /// Entries of USER.md that the other had not.
    entries: usize,
    /// Sections of REFLECTIONS.md.
    reflections: usize,
    /// Where everything of the first is kept as it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_in: Option<String>,
}

pub(super) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let Arguments { from, into, dry_run } = arguments;
    let store = app.memory(&home, Access::Read)?.store;
    let [old, new] = [from, into].map(|name| known_user(&store, name));
    let (old, new) = (old?, new?);
    if old.name != from.as_str() {
        if old.number == new.number && home.users().join(from.as_str()).is_dir() {
            return finish(app, &home, [from, into], &new);
        }
        return Err(Problem::usage(format!("{from} is {} already", old.name)).into());
    }
    let moved = store.merge_plan(Admin, old.number, new.number)?;
    drop(store);
    let mut merged = Merged {
        from: from.to_string(),
        into: new.name.clone(),
        done: false,
        moved,
        entries: 0,
        reflections: 0,
        kept_in: None,
    };
    if *dry_run {
        app.out.show(&merged)?;
        return Ok(Outcome::Done);
    }
    if !app.json {
        app.out.note(merged.in_words());
    }
    confirm::consent(app.asking, &format!("merge {from} into {}?", new.name))?;
    let (moved, entries, reflections, keep) = carry_out(app, &home, (from, &old), &new)?;
    (merged.moved, merged.entries, merged.reflections, merged.done) =
        (moved, entries, reflections, true);
    merged.kept_in = Some(keep.display().to_string());
    app.out.show(&merged)?;
    app.out.note(format_args!(
        "{from} as they were is kept in {}; it goes when {} is forgotten",
        keep.display(),
        new.name
    ));
    Ok(Outcome::Done)
}

/// Makes one user another; returns what moved, entries, sections, and where the first is kept as they were.
pub(super) fn carry_out(
    app: &App,
    home: &Home,
    (from, old): (&UserId, &User),
    new: &User,
) -> anyhow::Result<(Moved, usize, usize, PathBuf)> {
    let mut memory = app.memory(home, Access::Write)?;
    // What was said before belongs to whom it went to then.
    catch_up::take_in(app, home, &mut memory.store)?;
    let name: UserId = new.name.parse()?;
    let keep = home.merged_users(&name).join(format!("{from}-{}", app.now.as_millisecond()));
    atomic::make_folder(&keep)?;
    export::write(app, home, (&memory, old), &keep)?;
    // Theirs who were merged into the first go where the first goes.
    let before = home.merged_users(from);
    let (zone, vectors) =
        (app.zone(home)?, embedding::vectors(memory.store.active_model()?.as_ref()));
    let chunker =
        |text: &hermes_store::memory::PortableText<'_>| transfer::chunks_of(text, &zone, vectors);
    let moved =
        memory.store.merge_users(Admin, [old.number, new.number], &chunker, app.change())?;
    let [entries, reflections] = files(app, home, from, new)?;
    tokens::rebind(&app.root_home()?, from.as_str(), &new.name)?;
    if before.is_dir() {
        let beside = keep.join("merged-before");
        std::fs::rename(&before, &beside)?;
    }
    Ok((moved, entries, reflections, keep))
}

/// The files follow; a merge that was cut short before them is brought to its end by the same command.
fn files(app: &App, home: &Home, from: &UserId, new: &User) -> anyhow::Result<[usize; 2]> {
    let name: UserId = new.name.parse()?;
    let into_owner = new.number == UserNumber::OWNER;
    let target = MemoryTarget::User((!into_owner).then(|| name.clone()));
    let mut context = rules::of_change(app, home, &target, "merged users")?;
    // Nothing of theirs may be lost because a file is full.
    context.rules.limit = None;
    Ok(person::merge(home, [from, &name], into_owner, &context)?)
}

fn finish(
    app: &mut Terminal,
    home: &Home,
    [from, into]: [&UserId; 2],
    new: &User,
) -> anyhow::Result<Outcome> {
    let [entries, reflections] = files(app, home, from, new)?;
    app.out.show(&Merged {
        from: from.to_string(),
        into: into.to_string(),
        done: true,
        moved: Moved::default(),
        entries,
        reflections,
        kept_in: None,
    })?;
    Ok(Outcome::Done)
}

impl Merged {
    fn in_words(&self) -> String {
        let Moved { sessions, episodes, messages, facts, joined, .. } = self.moved;
        let Moved { procedures, events, tasks, proposals, receipts, names, identities, .. } =
            self.moved;
        let counts = [
            (sessions, "sessions"),
            (episodes, "episodes"),
            (messages, "messages"),
            (facts, "facts"),
            (procedures, "procedures"),
            (events, "events"),
            (tasks, "tasks"),
            (proposals, "proposals"),
            (receipts, "receipts"),
            (names, "names"),
            (identities, "identities"),
        ];
        let named: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let what = if named.is_empty() { "nothing".to_owned() } else { named.join(", ") };
        let both = match joined {
            0 => String::new(),
            many => format!("; {many} of the facts are held by both and become one"),
        };
        format!("from {} to {}: {what}{both}", self.from, self.into)
    }
}

impl Show for Merged {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        match self.done {
            false => page.line(format_args!("would move {}", self.in_words())),
            true => {
                page.line(format_args!("{} is {} from now on", self.from, self.into))?;
                page.line(format_args!("  moved {}", self.in_words()))?;
                let (entries, sections) = (self.entries, self.reflections);
                page.line(format_args!(
                    "  USER.md: {entries} entries added; REFLECTIONS.md: {sections} sections added"
                ))
            }
        }
    }
}
