//! TLS: who proves itself is talked to, and who does not is not.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;

use hermes_store::ErrorKind;
use hermes_store::postgres::ServerError;

use crate::pg_server::{self, Flavour, Server};
use crate::support::{asked, pool, refusal};

const IS_ENCRYPTED: &str =
    "select ssl::text from pg_catalog.pg_stat_ssl where pid = pg_catalog.pg_backend_pid()";

/// The server by TCP under a name, with these parameters; `{ca}` is its authority.
fn url(server: &Server, host: &str, parameters: &str) -> String {
    let url = server.tcp_url("postgres").replace("127.0.0.1", host);
    let authority = server.authority().display().to_string();
    format!("{url}?hostaddr=127.0.0.1&{}", parameters.replace("{ca}", &authority))
}

#[test]
fn a_connection_is_as_protected_as_was_asked() {
    let server = pg_server::shared(Flavour::Plain);
    let cases = [
        ("localhost", "sslmode=verify-full&sslrootcert={ca}", "true"),
        ("localhost", "sslmode=verify-full&sslrootcert={ca}&channel_binding=require", "true"),
        ("db.example.com", "sslmode=verify-ca&sslrootcert={ca}", "true"),
        ("db.example.com", "sslmode=require&sslrootcert={ca}", "true"),
        ("db.example.com", "sslmode=require", "true"),
        ("localhost", "sslmode=prefer", "true"),
        ("localhost", "sslmode=allow", "false"),
        ("localhost", "sslmode=disable", "false"),
    ];
    for (host, parameters, encrypted) in cases {
        let mut client = pool(&url(server, host, parameters)).get().unwrap();
        assert_eq!(asked(&mut client, IS_ENCRYPTED).unwrap(), encrypted, "{host} {parameters}");
    }
}

#[test]
fn who_cannot_prove_itself_is_not_talked_to() {
    let server = pg_server::shared(Flavour::Plain);
    let cases = [
        ("db.example.com", "sslmode=verify-full&sslrootcert={ca}"),
        ("db.example.com", "sslrootcert={ca}"),
        ("localhost", "sslmode=verify-full&sslrootcert=system"),
        ("localhost", "sslmode=verify-ca&sslrootcert=system"),
    ];
    for (host, parameters) in cases {
        let error = refusal(&url(server, host, parameters));
        assert!(matches!(error, ServerError::TlsRefused { .. }), "{host} {parameters}: {error}");
        assert_eq!(error.kind(), ErrorKind::Unreachable);
        assert!(!error.is_retriable());
    }
    // The one with pgvector has no TLS at all.
    let open = pg_server::shared(Flavour::Vector);
    let error = refusal(&url(open, "localhost", "sslmode=require"));
    assert!(error.to_string().ends_with("server does not support TLS"), "{error}");
}

#[test]
fn a_file_without_certificates_is_said() {
    let server = pg_server::shared(Flavour::Plain);
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.crt");
    pg_server::put(empty.clone(), "nothing\n").unwrap();
    let parameters = format!("sslmode=verify-full&sslrootcert={}", empty.display());
    let error = refusal(&url(server, "localhost", &parameters));
    assert!(error.to_string().contains("contains no certificate"), "{error}");
}

#[test]
fn a_certificate_that_is_its_own_authority_is_taken_where_it_is_named() {
    let mut server = pg_server::start(Flavour::Plain);
    let own = server.folder().join("data/server.crt");
    let key = server.folder().join("data/server.key");
    let mut openssl = Command::new("openssl");
    openssl.args([
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:prime256v1",
        "-nodes",
    ]);
    openssl.args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout"]);
    pg_server::run(openssl.arg(&key).arg("-out").arg(&own));
    pg_server::open_to_server(server.folder());
    server.halt();
    server.resume();
    let named = format!("sslrootcert={}", own.display());
    for (host, mode) in [("localhost", "verify-full"), ("db.example.com", "verify-ca")] {
        let mut client =
            pool(&url(&server, host, &format!("sslmode={mode}&{named}"))).get().unwrap();
        assert_eq!(asked(&mut client, IS_ENCRYPTED).unwrap(), "true");
    }
    let wrong = [("db.example.com", named.as_str()), ("localhost", "sslrootcert={ca}")];
    for (host, roots) in wrong {
        let error = refusal(&url(&server, host, &format!("sslmode=verify-full&{roots}")));
        assert!(matches!(error, ServerError::TlsRefused { .. }), "{host} {roots}: {error}");
    }
}

