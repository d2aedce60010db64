//! hermes config get, set, unset, list, edit, path, check

use crate::terminal::Terminal;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Subcommand;
use hermes_home::config::{self, Finding, Origin, Setting, Severity, Unknown};
use hermes_home::secret;
use hermes_home::{Error as HomeError, Home, atomic, lock};
use serde::Serialize;

use crate::editor;
use crate::failure::Outcome;
use crate::input;
use crate::output::{BAD, CARE, DIM, Listing, Page, Show};
use hermes_app::problem::{Kind, Problem};
use hermes_app::settings::{self, SettingChange, origin, shown};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print one setting
    Get {
        /// Name of the setting, such as sessions.retention_days
        key: String,
        /// Also show where the value comes from
        #[arg(long, short = 'v')]
        verbose: bool,
    },
    /// Change one setting in config.yaml; comments and order are preserved
    Set {
        /// Name of the setting; a name in CAPITALS is a secret and is stored in .env
        key: String,
        /// New value; `-` reads it from standard input
        value: String,
        /// In a home of Hermes Agent, write a key that is not a setting of this program
        #[arg(long)]
        force: bool,
    },
    /// Remove one setting, so that its default applies
    Unset {
        /// Name of the setting
        key: String,
        /// In a home of Hermes Agent, remove a key that is not a setting of this program
        #[arg(long)]
        force: bool,
    },
    /// List all settings with their values
    List {
        /// List only settings that differ from their default
        #[arg(long)]
        changed: bool,
    },
    /// Open config.yaml in your editor
    Edit,
    /// Print the path of config.yaml
    Path,
    /// Check for unknown keys, invalid values and settings without effect
    Check,
}

#[derive(Debug, Serialize)]
struct One {
    #[serde(flatten)]
    setting: Setting,
    #[serde(skip)]
    verbose: bool,
}

#[derive(Debug, Serialize)]
struct Where {
    path: PathBuf,
    exists: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    file: PathBuf,
    results: Vec<Finding>,
}

pub(crate) fn run(command: Command, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    match command {
        Command::Get { key, verbose } => {
            let setting = config::get(app.config(&home)?, &key)?;
            app.out.show(&One { setting, verbose })?;
        }
        Command::Set { key, value, force } => set(app, &home, &key, &value, force)?,
        Command::Unset { key, force } => unset(app, &home, &key, force)?,
        Command::List { changed } => {
            let mut results = config::list(app.config(&home)?);
            results.retain(|setting| !changed || setting.origin != Origin::Default);
            app.out.show(&Listing { results })?;
        }
        Command::Edit => edit(app, &home)?,
        Command::Path => {
            let path = home.config();
            app.out.show(&Where { exists: path.exists(), path })?;
        }
        Command::Check => return check(app, &home),
    }
    Ok(Outcome::Done)
}

fn set(app: &mut Terminal, home: &Home, key: &str, value: &str, force: bool) -> anyhow::Result<()> {
    if secret::is_secret_name(key) {
        return set_secret(app, home, key, value);
    }
    let value = input::text(value)?;
    let value = value.trim_end_matches('\n');
    let change = settings::set(app, home, key, value, unknown(force))?;
    app.out.show(&change)
}

/// A secret is never taken from the command line, where other users and the history can see it.
fn set_secret(app: &mut Terminal, home: &Home, name: &str, value: &str) -> anyhow::Result<()> {
    if value != "-" {
        return Err(Problem::new(
            Kind::Refused,
            format!("{name} is a secret, and secrets are not accepted on the command line"),
        )
        .hint(format!("run `hermes config set {name} -` and enter the value on standard input"))
        .into());
    }
    let value = input::text("-")?;
    let value = value.trim_end_matches(['\n', '\r']).to_owned();
    let change = settings::set_secret(home, name, value)?;
    app.out.show(&change)
}

fn unset(app: &mut Terminal, home: &Home, key: &str, force: bool) -> anyhow::Result<()> {
    let change = settings::unset(app, home, key, unknown(force))?;
    app.out.show(&change)
}

fn edit(app: &mut Terminal, home: &Home) -> anyhow::Result<()> {
    let path = home.config();
    let text = config::read_text(&path)?.unwrap_or_default();
    let Some(edited) = editor::change(&app.env, "config.yaml", &text)? else {
        app.out.note("nothing was changed");
        return Ok(());
    };
    if let Err(error) = save(&path, &text, &edited.text) {
        let kept = edited.keep();
        return Err(error).with_context(|| format!("your text is kept in {}", kept.display()));
    }
    app.out.note("config.yaml was saved");
    app.settings_changed();
    check(app, home).map(|_| ())
}

/// Writes the edited text, unless somebody else changed the file meanwhile.
fn save(path: &Path, before: &str, after: &str) -> anyhow::Result<()> {
    let _lock = lock::hold(path)?;
    if config::read_text(path)?.unwrap_or_default() != before {
        return Err(HomeError::ChangedMeanwhile { path: path.to_owned() }.into());
    }
    Ok(atomic::write(path, after.as_bytes())?)
}

fn check(app: &mut Terminal, home: &Home) -> anyhow::Result<Outcome> {
    let results = config::check(home, app.owner(home)?, &app.env, &app.flag_settings()?)?;
    let failed = results.iter().any(|finding| finding.severity == Severity::Error);
    app.out.show(&Report { file: home.config(), results })?;
    Ok(if failed { Outcome::Findings } else { Outcome::Done })
}

fn unknown(force: bool) -> Unknown {
    if force { Unknown::Allow } else { Unknown::Refuse }
}

impl Show for One {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(&self.setting.value)?;
        if self.verbose {
            page.line(format_args!("{DIM}from {}{DIM:#}", origin(&self.setting.origin)))?;
            page.line(format_args!("{DIM}{}{DIM:#}", self.setting.doc))?;
        }
        Ok(())
    }
}

impl Show for Listing<Setting> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let row = |setting: &Setting| {
            let from = match setting.origin {
                Origin::Default => String::new(),
                ref other => origin(other),
            };
            let acts = if setting.acts { "" } else { "not used yet" };
            vec![setting.key.to_owned(), shown(&setting.value).to_owned(), from, acts.to_owned()]
        };
        let rows: Vec<_> = self.results.iter().map(row).collect();
        page.table(&["setting", "value", "from", ""], &rows)
    }
}

impl Show for SettingChange {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(&self.message)
    }
}

impl Show for Where {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(self.path.display())
    }
}

impl Show for Report {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        if self.results.is_empty() {
            return page.line(format_args!("{}: nothing to report", self.file.display()));
        }
        for finding in &self.results {
            let (style, word) = match finding.severity {
                Severity::Error => (BAD, "error"),
                Severity::Warning => (CARE, "warning"),
                Severity::Note => (DIM, "note"),
            };
            page.line(format_args!("{style}{word}{style:#}  {finding}"))?;
        }
        Ok(())
    }
}
