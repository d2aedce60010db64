//! hermes memory redact

use crate::terminal::Terminal;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;

use clap::Args;
use hermes_home::redaction;
use hermes_memory::transfer;
use hermes_store::memory::{Admin, PortableText};
use hermes_store::sqlite::Access;
use serde::Serialize;
use serde_json::Value;

use crate::failure::Outcome;
use crate::output::{Page, Show};
use hermes_app::embedding;
use hermes_app::later;
use hermes_app::text::counted;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Show how many texts contain secrets, and change nothing even with --yes
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Serialize)]
struct Redacted {
    dry_run: bool,
    /// How many texts of each kind.
    texts: BTreeMap<&'static str, u64>,
}

pub(crate) fn run(arguments: &Arguments, app: &mut Terminal) -> anyhow::Result<Outcome> {
    let home = app.existing_home()?;
    if !app.has_memory(&home) {
        app.out.show(&Redacted { dry_run: true, texts: BTreeMap::new() })?;
        return Ok(Outcome::Done);
    }
    if arguments.dry_run || !app.asking.yes {
        let memory = app.memory(&home, Access::Read)?;
        let texts = memory.store.count_rewrites(Admin, &rewritten)?;
        let has_some = !texts.is_empty();
        app.out.show(&Redacted { dry_run: true, texts })?;
        if has_some {
            app.out.hint(
                "nothing was changed yet; add `--yes` to redact them, which cannot be undone",
            );
        }
        return Ok(Outcome::Done);
    }
    let mut memory = app.memory(&home, Access::Write)?;
    let (zone, vectors) =
        (app.zone(&home)?, embedding::vectors(memory.store.active_model()?.as_ref()));
    let chunker = |text: &PortableText<'_>| transfer::chunks_of(text, &zone, vectors);
    let texts = memory.store.rewrite_texts(Admin, &rewritten, &chunker, app.change())?;
    later::fill_in(&home, app, &mut memory.store)?;
    app.out.show(&Redacted { dry_run: false, texts })?;
    Ok(Outcome::Done)
}

/// A text without its secrets, which stays JSON where it is JSON; none if it has none.
pub(crate) fn rewritten(text: &str) -> Option<String> {
    let Cow::Owned(clean) = redaction::redact(text) else { return None };
    match serde_json::from_str(text) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => {
            Some(redaction::redact_value(value).to_string())
        }
        _ => Some(clean),
    }
}

impl Show for Redacted {
    fn text(&self, page: &mut Page) -> io::Result<()> {
        let total: u64 = self.texts.values().sum();
        if total == 0 {
            return page.line("no text in the memory contains a secret");
        }
        let what = if self.dry_run { "with secrets" } else { "redacted" };
        page.line(format_args!("{} of the memory {what}", counted(total, "text")))?;
        for (kind, count) in &self.texts {
            page.line(format_args!("  {}", counted(*count, kind)))?;
        }
        Ok(())
    }
}
