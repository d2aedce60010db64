//! The recovery kit: a page to print, with which the backups can be opened without Hermes.

use std::fmt::Write;
use std::path::Path;

use jiff::Timestamp;
use pgp::composed::ArmorOptions;

use super::keyring::PublicKey;
use super::private;
use crate::name::Format;

/// What the page is about.
#[derive(Debug, Clone, Copy)]
pub struct Kit<'a> {
    /// The public keys whose private halves open the backups; none: a passphrase does.
    pub keys: &'a [PublicKey],
    /// A private key that is to be printed as well.
    pub private: Option<&'a [u8]>,
    /// The file that holds the passphrase; it is named, never read.
    pub passphrase_file: Option<&'a Path>,
    /// The fingerprint of the key that signs them.
    pub signed_by: Option<&'a str>,
    /// Where the backups are.
    pub backups: &'a Path,
    /// The places off this host that have copies.
    pub places: &'a [String],
    /// Today.
    pub now: Timestamp,
}

/// Everything a person needs on paper to open the backups one day: which keys, where they are, which commands.
pub fn kit(about: &Kit<'_>) -> String {
    let keys = about.keys;
    let mut page = format!(
        "HERMES BACKUP RECOVERY KIT\nmade on {}\n\n{WHAT}\nThe backups are in: {}\n",
        about.now.strftime("%Y-%m-%d"),
        about.backups.display()
    );
    for place in about.places {
        let _ = writeln!(page, "and copies at:      {place}");
    }
    if let Some(key) = about.signed_by {
        let _ = writeln!(page, "{SIGNED}    {key}");
    }
    page.push('\n');
    let by_phrase = keys.is_empty() || about.passphrase_file.is_some();
    page.push_str(&who_opens_them(keys, by_phrase));
    page.push_str(HOW);
    page.push_str(&commands(keys, by_phrase));
    page.push_str(&match about.private {
        Some(private) => secret_part(private),
        None if keys.is_empty() => String::new(),
        None => NO_SECRET.to_owned(),
    });
    if by_phrase {
        page.push_str(&no_passphrase(about.passphrase_file));
    }
    page
}

fn commands(keys: &[PublicKey], by_phrase: bool) -> String {
    let has = |format: Format| keys.iter().any(|key| key.format == format);
    let parts = [
        (has(Format::Gpg), GPG_KEY),
        (by_phrase, GPG_PASSPHRASE),
        (has(Format::Gpg) || by_phrase, GPG),
        (has(Format::Age), AGE_KEY),
        (by_phrase, AGE_PASSPHRASE),
        (true, AFTER),
        (!keys.is_empty(), "    hermes backup restore FILE --identity KEYFILE\n"),
        (by_phrase, "    hermes backup restore FILE --passphrase-file PHRASEFILE\n"),
        (true, "\n"),
    ];
    parts.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, text)| text).collect()
}

/// Where the passphrase is; the passphrase itself is never on the page.
fn no_passphrase(file: Option<&Path>) -> String {
    let mut text = "THE PASSPHRASE IS NOT ON THIS PAGE\n".to_owned();
    if let Some(file) = file {
        let _ = write!(
            text,
            "It is the first line of the file {}\non the machine that is backed up. If that \
             machine is lost, the file is lost too: store it\nelsewhere as well. PHRASEFILE is a \
             file of your own with the passphrase in its first line.\n",
            file.display()
        );
    }
    text + "Write down where else it is stored: _______________________________________________\n"
}

const WHAT: &str = "\
This page explains how to open the encrypted backups of a Hermes memory: conversations, memory
files, skills and settings. You do not need Hermes for that, only gpg or age, tar and zstd.
Keep this page away from the machine that is backed up.
";

const SIGNED: &str = "
They are signed. On a new machine Hermes shows the key of a backup before it restores it.
It must be this one; otherwise someone else made the backup:
";

const HOW: &str = "\
TO OPEN A BACKUP
Replace FILE with the archive. It unpacks to a folder .hermes in the current folder, so
start in an empty one:
    mkdir restored && cd restored
";

const GPG_KEY: &str = "
Archives that end in .gpg: import the private key once (KEYFILE is the file that contains it)
    gpg --import KEYFILE
";

const GPG_PASSPHRASE: &str = "
Archives that end in .gpg: gpg asks for the passphrase
";

const GPG: &str = "  and then, for .tar.zst.gpg
    gpg --decrypt FILE | tar --zstd -x
  for .tar.gz.gpg
    gpg --decrypt FILE | tar -xz
";

const AGE_KEY: &str = "
Archives that end in .age: KEYFILE is the file that contains the private key; for .tar.zst.age
    age --decrypt -i KEYFILE FILE | tar --zstd -x
  for .tar.gz.age
    age --decrypt -i KEYFILE FILE | tar -xz
";

const AGE_PASSPHRASE: &str = "
Archives that end in .age: age asks for the passphrase; for .tar.zst.age
    age --decrypt FILE | tar --zstd -x
  for .tar.gz.age
    age --decrypt FILE | tar -xz
";

const AFTER: &str = "
The command must end without an error. If an archive was changed or truncated, gpg and age
report it only at the very end; do not trust the content then.
With Hermes installed:
";

const NO_SECRET: &str = "\
THE PRIVATE KEY IS NOT ON THIS PAGE
Write down where it is stored: ______________________________________________________
and where its passphrase is, if it has one: _______________________________________
";

fn who_opens_them(keys: &[PublicKey], by_phrase: bool) -> String {
    let mut text = match (keys.is_empty(), by_phrase) {
        (true, _) => "They are opened with a passphrase.\n",
        (false, true) => {
            "New ones are opened with a passphrase, others with the private key of one of these:\n"
        }
        (false, false) => "They are opened with the private key that belongs to one of these:\n",
    }
    .to_owned();
    for key in keys {
        let kind = if key.format == Format::Age { "age    " } else { "OpenPGP" };
        let _ = writeln!(text, "    {kind}  {}  {}", grouped(&key.id), key.user);
        if let Some(end) = key.expires {
            let _ = writeln!(text, "             new backups until {}", end.strftime("%Y-%m-%d"));
        }
    }
    text + "\n"
}

/// A fingerprint in groups of four, as people read it out; a recipient as it is.
fn grouped(id: &str) -> String {
    if id.starts_with("age1") {
        return id.to_owned();
    }
    let digits: Vec<char> = id.chars().collect();
    digits.chunks(4).map(|four| four.iter().collect::<String>()).collect::<Vec<_>>().join(" ")
}

fn secret_part(private: &[u8]) -> String {
    let text = match std::str::from_utf8(private) {
        Ok(text) => text.trim_end().to_owned(),
        Err(_) => armoured(private).unwrap_or_else(|| {
            "(the key that was given is not text and cannot be printed)".to_owned()
        }),
    };
    format!(
        "THE PRIVATE KEY: anyone who has this page can read every backup\nType or scan it into a \
         file, which is KEYFILE above.\n\n{text}\n"
    )
}

fn armoured(private: &[u8]) -> Option<String> {
    let keys = private::pgp_keys(private).ok()?;
    keys.iter().map(|key| key.to_armored_string(ArmorOptions::default()).ok()).collect()
}

/// A word as a shell takes it unchanged.
pub(super) fn quoted(word: &str) -> String {
    let plain = |one: char| one.is_ascii_alphanumeric() || "/._-@:+=".contains(one);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}
