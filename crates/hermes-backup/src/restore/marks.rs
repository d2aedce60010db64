//! What a person had forgotten since a backup was made stays forgotten when it is restored.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use hermes_store::memory::{
    Admin, Change, ExportChoice, ExportHead, Exported, Forgotten, Memory, PortableItem, Scope,
    Section, TakenBack, UserNumber, Wanted,
};
use hermes_store::sqlite::{Access, DEFAULT_WAIT};
use jiff::Timestamp;
use serde_json::Value;

use crate::Result;
use crate::database_files::remove_sidecars;

/// The one who had it forgotten is a person.
const ACTOR: &str = "user:restore";

/// Carries the marks of every memory.db of the present home into the one that is unpacked; says what that did.
///
/// A present memory that cannot be read does not keep a restore from being made.
pub(super) fn carry_marks(present: &Path, unpacked: &Path, now: Timestamp) -> Vec<String> {
    let mut profiles = vec![("default".to_owned(), String::new())];
    for entry in fs::read_dir(unpacked.join("profiles")).into_iter().flatten().flatten() {
        if let Some(name) = entry.file_name().to_str() {
            profiles.push((name.to_owned(), format!("profiles/{name}")));
        }
    }
    let mut remarks = Vec::new();
    for (profile, folder) in profiles {
        let [old, new] = [present, unpacked].map(|home| home.join(&folder).join("memory.db"));
        if !old.is_file() || !new.is_file() {
            continue;
        }
        let change = Change { actor: ACTOR, at: now };
        let [from, to] = [&old, &new].map(|path| Wanted { path, profile: &profile });
        let carried = carry(from, to, change);
        match remove_sidecars(&new).and(carried) {
            Ok(carried) => remarks.extend(carried.remark(&profile)),
            Err(error) => remarks.push(format!(
                "items of {profile} that were forgotten since the backup may be back: {error}"
            )),
        }
    }
    remarks
}

/// What the marks took out.
#[derive(Debug, Default)]
struct Carried {
    facts: u64,
    others: Forgotten,
}

impl Carried {
    fn remark(&self, profile: &str) -> Option<String> {
        let Forgotten { episodes, procedures, events, .. } = self.others;
        let counts = [
            (self.facts, "facts"),
            (episodes, "episodes"),
            (procedures, "procedures"),
            (events, "events"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let named: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
        (!named.is_empty()).then(|| {
            format!(
                "{} of {profile} were forgotten or corrected since the backup; they stay forgotten",
                named.join(", ")
            )
        })
    }
}

/// Carries the marks of a memory into the one that takes its place, wherever the two are; says what that did.
pub fn carry_marks_between(
    old: &Memory,
    new: &mut Memory,
    profile: &str,
    now: Timestamp,
) -> Result<Option<String>> {
    Ok(carry_all(old, new, Change { actor: ACTOR, at: now })?.remark(profile))
}

/// Carries the marks of one memory; returns what they took out.
fn carry(from: Wanted<'_>, to: Wanted<'_>, change: Change<'_>) -> Result<Carried> {
    let old = Memory::open(from, Access::Read, DEFAULT_WAIT)?;
    let mut new = Memory::open(to, Access::Write, DEFAULT_WAIT)?;
    carry_all(&old, &mut new, change)
}

fn carry_all(old: &Memory, new: &mut Memory, change: Change<'_>) -> Result<Carried> {
    let marks = Marks::of(old, &[Section::Graves])?;
    let taken = old.taken_back(Admin)?;
    let is_any = marks.graves().next().is_some() || taken != TakenBack::default();
    if !is_any || Marks::of(new, &[])?.head.home_id != marks.head.home_id {
        return Ok(Carried::default());
    }
    take_in(new, &marks, change)?;
    let others = new.take_back(Admin, &taken, change)?;
    Ok(Carried { facts: carry_facts(old, new, &marks, change)?, others })
}

/// Takes out the facts that graves name; returns how many.
fn carry_facts(old: &Memory, new: &mut Memory, marks: &Marks, change: Change<'_>) -> Result<u64> {
    let mut erased = None;
    let mut count = 0;
    for (user, fact) in marks.facts() {
        let scope = Scope::of(user);
        let Some(there) = new.facts(scope, &[fact])?.pop() else {
            continue;
        };
        match old.facts(scope, &[fact])?.pop() {
            // What is held as it was then was taken back and said again.
            Some(here) if here.uid != there.uid || is_held(&here, &there) => continue,
            Some(_) if there.retired_at.is_some() => continue,
            Some(_) => new.retire_fact(scope, fact, change)?,
            None => {
                let erased = match &mut erased {
                    Some(erased) => erased,
                    none => none.insert(erased_in(old)?),
                };
                if !erased.contains(&there.uid.to_string()) {
                    continue;
                }
                new.erase_fact(scope, fact, change)?;
            }
        }
        count += 1;
    }
    Ok(count)
}

fn is_held(here: &hermes_store::memory::Fact, there: &hermes_store::memory::Fact) -> bool {
    here.retired_at.is_none() && here.statement == there.statement
}

/// Takes in the marks, so that nothing of it is recorded or drawn again.
fn take_in(memory: &mut Memory, marks: &Marks, change: Change<'_>) -> Result<()> {
    let mut import = memory.import_begin(Admin, &marks.head, change)?;
    memory.import_items(&mut import, &marks.items, &|_| Vec::new(), change)?;
    memory.import_end(&import, true, change)?;
    Ok(())
}

/// The ids of everything that was erased in a memory; they are in a whole export alone.
fn erased_in(memory: &Memory) -> Result<BTreeSet<String>> {
    let mut erased = BTreeSet::new();
    memory.export(Admin, &ExportChoice::default(), &mut |exported| {
        if let Exported::Item(Section::Tombstones, line) = exported {
            let fields: Value = serde_json::from_slice(line).map_err(io::Error::from)?;
            erased.extend(fields["uid"].as_str().map(str::to_owned));
        }
        Ok(())
    })?;
    Ok(erased)
}

/// What a memory says was taken back, and by whom.
struct Marks {
    head: ExportHead,
    items: Vec<PortableItem>,
}

impl Marks {
    fn of(memory: &Memory, sections: &[Section]) -> Result<Marks> {
        let mut marks = Marks { head: ExportHead::default(), items: Vec::new() };
        let choice = ExportChoice { sections: Some(sections), ..ExportChoice::default() };
        memory.export(Admin, &choice, &mut |exported| {
            match exported {
                Exported::Head(head) => marks.head = head,
                Exported::Item(section @ (Section::Users | Section::Graves), line) => {
                    let fields = serde_json::from_slice(line).map_err(io::Error::from)?;
                    marks.items.push(PortableItem { section, fields });
                }
                Exported::Item(..) => {}
            }
            Ok(())
        })?;
        Ok(marks)
    }

    fn graves(&self) -> impl Iterator<Item = &PortableItem> {
        self.items.iter().filter(|item| item.section == Section::Graves)
    }

    /// The facts that graves name, each with its user.
    fn facts(&self) -> BTreeSet<(UserNumber, i64)> {
        let named = self.graves().filter_map(|grave| {
            let number = grave.fields.get("item")?.as_str()?.strip_prefix("fact:")?.parse().ok()?;
            Some((UserNumber::new(grave.fields.get("user")?.as_i64()?), number))
        });
        named.collect()
    }
}
