//! hermes claw migrate: move in from OpenClaw

use crate::terminal::Terminal;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use hermes_home::init::{self, Owner};
use hermes_home::layout::MemoryTarget;
use hermes_home::versions::{self, Replacement};
use hermes_home::{Home, atomic, lock, skill};
use hermes_import::{Item, Source, Tally};
use serde::Serialize;

use crate::cli::import::Arguments as ImportArguments;
use crate::cli::import::bring::{self, Wanted};
use crate::cli::memory::whose::Whose;
use crate::confirm;
use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::app::App;
use hermes_app::problem::{Kind, Problem};
use hermes_app::text::{counted, printable};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Import an OpenClaw workspace: persona, memory, notes, skills and sessions
    Migrate(Arguments),
}

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// OpenClaw's folder, or a single workspace [default: ~/.openclaw]
    path: Option<PathBuf>,
    /// Show what would be done, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Replace what looks like a password or a key in what is imported
    #[arg(long)]
    redact: bool,
    #[command(flatten)]
    whose: Whose,
}

/// What becomes of the files of a workspace.
#[derive(Debug, Serialize)]
struct Moved {
    dry_run: bool,
    files: Vec<Deed>,
    /// Where a copy of the workspace is kept.
    snapshot: Option<PathBuf>,
}

#[derive(Debug, Serialize)]
struct Deed {
    name: String,
    /// `written`, `beside`, `same`, `pending`, `kept` or `refused`.
    deed: &'static str,
    /// Where it is now.
    path: Option<PathBuf>,
    /// Why not, where it was not.
    why: Option<String>,
}

/// What stands beside a file of the user's own.
const BESIDE: &str = ".openclaw";

pub(crate) fn run(command: &Command, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let Command::Migrate(arguments) = command;
    let home = app.existing_home()?;
    let import = ImportArguments {
        path: arguments.path.clone(),
        dry_run: arguments.dry_run,
        since: None,
        project: None,
        whose: arguments.whose.clone(),
        redact: arguments.redact,
        with_model: false,
    };
    let wanted = Wanted::of(Source::OpenClaw, &import, app, &home)?;
    let workspace = hermes_import::workspace_of(&wanted.path);
    let Some(workspace) = workspace.filter(|_| wanted.path.is_dir()) else {
        let message =
            format!("could not migrate {}: there is no workspace in it", wanted.path.display());
        return Err(Problem::new(Kind::Refused, message)
            .hint("to import only sessions, run `hermes import openclaw PATH`")
            .into());
    };
    let plan = wanted.plan(app, &home)?;
    let moving = Moving { app, home: &home, workspace: &workspace };
    let planned = moving.files(&wanted, Doing::Looking)?;
    app.out.show(&plan)?;
    app.out.show(&Moved { dry_run: true, files: planned, snapshot: None })?;
    if arguments.dry_run {
        return Ok(if plan.tally.is_partial() { Outcome::Partial } else { Outcome::Done });
    }
    confirm::consent(app.asking, "migrate from OpenClaw as shown?")?;
    let moving = Moving { app, home: &home, workspace: &workspace };
    let snapshot = moving.snapshot()?;
    let files = moving.files(&wanted, Doing::Writing)?;
    let outcome = bring::bring(&wanted, app, &home)?;
    app.out.show(&Moved { dry_run: false, files, snapshot: Some(snapshot) })?;
    Ok(outcome)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Doing {
    Looking,
    Writing,
}

struct Moving<'a> {
    app: &'a App,
    home: &'a Home,
    workspace: &'a Path,
}

