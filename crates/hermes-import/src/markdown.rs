//! A folder of Markdown files: every section is something that its writer said, at the time of the file.

use std::path::Path;
use std::rc::Rc;

use jiff::Timestamp;
use jiff::civil::Date;
use serde_json::Value;

use crate::files;
use crate::item::{Message, Role, Session};
use crate::reading::Reading;
use crate::tally::LeftOut;
use crate::{Error, Result, value};

/// A bigger file is no note.
const LARGEST_FILE: u64 = 8 * 1024 * 1024;
/// A longer section becomes several messages.
const LONGEST_SECTION: usize = 8_000;

/// Reads all notes below a folder, or one.
pub(crate) fn read(path: &Path, reading: &mut Reading<'_>) -> Result<()> {
    let found = path.metadata().map_err(|why| Error::file(path, why))?;
    if !found.is_dir() {
        files::refuse_special(path)?;
        let name = files::name(path);
        return note(path, &name, Who { role: Role::User, agent: None }, reading);
    }
    let is_wanted = |file: &Path| is_markdown(file) && !is_hidden(file, path);
    let listing = files::below(path, &is_wanted);
    reading.tally.leave(LeftOut::Links, listing.links);
    for (folder, why) in &listing.unreadable {
        reading.tally.problem(folder, None, why.as_str());
    }
    if listing.files.is_empty() {
        return Err(Error::not_this(path, "it contains no Markdown files"));
    }
    for file in listing.files {
        let name =
            file.path.strip_prefix(path).unwrap_or(&file.path).to_string_lossy().into_owned();
        let who = Who { role: Role::User, agent: None };
        match note(&file.path, &name, who, reading) {
            Err(why @ (Error::Unreadable { .. } | Error::Missing { .. })) => {
                reading.tally.problem(&file.path, None, why.reason());
            }
            other => other?,
        }
    }
    Ok(())
}

/// Whose words a note holds.
#[derive(Clone, Copy)]
pub(crate) struct Who<'a> {
    pub(crate) role: Role,
    pub(crate) agent: Option<&'a str>,
}

pub(crate) fn is_markdown(path: &Path) -> bool {
    files::ends_with(path, ".md") || files::ends_with(path, ".markdown")
}

/// Whether a file is in a folder that programs keep for themselves, such as `.obsidian` or `.trash`.
fn is_hidden(file: &Path, root: &Path) -> bool {
    let inside = file.strip_prefix(root).unwrap_or(file);
    inside.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'))
}

/// One file: a session of its own, its sections in order.
pub(crate) fn note(path: &Path, name: &str, who: Who<'_>, reading: &mut Reading<'_>) -> Result<()> {
    let text = match files::text(path, LARGEST_FILE)? {
        Ok(text) => text,
        Err(why) => {
            reading.tally.problem(path, None, why);
            return Ok(());
        }
    };
    reading.tally.files += 1;
    let (head, body) = front_matter(&text);
    let said = |key: &str| head.iter().find(|(name, _)| name == key).map(|(_, value)| value);
    let written = ["date", "created", "created_at", "updated"].iter().find_map(|key| {
        value::time(Some(&Value::String(said(key)?.clone())), &reading.options.zone)
            .or_else(|| day_in(said(key)?, reading))
    });
    let at = written
        .or_else(|| day_in(&files::stem(path), reading))
        .or_else(|| files::changed(path))
        .unwrap_or(Timestamp::UNIX_EPOCH);
    let title = said("title").cloned().unwrap_or_else(|| files::stem(path));
    let session = Rc::new(Session {
        id: name.to_owned(),
        title: Some(title.clone()),
        started_at: Some(at),
        agent: who.agent.map(str::to_owned),
        channel: Some("notes".to_owned()),
        ..Session::default()
    });
    let mut seen = std::collections::HashMap::<u64, u32>::new();
    for section in sections(body, &title) {
        let print = value::print(&section);
        let again = seen.entry(print).or_default();
        let message = Message {
            session: session.clone(),
            id: format!("{print:016x}/{again}"),
            role: who.role,
            text: section,
            at,
            tool_calls: None,
            tool_call_id: None,
            failed: None,
        };
        *again += 1;
        reading.message(message)?;
    }
    Ok(())
}

