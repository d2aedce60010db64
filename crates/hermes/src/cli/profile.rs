//! hermes profile create, list, use, show, rename, delete, restore, export, import

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use clap::Subcommand;
use hermes_app::profiles::{self, ProfileSummary};
use hermes_home::layout::parse_profile;
use hermes_home::profile;
use serde::Serialize;

use crate::cli::backup::carry;
use crate::confirm;
use crate::failure::Outcome;
use crate::output::{Listing, Page, Show};
use hermes_app::text::bytes;

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
struct Changed {
    profile: String,
    done: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_in: Option<PathBuf>,
}

pub(crate) fn run(command: Command, app: &mut Terminal) -> anyhow::Result<Outcome> {
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

fn create(name: &str, app: &mut Terminal) -> anyhow::Result<()> {
    let prepared = profiles::create(app, name)?;
    app.out.show(&prepared)?;
    app.out.hint(format_args!(
        "use it with `hermes --profile {name} …` or `hermes profile use {name}`"
    ));
    Ok(())
}

fn list(app: &mut Terminal) -> anyhow::Result<()> {
    let results = profiles::list(app)?;
    app.out.show(&Listing { results })
}

fn choose(name: &str, app: &mut Terminal) -> anyhow::Result<()> {
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

fn show(name: Option<&str>, app: &mut Terminal) -> anyhow::Result<()> {
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
    app.out.show(&profiles::describe(&home, in_use))
}

fn rename(from: &str, to: &str, app: &mut Terminal) -> anyhow::Result<()> {
    profiles::rename(app, from, to)?;
    app.out.show(&Changed::new(to, format!("{from} is now called {to}")))
}

fn delete(name: &str, erase: bool, app: &mut Terminal) -> anyhow::Result<()> {
    let (name, folder) = profiles::removable(app, name)?;
    let folder = folder.display();
    if erase {
        confirm::consent(app.asking, &format!("remove {folder} and everything in it for ever?"))?;
        profile::erase(&app.root_home()?, &name)?;
        return app.out.show(&Changed::new(name.as_str(), format!("{name} is gone for ever")));
    }
    confirm::consent(app.asking, &format!("take profile {name} away (its files are kept aside)?"))?;
    let kept = profiles::set_aside(app, &name)?;
    let undo = format!("undo with `hermes profile restore {name}`");
    let done = format!("{name} is taken away and kept in {}", kept.display());
    app.out.show(&Changed { profile: name.to_string(), done, kept_in: Some(kept) })?;
    app.out.hint(undo);
    Ok(())
}

fn restore(name: &str, app: &mut Terminal) -> anyhow::Result<()> {
    profiles::restore(app, name)?;
    app.out.show(&Changed::new(name, format!("{name} is back")))
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

impl Show for ProfileSummary {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(format_args!("profile   {}", self.name))?;
        page.line(format_args!("in use    {}", if self.in_use { "yes" } else { "no" }))?;
        page.line(format_args!("home      {}", self.home.display()))?;
        page.line(format_args!("state.db  {}", bytes(self.sessions_bytes)))?;
        page.line(format_args!("files     about {} tokens", self.memory_tokens))
    }
}

impl Show for Listing<ProfileSummary> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let row = |profile: &ProfileSummary| {
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
