//! One user becomes another: everything of the first is the second's, and the name leads there.

use hermes_home::layout::MemoryTarget;
use hermes_home::{Home, UserId, atomic, person};
use hermes_memory::transfer;
use hermes_store::memory::{Admin, Moved, User, UserNumber};
use hermes_store::sqlite::Access;
use serde::Serialize;

use super::{export, known_user, unmerge};
use crate::app::App;
use crate::catch_up;
use crate::embedding;
use crate::problem::Problem;
use crate::rules;
use crate::tokens;

/// What moved from one user to another, or would.
#[derive(Debug, Serialize)]
pub struct UserMerged {
    /// Who is somebody else.
    pub from: String,
    /// Who they are.
    pub into: String,
    /// Whether it was done.
    pub done: bool,
    /// What of the memory.
    #[serde(flatten)]
    pub moved: Moved,
    /// Entries of USER.md that the other had not.
    pub entries: usize,
    /// Sections of REFLECTIONS.md.
    pub reflections: usize,
    /// Where everything of the first is kept as it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_in: Option<String>,
}

/// Two users of whom one becomes the other.
pub struct UserMerge {
    old: User,
    new: User,
    from: UserId,
    /// Whether only files are left of a merge that was cut short.
    pub is_cut_short: bool,
    /// What would move.
    pub plan: UserMerged,
}

/// Looks at what would move.
pub fn look(app: &App, home: &Home, from: &UserId, into: &UserId) -> anyhow::Result<UserMerge> {
    let store = app.memory(home, Access::Read)?.store;
    let (old, new) = (known_user(&store, from)?, known_user(&store, into)?);
    let is_same = old.name != from.as_str();
    let is_cut_short =
        is_same && old.number == new.number && home.users().join(from.as_str()).is_dir();
    if is_same && !is_cut_short {
        return Err(Problem::usage(format!("{from} is already {}", old.name)).into());
    }
    let moved = match is_cut_short {
        true => Moved::default(),
        false => store.merge_plan(Admin, old.number, new.number)?,
    };
    let plan = UserMerged {
        from: from.to_string(),
        into: new.name.clone(),
        done: false,
        moved,
        entries: 0,
        reflections: 0,
        kept_in: None,
    };
    Ok(UserMerge { old, new, from: from.clone(), is_cut_short, plan })
}

impl UserMerge {
    /// Makes the one the other.
    pub fn carry_out(self, app: &App, home: &Home) -> anyhow::Result<UserMerged> {
        if !self.is_cut_short {
            return carry_out(app, home, &self.old, &self.new);
        }
        let [entries, reflections] = files(app, home, &self.from, &self.new)?;
        Ok(UserMerged { done: true, entries, reflections, ..self.plan })
    }
}

/// Makes one user another.
pub(super) fn carry_out(
    app: &App,
    home: &Home,
    old: &User,
    new: &User,
) -> anyhow::Result<UserMerged> {
    let from = &old.name.parse::<UserId>()?;
    let mut memory = app.memory(home, Access::Write)?;
    // What was said before belongs to whom it went to then.
    catch_up::take_in(app, home, &mut memory.store)?;
    let name: UserId = new.name.parse()?;
    let keep = home.merged_users(&name).join(format!("{from}-{}", app.now.as_millisecond()));
    atomic::make_folder(&keep)?;
    export::write(app, home, &memory, old, &keep)?;
    unmerge::note(app, home, [old, new], &keep)?;
    // Theirs who were merged into the first go where the first goes.
    let before = home.merged_users(from);
    let (zone, vectors) =
        (app.zone(home)?, embedding::vectors(memory.store.active_model()?.as_ref()));
    let chunker =
        |text: &hermes_store::memory::PortableText<'_>| transfer::chunks_of(text, &zone, vectors);
    let moved =
        memory.store.merge_users(Admin, [old.number, new.number], &chunker, app.change())?;
    let [entries, reflections] = files(app, home, from, new)?;
    tokens::rebind(&app.root_home()?, from.as_str(), &new.name)?;
    if before.is_dir() {
        let beside = keep.join("merged-before");
        std::fs::rename(&before, &beside)?;
    }
    Ok(UserMerged {
        from: old.name.clone(),
        into: new.name.clone(),
        done: true,
        moved,
        entries,
        reflections,
        kept_in: Some(keep.display().to_string()),
    })
}

/// The files follow; a merge that was cut short before them is brought to its end by the same command.
fn files(app: &App, home: &Home, from: &UserId, new: &User) -> anyhow::Result<[usize; 2]> {
    let name: UserId = new.name.parse()?;
    let into_owner = new.number == UserNumber::OWNER;
    let target = MemoryTarget::User((!into_owner).then(|| name.clone()));
    let mut context = rules::of_change(app, home, &target, "merged users")?;
    // Nothing of theirs may be lost because a file is full.
    context.rules.limit = None;
    Ok(person::merge(home, [from, &name], into_owner, &context)?)
}

impl UserMerged {
    /// What moves, in one line.
    pub fn in_words(&self) -> String {
        let what = in_words(&self.moved);
        let both = match self.moved.joined {
            0 => String::new(),
            many => format!("; {many} of the facts exist for both and become one"),
        };
        format!("from {} to {}: {what}{both}", self.from, self.into)
    }
}

/// How much of each there is, in words.
pub(super) fn in_words(moved: &Moved) -> String {
    let Moved { sessions, episodes, messages, facts, .. } = *moved;
    let Moved { procedures, events, tasks, proposals, receipts, names, identities, .. } = *moved;
    let counts = [
        (sessions, "sessions"),
        (episodes, "episodes"),
        (messages, "messages"),
        (facts, "facts"),
        (procedures, "procedures"),
        (events, "events"),
        (tasks, "tasks"),
        (proposals, "proposals"),
        (receipts, "receipts"),
        (names, "names"),
        (identities, "identities"),
    ];
    let named: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if named.is_empty() { "nothing".to_owned() } else { named.join(", ") }
}
