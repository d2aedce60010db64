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
    /// Create a profile with its own files and databases
    Create {
        /// Name of the profile: a-z, 0-9, _ and -
        name: String,
    },
    /// List the profiles
    List,
    /// Switch to a profile; `default` is the home itself
    Use {
        /// Name of the profile
        name: String,
    },
    /// Show a profile
    Show {
        /// Name of the profile [default: the one in use]
        name: Option<String>,
    },
    /// Rename a profile
    Rename {
        /// Current name
        from: String,
        /// New name
        to: String,
    },
    /// Delete a profile; its files are kept for `profile restore`, unless you pass `--erase`
    Delete {
        /// Name of the profile
        name: String,
        /// Delete its files permanently
        #[arg(long)]
        erase: bool,
    },
    /// Restore the most recently deleted profile of this name
    Restore {
        /// Name of the profile
        name: String,
    },
    /// Export a profile to one file
    Export(carry::Export),
    /// Import an exported profile, under a name that is not in use
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
    app.out.show(&Changed::new(name, format!("now using profile {name}")))?;
    if let Some(other) =
        app.env.get(hermes_home::env::HERMES_PROFILE).filter(|other| *other != name)
    {
        app.out.note(format_args!("HERMES_PROFILE is set to {other} here and takes precedence"));
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
    app.out.show(&Changed::new(to, format!("profile {from} was renamed to {to}")))
}

fn delete(name: &str, erase: bool, app: &mut Terminal) -> anyhow::Result<()> {
    let (name, folder) = profiles::removable(app, name)?;
    let folder = folder.display();
    if erase {
        confirm::consent(
            app.asking,
            &format!("permanently delete {folder} and everything in it?"),
        )?;
        profile::erase(&app.root_home()?, &name)?;
        return app
            .out
            .show(&Changed::new(name.as_str(), format!("profile {name} was permanently deleted")));
    }
    confirm::consent(
        app.asking,
        &format!("delete profile {name}? (its files are kept and can be restored)"),
    )?;
    let kept = profiles::set_aside(app, &name)?;
    let undo = format!("undo with `hermes profile restore {name}`");
    let done = format!("profile {name} was deleted; its files are kept in {}", kept.display());
    app.out.show(&Changed { profile: name.to_string(), done, kept_in: Some(kept) })?;
    app.out.hint(undo);
    Ok(())
}

fn restore(name: &str, app: &mut Terminal) -> anyhow::Result<()> {
    profiles::restore(app, name)?;
    app.out.show(&Changed::new(name, format!("profile {name} was restored")))
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
