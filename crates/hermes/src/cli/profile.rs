//! hermes profile create, list, use, show, rename, delete, restore, export, import

use std::io;
use std::path::PathBuf;

use clap::Subcommand;
use hermes_home::init::Owner;
use hermes_home::layout::{MemoryTarget, parse_profile};
use hermes_home::memory_file::Document;
use hermes_home::{Error as HomeError, Home, ProfileName, profile};
use hermes_store::memory::{SqliteMemory, Wanted};
use hermes_store::sqlite::Access;
use serde::Serialize;

use crate::app::App;
use crate::cli::backup::carry;
use crate::cli::init;
use crate::confirm;
use crate::failure::Outcome;
use crate::output::{Listing, Page, Show, bytes};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Make a new profile with its own files and databases
    Create {
        /// Its name: a-z, 0-9, _ and -
        name: String,
    },
    /// List the profiles
    List,
    /// Use a profile from now on; `default` goes back to the home itself
    Use {
        /// Its name
        name: String,
    },
    /// Show one profile
    Show {
        /// Its name [default: the one in use]
        name: Option<String>,
    },
    /// Give a profile another name
    Rename {
        /// The name it has
        from: String,
        /// The name it gets
        to: String,
    },
    /// Take a profile away; it is kept aside unless `--erase` is given
    Delete {
        /// Its name
        name: String,
        /// Remove its files for ever instead of keeping them aside
        #[arg(long)]
        erase: bool,
    },
    /// Bring back the profile of this name that was taken away last
    Restore {
        /// Its name
        name: String,
    },
    /// Write a profile into one file that can be carried elsewhere
    Export(carry::Export),
    /// Take in a profile that was exported, under a name that is free
    Import(carry::Import),
}

#[derive(Debug, Serialize)]
struct Profile {
    name: String,
    in_use: bool,
    home: PathBuf,
    sessions_bytes: u64,
    memory_tokens: usize,
}

#[derive(Debug, Serialize)]
struct Changed {
    profile: String,
    done: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_in: Option<PathBuf>,
}

pub(crate) fn run(command: Command, app: &mut App) -> anyhow::Result<Outcome> {
    match command {
        Command::Create { name } => create(&name, app)?,
        Command::List => list(app)?,
        Command::Use { name } => choose(&name, app)?,
        Command::Show { name } => show(name.as_deref(), app)?,
        Command::Rename { from, to } => rename(&from, &to, app)?,
        Command::Delete { name, erase } => delete(&name, erase, app)?,
        Command::Restore { name } => restore(&name, app)?,
        Command::Export(arguments) => return carry::export(&arguments, app),
        Command::Import(arguments) => return carry::import(&arguments, app),
    }
    Ok(Outcome::Done)
}

fn create(name: &str, app: &mut App) -> anyhow::Result<()> {
    let name: ProfileName = name.parse()?;
    let root = app.root_home()?;
    root.must_exist()?;
    let home = root.sibling(Some(name.clone()));
    if home.folder().exists() {
        return Err(HomeError::ProfileExists { name: name.to_string() }.into());
    }
    let prepared = init::prepare(app, &home).inspect_err(|_| {
        // It was not there before, so nothing but our own half-made files goes.
        let _ = std::fs::remove_dir_all(home.folder());
    })?;
    app.out.show(&prepared)?;
    app.out.hint(format_args!(
        "use it with `hermes --profile {name} …` or `hermes profile use {name}`"
    ));
    Ok(())
}

fn list(app: &mut App) -> anyhow::Result<()> {
    let root = app.root_home()?;
    root.must_exist()?;
    let used = app.home()?;
    let mut results = vec![describe(&root, used.profile().is_none())];
    for name in profile::list(&root)? {
        let in_use = used.profile() == Some(&name);
        results.push(describe(&root.sibling(Some(name)), in_use));
    }
    app.out.show(&Listing { results })
}

fn choose(name: &str, app: &mut App) -> anyhow::Result<()> {
    let root = app.root_home()?;
    root.must_exist()?;
    profile::make_sticky(&root, parse_profile(name)?.as_ref())?;
    app.out.show(&Changed::new(name, format!("{name} is used from now on")))?;
    if let Some(other) =
        app.env.get(hermes_home::env::HERMES_PROFILE).filter(|other| *other != name)
    {
        app.out.note(format_args!("but HERMES_PROFILE is set to {other} here, and wins"));
    }
    Ok(())
}

