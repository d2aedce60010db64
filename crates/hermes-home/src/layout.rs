//! The only place that knows a file name under the home folder.

use std::path::{Path, PathBuf};

use crate::env::Env;
use crate::error::{Error, Result};
use crate::name::{DEFAULT_PROFILE, ProfileName, UserId};

/// What the command line says about the home.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// The folder given with `--home`.
    pub home: Option<PathBuf>,
    /// The profile given with `--profile`.
    pub profile: Option<String>,
}

/// Which rule chose the profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChosenBy {
    /// Nothing was said: the root home itself.
    Default,
    /// `--profile`.
    Flag,
    /// HERMES_PROFILE.
    Environment,
    /// The home folder given is itself a profile's folder.
    Folder,
    /// `hermes profile use`.
    Sticky,
}

/// A home: the root folder, and the profile inside it that is in use.
#[derive(Debug, Clone)]
pub struct Home {
    root: PathBuf,
    profile: Option<ProfileName>,
    chosen_by: ChosenBy,
    folder: PathBuf,
}

/// The four memory files a person edits, by the names used on the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryTarget {
    /// `memories/MEMORY.md`: what is known.
    Memory,
    /// `memories/USER.md`, or one person's own.
    User(Option<UserId>),
    /// `SOUL.md`: the persona.
    Soul,
}

pub(crate) const PROFILES: &str = "profiles";

impl Home {
    /// The home of the named profile (or the root home) below the same root, whether it exists or not.
    pub fn sibling(&self, profile: Option<ProfileName>) -> Home {
        Home::at(self.root.clone(), profile, self.chosen_by)
    }

    /// A home that lies in a folder, whatever flags and environment say: one that was unpacked or put beside.
    pub fn in_folder(root: &Path, profile: Option<ProfileName>) -> Home {
        Home::at(root.to_owned(), profile, ChosenBy::Folder)
    }

    pub(crate) fn at(root: PathBuf, profile: Option<ProfileName>, chosen_by: ChosenBy) -> Home {
        let folder = match &profile {
            None => root.clone(),
            Some(name) => root.join(PROFILES).join(name.as_str()),
        };
        Home { root, profile, chosen_by, folder }
    }

    /// The folder that holds everything, profiles included.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of the profile in use.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The profile in use; none means the root home itself.
    pub fn profile(&self) -> Option<&ProfileName> {
        self.profile.as_ref()
    }

    /// The name of the profile in use, `default` for the root home.
    pub fn profile_name(&self) -> &str {
        self.profile.as_ref().map_or(DEFAULT_PROFILE, ProfileName::as_str)
    }

    /// Which rule chose the profile.
    pub fn chosen_by(&self) -> ChosenBy {
        self.chosen_by
    }

    /// Fails unless the folder of the profile in use exists.
    pub fn must_exist(&self) -> Result<()> {
        if self.folder.is_dir() {
            Ok(())
        } else {
            Err(Error::HomeMissing { path: self.folder.clone() })
        }
    }

    /// The folder of all profiles but the default one.
    pub fn profiles(&self) -> PathBuf {
        self.root.join(PROFILES)
    }

    /// The file that remembers `hermes profile use`.
    pub fn active_profile(&self) -> PathBuf {
        self.root.join("active_profile")
    }

    /// Where deleted profiles are kept until someone removes them.
    pub fn deleted_profiles(&self) -> PathBuf {
        self.root.join(OWN).join("deleted-profiles")
    }

    /// `SOUL.md`.
    pub fn soul(&self) -> PathBuf {
        self.folder.join("SOUL.md")
    }

    /// `memories/`.
    pub fn memories(&self) -> PathBuf {
        self.folder.join("memories")
    }

    /// The file that a memory target is written to.
    pub fn memory_file(&self, target: &MemoryTarget) -> PathBuf {
        match target {
            MemoryTarget::Soul => self.soul(),
            MemoryTarget::Memory => self.memories().join("MEMORY.md"),
            MemoryTarget::User(None) => self.memories().join("USER.md"),
            MemoryTarget::User(Some(id)) => self.users().join(id.as_str()).join("USER.md"),
        }
    }

    /// Other places where the same file may be found: read, never written.
    pub fn other_places(&self, target: &MemoryTarget) -> Vec<PathBuf> {
        match target {
            MemoryTarget::Memory => {
                vec![self.folder.join("MEMORY.md"), self.workspace().join("MEMORY.md")]
            }
            MemoryTarget::User(None) => vec![self.folder.join("USER.md")],
            MemoryTarget::User(Some(_)) | MemoryTarget::Soul => Vec::new(),
        }
    }

