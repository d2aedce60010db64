//! Which names stay out of a backup, and why. Most rules hold in one place alone.

use std::path::Path;

use crate::name::{ArchiveName, STAGING};
use crate::sign;

/// The folder of all profiles but the default one.
pub(super) const PROFILES: &str = "profiles";

/// Where a folder stands, as far as the rules ask.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The root home.
    Root,
    /// The folder of a profile.
    Profile,
    /// `hermesd` in the root home or a profile.
    Own,
    /// `cron` in the root home or a profile.
    Cron,
    /// Any other folder.
    Inside,
}

/// Folders of a home that can be made again, or that are copies themselves.
const HOME_FOLDERS: &[(&str, &str)] = &[
    ("migration", "leftovers of a finished migration from another program"),
    ("backups", "backups of this home made by Hermes Agent"),
    ("state-snapshots", "backups of this home made by Hermes Agent"),
    ("checkpoints", "copies of project files for Hermes Agent's /rollback; not part of this home"),
    ("logs", "logs"),
    ("cache", "a cache, which is filled again when needed"),
    (".cache", "a cache, which is filled again when needed"),
    ("image_cache", "a cache, which is filled again when needed"),
    ("audio_cache", "a cache, which is filled again when needed"),
    ("sandboxes", "working copies that programs ran in; created again when needed"),
];

/// The program of Hermes Agent; only at the root, so that a skill of that name stays in.
const CODE: (&str, &str) = (
    "hermes-agent",
    "the program of Hermes Agent; its installer installs \
     it again",
);

/// Folders that a package manager fills, wherever they are.
const PACKAGE_FOLDERS: &[(&str, &str)] = &[
    ("__pycache__", "compiled by Python when needed"),
    ("node_modules", "packages that npm installs again"),
    (
        ".venv",
        "a Python environment: specific to this machine, created again from its package list",
    ),
    ("venv", "a Python environment: specific to this machine, created again from its package list"),
    ("site-packages", "packages that pip installs again"),
    (".tox", "test environments that tox creates again"),
];

const RUNNING: &str = "it describes what is running on this machine now";
const LOCK: &str = "a lock for this machine's files while they are written";
const TEMPORARY: &str = "a temporary file of an interrupted write";

impl Place {
    /// The place of a folder by its path below the root home.
    pub(super) fn of(path: &str) -> Place {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let (is_profile, inside) = match parts.as_slice() {
            [PROFILES, _, inside @ ..] => (true, inside),
            inside => (false, inside),
        };
        match (inside, is_profile) {
            ([], true) => Place::Profile,
            ([], false) => Place::Root,
            (["hermesd"], _) => Place::Own,
            (["cron"], _) => Place::Cron,
            _ => Place::Inside,
        }
    }

    fn is_home(&self) -> bool {
        matches!(self, Place::Root | Place::Profile)
    }

    /// Whether a file of this name here is a database or damaged.
    pub(super) fn must_be_database(&self, name: &str) -> bool {
        self.is_home() && matches!(name, "state.db" | "memory.db")
    }

    /// Why a folder of this name stays out here.
    pub(super) fn reason_against_folder(&self, name: &str) -> Option<&'static str> {
        let among = |list: &[(&str, &'static str)]| {
            list.iter().find(|(unwanted, _)| *unwanted == name).map(|(_, why)| *why)
        };
        let here = match self {
            Place::Root => among(HOME_FOLDERS).or_else(|| among(&[CODE])),
            Place::Profile => among(HOME_FOLDERS),
            Place::Own if name == "logs" => Some("logs"),
            Place::Own if name == "before-upgrade" => {
                Some("databases from before an upgrade; the upgraded ones are in the backup")
            }
            Place::Own if name == "checkpoints" => {
                Some("copies of project files for `hermes checkpoint`; not part of this home")
            }
            Place::Own if matches!(name, "login" | "open" | "visitors") => {
                Some("access to the dashboard of this machine")
            }
            Place::Own if name == "high-water" => {
                Some("how far the databases of this machine had grown; a restored home starts over")
            }
            Place::Own if name.starts_with(STAGING) => Some(TEMPORARY),
            Place::Own | Place::Cron | Place::Inside => None,
        };
        here.or_else(|| among(PACKAGE_FOLDERS))
    }

    /// Why a file of this name stays out here; `path` is where it is.
    pub(super) fn reason_against_file(&self, name: &str, path: &Path) -> Option<&'static str> {
        let is_ours =
            |before: &str, behind: &str| name.starts_with(before) && name.ends_with(behind);
        match (self, name) {
            (Place::Root | Place::Profile, "gateway_state.json")
            | (Place::Own, "daemon.json" | "daemon.lock") => Some(RUNNING),
            (Place::Own, "backup-schedule.json") => Some("the backup schedule of this machine"),
            (Place::Own, "users.json") => {
                Some("a cached list of users, which is fetched from the server again")
            }
            (Place::Own, sign::KEY) => Some(
                "the signing key of the backups, which stays in the \
                 home",
            ),
            (Place::Own, "backup-manifest.json") => {
                Some("the file list of the backup that this home was restored from")
            }
            _ if name.ends_with(".pyc") => Some("compiled by Python when needed"),
            _ if name.ends_with(".pid") => Some(RUNNING),
            _ if name.ends_with(".lock") && self.is_lock(path) => Some(LOCK),
            _ if is_ours(".hermes_", ".tmp")
                || is_ours(".mem_", ".tmp")
                || is_ours(".new-", ".db") =>
            {
                Some(TEMPORARY)
            }
            _ if is_archive(name) => Some("a backup; backups are not put into backups"),
            _ => None,
        }
    }

    /// Whether a file or folder of this name holds secrets: variables, logins, keys.
    pub(super) fn is_secret(&self, name: &str) -> bool {
        const NAMES: &[&str] = &[
            ".env",
            "auth.json",
            "auth.yaml",
            "credentials",
            "credentials.json",
            "token.json",
            "tokens.json",
            "secrets",
            "secrets.json",
            "secrets.yaml",
            ".netrc",
            ".pgpass",
            ".ssh",
            ".gnupg",
            ".aws",
            "id_rsa",
            "id_dsa",
            "id_ecdsa",
            "id_ed25519",
        ];
        const ENDINGS: &[&str] = &[".pem", ".key", ".p12", ".pfx", ".keystore", ".token"];
        NAMES.contains(&name)
            || (name.starts_with(".env.") && !name.ends_with(".example"))
            || name.starts_with("vault.")
            || ENDINGS.iter().any(|ending| name.ends_with(ending))
            || (*self == Place::Own && name == "keys")
    }

    /// A skill may have a `poetry.lock`, which is a list and no lock.
    fn is_lock(&self, path: &Path) -> bool {
        *self != Place::Inside || path.with_extension("").exists()
    }
}

fn is_archive(name: &str) -> bool {
    let bare = name.strip_suffix(".json").or_else(|| name.strip_suffix(".partial")).unwrap_or(name);
    bare.parse::<ArchiveName>().is_ok()
}
