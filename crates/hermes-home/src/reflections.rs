//! REFLECTIONS.md: the readable log of what finished work taught, newest last.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use crate::error::{Error, Result};
use crate::layout::Home;
use crate::name::UserId;
use crate::text_file::{read_bytes, read_text};
use crate::{atomic, lock, versions};

/// One section of the log: the number of its procedure, and its text without the mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// The number of the procedure it tells of.
    pub procedure: i64,
    /// Its heading, without `#`.
    pub heading: String,
    /// Its lines below the heading.
    pub body: String,
}

const HEAD: &str = "# Reflections\n\nWhat finished work taught, newest last. Change it as you like: \
                    what you take out is not written again.\n";
const MARK: &str = "<!-- procedure:";

/// Adds the sections that were never written, in the order of their numbers; returns how many.
///
/// What was written once is remembered apart from the file, so that a section that a person took out
/// stays out. A crash between the two writes leaves a section whose mark is found in the file.
pub fn append(home: &Home, user: Option<&UserId>, sections: &[Section]) -> Result<usize> {
    home.must_exist()?;
    let path = home.reflections(user);
    let _lock = lock::hold(&home.reflections_written())?;
    let mut written = read_written(home)?;
    let name = file_name(home, &path);
    let last = written.get(&name).copied().unwrap_or(0);
    let text = read_text(&path)?.unwrap_or_default();
    let there = marks(&text);
    let mut new: Vec<&Section> = sections
        .iter()
        .filter(|one| one.procedure > last && !there.contains(&one.procedure))
        .collect();
    new.sort_by_key(|one| one.procedure);
    new.dedup_by_key(|one| one.procedure);
    if !new.is_empty() {
        if let Some(folder) = path.parent() {
            atomic::make_folder(folder)?;
        }
        atomic::write(&path, with_added(&text, &new).as_bytes())?;
    }
    let newest = sections.iter().map(|one| one.procedure).max().unwrap_or(0);
    if newest > last {
        written.insert(name, newest);
        keep_written(home, &written)?;
    }
    Ok(new.len())
}

/// The sections of one person's log go to the end of another's, whose log it is from now on; none is the owner.
/// Returns how many those are.
pub fn merge(home: &Home, from: Option<&UserId>, into: Option<&UserId>) -> Result<usize> {
    let (old, new) = (home.reflections(from), home.reflections(into));
    let _lock = lock::hold(&home.reflections_written())?;
    let mut written = read_written(home)?;
    let theirs = read_text(&old)?.unwrap_or_default();
    let sections = theirs.find("\n## ").map_or("", |at| &theirs[at..]);
    if !sections.is_empty() {
        let mut text = read_text(&new)?.filter(|text| !text.trim().is_empty());
        let text = text.get_or_insert_with(|| HEAD.to_owned());
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(sections);
        if let Some(folder) = new.parent() {
            atomic::make_folder(folder)?;
        }
        atomic::write(&new, text.as_bytes())?;
    }
    let last = written.remove(&file_name(home, &old)).unwrap_or(0);
    let known = written.entry(file_name(home, &new)).or_insert(0);
    *known = last.max(*known);
    keep_written(home, &written)?;
    Ok(sections.matches("\n## ").count())
}

/// The sections that one person's log had when it went on in another's are theirs again, as far as they are still there
/// as they were. Returns how many those are.
pub fn unmerge(home: &Home, from: &UserId, into: Option<&UserId>, theirs: &str) -> Result<usize> {
    let (old, new) = (home.reflections(Some(from)), home.reflections(into));
    let _lock = lock::hold(&home.reflections_written())?;
    let text = read_text(&new)?.unwrap_or_default();
    let there = sections(&text);
    let (head, parts) = (sections(theirs).remove(0), sections(theirs).split_off(1));
    let back: Vec<&str> = parts.into_iter().filter(|part| there.contains(part)).collect();
    if !back.is_empty() && !old.exists() {
        if let Some(folder) = old.parent() {
            atomic::make_folder(folder)?;
        }
        atomic::write(&old, [&[head], &back[..]].concat().concat().as_bytes())?;
    }
    if !back.is_empty() {
        let stays: Vec<&str> = there.into_iter().filter(|part| !back.contains(part)).collect();
        atomic::write(&new, stays.concat().as_bytes())?;
    }
    let mut written = read_written(home)?;
    if let Some(last) = written.get(&file_name(home, &new)).copied() {
        written.insert(file_name(home, &old), last);
        keep_written(home, &written)?;
    }
    Ok(back.len())
}

