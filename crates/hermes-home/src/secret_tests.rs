//! Tests of the `.env` file and of what is shown of secrets.

use proptest::prelude::*;
use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::env::Env;
use crate::layout::Wanted;

fn home(root: &std::path::Path) -> Home {
    Home::locate(&Wanted { home: Some(root.to_owned()), profile: None }, &Env::default()).unwrap()
}

#[test]
fn env_lines_are_read_in_all_usual_forms() {
    for (line, value) in [
        ("A=b", "b"),
        ("export A=b", "b"),
        ("  A = b  ", "b"),
        ("A=b # comment", "b"),
        ("A=b#c", "b#c"),
        ("A=", ""),
        ("A= # nothing", ""),
        ("A='b # c'", "b # c"),
        ("A='b\\n' # c", "b\\n"),
        ("A=\"b\\nc\\t\\\"d\\\\\"", "b\nc\t\"d\\"),
        ("A=\"\\$x\"#c", "$x"),
        ("A=b=c==", "b=c=="),
        ("A=\"ü\"\r", "ü"),
    ] {
        let secrets = Secrets::parse(line);
        assert_eq!(secrets.get("A").map(Secret::reveal), Some(value), "{line:?}");
        assert!(secrets.bad_lines.is_empty(), "{line:?}");
    }
}

#[test]
fn bad_env_lines_are_reported_by_number_only() {
    let text = "# fine\n\nA=1\nno equals sign\nB=\"open\n1X=2\nC='a' b\n";
    let secrets = Secrets::parse(text);
    let lines: Vec<usize> = secrets.bad_lines.iter().map(|bad| bad.line).collect();
    assert_eq!(lines, [4, 5, 6, 7]);
    assert_eq!(secrets.names().collect::<Vec<_>>(), ["A"]);
}

#[test]
fn setting_a_secret_keeps_all_other_lines() {
    let text = "# keys\r\nA=1 # old\r\n\r\nexport B='2'\r\nnonsense\r\nA=3";
    let two = Secret::new("two words".into());
    let changed = with_secret(text, "A", Some(&two));
    assert_eq!(changed, "# keys\r\nA=\"two words\"\r\n\r\nexport B='2'\r\nnonsense\r\n");
    assert_eq!(with_secret(text, "C", Some(&two)), format!("{text}\r\nC=\"two words\"\r\n"));
    assert_eq!(with_secret(text, "A", None), "# keys\r\n\r\nexport B='2'\r\nnonsense\r\n");
    assert_eq!(with_secret("", "C", Some(&Secret::new("x".into()))), "C=x\n");
}

#[test]
fn the_file_of_secrets_is_private() {
    let root = tempfile::tempdir().unwrap();
    let home = home(root.path());
    set_secret(&home, "API_KEY", &Secret::new("k-1".into())).unwrap();
    assert_eq!(fs::read_to_string(home.secrets()).unwrap(), "API_KEY=k-1\n");
    fs::set_permissions(home.secrets(), fs::Permissions::from_mode(0o644)).unwrap();
    assert!(is_exposed(&home));
    set_secret(&home, "API_KEY", &Secret::new("k-2".into())).unwrap();
    assert!(!is_exposed(&home));
    assert!(remove_secret(&home, "API_KEY").unwrap());
    assert!(!remove_secret(&home, "API_KEY").unwrap());
    assert!(set_secret(&home, "lower", &Secret::new("x".into())).is_err());
}

