//! A merge of two users is taken back: each has again what was theirs, and what came since stays with the one.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hermes_home::layout::MemoryTarget;
use hermes_home::person::{self, KeptFiles};
use hermes_home::{Home, UserId, atomic};
use hermes_memory::transfer;
use hermes_store::memory::{Admin, Unmerged, User, UserNumber};
use hermes_store::sqlite::Access;
use serde::{Deserialize, Serialize};

use super::merge::in_words;
use crate::app::App;
use crate::catch_up;
use crate::embedding;
use crate::known_users;
use crate::rules;
use crate::tokens;

/// What was given back to a user, or would be.
#[derive(Debug, Serialize)]
pub struct UserUnmerged {
    /// Who stands by themselves again.
    pub user: String,
    /// Who they had become.
    pub from: String,
    /// Whether it was done.
    pub done: bool,
    /// What of the memory.
    #[serde(flatten)]
    pub given: Unmerged,
    /// Entries of USER.md.
    pub entries: usize,
    /// Sections of REFLECTIONS.md.
    pub reflections: usize,
    /// Whether their files were kept in this home, so that they could be given back.
    pub has_files: bool,
}

/// What a merge did beside the memory: it lies with what is kept of the user.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Joined {
    entries: Vec<String>,
    tokens: Vec<String>,
}

const JOINED: &str = "joined.json";

/// Somebody whose merge is to be taken back.
pub struct UserUnmerge {
    name: UserId,
    into: UserId,
    kept: Option<PathBuf>,
    /// Whether only files are left of a taking back that was cut short.
    pub is_cut_short: bool,
    /// What would be given back.
    pub plan: UserUnmerged,
}

/// Notes what a merge is about to do beside the memory.
pub(super) fn note(app: &App, home: &Home, pair: [&User; 2], keep: &Path) -> anyhow::Result<()> {
    let [old, new] = pair.map(target);
    let rules = rules::of_file(app, home, &MemoryTarget::User(None))?;
    let is_theirs = |token: &tokens::Kept| token.user.as_deref() == Some(pair[0].name.as_str());
    let theirs = tokens::kept(&app.root_home()?)?.into_iter().filter(is_theirs);
    let joined = Joined {
        entries: person::missing_entries(home, [&old?, &new?], rules)?,
        tokens: theirs.map(|token| token.name).collect(),
    };
    let text = serde_json::to_string_pretty(&joined)? + "\n";
    Ok(atomic::write_private(&keep.join(JOINED), text.as_bytes())?)
}

fn target(user: &User) -> anyhow::Result<MemoryTarget> {
    let is_owner = user.number == UserNumber::OWNER;
    Ok(MemoryTarget::User(if is_owner { None } else { Some(user.name.parse()?) }))
}

/// Looks at what would be given back.
pub fn look(app: &App, home: &Home, name: &UserId) -> anyhow::Result<UserUnmerge> {
    let store = app.memory(home, Access::Read)?.store;
    let stands = store.user(name.as_str())?.is_some_and(|user| user.name == name.as_str());
    let plan = |from: &str, given: Unmerged| UserUnmerged {
        user: name.to_string(),
        from: from.to_owned(),
        done: false,
        given,
        entries: 0,
        reflections: 0,
        has_files: false,
    };
    if stands && let Some((into, kept)) = left_over(home, name) {
        let plan = plan(into.as_str(), Unmerged::default());
        return Ok(UserUnmerge {
            name: name.clone(),
            into,
            kept: Some(kept),
            is_cut_short: true,
            plan,
        });
    }
    let (_, who, moved) = store.unmerge_plan(Admin, name.as_str())?;
    let into: UserId = who.into.parse()?;
    let kept = home.merged_users(&into).join(format!("{name}-{}", who.at.as_millisecond()));
    let kept = Some(kept).filter(|kept| kept.join(JOINED).is_file());
    let plan = plan(&who.into, Unmerged { moved, ..Unmerged::default() });
    Ok(UserUnmerge { name: name.clone(), into, kept, is_cut_short: false, plan })
}

