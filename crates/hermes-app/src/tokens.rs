//! Who may ask, and for what: the owner's token, and tokens with less.

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use anyhow::Context as _;
use hermes_home::{Home, atomic};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::problem::{Kind, Problem};

/// How a change is signed that came over the network with the owner's token.
pub const API: &str = "api";

/// What somebody may do who shows a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// What the token is called; `owner` is the owner's.
    pub name: String,
    /// Only this profile.
    pub profile: Option<String>,
    /// Only as this user.
    pub user: Option<String>,
    /// Whether nothing may be changed.
    pub read_only: bool,
}

impl Grant {
    /// Everything: for whoever can read the files of the home anyway.
    pub fn owner() -> Grant {
        Grant { name: OWNER.to_owned(), profile: None, user: None, read_only: false }
    }

    /// By whom a change was made that came with it, as the chain of changes says it.
    pub fn actor(&self) -> Cow<'static, str> {
        match self.name == OWNER {
            true => Cow::Borrowed(API),
            false => Cow::Owned(format!("{API}:{}", self.name)),
        }
    }
}

/// A token as it is kept: its hash, never itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// What it is called.
    pub name: String,
    hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// Only this profile.
    pub profile: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    /// Only as this user.
    pub user: Option<String>,
    /// Whether nothing may be changed.
    #[serde(default)]
    pub read_only: bool,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What a new token is to be.
#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Only this profile.
    pub profile: Option<String>,
    /// Only as this user.
    pub user: Option<String>,
    /// Whether nothing may be changed.
    pub read_only: bool,
    /// When it is made.
    pub now: Timestamp,
}

/// What the owner's token is called.
pub const OWNER: &str = "owner";
/// How every token begins, so that it is known for what it is where it turns up.
const MARK: &str = "hermes_";

/// The owner's token; it is made when there is none.
pub fn owner_token(home: &Home) -> anyhow::Result<String> {
    let path = home.api_token();
    match std::fs::read_to_string(&path) {
        Ok(text) if text.trim().len() >= MARK.len() + 32 => return Ok(text.trim().to_owned()),
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => {
            return Err(error).with_context(|| format!("could not read {}", path.display()));
        }
    }
    let token = new_token()?;
    atomic::write_private(&path, format!("{token}\n").as_bytes())?;
    Ok(token)
}

/// Makes a token and keeps its hash; this is the only time that it is seen.
pub fn create(home: &Home, wanted: &Wanted<'_>) -> anyhow::Result<String> {
    let mut all = kept(home)?;
    let is_taken = all.iter().any(|token| token.name == wanted.name) || wanted.name == OWNER;
    if is_taken {
        return Err(Problem::new(
            Kind::Refused,
            format!("there is already a token {}", wanted.name),
        )
        .hint(format!("revoke it with `hermes token revoke {}`", wanted.name))
        .into());
    }
    let token = new_token()?;
    all.push(Kept {
        name: wanted.name.to_owned(),
        hash: hash(&token),
        profile: wanted.profile.clone(),
        user: wanted.user.clone(),
        read_only: wanted.read_only,
        created_at: wanted.now,
    });
    write(home, &all)?;
    Ok(token)
}

/// Takes a token away.
pub fn revoke(home: &Home, name: &str) -> anyhow::Result<()> {
    if name == OWNER {
        std::fs::remove_file(home.api_token())
            .with_context(|| "could not remove the owner's token")?;
        owner_token(home)?;
        return Ok(());
    }
    let mut all = kept(home)?;
    let before = all.len();
    all.retain(|token| token.name != name);
    if all.len() == before {
        return Err(Problem::new(Kind::NotFound, format!("there is no token {name}"))
            .hint("`hermes token list` shows all tokens")
            .into());
    }
    write(home, &all)
}

/// Tokens for one user are another's from now on, because the one is the other.
pub fn rebind(home: &Home, from: &str, to: &str) -> anyhow::Result<()> {
    let mut all = kept(home)?;
    let mut theirs = all.iter_mut().filter(|token| token.user.as_deref() == Some(from)).peekable();
    if theirs.peek().is_none() {
        return Ok(());
    }
    theirs.for_each(|token| token.user = Some(to.to_owned()));
    write(home, &all)
}

/// Tokens that were another user's are theirs again, if they are still for whom they went to.
pub fn rebind_back(home: &Home, names: &[String], [from, to]: [&str; 2]) -> anyhow::Result<()> {
    let mut all = kept(home)?;
    for token in all.iter_mut().filter(|token| names.contains(&token.name)) {
        if token.user.as_deref() == Some(from) {
            token.user = Some(to.to_owned());
        }
    }
    if names.is_empty() { Ok(()) } else { write(home, &all) }
}

/// Every token but the owner's.
pub fn kept(home: &Home) -> anyhow::Result<Vec<Kept>> {
    let path = home.api_tokens();
    match std::fs::read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error).with_context(|| format!("could not read {}", path.display())),
        Ok(bytes) => {
            serde_json::from_slice(&bytes).with_context(|| format!("{} is damaged", path.display()))
        }
    }
}

fn write(home: &Home, all: &[Kept]) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(all)? + "\n";
    Ok(atomic::write_private(&home.api_tokens(), text.as_bytes())?)
}

fn new_token() -> anyhow::Result<String> {
    let mut bytes = [0_u8; 24];
    getrandom::fill(&mut bytes)
        .map_err(|error| anyhow::anyhow!("could not get random numbers: {error}"))?;
    Ok(format!("{MARK}{}", hex(&bytes)))
}

fn hash(token: &str) -> String {
    hex(&Sha256::digest(token.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The tokens of a home, read again when their files change.
pub struct Tokens {
    home: Home,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    stamp: Option<Stamp>,
    /// Hashes with what they allow.
    grants: Vec<(String, Grant)>,
}

type Stamp = [Option<(SystemTime, u64)>; 2];

impl Tokens {
    /// Those of this home; nothing is read yet.
    pub fn new(home: &Home) -> Tokens {
        Tokens { home: home.clone(), known: Mutex::default() }
    }

    /// What a token allows; none if it is not known. Hashes are compared, so time tells nothing.
    pub fn grant(&self, token: &str) -> anyhow::Result<Option<Grant>> {
        let stamp = [stamp(&self.home.api_token()), stamp(&self.home.api_tokens())];
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.stamp != Some(stamp) {
            known.grants = self.read()?;
            known.stamp = Some(stamp);
        }
        let shown = hash(token);
        Ok(known.grants.iter().find(|(hash, _)| *hash == shown).map(|(_, grant)| grant.clone()))
    }

    fn read(&self) -> anyhow::Result<Vec<(String, Grant)>> {
        let mut grants = vec![(hash(&owner_token(&self.home)?), Grant::owner())];
        for Kept { name, hash, profile, user, read_only, .. } in kept(&self.home)? {
            grants.push((hash, Grant { name, profile, user, read_only }));
        }
        Ok(grants)
    }
}

fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let found = path.metadata().ok()?;
    Some((found.modified().ok()?, found.len()))
}
