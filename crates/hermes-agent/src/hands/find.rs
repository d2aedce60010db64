//! list_files and grep: what is below a folder and not ignored.

use std::path::PathBuf;

use ignore::overrides::OverrideBuilder;
use ignore::{DirEntry, Walk, WalkBuilder};
use regex::bytes::{Regex, RegexBuilder};

use super::Hands;
use super::arguments::Arguments;
use super::output::{cancelled, counted, done, failed, refused, short};
use super::read::whole;
use crate::diff::is_binary;
use crate::error::Error;
use crate::fence::Aim;
use crate::toolbox::{Call, Outcome};

const MOST_ENTRIES: usize = 1_000;
const MOST_MATCHES: usize = 200;
const MOST_AROUND: u64 = 10;
const LONGEST_LINE: usize = 400;
/// Larger files are not searched.
const LARGEST: u64 = 20_000_000;

/// What is looked through.
struct Ground<'a> {
    path: PathBuf,
    pattern: Option<&'a str>,
    depth: Option<usize>,
}

/// What is looked for in files.
struct Sought {
    expression: Regex,
    /// How many lines are shown around each.
    around: usize,
    /// How much is shown.
    cap: usize,
}

/// What a search found so far.
#[derive(Default)]
struct Found {
    text: String,
    matches: usize,
    files: usize,
    too_large: usize,
}

impl Hands {
    pub(super) fn list_files(&self, call: &Call) -> Result<Outcome, Outcome> {
        let arguments = Arguments::of(&call.name, &call.input, &["path", "pattern", "depth"])?;
        let depth = arguments.number("depth")?.filter(|depth| *depth > 0);
        let ground = Ground {
            path: self.below(arguments.optional_text("path")?)?,
            pattern: arguments.optional_text("pattern")?,
            depth: depth.map(|depth| usize::try_from(depth).unwrap_or(usize::MAX)),
        };
        let mut text = String::new();
        let mut count = 0;
        for entry in self.walk(&ground)? {
            if self.is_cancelled() {
                return Err(cancelled());
            }
            let Ok(entry) = entry else { continue };
            let Some(row) = self.listed(&entry, ground.pattern.is_some()) else { continue };
            if count == MOST_ENTRIES || text.len() + row.len() > self.output_cap {
                text.push_str("(there are more; name a folder, a pattern or a depth)");
                break;
            }
            text.push_str(&row);
            count += 1;
        }
        let name = self.fence.shown(&ground.path);
        if count == 0 {
            text = "(nothing)".to_owned();
        }
        Ok(done(
            text,
            format!("listed {name}, {}", counted(count, "entry").replace("entrys", "entries")),
        ))
    }

    pub(super) fn grep(&self, call: &Call) -> Result<Outcome, Outcome> {
        let known = ["pattern", "path", "files", "ignore_case", "around"];
        let arguments = Arguments::of(&call.name, &call.input, &known)?;
        let pattern = arguments.text("pattern")?;
        let expression = RegexBuilder::new(pattern)
            .case_insensitive(arguments.switch("ignore_case")?)
            .build()
            .map_err(|error| refused(format!("grep: pattern is no regular expression: {error}")))?;
        let around = arguments.number("around")?.unwrap_or(0).min(MOST_AROUND);
        let around = usize::try_from(around).unwrap_or_default();
        let path = self.below(arguments.optional_text("path")?)?;
        let ground = Ground { path, pattern: arguments.optional_text("files")?, depth: None };
        let sought = Sought { expression, around, cap: self.output_cap };
        let mut found = Found::default();
        for entry in self.walk(&ground)? {
            if self.is_cancelled() {
                return Err(cancelled());
            }
            let Ok(entry) = entry else { continue };
            if entry.file_type().is_some_and(|kind| kind.is_file()) {
                self.search(entry.into_path(), &sought, &mut found);
            }
            if found.is_full(&sought) {
                found.text.push_str("(there may be more; narrow the search)\n");
                break;
            }
        }
        if found.matches == 0 {
            found.text = "(nothing found)\n".to_owned();
        }
        if found.too_large > 0 {
            let count = counted(found.too_large, "large file");
            found.text.push_str(&format!("({count} not searched)\n"));
        }
        let what = short(pattern, 40);
        let (matches, files) = (counted(found.matches, "match"), counted(found.files, "file"));
        let matches = matches.replace("matchs", "matches");
        Ok(done(found.text, format!("searched for {what}: {matches} in {files}")))
    }

