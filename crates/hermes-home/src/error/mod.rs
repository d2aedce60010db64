//! What can go wrong with files, and the hint for each.

mod finding;
pub(crate) mod skill;

use std::io;
use std::path::{Path, PathBuf};

use crate::text::{Usage, thousands};
use skill::Trouble;

pub use finding::{Finding, Severity};

/// The result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of trouble an error is; the program turns it into an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// Something failed that should have worked.
    Failure,
    /// What was typed makes no sense.
    Usage,
    /// The named thing does not exist.
    NotFound,
    /// Done only when asked for explicitly, or not at all.
    Refused,
    /// There is no home yet.
    Missing,
    /// Somebody else holds the lock.
    Locked,
}

/// What can go wrong with files.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder that should hold the home cannot be named.
    #[error("could not find a home folder: neither HERMES_HOME (without `~`) nor HOME is set")]
    NoHome,
    /// An environment variable that says where the home is cannot be read.
    #[error("could not read the environment variable {name}: it is not Unicode text")]
    NotUnicode {
        /// Its name.
        name: String,
    },
    /// The home was never made.
    #[error("there is no home at {}", path.display())]
    HomeMissing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The home path is taken by something that is not a folder.
    #[error("could not use {} as a home: it is not a folder", path.display())]
    HomeNotFolder {
        /// The path in the way.
        path: PathBuf,
    },
    /// A file could not be read.
    #[error("could not read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file or folder could not be written.
    #[error("could not write {}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A symbolic link leads nowhere, so that there is no file to replace.
    #[error("could not write {}: it is a link to {}, which does not exist", path.display(), target.display())]
    BrokenLink {
        /// The link, unchanged.
        path: PathBuf,
        /// Where it points.
        target: PathBuf,
    },
    /// Another process keeps the lock file.
    #[error("could not lock {}: another program has locked it", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// A name breaks the rule for names.
    #[error("{name:?} is not a valid {what} name: {why}")]
    BadName {
        /// "profile", "user" or "skill".
        what: &'static str,
        /// What was typed.
        name: String,
        /// The rule it breaks.
        why: &'static str,
    },
    /// The profile does not exist.
    #[error("there is no profile named {name}")]
    NoProfile {
        /// What was asked for.
        name: String,
        /// An existing name that looks like it.
        nearest: Option<String>,
    },
    /// The profile chosen with `hermes profile use` cannot be used.
    #[error("could not use the profile {name:?} from {}: {why}", path.display())]
    StickyProfile {
        /// The file that names it.
        path: PathBuf,
        /// The name in it.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The profile exists already.
    #[error("there is already a profile named {name}")]
    ProfileExists {
        /// Its name.
        name: String,
    },
    /// A config file is not YAML or JSON.
    #[error("could not read {}:{line}:{column}: {why}", path.display())]
    ConfigSyntax {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What the parser says.
        why: String,
    },
    /// A config file is too large to be one.
    #[error("could not read {}: it has {bytes} bytes, which is too large for a config file", path.display())]
    ConfigTooLarge {
        /// The file.
        path: PathBuf,
        /// How large it is.
        bytes: u64,
    },
    /// The settings cannot be used; everything that is wrong is listed.
    #[error("could not use the settings of {}:{}", path.display(), list_findings(findings))]
    BadSettings {
        /// The config file.
        path: PathBuf,
        /// What is wrong.
        findings: Vec<Finding>,
    },
    /// No setting has this name.
    #[error("{}", no_setting(key, *nearest))]
    NoSuchSetting {
        /// What was typed.
        key: String,
        /// The setting that looks most like it.
        nearest: Option<&'static str>,
    },
    /// The value does not fit the setting.
    #[error("could not set {key}: expected {expected}, found {found}")]
    BadSetting {
        /// The setting.
        key: &'static str,
        /// What it may hold.
        expected: String,
        /// What was typed; not said for a secret.
        found: String,
    },
    /// No external memory provider can be asked.
    #[error("{why}")]
    NoProviders {
        /// Which one was asked for.
        why: String,
    },
    /// A config file cannot be changed without risk to the rest of it.
    #[error("could not change {key} in {}: {why}", path.display())]
    ConfigEdit {
        /// The file.
        path: PathBuf,
        /// The setting.
        key: String,
        /// What is in the way.
        why: &'static str,
    },
    /// The root home can be neither deleted nor renamed.
    #[error("the default profile is the home itself and cannot be {action}")]
    DefaultProfile {
        /// "deleted" or "renamed".
        action: &'static str,
    },
    /// A text cannot be an entry of a memory file.
    #[error("could not add this entry: {why}")]
    EntryRefused {
        /// The rule it breaks.
        why: &'static str,
    },
    /// An edit would change more than the entry it is about.
    #[error("could not make this change: it would change how other entries of the file are read")]
    WouldDisturb,
    /// A text is longer than any entry may be.
    #[error("could not add this entry: it has {} characters; at most {} are allowed", thousands(*chars as u64), thousands(*limit as u64))]
    EntryTooLong {
        /// Its characters.
        chars: usize,
        /// The most there may be.
        limit: usize,
    },
    /// No piece of text was given to find an entry by.
    #[error("could not find an entry: no text or number was given")]
    EmptySelector,
    /// No entry is the one that was meant.
    #[error("no entry matches {wanted}")]
    NoEntry {
        /// What was asked for.
        wanted: String,
        /// How many entries there are.
        entries: usize,
    },
    /// Several entries hold the piece of text.
    #[error("{count} entries match {wanted:?}:{}", listed(matches))]
    AmbiguousEntry {
        /// What was asked for.
        wanted: String,
        /// How many match.
        count: usize,
        /// Number and beginning of the first few.
        matches: Vec<String>,
    },
    /// The file would hold more characters than it may.
    #[error("could not change a file with {usage} in {entries} entries: it would then have {}", thousands(*needed as u64))]
    OverLimit {
        /// What it holds now.
        usage: Usage,
        /// The characters it would have.
        needed: usize,
        /// How many entries it has.
        entries: usize,
    },
    /// Another program wrote into a file with `§`, so that rewriting it could lose text.
    #[error("could not change {}: it was edited by hand and its entries are unclear", path.display())]
    Drifted {
        /// The file, unchanged.
        path: PathBuf,
        /// A copy of it.
        copy: PathBuf,
    },
    /// An entry is not what it was when the plan was made.
    #[error("could not apply the plan: the entry {entry:?} has changed since")]
    PlanOutdated {
        /// The beginning of its text.
        entry: String,
    },
    /// A skill cannot be used or changed as asked.
    #[error("{}", trouble.message(name))]
    Skill {
        /// Its name, or the path it was looked for at.
        name: String,
        /// What is in the way.
        trouble: Trouble,
    },
    /// A memory file is no text.
    #[error("could not use {}: {why}", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A memory file is too big.
    #[error("could not use {}: it has {size} bytes; at most {limit} are read", path.display())]
    FileTooBig {
        /// The file.
        path: PathBuf,
        /// Its size.
        size: u64,
        /// The most there may be.
        limit: u64,
    },
    /// The file is not the one that the editor began with.
    #[error("could not save {}: it was changed while you were editing it", path.display())]
    ChangedMeanwhile {
        /// The file, unchanged.
        path: PathBuf,
    },
    /// What was typed names no version.
    #[error("{text:?} is not a version: use a number, or at least four characters of a hash")]
    BadVersion {
        /// What was typed.
        text: String,
    },
    /// No version, or more than one, is the one that was meant.
    #[error("{}", no_version(which, *count, path))]
    NoVersion {
        /// What was asked for.
        which: String,
        /// How many match.
        count: usize,
        /// The file.
        path: PathBuf,
    },
    /// A kept version is not what was stored.
    #[error("could not use the stored version {}: its content does not match its name", path.display())]
    DamagedVersion {
        /// The file with the content.
        path: PathBuf,
    },
}

