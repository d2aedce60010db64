//! A memory on a server as a SQLite file, and the reverse: everything is exported, taken in, and compared.

use std::collections::BTreeMap;
use std::io::{self, BufReader, BufWriter, Seek as _, SeekFrom, Write as _};
use std::path::Path;

use anyhow::Context as _;
use hermes_home::Home;
use hermes_home::databases::{self, Database};
use hermes_memory::transfer::{self, ExportSettings, ImportSettings};
use hermes_store::memory::{Admin, ExportChoice, Exported, Memory, Tally};
use hermes_store::sqlite::Access;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::app::App;
use crate::problem::{Kind, Problem};
use crate::progress::Progress;
use crate::text::{bytes, thousands};
use crate::{embedding, later};

/// Where a memory is copied to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// To the server of memory.connection_string.
    Postgres,
    /// To memory.db.
    Sqlite,
}

/// What a copy came to.
#[derive(Debug, Serialize)]
pub struct Copied {
    /// Which way.
    pub to: Target,
    /// What was copied.
    pub from: String,
    /// Where it is now.
    pub into: String,
    /// What was added, and what was known.
    #[serde(flatten)]
    pub total: Tally,
    /// Whether both hold the same items, compared one by one.
    pub is_twin: bool,
    /// The parts that differ, with how many items each side has of them.
    pub differing: BTreeMap<String, (u64, u64)>,
}

/// How many items of a part there are, and the hash over all of them.
type Parts = BTreeMap<&'static str, (u64, [u8; 32])>;

/// Copies the memory of a home to its server, or from there to its file, and compares the two.
pub fn copy(app: &App, home: &Home, to: Target) -> anyhow::Result<Copied> {
    let wait = app.lock_wait(home)?;
    let (source, mut target) = match to {
        Target::Postgres => {
            refuse_missing(app, home)?;
            let source = app.memory_in_file(home, Access::Read, wait)?.store;
            (source, app.server_memory(home, Access::Write, wait)?)
        }
        Target::Sqlite => {
            let source = app.server_memory(home, Access::Read, wait)?;
            // What is copied is on the server: a file that is missing may be made.
            if app.lost(home, Database::Memory).is_some() {
                databases::begin_anew(home, Database::Memory, app.now)?;
            }
            (source, app.memory_in_file(home, Access::Write, wait)?.store)
        }
    };
    let total = carry(app, home, &source, &mut target)?;
    later::fill_in(home, app, &mut target)?;
    let differing = differing(&parts(&source)?, &parts(&target)?);
    Ok(Copied {
        to,
        from: source.path().display().to_string(),
        into: target.path().display().to_string(),
        total,
        is_twin: differing.is_empty(),
        differing,
    })
}

/// A memory that is not there is not copied: an empty one would take its place.
fn refuse_missing(app: &App, home: &Home) -> anyhow::Result<()> {
    let path = app.own_memory_path(home)?;
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    app.refuse_lost(home, Database::Memory)?;
    let what = format!("there is no memory to copy: {} does not exist", path.display());
    Err(Problem::new(Kind::Missing, what).into())
}

/// Exports one memory and takes it into the other. Run again, it goes on where it was cut off: what is known adds nothing.
pub fn carry(
    app: &App,
    home: &Home,
    source: &Memory,
    target: &mut Memory,
) -> anyhow::Result<Tally> {
    let failed = || format!("could not write to {}", home.own().display());
    hermes_home::atomic::make_folder(&home.own())?;
    // Without a name: nobody else sees it, and it is gone with this process.
    let file = tempfile::tempfile_in(home.own()).with_context(failed)?;
    let settings = ExportSettings {
        made_by: concat!("hermes ", env!("CARGO_PKG_VERSION")),
        now: app.now,
        user: None,
        since: None,
        sections: None,
        redact: false,
    };
    let progress = Progress::of(app);
    let mut writer = BufWriter::with_capacity(1 << 18, file);
    transfer::export(source, &mut writer, &settings, &mut |items, size| {
        progress.say(format_args!("{} items read, {}", thousands(items), bytes(size)));
    })?;
    writer.flush().with_context(failed)?;
    let mut file =
        writer.into_inner().map_err(io::IntoInnerError::into_error).with_context(failed)?;
    file.seek(SeekFrom::Start(0)).with_context(failed)?;
    let zone = app.zone(home)?;
    let vectors = embedding::vectors(target.active_model()?.as_ref());
    let settings =
        ImportSettings { profile: home.profile_name(), zone: &zone, now: app.now, vectors };
    let report =
        transfer::import(target, &mut BufReader::new(file), &settings, &mut |items, size| {
            progress.say(format_args!("{} items copied, {}", thousands(items), bytes(size)));
        })?;
    drop(progress);
    Ok(report.imported.total())
}

/// A twin of a memory on a server, in a new file.
pub fn twin(app: &App, home: &Home, source: &Memory, path: &Path) -> anyhow::Result<()> {
    let mut target = app.new_memory(home, path)?;
    whole(carry(app, home, source, &mut target)?)
}

/// Fails if something was not copied.
pub fn whole(total: Tally) -> anyhow::Result<()> {
    let Tally { added, refused, .. } = total;
    if refused > 0 {
        let what = format!(
            "could not copy the memory from or to its server: {refused} of {} items cannot be read",
            added + refused
        );
        return Err(Problem::new(Kind::Failure, what).hint("see `hermes doctor`").into());
    }
    Ok(())
}

/// The names of the parts in which two memories differ.
pub fn differing_parts(one: &Memory, other: &Memory) -> anyhow::Result<Vec<String>> {
    Ok(differing(&parts(one)?, &parts(other)?).into_keys().collect())
}

/// Every item of a memory, hashed part by part.
fn parts(store: &Memory) -> anyhow::Result<Parts> {
    let mut hashes: BTreeMap<&'static str, (u64, Sha256)> = BTreeMap::new();
    store.export(Admin, &ExportChoice::default(), &mut |exported| {
        if let Exported::Item(section, line) = exported {
            let (count, hash) = hashes.entry(section.name()).or_default();
            *count += 1;
            hash.update(line);
            hash.update(b"\n");
        }
        Ok(())
    })?;
    let done = |(name, (count, hash)): (_, (u64, Sha256))| (name, (count, hash.finalize().into()));
    Ok(hashes.into_iter().map(done).collect())
}

fn differing(one: &Parts, other: &Parts) -> BTreeMap<String, (u64, u64)> {
    let names = one.keys().chain(other.keys());
    let differs = names.filter(|name| one.get(*name) != other.get(*name));
    let count = |parts: &Parts, name| parts.get(name).map_or(0, |(count, _)| *count);
    differs.map(|name| ((*name).to_owned(), (count(one, name), count(other, name)))).collect()
}