    /// The folder or file that is named, or the working folder.
    fn below(&self, text: Option<&str>) -> Result<PathBuf, Outcome> {
        let text = text.filter(|text| !text.is_empty()).unwrap_or(".");
        let path = self.fence.resolve(text, Aim::Read).map_err(|error| failed(&error))?;
        match path.symlink_metadata() {
            Ok(found) if found.is_dir() || found.is_file() => Ok(path),
            Ok(_) => Err(failed(&Error::NotPlain { path, what: "a device, pipe or socket" })),
            Err(error) => Err(self.unreadable(text, &Error::read(&path, error))),
        }
    }

    fn walk(&self, ground: &Ground<'_>) -> Result<Walk, Outcome> {
        let mut builder = WalkBuilder::new(&ground.path);
        let fence = self.fence.clone();
        builder
            .hidden(false)
            .require_git(false)
            .max_depth(ground.depth)
            .sort_by_file_name(std::ffi::OsStr::cmp)
            .filter_entry(move |entry| {
                entry.depth() == 0
                    || (entry.file_name() != ".git" && fence.judge(entry.path(), Aim::Read).is_ok())
            });
        if let Some(pattern) = ground.pattern.filter(|pattern| !pattern.is_empty()) {
            let wrong = |error| refused(format!("{pattern:?} is no pattern of paths: {error}"));
            let mut overrides = OverrideBuilder::new(self.fence.working());
            overrides.add(pattern.trim_start_matches('!')).map_err(wrong)?;
            builder.overrides(overrides.build().map_err(wrong)?);
        }
        Ok(builder.build())
    }

    fn listed(&self, entry: &DirEntry, files_only: bool) -> Option<String> {
        let kind = entry.file_type()?;
        if entry.depth() == 0 && kind.is_dir() {
            return None;
        }
        let name = self.fence.shown(entry.path());
        match (kind.is_dir(), kind.is_symlink()) {
            (true, _) if files_only => None,
            (true, _) => Some(format!("{name}/\n")),
            (_, true) => {
                let target = std::fs::read_link(entry.path()).unwrap_or_default();
                Some(format!("{name} -> {}\n", target.display()))
            }
            _ => Some(format!("{name}\n")),
        }
    }

    fn search(&self, path: PathBuf, sought: &Sought, found: &mut Found) {
        // A file that cannot be read has no lines to show.
        let Ok(mut opened) = self.fence.open_resolved(path) else { return };
        if opened.metadata.len() > LARGEST {
            found.too_large += 1;
            return;
        }
        let Ok(bytes) = whole(&mut opened, LARGEST) else { return };
        if is_binary(&bytes) {
            return;
        }
        let before = found.matches;
        search_lines(&self.fence.shown(&opened.path), &bytes, sought, found);
        found.files += usize::from(found.matches > before);
    }
}

impl Found {
    fn is_full(&self, sought: &Sought) -> bool {
        self.matches >= MOST_MATCHES || self.text.len() > sought.cap
    }
}

/// Every line that matches, with the lines around it, each once.
fn search_lines(name: &str, bytes: &[u8], sought: &Sought, found: &mut Found) {
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let lines: Vec<&[u8]> = body.split(|byte| *byte == b'\n').map(trimmed).collect();
    let mut shown_to = 0;
    for (at, line) in lines.iter().enumerate() {
        if !sought.expression.is_match(line) {
            continue;
        }
        let from = at.saturating_sub(sought.around).max(shown_to);
        let to = (at + 1 + sought.around).min(lines.len());
        if sought.around > 0 && shown_to > 0 && from > shown_to {
            found.text.push_str("--\n");
        }
        for (row, line) in lines.iter().enumerate().take(to).skip(from) {
            let sign = if sought.expression.is_match(line) { ':' } else { '-' };
            let text = short(&String::from_utf8_lossy(line), LONGEST_LINE);
            found.text.push_str(&format!("{name}{sign}{}{sign}{text}\n", row + 1));
        }
        shown_to = shown_to.max(to);
        found.matches += 1;
        if found.is_full(sought) {
            return;
        }
    }
}

fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
