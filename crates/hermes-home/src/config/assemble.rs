//! Put the layers of settings together: a pure function from what was read to what holds.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::config::Config;
use crate::config::keys::{self, KEYS, Key, Kind};
use crate::config::load::Origin;
use crate::config::provider;
use crate::env::Env;
use crate::error::{Finding, Severity};
use crate::init::Owner;
use crate::keyed_text::document::{Content, Entry, Node};
use crate::secret;

/// Everything that settings are made from.
pub(crate) struct Sources<'a> {
    pub(crate) path: &'a Path,
    pub(crate) document: &'a Node,
    pub(crate) owner: Owner,
    pub(crate) env: &'a Env,
    pub(crate) flags: &'a [(String, String)],
    /// The value of a variable named in `${…}`.
    pub(crate) variable: &'a dyn Fn(&str) -> Option<String>,
}

/// The settings that came out.
pub(crate) struct Assembled {
    pub(crate) config: Config,
    pub(crate) origins: BTreeMap<&'static str, Origin>,
    pub(crate) shown: BTreeMap<&'static str, String>,
}

/// One value for one key, from one place.
struct Given<'a> {
    key: &'static Key,
    value: Value,
    line: Option<usize>,
    origin: Origin,
    /// How the place is named in a message.
    place: String,
    content: Option<&'a Content>,
}

struct Assembly<'a> {
    sources: &'a Sources<'a>,
    chosen: BTreeMap<&'static str, (Value, Origin)>,
    /// Values with variables in them, as they were written.
    written: BTreeMap<&'static str, String>,
    findings: Vec<Finding>,
}

/// Puts the layers together; what is wrong is found, not thrown.
pub(crate) fn assemble(sources: &Sources<'_>) -> (Assembled, Vec<Finding>) {
    let mut assembly = Assembly {
        sources,
        chosen: BTreeMap::new(),
        written: BTreeMap::new(),
        findings: Vec::new(),
    };
    let mut from_file = Vec::new();
    if let Content::Section(entries) = &sources.document.content {
        assembly.walk(entries, &mut Vec::new(), &mut from_file);
    }
    assembly.report_contradictions(&from_file);
    from_file.into_iter().for_each(|given| assembly.settle(given));
    assembly.read_environment().into_iter().for_each(|given| assembly.settle(given));
    assembly.read_flags().into_iter().for_each(|given| assembly.settle(given));
    assembly.finish()
}

/// Keys that Hermes Agent keeps in sections that are ours as well.
const KEYS_OF_HERMES_AGENT: &[&str] = &[
    "memory.memory_enabled",
    "memory.user_profile_enabled",
    "memory.nudge_interval",
    "memory.flush_min_turns",
    "sessions.vacuum_after_prune",
    "sessions.min_interval_hours",
    "sessions.write_json_snapshots",
    "sessions.cjk_fts",
    "sessions.max_resume_messages",
    "sessions.max_export_messages",
    "sessions.state_backend",
];

impl<'a> Assembly<'a> {
    fn walk(
        &mut self,
        entries: &'a [Entry],
        section: &mut Vec<&'static str>,
        given: &mut Vec<Given<'a>>,
    ) {
        for entry in entries {
            let Some(part) = keys::canonical_part(section, &entry.name) else {
                self.report_unknown(section, entry);
                continue;
            };
            section.push(part);
            match keys::find(&section.join(".")) {
                Some(key) => given.push(self.read_node(key, &entry.value)),
                None => self.walk_section(&entry.value, section, given),
            }
            section.pop();
        }
    }

    fn walk_section(
        &mut self,
        node: &'a Node,
        section: &mut Vec<&'static str>,
        given: &mut Vec<Given<'a>>,
    ) {
        match &node.content {
            Content::Section(entries) => self.walk(entries, section, given),
            // `memory:` with nothing below it.
            Content::Scalar(Value::Null) => {}
            // Hermes Agent's older form of `model.default`.
            Content::Scalar(Value::String(_)) if self.is_foreign() && section[..] == ["model"] => {
                given.extend(keys::find("model.default").map(|key| self.read_node(key, node)));
            }
            // Sections of Hermes Agent's own, in which it may write what it likes.
            _ if self.is_foreign() && matches!(section[..], ["agent" | "checkpoints"]) => {}
            _ => {
                let name = section.join(".");
                let may_be_ignored = self.is_foreign() && !must_not_be_ignored(&name);
                let severity = if may_be_ignored { Severity::Warning } else { Severity::Error };
                let message = format!("`{name}` is a section: expected keys below it");
                self.findings.push(finding(severity, &name, Some(node.line), message, None));
            }
        }
    }

