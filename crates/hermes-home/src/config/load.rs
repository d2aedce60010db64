//! Read the settings: defaults, then config.yaml, then the environment, then flags.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::config::Config;
use crate::config::assemble::{Assembled, Sources, assemble};
use crate::config::keys;
use crate::config::provider;
use crate::env::Env;
use crate::error::{Error, Finding, Result, Severity};
use crate::init::Owner;
use crate::keyed_text::document::{self, Content, Fault, Node, Twice};
use crate::layout::Home;
use crate::secret::{Secret, Secrets, is_exposed};

/// The settings in force, and where each comes from.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// The settings.
    pub config: Config,
    /// Where each setting comes from, by its full name.
    pub origins: BTreeMap<&'static str, Origin>,
    /// What looks wrong but does not stop anything.
    pub warnings: Vec<Finding>,
    /// Every value as it may be shown.
    pub(crate) shown: BTreeMap<&'static str, String>,
    pub(crate) owner: Owner,
}

/// Where a setting comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "from")]
pub enum Origin {
    /// Nothing was said.
    Default,
    /// The config file.
    File {
        /// Which file.
        path: PathBuf,
        /// Which line of it.
        line: usize,
    },
    /// A variable of the environment.
    Environment {
        /// Its name.
        name: String,
    },
    /// `--set` on the command line.
    Flag,
}

/// A config file larger than this is a mistake.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Loads the settings; fails with everything that is wrong at once.
pub fn load(home: &Home, owner: Owner, env: &Env, flags: &[(String, String)]) -> Result<Loaded> {
    load_but(home, owner, env, flags, |_| false)
}

/// The same for whoever must go on: a name that no setting has is a warning, whatever it looks like, and so is a
/// provider that cannot be asked.
pub fn load_forgiving(
    home: &Home,
    owner: Owner,
    env: &Env,
    flags: &[(String, String)],
) -> Result<Loaded> {
    let is_provider = |finding: &Finding| finding.key.as_deref() == Some(provider::KEY);
    load_but(home, owner, env, flags, |finding| finding.is_unknown_key || is_provider(finding))
}

fn load_but(
    home: &Home,
    owner: Owner,
    env: &Env,
    flags: &[(String, String)],
    is_forgiven: impl Fn(&Finding) -> bool,
) -> Result<Loaded> {
    let path = home.config();
    let text = read_text(&path)?.unwrap_or_default();
    let document =
        document::parse(&text, duplicates(owner)).map_err(|fault| syntax_error(&path, fault))?;
    let found = assemble_all(home, &document, owner, env, flags);
    let (errors, warnings): (Vec<Finding>, Vec<Finding>) = found
        .findings
        .into_iter()
        .partition(|finding| finding.severity == Severity::Error && !is_forgiven(finding));
    if !errors.is_empty() {
        return Err(Error::BadSettings { path, findings: errors });
    }
    let Assembled { config, origins, shown, .. } = found.values;
    Ok(Loaded { config, origins, warnings, shown, owner })
}

/// Everything there is to say about the settings, the worst first; fails only when a file cannot be read.
pub fn check(
    home: &Home,
    owner: Owner,
    env: &Env,
    flags: &[(String, String)],
) -> Result<Vec<Finding>> {
    let text = read_text(&home.config())?.unwrap_or_default();
    let mut findings = match document::parse(&text, duplicates(owner)) {
        Err(fault) => vec![syntax_finding(&fault)],
        Ok(document) => {
            let found = assemble_all(home, &document, owner, env, flags);
            let mut findings = found.findings;
            findings.extend(not_used_yet(owner, &found.values.origins));
            findings
        }
    };
    findings.extend(secrets_findings(home)?);
    findings.sort_by_key(|finding| (std::cmp::Reverse(finding.severity), finding.line));
    Ok(findings)
}

/// Whether this is the config file of a home that Hermes Agent made.
pub fn is_hermes_agent_config(text: &str) -> bool {
    const MARK: &str = "_config_version";
    match document::parse(text, Twice::LastWins).map(|root| root.content) {
        Ok(Content::Section(entries)) => entries.iter().any(|entry| entry.name == MARK),
        // Even a file that does not parse tells whose it is.
        _ => text.lines().any(|line| line.starts_with(MARK)),
    }
}