/// A certificate by the server's authority for `localhost` whose time is over.
const EXPIRED: &str = r#"
    printf '[ca]\ndefault_ca=here\n[here]\nnew_certs_dir=.\ndatabase=index.txt\nrand_serial=yes\ndefault_md=sha256\n' >ca.cnf
    printf 'policy=any\ncopy_extensions=copy\n[any]\ncommonName=supplied\n' >>ca.cnf
    : >index.txt
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost -keyout data/server.key -out late.csr
    openssl ca -batch -notext -config ca.cnf -cert authority.crt -keyfile authority.key \
        -startdate 20200101000000Z -enddate 20200201000000Z -in late.csr -out data/server.crt"#;

#[test]
fn a_certificate_whose_time_is_over_proves_nothing() {
    let mut server = pg_server::start(Flavour::Plain);
    pg_server::run(Command::new("sh").args(["-e", "-c", EXPIRED]).current_dir(server.folder()));
    pg_server::open_to_server(server.folder());
    server.halt();
    server.resume();
    for mode in ["verify-full", "verify-ca"] {
        let parameters = format!("sslmode={mode}&sslrootcert={{ca}}");
        let error = refusal(&url(&server, "localhost", &parameters));
        assert!(matches!(error, ServerError::TlsRefused { .. }), "{mode}: {error}");
        assert!(error.to_string().to_lowercase().contains("expired"), "{mode}: {error}");
    }
}

#[test]
fn an_old_protocol_is_not_spoken() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    // A server that would go on in TLS 1.1; what it hears next is its first byte.
    let old = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = [0; 4_096];
        stream.read_exact(&mut bytes[..8]).unwrap();
        stream.write_all(b"S").unwrap();
        assert!(stream.read(&mut bytes).unwrap() > 0);
        let mut body = vec![0x03, 0x02];
        body.extend([9_u8; 32]);
        body.extend([0, 0xc0, 0x0a, 0]);
        let mut hello = vec![2, 0, 0, u8::try_from(body.len()).unwrap()];
        hello.extend(body);
        let mut record = vec![0x16, 0x03, 0x02, 0, u8::try_from(hello.len()).unwrap()];
        record.extend(hello);
        stream.write_all(&record).unwrap();
        let mut first = [0];
        stream.read_exact(&mut first).map(|()| first[0])
    });
    let address = format!("postgres://u@localhost:{port}/x?hostaddr=127.0.0.1&sslmode=require");
    let error = refusal(&address);
    assert_eq!(error.kind(), ErrorKind::Unreachable, "{error}");
    // An alert, or nothing at all: never another step of the greeting.
    assert!(old.join().unwrap().is_ok_and(|first| first == 0x15), "{error}");
}

/// Keys of every kind with certificates for the user `postgres`, and some that are no good.
const CLIENTS: &str = r#"
    openssl ecparam -name prime256v1 -genkey -noout -out sec1.key
    openssl pkcs8 -topk8 -nocrypt -in sec1.key -out pkcs8.key
    openssl genrsa -traditional -out pkcs1.key 2048
    openssl pkcs8 -topk8 -nocrypt -in pkcs1.key -out rsa.key
    openssl genpkey -algorithm ed25519 -out ed25519.key
    issue() { openssl req -new -key $1.key -subj /CN=$2 | openssl x509 -req -days 30 \
        -CA authority.crt -CAkey authority.key -CAcreateserial -out $3.crt; }
    for kind in sec1 pkcs8 pkcs1 rsa ed25519; do issue $kind postgres $kind; done
    printf 'basicConstraints=CA:FALSE\n' >extensions
    openssl req -new -key sec1.key -subj /CN=postgres | openssl x509 -req -days 30 -CA authority.crt \
        -CAkey authority.key -extfile extensions -out extended.crt
    openssl ec -aes128 -passout pass:x -in sec1.key -out legacy.key
    openssl pkcs8 -topk8 -passout pass:x -in sec1.key -out encrypted.key
    issue sec1 somebody somebody
    openssl req -x509 -days 30 -key sec1.key -subj /CN=postgres -out stranger.crt
    cp sec1.key open.key
    : >empty.key
    chmod 600 *.key
    chmod 644 open.key
    cat >data/pg_hba.conf <<END