    fn read_node(&self, key: &'static Key, node: &'a Node) -> Given<'a> {
        let value = match (&node.content, key.kind) {
            (Content::Scalar(value), _) => value.clone(),
            (Content::List(items), Kind::Texts) => items.iter().map(Node::to_value).collect(),
            _ => Value::Null,
        };
        let origin = Origin::File { path: self.sources.path.to_owned(), line: node.line };
        let content = Some(&node.content);
        Given { key, value, line: Some(node.line), origin, place: String::new(), content }
    }

    fn read_environment(&mut self) -> Vec<Given<'a>> {
        let mut given = Vec::new();
        for (name, value) in self.sources.env.iter().filter(|(_, value)| !value.is_empty()) {
            match KEYS.iter().find(|key| key.variable() == name) {
                Some(key) => given.push(Given {
                    key,
                    value: value.into(),
                    line: None,
                    origin: Origin::Environment { name: name.to_owned() },
                    place: format!(" in {name}"),
                    content: None,
                }),
                None => self.report_unknown_variable(name),
            }
        }
        self.report_variables_not_unicode();
        given
    }

    fn read_flags(&mut self) -> Vec<Given<'a>> {
        let mut given = Vec::new();
        for (name, value) in self.sources.flags {
            match keys::find(name) {
                Some(key) => given.push(Given {
                    key,
                    value: value.as_str().into(),
                    line: None,
                    origin: Origin::Flag,
                    place: " in --set".into(),
                    content: None,
                }),
                None => {
                    let message = format!("`--set {name}=…`: there is no setting `{name}`");
                    self.no_setting(Severity::Error, name.as_str(), None, message);
                }
            }
        }
        given
    }

    fn report_contradictions(&mut self, given: &[Given<'a>]) {
        for (number, second) in given.iter().enumerate() {
            let clash = given[..number]
                .iter()
                .find(|first| first.key.path == second.key.path && first.value != second.value);
            let Some(first) = clash else { continue };
            let name = second.key.path;
            let line = first.line.unwrap_or_default();
            let message =
                format!("`{name}` is given twice with different values, first in line {line}");
            let hint = Some("keep one of the two spellings".to_owned());
            self.findings.push(finding(Severity::Error, name, second.line, message, hint));
        }
    }

    fn settle(&mut self, given: Given<'a>) {
        let is_scalar = matches!(given.content, None | Some(Content::Scalar(_)));
        if is_scalar && given.value.is_null() {
            return;
        }
        let accepted = match self.expanded(&given) {
            Ok(value) if is_scalar || given.value.is_array() => accept(given.key, &value),
            Ok(_) => None,
            Err((fault, message, hint)) => {
                // A variable may be missing as long as nothing reads the setting, or its reader says so.
                let is_needed = given.key.acts && given.key.path != "memory.connection_string";
                let may_be_missing = !is_needed && matches!(fault, ExpandFault::Undefined(_));
                let severity =
                    if may_be_missing { Severity::Warning } else { self.severity_of(given.key) };
                let (path, line, hint) = (given.key.path, given.line, Some(hint));
                return self.findings.push(finding(severity, path, line, message, hint));
            }
        };
        match accepted {
            Some(value) => {
                let refused = provider::finding(self.sources.owner, given.key, &value, given.line);
                self.findings.extend(refused);
                self.note_written_form(&given);
                self.chosen.insert(given.key.path, (value, given.origin));
            }
            None => self.report_bad_value(&given),
        }
    }

    /// What `${NAME}` stands for may be a secret, so a free text is shown as it was written.
    fn note_written_form(&mut self, given: &Given<'a>) {
        self.written.remove(given.key.path);
        let is_free = matches!(given.key.kind, Kind::Text | Kind::Texts);
        let text = display(&given.value);
        if let (true, Origin::File { .. }) = (is_free, &given.origin)
            && text.contains("${")
            && !given.key.is_secret()
        {
            self.written.insert(given.key.path, text);
        }
    }

    /// A text of the file with its `${NAME}`s filled in; the message and the hint when one is missing.
    fn expanded(&self, given: &Given<'a>) -> Result<Value, (ExpandFault, String, String)> {
        if !matches!(given.origin, Origin::File { .. }) {
            return Ok(given.value.clone());
        }
        expand_value(&given.value, self.sources.variable).map_err(|fault| {
            let key = given.key.path;
            let (message, hint) = match &fault {
                ExpandFault::Undefined(name) => (
                    format!("`{key}` needs the variable {name}, which is not set"),
                    format!("store it in .env with `hermes config set {name} -`"),
                ),
                ExpandFault::Malformed => (
                    format!("`{key}` contains a `${{` that is not a variable"),
                    "write `${NAME}`, or `$$` for a plain `$`".to_owned(),
                ),
            };
            (fault, message, hint)
        })
    }

    fn report_bad_value(&mut self, given: &Given<'a>) {
        let key = given.key;
        let found = if key.is_secret() { "something else".into() } else { describe(given) };
        let (expected, place) = (key.kind.expects(), &given.place);
        let message = format!("`{}`{place}: expected {expected}, found {found}", key.path);
        self.findings.push(finding(self.severity_of(key), key.path, given.line, message, None));
    }

    fn report_unknown(&mut self, section: &[&'static str], entry: &Entry) {
        let path = [section, &[entry.name.as_str()]].concat().join(".");
        let severity = match self.sources.owner {
            _ if must_not_be_ignored(&path) => Severity::Error,
            Owner::Ours if keys::nearest(&path).is_some() => Severity::Error,
            // Another program may keep its settings in the same file.
            Owner::Ours => Severity::Warning,
            Owner::HermesAgent if is_doubtful(section, &path) => Severity::Warning,
            Owner::HermesAgent => return,
        };
        let message = format!("there is no setting `{path}`");
        self.no_setting(severity, path.as_str(), Some(entry.value.line), message);
    }

    fn no_setting(&mut self, severity: Severity, path: &str, line: Option<usize>, message: String) {
        let found = finding(severity, path, line, message, did_you_mean(path));
        self.findings.push(Finding { is_unknown_key: true, ..found });
    }

    fn report_unknown_variable(&mut self, name: &str) {
        let Some(rest) = name.strip_prefix("HERMES_").filter(|rest| rest.contains("__")) else {
            return;
        };
        let path = rest.replace("__", ".").to_lowercase();
        let message = format!("{name} in the environment is not a setting");
        let is_slip = !self.is_foreign() && keys::nearest(&path).is_some();
        let must_be_right = is_slip || path.split('.').any(must_not_be_ignored);
        let severity = if must_be_right { Severity::Error } else { Severity::Warning };
        self.no_setting(severity, path.as_str(), None, message);
    }

    fn report_variables_not_unicode(&mut self) {
        for name in self.sources.env.not_unicode() {
            let Some(key) = KEYS.iter().find(|key| key.variable() == name) else { continue };
            let message = format!("{name} in the environment is not Unicode text");
            let hint = Some("set it to other text, or unset it".to_owned());
            self.findings.push(finding(Severity::Error, key.path, None, message, hint));
        }
    }

    fn is_foreign(&self) -> bool {
        self.sources.owner == Owner::HermesAgent
    }

    /// What Hermes Agent may write as it likes must not stop us.
    fn severity_of(&self, key: &Key) -> Severity {
        if self.is_foreign() && key.in_hermes_agent { Severity::Warning } else { Severity::Error }
    }

    fn finish(mut self) -> (Assembled, Vec<Finding>) {
        let defaults = Config::defaults(self.sources.owner);
        let mut tree = serde_json::to_value(&defaults).unwrap_or_default();
        let mut origins = BTreeMap::new();
        let mut shown = BTreeMap::new();
        for key in KEYS {
            let slot = key.segments().iter().fold(&mut tree, |value, part| &mut value[*part]);
            let origin = match self.chosen.remove(key.path) {
                None => Origin::Default,
                Some((value, origin)) => {
                    *slot = value;
                    origin
                }
            };
            let text = self.written.remove(key.path).unwrap_or_else(|| display(slot));
            shown.insert(key.path, secret::redact(key.path, &text));
            origins.insert(key.path, origin);
        }
        let config = serde_json::from_value(tree).unwrap_or_else(|error| {
            let message = format!("the settings contradict each other: {error}");
            self.findings.push(finding(Severity::Error, "", None, message, None));
            defaults
        });
        (Assembled { config, origins, shown }, self.findings)
    }
}

/// The value in the form its key wants; an empty text means none where none is possible.
pub(crate) fn accept(key: &Key, value: &Value) -> Option<Value> {
    let is_empty = value.as_str().is_some_and(str::is_empty);
    // No provider is an empty text, as in Hermes Agent, not a missing value.
    let may_be_none = matches!(key.kind, Kind::Text | Kind::TimeZone) && key.path != provider::KEY;
    if is_empty && may_be_none { Some(Value::Null) } else { key.kind.accept(value) }
}

/// A value as one line of text; none is empty.
pub(crate) fn display(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => String::new(),
        other => other.to_string(),
    }
}

