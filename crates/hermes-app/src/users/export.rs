//! Everything of one person, written to a folder.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use hermes_home::databases::Database;
use hermes_home::person::{self, Person};
use hermes_home::{Home, UserId, atomic, versions};
use hermes_memory::transfer::{self, ExportSettings};
use hermes_store::memory::{Admin, Scope, User, UserNumber};
use hermes_store::sessions::{SessionFilter, SessionId};
use hermes_store::sqlite::Access;
use serde::Serialize;

use super::known_user;
use crate::app::App;
use crate::asker::Asker;
use crate::memory::OpenMemory;
use crate::problem::{Kind, Problem};

/// What was written, as person.json says it too.
#[derive(Debug, Clone, Serialize)]
pub struct PersonWritten {
    hermes_person: u32,
    made_by: &'static str,
    exported_at: jiff::Timestamp,
    profile: String,
    /// Their name.
    pub user: String,
    timezone: Option<String>,
    identities: Vec<Identity>,
    /// How many items of each part memory.json has.
    pub items: BTreeMap<&'static str, u64>,
    /// How many sessions.
    pub sessions: u64,
    /// The files.
    pub files: Vec<FileWritten>,
    /// Where they are.
    #[serde(skip)]
    pub folder: PathBuf,
}

#[derive(Debug, Clone, Serialize)]
struct Identity {
    channel: String,
    native_id: String,
}

/// A file that was written.
#[derive(Debug, Clone, Serialize)]
pub struct FileWritten {
    /// Its name below the folder.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    sha256: String,
}

/// Writes everything of a user into a new folder.
pub fn export(app: &App, user: &UserId, to: &Path) -> anyhow::Result<PersonWritten> {
    let home = app.existing_home()?;
    let memory = app.memory(&home, Access::Read)?;
    let user = known_user(&memory.store, user)?;
    let folder = std::path::absolute(to)?;
    if folder.exists() && fs::read_dir(&folder).map_or(true, |mut found| found.next().is_some()) {
        let message = format!("{} already exists", folder.display());
        return Err(Problem::new(Kind::Refused, message).hint("choose a new folder").into());
    }
    if let Ok(root) = home.root().canonicalize()
        && folder.starts_with(&root)
    {
        let message = format!("{} is inside the home", folder.display());
        return Err(Problem::new(Kind::Refused, message)
            .hint(
                "choose a folder outside the home: what is in the home is included in its \
                 backups",
            )
            .into());
    }
    atomic::make_folder(&folder)?;
    write(app, &home, &memory, &user, &folder)
}

/// Writes everything of a user into an empty folder.
pub(super) fn write(
    app: &App,
    home: &Home,
    memory: &OpenMemory,
    user: &User,
    folder: &Path,
) -> anyhow::Result<PersonWritten> {
    let store = &memory.store;
    let is_owner = user.number == UserNumber::OWNER;
    let settings = ExportSettings {
        made_by: MADE_BY,
        now: app.now,
        user: Some(user.number),
        since: None,
        sections: None,
        redact: false,
    };
    let mut written = Writing { folder, files: Vec::new() };
    let mut items = BTreeMap::new();
    written.file("memory.json", |out| {
        items = transfer::export(store, out, &settings, &mut |_, _| {})?.items;
        Ok(())
    })?;
    let asker = Asker {
        scope: Scope::of(user.number),
        user: if is_owner { None } else { Some(user.name.parse()?) },
    };
    let sessions = sessions(app, home, memory, &asker, &mut written)?;
    let ids = if is_owner { Vec::new() } else { vec![user.name.parse::<UserId>()?] };
    let person = Person { ids, is_owner, identities: Vec::new() };
    // What they were before others were merged into them is not copied: it is in their memory.
    let merged = user.name.parse().map(|id| home.merged_users(&id)).ok();
    for (what, path) in person::files(home, &person) {
        let is_theirs = merged.as_ref().is_none_or(|merged| !path.starts_with(merged));
        if is_theirs && !what.ends_with(".lock") {
            let held = fs::read(&path).with_context(|| could_not("read", &path))?;
            written.bytes(&what, &held)?;
        }
    }
    for (what, number, held) in person::kept_versions(home, &person)? {
        written.bytes(&format!("versions/{number:05}-{what}"), &held)?;
    }
    let known = store.identities(Admin)?.into_iter().chain(store.unlinked_identities(Admin)?);
    let identities = known
        .filter(|one| one.user == user.number)
        .map(|one| Identity { channel: one.channel, native_id: one.native_id })
        .collect();
    let done = PersonWritten {
        hermes_person: 1,
        made_by: MADE_BY,
        exported_at: app.now,
        profile: home.profile_name().to_owned(),
        user: user.name.clone(),
        timezone: user.timezone.clone(),
        identities,
        items,
        sessions,
        files: written.files,
        folder: folder.to_owned(),
    };
    let text = serde_json::to_string_pretty(&done)? + "\n";
    atomic::write_private(&folder.join("person.json"), text.as_bytes())?;
    Ok(done)
}

const MADE_BY: &str = concat!("hermes ", env!("CARGO_PKG_VERSION"));

/// Their sessions of state.db, each whole on a line; a database of another program is only read.
fn sessions(
    app: &App,
    home: &Home,
    memory: &OpenMemory,
    asker: &Asker,
    written: &mut Writing<'_>,
) -> anyhow::Result<u64> {
    if !home.state_db().exists() {
        app.refuse_lost(home, Database::State)?;
        return Ok(0);
    }
    let sessions = app.sessions(home, Access::Read)?;
    let filter = SessionFilter {
        user: Some(asker.own_sessions(&memory.store)?),
        include_archived: true,
        include_hidden: true,
        ..SessionFilter::default()
    };
    let ids: Vec<SessionId> = sessions.list(&filter)?.into_iter().map(|one| one.id).collect();
    if !ids.is_empty() {
        written.file("sessions.jsonl", |out| {
            ids.iter().try_for_each(|id| sessions.export_session(id, out))?;
            Ok(())
        })?;
    }
    Ok(ids.len() as u64)
}

/// Files that are being written into one folder.
struct Writing<'a> {
    folder: &'a Path,
    files: Vec<FileWritten>,
}

impl Writing<'_> {
    fn file(
        &mut self,
        name: &str,
        fill: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let path = self.folder.join(name);
        let failed = || could_not("write", &path);
        let mut options = File::options();
        options.write(true).create_new(true);
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
        let file = options.open(&path).with_context(failed)?;
        let mut writer = BufWriter::with_capacity(1 << 18, &file);
        fill(&mut writer)?;
        writer.flush().with_context(failed)?;
        drop(writer);
        file.sync_all().with_context(failed)?;
        let held = fs::read(&path).with_context(failed)?;
        self.note(name, &held);
        Ok(())
    }

    fn bytes(&mut self, name: &str, held: &[u8]) -> anyhow::Result<()> {
        let path = self.folder.join(name);
        if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
            atomic::make_folder(folder)?;
        }
        atomic::write_private(&path, held)?;
        self.note(name, held);
        Ok(())
    }

    fn note(&mut self, name: &str, held: &[u8]) {
        self.files.push(FileWritten {
            path: name.to_owned(),
            bytes: held.len() as u64,
            sha256: versions::hash(held),
        });
    }
}

fn could_not(doing: &str, path: &Path) -> String {
    format!("could not {doing} {}", path.display())
}