    /// `memories/users/`: one folder for each person of a shared agent.
    pub fn users(&self) -> PathBuf {
        self.memories().join("users")
    }

    /// `skills/`.
    pub fn skills(&self) -> PathBuf {
        self.folder.join("skills")
    }

    /// `workspace/`.
    pub fn workspace(&self) -> PathBuf {
        self.folder.join("workspace")
    }

    /// What finished work taught: `workspace/REFLECTIONS.md`, or one person's own.
    pub fn reflections(&self, user: Option<&UserId>) -> PathBuf {
        let folder = user.map_or_else(|| self.workspace(), |id| self.users().join(id.as_str()));
        folder.join("REFLECTIONS.md")
    }

    /// Which reflections were written to a file once.
    pub fn reflections_written(&self) -> PathBuf {
        self.own().join("reflections.json")
    }

    /// `config.yaml`.
    pub fn config(&self) -> PathBuf {
        self.folder.join("config.yaml")
    }

    /// `.env`, the file of secrets.
    pub fn secrets(&self) -> PathBuf {
        self.folder.join(".env")
    }

    /// `state.db`: every session and message.
    pub fn state_db(&self) -> PathBuf {
        self.folder.join("state.db")
    }

    /// `memory.db`: facts, episodes and their index; the setting `memory.path` may move it.
    pub fn memory_db(&self, setting: Option<&str>, env: &Env) -> Result<PathBuf> {
        match setting.map(str::trim).filter(|path| !path.is_empty()) {
            None => Ok(self.folder.join("memory.db")),
            // A relative path is below the home, wherever the program is run.
            Some(path) => Ok(self.folder.join(expand_tilde(path, env)?)),
        }
    }

    /// `hermesd/`: what this program keeps for itself.
    pub fn own(&self) -> PathBuf {
        self.folder.join(OWN)
    }

    /// The mark of a home that this program made.
    pub fn mark(&self) -> PathBuf {
        self.own().join("home.json")
    }

    /// Who this home is, and which databases it has.
    pub fn databases(&self) -> PathBuf {
        self.own().join("databases.json")
    }

    /// How far the databases had come when something was acknowledged, and the checksums of messages.
    pub fn high_water(&self) -> PathBuf {
        self.own().join("high-water")
    }

    /// Earlier versions of the memory files.
    pub fn versions(&self) -> PathBuf {
        self.own().join("versions")
    }

    /// What somebody typed in conversations, for the arrow keys; none is the owner.
    pub fn chat_history(&self, user: Option<&UserId>) -> PathBuf {
        match user {
            None => self.own().join("chat-history"),
            Some(id) => self.own().join(format!("chat-history-{id}")),
        }
    }

    /// What users were before they were merged into this one, a folder for each.
    pub fn merged_users(&self, into: &UserId) -> PathBuf {
        self.own().join("merged-users").join(into.as_str())
    }

    /// Who was forgotten, by ids alone: a restore forgets them again.
    pub fn erasures(&self) -> PathBuf {
        self.root.join(OWN).join("erasures.jsonl")
    }

    /// What was passed to other profiles and taken over from them.
    pub fn handovers(&self) -> PathBuf {
        self.own().join("handovers.jsonl")
    }

    /// The states of files before an agent changed them.
    pub fn checkpoints(&self) -> PathBuf {
        self.own().join("checkpoints")
    }

    /// Turns that could not be recorded at once, a file each.
    pub fn spool(&self) -> PathBuf {
        self.own().join("spool")
    }

    /// The names of the users of a memory on a server, for when the server is away.
    pub fn known_users(&self) -> PathBuf {
        self.own().join("users.json")
    }

    /// Which state.db the transcript is, where the database cannot say so itself.
    pub fn transcript_note(&self) -> PathBuf {
        self.own().join("transcript.json")
    }

    /// Why the model of background work did not answer the last time; not there if it did.
    pub fn model_trouble(&self) -> PathBuf {
        self.own().join("model.json")
    }

    /// Skills that wait for the user's word.
    pub fn pending_skills(&self) -> PathBuf {
        self.own().join("pending-skills")
    }

    /// Skills that were taken away, kept until someone removes them.
    pub fn deleted_skills(&self) -> PathBuf {
        self.own().join("deleted-skills")
    }

    /// Databases as they were before an upgrade, kept for a while.
    pub fn before_upgrade(&self) -> PathBuf {
        self.own().join("before-upgrade")
    }