/// A log in its parts: what stands before the first section, then each section.
fn sections(text: &str) -> Vec<&str> {
    let mut starts: Vec<usize> = text.match_indices("\n## ").map(|(at, _)| at).collect();
    starts.insert(0, 0);
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| &text[*start..end]).collect()
}

/// Takes the sections of some procedures out of everybody's log, for good, with every kept version that holds them;
/// returns how many sections went.
pub fn erase(home: &Home, procedures: &[i64]) -> Result<usize> {
    let mut logs = vec![home.reflections(None)];
    for entry in std::fs::read_dir(home.users()).into_iter().flatten().flatten() {
        logs.extend(
            entry
                .file_name()
                .to_str()
                .and_then(|name| name.parse().ok())
                .map(|user: UserId| home.reflections(Some(&user))),
        );
    }
    let mut gone = 0;
    for path in logs {
        let _lock = lock::hold(&home.reflections_written())?;
        let Some(text) = read_text(&path)? else { continue };
        let (stays, goes) = without(&text, procedures);
        if goes.is_empty() {
            continue;
        }
        atomic::write(&path, stays.as_bytes())?;
        versions::erase_in(home, &path, &goes)?;
        gone += goes.len();
    }
    Ok(gone)
}

/// The text without the sections of some procedures, and those sections.
fn without(text: &str, procedures: &[i64]) -> (String, Vec<String>) {
    let mut sections: Vec<String> = vec![String::new()];
    for line in text.split_inclusive('\n') {
        if line.starts_with("## ") {
            sections.push(String::new());
        }
        if let Some(last) = sections.last_mut() {
            last.push_str(line);
        }
    }
    let is_meant =
        |section: &String| marks(section).iter().any(|number| procedures.contains(number));
    let (goes, stays): (Vec<String>, Vec<String>) = sections.into_iter().partition(is_meant);
    (stays.concat(), goes)
}

/// Forgets which reflections were written to a file that is gone.
pub(crate) fn forget_file(home: &Home, path: &Path) -> Result<()> {
    if !home.reflections_written().exists() {
        return Ok(());
    }
    let _lock = lock::hold(&home.reflections_written())?;
    let mut written = read_written(home)?;
    if written.remove(&file_name(home, path)).is_some() {
        keep_written(home, &written)?;
    }
    Ok(())
}

/// The numbers of the procedures that a text has sections of.
pub fn marks(text: &str) -> BTreeSet<i64> {
    text.split(MARK)
        .skip(1)
        .filter_map(|rest| rest.split("-->").next()?.trim().parse().ok())
        .collect()
}

/// The text with new sections at its end; what is there stays byte for byte.
fn with_added(text: &str, sections: &[&Section]) -> String {
    let mut whole = if text.trim().is_empty() { HEAD.to_owned() } else { text.to_owned() };
    if !whole.ends_with('\n') {
        whole.push('\n');
    }
    for section in sections {
        let heading = one_line(&section.heading);
        whole.push_str(&format!("\n## {heading}\n{MARK}{} -->\n\n", section.procedure));
        for line in section.body.lines().map(one_line).filter(|line| !line.is_empty()) {
            whole.push_str(&format!("- {line}\n"));
        }
    }
    whole
}

/// One line that can neither open a comment nor begin a heading of its own.
fn one_line(text: &str) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    clean.split_whitespace().collect::<Vec<_>>().join(" ").replace("<!--", "<! --")
}

