//! Behind PgBouncer in transaction mode: nothing of one client is left for the next.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use hermes_store::postgres::{PoolSettings, ServerError};

use crate::pg_server::{self, Flavour, PASSWORD, Server, free_port};
use crate::support::{asked, pool, pool_with, refusal};

/// A PgBouncer with one connection to the server for everybody.
struct Bouncer {
    child: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Bouncer {
    fn before(server: &Server) -> Bouncer {
        let folder = tempfile::tempdir().unwrap();
        let port = free_port();
        pg_server::put(folder.path().join("users"), format!("\"postgres\" \"{PASSWORD}\"\n"))
            .unwrap();
        pg_server::put(folder.path().join("pgbouncer.ini"), settings(server, port, folder.path()))
            .unwrap();
        pg_server::open_to_server(folder.path());
        let mut command = pg_server::as_server();
        command
            .args(["--pdeathsig", "TERM", "/usr/sbin/pgbouncer", "-q"])
            .arg(folder.path().join("pgbouncer.ini"));
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let asked = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let log = || fs::read_to_string(folder.path().join("log")).unwrap_or_default();
            assert!(
                asked.elapsed() < Duration::from_secs(120),
                "PgBouncer does not answer: {}",
                log()
            );
            thread::yield_now();
        }
        Bouncer { child, port, _folder: folder }
    }

    fn url(&self, database: &str) -> String {
        let password = PASSWORD.replace(' ', "%20");
        format!("postgres://postgres:{password}@127.0.0.1:{}/{database}", self.port)
    }
}

impl Drop for Bouncer {
    fn drop(&mut self) {
        let _ = (self.child.kill(), self.child.wait());
    }
}

fn settings(server: &Server, port: u16, folder: &Path) -> String {
    let (socket, folder) = (server.folder().display(), folder.display());
    format!(
        "[databases]\npostgres = host={socket} port={} dbname=postgres\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
         listen_port = {port}\nunix_socket_dir =\nauth_type = scram-sha-256\nauth_file = {folder}/users\n\
         pool_mode = transaction\ndefault_pool_size = 1\nmax_client_conn = 50\nlogfile = {folder}/log\n",
        server.port()
    )
}

#[test]
fn two_clients_take_turns_on_one_connection_and_leave_nothing_behind() {
    let server = pg_server::shared(Flavour::Plain);
    let bouncer = Bouncer::before(server);
    let (one, other) = (pool(&bouncer.url("postgres")), pool(&bouncer.url("postgres")));
    let (mut one, mut other) = (one.get().unwrap(), other.get().unwrap());
    let me = "select pg_catalog.pg_backend_pid()::text";
    assert_eq!(asked(&mut one, me).unwrap(), asked(&mut other, me).unwrap());
    for _ in 0..5 {
        let mut transaction = one.transaction().unwrap();
        transaction.batch_execute("select set_config('statement_timeout', '1234', true), set_config('hermes.profile', 'mine', true)").unwrap();
        let inside: String = transaction
            .query_typed("select current_setting('hermes.profile', true)", &[])
            .unwrap()[0]
            .get(0);
        transaction.commit().unwrap();
        assert_eq!(inside, "mine");
        assert_eq!(asked(&mut other, "select current_setting('statement_timeout')").unwrap(), "0");
        assert_eq!(
            asked(&mut other, "select coalesce(current_setting('hermes.profile', true), '')")
                .unwrap(),
            ""
        );
        assert_eq!(
            asked(&mut one, "select count(*)::text from pg_catalog.pg_prepared_statements")
                .unwrap(),
            "0"
        );
    }
}

#[test]
fn a_statement_that_comes_again_is_kept_on_a_connection_of_our_own_and_not_behind_a_pooler() {
    let server = pg_server::shared(Flavour::Plain);
    let bouncer = Bouncer::before(server);
    let kept = |url: &str| -> Vec<String> {
        let settings = PoolSettings { size: 1, ..PoolSettings::default() };
        let pool = pool_with(url, settings);
        let count = "select count(*)::text from pg_catalog.pg_prepared_statements";
        (0..6).map(|_| asked(&mut pool.get().unwrap(), count).unwrap()).collect()
    };
    // It is found out before the fourth use, and the second time after that it is kept.
    assert_eq!(kept(&server.url("postgres")), ["0", "0", "0", "0", "1", "1"]);
    assert_eq!(kept(&bouncer.url("postgres")), ["0"; 6]);
}

#[test]
fn what_it_refuses_is_named_like_what_the_server_refuses() {
    let bouncer = Bouncer::before(pg_server::shared(Flavour::Plain));
    let wrong = bouncer.url("postgres").replace("secret", "hunter2");
    let error = refusal(&wrong);
    assert!(matches!(error, ServerError::WrongPassword { .. }), "{error:?}");
    assert!(!format!("{error:?}").contains("hunter2"));
    let error = refusal(&bouncer.url("nowhere"));
    assert!(matches!(error, ServerError::NoSuchDatabase { .. }), "{error:?}");
}

#[test]
fn options_that_it_does_not_take_are_said_with_what_to_do() {
    let bouncer = Bouncer::before(pg_server::shared(Flavour::Plain));
    for options in ["statement_timeout=2min", "options=-c%20statement_timeout%3D2min"] {
        let error = refusal(&format!("{}?{options}", bouncer.url("postgres")));
        assert!(error.to_string().contains("accepts no options"), "{options}: {error}");
        assert!(error.hint().unwrap().contains("alter role postgres set statement_timeout"));
    }
}
