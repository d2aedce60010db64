//! Every skill in use has a procedure, so that the context of a task can name it.

use std::collections::BTreeSet;

use hermes_home::Home;
use hermes_home::skill::{Catalog, Origin, Skill};
use hermes_store::memory::{
    Added, Change, Memory, NewProcedure, OriginId, Procedure, ProcedureKind, Scope, Trust,
    UserNumber,
};
use serde::Serialize;

use crate::chunk::{self, Vectors, Words};
use crate::{Result, task};

/// What changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Noted {
    /// Skills that are named from now on.
    pub added: u64,
    /// Skills that are no longer in use, or say something else now.
    pub retired: u64,
}

/// Brings the procedures of skills up to date with the skills in use.
pub fn note_skills(
    home: &Home,
    store: &mut Memory,
    vectors: Vectors,
    change: Change<'_>,
) -> Result<Noted> {
    let scope = Scope::of(UserNumber::OWNER);
    let catalog = Catalog::read(home)?;
    let mut noted = Noted::default();
    let mut current: BTreeSet<i64> = BTreeSet::new();
    for skill in &catalog.skills {
        let (id, is_new) = note(home, store, skill, vectors, change)?;
        current.insert(id);
        noted.added += u64::from(is_new);
    }
    let held = store.list_procedures(scope, None, usize::MAX)?;
    let is_gone = |one: &&Procedure| one.kind == ProcedureKind::Skill && !current.contains(&one.id);
    for gone in held.iter().filter(is_gone) {
        store.retire_procedure(Scope::of(gone.user), gone.id, change)?;
        noted.retired += 1;
    }
    Ok(noted)
}

/// Keeps the procedure of one skill; returns its number, and whether it is named anew.
fn note(
    home: &Home,
    store: &mut Memory,
    skill: &Skill,
    vectors: Vectors,
    change: Change<'_>,
) -> Result<(i64, bool)> {
    let (scope, content) = (Scope::of(UserNumber::OWNER), &skill.content);
    let file = skill.file.strip_prefix(home.folder()).unwrap_or(&skill.file);
    let path: Vec<_> = file.iter().map(|part| part.to_string_lossy()).collect();
    let path = path.join("/");
    let title = format!("Skill {}", skill.name());
    let body = format!("{}\nRead {path} before you begin.", content.description.trim());
    let kind = match &content.learned {
        Some(learned) => learned.task_type.clone(),
        None => None,
    };
    let kind = kind.unwrap_or_else(|| task::infer(&content.description).as_str().to_owned());
    let origin = format!("{}/{}/{path}", skill.name(), content.hash());
    let text = format!("{title}\n{body}");
    let new = NewProcedure {
        kind: ProcedureKind::Skill,
        task_type: Some(&kind),
        title: &title,
        body: &body,
        outcome: None,
        trust: if skill.origin() == Origin::Learned { Trust::Agent } else { Trust::User },
        shared: true,
        entities: &[],
        sources: &[],
        chunks: chunk::prepare(&Words { text: &text, ..Words::default() }, vectors),
        origin: Some(OriginId { source: "skill", external_id: &origin }),
        skill_path: Some(&path),
    };
    let (id, is_new) = match store.add_procedure(scope, &new, change)? {
        Added::New(id) => (id, true),
        Added::Known(id) => (id, restore(store, id, change)?),
    };
    if is_new {
        let sources = content.learned.as_ref().map(|learned| learned.sources.as_slice());
        let tasks: Vec<i64> = sources
            .unwrap_or_default()
            .iter()
            .filter_map(|source| source.strip_prefix("task:")?.parse().ok())
            .collect();
        store.note_skill_of_tasks(scope, &tasks, id)?;
    }
    Ok((id, is_new))
}

/// A skill that was away and is there again is named again.
fn restore(store: &mut Memory, id: i64, change: Change<'_>) -> Result<bool> {
    let shared = Scope::of(UserNumber::SHARED);
    let is_away = store.procedures(shared, &[id])?.iter().any(|one| one.retired_at.is_some());
    if is_away {
        store.restore_procedure(shared, id, change)?;
    }
    Ok(is_away)
}