    /// Sessions that were deleted, kept for a while.
    pub fn deleted_sessions(&self) -> PathBuf {
        self.own().join("deleted-sessions")
    }

    /// Which skills the user did not want.
    pub fn rejected_skills(&self) -> PathBuf {
        self.own().join("rejected-skills.json")
    }

    /// What stands for all skills when one program changes them and another waits.
    pub fn skills_guard(&self) -> PathBuf {
        self.own().join("skills")
    }

    /// Which sessions are pinned.
    pub fn pins(&self) -> PathBuf {
        self.own().join("pins.json")
    }

    /// The lock of the daemon: one for the root home with all its profiles.
    pub fn daemon_lock(&self) -> PathBuf {
        self.root.join(OWN).join("daemon.lock")
    }

    /// What the daemon last said about itself.
    pub fn daemon_state(&self) -> PathBuf {
        self.root.join(OWN).join("daemon.json")
    }

    /// The token of the owner for the HTTP API.
    pub fn api_token(&self) -> PathBuf {
        self.root.join(OWN).join("api-token")
    }

    /// Hashes of the other tokens, with what each allows.
    pub fn api_tokens(&self) -> PathBuf {
        self.root.join(OWN).join("tokens.json")
    }

    /// Codes that let somebody look at the dashboard once, as hashes.
    pub fn login_codes(&self) -> PathBuf {
        self.root.join(OWN).join("login")
    }

    /// Pages that lead a browser to the dashboard, each until it was used.
    pub fn login_doors(&self) -> PathBuf {
        self.root.join(OWN).join("open")
    }

    /// Those who may look at the dashboard, as hashes.
    pub fn visitors(&self) -> PathBuf {
        self.root.join(OWN).join("visitors")
    }

    /// The logs of the daemon, one for each day.
    pub fn logs(&self) -> PathBuf {
        self.root.join(OWN).join("logs")
    }

    /// Copies of what was brought in from another program.
    pub fn migration(&self) -> PathBuf {
        self.folder().join("migration")
    }

    /// Which agents are connected, and what was written into their files.
    pub fn integrations(&self) -> PathBuf {
        self.root.join(OWN).join("integrations.json")
    }

    /// Copies of the files of agents as they were before they were changed.
    pub fn integration_copies(&self) -> PathBuf {
        self.root.join(OWN).join("integrations")
    }

    /// What the hooks of agents did: the last event, how many, the last error.
    pub fn hook_counts(&self) -> PathBuf {
        self.root.join(OWN).join("hooks.json")
    }

    /// What a hook must know when the next one of the same session comes.
    pub fn hook_sessions(&self) -> PathBuf {
        self.own().join("hook-sessions")
    }

    /// Where backups go: beside the root home, so that losing the home does not lose them.
    pub fn backups(&self) -> PathBuf {
        let mut name = self.root.as_os_str().to_owned();
        name.push("-backups");
        name.into()
    }

    /// The folder of backups as the setting `backup.folder` names it; a relative path is beside the home.
    pub fn backups_at(&self, setting: Option<&str>, env: &Env) -> Result<PathBuf> {
        match setting.map(str::trim).filter(|path| !path.is_empty()) {
            None => Ok(self.backups()),
            Some(path) => {
                let beside = self.root.parent().unwrap_or(&self.root);
                Ok(beside.join(expand_tilde(path, env)?))
            }
        }
    }

    /// Who makes the scheduled backups of the root home, and how the last one went.
    pub fn backup_schedule(&self) -> PathBuf {
        self.root.join(OWN).join("backup-schedule.json")
    }
}

const OWN: &str = "hermesd";
/// The file that makes a folder a skill.
pub const SKILL_FILE: &str = "SKILL.md";

/// `~/x` with the user's folder in place of `~`.
pub fn expand_tilde(text: &str, env: &Env) -> Result<PathBuf> {
    let inside = match text.strip_prefix('~') {
        Some("") => "",
        Some(rest) if rest.starts_with('/') => &rest[1..],
        _ => return Ok(PathBuf::from(text)),
    };
    let user = env.user_folder()?.ok_or(Error::NoHome)?;
    Ok(if inside.is_empty() { user } else { user.join(inside) })
}

/// A profile name as typed; `default` means the root home.
pub fn parse_profile(text: &str) -> Result<Option<ProfileName>> {
    if text == DEFAULT_PROFILE { Ok(None) } else { text.parse().map(Some) }
}
