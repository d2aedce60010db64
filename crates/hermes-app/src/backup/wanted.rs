//! What the settings say of backups: where they are, how they are encrypted, how many stay, where they go.

use std::path::{Path, PathBuf};

use hermes_backup::contents::{self, Choice, Scope};
use hermes_backup::folder::{Backup as BackupFile, Folder, Happened, real};
use hermes_backup::name::{ArchiveName, Compression};
use hermes_backup::remote::{self, Remote, S3Keys, Target};
use hermes_backup::retention::Policy;
use hermes_backup::seal::{Passphrase, Sealing, keyring};
use hermes_backup::sign::Signers;
use hermes_home::config::{self, ArchiveCompression, Backup, PassphraseFormat, Unknown};
use hermes_home::layout::{ChosenBy, expand_tilde};
use hermes_home::{Home, profile};

use super::on_server::{self, Dump, Taken};
use crate::app::App;
use crate::platform;
use crate::problem::{Kind, Problem, message};
use crate::variables::{AUTHORITIES, Variables};

/// `hermes 0.1.0`
pub const MADE_BY: &str = concat!("hermes ", env!("CARGO_PKG_VERSION"));

/// The root home, its settings of backups, and the folder they are kept in.
pub struct Wanted {
    /// The root home.
    pub home: Home,
    /// What its settings say of backups.
    pub settings: Backup,
    /// Where they are kept.
    pub folder: Folder,
}

/// Reads what the settings say; `to` names another folder for this command.
pub fn read(app: &App, to: Option<&Path>) -> anyhow::Result<Wanted> {
    let home = app.root_home()?;
    let settings = match home.folder().is_dir() {
        // Whoever restores on a new machine has no settings yet.
        false => Backup::default(),
        true => app.config(&home)?.config.backup.clone(),
    };
    with(app, home, settings, to)
}

/// The same for whoever brings something back: settings that cannot be read may be what is to be brought back.
pub fn read_anyway(app: &App, to: Option<&Path>) -> anyhow::Result<Wanted> {
    match read(app, to) {
        Ok(wanted) => Ok(wanted),
        Err(error) => {
            let home = app.root_home()?;
            app.note(format_args!("continuing without the settings: {}", message(&error)));
            with(app, home, Backup::default(), to)
        }
    }
}

fn with(app: &App, home: Home, settings: Backup, to: Option<&Path>) -> anyhow::Result<Wanted> {
    let path = match (to, settings.folder.as_deref()) {
        (Some(to), _) => std::path::absolute(to)?,
        (None, Some(said)) => home.folder().join(expand_tilde(said, &app.env)?),
        (None, None) => beside(home.root()),
    };
    let folder = Folder::at(&path).of_home(app.for_profile(&home).home_id(&home));
    let signers = signers(app, &home, &folder);
    Ok(Wanted { folder: folder.signed_by(signers), home, settings })
}

/// The keys of the home. One that made backups before it had any gets its key now, and signs what its own history
/// tells of.
fn signers(app: &App, home: &Home, folder: &Folder) -> Signers {
    let signers = match Signers::read(home) {
        Ok(signers) => signers,
        // Whoever brings something back must not need it; a new backup is not made without.
        Err(error) => {
            app.note(format_args!("continuing without the signing key of backups: {error}"));
            return Signers::default();
        }
    };
    let history = folder.history().unwrap_or_default();
    let has_made = history.iter().any(|event| event.what == Happened::Created);
    if signers.is_any() || !home.own().is_dir() || !has_made {
        return signers;
    }
    // A home that cannot be written to can still be looked at.
    let begun = platform::random_seed().ok();
    let begun = begun.and_then(|seed| Signers::begin(home, folder, seed, &mut |_| {}).ok());
    begun.unwrap_or(signers)
}

/// The folder of backups of a home: beside it, never in it.
fn beside(root: &Path) -> PathBuf {
    let mut name = root.file_name().unwrap_or_default().to_owned();
    name.push("-backups");
    root.with_file_name(name)
}

/// What is asked for: everything, unless a profile was named on the command line.
pub fn scope(app: &App, all: bool) -> anyhow::Result<Scope> {
    let home = app.home()?;
    match home.chosen_by() {
        ChosenBy::Flag if !all => Ok(Scope::Profile(home.profile_name().to_owned())),
        _ => Ok(Scope::All),
    }
}

impl Wanted {
    /// Makes the key that signs backups, if the home has none yet.
    pub fn begin_signing(&mut self) -> anyhow::Result<()> {
        if self.folder.signers().fingerprint().is_none() {
            let seed = platform::random_seed()?;
            let signers = Signers::begin(&self.home, &self.folder, seed, &mut |_| {})?;
            self.folder = self.folder.clone().signed_by(signers);
        }
        Ok(())
    }