local all all trust
hostssl certified all 127.0.0.1/32 cert
hostssl postgres all 127.0.0.1/32 scram-sha-256 clientcert=verify-full
END
    echo "ssl_ca_file = '$PWD/authority.crt'" >>data/postgresql.auto.conf"#;

/// A server that wants certificates of those who come.
fn asking_for_certificates() -> Server {
    let mut server = pg_server::start(Flavour::Plain);
    pg_server::run(Command::new("sh").args(["-e", "-c", CLIENTS]).current_dir(server.folder()));
    pg_server::open_to_server(server.folder());
    server.sql("postgres", "create database certified");
    server.halt();
    server.resume();
    server
}

/// A database of it by TCP, with this certificate and key of its folder.
fn certified(server: &Server, database: &str, files: &str) -> String {
    let folder = server.folder().display();
    let files = files.replace("{in}", &folder.to_string());
    let url = url(server, "localhost", &format!("sslmode=verify-full&sslrootcert={{ca}}{files}"));
    url.replace("/postgres?", &format!("/{database}?"))
}

#[test]
fn who_has_the_right_certificate_is_let_in() {
    let server = asking_for_certificates();
    let pairs = ["sec1", "pkcs8", "pkcs1", "rsa", "ed25519"].map(|kind| (kind, kind));
    for (certificate, key) in pairs.into_iter().chain([("extended", "pkcs8")]) {
        let files = format!("&sslcert={{in}}/{certificate}.crt&sslkey={{in}}/{key}.key");
        for database in ["certified", "postgres"] {
            let mut client = pool(&certified(&server, database, &files)).get().unwrap();
            assert_eq!(asked(&mut client, IS_ENCRYPTED).unwrap(), "true", "{certificate}");
        }
    }
    // A socket has no use for it.
    let socket = format!("{}?sslcert=/nowhere&sslkey=/nowhere", server.url("postgres"));
    assert!(pool(&socket).get().is_ok());
}

#[test]
fn who_has_no_right_certificate_is_told_what_to_do() {
    let server = asking_for_certificates();
    let cases = [
        ("certified", "", "connection requires a valid client certificate", "set sslcert=… and"),
        (
            "certified",
            "somebody sec1",
            "certificate authentication failed",
            "for the user postgres",
        ),
        (
            "certified",
            "stranger sec1",
            "UnknownCA",
            "a certificate authority that the server trusts",
        ),
        ("postgres", "somebody sec1", "password authentication failed", "somebody.crt"),
        ("certified", "nowhere sec1", "nowhere.crt to log in", "set sslcert=…"),
        ("certified", "sec1 nowhere", "nowhere.key to log in", "set sslkey=…"),
        ("certified", "sec1 pkcs1", "it is not the key of", "to a certificate and its own key"),
        ("certified", "sec1 open", "other users can read it", "chmod 600"),
        ("certified", "sec1 encrypted", "its key is encrypted", "openssl pkey -in"),
        ("certified", "sec1 legacy", "its key is encrypted", "openssl pkey -in"),
        ("certified", "sec1 empty", "it contains no private key", "set sslkey=…"),
    ];
    for (database, files, words, hint) in cases {
        let files = match files.split_once(' ') {
            Some((certificate, key)) => {
                format!("&sslcert={{in}}/{certificate}.crt&sslkey={{in}}/{key}.key")
            }
            None => String::new(),
        };
        let error = refusal(&certified(&server, database, &files));
        assert_eq!(error.kind(), ErrorKind::Unauthorized, "{files}: {error}");
        assert!(error.to_string().contains(words), "{files}: {error}");
        assert!(error.hint().unwrap().contains(hint), "{files}: {:?}", error.hint());
        assert!(!error.is_retriable());
    }
}
