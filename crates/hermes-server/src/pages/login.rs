//! Who may look at the dashboard: codes that let somebody in once, and the visitors who were let in.

use std::path::{Path, PathBuf};

use hermes_home::{Home, atomic};
use jiff::{SignedDuration, Timestamp};
use sha2::{Digest as _, Sha256};

use super::text;

/// The name of the cookie that a visitor shows.
pub(crate) const COOKIE: &str = "hermes";
/// The same over TLS: browsers take it from nobody who does not speak TLS, and send it to nobody else.
pub(crate) const SAFE_COOKIE: &str = "__Host-hermes";
/// How long a code lets somebody in.
const CODE_LIVES: SignedDuration = SignedDuration::from_mins(10);
/// How long a visitor is known.
pub(crate) const VISITOR_LIVES: SignedDuration = SignedDuration::from_hours(24 * 30);

/// How long a visitor is known who gives the code as a password: it stays on a screen, unlike a cookie.
const PASSWORD_LIVES: SignedDuration = SignedDuration::from_hours(12);

/// The name under which browsers find the dashboard on this machine. They send a cookie to every port of the name that it
/// was set by, so it is a name that nobody can guess: whoever does not know it cannot lead a browser there.
pub(crate) fn own_name(owner_token: &str) -> String {
    let mut word = hash(&format!("dashboard{owner_token}"));
    word.truncate(20);
    format!("hermes-{word}.localhost")
}

/// Makes a code that lets somebody in once, within ten minutes.
pub fn new_code(home: &Home, now: Timestamp) -> anyhow::Result<String> {
    keep_new(&home.login_codes(), now, CODE_LIVES)
}

/// Whether a code would let somebody in; it stays as good as it was.
pub(crate) fn is_good(home: &Home, code: &str, now: Timestamp) -> bool {
    is_alive(&home.login_codes().join(hash(code)), now)
}

/// Lets somebody in who gives a code as a password, and knows them by it from now on.
pub(crate) fn admit_by_password(home: &Home, code: &str, now: Timestamp) -> anyhow::Result<bool> {
    if !redeem(home, code, now) {
        return Ok(false);
    }
    keep(&home.visitors(), code, now + PASSWORD_LIVES)?;
    Ok(true)
}

/// Whether the code was good; whoever takes its file away has it, so it is good once.
pub(crate) fn redeem(home: &Home, code: &str, now: Timestamp) -> bool {
    let path = home.login_codes().join(hash(code));
    let is_good = is_alive(&path, now) && std::fs::remove_file(path).is_ok();
    if is_good {
        // Where no page led here there is none to take away.
        let _ = std::fs::remove_file(door(home, code));
    }
    is_good
}

/// A page that only its owner can read and that leads a browser to an address with a code: what a program is
/// started with, everybody on the machine can see.
pub fn open_door(home: &Home, address: &str, code: &str) -> anyhow::Result<PathBuf> {
    close_doors(home);
    atomic::make_folder(&home.login_doors())?;
    let path = door(home, code);
    let address = text::escape(address);
    let page = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Hermes</title>\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0;url={address}\"></head>\n\
         <body><p><a href=\"{address}\">Open the dashboard</a></p></body></html>\n"
    );
    atomic::write_private(&path, page.as_bytes())?;
    Ok(path)
}

/// Takes away the pages that led to the dashboard and were not used.
pub fn close_doors(home: &Home) {
    let Ok(entries) = std::fs::read_dir(home.login_doors()) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let _ = std::fs::remove_file(path);
    }
}

fn door(home: &Home, code: &str) -> PathBuf {
    home.login_doors().join(format!("{}.html", hash(code)))
}

/// Makes a visitor; what their cookie says is seen this once, and kept only as a hash.
pub fn new_visitor(home: &Home, now: Timestamp) -> anyhow::Result<String> {
    keep_new(&home.visitors(), now, VISITOR_LIVES)
}

/// The visitor who shows this cookie, as a hash; none if nobody knows it.
pub(crate) fn visitor(home: &Home, cookie: &str, now: Timestamp) -> Option<String> {
    let hash = hash(cookie);
    is_alive(&home.visitors().join(&hash), now).then_some(hash)
}

/// Forgets a visitor.
pub(crate) fn leave(home: &Home, cookie: &str) {
    // One that is gone already is what was wanted.
    let _ = std::fs::remove_file(home.visitors().join(hash(cookie)));
}

/// What every form of a visitor must hold: nobody knows it who has not read one of their pages.
pub(crate) fn csrf(cookie: &str) -> String {
    hash(&format!("csrf{cookie}"))
}

