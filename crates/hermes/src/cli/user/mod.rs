//! hermes user list, add, confirm, link, unlink, timezone, merge, unmerge, export, forget

mod confirm;
mod export;
mod forget;
mod merge;
mod unmerge;

use crate::terminal::Terminal;
use std::io;

use clap::Subcommand;
use hermes_home::{Home, UserId};
use hermes_store::sqlite::Access;

use crate::failure::Outcome;
use crate::output::{DIM, Page, Show};
use hermes_app::text::printable;
use hermes_app::users::{self, KnownUsers, UserChange};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the users and their channel accounts, and the unlinked accounts
    List,
    /// Add a user, who gets a memory of their own
    Add {
        /// Name of the user: letters, digits and _ - . @ +
        name: UserId,
        /// Time zone of the user, such as Europe/Lisbon
        #[arg(long, value_name = "ZONE")]
        timezone: Option<String>,
    },
    /// Link unlinked accounts that are yours to you; asks about each one once
    Confirm(confirm::Arguments),
    /// Link a channel account to a user; from then on its messages go to that user's memory
    Link {
        /// Channel, such as telegram
        channel: String,
        /// Id of the account in the channel
        native_id: String,
        /// User to link to; `owner` is you
        user: UserId,
    },
    /// Unlink a channel account from its user; what was said before stays with the user
    Unlink {
        /// Channel, such as telegram
        channel: String,
        /// Id of the account in the channel
        native_id: String,
    },
    /// Set the time zone of a user
    Timezone {
        /// User
        user: UserId,
        /// Time zone, such as Europe/Lisbon; `none` uses the one in the settings
        zone: String,
    },
    /// Merge one user into another: everything of the first moves to the second, and so does the name
    Merge(merge::Arguments),
    /// Undo a merge: both users get back what they had; what came later stays with the second
    Unmerge(unmerge::Arguments),
    /// Export everything of a user to a folder
    Export(export::Arguments),
    /// Erase everything of a user, with a receipt that lists the backups that still contain it
    Forget(forget::Arguments),
}

pub(crate) fn run(command: &Command, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    match command {
        Command::List => list(app, &home),
        Command::Add { name, timezone } => add(app, &home, name, timezone.as_deref()),
        Command::Confirm(arguments) => confirm::run(arguments, app, &home),
        Command::Link { channel, native_id, user } => {
            show(app, &users::link(app, &home, [channel, native_id], user)?)
        }
        Command::Unlink { channel, native_id } => {
            show(app, &users::unlink(app, &home, [channel, native_id])?)
        }
        Command::Timezone { user, zone } => {
            show(app, &users::set_timezone(app, &home, user, zone)?)
        }
        Command::Merge(arguments) => merge::run(arguments, app),
        Command::Unmerge(arguments) => unmerge::run(arguments, app),
        Command::Export(arguments) => export::run(arguments, app),
        Command::Forget(arguments) => forget::run(arguments, app),
    }
}

fn list(app: &mut Terminal, home: &Home) -> anyhow::Result<Outcome> {
    let known = users::list(&app.memory(home, Access::Read)?.store)?;
    app.out.show(&known)?;
    Ok(Outcome::Done)
}

fn show(app: &mut Terminal, change: &UserChange) -> anyhow::Result<Outcome> {
    app.out.show(change)?;
    Ok(Outcome::Done)
}

fn add(
    app: &mut Terminal,
    home: &Home,
    name: &UserId,
    zone: Option<&str>,
) -> anyhow::Result<Outcome> {
    let change = users::add(app, home, name, zone)?;
    app.out.show(&change)?;
    app.out.hint(format_args!(
        "link a channel account to this user: `hermes user link CHANNEL ID {name}`"
    ));
    Ok(Outcome::Done)
}

impl Show for KnownUsers {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for user in &self.results {
            let zone = user.timezone.as_deref().unwrap_or("");
            page.line(format_args!("{:<20} {DIM}{zone}{DIM:#}", user.name))?;
            for one in &user.identities {
                let id = printable(&one.native_id);
                page.line(format_args!("  {} {id}", printable(&one.channel)))?;
            }
        }
        for one in &self.merged {
            let at = one.at.strftime("%Y-%m-%d");
            page.line(format_args!(
                "{:<20} {DIM}merged into {} on {at}{DIM:#}",
                one.name, one.into
            ))?;
        }
        if !self.unlinked.is_empty() {
            page.line("\nnot linked to a user:")?;
        }
        for one in &self.unlinked {
            let (channel, id) = (printable(&one.channel), printable(&one.native_id));
            page.line(format_args!("  {channel} {id}: messages are stored under {}", one.user))?;
            page.line(format_args!("    {DIM}link:{DIM:#} {}", printable(&one.link_with)))?;
            if let Some(command) = &one.if_owner {
                page.line(format_args!("    {DIM}if it is you:{DIM:#} {}", printable(command)))?;
            }
        }
        Ok(())
    }
}

impl Show for UserChange {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        page.line(printable(&self.message))
    }
}
