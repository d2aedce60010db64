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
    /// List the users, the identities they come in with, and who is linked to nobody
    List,
    /// Add a user; each has a memory of their own
    Add {
        /// Their name: letters, digits and _ - . @ +
        name: UserId,
        /// The time zone they live in, such as Europe/Lisbon
        #[arg(long, value_name = "ZONE")]
        timezone: Option<String>,
    },
    /// Say which of those who wrote and are linked to nobody are you; each is asked about once
    Confirm(confirm::Arguments),
    /// Say which user somebody is in a channel; from then on their words go to that user's memory
    Link {
        /// The channel, such as telegram
        channel: String,
        /// Their id there
        native_id: String,
        /// The user; `owner` is you
        user: UserId,
    },
    /// Forget which user somebody is in a channel; what was said stays where it is
    Unlink {
        /// The channel, such as telegram
        channel: String,
        /// Their id there
        native_id: String,
    },
    /// Say which time zone a user lives in
    Timezone {
        /// The user
        user: UserId,
        /// The zone, such as Europe/Lisbon; `none` for the one of the settings
        zone: String,
    },
    /// Make one user another: everything of the first becomes the second's, and the name leads there
    Merge(merge::Arguments),
    /// Undo a merge: both users have again what they had, and what came since stays with the second
    Unmerge(unmerge::Arguments),
    /// Write everything of one person to a folder
    Export(export::Arguments),
    /// Erase everything of one person, with a receipt that says which backups still hold it
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
    app.out
        .hint(format_args!("say who they are in a channel: `hermes user link CHANNEL ID {name}`"));
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
            page.line(format_args!("{:<20} {DIM}is {} since {at}{DIM:#}", one.name, one.into))?;
        }
        if !self.unlinked.is_empty() {
            page.line("\nlinked to nobody:")?;
        }
        for one in &self.unlinked {
            let (channel, id) = (printable(&one.channel), printable(&one.native_id));
            page.line(format_args!("  {channel} {id}: words went to {}", one.user))?;
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
