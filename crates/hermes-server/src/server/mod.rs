//! The door for other programs: the HTTP API and MCP, on one listener of the daemon.

mod changes;
mod connection;
mod guard;
mod listen;
pub(crate) mod mcp;
mod metrics;
mod newcomers;
mod openapi;
mod pages;
mod rate;
mod route;
pub(crate) mod routes;
mod tls;
mod workers;

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context as _;
use axum::http::StatusCode;
use hermes_home::Home;
use hermes_home::config::ServerSettings;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::call::Fault;
use crate::pages::login;
use crate::pages::notice::Notices;
use guard::Hosts;
use hermes_app::app::App;
use hermes_app::daemon::log::Log;
use hermes_app::pool::Pool;
use hermes_app::problem::{Kind, Problem};
use hermes_app::tokens::{self, Tokens};
use metrics::Metrics;
use newcomers::Newcomers;
use rate::Rates;
use workers::{WORKERS, Workers};

/// The port that is asked for when nothing is said.
pub(crate) const USUAL_PORT: u16 = 8420;
/// How long open requests may take to end when the daemon stops.
const GRACE: Duration = Duration::from_secs(2);

/// What every request needs.
pub(crate) struct Shared {
    pub(crate) pool: Pool,
    tokens: Tokens,
    hosts: Hosts,
    /// Where browsers find the dashboard.
    dashboard: String,
    rates: Rates,
    notices: Notices,
    is_tls: bool,
    /// Where it is written whom something was refused.
    log: Mutex<Log>,
    metrics: Metrics,
    /// Connections that have not shown who they are.
    newcomers: Arc<Newcomers>,
    /// Who is worked for.
    workers: Workers,
    /// The permit of whoever counts what is in the memory.
    counting: Arc<Semaphore>,
    /// The permit of whoever writes.
    writing: Arc<Semaphore>,
    /// The largest body, in bytes.
    most_bytes: usize,
    stop: CancellationToken,
}

impl Shared {
    /// Writes down which token was refused what; the log holds names and reasons, never what somebody said.
    fn note_refusal(&self, token: &str, asked: &str, fault: &Fault) {
        if fault.status == StatusCode::FORBIDDEN {
            let line = format!("refused: token {token}, {asked}: {}", fault.told().0);
            lock(&self.log).line(hermes_app::clock::now(), &line);
        }
    }
}

/// A listener at work.
pub struct Running {
    /// Where it listens.
    pub address: SocketAddr,
    /// Whether it speaks TLS.
    pub is_tls: bool,
    /// Where browsers find the dashboard.
    pub dashboard: String,
    stop: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// The address as it is typed into a program.
    pub fn url(&self) -> String {
        url(self.address, self.is_tls)
    }

    /// Takes no more requests, lets the open ones end, and goes.
    pub fn end(mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Begins to listen as the settings say; none if they say not to.
pub fn start(app: &App, home: &Home) -> anyhow::Result<Option<Running>> {
    let settings = app.config(home)?.config.server.clone();
    if !settings.enabled {
        return Ok(None);
    }
    let bind = bind_address(&settings)?;
    let tls = tls::acceptor(&settings, &app.env)?;
    let is_tls = tls.is_some();
    if !bind.ip().is_loopback() && !is_tls {
        return Err(Problem::new(
            Kind::Refused,
            format!(
                "server.bind is {}, which other machines can reach, and TLS is not set up",
                bind.ip()
            ),
        )
        .hint("set `server.tls_cert` and `server.tls_key`, or listen on 127.0.0.1")
        .into());
    }
    let name = login::own_name(&tokens::owner_token(home)?);
    let listener = listener(bind, settings.port.is_none())?;
    let address = listener.local_addr().context("could not determine the port")?;
    let dashboard = match address.ip().is_loopback() && !is_tls {
        true => format!("http://{name}:{}", address.port()),
        false => url(address, is_tls),
    };
    let stop = CancellationToken::new();
    let mut own = app.for_profile(home);
    own.actor = tokens::API.into();
    let shared = Arc::new(Shared {
        pool: Pool::new(own, home.clone()),
        tokens: Tokens::new(home),
        hosts: Hosts::new(address, &settings.allowed_hosts).with_own(&name),
        dashboard: dashboard.clone(),
        rates: Rates::new(settings.requests_per_minute),
        notices: Notices::default(),
        is_tls,
        log: Mutex::new(Log::new(home, false)),
        metrics: Metrics::default(),
        newcomers: Arc::default(),
        workers: Workers::new(),
        counting: Arc::new(Semaphore::new(1)),
        writing: Arc::new(Semaphore::new(1)),
        most_bytes: settings.max_body_mb as usize * 1024 * 1024,
        stop: stop.clone(),
    });
    let runtime = runtime().context("could not start to listen")?;
    let listener = {
        let _inside = runtime.enter();
        TcpListener::from_std(listener).context("could not start to listen")?
    };
    let thread = std::thread::Builder::new().name("server".to_owned()).spawn(move || {
        runtime.block_on(listen::serve(listener, tls, Arc::clone(&shared)));
        runtime.shutdown_timeout(GRACE);
        shared.pool.note_handed();
    })?;
    Ok(Some(Running { address, is_tls, dashboard, stop, thread: Some(thread) }))
}

fn url(address: SocketAddr, is_tls: bool) -> String {
    let scheme = if is_tls { "https" } else { "http" };
    format!("{scheme}://{address}")
}

/// The runtime of the listener; everything that waits for a disk is done in threads of its own.
fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .max_blocking_threads(WORKERS * 2 + 4)
        .thread_name("server")
        .enable_all()
        .build()
}

fn bind_address(settings: &ServerSettings) -> anyhow::Result<SocketAddr> {
    let ip: IpAddr = settings.bind.parse().map_err(|_| {
        Problem::usage(format!("server.bind: {:?} is not an address", settings.bind))
            .hint("write it like 127.0.0.1 or 0.0.0.0")
    })?;
    Ok(SocketAddr::new(ip, settings.port.unwrap_or(USUAL_PORT)))
}

/// Takes the port; where none was asked for and the usual one is taken, any will do.
fn listener(bind: SocketAddr, any_port: bool) -> anyhow::Result<std::net::TcpListener> {
    let taken = match std::net::TcpListener::bind(bind) {
        Err(error) if any_port && error.kind() == std::io::ErrorKind::AddrInUse => {
            std::net::TcpListener::bind(SocketAddr::new(bind.ip(), 0))
        }
        other => other,
    };
    let listener = taken.map_err(|error| {
        Problem::new(Kind::Locked, format!("could not listen on {bind}: {error}"))
            .hint("choose another port with `hermes config set server.port 8421`")
    })?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// The body of a lock that a panic left behind is still good: nothing in here is half done.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