impl Moving<'_> {
    /// Copies the text files of the workspace, so that what was brought in can be looked up.
    fn snapshot(&self) -> anyhow::Result<PathBuf> {
        let stamp = self.app.now.strftime("%Y%m%dT%H%M%SZ");
        let folder = self.home.migration().join(format!("openclaw-{stamp}"));
        for file in hermes_import::workspace_files(self.workspace) {
            let inside = file.strip_prefix(self.workspace).unwrap_or(&file);
            let target = folder.join(inside);
            atomic::make_folder(target.parent().unwrap_or(&folder))?;
            atomic::write_private(&target, &std::fs::read(&file)?)?;
        }
        Ok(folder)
    }

    fn files(&self, wanted: &Wanted<'_>, doing: Doing) -> anyhow::Result<Vec<Deed>> {
        let mut deeds = Vec::new();
        for (name, target) in [
            ("SOUL.md", MemoryTarget::Soul),
            ("MEMORY.md", MemoryTarget::Memory),
            ("USER.md", MemoryTarget::User(wanted.arguments.whose.id()?)),
        ] {
            let from = self.workspace.join(name);
            if from.is_file() {
                deeds.push(self.memory_file(name, &from, &target, doing)?);
            }
        }
        let mut items = Vec::new();
        let mut take = |item: Item, _: &Tally| {
            if matches!(item, Item::Note(_) | Item::Skill(_)) {
                items.push(item);
            }
            std::ops::ControlFlow::Continue(())
        };
        hermes_import::read(Source::OpenClaw, self.workspace, &wanted.options, &mut take)?;
        for item in items {
            match item {
                Item::Note(note) if note.name != "SOUL.md" => {
                    deeds.push(Deed { name: note.name, deed: "kept", path: None, why: None });
                }
                Item::Skill(found) => deeds.push(self.skill(&found, doing)),
                _ => {}
            }
        }
        Ok(deeds)
    }

    /// A file that nobody has written to is filled; one of the user's own stays, with the other beside it.
    fn memory_file(
        &self,
        name: &str,
        from: &Path,
        target: &MemoryTarget,
        doing: Doing,
    ) -> anyhow::Result<Deed> {
        let path = self.home.memory_file(target);
        let new = std::fs::read(from)?;
        let old = match std::fs::read(&path) {
            Ok(old) => Some(old),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        let deed = |deed, path| Deed { name: name.to_owned(), deed, path: Some(path), why: None };
        if old.as_deref() == Some(&new) {
            return Ok(deed("same", path));
        }
        // Hermes Agent has rules of its own for these files.
        let is_theirs = self.app.owner(self.home)? == Owner::HermesAgent;
        if old.as_deref().is_none_or(is_untouched) && !is_theirs {
            if doing == Doing::Writing {
                atomic::make_folder(path.parent().unwrap_or(self.home.folder()))?;
                let _guard = lock::hold(&path)?;
                let old = old.as_deref();
                let (new, now) = (new.as_slice(), self.app.now);
                let reason = "from OpenClaw";
                let replacement = Replacement { old, new, reason, now, format: None };
                versions::replace(self.home, &path, &replacement)?;
            }
            return Ok(deed("written", path));
        }
        let mut beside = path.into_os_string();
        beside.push(BESIDE);
        let beside = PathBuf::from(beside);
        if doing == Doing::Writing && !atomic::create(&beside, &new)? {
            return Ok(deed("same", beside));
        }
        Ok(deed("beside", beside))
    }

    fn skill(&self, found: &hermes_import::SkillFolder, doing: Doing) -> Deed {
        let name = format!("skill {}", found.name);
        if doing == Doing::Looking {
            return Deed { name, deed: "pending", path: None, why: None };
        }
        match skill::add_pending(self.home, &found.path) {
            Ok(added) => Deed { name, deed: "pending", path: Some(added.path), why: None },
            Err(error) => Deed { name, deed: "refused", path: None, why: Some(error.to_string()) },
        }
    }
}

/// Whether a file is what a new home gets.
fn is_untouched(bytes: &[u8]) -> bool {
    let scaffolds = [init::SOUL, init::MEMORY, init::USER];
    bytes.trim_ascii().is_empty()
        || scaffolds.iter().any(|text| text.trim().as_bytes() == bytes.trim_ascii())
}

impl Show for Moved {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for file in &self.files {
            let place = file.path.as_ref().map(|path| printable(&path.display().to_string()));
            let place = place.unwrap_or_default();
            let said = match file.deed {
                "written" => format!("becomes {place}"),
                "beside" => format!("is placed beside yours as {place}; yours is not changed"),
                "same" => format!("already exists: {place}"),
                "pending" => "waits for approval: `hermes skills approve NAME`".to_owned(),
                "kept" => "is kept only in the copy".to_owned(),
                _ => format!("is skipped: {}", file.why.as_deref().unwrap_or_default()),
            };
            page.line(format_args!("{} {said}", printable(&file.name)))?;
        }
        match &self.snapshot {
            Some(path) => page.line(format_args!(
                "a copy of what was migrated is in {}",
                printable(&path.display().to_string())
            )),
            None if self.files.is_empty() => Ok(()),
            None => page.line(format_args!("{} checked", counted(self.files.len() as u64, "file"))),
        }
    }
}
