//! Forgetting somebody: every word of theirs goes from the memory, the transcript and the files, with a receipt.

use std::path::PathBuf;

use hermes_backup::erasure::{self, Erased, Erasure, FORMAT, HeldBy, Place, Receipt};
use hermes_backup::folder::Folder;
use hermes_home::{Home, UserId, profile, versions};
use hermes_store::memory::{Admin, Choice, Known, User, UserNumber};
use hermes_store::sqlite::Access;
use serde::Serialize;

use super::known_user;
use crate::app::App;
use crate::backup::holding;
use crate::catch_up;
use crate::in_step;
use crate::known_users;
use crate::memory::OpenMemory;
use crate::tokens;

/// What was erased of somebody, or would be.
#[derive(Debug, Serialize)]
pub struct UserForgotten {
    /// Their name.
    pub user: String,
    /// Whether it was done.
    pub done: bool,
    /// How much of each.
    pub erased: Erased,
    /// What is not erased and may still tell of them.
    pub stays: Vec<String>,
    /// Backups that hold it.
    pub backups: Vec<HeldBy>,
    /// Where the receipt lies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipt: Option<String>,
}

/// Somebody who is to be forgotten.
pub struct UserForget {
    user: User,
    known: Known,
    folder: Folder,
    agent_sessions: bool,
    /// What would be erased.
    pub plan: UserForgotten,
}

/// Looks at what is there of somebody. With `agent_sessions` also at what another program made.
pub fn look(
    app: &App,
    home: &Home,
    name: &UserId,
    agent_sessions: bool,
) -> anyhow::Result<UserForget> {
    let memory = app.memory(home, Access::Read)?;
    let user = known_user(&memory.store, name)?;
    let known = memory.store.known_by(Admin, user.number)?;
    let (folder, backups) = holding::holding(app, home, known.since)?;
    let erased = erasure::look(&memory.store, &Place { home, agent_sessions }, user.number)?;
    let plan = UserForgotten {
        user: user.name.clone(),
        done: false,
        stays: stays(home, &user, &erased),
        erased,
        backups,
        receipt: None,
    };
    Ok(UserForget { user, known, folder, agent_sessions, plan })
}

impl UserForget {
    /// Erases everything of theirs, for good.
    pub fn carry_out(self, app: &App, home: &Home) -> anyhow::Result<UserForgotten> {
        let mut memory = app.memory(home, Access::Write)?;
        catch_up::take_in(app, home, &mut memory.store)?;
        let erasure = Erasure {
            format: FORMAT,
            at: app.now,
            home: memory.store.home_id(Admin)?,
            users: self.known.uids.iter().map(ToString::to_string).collect(),
            agent_sessions: self.agent_sessions,
            receipt: format!(
                "forgotten-{}-{}.json",
                app.now.as_millisecond(),
                self.user.number.get()
            ),
        };
        // Noted first: what is cut short is brought to its end by `--again`, and by every restore.
        erasure::note(home, &self.folder, &erasure)?;
        erase_entries(app, home, &memory, self.user.number)?;
        let place = Place { home, agent_sessions: self.agent_sessions };
        let erased = erasure::forget(&mut memory.store, &place, self.user.number, app.change())?;
        revoke_tokens(app, &self.known)?;
        known_users::note(home, &memory.store)?;
        let mut report = UserForgotten { done: true, erased, ..self.plan };
        let receipt = Receipt {
            format: FORMAT,
            at: app.now,
            profile: home.profile_name().to_owned(),
            home: erasure.home.clone(),
            user: self.user.number.get(),
            name_sha256: versions::hash(self.user.name.as_bytes()),
            erased: report.erased.clone(),
            stays: report.stays.clone(),
            backups: report.backups.clone(),
            applied_again: Vec::new(),
        };
        let kept = erasure::keep(&self.folder, &erasure.receipt, &receipt)?;
        report.receipt = Some(kept.display().to_string());
        Ok(report)
    }
}