    /// Writes a setting of the root home.
    pub fn set(&self, app: &mut App, key: &str, value: &str) -> anyhow::Result<()> {
        config::write_setting(&self.home, app.owner(&self.home)?, key, value, Unknown::Refuse)?;
        app.settings_changed();
        Ok(())
    }

    /// Writes a list as a setting of the root home.
    pub fn set_list(&self, app: &mut App, key: &str, values: &[String]) -> anyhow::Result<()> {
        self.set(app, key, &serde_json::to_string(values)?)
    }

    /// Takes a setting of the root home away.
    pub fn unset(&self, app: &mut App, key: &str) -> anyhow::Result<()> {
        config::clear_setting(&self.home, app.owner(&self.home)?, key, Unknown::Refuse)?;
        app.settings_changed();
        Ok(())
    }

    /// Where public keys are kept.
    pub fn keys(&self) -> PathBuf {
        self.home.own().join("keys")
    }

    /// How archives are compressed.
    pub fn compression(&self) -> Compression {
        match self.settings.compression {
            ArchiveCompression::Zstd => Compression::Zstd,
            ArchiveCompression::Gzip => Compression::Gzip,
        }
    }

    /// The encryption of the settings; none if nothing is set up.
    pub fn sealing(&self, app: &App) -> anyhow::Result<Option<Sealing>> {
        if !self.settings.recipients.is_empty() {
            let found = keyring::sealing_to(&self.keys(), &self.settings.recipients, app.now)?;
            return Ok(Some(found));
        }
        let Some(passphrase) = self.passphrase(app)? else { return Ok(None) };
        Ok(Some(with_passphrase(passphrase, self.settings.passphrase_format)))
    }

    /// The passphrase whose file the settings name.
    pub fn passphrase(&self, app: &App) -> anyhow::Result<Option<Passphrase>> {
        let Some(path) = self.passphrase_file(app)? else { return Ok(None) };
        Ok(Some(Passphrase::from_file(&path)?))
    }

    /// The file that the settings name for the passphrase.
    pub fn passphrase_file(&self, app: &App) -> anyhow::Result<Option<PathBuf>> {
        let Some(said) = self.settings.passphrase_file.as_deref() else { return Ok(None) };
        Ok(Some(self.home.folder().join(expand_tilde(said, &app.env)?)))
    }

    /// Refuses a file for what opens the backups that is in the home or beside the archives: whoever finds those
    /// would find it too, and whoever loses those would lose it too.
    pub fn refuse_secret_at(&self, file: &Path, what: &str) -> anyhow::Result<()> {
        let file = real(file);
        let refused = |why: &str| {
            Problem::new(Kind::Refused, format!("{what} must not be in {}: {why}", file.display()))
                .hint(
                    "put it on a disk that you take away, or at least in another folder of your \
                     own, such as ~/keys",
                )
        };
        if file.starts_with(real(self.home.root())) {
            return Err(refused("that is inside the home that is backed up").into());
        }
        if file.starts_with(real(self.folder.path())) {
            return Err(refused("that is beside the archives").into());
        }
        for target in self.targets(None)? {
            if let remote::Kind::Folder(place) = &target.kind
                && file.starts_with(real(place))
            {
                return Err(refused("that is beside the copies of the archives").into());
            }
        }
        Ok(())
    }

    /// Which backups stay here.
    pub fn policy(&self) -> anyhow::Result<Policy> {
        let settings = &self.settings;
        Ok(Policy {
            last: settings.keep_last,
            hourly: settings.keep_hourly,
            daily: settings.keep_daily,
            weekly: settings.keep_weekly,
            monthly: settings.keep_monthly,
            yearly: settings.keep_yearly,
            within: settings.keep_within.as_deref().map(str::parse).transpose()?,
        })
    }

    /// The backup that is meant: one of the folder, or a file anywhere. The second is whether it is of the folder.
    pub fn backup(&self, said: &str) -> anyhow::Result<(BackupFile, bool)> {
        let file = Path::new(said);
        if !file.is_file() {
            if said.contains('/') {
                let why = "there is no such file".to_owned();
                return Err(hermes_backup::Error::NotFound { id: said.to_owned(), why }.into());
            }
            return Ok((self.folder.find(said)?, true));
        }
        let absolute = std::path::absolute(file)?;
        let parent = absolute.parent().unwrap_or(Path::new("/"));
        let name = absolute.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.parse::<ArchiveName>().is_err() {
            let why = "its name is not that of a backup, such as hermes-all-20261116T033000Z-1a2b3c4d.tar.zst.gpg";
            return Err(
                hermes_backup::Error::NotArchive { path: absolute, why: why.to_owned() }.into()
            );
        }
        let folder = Folder::at(parent)
            .of_home(self.folder.home().map(str::to_owned))
            .signed_by(self.folder.signers().clone());
        Ok((folder.find(&name)?, is_same(parent, self.folder.path())))
    }