impl Error {
    /// Which kind of trouble this is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::NoHome | Error::Read { .. } | Error::Write { .. } => ErrorKind::Failure,
            Error::NotUnicode { .. } | Error::BrokenLink { .. } => ErrorKind::Failure,
            Error::HomeMissing { .. } => ErrorKind::Missing,
            Error::HomeNotFolder { .. } | Error::ProfileExists { .. } => ErrorKind::Refused,
            Error::DefaultProfile { .. } | Error::ConfigEdit { .. } | Error::NoProviders { .. } => {
                ErrorKind::Refused
            }
            Error::ConfigSyntax { .. } | Error::ConfigTooLarge { .. } => ErrorKind::Failure,
            Error::BadSettings { .. } => ErrorKind::Failure,
            Error::NoSuchSetting { .. } | Error::BadSetting { .. } => ErrorKind::Usage,
            Error::Locked { .. } => ErrorKind::Locked,
            Error::BadName { .. } => ErrorKind::Usage,
            Error::EntryRefused { .. } | Error::EntryTooLong { .. } => ErrorKind::Usage,
            Error::EmptySelector | Error::BadVersion { .. } => ErrorKind::Usage,
            Error::AmbiguousEntry { .. } => ErrorKind::Usage,
            Error::NoEntry { .. } | Error::NoVersion { .. } => ErrorKind::NotFound,
            Error::OverLimit { .. } | Error::Drifted { .. } => ErrorKind::Refused,
            Error::WouldDisturb => ErrorKind::Refused,
            Error::PlanOutdated { .. } | Error::ChangedMeanwhile { .. } => ErrorKind::Refused,
            Error::NotText { .. } | Error::FileTooBig { .. } => ErrorKind::Refused,
            Error::DamagedVersion { .. } => ErrorKind::Failure,
            Error::StickyProfile { .. } => ErrorKind::NotFound,
            Error::NoProfile { .. } => ErrorKind::NotFound,
            Error::Skill { trouble, .. } => trouble.kind(),
        }
    }

    /// The next thing to do, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::NoHome => Some("set HERMES_HOME to a folder".into()),
            Error::NotUnicode { .. } => Some("set it to other text, or unset it".into()),
            Error::BrokenLink { .. } => Some(
                "restore what it points to (is a disk not mounted?), or remove the link".into(),
            ),
            Error::HomeMissing { .. } => Some("create one with `hermes init`".into()),
            Error::HomeNotFolder { .. } => {
                Some("choose another folder with `--home` or HERMES_HOME".into())
            }
            Error::Read { source, .. } | Error::Write { source, .. } => io_hint(source),
            Error::Locked { .. } => Some("try again when the other program has finished".into()),
            Error::BadName { .. } => None,
            Error::NoProfile { nearest: Some(nearest), .. } => {
                Some(format!("did you mean `{nearest}`? `hermes profile list` shows all"))
            }
            Error::NoProfile { name, nearest: None } => {
                Some(format!("create it with `hermes profile create {name}`"))
            }
            Error::StickyProfile { .. } => {
                Some("switch back to the default profile with `hermes profile use default`".into())
            }
            Error::ProfileExists { name } => {
                Some(format!("see it with `hermes profile show {name}`"))
            }
            Error::DefaultProfile { .. } => None,
            Error::ConfigSyntax { .. } => Some("repair it with `hermes config edit`".into()),
            Error::ConfigTooLarge { .. } => Some("is this the right file?".into()),
            Error::BadSettings { findings, .. } if findings.iter().all(is_given_with_set) => {
                Some("correct the option `--set`; `hermes config list` shows all settings".into())
            }
            Error::BadSettings { .. } => {
                Some("repair them with `hermes config edit`, then see `hermes config check`".into())
            }
            Error::NoSuchSetting { key, nearest: Some(section) } if key == section => {
                Some("`hermes config list` shows all settings".into())
            }
            Error::NoSuchSetting { nearest: Some(nearest), .. } => {
                Some(format!("did you mean `{nearest}`? `hermes config list` shows all"))
            }
            Error::NoSuchSetting { nearest: None, .. } => {
                Some("`hermes config list` shows all".into())
            }
            Error::BadSetting { key, .. } => Some(format!("see `hermes config get {key}`")),
            Error::NoProviders { .. } => {
                Some("leave it empty; `hermes import` imports the memory of other programs".into())
            }
            Error::ConfigEdit { .. } => Some("change it by hand with `hermes config edit`".into()),
            Error::Skill { name, trouble } => trouble.hint(name),
            _ => self.memory_file_hint(),
        }
    }

    fn memory_file_hint(&self) -> Option<String> {
        let hint = match self {
            Error::EntryTooLong { .. } => "put long texts into a file, and remember its path",
            Error::EmptySelector | Error::NoEntry { .. } => {
                "`hermes memory show` lists the entries with their numbers"
            }
            Error::AmbiguousEntry { .. } => "use the number, or a longer part of the text",
            Error::OverLimit { .. } => {
                "make room with `hermes memory remove`, or shorten an entry with `hermes memory replace`"
            }
            Error::Drifted { copy, .. } => return Some(drift_hint(copy)),
            Error::PlanOutdated { .. } => "create the plan again",
            Error::WouldDisturb => {
                "close the open comment or code block, or change it with `hermes memory edit`"
            }
            Error::NotText { .. } => {
                "repair it in an editor, or restore an earlier version: `hermes memory versions`"
            }
            Error::FileTooBig { .. } => "shorten it in an editor, or move it away",
            Error::ChangedMeanwhile { .. } => "compare both texts, then edit it again",
            Error::BadVersion { .. } | Error::NoVersion { .. } | Error::DamagedVersion { .. } => {
                "`hermes memory versions` lists the versions that can be restored"
            }
            _ => return None,
        };
        Some(hint.to_owned())
    }

    pub(crate) fn read(path: &Path, source: io::Error) -> Error {
        Error::Read { path: path.to_owned(), source }
    }

    pub(crate) fn write(path: &Path, source: io::Error) -> Error {
        Error::Write { path: path.to_owned(), source }
    }
}

