//! The recovery kit: a page to print, with which the backups can be opened without Hermes.

use std::fmt::Write;
use std::path::Path;

use jiff::Timestamp;
use pgp::composed::ArmorOptions;

use super::keyring::PublicKey;
use super::private;
use crate::name::Format;

/// Everything a person needs on paper to open the backups one day: which keys, where they are, which commands.
pub fn kit(keys: &[PublicKey], private: Option<&[u8]>, backups: &Path, now: Timestamp) -> String {
    let mut page = format!(
        "HERMES BACKUP RECOVERY KIT\nmade on {}\n\n{WHAT}\nThe backups are in: {}\n\n",
        now.strftime("%Y-%m-%d"),
        backups.display()
    );
    page.push_str(&who_opens_them(keys));
    let has = |format: Format| keys.is_empty() || keys.iter().any(|key| key.format == format);
    page.push_str(HOW);
    if has(Format::Gpg) {
        page.push_str(if keys.is_empty() { GPG_PASSPHRASE } else { GPG_KEY });
        page.push_str(GPG);
    }
    if has(Format::Age) {
        page.push_str(if keys.is_empty() { AGE_PASSPHRASE } else { AGE_KEY });
    }
    page.push_str(AFTER);
    page.push_str(&private.map_or_else(|| NO_SECRET.to_owned(), secret_part));
    page
}

const WHAT: &str = "\
This page says how to open the encrypted backups of a Hermes memory: conversations, memory
files, skills and settings. No Hermes is needed for it, only gpg or age, tar and zstd.
Keep it away from the machine that is backed up.
";

const HOW: &str = "\
TO OPEN A BACKUP
Replace FILE by the archive. What comes out is a folder .hermes in the present folder, so
begin in an empty one:
    mkdir restored && cd restored
";

const GPG_KEY: &str = "
Archives that end in .gpg: read in the private key once (KEYFILE is the file it is kept in)
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
Archives that end in .age: KEYFILE is the file the private key is kept in; for .tar.zst.age
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
The command must end without an error: gpg and age complain at the very end if an archive
was changed or cut short. Then the content must not be trusted.
With Hermes at hand:
    hermes backup restore FILE --identity KEYFILE

";

const NO_SECRET: &str = "\
THE PRIVATE KEY IS NOT ON THIS PAGE
Write down where it is kept: ______________________________________________________
and where its passphrase is, if it has one: _______________________________________
";

fn who_opens_them(keys: &[PublicKey]) -> String {
    if keys.is_empty() {
        return "They are opened by a passphrase.\n\n".to_owned();
    }
    let mut text = "They are opened by the private key that belongs to one of these:\n".to_owned();
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
        "THE PRIVATE KEY: whoever has this page can read every backup\n\
         Type or scan it into a file, which is KEYFILE above.\n\n{text}\n"
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