    /// The places off this host, or the one that is named.
    pub fn targets(&self, named: Option<&str>) -> anyhow::Result<Vec<Target>> {
        let mut targets = Vec::new();
        for text in &self.settings.targets {
            targets.push(remote::parse(text)?);
        }
        let Some(named) = named else { return Ok(targets) };
        if let Some(target) = targets.into_iter().find(|one| one.name == named) {
            return Ok(vec![target]);
        }
        Ok(vec![remote::parse(named)?])
    }

    /// Opens a place; the keys of a bucket are in the environment or in `.env`.
    pub fn remote(&self, app: &App, target: &Target) -> anyhow::Result<Box<dyn Remote>> {
        let variables = Variables::read(&app.env, &self.home)?;
        let id = variables.value("AWS_ACCESS_KEY_ID");
        let secret = variables.value("AWS_SECRET_ACCESS_KEY");
        let keys = id.zip(secret).map(|(id, secret)| S3Keys {
            id,
            secret: secret.into(),
            token: variables.value("AWS_SESSION_TOKEN").map(Into::into),
            authorities: variables.value(AUTHORITIES).map(PathBuf::from),
        });
        Ok(remote::open(target, keys.as_ref())?)
    }

    /// The links to folders of the home that no backup follows.
    pub fn links_left_out(&self) -> anyhow::Result<Vec<String>> {
        let Backup { exclude, follow_links, .. } = &self.settings;
        let choice = Choice { exclude, outside: &[], follow_links: *follow_links, secrets: true };
        Ok(contents::links_left_out(&self.home, &choice)?)
    }

    /// Databases of memories that the settings of a profile keep outside of the home. A memory on a server comes as a
    /// twin in a file, which any home can be given, and as a dump if one is wanted; a plan does without both.
    pub fn outside(&self, app: &App, scope: &Scope, dump: Option<Dump>) -> anyhow::Result<Outside> {
        let mut found = Outside::default();
        let names = profile::list(&self.home)?;
        for name in [None].into_iter().chain(names.into_iter().map(Some)) {
            let home = self.home.sibling(name.clone());
            if matches!(scope, Scope::Profile(wanted) if wanted != home.profile_name()) {
                continue;
            }
            let own = app.for_profile(&home);
            let below = match &name {
                None => "memory.db".to_owned(),
                Some(name) => format!("profiles/{name}/memory.db"),
            };
            if own.is_on_server(&home)? {
                if let Some(dump) = dump {
                    found.take(&own, &home, &below, dump)?;
                }
                continue;
            }
            let path = own.memory_path(&home)?;
            if path.starts_with(self.home.root()) {
                continue;
            }
            if !path.exists() {
                let place = path.display();
                app.note(format_args!("memory.path is {place}, which does not exist"));
                continue;
            }
            found.files.push((below, path));
        }
        Ok(found)
    }
}

/// What is kept outside of the home, under the path it gets in an archive.
#[derive(Default)]
pub struct Outside {
    /// Files outside of the home that belong to it, by their names in the archive.
    pub files: Vec<(String, PathBuf)>,
    /// What was taken from servers.
    pub taken: Vec<Taken>,
    /// The folders of twins, which are gone with this.
    _scratch: Vec<tempfile::TempDir>,
}

impl Outside {
    /// Everything that the server has of a profile, as it was at one moment, in files.
    fn take(&mut self, app: &App, home: &Home, below: &str, dump: Dump) -> anyhow::Result<()> {
        let folder = tempfile::tempdir()?;
        let taken = on_server::take(app, home, folder.path(), dump)?;
        let beside = below.strip_suffix("memory.db").unwrap_or_default();
        for name in taken.files() {
            self.files.push((format!("{beside}{name}"), folder.path().join(name)));
        }
        self.taken.push(taken);
        self._scratch.push(folder);
        Ok(())
    }
}

/// Whether two paths lead to one folder.
fn is_same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// Encryption with a passphrase.
pub fn with_passphrase(passphrase: Passphrase, format: PassphraseFormat) -> Sealing {
    match format {
        PassphraseFormat::Gpg => Sealing::GpgPassphrase(passphrase),
        PassphraseFormat::Age => Sealing::AgePassphrase(passphrase),
    }
}
