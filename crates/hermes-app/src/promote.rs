//! A lesson becomes a skill that waits for the user's word.

use std::path::PathBuf;

use hermes_home::skill::{self, Keep, NewSkill, Offered};
use hermes_home::{Home, SkillName};
use hermes_store::memory::{Memory, Procedure, Scope};
use jiff::Timestamp;
use serde::Serialize;

use crate::problem::{Kind, Problem};
use crate::text::one_line;

/// How many letters of a title make a name.
const LONGEST_NAME: usize = 48;
/// How many letters of a title make a description.
const LONGEST_DESCRIPTION: usize = 300;

/// A skill that was made from a lesson.
#[derive(Debug, Serialize)]
pub struct Promoted {
    /// Its name.
    pub skill: String,
    /// False where one that says the same waits or is used already.
    pub changed: bool,
    file: PathBuf,
}

/// A procedure that is held.
pub fn find(store: &Memory, scope: Scope, id: i64) -> anyhow::Result<Procedure> {
    let found = store.procedures(scope, &[id])?.pop().filter(|one| one.retired_at.is_none());
    let missing = || Problem::new(Kind::NotFound, format!("could not find procedure {id}"));
    let hint = "`hermes memory reflections list` shows all procedures";
    Ok(found.ok_or_else(|| missing().hint(hint))?)
}

/// Makes a skill from a procedure; it waits until the user approves it.
pub fn promote(
    home: &Home,
    procedure: &Procedure,
    name: Option<&str>,
    now: Timestamp,
) -> anyhow::Result<Promoted> {
    let name = match name {
        Some(name) => name.to_owned(),
        None => name_of(&procedure.title),
    };
    let name: SkillName = name.parse()?;
    let new = NewSkill {
        name: name.clone(),
        description: one_line(&procedure.title, LONGEST_DESCRIPTION),
        body: procedure.body.clone(),
        task_type: procedure.task_type.clone().unwrap_or_else(|| "general".to_owned()),
        sources: vec![format!("procedure:{}", procedure.id)],
        made_at: now,
    };
    let (changed, file) = match skill::offer(home, &new, Keep::Pending)? {
        Offered::Written { path, .. } => (true, path),
        Offered::Same { path } => (false, path),
        Offered::Refused { why } => {
            let why = format!("could not create the skill {name}: {why}");
            return Err(Problem::new(Kind::Refused, why)
                .hint("choose another name with `--name NAME`")
                .into());
        }
    };
    Ok(Promoted { skill: name.as_str().to_owned(), changed, file })
}

/// A title as the name of a folder: `Use tabs, not spaces` is `use-tabs-not-spaces`.
fn name_of(title: &str) -> String {
    let mut name = String::new();
    for letter in title.to_lowercase().chars() {
        match letter.is_ascii_alphanumeric() {
            true => name.push(letter),
            false if !name.is_empty() && !name.ends_with('-') => name.push('-'),
            false => {}
        }
        if name.len() >= LONGEST_NAME && (name.ends_with('-') || name.len() >= 60) {
            break;
        }
    }
    let name = name.trim_end_matches('-');
    if name.is_empty() { "lesson".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_becomes_the_name_of_a_folder() {
        assert_eq!(name_of("Use tabs, not <b>spaces</b>!"), "use-tabs-not-b-spaces-b");
        assert_eq!(name_of("  你好 "), "lesson");
        let long = name_of(&"word ".repeat(40));
        assert!(long.len() <= 60 && long.parse::<SkillName>().is_ok(), "{long}");
    }
}