fn is_given_with_set(finding: &Finding) -> bool {
    finding.message.contains("--set")
}

fn no_setting(key: &str, nearest: Option<&str>) -> String {
    match nearest {
        Some(section) if section == key => format!("`{key}` is a section, not a setting"),
        _ => format!("there is no setting `{key}`"),
    }
}

fn no_version(which: &str, count: usize, path: &Path) -> String {
    match count {
        0 => format!("there is no version {which} of {}", path.display()),
        _ => format!("{count} versions of {} match {which}", path.display()),
    }
}

fn list_findings(findings: &[Finding]) -> String {
    findings.iter().map(|finding| format!("\n  {finding}")).collect()
}

fn drift_hint(copy: &Path) -> String {
    format!(
        "a copy is in {}; put a line with § between the entries with `hermes memory edit`, then try again",
        copy.display()
    )
}

fn listed(matches: &[String]) -> String {
    matches.iter().map(|one| format!("\n  {one}")).collect()
}

fn io_hint(source: &io::Error) -> Option<String> {
    match source.kind() {
        io::ErrorKind::PermissionDenied => {
            Some("check the owner and mode of the home, or run `hermes doctor`".into())
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            Some("the file system is read-only: reading works, writing does not".into())
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            Some("free some disk space; the file is unchanged".into())
        }
        _ => None,
    }
}