/// Whoever opens the file at any moment finds no new secret in a file that others may read.
#[test]
fn a_new_secret_is_at_no_moment_in_a_file_that_others_can_read() {
    use std::io::Read;
    use std::sync::atomic::{AtomicBool, Ordering};
    let root = tempfile::tempdir().unwrap();
    let home = home(root.path());
    let path = home.secrets();
    atomic::write(&path, b"OTHER=1\n").unwrap();
    let (done, seen) = (AtomicBool::new(false), AtomicBool::new(false));
    let look = || -> io::Result<bool> {
        let mut file = fs::File::open(&path)?;
        let is_open = file.metadata()?.permissions().mode() & 0o077 != 0;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        Ok(is_open && text.contains("pa55"))
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                seen.fetch_or(look().unwrap_or(false), Ordering::Relaxed);
            }
        });
        for _ in 0..100 {
            atomic::write(&path, b"OTHER=1\n").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            set_secret(&home, "API_KEY", &Secret::new("pa55".into())).unwrap();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(!seen.load(Ordering::Relaxed));
}

#[test]
fn secret_keys_are_known_by_their_words() {
    for (key, secret) in [
        ("memory.connection_string", true),
        ("memory.connectionString", true),
        ("auxiliary.vision.api_key", true),
        ("x.apiKey", true),
        ("telegram.bot_token", true),
        ("a.password", true),
        ("backup.passphrase", true),
        ("backup.passphrase_file", false),
        ("backup.passphrase_format", false),
        ("backup.alert_webhook", true),
        ("memory.retrieval.context_budget_tokens", false),
        ("memory.retrieval.contextBudgetTokens", false),
        ("memory.path", false),
        ("token.path", false),
    ] {
        assert_eq!(is_secret_key(key), secret, "{key}");
    }
}

#[test]
fn only_the_harmless_part_of_a_url_is_shown() {
    for (value, shown) in [
        ("postgres://user:pa55@host:5432/db", "postgres://***@host:5432/db"),
        ("postgres://user:p@/55@host/db", "postgres://***@host/db"),
        ("postgres://host/db", "postgres://host/db"),
        ("postgres://u:p@h/db?sslmode=require&password=x", "postgres://***@h/db?***"),
        ("postgres://u:p?55@h/db", "***"),
        ("postgres://h/db?password=p@55", "***"),
        ("postgresql+asyncpg://u:p@h/db", "postgresql+asyncpg://***@h/db"),
        ("sqlite:///memory.db", "sqlite:///memory.db"),
        ("https://hooks.example.org/services/T0/B0/key", "https://hooks.example.org/***"),
        ("https://hooks.example/pa55", "https://hooks.example/***"),
        ("https://hooks.example/pa@55", "***"),
        ("https://u:pa55@hooks.example/key?q", "https://***@hooks.example/***"),
        ("HTTPS://hooks.example?key=pa55", "HTTPS://hooks.example?***"),
        ("https://hooks.example/", "https://hooks.example/"),
        ("pa55://word", "***"),
        ("host=localhost password=pa55", "***"),
        ("a password with ://x in it", "***"),
        ("pa55", "***"),
        ("", ""),
    ] {
        assert_eq!(redact("memory.connection_string", value), shown, "{value}");
    }
    assert_eq!(redact("memory.path", "~/m.db"), "~/m.db");
    assert_eq!(redact("OPENAI_API_KEY", "sk-1"), "***");
}

#[test]
fn a_secret_shows_nothing_of_itself() {
    let secret = Secret::new("pa55".into());
    assert_eq!(format!("{secret:?}"), "Secret(…)");
    assert_eq!(serde_json::to_string(&secret).unwrap(), "\"***\"");
}

proptest! {
    #[test]
    fn any_secret_comes_back_as_it_was_set(value in "\\PC*|[ -~\\n\\r\\t]*") {
        let text = with_secret("# c\nOTHER=1\n", "KEY", Some(&Secret::new(value.clone())));
        let secrets = Secrets::parse(&text);
        prop_assert!(secrets.bad_lines.is_empty());
        prop_assert_eq!(secrets.get("KEY").map(Secret::reveal), Some(value.as_str()));
        prop_assert_eq!(secrets.get("OTHER").map(Secret::reveal), Some("1"));
        prop_assert!(text.starts_with("# c\nOTHER=1\n"));
    }
}
