//! The YAML head of a SKILL.md and the text below it, as a stranger may have written them.

use std::collections::BTreeMap;
use std::ops::Range;

use jiff::Timestamp;
use serde_json::Value;

use crate::error::skill::{Fault, LONGEST_HEAD, Problem};
use crate::keyed_text::document::{self, Content as Yaml, Entry, Node};
use crate::name::{self, SkillName};
use crate::skill::{LONGEST_DESCRIPTION, LONGEST_SKILL_FILE, Origin};
use crate::versions;

/// What a SKILL.md says; keys that are not named here stay in the file and are no error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// `name`.
    pub name: SkillName,
    /// `description`: what the skill does and when to use it.
    pub description: String,
    /// `license`.
    pub license: Option<String>,
    /// `compatibility`: what the skill needs to work.
    pub compatibility: Option<String>,
    /// `allowed-tools`.
    pub allowed_tools: Vec<String>,
    /// The plain values of `metadata`; deeper ones are left out.
    pub metadata: BTreeMap<String, String>,
    /// Whether the user locked it, so that Hermes never rewrites it.
    pub is_locked: bool,
    /// Where it comes from, when it was made from finished work.
    pub learned: Option<Learned>,
    /// The instructions below the frontmatter, without blank lines around them.
    pub body: String,
}

/// Where a skill comes from that was made from finished work.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Learned {
    /// What it was made from, such as `episode:12`.
    pub sources: Vec<String>,
    /// The kind of task it is for.
    pub task_type: Option<String>,
    /// When it was made.
    pub made_at: Option<Timestamp>,
    /// Whether a person changed it since.
    pub is_edited: bool,
}

/// The names below `metadata` that are ours.
pub(super) mod key {
    pub(in crate::skill) const ORIGIN: &str = "hermes-origin";
    pub(in crate::skill) const LEARNED: &str = "learned";
    pub(in crate::skill) const SOURCES: &str = "hermes-sources";
    pub(in crate::skill) const TASK_TYPE: &str = "hermes-task-type";
    pub(in crate::skill) const MADE: &str = "hermes-made";
    pub(in crate::skill) const CONTENT: &str = "hermes-content";
    pub(in crate::skill) const LOCKED: &str = "hermes-locked";
}

/// Each way to say that a skill is locked.
pub(super) const LOCKS: [&[&str]; 3] = [&["metadata", key::LOCKED], &["locked"], &["user-locked"]];

/// What was read, and everything that is wrong with it.
#[derive(Debug)]
pub(super) struct Reading {
    /// Whole only when nothing is wrong.
    pub(super) content: Option<Content>,
    pub(super) problems: Vec<Problem>,
    /// As far as could be read.
    pub(super) is_locked: bool,
}

/// Reads the text of a SKILL.md; all that is wrong with it otherwise.
pub fn parse(text: &str) -> Result<Content, Vec<Problem>> {
    let reading = read(text.as_bytes(), None);
    reading.content.ok_or(reading.problems)
}

impl Content {
    /// Where it comes from.
    pub fn origin(&self) -> Origin {
        match &self.learned {
            None => Origin::User,
            Some(Learned { is_edited: false, .. }) => Origin::Learned,
            Some(Learned { is_edited: true, .. }) => Origin::Edited,
        }
    }

    /// The hash by which a generated skill is known again.
    pub fn hash(&self) -> String {
        content_hash(&self.description, &self.body)
    }
}

/// The SHA-256 of what a skill says: its description, a blank line, its body.
pub(super) fn content_hash(description: &str, body: &str) -> String {
    versions::hash(format!("{description}\n\n{body}").as_bytes())
}

/// The body as it counts: without blank lines around it.
pub(super) fn trimmed(body: &str) -> &str {
    let body = body.trim_end();
    let blank = body.split_inclusive('\n').take_while(|line| line.trim().is_empty());
    &body[blank.map(str::len).sum()..]
}

/// Where the frontmatter of a text is, without its `---` lines, and where the body begins.
pub(super) fn split(text: &str) -> Result<(Range<usize>, usize), Fault> {
    let (mark, rest) = document::split_mark(text);
    let mut lines = rest.split_inclusive('\n');
    let is_fence = |line: &str| line.trim_end() == "---";
    let first = lines.next().filter(|line| is_fence(line)).ok_or(Fault::NoFrontmatter)?;
    let begin = mark.len() + first.len();
    let mut end = begin;
    for line in lines {
        if is_fence(line) {
            return Ok((begin..end, end + line.len()));
        }
        end += line.len();
    }
    Err(Fault::Unclosed)
}

