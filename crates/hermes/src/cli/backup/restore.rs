//! hermes backup restore

use crate::terminal::Terminal;
use std::io;
use std::path::PathBuf;

use clap::Args;
use hermes_backup::restore::{Part, Rollback, rollback_plan};
use hermes_backup::sign::Signed;
use hermes_home::layout::ChosenBy;

use super::keys::Opening;
use super::rows;
use crate::confirm;
use crate::failure::Outcome;
use crate::output::{BOLD, DIM, GOOD, Listing, Page, Show};
use hermes_app::app::App;
use hermes_app::backup::on_server::{Brought, Standing};
use hermes_app::backup::restore::{
    self, Chosen, HomeRestored, PartRestored, RolledBack, Source, Trusted,
};
use hermes_app::backup::wanted::{self, Wanted};
use hermes_app::problem::Problem;
use hermes_app::restore_rows::{self, Found, RowsRestored};
use hermes_app::text::counted;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Backup to restore: its id, a unique beginning of it, `latest`, or a file (also a zip of Hermes Agent or
    /// a plain tar of a home)
    #[arg(default_value = "latest")]
    backup: String,
    /// Restore to this new folder, and leave the home alone
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["path", "skill", "session", "rollback"])]
    to: Option<PathBuf>,
    /// Restore only this file or folder, given by its path below the home; can be given several times
    #[arg(long, value_name = "PATH")]
    path: Vec<String>,
    /// Restore only this skill; can be given several times
    #[arg(long, value_name = "NAME")]
    skill: Vec<String>,
    /// Restore only this session; can be given several times
    #[arg(long, value_name = "ID")]
    session: Vec<String>,
    /// Restore only single rows of the databases: messages, facts and other texts that are damaged, and
    /// messages that are missing at the end; shows them first
    #[arg(long, conflicts_with_all = ["to", "path", "skill", "session", "replace", "replace_memory", "rollback"])]
    rows: bool,
    /// Replace the current file or skill, which is kept under another name
    #[arg(long)]
    replace: bool,
    /// If the memory is on a server that still has one, replace it with the backup's; the old one is renamed
    #[arg(long, conflicts_with_all = ["to", "path", "skill", "session"])]
    replace_memory: bool,
    /// Accept an archive that is unsigned or signed by another home; asks first
    #[arg(long)]
    accept_unsigned: bool,
    /// Accept a backup signed with this key, as printed on the recovery kit
    #[arg(long, value_name = "FINGERPRINT", conflicts_with = "accept_unsigned")]
    signed_by: Option<String>,
    /// Undo the last restore: put back the home or profile that it moved aside; shows first what that is
    #[arg(long, conflicts_with_all = ["backup", "path", "skill", "session", "replace", "replace_memory"])]
    rollback: bool,
    #[command(flatten)]
    opening: Opening,
    /// Folder of the backups [default: the one in the settings]
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let wanted = wanted::read_anyway(app, arguments.from.as_deref())?;
    if arguments.rollback {
        return roll_back(app, &wanted);
    }
    let profile = named_profile(app)?;
    let chosen =
        restore::choose(&wanted, &arguments.backup, profile.as_deref(), arguments.is_part())?;
    let trusted = trusted(arguments, app, &wanted, &chosen)?;
    let what = what(arguments, app, &wanted, &chosen)?;
    let done = arguments.opening.with(app, |opening| {
        let (wanted, chosen, trusted) = (&wanted, &chosen, &trusted);
        bring(arguments, app, &Source { wanted, chosen, trusted, opening }, &what)
    })?;
    done.show(app)
}

/// What is to be brought back.
enum What {
    Home,
    Parts(Vec<Part>),
    Rows(Option<Found>),
}

/// What was brought back.
enum Done {
    Home(HomeRestored),
    Parts(Vec<PartRestored>),
    Rows(RowsRestored),
}

/// What is to be brought back; where something is replaced, a person is asked.
fn what(
    arguments: &Arguments,
    app: &Terminal,
    wanted: &Wanted,
    chosen: &Chosen,
) -> anyhow::Result<What> {
    let parts = arguments.parts(named_profile(app)?.as_deref())?;
    if arguments.rows {
        return Ok(What::Rows(rows::ask(app, chosen)?));
    }
    if !parts.is_empty() {
        return Ok(What::Parts(parts));
    }
    if arguments.to.is_none() {
        may_replace(app, wanted, chosen)?;
    }
    Ok(What::Home)
}

fn bring(
    arguments: &Arguments,
    app: &App,
    source: &Source<'_>,
    what: &What,
) -> anyhow::Result<Done> {
    let standing = if arguments.replace_memory { Standing::GoesAside } else { Standing::Stays };
    Ok(match (what, &arguments.to) {
        (What::Rows(None), _) => Done::Rows(RowsRestored::default()),
        (What::Rows(Some(found)), _) => Done::Rows(restore_rows::bring(app, source, found)?),
        (What::Parts(parts), _) => {
            Done::Parts(restore::parts(app, source, parts, arguments.replace)?)
        }
        (What::Home, Some(folder)) => Done::Home(restore::to_folder(app, source, folder)?),
        (What::Home, None) => Done::Home(restore::whole(app, source, standing)?),
    })
}

impl Done {
    fn show(self, app: &mut Terminal) -> anyhow::Result<Outcome> {
        let is_partly = match self {
            Done::Parts(results) => {
                app.out.show(&Listing { results })?;
                false
            }
            Done::Rows(rows) => {
                app.out.show(&rows)?;
                rows.has_lost()
            }
            Done::Home(done) => {
                app.out.show(&done)?;
                if done.kept_aside.is_some() {
                    app.out.hint("undo it with `hermes backup restore --rollback`");
                }
                done.memories.iter().any(Brought::has_failed)
            }
        };
        Ok(if is_partly { Outcome::Partial } else { Outcome::Done })
    }
}