/// The text of a config file; none when there is no file.
pub fn read_text(path: &Path) -> Result<Option<String>> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::read(path, error)),
        Ok(found) if found.len() > LARGEST => {
            return Err(Error::ConfigTooLarge { path: path.to_owned(), bytes: found.len() });
        }
        Ok(_) => {}
    }
    let bytes = fs::read(path).map_err(|source| Error::read(path, source))?;
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
        let why = "it is not UTF-8 text".to_owned();
        Error::ConfigSyntax { path: path.to_owned(), line, column: 1, why }
    })
}

/// The error for a text that cannot be parsed.
pub(crate) fn syntax_error(path: &Path, fault: Fault) -> Error {
    let Fault { line, column, why } = fault;
    Error::ConfigSyntax { path: path.to_owned(), line, column, why }
}

/// Hermes Agent's reader takes the last of two equal keys, so in its home we do too.
fn duplicates(owner: Owner) -> Twice {
    match owner {
        Owner::Ours => Twice::Refuse,
        Owner::HermesAgent => Twice::LastWins,
    }
}

struct Found {
    values: Assembled,
    findings: Vec<Finding>,
}

fn assemble_all(
    home: &Home,
    document: &Node,
    owner: Owner,
    env: &Env,
    flags: &[(String, String)],
) -> Found {
    // Read only when a `${NAME}` asks for it: an unreadable .env must not stop a home that needs none.
    let secrets: OnceCell<Option<Secrets>> = OnceCell::new();
    let variable = |name: &str| match env.get(name) {
        Some(value) => Some(value.to_owned()),
        None => {
            let secrets = secrets.get_or_init(|| Secrets::read(home).ok()).as_ref();
            secrets?.get(name).map(Secret::reveal).map(str::to_owned)
        }
    };
    let path = home.config();
    let sources = Sources { path: &path, document, owner, env, flags, variable: &variable };
    let (values, findings) = assemble(&sources);
    Found { values, findings }
}

fn syntax_finding(fault: &Fault) -> Finding {
    Finding {
        severity: Severity::Error,
        key: None,
        line: Some(fault.line),
        message: format!("column {}: {}", fault.column, fault.why),
        hint: Some("repair it with `hermes config edit`".into()),
        is_unknown_key: false,
    }
}

fn not_used_yet(owner: Owner, origins: &BTreeMap<&'static str, Origin>) -> Vec<Finding> {
    let is_theirs = |key: &keys::Key| owner == Owner::HermesAgent && key.in_hermes_agent;
    let is_said = |key: &keys::Key| origins.get(key.path) != Some(&Origin::Default);
    let said = |key: &&keys::Key| !key.acts && !is_theirs(key) && is_said(key);
    let note = |key: &keys::Key| Finding {
        severity: Severity::Note,
        key: Some(key.path.to_owned()),
        line: match origins.get(key.path) {
            Some(Origin::File { line, .. }) => Some(*line),
            _ => None,
        },
        message: format!("`{}` is read and checked, but this version does not use it", key.path),
        hint: None,
        is_unknown_key: false,
    };
    keys::KEYS.iter().filter(said).map(note).collect()
}

fn secrets_findings(home: &Home) -> Result<Vec<Finding>> {
    let warning = |message: String, hint: &str| Finding {
        severity: Severity::Warning,
        key: None,
        line: None,
        message,
        hint: Some(hint.to_owned()),
        is_unknown_key: false,
    };
    let secrets = Secrets::read(home)?;
    let mut findings: Vec<Finding> = secrets
        .bad_lines
        .iter()
        .map(|bad| {
            warning(format!(".env line {}: {}", bad.line, bad.why), "write it as NAME=value")
        })
        .collect();
    if is_exposed(home) {
        let path = home.secrets();
        let hint = format!("make it private with `chmod 600 {}`", path.display());
        findings.push(warning("other users can read .env".into(), &hint));
    }
    Ok(findings)
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
