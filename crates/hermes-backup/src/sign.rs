//! The signing key of a home: by it an archive says who made it, to whoever has nothing but the archive.
//!
//! The private key is in the home, readable by its owner alone, and in no backup. Whoever can write to the folder of
//! backups or to a place off this host can delete archives, but can make none that counts.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use hermes_home::{Home, atomic};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::hash::hex;
use crate::manifest::{Manifest, Mark, Previous, Sidecar};
use crate::{Error, Result};

/// The private key, in the home's own folder.
pub(crate) const KEY: &str = "backup-signing.key";

/// The public keys that this home signed with, and the newest backup that it made.
const KNOWN: &str = "backup-signers.json";

/// How far ahead of the clock a backup may be: clocks differ, and zones are forgotten.
pub(crate) const AHEAD: SignedDuration = SignedDuration::from_hours(24);

/// Who signed an archive, as the home that asks sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signed {
    /// This home, with its key or one that it had before.
    Ours,
    /// Another home: the fingerprint of its key.
    Other(String),
    /// Nobody.
    No,
    /// There is a signature, and it does not fit.
    Broken,
}

impl Signed {
    /// The same in words.
    pub fn said(&self) -> String {
        match self {
            Signed::Ours => "signed by this home".to_owned(),
            Signed::Other(key) => format!("signed by another home, key {key}"),
            Signed::No => "not signed".to_owned(),
            Signed::Broken => "its signature does not match".to_owned(),
        }
    }
}

/// Whose archives a restore takes.
#[derive(Debug, Clone, Copy)]
pub enum Trust<'a> {
    /// Anybody's: a person said so, or nothing of a home is replaced.
    Anybody,
    /// Those of this home.
    Home(&'a Signers),
    /// Those of this home, and those signed with the key of this fingerprint, which a person compared.
    Compared(&'a Signers, &'a str),
}

impl Trust<'_> {
    /// Who signed something, as the home that asks sees it.
    pub(crate) fn look(&self, mark: Option<&Mark>, text: &[u8]) -> Signed {
        match self {
            Trust::Anybody => Signers::default().look(mark, text),
            Trust::Home(signers) | Trust::Compared(signers, _) => signers.look(mark, text),
        }
    }

    /// Fails where none of these signatures is of somebody whose archives are taken. One that does not fit is refused
    /// from everybody.
    pub(crate) fn must_take(&self, archive: &Path, signed: &[Signed]) -> Result<()> {
        let what = archive.display().to_string();
        if signed.contains(&Signed::Broken) {
            let why = "its signature does not match".to_owned();
            return Err(Error::Tampered { what, why });
        }
        let is_taken = |one: &Signed| match (self, one) {
            (Trust::Anybody, _) | (_, Signed::Ours) => true,
            (Trust::Compared(_, wanted), Signed::Other(key)) => same_fingerprint(wanted, key),
            _ => false,
        };
        if signed.iter().any(is_taken) {
            return Ok(());
        }
        let other = signed.iter().find_map(|one| match one {
            Signed::Other(fingerprint) => Some(fingerprint.clone()),
            _ => None,
        });
        match other {
            Some(fingerprint) => Err(Error::OtherSigner { what, fingerprint }),
            None => Err(Error::NotSigned { what }),
        }
    }
}

/// Fails for an archive that says it was made later than now.
pub(crate) fn must_be_past(archive: &Path, made: Timestamp, now: Timestamp) -> Result<()> {
    if now.duration_until(made) > AHEAD {
        return Err(Error::Ahead { what: archive.display().to_string(), made });
    }
    Ok(())
}

/// The keys of a home.
#[derive(Debug, Clone, Default)]
pub struct Signers {
    own: Option<SigningKey>,
    known: Known,
    /// The home they are of; none where nothing is signed or checked.
    home: Option<Home>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Known {
    /// The public keys, in hexadecimal digits; the last is the present one.
    #[serde(default)]
    keys: Vec<String>,
    /// The newest backup of this home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<Previous>,
    /// The folder it was put into.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folder: Option<PathBuf>,
}

impl Signers {
    /// The keys of a home; none where it has none yet. Nothing is made.
    pub fn read(home: &Home) -> Result<Signers> {
        let home = home.sibling(None);
        let (key, known) = (home.own().join(KEY), home.own().join(KNOWN));
        let own = match read(&key)? {
            None => None,
            Some(text) => Some(seed(&text).ok_or_else(|| Error::Setting {
                what: key.display().to_string(),
                why: "it is not a signing key for backups".to_owned(),
            })?),
        };
        let known: Known = match read(&known)? {
            None => Known::default(),
            Some(text) => serde_json::from_str(&text)
                .map_err(|error| Error::file("read", &known, error.into()))?,
        };
        let mut signers = Signers { own, known, home: Some(home) };
        signers.know_own();
        Ok(signers)
    }

