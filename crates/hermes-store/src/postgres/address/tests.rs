//! What connection strings mean, with every place they are filled from.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;

use super::*;

/// A user's folder and variables.
struct Desk {
    folder: tempfile::TempDir,
    variables: BTreeMap<&'static str, String>,
    ssl_mode: Option<SslMode>,
}

impl Desk {
    fn new() -> Desk {
        Desk { folder: tempfile::tempdir().unwrap(), variables: BTreeMap::new(), ssl_mode: None }
    }

    fn with(mut self, name: &'static str, value: &str) -> Desk {
        self.variables.insert(name, value.to_owned());
        self
    }

    #[expect(clippy::disallowed_methods, reason = "tests write files as an editor would")]
    fn file(self, name: &str, text: &str) -> Desk {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        self
    }

    fn try_parse(&self, text: &str) -> Result<Address> {
        Address::parse(
            text,
            &Surroundings {
                variable: &|name| self.variables.get(name).cloned(),
                home: Some(self.folder.path()),
                user: "alice",
                application: "hermes/0.1.0/default",
                ssl_mode: self.ssl_mode,
            },
        )
    }

    fn parse(&self, text: &str) -> Address {
        self.try_parse(text).unwrap()
    }
}

fn password_of(address: &Address) -> Option<&str> {
    address.password.as_ref().map(|password| password.0.as_str())
}

#[test]
fn what_is_said_closer_wins() {
    let desk = Desk::new()
        .with("PGHOST", "env.example.com")
        .with("PGPORT", "1111")
        .with("PGUSER", "env")
        .with("PGDATABASE", "env")
        .with("PGSERVICE", "team")
        .file(".pg_service.conf", "[team]\nuser=service\nport=2222\n");
    let address = desk.parse("dbname=said");
    assert_eq!(address.to_string(), "postgres://service@env.example.com:2222/said");
    let other = desk.with("PGSERVICEFILE", "/nowhere").with("PGSYSCONFDIR", "/nowhere");
    let error = other.try_parse("").unwrap_err();
    assert_eq!(
        error.to_string(),
        "could not read the connection string: there is no service called team"
    );
}

#[test]
fn nothing_said_is_the_users_own_database_here() {
    let address = Desk::new().parse("");
    assert_eq!((address.user(), address.database()), ("alice", "alice"));
    assert!(address.hosts[0].is_local());
    assert_eq!(address.application_name, "hermes/0.1.0/default");
    assert_eq!(address.options, None);
}

#[test]
fn who_answers_is_checked_unless_it_is_this_machine() {
    let cases = [
        ("postgres://db.example.com/x", SslMode::VerifyFull, None),
        ("postgres://10.0.0.7/x", SslMode::VerifyFull, None),
        ("hostaddr=10.0.0.7 dbname=x", SslMode::VerifyFull, None),
        ("host=db.example.com hostaddr=127.0.0.1 dbname=x", SslMode::VerifyFull, None),
        ("postgres://localhost,db.example.com/x", SslMode::VerifyFull, None),
        ("postgres://localhost/x", SslMode::Prefer, None),
        ("postgres://127.0.0.2/x", SslMode::Prefer, None),
        ("postgres://[::1]/x", SslMode::Prefer, None),
        ("postgres://%2Ftmp/x", SslMode::Prefer, None),
        ("postgres://localhost/x?sslmode=disable", SslMode::Disable, None),
        ("postgres://db/x?sslmode=disable", SslMode::Disable, Some(Warning::NotEncrypted)),
        (
            "postgres://db/x?sslmode=require",
            SslMode::Require,
            Some(Warning::NotVerified { mode: SslMode::Require }),
        ),
        ("postgres://db/x?sslmode=require&sslrootcert=/ca.pem", SslMode::VerifyCa, None),
        ("postgres://db/x?sslmode=verify-ca", SslMode::VerifyCa, None),
    ];
    for (text, mode, warning) in cases {
        let address = Desk::new().parse(text);
        assert_eq!(address.ssl_mode(), mode, "{text}");
        assert_eq!(address.warnings(), warning.as_slice(), "{text}");
    }
    let settings = Desk { ssl_mode: Some(SslMode::Require), ..Desk::new() };
    assert_eq!(settings.parse("postgres://db/x").ssl_mode(), SslMode::Require);
    assert_eq!(
        settings.parse("postgres://db/x?sslmode=verify-full").ssl_mode(),
        SslMode::VerifyFull
    );
}