/// Reads the bytes of a SKILL.md that stands in a folder of this name.
pub(super) fn read(bytes: &[u8], folder: Option<&str>) -> Reading {
    match Head::read(bytes) {
        Err(problem) => Reading { content: None, problems: vec![problem], is_locked: false },
        Ok(head) => head.judge(folder),
    }
}

/// The ways in which a frontmatter says that its skill is locked.
pub(super) fn locks_in(entries: &[Entry]) -> Vec<&'static [&'static str]> {
    LOCKS.into_iter().filter(|path| at(entries, path).is_some_and(says_yes)).collect()
}

struct Head<'a> {
    entries: Vec<Entry>,
    body: &'a str,
    problems: Vec<Problem>,
}

/// The head begins in the second line of the file.
const ABOVE: usize = 1;

impl<'a> Head<'a> {
    fn read(bytes: &'a [u8]) -> Result<Head<'a>, Problem> {
        let line_of =
            |offset: usize| 1 + bytes[..offset].iter().filter(|byte| **byte == b'\n').count();
        let text = std::str::from_utf8(bytes)
            .map_err(|error| Fault::NotText.at(line_of(error.valid_up_to())))?;
        if let Some(at) = text.find('\0') {
            return Err(Fault::NotText.at(line_of(at)));
        }
        let (head, body) = split(text).map_err(|fault| fault.at(1))?;
        if head.len() > LONGEST_HEAD {
            return Err(Fault::HeadTooLong { bytes: head.len() }.at(1));
        }
        let root = document::parse_foreign_yaml(&text[head])
            .map_err(|fault| Fault::Syntax { why: fault.why }.at(fault.line + ABOVE))?;
        let Yaml::Section(entries) = root.content else { return Err(Fault::NoFrontmatter.at(1)) };
        let chars = text.chars().count();
        let is_long = chars > LONGEST_SKILL_FILE;
        let problems = is_long.then(|| Fault::TooLong { chars }.at(1)).into_iter().collect();
        Ok(Head { entries, body: &text[body..], problems })
    }

    fn judge(mut self, folder: Option<&str>) -> Reading {
        let name = self.name(folder);
        let description = self.description();
        let license = self.text("license");
        let compatibility = self.text("compatibility");
        let allowed_tools = self.allowed_tools();
        let metadata = self.metadata();
        let is_locked = !locks_in(&self.entries).is_empty();
        let body = trimmed(self.body).to_owned();
        let whole = name.zip(description).filter(|_| self.problems.is_empty());
        let content = whole.map(|(name, description)| {
            let learned = self.learned(&metadata, &description, &body);
            Content {
                name,
                description,
                license,
                compatibility,
                allowed_tools,
                metadata,
                is_locked,
                learned,
                body,
            }
        });
        Reading { content, problems: self.problems, is_locked }
    }

    fn name(&mut self, folder: Option<&str>) -> Option<SkillName> {
        let line = self.line_of("name");
        let name = self.needed("name")?;
        if let Some(why) = name::skill_fault(&name) {
            self.problems.push(Fault::BadName { name: name::shorten(&name), why }.at(line));
            return None;
        }
        if let Some(folder) = folder.filter(|folder| *folder != name) {
            let folder = name::shorten(folder);
            self.problems.push(Fault::OtherFolder { name: name.clone(), folder }.at(line));
        }
        name.parse().ok()
    }

    fn description(&mut self) -> Option<String> {
        let line = self.line_of("description");
        let description = self.needed("description")?;
        let chars = description.chars().count();
        if chars > LONGEST_DESCRIPTION {
            self.problems.push(Fault::LongDescription { chars }.at(line));
        }
        Some(description)
    }

    fn needed(&mut self, key: &'static str) -> Option<String> {
        let before = self.problems.len();
        let text = self.text(key).filter(|text| !text.trim().is_empty());
        if text.is_none() && self.problems.len() == before {
            let line = self.line_of(key);
            self.problems.push(Fault::Missing { key }.at(line));
        }
        text
    }

    fn text(&mut self, key: &'static str) -> Option<String> {
        match at(&self.entries, &[key]).map(|node| (node.line, &node.content))? {
            (_, Yaml::Scalar(value)) => plain(value),
            (line, _) => {
                self.problems.push(Fault::WrongKind { key, wanted: "a text" }.at(line + ABOVE));
                None
            }
        }
    }

    fn allowed_tools(&mut self) -> Vec<String> {
        const KEY: &str = "allowed-tools";
        let Some(node) = at(&self.entries, &[KEY]) else { return Vec::new() };
        let words = match &node.content {
            Yaml::Scalar(value) => plain(value)
                .map(|text| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()),
            Yaml::List(items) => Some(items.iter().filter_map(scalar).collect())
                .filter(|found: &Vec<String>| found.len() == items.len()),
            Yaml::Section(_) => None,
        };
        let is_empty = matches!(&node.content, Yaml::Scalar(Value::Null));
        if words.is_none() && !is_empty {
            let fault = Fault::WrongKind { key: KEY, wanted: "a text or a list of texts" };
            self.problems.push(fault.at(node.line + ABOVE));
        }
        words.unwrap_or_default()
    }

    fn metadata(&mut self) -> BTreeMap<String, String> {
        const KEY: &str = "metadata";
        let Some(node) = at(&self.entries, &[KEY]) else { return BTreeMap::new() };
        match &node.content {
            Yaml::Section(entries) => entries
                .iter()
                .filter_map(|entry| Some((entry.name.clone(), scalar(&entry.value)?)))
                .collect(),
            Yaml::Scalar(Value::Null) => BTreeMap::new(),
            _ => {
                let fault = Fault::WrongKind { key: KEY, wanted: "`key: value` lines" };
                self.problems.push(fault.at(node.line + ABOVE));
                BTreeMap::new()
            }
        }
    }

    fn learned(
        &self,
        metadata: &BTreeMap<String, String>,
        description: &str,
        body: &str,
    ) -> Option<Learned> {
        let said = |key: &str| metadata.get(key).map(String::as_str);
        if said(key::ORIGIN) != Some(key::LEARNED) {
            return None;
        }
        let is_same = said(key::CONTENT) == Some(content_hash(description, body).as_str());
        let sources = said(key::SOURCES).unwrap_or_default().split_whitespace();
        Some(Learned {
            sources: sources.map(str::to_owned).collect(),
            task_type: said(key::TASK_TYPE).map(str::to_owned),
            made_at: said(key::MADE).and_then(|text| text.parse().ok()),
            is_edited: !is_same || self.has_keys_of_a_person(),
        })
    }

    /// Whether there is a key that no draft has: replacing the file would lose it.
    fn has_keys_of_a_person(&self) -> bool {
        let is_lock = |name: &str| LOCKS.iter().any(|path| *path == [name]);
        let is_drafted =
            |name: &str| ["name", "description", "metadata"].contains(&name) || is_lock(name);
        let below = at(&self.entries, &["metadata"]).map(|node| &node.content);
        let has_others = matches!(below, Some(Yaml::Section(entries))
            if entries.iter().any(|entry| !entry.name.starts_with("hermes-")));
        has_others || self.entries.iter().any(|entry| !is_drafted(&entry.name))
    }

    fn line_of(&self, key: &str) -> usize {
        at(&self.entries, &[key]).map_or(1, |node| node.line + ABOVE)
    }
}

fn at<'a>(entries: &'a [Entry], path: &[&str]) -> Option<&'a Node> {
    let (first, rest) = path.split_first()?;
    let node = &entries.iter().find(|entry| entry.name == *first)?.value;
    match &node.content {
        _ if rest.is_empty() => Some(node),
        Yaml::Section(below) => at(below, rest),
        _ => None,
    }
}

/// A lock protects: whatever is not a plain no counts as yes.
fn says_yes(node: &Node) -> bool {
    const NO: [&str; 6] = ["", "false", "no", "off", "0", "null"];
    let Yaml::Scalar(value) = &node.content else { return true };
    plain(value).is_some_and(|text| !NO.contains(&text.trim().to_ascii_lowercase().as_str()))
}

fn scalar(node: &Node) -> Option<String> {
    match &node.content {
        Yaml::Scalar(value) => plain(value),
        _ => None,
    }
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}
