//! The name of an archive, which says what it holds, when it was made and how it is opened; names of what is not done.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;

/// What the name of a folder begins with that a run works in and takes away at its end.
pub(crate) const STAGING: &str = ".staging-";

/// What the name of an archive ends with until it is whole.
pub(crate) const PARTIAL: &str = ".partial";

/// How an archive is made smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compression {
    /// zstd, level 1: `tar --zstd -x` opens it.
    Zstd,
    /// gzip: `tar -xz` opens it everywhere.
    Gzip,
}

/// What an archive is encrypted with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Not at all.
    Plain,
    /// OpenPGP: `gpg --decrypt` opens it.
    Gpg,
    /// age: `age --decrypt` opens it.
    Age,
}

/// `hermes-<what>-<time>-<tag>[-DAMAGED].tar.<zst|gz>[.gpg|.age]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveName {
    /// `all`, or the name of the one profile in it.
    pub what: String,
    /// When it was begun, to the second.
    pub made: Timestamp,
    /// What tells two of one second apart.
    pub tag: u32,
    /// Whether a database in it was damaged: such a one never counts as a good backup.
    pub damaged: bool,
    /// How it is made smaller.
    pub compression: Compression,
    /// What it is encrypted with.
    pub format: Format,
}

impl ArchiveName {
    /// What a person types for it: `20261116T033000Z-1a2b3c4d`.
    pub fn id(&self) -> String {
        format!("{}-{:08x}", self.made.strftime("%Y%m%dT%H%M%SZ"), self.tag)
    }
}

impl fmt::Display for ArchiveName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let damaged = if self.damaged { "-DAMAGED" } else { "" };
        let compression = match self.compression {
            Compression::Zstd => "zst",
            Compression::Gzip => "gz",
        };
        let format = match self.format {
            Format::Plain => "",
            Format::Gpg => ".gpg",
            Format::Age => ".age",
        };
        write!(f, "hermes-{}-{}{damaged}.tar.{compression}{format}", self.what, self.id())
    }
}

/// A file name that no archive of ours has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotAName;

impl FromStr for ArchiveName {
    type Err = NotAName;

    fn from_str(text: &str) -> Result<ArchiveName, NotAName> {
        let (stem, format) = match (text.strip_suffix(".gpg"), text.strip_suffix(".age")) {
            (Some(stem), _) => (stem, Format::Gpg),
            (_, Some(stem)) => (stem, Format::Age),
            _ => (text, Format::Plain),
        };
        let (stem, compression) =
            match (stem.strip_suffix(".tar.zst"), stem.strip_suffix(".tar.gz")) {
                (Some(stem), _) => (stem, Compression::Zstd),
                (_, Some(stem)) => (stem, Compression::Gzip),
                _ => return Err(NotAName),
            };
        let (stem, damaged) = match stem.strip_suffix("-DAMAGED") {
            Some(stem) => (stem, true),
            None => (stem, false),
        };
        let mut parts = stem.strip_prefix("hermes-").ok_or(NotAName)?.rsplitn(3, '-');
        let (Some(tag), Some(made), Some(what)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(NotAName);
        };
        let hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        if tag.len() != 8 || !tag.chars().all(hex) || what.is_empty() {
            return Err(NotAName);
        }
        let made = jiff::civil::DateTime::strptime("%Y%m%dT%H%M%SZ", made)
            .and_then(|at| at.to_zoned(jiff::tz::TimeZone::UTC))
            .map_err(|_| NotAName)?
            .timestamp();
        let tag = u32::from_str_radix(tag, 16).map_err(|_| NotAName)?;
        let name = ArchiveName { what: what.to_owned(), made, tag, damaged, compression, format };
        // One way to write each name: what reads otherwise is none of ours.
        if name.to_string() == text { Ok(name) } else { Err(NotAName) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_name_reads_back_as_what_was_written(
            what in "[a-z][a-z0-9_-]{0,20}", second in 0i64..4_000_000_000, tag: u32,
            damaged: bool, gzip: bool, format in 0..3u8,
        ) {
            let name = ArchiveName {
                what,
                made: Timestamp::from_second(second).unwrap(),
                tag,
                damaged,
                compression: if gzip { Compression::Gzip } else { Compression::Zstd },
                format: [Format::Plain, Format::Gpg, Format::Age][usize::from(format)],
            };
            prop_assert_eq!(name.to_string().parse::<ArchiveName>(), Ok(name));
        }

        #[test]
        fn other_names_are_refused(text in "\\PC{0,60}") {
            if let Ok(name) = text.parse::<ArchiveName>() {
                prop_assert_eq!(name.to_string(), text);
            }
        }
    }

    #[test]
    fn a_partial_file_is_no_archive() {
        assert!("hermes-all-20261116T033000Z-1a2b3c4d.tar.zst.gpg".parse::<ArchiveName>().is_ok());
        for text in [
            "hermes-all-20261116T033000Z-1a2b3c4d.tar.zst.gpg.partial",
            "hermes-all-20261116T033000Z-1a2b3c4d.tar.zst.gpg.json",
            "hermes-20261116.tar.gz.gpg",
        ] {
            assert_eq!(text.parse::<ArchiveName>(), Err(NotAName), "{text}");
        }
    }
}