fn finding(
    severity: Severity,
    key: &str,
    line: Option<usize>,
    message: String,
    hint: Option<String>,
) -> Finding {
    let key = Some(key.to_owned());
    Finding { severity, key, line, message, hint, is_unknown_key: false }
}

fn did_you_mean(path: &str) -> Option<String> {
    keys::nearest(path).map(|name| format!("did you mean `{name}`?"))
}

/// In a home of Hermes Agent an unknown key is worth a word below a section of ours, or when it looks like one.
fn is_doubtful(section: &[&'static str], path: &str) -> bool {
    const SECTIONS_OF_HERMES_AGENT: &[&str] = &["model", "skills", "agent", "checkpoints"];
    let is_theirs = KEYS_OF_HERMES_AGENT.contains(&path)
        || section.first().is_some_and(|first| SECTIONS_OF_HERMES_AGENT.contains(first));
    !is_theirs && (!section.is_empty() || keys::nearest(path).is_some())
}

/// A slip here could leave unencrypted what its owner believes is encrypted.
fn must_not_be_ignored(path: &str) -> bool {
    const BACKUP: &str = "backup";
    const PARTS: &[&str] =
        &["encrypt", "cipher", "passphrase", "recipient", "ssl", "tls", "gpg", "pgp"];
    let name = keys::snake_case(path.rsplit('.').next().unwrap_or(path));
    let is_about_backups = path.split('.').next() == Some(BACKUP);
    is_about_backups
        || (!path.contains('.') && keys::nearest(path) == Some(BACKUP))
        || (!path.starts_with("model.")
            && (PARTS.iter().any(|part| name.contains(part)) || name.starts_with("age_")))
}

fn describe(given: &Given<'_>) -> String {
    const SHOWN: usize = 60;
    match (given.content, &given.value) {
        (Some(Content::Section(_)), _) => "a section".into(),
        (Some(Content::List(_)), _) => "a list".into(),
        (_, Value::String(text)) if text.chars().count() > SHOWN => "a long text".into(),
        (_, value) => value.to_string(),
    }
}

#[derive(Debug, PartialEq)]
enum ExpandFault {
    Undefined(String),
    Malformed,
}

fn expand_value(
    value: &Value,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Value, ExpandFault> {
    match value {
        Value::String(text) => expand(text, variable).map(Value::String),
        Value::Array(items) => items.iter().map(|item| expand_value(item, variable)).collect(),
        other => Ok(other.clone()),
    }
}

/// Replaces each `${NAME}` by its variable and `$$` by `$`.
fn expand(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Result<String, ExpandFault> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        expanded.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            expanded.push('$');
            rest = after;
        } else if let Some(after) = after.strip_prefix('{') {
            let (name, after) = after.split_once('}').ok_or(ExpandFault::Malformed)?;
            let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if name.is_empty() || !name.chars().all(allowed) {
                return Err(ExpandFault::Malformed);
            }
            let value = variable(name).ok_or_else(|| ExpandFault::Undefined(name.to_owned()))?;
            expanded.push_str(&value);
            rest = after;
        } else {
            expanded.push('$');
            rest = after;
        }
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_filled_in() {
        let variable = |name: &str| (name == "A").then(|| "1".to_owned());
        for (text, expanded) in [
            ("x", Ok("x")),
            ("${A}", Ok("1")),
            ("a${A}b${A}", Ok("a1b1")),
            ("$A $$ $${A} $", Ok("$A $ ${A} $")),
            ("${B}", Err(ExpandFault::Undefined("B".into()))),
            ("${A", Err(ExpandFault::Malformed)),
            ("${}", Err(ExpandFault::Malformed)),
            ("${A:-x}", Err(ExpandFault::Malformed)),
        ] {
            assert_eq!(expand(text, &variable), expanded.map(str::to_owned), "{text}");
        }
    }

    #[test]
    fn words_about_encryption_are_recognised() {
        for (path, speaks) in [
            ("backup", true),
            ("backup.anything", true),
            ("backups", true),
            ("bakcup", true),
            ("encryption", true),
            ("memory.encryptAtRest", true),
            ("memory.sslmode", true),
            ("memory.ssl_cert", true),
            ("age_recipients", true),
            ("sessions.max_age", false),
            ("memory.storage", false),
            ("model.tls_verify", false),
        ] {
            assert_eq!(must_not_be_ignored(path), speaks, "{path}");
        }
    }
}