/// Erases everybody again who was forgotten in this home and was brought back; says whom.
pub fn again(app: &App, home: &Home) -> anyhow::Result<Vec<String>> {
    let folder = holding::folder(app)?;
    let mut places = vec![home.root().to_owned(), folder.path().to_owned(), home.backups()];
    places.dedup();
    let mut results = erasure::again(home.root(), &places, "the home", app.now);
    let root = app.root_home()?;
    let names = profile::list(&root)?;
    for name in [None].into_iter().chain(names.into_iter().map(Some)) {
        results.extend(again_on_server(app, &root.sibling(name), &places)?);
    }
    Ok(results)
}

/// The same for a memory that is on a server.
fn again_on_server(app: &App, home: &Home, places: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let own = app.for_profile(home);
    if !own.is_on_server(home)? || erasure::noted(places).is_empty() {
        return Ok(Vec::new());
    }
    let mut memory = own.memory(home, Access::Write)?;
    Ok(erasure::again_on_server(&mut memory.store, home, places, "the server", app.now))
}

/// Entries of MEMORY.md that were written with facts of theirs.
fn erase_entries(
    app: &App,
    home: &Home,
    memory: &OpenMemory,
    user: UserNumber,
) -> anyhow::Result<()> {
    let told = memory.store.told_elsewhere(Admin, &Choice::User(user))?;
    let everybody = in_step::everybody(memory)?;
    let erased = in_step::erase(app, home, memory, &everybody, &told.facts)?;
    in_step::tell(app, erased);
    Ok(())
}

/// Nobody comes in as somebody who was forgotten.
fn revoke_tokens(app: &App, known: &Known) -> anyhow::Result<()> {
    let root = app.root_home()?;
    for token in tokens::kept(&root)? {
        if token.user.as_ref().is_some_and(|user| known.names.contains(user)) {
            tokens::revoke(&root, &token.name)?;
        }
    }
    Ok(())
}

/// What is not erased and may still tell of them.
fn stays(home: &Home, user: &User, erased: &Erased) -> Vec<String> {
    let mut stays = Vec::new();
    if erased.agent_sessions_left > 0 {
        stays.push(format!(
            "{} sessions in state.db, which another program created: add `--agent-sessions`",
            erased.agent_sessions_left
        ));
    }
    if user.number == UserNumber::OWNER {
        stays.push(
            "MEMORY.md and SOUL.md, which belong to everyone; see `hermes memory show`".to_owned(),
        );
    }
    for (folder, what) in [
        (home.migration(), "copies of what was imported from another program"),
        (home.deleted_profiles(), "deleted profiles, each with its own memory"),
    ] {
        if folder.is_dir() {
            stays.push(format!("{what}: {}", folder.display()));
        }
    }
    stays.push("shared facts, without the words of this person that they came from".to_owned());
    stays.push("learned, pending and deleted skills: see `hermes skills list`".to_owned());
    stays.push("exports and copies that were made by hand".to_owned());
    let root = home.root();
    let name = root.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let beside = root.parent().and_then(|parent| std::fs::read_dir(parent).ok());
    for entry in beside.into_iter().flatten().flatten() {
        let found = entry.file_name().to_string_lossy().into_owned();
        if found.strip_prefix(&name).is_some_and(|rest| rest.starts_with(".before-restore-")) {
            let path = entry.path().display().to_string();
            stays.push(format!("a home that a restore moved aside: {path}; delete it by hand"));
        }
    }
    stays
}

impl UserForgotten {
    /// What was done and what stays, a line each.
    pub fn lines(&self) -> Vec<String> {
        let doing = if self.done { "erased of" } else { "would erase of" };
        let mut lines = vec![format!("{doing} {}: {}", self.user, self.erased.in_words())];
        lines.extend(self.stays.iter().map(|line| format!("  stays    {line}")));
        if self.backups.is_empty() {
            lines.push("  backups  no backup of this home contains it".to_owned());
        }
        for backup in &self.backups {
            lines.push(format!("  backup   {} in {}", backup.id, backup.place));
            lines.push(format!("           expires {}", backup.ends));
        }
        lines.extend(self.receipt.iter().map(|path| format!("  receipt  {path}")));
        lines
    }
}