#[test]
fn a_password_comes_from_the_string_the_variable_or_the_file() {
    let desk = Desk::new().file(".pgpass", "db:5432:x:alice:filed\nlocalhost:*:*:*:socket\n");
    assert_eq!(password_of(&desk.parse("postgres://db/x")), Some("filed"));
    assert_eq!(password_of(&desk.parse("postgres://:said@db/x")), Some("said"));
    assert_eq!(password_of(&desk.parse("postgres://other/x")), None);
    assert_eq!(password_of(&desk.parse("postgres://other,db/x")), Some("filed"));
    assert_eq!(password_of(&desk.parse("host=/var/run/postgresql")), Some("socket"));
    let elsewhere = Desk::new().file("other", "*:*:*:*:elsewhere");
    let path = elsewhere.folder.path().join("other");
    let text = format!("host=db passfile='{}'", path.display());
    assert_eq!(password_of(&elsewhere.parse(&text)), Some("elsewhere"));
    let variable = desk.with("PGPASSWORD", "variable");
    assert_eq!(password_of(&variable.parse("postgres://db/x")), Some("variable"));
}

#[test]
fn the_password_is_shown_nowhere() {
    let address = Desk::new().parse("postgres://bob:hunter2@db/x?password=hunter3");
    let shown = format!("{address} {address:?} {:?} {}", address.password, address.place());
    assert!(!shown.contains("hunter"), "{shown}");
    assert_eq!(password_of(&address), Some("hunter3"));
}

#[test]
fn an_unknown_key_is_an_error_with_a_hint() {
    let cases = [
        ("postgres://db/x?sslmod=require", "did you mean sslmode?"),
        ("postgres://db/x?ssl_mode=require", "did you mean sslmode?"),
        ("hots=db", "did you mean host?"),
        (
            "postgres://db/x?sslmode=on",
            "use one of disable, allow, prefer, require, verify-ca, verify-full",
        ),
        ("postgres://db/x?statement_timeout=soon", "write it like 30s"),
    ];
    for (text, hint) in cases {
        let error = Desk::new().try_parse(text).unwrap_err();
        assert_eq!(error.hint().as_deref(), Some(hint), "{text}: {error}");
    }
    let unknown = Desk::new().try_parse("postgres://db/x?hunter2=1").unwrap_err();
    assert_eq!(unknown.to_string(), "could not read the connection string: it has an unknown key");
    for text in
        ["port=70000", "host=a,b port=1,2,3", "hostaddr=db", "client_encoding=latin1 host=db"]
    {
        assert!(Desk::new().try_parse(text).is_err(), "{text}");
    }
}

#[test]
fn times_have_units_and_are_said_when_a_session_begins() {
    let address = Desk::new().parse("postgres://db/x?options=-c%20jit%3Doff&statement_timeout=2min&idle_in_transaction_session_timeout=1500&connect_timeout=3");
    assert_eq!(address.connect_timeout, Duration::from_secs(3));
    let options =
        "-c jit=off -c statement_timeout=120000 -c idle_in_transaction_session_timeout=1500";
    assert_eq!(address.options.as_deref(), Some(options));
    let variables: BTreeMap<_, _> = address.as_variables().into_iter().collect();
    assert_eq!(variables["PGOPTIONS"], options);
}

#[test]
fn programs_of_postgresql_get_the_same_address() {
    let address = Desk::new().parse("postgres://bob:secret@db:7,other:8/x");
    let variables: BTreeMap<_, _> = address.as_variables().into_iter().collect();
    let wanted = [
        ("PGHOST", "db,other"),
        ("PGPORT", "7,8"),
        ("PGDATABASE", "x"),
        ("PGUSER", "bob"),
        ("PGPASSWORD", "secret"),
        ("PGSSLMODE", "verify-full"),
        ("PGSSLROOTCERT", "system"),
    ];
    for (name, value) in wanted {
        assert_eq!(variables.get(name).map(String::as_str), Some(value), "{name}");
    }
}

#[test]
fn a_certificate_of_ones_own_comes_from_the_string_the_variable_or_the_usual_files() {
    let files = |address: &Address| {
        let files = address.identity.as_ref();
        files.map(|files| format!("{} {}", files.certificate.display(), files.key.display()))
    };
    assert_eq!(files(&Desk::new().parse("host=db")), None);
    let said = Desk::new().parse("host=db sslcert=/a.crt sslkey=/a.key");
    assert_eq!(files(&said).as_deref(), Some("/a.crt /a.key"));
    let variables: BTreeMap<_, _> = said.as_variables().into_iter().collect();
    assert_eq!((&*variables["PGSSLCERT"], &*variables["PGSSLKEY"]), ("/a.crt", "/a.key"));
    let variable = Desk::new().with("PGSSLCERT", "/b.crt").with("PGSSLKEY", "/b.key");
    assert_eq!(files(&variable.parse("host=db")).as_deref(), Some("/b.crt /b.key"));
    let usual = Desk::new().file(".postgresql/postgresql.crt", "a certificate");
    let folder = usual.folder.path().join(".postgresql").display().to_string();
    let wanted = format!("{folder}/postgresql.crt {folder}/postgresql.key");
    assert_eq!(files(&usual.parse("host=db")), Some(wanted));
    let error = Desk::new().try_parse("host=db sslkey=/a.key").unwrap_err();
    assert_eq!(error.hint().unwrap(), "set sslcert=FILE to the certificate of the key");
}
