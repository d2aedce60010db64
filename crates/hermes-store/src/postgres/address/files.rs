//! What libpq's own files say: a service of pg_service.conf, a password of .pgpass.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::text::Pairs;
use super::{Surroundings, Warning, bad, bad_with_hint};
use crate::{Error, Result};

/// Where Debian keeps the services of everybody.
const SYSTEM_FOLDER: &str = "/etc/postgresql-common";

/// Who asks for a password.
pub(super) struct Asker<'a> {
    pub(super) host: &'a str,
    pub(super) port: u16,
    pub(super) database: &'a str,
    pub(super) user: &'a str,
}

/// What the service called `name` says, from the user's file or the system's.
pub(super) fn service(name: &str, around: &Surroundings<'_>) -> Result<Pairs> {
    for path in service_files(around) {
        let Some(text) = text_of(&path)? else { continue };
        if let Some(pairs) = service_in(&text, name)? {
            return Ok(pairs);
        }
    }
    Err(bad_with_hint(
        &format!("there is no service called {name}"),
        "write a section [name] into ~/.pg_service.conf, or give the host",
    ))
}

fn service_files(around: &Surroundings<'_>) -> Vec<PathBuf> {
    let own = match (around.variable)("PGSERVICEFILE") {
        Some(path) => Some(PathBuf::from(path)),
        None => around.home.map(|home| home.join(".pg_service.conf")),
    };
    let system = (around.variable)("PGSYSCONFDIR").unwrap_or_else(|| SYSTEM_FOLDER.to_owned());
    own.into_iter().chain([Path::new(&system).join("pg_service.conf")]).collect()
}

fn service_in(text: &str, name: &str) -> Result<Option<Pairs>> {
    let mut found: Option<Pairs> = None;
    let mut inside = false;
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(section) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            inside = section == name && found.is_none();
            if inside {
                found = Some(Pairs::new());
            }
            continue;
        }
        let (true, Some(pairs)) = (inside, found.as_mut()) else { continue };
        match line.split_once('=') {
            Some((key, value)) => pairs.push((key.trim().to_owned(), value.trim().to_owned())),
            None => return Err(bad(&format!("a line of service {name} has no `=`"))),
        }
    }
    Ok(found)
}

/// The password that a file has for the asker; a file that others may read is not used, with a warning.
pub(super) fn password(
    path: &Path,
    asker: &Asker<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<Option<String>> {
    let Ok(metadata) = path.metadata() else { return Ok(None) };
    if !metadata.is_file() || is_open(&metadata) {
        let warning = Warning::PasswordFileOpen { path: path.to_owned() };
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
        return Ok(None);
    }
    let Some(text) = text_of(path)? else { return Ok(None) };
    Ok(text.lines().find_map(|line| password_in(line, asker)))
}

/// Whether others may read a file.
fn is_open(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    metadata.mode() & 0o077 != 0
}

fn password_in(line: &str, asker: &Asker<'_>) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let fields = fields(line);
    let [host, port, database, user, password] = fields.as_slice() else { return None };
    let port_asked = asker.port.to_string();
    let asked = [asker.host, &port_asked, asker.database, asker.user];
    let fits = [host, port, database, user]
        .into_iter()
        .zip(asked)
        .all(|(field, asked)| field.is_any || field.text == asked);
    (fits && !password.text.is_empty()).then(|| password.text.clone())
}

/// One field of a line of .pgpass.
#[derive(Default)]
struct Field {
    text: String,
    /// Whether it is a bare `*`.
    is_any: bool,
}

/// Five fields between colons; a backslash takes away the meaning of what follows. The last keeps its colons.
fn fields(line: &str) -> Vec<Field> {
    let mut fields = vec![Field::default()];
    let mut raw = vec![String::new()];
    let mut signs = line.chars();
    while let Some(sign) = signs.next() {
        if sign == ':' && fields.len() < 5 {
            fields.push(Field::default());
            raw.push(String::new());
            continue;
        }
        let sign_meant = match sign {
            '\\' => signs.next().unwrap_or('\\'),
            other => other,
        };
        if let (Some(field), Some(raw)) = (fields.last_mut(), raw.last_mut()) {
            raw.push(sign);
            field.text.push(sign_meant);
        }
    }
    for (field, raw) in fields.iter_mut().zip(raw) {
        field.is_any = raw == "*";
    }
    fields
}

/// What a file says; nothing if there is none.
fn text_of(path: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::File { doing: "read", path: path.to_owned(), source }),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const ASKER: Asker<'_> = Asker { host: "db", port: 5432, database: "app", user: "alice" };

    fn asked(line: &str) -> Option<String> {
        password_in(line, &ASKER)
    }

    #[test]
    fn a_password_is_found_by_its_line() {
        let cases = [
            ("db:5432:app:alice:secret", Some("secret")),
            ("*:*:*:*:any", Some("any")),
            ("*:5432:*:alice:a\\:b\\\\c", Some("a:b\\c")),
            ("db:5432:app:alice:a:b", Some("a:b")),
            ("db:5433:app:alice:secret", None),
            ("db:5432:app:bob:secret", None),
            ("\\*:5432:app:alice:secret", None),
            ("# db:5432:app:alice:secret", None),
            ("db:5432:app", None),
            ("", None),
        ];
        for (line, wanted) in cases {
            assert_eq!(asked(line).as_deref(), wanted, "{line}");
        }
        let odd = Asker { host: "a:b", port: 1, database: "d\\", user: "*" };
        assert_eq!(password_in("a\\:b:1:d\\\\:\\*:x", &odd).as_deref(), Some("x"));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "tests write files as an editor would")]
    fn a_password_file_that_others_read_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pgpass");
        std::fs::write(&path, "*:*:*:*:secret\n").unwrap();
        for (mode, wanted) in [(0o600, Some("secret")), (0o640, None), (0o604, None)] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let mut warnings = Vec::new();
            assert_eq!(password(&path, &ASKER, &mut warnings).unwrap().as_deref(), wanted);
            assert_eq!(warnings.is_empty(), wanted.is_some(), "{mode:o}");
        }
    }

    #[test]
    fn a_service_is_read_from_its_own_section() {
        let text = "# teams\n[other]\nhost=x\n\n[team]\nhost = db \nport=6432\n[team]\nhost=late\n";
        let found = service_in(text, "team").unwrap().unwrap();
        assert_eq!(
            found,
            [("host", "db"), ("port", "6432")].map(|(a, b)| (a.to_owned(), b.to_owned()))
        );
        assert!(service_in(text, "nobody").unwrap().is_none());
        assert!(service_in("[team]\nnonsense\n", "team").is_err());
    }
}