    /// Makes a key for a home that has none.
    pub(crate) fn make_own(&mut self, home: &Home, random: [u8; 32]) -> Result<()> {
        let key = SigningKey::from_bytes(&random);
        let path = home.sibling(None).own().join(KEY);
        if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
            atomic::make_folder(folder)?;
        }
        atomic::write_private(&path, format!("{}\n", hex(&key.to_bytes())).as_bytes())?;
        self.own = Some(key);
        self.know_own();
        Ok(())
    }

    /// Whether this home can tell its archives from others.
    pub fn is_any(&self) -> bool {
        !self.known.keys.is_empty()
    }

    /// Whether this home has made a backup that it signed.
    pub fn has_made_any(&self) -> bool {
        self.known.last.is_some()
    }

    /// The newest backup that this home made, if it was put into this folder.
    pub fn last_in(&self, folder: &Path) -> Option<&Previous> {
        let is_here = self.known.folder.as_deref() == Some(folder);
        self.known.last.as_ref().filter(|_| is_here)
    }

    /// The fingerprint of the present key, as it stands on the recovery kit.
    pub fn fingerprint(&self) -> Option<String> {
        self.own.as_ref().map(|own| fingerprint(own.verifying_key().as_bytes()))
    }

    /// Signs something; nothing where there is no key.
    pub(crate) fn sign(&self, text: &[u8]) -> Option<Mark> {
        let own = self.own.as_ref()?;
        let signature = hex(&own.sign(text).to_bytes());
        Some(Mark { key: hex(own.verifying_key().as_bytes()), signature })
    }

    /// Who signed something.
    pub(crate) fn look(&self, mark: Option<&Mark>, text: &[u8]) -> Signed {
        let Some(mark) = mark else { return Signed::No };
        let fits = || -> Option<VerifyingKey> {
            let key = VerifyingKey::from_bytes(&bytes(&mark.key)?).ok()?;
            let signature = Signature::from_bytes(&bytes(&mark.signature)?);
            key.verify_strict(text, &signature).ok().map(|()| key)
        };
        match fits() {
            None => Signed::Broken,
            Some(key) if self.known.keys.contains(&hex(key.as_bytes())) => Signed::Ours,
            Some(key) => Signed::Other(fingerprint(key.as_bytes())),
        }
    }

    /// Who signed what stands beside an archive.
    pub(crate) fn look_beside(&self, sidecar: Option<&Sidecar>) -> Signed {
        sidecar.map_or(Signed::No, |one| self.look(one.signed.as_ref(), &beside(one)))
    }

    /// Notes the newest backup that this home made.
    pub(crate) fn note_last(&self, last: Option<Previous>, folder: &Path) -> Result<()> {
        let Some(home) = self.home.as_ref().filter(|_| self.own.is_some()) else { return Ok(()) };
        let mut now = Signers::read(home)?;
        now.set_last(last, folder);
        now.write()
    }

    pub(crate) fn set_last(&mut self, last: Option<Previous>, folder: &Path) {
        self.known.last = last;
        self.known.folder = Some(folder.to_owned());
    }

    fn know_own(&mut self) {
        let Some(own) = &self.own else { return };
        let public = hex(own.verifying_key().as_bytes());
        if self.known.keys.last() != Some(&public) {
            self.known.keys.retain(|key| *key != public);
            self.known.keys.push(public);
        }
    }

    pub(crate) fn write(&self) -> Result<()> {
        let Some(home) = &self.home else { return Ok(()) };
        let path = home.own().join(KNOWN);
        let text = serde_json::to_vec_pretty(&self.known)
            .map_err(|error| Error::file("write to", &path, error.into()))?;
        Ok(atomic::write_private(&path, &text)?)
    }
}

/// What belongs to this home and is in no backup goes along when another state takes its place: the key, and whose
/// archives are taken. A state that nobody vouches for brings no keys of its own.
pub(crate) fn carry(home: &Home, unpacked: &Path, is_trusted: bool) -> Result<()> {
    let present = home.sibling(None);
    let coming = Home::in_folder(unpacked, None);
    if !is_trusted {
        remove(&coming.own().join(KNOWN))?;
    }
    remove(&coming.own().join(KEY))?;
    let mut signers = Signers::read(&present)?;
    if !signers.is_any() {
        return Ok(());
    }
    let brought = Signers::read(&coming)?;
    let mut keys = brought.known.keys;
    keys.retain(|key| !signers.known.keys.contains(key));
    keys.append(&mut signers.known.keys);
    signers.known.keys = keys;
    atomic::make_folder(&coming.own())?;
    if let Some(own) = &signers.own {
        let text = format!("{}\n", hex(&own.to_bytes()));
        atomic::write_private(&coming.own().join(KEY), text.as_bytes())?;
    }
    Signers { home: Some(coming), ..signers }.write()
}