fn day_in(text: &str, reading: &Reading<'_>) -> Option<Timestamp> {
    let day: Date = text.trim().get(..10)?.parse().ok()?;
    // In the middle of the day it is the same day nearly everywhere.
    let noon = day.at(12, 0, 0, 0).to_zoned(reading.options.zone.clone()).ok()?;
    Some(noon.timestamp())
}

/// The lines `key: value` between two lines `---` at the beginning, and the rest.
fn front_matter(text: &str) -> (Vec<(String, String)>, &str) {
    let Some(rest) = text.strip_prefix("---").filter(|rest| rest.starts_with(['\n', '\r'])) else {
        return (Vec::new(), text);
    };
    let mut head = Vec::new();
    let mut place = text.len() - rest.len();
    for line in rest.split_inclusive('\n') {
        place += line.len();
        if matches!(line.trim_end(), "---" | "...") {
            return (head, &text[place..]);
        }
        if let Some((key, value)) = line.split_once(':') {
            let value = value.trim().trim_matches(['"', '\'']);
            head.push((key.trim().to_lowercase(), value.to_owned()));
        }
    }
    // Never closed: it was no head.
    (Vec::new(), text)
}

/// The text under each heading, with the headings it stands under before it.
fn sections(body: &str, title: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut path: Vec<(usize, &str)> = Vec::new();
    let mut current = String::new();
    let mut in_code = false;
    for line in body.lines() {
        in_code ^= line.trim_start().starts_with("```");
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        let is_heading = !in_code && (1..=6).contains(&level) && line[level..].starts_with(' ');
        if is_heading {
            close(&mut found, &path, title, &mut current);
            path.retain(|(above, _)| *above < level);
            path.push((level, line[level..].trim()));
        } else {
            current.push_str(line);
            current.push('\n');
        }
    }
    close(&mut found, &path, title, &mut current);
    found
}

fn close(found: &mut Vec<String>, path: &[(usize, &str)], title: &str, current: &mut String) {
    let text = std::mem::take(current);
    let mut rest = text.trim();
    if !rest.chars().any(char::is_alphanumeric) {
        return;
    }
    let mut above: Vec<&str> = path.iter().map(|(_, heading)| *heading).collect();
    if above.first() != Some(&title) {
        above.insert(0, title);
    }
    let above = above.join(" › ");
    while !rest.is_empty() {
        let end = rest.char_indices().nth(LONGEST_SECTION).map_or(rest.len(), |(end, _)| end);
        let whole = rest[..end].rfind("\n\n").filter(|_| end < rest.len()).unwrap_or(end);
        let whole = if whole == 0 { end } else { whole };
        found.push(format!("{above}\n{}", rest[..whole].trim()));
        rest = rest[whole..].trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_knows_the_headings_above_it() {
        let body =
            "intro\n# Garden\n## Trees\nApple\n```\n# no heading\n```\n## Beds\nKale\n# Other\n";
        let found = sections(body, "2026");
        assert_eq!(found[0], "2026\nintro");
        assert!(found[1].starts_with("2026 › Garden › Trees\nApple\n```\n# no"));
        assert_eq!(found[2], "2026 › Garden › Beds\nKale");
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn a_long_section_becomes_several() {
        let body = "wörter und mehr\n\n".repeat(2_000);
        let found = sections(&body, "t");
        assert!(found.len() > 3 && found.iter().all(|part| part.chars().count() < 8_100));
    }

    #[test]
    fn a_head_that_is_not_closed_is_no_head() {
        assert_eq!(front_matter("---\ndate: 2026-01-02\nbody").0.len(), 0);
        let (head, body) = front_matter("---\nDate: '2026-01-02'\n---\nbody");
        assert_eq!((head[0].1.as_str(), body), ("2026-01-02", "body"));
    }
}