fn file_name(home: &Home, path: &Path) -> String {
    let inside = path.strip_prefix(home.folder()).unwrap_or(path);
    inside.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

/// The last procedure that was written to each file.
fn read_written(home: &Home) -> Result<BTreeMap<String, i64>> {
    let path = home.reflections_written();
    let Some(bytes) = read_bytes(&path)? else { return Ok(BTreeMap::new()) };
    serde_json::from_slice(&bytes)
        .map_err(|error| Error::read(&path, io::Error::other(error.to_string())))
}

fn keep_written(home: &Home, written: &BTreeMap<String, i64>) -> Result<()> {
    let path = home.reflections_written();
    let text = serde_json::to_string_pretty(written)
        .map_err(|error| Error::write(&path, io::Error::other(error.to_string())))?;
    atomic::write_private(&path, format!("{text}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing;

    fn section(procedure: i64) -> Section {
        Section {
            procedure,
            heading: format!("Day {procedure}"),
            body: "Use tabs.\nSaid: \"x\"".into(),
        }
    }

    fn log(home: &Home) -> String {
        std::fs::read_to_string(home.reflections(None)).unwrap()
    }

    #[test]
    fn sections_are_added_once_and_newest_last() {
        let folder = tempfile::tempdir().unwrap();
        let home = testing::home(&folder);
        assert_eq!(append(&home, None, &[section(2), section(1)]).unwrap(), 2);
        assert_eq!(append(&home, None, &[section(1), section(2)]).unwrap(), 0);
        assert_eq!(append(&home, None, &[section(2), section(3)]).unwrap(), 1);
        let text = log(&home);
        let places: Vec<_> =
            [1, 2, 3].map(|n| text.find(&format!("procedure:{n} ")).unwrap()).into();
        assert!(places.is_sorted(), "{text}");
        assert!(text.starts_with("# Reflections\n") && text.ends_with("- Said: \"x\"\n"), "{text}");
    }

    #[test]
    fn what_a_person_wrote_stays_and_what_they_took_out_stays_out() {
        let folder = tempfile::tempdir().unwrap();
        let home = testing::home(&folder);
        append(&home, None, &[section(1), section(2)]).unwrap();
        atomic::write(&home.reflections(None), b"my own words, no end of line").unwrap();
        assert_eq!(append(&home, None, &[section(1), section(2)]).unwrap(), 0);
        append(&home, None, &[section(1), section(2), section(3)]).unwrap();
        let text = log(&home);
        assert!(text.starts_with("my own words, no end of line\n\n## Day 3\n"), "{text}");
        assert_eq!(marks(&text), BTreeSet::from([3]));
    }

    #[test]
    fn a_crash_between_the_file_and_its_note_adds_nothing_twice() {
        let folder = tempfile::tempdir().unwrap();
        let home = testing::home(&folder);
        append(&home, None, &[section(1)]).unwrap();
        let before = log(&home);
        std::fs::remove_file(home.reflections_written()).unwrap();
        assert_eq!(append(&home, None, &[section(1)]).unwrap(), 0);
        assert_eq!(log(&home), before);
    }

    #[test]
    fn each_user_has_a_log_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let home = testing::home(&folder);
        let bob: UserId = "bob".parse().unwrap();
        append(&home, Some(&bob), &[section(7)]).unwrap();
        append(&home, None, &[section(1)]).unwrap();
        assert_eq!(marks(&log(&home)), BTreeSet::from([1]));
        let his = std::fs::read_to_string(home.reflections(Some(&bob))).unwrap();
        assert_eq!(marks(&his), BTreeSet::from([7]));
    }

    #[test]
    fn sections_that_went_on_in_another_log_come_back_and_what_was_changed_stays() {
        let folder = tempfile::tempdir().unwrap();
        let home = testing::home(&folder);
        let bob: UserId = "bob".parse().unwrap();
        append(&home, Some(&bob), &[section(2), section(3)]).unwrap();
        append(&home, None, &[section(1)]).unwrap();
        let (his, mine) =
            (std::fs::read_to_string(home.reflections(Some(&bob))).unwrap(), log(&home));
        assert_eq!(merge(&home, Some(&bob), None).unwrap(), 2);
        std::fs::remove_file(home.reflections(Some(&bob))).unwrap();
        assert_eq!(unmerge(&home, &bob, None, &his).unwrap(), 2);
        let back = std::fs::read_to_string(home.reflections(Some(&bob))).unwrap();
        assert_eq!((back, log(&home)), (his.clone(), mine));
        assert_eq!(append(&home, Some(&bob), &[section(2), section(3)]).unwrap(), 0);
        merge(&home, Some(&bob), None).unwrap();
        std::fs::remove_file(home.reflections(Some(&bob))).unwrap();
        let changed = log(&home).replace("## Day 3", "## My day");
        atomic::write(&home.reflections(None), changed.as_bytes()).unwrap();
        assert_eq!(unmerge(&home, &bob, None, &his).unwrap(), 1);
        assert_eq!(marks(&log(&home)), BTreeSet::from([1, 3]));
    }

    proptest! {
        #[test]
        fn no_text_can_pass_for_the_mark_of_another_section(heading in any::<String>(), body in any::<String>()) {
            let forged = Section {
                procedure: 5,
                heading: format!("{heading}<!-- procedure:98 -->"),
                body: format!("{body}\n<!-- procedure:99 -->\n# x"),
            };
            let text = with_added("", &[&forged]);
            prop_assert_eq!(marks(&text), BTreeSet::from([5]));
            let headings = text.lines().filter(|line| line.starts_with('#')).count();
            prop_assert_eq!(headings, 2);
        }
    }
}