/// What is signed of the list inside an archive.
pub(crate) fn inside(manifest: &Manifest) -> Result<Vec<u8>> {
    let bare = Manifest { signed: None, ..manifest.clone() };
    let mut text = b"hermes backup, the list inside, form 1\n".to_vec();
    serde_json::to_writer(&mut text, &bare)
        .map_err(|error| Error::file("write", Path::new("the list"), error.into()))?;
    Ok(text)
}

/// What is signed of the short list beside an archive.
pub(crate) fn beside(sidecar: &Sidecar) -> Vec<u8> {
    let Sidecar { id, archive, sha256, size, made, home, previous, damaged, .. } = sidecar;
    let home = home.as_deref().unwrap_or("-");
    let (before, hash) =
        previous.as_ref().map_or(("-", "-"), |one| (one.id.as_str(), one.sha256.as_str()));
    format!(
        "hermes backup, the list beside, form 1\nid {id}\narchive {archive}\nsha256 {sha256}\nsize {size}\n\
         made {made}\nhome {home}\nprevious {before} {hash}\ndamaged {damaged}\n"
    )
    .into_bytes()
}

/// Sixteen bytes in groups of four digits, as people read them out.
fn fingerprint(public: &[u8; 32]) -> String {
    let hash = hex(&Sha256::digest(public)[..16]);
    let groups: Vec<&str> =
        (0..hash.len()).step_by(4).filter_map(|at| hash.get(at..at + 4)).collect();
    groups.join("-")
}

/// Whether two ways to write a fingerprint are the same one.
fn same_fingerprint(one: &str, other: &str) -> bool {
    let plain = |text: &str| -> String {
        text.chars().filter(char::is_ascii_hexdigit).collect::<String>().to_ascii_lowercase()
    };
    !plain(one).is_empty() && plain(one) == plain(other)
}

fn seed(text: &str) -> Option<SigningKey> {
    bytes::<32>(text.trim()).map(|seed| SigningKey::from_bytes(&seed))
}

/// The bytes that hexadecimal digits stand for, if there are just so many.
fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != 2 * N || !text.is_ascii() {
        return None;
    }
    let mut found = [0; N];
    for (place, byte) in found.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * place..2 * place + 2)?, 16).ok()?;
    }
    Some(found)
}

fn read(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::file("read", path, error)),
        Ok(text) => Ok(Some(text)),
    }
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::file("remove", path, error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signers(seed: u8) -> Signers {
        let mut made =
            Signers { own: Some(SigningKey::from_bytes(&[seed; 32])), ..Signers::default() };
        made.know_own();
        made
    }

    #[test]
    fn a_signature_tells_who_made_it_and_that_nothing_was_changed() {
        let (ours, theirs) = (signers(1), signers(2));
        let mark = ours.sign(b"text").unwrap();
        assert_eq!(ours.look(Some(&mark), b"text"), Signed::Ours);
        assert_eq!(ours.look(Some(&mark), b"texts"), Signed::Broken);
        assert_eq!(theirs.look(Some(&mark), b"text"), Signed::Other(ours.fingerprint().unwrap()));
        assert_eq!(ours.look(None, b"text"), Signed::No);
        let other = Mark { key: theirs.sign(b"text").unwrap().key, ..mark };
        assert_eq!(ours.look(Some(&other), b"text"), Signed::Broken);
        let garbage = Mark { key: "zz".to_owned(), signature: String::new() };
        assert_eq!(ours.look(Some(&garbage), b"text"), Signed::Broken);
    }

    #[test]
    fn a_fingerprint_is_compared_as_people_write_it() {
        let fingerprint = signers(1).fingerprint().unwrap();
        assert_eq!(fingerprint.len(), 39, "{fingerprint}");
        assert!(same_fingerprint(&fingerprint.to_uppercase().replace('-', " "), &fingerprint));
        assert!(
            !same_fingerprint("", &fingerprint)
                && !same_fingerprint(&fingerprint[..20], &fingerprint)
        );
    }

    #[test]
    fn what_is_taken_is_decided_by_the_best_of_the_signatures() {
        let ours = signers(1);
        let archive = Path::new("a");
        let other = Signed::Other("ab12".to_owned());
        let home = Trust::Home(&ours);
        home.must_take(archive, &[Signed::No, Signed::Ours]).unwrap();
        assert!(matches!(home.must_take(archive, &[Signed::No]), Err(Error::NotSigned { .. })));
        let refused = home.must_take(archive, &[Signed::No, other.clone()]);
        assert!(matches!(refused, Err(Error::OtherSigner { .. })));
        Trust::Compared(&ours, "AB-12").must_take(archive, &[other]).unwrap();
        for trust in [home, Trust::Anybody] {
            let refused = trust.must_take(archive, &[Signed::Ours, Signed::Broken]);
            assert!(matches!(refused, Err(Error::Tampered { .. })));
        }
    }
}
