//! TLS from end to end: certificates that the test makes, names, dates and protocols that are not good, on both sides.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::listening::Listening;
use crate::sandbox::Sandbox;

/// An authority of the test's own, in a folder.
struct Authority(tempfile::TempDir);

/// A certificate with its key.
struct Pair {
    certificate: PathBuf,
    key: PathBuf,
}

const CURVE: [&str; 5] = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
const NOW: (&str, &str) = ("20200101000000Z", "20991231000000Z");
const PAST: (&str, &str) = ("20200101000000Z", "20200201000000Z");

impl Authority {
    fn new() -> Authority {
        let own = Authority(tempfile::tempdir().unwrap());
        let settings = "[ca]\ndefault_ca=here\n[here]\nnew_certs_dir=.\ndatabase=index.txt\nunique_subject=no\nrand_serial=yes\n\
            default_md=sha256\npolicy=any\ncopy_extensions=copy\n[any]\ncommonName=supplied\n";
        let sandbox = |name: &str, text: &str| {
            let mut file = std::fs::File::create(own.path(name)).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        };
        sandbox("ca.cnf", settings);
        sandbox("index.txt", "");
        own.openssl(
            &[
                &["req", "-x509"],
                &CURVE[..],
                &["-days", "2", "-subj", "/CN=authority"],
                &["-keyout", "ca.key", "-out", "ca.pem"],
            ]
            .concat(),
        );
        own
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn openssl(&self, arguments: &[&str]) {
        let done = Command::new("openssl")
            .args(arguments)
            .current_dir(self.0.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    /// A certificate for a name, good between two times.
    fn vouch(&self, name: &str, (from, until): (&str, &str)) -> Pair {
        let mark = format!("{}-{}", name.replace([':', '.'], "-"), until);
        let [key, request, certificate] = ["key", "csr", "pem"].map(|end| format!("{mark}.{end}"));
        let alternative = format!("subjectAltName={name}");
        self.openssl(
            &[
                &["req", "-new"],
                &CURVE[..],
                &["-subj", "/CN=x", "-addext", &alternative, "-keyout", &key, "-out", &request],
            ]
            .concat(),
        );
        self.openssl(&[
            "ca",
            "-batch",
            "-notext",
            "-config",
            "ca.cnf",
            "-cert",
            "ca.pem",
            "-keyfile",
            "ca.key",
            "-startdate",
            from,
            "-enddate",
            until,
            "-in",
            &request,
            "-out",
            &certificate,
        ]);
        Pair { certificate: self.path(&certificate), key: self.path(&key) }
    }
}

/// A greeting of TLS 1.1: it names no later version.
fn old_greeting() -> Vec<u8> {
    let mut body = vec![0x03, 0x02];
    body.extend([7_u8; 32]);
    // No session; one way to encrypt and sign, as it was usual then; no compression; no extensions.
    body.extend([0, 0, 4, 0xc0, 0x0a, 0x00, 0x2f, 1, 0]);
    let length = body.len();
    let mut hello = vec![1, 0, (length >> 8) as u8, length as u8];
    hello.extend(body);
    let length = hello.len();
    let mut record = vec![0x16, 0x03, 0x01, (length >> 8) as u8, length as u8];
    record.extend(hello);
    record
}

fn tls_listener(pair: &Pair) -> Listening {
    let sandbox = Sandbox::ready();
    sandbox.ok(&["config", "set", "server.tls_cert", &pair.certificate.display().to_string()]);
    sandbox.ok(&["config", "set", "server.tls_key", &pair.key.display().to_string()]);
    Listening::at(sandbox)
}

fn curl(arguments: &[&str]) -> (Option<i32>, String) {
    let done =
        Command::new("curl").args(["-sS", "--max-time", "30"]).args(arguments).output().unwrap();
    let said = [done.stdout, done.stderr].concat();
    (done.status.code(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn the_listener_is_believed_by_its_name_its_date_and_who_vouches_for_it() {
    let authority = Authority::new();
    let roots = authority.path("ca.pem").display().to_string();
    let daemon = tls_listener(&authority.vouch("IP:127.0.0.1", NOW));
    let port = daemon.address.rsplit(':').next().unwrap().to_owned();
    let health = |host: &str| format!("https://{host}:{port}/health");
    assert_eq!(curl(&["--cacert", &roots, &health("127.0.0.1")]).0, Some(0));
    // Another name, and nobody who vouches.
    let (code, said) = curl(&["--cacert", &roots, &health("localhost")]);
    assert!(code == Some(60) || code == Some(51), "{code:?} {said}");
    assert_eq!(curl(&[&health("127.0.0.1")]).0, Some(60));
    // Old protocols are refused with an alert, new ones are spoken.
    let mut stream = TcpStream::connect(&daemon.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    stream.write_all(&old_greeting()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    // A record that holds a fatal alert, and nothing else.
    assert!(answer.len() == 7 && answer[0] == 0x15 && answer[5] == 2, "{answer:?}");
    for version in ["1.2", "1.3"] {
        let (least, most) = (format!("--tlsv{version}"), version.to_owned());
        let (code, said) =
            curl(&[&least, "--tls-max", &most, "--cacert", &roots, &health("127.0.0.1")]);
        assert_eq!(code, Some(0), "{version}: {said}");
    }
    // Over TLS the cookie is one that browsers send to nobody else.
    let printed = daemon.sandbox.ok(&["dashboard", "--print"]);
    let url = printed.lines().next().unwrap();
    assert!(url.starts_with("https://127.0.0.1:"), "{printed}");
    let (code, said) = curl(&["-i", "--cacert", &roots, url]);
    assert_eq!(code, Some(0), "{said}");
    let cookie = said.lines().find(|line| line.to_lowercase().starts_with("set-cookie:")).unwrap();
    assert!(cookie.contains("__Host-hermes=") && cookie.contains("; Secure"), "{cookie}");
    let expired = tls_listener(&authority.vouch("IP:127.0.0.1", PAST));
    let url = format!("https://{}/health", expired.address);
    let (code, said) = curl(&["--cacert", &roots, &url]);
    assert!(code == Some(60) && said.contains("expired"), "{code:?} {said}");
}

/// A server that speaks TLS with a certificate and answers every request with the same text.
struct Answering {
    port: u16,
    /// How many requests were heard, which only happens after a whole greeting.
    heard: Arc<AtomicUsize>,
    is_over: Arc<AtomicBool>,
}

impl Answering {
    fn with(pair: &Pair, answer: &'static str) -> Answering {
        let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&pair.certificate)
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        let key = PrivateKeyDer::from_pem_file(&pair.key).unwrap();
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .unwrap();
        let config = Arc::new(config);
        Answering::by(move |stream, heard| {
            let session = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut tls = StreamOwned::new(session, stream);
            let mut bytes = [0; 65_536];
            if tls.read(&mut bytes).is_ok_and(|count| count > 0) {
                heard.fetch_add(1, Ordering::SeqCst);
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{answer}",
                    answer.len()
                );
                let _ = tls.write_all(head.as_bytes());
                tls.conn.send_close_notify();
                let _ = tls.flush();
            }
        })
    }

    /// One that speaks TLS 1.1 alone: it answers a greeting in that version.
    fn old() -> Answering {
        Answering::by(|mut stream, heard| {
            let mut bytes = [0; 4_096];
            let _ = stream.read(&mut bytes);
            let mut body = vec![0x03, 0x02];
            body.extend([9_u8; 32]);
            body.extend([0, 0xc0, 0x0a, 0]);
            let mut hello = vec![2, 0, 0, body.len() as u8];
            hello.extend(body);
            let mut record = vec![0x16, 0x03, 0x02, 0, hello.len() as u8];
            record.extend(hello);
            let _ = stream.write_all(&record);
            // What comes back must be an alert, not another step of the greeting.
            let mut answer = [0; 7];
            if stream.read_exact(&mut answer).is_ok() && answer[0] != 0x15 {
                heard.fetch_add(1, Ordering::SeqCst);
            }
        })
    }

    fn by(answer: impl Fn(TcpStream, &AtomicUsize) + Send + Sync + 'static) -> Answering {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (heard, is_over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, over, answer) = (Arc::clone(&heard), Arc::clone(&is_over), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
                let (count, answer) = (Arc::clone(&count), Arc::clone(&answer));
                std::thread::spawn(move || answer(stream, &count));
            }
        });
        Answering { port, heard, is_over }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

const ANSWER: &str = r#"{"choices":[{"message":{"role":"assistant","content":"ready"}}]}"#;
const EMPTY_BUCKET: &str = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>";

/// Asks a model whether it is there, or a bucket for what is in it.
fn ask(sandbox: &Sandbox, port: u16, roots: Option<&Path>, of: &str) -> (i32, String) {
    let home = format!("https://localhost:{port}");
    let mut command = match of {
        "model" => sandbox.command(&["model", "test", &format!("{home}/v1#any")]),
        _ => sandbox.command(&[
            "backup",
            "pull",
            "--list",
            "--target",
            &format!("s3://bucket/x?endpoint={home}"),
        ]),
    };
    command.env("OPENAI_API_KEY", "sk-test");
    command
        .env("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
        .env("AWS_SECRET_ACCESS_KEY", "not-to-be-shown");
    if let Some(roots) = roots {
        command.env("SSL_CERT_FILE", roots);
    }
    let done = command.output().unwrap();
    let said = [done.stdout, done.stderr].concat();
    (done.status.code().unwrap_or(-1), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn models_and_buckets_are_talked_to_when_they_prove_who_they_are() {
    let authority = Authority::new();
    let roots = authority.path("ca.pem");
    let sandbox = Sandbox::ready();
    let good = authority.vouch("DNS:localhost", NOW);
    let cases = [
        ("good", Some(&good), Some(&roots), true),
        ("not trusted", Some(&good), None, false),
        ("another name", Some(&authority.vouch("DNS:other.example", NOW)), Some(&roots), false),
        ("expired", Some(&authority.vouch("DNS:localhost", PAST)), Some(&roots), false),
        ("TLS 1.1", None, Some(&roots), false),
    ];
    for (of, answer) in [("model", ANSWER), ("bucket", EMPTY_BUCKET)] {
        for (what, pair, roots, is_good) in &cases {
            let server = pair.map_or_else(Answering::old, |pair| Answering::with(pair, answer));
            let (code, said) = ask(&sandbox, server.port, roots.map(PathBuf::as_path), of);
            let heard = server.heard.load(Ordering::SeqCst);
            match is_good {
                true => assert!(heard > 0, "{of}, {what}: {code} {said}"),
                false => {
                    assert_ne!(code, 0, "{of}, {what}: {said}");
                    assert_eq!(heard, 0, "{of}, {what}: it was told something: {said}");
                }
            }
            assert!(!said.contains("sk-test") && !said.contains("not-to-be-shown"), "{said}");
        }
    }
}

/// A certificate for 127.0.0.1 that nobody vouches for but itself.
fn certificate(folder: &Path) -> (String, String) {
    let [certificate, key] = ["cert.pem", "key.pem"].map(|name| folder.join(name));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"])
        .args(["-days", "2", "-subj", "/CN=hermes", "-addext", "subjectAltName=IP:127.0.0.1"])
        .arg("-out")
        .arg(&certificate)
        .arg("-keyout")
        .arg(&key)
        .stderr(Stdio::null())
        .status();
    assert!(made.unwrap().success());
    (certificate.display().to_string(), key.display().to_string())
}

#[test]
fn with_a_certificate_it_speaks_tls_and_nothing_else_and_may_listen_to_others() {
    let sandbox = Sandbox::ready();
    let (certificate, key) = certificate(sandbox.folder());
    sandbox.ok(&["config", "set", "server.tls_cert", &certificate]);
    sandbox.ok(&["config", "set", "server.tls_key", &key]);
    sandbox.ok(&["config", "set", "server.bind", "0.0.0.0"]);
    let daemon = Listening::at(sandbox);
    let port = daemon.address.rsplit(':').next().unwrap().to_owned();
    let url = |path: &str| format!("https://127.0.0.1:{port}{path}");
    let trusted = ["--cacert", certificate.as_str()];
    let (code, text) = curl(&[&trusted[..], &[url("/health").as_str()]].concat());
    assert_eq!(code, Some(0), "{text}");
    let told = daemon.sandbox.json(&["status"]);
    assert!(told["daemon"]["url"].as_str().unwrap().starts_with("https://"), "{told}");
    let bearer = format!("Authorization: Bearer {}", daemon.token);
    let status = url("/api/v1/status");
    let asked = [&trusted[..], &["-H", bearer.as_str(), status.as_str()]].concat();
    assert!(curl(&asked).1.contains("\"messages\""), "{:?}", curl(&asked));
    // Without a token, without trust, without TLS: nothing.
    let (_, refused) = curl(&[&trusted[..], &[status.as_str()]].concat());
    assert!(refused.contains("unauthorized"), "{refused}");
    assert_eq!(curl(&["-H", &bearer, &status]).0, Some(60));
    let (code, text) = curl(&["-H", &bearer, &format!("http://127.0.0.1:{port}/api/v1/status")]);
    assert!(code != Some(0) && !text.contains("messages"), "{code:?} {text}");
    // A name that is not ours is refused over TLS as well.
    let foreign = ["-H", "Host: evil.example", "-H", bearer.as_str(), status.as_str()];
    let (_, text) = curl(&[&trusted[..], &foreign].concat());
    assert!(text.contains("\"error\""), "{text}");
}