/// Asks before a home that is there is replaced.
fn may_replace(app: &Terminal, wanted: &Wanted, chosen: &Chosen) -> anyhow::Result<()> {
    let home = wanted.home.root();
    if home.symlink_metadata().is_err() {
        return Ok(());
    }
    let question = format!(
        "replace {} with {}? (the current home is moved aside, not deleted)",
        home.display(),
        chosen.name()
    );
    confirm::consent(app.asking, &question)
}

/// Says what would be undone, then undoes it. Whole homes and profiles are put back; of single files and skills it
/// is said where they lie.
fn roll_back(app: &mut Terminal, wanted: &Wanted) -> anyhow::Result<Outcome> {
    let root = wanted.home.root().display();
    // A restore that was cut off is undone first, whatever lies aside.
    let plan = rollback_plan(&wanted.home);
    if let Ok(Rollback { parts, .. }) = &plan {
        for part in parts {
            app.out.note(format_args!(
                "not undone, because it was restored on its own: {} (put it back with mv)",
                part.display()
            ));
        }
    }
    let question = match &plan {
        Ok(Rollback { what: Some(what), from: Some(from), .. }) => format!(
            "put back {what} of {root} from {}? (the current one is moved aside)",
            from.display()
        ),
        _ => format!("put back what the last restore of {root} moved aside?"),
    };
    confirm::consent(app.asking, &question)?;
    let done = restore::roll_back(app, wanted)?;
    app.out.show(&done)?;
    Ok(Outcome::Done)
}

/// Asks about an archive that this home did not sign. A home that never signed a backup is a new machine: there the key
/// of another is shown, and a person compares it with the recovery kit.
fn trusted(
    arguments: &Arguments,
    app: &Terminal,
    wanted: &Wanted,
    chosen: &Chosen,
) -> anyhow::Result<Trusted> {
    let name = chosen.name();
    if arguments.accept_unsigned {
        let question = format!(
            "restore {name} ({})? There is no proof of who created it",
            chosen.signed.said()
        );
        confirm::consent(app.asking, &question)?;
        return Ok(Trusted::Anybody);
    }
    if let Some(key) = &arguments.signed_by {
        return Ok(Trusted::Compared(key.clone()));
    }
    match &chosen.signed {
        Signed::Other(key) if !wanted.folder.signers().has_made_any() => {
            app.out.note(format_args!("{name} is signed with the key {key}"));
            let question = format!(
                "is {key} the key on your recovery kit? (if not, someone else created {name})"
            );
            confirm::consent(app.asking, &question)?;
            Ok(Trusted::Compared(key.clone()))
        }
        _ => Ok(Trusted::Home),
    }
}

/// The profile that was named on the command line.
fn named_profile(app: &App) -> anyhow::Result<Option<String>> {
    let home = app.home()?;
    let is_named = home.chosen_by() == ChosenBy::Flag;
    Ok(is_named.then(|| home.profile_name().to_owned()))
}

impl Arguments {
    fn is_part(&self) -> bool {
        self.rows || !(self.path.is_empty() && self.skill.is_empty() && self.session.is_empty())
    }

    /// Paths are below the home, or below the profile that was named.
    fn parts(&self, profile: Option<&str>) -> Result<Vec<Part>, Problem> {
        let profile = profile.filter(|name| *name != "default");
        if let (Some(name), Some(skill)) = (profile, self.skill.first()) {
            return Err(Problem::usage(
                "--skill restores skills of the home itself, not of a profile",
            )
            .hint(format!("for a profile, use --path skills/{skill} with --profile {name}")));
        }
        let below = |path: &String| match profile {
            Some(name) if !path.starts_with("profiles/") => format!("profiles/{name}/{path}"),
            _ => path.clone(),
        };
        let paths = self.path.iter().map(below).map(Part::Path);
        let skills = self.skill.iter().cloned().map(Part::Skill);
        let sessions = self.session.iter().cloned().map(Part::Session);
        Ok(paths.chain(skills).chain(sessions).collect())
    }
}

impl Show for HomeRestored {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(format_args!(
            "{GOOD}restored{GOOD:#} {} to {BOLD}{}{BOLD:#}",
            counted(self.files, "file"),
            self.home.display()
        ))?;
        if let Some(id) = &self.backup {
            page.line(format_args!("  backup     {id}"))?;
        }
        if let Some(aside) = &self.kept_aside {
            page.line(format_args!("  before     kept in {}", aside.display()))?;
        }
        for memory in &self.memories {
            page.line(format_args!("  memory     {}", memory.said()))?;
        }
        for remark in &self.remarks {
            page.line(format_args!("  {DIM}note{DIM:#}       {remark}"))?;
        }
        Ok(())
    }
}

impl Show for RolledBack {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(format_args!("{GOOD}undone{GOOD:#}  {BOLD}{}{BOLD:#}", self.home.display()))?;
        if let Some(aside) = &self.kept_aside {
            page.line(format_args!("  restored   kept in {}", aside.display()))?;
        }
        for remark in &self.remarks {
            page.line(format_args!("  {DIM}note{DIM:#}       {remark}"))?;
        }
        Ok(())
    }
}

impl Show for Listing<PartRestored> {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for one in &self.results {
            page.line(format_args!(
                "{GOOD}restored{GOOD:#} {} as {}",
                one.what,
                one.path.display()
            ))?;
            if let Some(aside) = &one.kept_aside {
                page.line(format_args!("  before     kept in {}", aside.display()))?;
            }
        }
        Ok(())
    }
}