/// What is kept of a user who stands by themselves again: their files wait to be given back.
fn left_over(home: &Home, name: &UserId) -> Option<(UserId, PathBuf)> {
    let all = home.merged_users(name);
    fs::read_dir(all.parent()?).ok()?.flatten().find_map(|folder| {
        let into: UserId = folder.file_name().to_str()?.parse().ok()?;
        let kept = fs::read_dir(folder.path()).ok()?.flatten().map(|entry| entry.path());
        let is_theirs = |path: &PathBuf| {
            let file = path.file_name().and_then(|file| file.to_str()).unwrap_or_default();
            let (of, at) = file.rsplit_once('-').unwrap_or_default();
            of == name.as_str() && at.parse::<i64>().is_ok() && path.join(JOINED).is_file()
        };
        let newest = kept.filter(is_theirs).max()?;
        Some((into, newest))
    })
}

impl UserUnmerge {
    /// Gives it back.
    pub fn carry_out(self, app: &App, home: &Home) -> anyhow::Result<UserUnmerged> {
        let mut memory = app.memory(home, Access::Write)?;
        let mut given = Unmerged::default();
        if !self.is_cut_short {
            // What was said before belongs to whom it went to then.
            catch_up::take_in(app, home, &mut memory.store)?;
            let (zone, vectors) =
                (app.zone(home)?, embedding::vectors(memory.store.active_model()?.as_ref()));
            let chunker = |text: &hermes_store::memory::PortableText<'_>| {
                transfer::chunks_of(text, &zone, vectors)
            };
            let (name, change) = (self.name.as_str(), app.change());
            given = memory.store.unmerge_user(Admin, name, &chunker, change)?;
        }
        known_users::note(home, &memory.store)?;
        let into = memory.store.user(self.into.as_str())?.map(|user| user.number);
        let into_owner = into == Some(UserNumber::OWNER);
        let [entries, reflections] = match &self.kept {
            Some(kept) => self.files(app, home, kept, into_owner)?,
            None => [0, 0],
        };
        let has_files = self.kept.is_some();
        Ok(UserUnmerged { done: true, given, entries, reflections, has_files, ..self.plan })
    }

    /// The files follow; what was kept of them is theirs again and goes from the other.
    fn files(
        &self,
        app: &App,
        home: &Home,
        kept: &Path,
        into_owner: bool,
    ) -> anyhow::Result<[usize; 2]> {
        let joined: Joined = serde_json::from_slice(&fs::read(kept.join(JOINED))?)?;
        let files = KeptFiles {
            user: text(&kept.join("USER.md"))?,
            reflections: text(&kept.join("REFLECTIONS.md"))?,
            added: joined.entries,
        };
        let target = MemoryTarget::User(Some(self.name.clone()));
        let mut context = rules::of_change(app, home, &target, "undid a merge")?;
        context.rules.limit = None;
        let pair = [&self.name, &self.into];
        let done = person::unmerge(home, pair, (&files, into_owner), &context)?;
        let names = [self.into.as_str(), self.name.as_str()];
        tokens::rebind_back(&app.root_home()?, &joined.tokens, names)?;
        let before = kept.join("merged-before");
        if before.is_dir() {
            fs::rename(&before, home.merged_users(&self.name))?;
        }
        fs::remove_dir_all(kept)?;
        Ok(done)
    }
}

/// The text of a file; none if there is no such file.
fn text(path: &Path) -> anyhow::Result<Option<String>> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some).with_context(|| format!("could not read {}", path.display())),
    }
}

impl UserUnmerged {
    /// What is given back, and what is not and why, a line each.
    pub fn lines(&self) -> Vec<String> {
        let UserUnmerged { user, from, given, entries, reflections, .. } = self;
        let what = in_words(&given.moved);
        if !self.done {
            return vec![format!("would give back to {user}, from {from}: {what}")];
        }
        let mut lines = vec![
            format!("{user} is a user of their own again"),
            format!("  given back from {from}: {what}"),
        ];
        match self.has_files {
            true => lines.push(format!(
                "  USER.md: {entries} entries given back; REFLECTIONS.md: {reflections} sections given back"
            )),
            false => lines.push(format!(
                "  files: none of {user} are kept in this home; their entries stay in the USER.md of {from}"
            )),
        }
        lines.push(format!("  what was said and learned after the merge stays with {from}"));
        if given.later_answers > 0 {
            lines.push(format!(
                "  {} messages that came after the merge went back with the message they answer",
                given.later_answers
            ));
        }
        if given.told_together > 0 {
            lines.push(format!(
                "  {} summaries tell of both and stay with {from}; what they replaced cannot be told apart",
                given.told_together
            ));
        }
        lines
    }
}