fn show(name: Option<&str>, app: &mut App) -> anyhow::Result<()> {
    let root = app.root_home()?;
    let home = match name {
        None => app.existing_home()?,
        Some(name) => match parse_profile(name)? {
            None => root.clone(),
            Some(name) => profile::existing(&root, &name)?,
        },
    };
    home.must_exist()?;
    let in_use = app.home()?.profile() == home.profile();
    app.out.show(&describe(&home, in_use))
}

fn rename(from: &str, to: &str, app: &mut App) -> anyhow::Result<()> {
    let root = app.root_home()?;
    let Some(from) = parse_profile(from)? else {
        return Err(HomeError::DefaultProfile { action: "renamed" }.into());
    };
    let new: ProfileName = to.parse()?;
    let home = profile::existing(&root, &from)?;
    rename_memory(app, &home, (from.as_str(), to))?;
    if let Err(error) = profile::rename(&root, &from, &new) {
        rename_memory(app, &home, (to, from.as_str()))?;
        return Err(error.into());
    }
    app.out.show(&Changed::new(to, format!("{from} is now called {to}")))
}

/// A memory names its profile, so that no other one opens it.
fn rename_memory(app: &App, home: &Home, (from, to): (&str, &str)) -> anyhow::Result<()> {
    let wait = app.lock_wait(home)?;
    if app.is_on_server(home)? {
        let mut store = app.server_memory_of(home, from, Access::Write, wait)?;
        return Ok(store.rename_profile(to)?);
    }
    let path = app.memory_path(home)?;
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    let wanted = Wanted { path: &path, profile: from };
    Ok(SqliteMemory::open(wanted, Access::Write, wait)?.rename_profile(to)?)
}

fn delete(name: &str, erase: bool, app: &mut App) -> anyhow::Result<()> {
    let root = app.root_home()?;
    let Some(name) = parse_profile(name)? else {
        return Err(HomeError::DefaultProfile { action: "deleted" }.into());
    };
    let target = profile::existing(&root, &name)?;
    let folder = target.folder().display();
    if erase {
        confirm::consent(app.asking, &format!("remove {folder} and everything in it for ever?"))?;
        profile::erase(&root, &name)?;
        return app.out.show(&Changed::new(name.as_str(), format!("{name} is gone for ever")));
    }
    confirm::consent(app.asking, &format!("take profile {name} away (its files are kept aside)?"))?;
    let kept = profile::set_aside(&root, &name, app.now)?;
    let undo = format!("undo with `hermes profile restore {name}`");
    let done = format!("{name} is taken away and kept in {}", kept.display());
    app.out.show(&Changed { profile: name.to_string(), done, kept_in: Some(kept) })?;
    app.out.hint(undo);
    Ok(())
}

fn restore(name: &str, app: &mut App) -> anyhow::Result<()> {
    let root = app.root_home()?;
    let Some(name) = parse_profile(name)? else {
        return Err(HomeError::DefaultProfile { action: "brought back" }.into());
    };
    profile::restore(&root, &name)?;
    app.out.show(&Changed::new(name.as_str(), format!("{name} is back")))
}

fn describe(home: &Home, in_use: bool) -> Profile {
    let size = |path: PathBuf| std::fs::metadata(path).map(|found| found.len()).unwrap_or(0);
    let tokens = [MemoryTarget::Memory, MemoryTarget::User(None), MemoryTarget::Soul]
        .iter()
        .filter_map(|target| std::fs::read_to_string(home.memory_file(target)).ok())
        .map(|text| Document::parse(&text, Owner::Ours).tokens())
        .sum();
    Profile {
        name: home.profile_name().to_owned(),
        in_use,
        home: home.folder().to_owned(),
        sessions_bytes: size(home.state_db()),
        memory_tokens: tokens,
    }
}

impl Changed {
    fn new(profile: &str, done: String) -> Changed {
        Changed { profile: profile.to_owned(), done, kept_in: None }
    }
}

impl Show for Changed {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(&self.done)
    }
}

impl Show for Profile {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(format_args!("profile   {}", self.name))?;
        page.line(format_args!("in use    {}", if self.in_use { "yes" } else { "no" }))?;
        page.line(format_args!("home      {}", self.home.display()))?;
        page.line(format_args!("state.db  {}", bytes(self.sessions_bytes)))?;
        page.line(format_args!("files     about {} tokens", self.memory_tokens))
    }
}

impl Show for Listing<Profile> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let row = |profile: &Profile| {
            vec![
                if profile.in_use { "*".into() } else { String::new() },
                profile.name.clone(),
                bytes(profile.sessions_bytes),
                profile.memory_tokens.to_string(),
                profile.home.display().to_string(),
            ]
        };
        let rows: Vec<_> = self.results.iter().map(row).collect();
        page.table(&["", "profile", "state.db", "tokens", "home"], &rows)
    }
}
