//! hermes skills show

use crate::terminal::Terminal;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use clap::Args;
use hermes_home::skill::{Catalog, Learned, Origin, Skill, State};
use hermes_home::tokens;
use jiff::tz::TimeZone;
use serde::Serialize;

use super::list::word;
use crate::failure::Outcome;
use crate::output::{DIM, Page, Show};
use hermes_app::clock;
use hermes_app::text::{one_line, printable};

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Name of the skill
    name: String,
    /// Show the pending skill, if there is also an active one of this name
    #[arg(long)]
    pending: bool,
}

#[derive(Debug, Serialize)]
struct Shown {
    name: String,
    description: String,
    state: State,
    origin: Origin,
    locked: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    license: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compatibility: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    allowed_tools: Vec<String>,
    metadata: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    learned: Option<Learned>,
    tokens: usize,
    file: PathBuf,
    text: String,
    #[serde(skip)]
    zone: TimeZone,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    let name = arguments.name.as_str();
    let skill = match arguments.pending {
        true => Catalog::find_pending(&home, name)?,
        false => Catalog::find_any(&home, name)?,
    };
    let is_active = skill.state == State::Active;
    let is_another_waiting = is_active && Catalog::pending(&home)?.get(name).is_some();
    app.out.show(&Shown::of(skill, app.zone(&home)?))?;
    if is_another_waiting {
        app.out.hint(format_args!(
            "a new version is waiting for your approval: `hermes skills show {name} --pending`"
        ));
    }
    if !is_active {
        app.out.hint(format_args!(
            "approve it with `hermes skills approve {name}`, or reject it with `hermes skills reject {name}`"
        ));
    }
    Ok(Outcome::Done)
}

impl Shown {
    fn of(skill: Skill, zone: TimeZone) -> Shown {
        let origin = skill.origin();
        let content = skill.content;
        Shown {
            name: content.name.to_string(),
            tokens: tokens::estimate(&content.body),
            description: content.description,
            state: skill.state,
            origin,
            locked: content.is_locked,
            category: skill.category,
            license: content.license,
            compatibility: content.compatibility,
            allowed_tools: content.allowed_tools,
            metadata: content.metadata,
            learned: content.learned,
            file: skill.file,
            text: content.body,
            zone,
        }
    }

    fn rows(&self) -> Vec<(&'static str, String)> {
        let yes = |said: bool| if said { "yes" } else { "no" }.to_owned();
        let state = match self.state {
            State::Active => "active",
            State::Pending => "pending",
        };
        let mut rows = vec![
            ("skill", self.name.clone()),
            ("does", self.description.clone()),
            ("state", state.to_owned()),
            ("origin", word(self.origin).to_owned()),
            ("locked", yes(self.locked)),
        ];
        let optional = [
            ("category", self.category.clone()),
            ("license", self.license.clone()),
            ("needs", self.compatibility.clone()),
            ("made from", self.learned.as_ref().map(|learned| learned.sources.join(" "))),
            ("created", self.made()),
        ];
        let said = optional.into_iter().filter_map(|(name, value)| Some((name, value?)));
        rows.extend(said.filter(|(_, value)| !value.is_empty()));
        rows.push(("tokens", format!("about {}", self.tokens)));
        rows.push(("file", self.file.display().to_string()));
        rows
    }

    fn made(&self) -> Option<String> {
        Some(clock::minute(self.learned.as_ref()?.made_at?, &self.zone))
    }
}

impl Show for Shown {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        for (name, value) in self.rows() {
            page.line(format_args!("{DIM}{name:10}{DIM:#} {}", one_line(&value, usize::MAX)))?;
        }
        if self.text.is_empty() {
            return Ok(());
        }
        page.line("")?;
        page.line(printable(&self.text))
    }
}
