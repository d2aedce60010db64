//! Names that become folder names: profiles, users and skills, checked once at the door.

use std::fmt;
use std::str::FromStr;

use unicode_normalization::{UnicodeNormalization as _, is_nfkc};

use crate::error::Error;

/// The name of a profile: `a-z`, `0-9`, `_` and `-`, at most 64 characters, not a reserved word.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct ProfileName(String);

/// The id of one person who talks to a shared agent; it names a folder below `memories/users`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct UserId(String);

/// The name of a skill and of its folder: `a-z`, `0-9`, `.`, `_` and `-`, at most 64 characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct SkillName(String);

/// The name under which the root home itself is shown as a profile.
pub const DEFAULT_PROFILE: &str = "default";

const RESERVED_PROFILES: &[&str] = &["hermes", DEFAULT_PROFILE, "test", "tmp", "root", "sudo"];
const LONGEST_PROFILE: usize = 64;
const LONGEST_USER: usize = 128;
const LONGEST_SKILL: usize = 64;
/// What counts as a letter and is not seen.
const INVISIBLE_LETTERS: &[char] = &['\u{115f}', '\u{1160}', '\u{3164}', '\u{ffa0}'];
/// File names that Windows keeps for devices, whatever their ending.
const DEVICES: &[&str] = &["con", "prn", "aux", "nul"];

impl ProfileName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl UserId {
    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl SkillName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProfileName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Display for UserId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for SkillName {
    type Err = Error;

    fn from_str(text: &str) -> Result<SkillName, Error> {
        match skill_fault(text) {
            None => Ok(SkillName(text.to_owned())),
            Some(why) => Err(Error::BadName { what: "skill", name: shorten(text), why }),
        }
    }
}

impl FromStr for ProfileName {
    type Err = Error;

    fn from_str(text: &str) -> Result<ProfileName, Error> {
        match profile_fault(text) {
            None => Ok(ProfileName(text.to_owned())),
            Some(why) => Err(Error::BadName { what: "profile", name: shorten(text), why }),
        }
    }
}

impl FromStr for UserId {
    type Err = Error;

    /// A letter that can be written in two ways, such as é, is kept in one of them.
    fn from_str(text: &str) -> Result<UserId, Error> {
        let id: String = text.nfc().collect();
        match user_fault(&id) {
            None => Ok(UserId(id)),
            Some(why) => Err(Error::BadName { what: "user", name: shorten(text), why }),
        }
    }
}

fn profile_fault(text: &str) -> Option<&'static str> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    if text.is_empty() {
        Some("it is empty")
    } else if text.len() > LONGEST_PROFILE {
        Some("it is longer than 64 characters")
    } else if !text.chars().all(allowed) {
        Some("use only a-z, 0-9, _ and -")
    } else if text.starts_with(['_', '-']) {
        Some("it must start with a letter or a digit")
    } else if RESERVED_PROFILES.contains(&text) {
        Some("that name is reserved")
    } else {
        device_fault(text)
    }
}

fn user_fault(text: &str) -> Option<&'static str> {
    let is_letter = |c: char| c.is_alphanumeric() && !INVISIBLE_LETTERS.contains(&c);
    let allowed = |c: char| is_letter(c) || matches!(c, '_' | '-' | '.' | '@' | '+');
    if text.is_empty() {
        Some("it is empty")
    } else if text.len() > LONGEST_USER {
        Some("it is longer than 128 bytes")
    } else if !text.chars().all(allowed) {
        Some("use only letters, digits and _ - . @ +")
    } else if !is_nfkc(text) {
        Some("it contains characters that stand for ordinary letters: use the ordinary ones")
    } else if !text.starts_with(is_letter) {
        Some("it must start with a letter or a digit")
    } else if text.ends_with('.') {
        Some("it must not end with a dot")
    } else {
        device_fault(text)
    }
}

/// Why a text cannot name a skill.
pub(crate) fn skill_fault(text: &str) -> Option<&'static str> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
    if text.is_empty() {
        Some("it is empty")
    } else if text.len() > LONGEST_SKILL {
        Some("it is longer than 64 characters")
    } else if !text.chars().all(allowed) {
        Some("use only a-z, 0-9, . _ and -")
    } else if text.starts_with(['.', '_', '-']) {
        Some("it must start with a letter or a digit")
    } else {
        None
    }
}

fn device_fault(text: &str) -> Option<&'static str> {
    let stem = text.split('.').next().unwrap_or(text).to_ascii_lowercase();
    let numbered = stem.len() == 4
        && (stem.starts_with("com") || stem.starts_with("lpt"))
        && stem.ends_with(|c: char| c.is_ascii_digit());
    (numbered || DEVICES.contains(&stem.as_str())).then_some("that name is reserved on Windows")
}

pub(crate) fn shorten(text: &str) -> String {
    const SHOWN: usize = 80;
    let mut short: String = text.chars().take(SHOWN).collect();
    if text.chars().nth(SHOWN).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ordinary_names_are_taken() {
        for name in ["coder", "a", "0", "work-2", "my_agent", &"x".repeat(64)] {
            assert!(name.parse::<ProfileName>().is_ok(), "{name}");
        }
        for id in ["alice", "U02ABC", "u-9", "a.b@c.org", "+4915112345"] {
            let ok = id.parse::<UserId>().is_ok();
            assert_eq!(ok, !id.starts_with('+'), "{id}");
        }
    }

    #[test]
    fn path_tricks_and_reserved_names_are_refused() {
        let long = "x".repeat(300);
        let tricks = [
            "",
            ".",
            "..",
            "../x",
            "/etc",
            "a/b",
            "a\\b",
            "a\0b",
            "~",
            "~root",
            "CON",
            "nul.md",
            "com1",
            "a b",
            "\u{202e}x",
            &long,
            "-rf",
            "_x",
            "x\n",
        ];
        for trick in tricks {
            assert!(trick.parse::<ProfileName>().is_err(), "profile {trick:?}");
            assert!(trick.parse::<UserId>().is_err(), "user {trick:?}");
        }
        assert!("ünï".parse::<ProfileName>().is_err());
        for reserved in RESERVED_PROFILES {
            assert!(reserved.parse::<ProfileName>().is_err(), "{reserved}");
        }
    }

    #[test]
    fn a_user_may_be_called_in_any_script_and_one_name_is_written_in_one_way() {
        for id in ["josé", "Łukasz", "дмитрий", "李雷", "محمد"] {
            assert_eq!(id.parse::<UserId>().unwrap().as_str(), id);
        }
        assert_eq!("jose\u{301}".parse::<UserId>().unwrap().as_str(), "josé");
        for trick in ["ａna", "ﬁn", "x\u{3164}", "a\u{200d}b", "a\u{301}\u{301}", "\u{feff}a", "½"]
        {
            assert!(trick.parse::<UserId>().is_err(), "{trick:?}");
        }
    }

    proptest! {
        #[test]
        fn a_taken_name_is_one_plain_path_part(text in any::<String>()) {
            let names = [
                text.parse::<ProfileName>().map(|name| name.to_string()).ok(),
                text.parse::<UserId>().map(|id| id.to_string()).ok(),
                text.parse::<SkillName>().map(|name| name.to_string()).ok(),
            ];
            for name in names.into_iter().flatten() {
                let parts: Vec<_> = std::path::Path::new(&name).components().collect();
                prop_assert!(matches!(parts[..], [std::path::Component::Normal(_)]));
            }
        }
    }
}