/// So many random bytes, written in hexadecimal digits.
pub(crate) fn random(count: usize) -> anyhow::Result<String> {
    let mut bytes = vec![0_u8; count];
    getrandom::fill(&mut bytes)
        .map_err(|error| anyhow::anyhow!("could not generate random numbers: {error}"))?;
    Ok(hex(&bytes))
}

fn keep_new(folder: &Path, now: Timestamp, lives: SignedDuration) -> anyhow::Result<String> {
    atomic::make_folder(folder)?;
    sweep(folder, now);
    let secret = random(32)?;
    keep(folder, &secret, now + lives)?;
    Ok(secret)
}

fn keep(folder: &Path, secret: &str, ends: Timestamp) -> anyhow::Result<()> {
    atomic::make_folder(folder)?;
    atomic::write_private(&folder.join(hash(secret)), format!("{ends}\n").as_bytes())?;
    Ok(())
}

/// Takes away what is over.
fn sweep(folder: &Path, now: Timestamp) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if !is_alive(&path, now) {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn is_alive(path: &Path, now: Timestamp) -> bool {
    let ends = std::fs::read_to_string(path).ok();
    ends.and_then(|ends| ends.trim().parse::<Timestamp>().ok()).is_some_and(|ends| now < ends)
}

fn hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_home::env::Env;
    use hermes_home::layout::Wanted;

    fn home(folder: &Path) -> Home {
        let wanted = Wanted { home: Some(folder.to_owned()), profile: None };
        Home::locate(&wanted, &Env::default()).unwrap()
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    #[test]
    fn a_code_lets_in_once_and_not_after_its_time() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(folder.path());
        let code = new_code(&home, at(0)).unwrap();
        assert!(!redeem(&home, "nonsense", at(1)) && !redeem(&home, "../visitors", at(1)));
        assert!(redeem(&home, &code, at(1)) && !redeem(&home, &code, at(2)));
        let late = new_code(&home, at(0)).unwrap();
        assert!(!redeem(&home, &late, at(601)));
        // What is over goes with the next code.
        new_code(&home, at(601)).unwrap();
        assert_eq!(std::fs::read_dir(home.login_codes()).unwrap().count(), 1);
    }

    #[test]
    fn a_page_leads_to_the_dashboard_until_its_code_was_used() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(folder.path());
        let code = new_code(&home, at(0)).unwrap();
        let page = open_door(&home, "http://localhost:1/login?code=\"x", &code).unwrap();
        assert!(std::fs::read_to_string(&page).unwrap().contains("code=&quot;x"));
        assert!(!page.display().to_string().contains(&code));
        assert!(!redeem(&home, "another", at(1)) && page.exists());
        assert!(redeem(&home, &code, at(1)) && !page.exists());
        let first = open_door(&home, "http://localhost:1/", "first").unwrap();
        let second = open_door(&home, "http://localhost:1/", "second").unwrap();
        assert!(!first.exists() && second.exists());
        close_doors(&home);
        assert!(!second.exists());
    }

    #[test]
    fn a_code_given_as_a_password_is_good_for_half_a_day() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(folder.path());
        let code = new_code(&home, at(0)).unwrap();
        assert!(is_good(&home, &code, at(1)) && !is_good(&home, "nonsense", at(1)));
        assert!(!admit_by_password(&home, "nonsense", at(1)).unwrap());
        assert!(admit_by_password(&home, &code, at(1)).unwrap());
        assert!(!admit_by_password(&home, &code, at(2)).unwrap());
        assert!(visitor(&home, &code, at(60)).is_some());
        assert!(visitor(&home, &code, at(12 * 3600 + 2)).is_none());
    }

    #[test]
    fn the_name_of_the_dashboard_is_the_same_each_time_and_tells_nothing() {
        let name = own_name("hermes_secret");
        assert_eq!(name, own_name("hermes_secret"));
        assert_ne!(name, own_name("hermes_other"));
        assert!(name.len() == 37 && !name.contains("secret"), "{name}");
    }

    #[test]
    fn a_visitor_is_known_by_a_hash_until_they_leave() {
        let folder = tempfile::tempdir().unwrap();
        let home = home(folder.path());
        let cookie = new_visitor(&home, at(0)).unwrap();
        let kept = std::fs::read_dir(home.visitors()).unwrap().next().unwrap().unwrap();
        assert_ne!(kept.file_name().to_str().unwrap(), cookie);
        assert!(visitor(&home, &cookie, at(60)).is_some());
        assert!(visitor(&home, &cookie, at(31 * 24 * 3600)).is_none());
        leave(&home, &cookie);
        assert!(visitor(&home, &cookie, at(60)).is_none());
    }
}
