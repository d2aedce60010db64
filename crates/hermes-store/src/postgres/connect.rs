//! Opens one connection: host after host, as protected as the address asks, within its time.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use postgres::Config;
use postgres::config::{ChannelBinding, SslMode as Wire, TargetSessionAttrs};
use tokio::runtime::Builder;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::{Address, Host, Password, SslMode};
use super::client::Client;
use super::prepared::MARK_NAME;
use super::refusal;
use crate::error::ServerError;

/// A connection, or why there is none.
type Opened = std::result::Result<Client, ServerError>;

/// A new connection to the first host that answers, each within this time. A mark goes along as a setting.
pub(super) fn open(
    address: &Address,
    tls: &MakeRustlsConnect,
    time: Duration,
    mark: Option<&str>,
) -> Opened {
    let mut last = ServerError::Unreachable {
        server: address.place(),
        why: "the address has no host".to_owned(),
    };
    for host in &address.hosts {
        for wire in ways(address.ssl_mode, host) {
            let config = config(address, host, *wire, mark);
            match within_time(address, host, (config, mark.map(str::to_owned), time), tls) {
                Ok(client) => return Ok(client),
                // Another host or way has the same users and databases.
                Err(
                    error
                    @ (ServerError::WrongPassword { .. } | ServerError::NoSuchDatabase { .. }),
                ) if address.ssl_mode != SslMode::Allow => {
                    return Err(error);
                }
                // Who is not let in learns why from the host and the way that were tried first.
                Err(error) if !matches!(last, ServerError::NotLetIn { .. }) => last = error,
                Err(_) => {}
            }
        }
    }
    Err(last)
}

/// What is tried with one host, in this order.
fn ways(mode: SslMode, host: &Host) -> &'static [Wire] {
    match mode {
        _ if host.is_socket() => &[Wire::Disable],
        SslMode::Disable => &[Wire::Disable],
        SslMode::Allow => &[Wire::Disable, Wire::Require],
        // A handshake that fails is followed by a connection in the clear, as in libpq.
        SslMode::Prefer => &[Wire::Prefer, Wire::Disable],
        SslMode::Require | SslMode::VerifyCa | SslMode::VerifyFull => &[Wire::Require],
    }
}

/// The client's own limit of time ends with the TCP connection: a server that takes it and then says nothing would
/// hold us for ever. So the whole is done aside and waited for.
fn within_time(
    address: &Address,
    host: &Host,
    (config, mark, time): (Config, Option<String>, Duration),
    tls: &MakeRustlsConnect,
) -> Opened {
    let unreachable = |why: String| ServerError::Unreachable { server: host.to_string(), why };
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| unreachable(error.to_string()))?;
    let tls = tls.clone();
    let (sender, receiver) = mpsc::channel();
    let connect = move || {
        // Nobody waits any more when the time was up; then the connection is closed here.
        let _ = sender.send(Client::connect(runtime, &config, tls, mark));
    };
    thread::Builder::new()
        .name("postgres".to_owned())
        .spawn(connect)
        .map_err(|error| unreachable(error.to_string()))?;
    match receiver.recv_timeout(time) {
        Ok(Ok(client)) => Ok(client),
        Ok(Err(error)) => Err(refusal::connecting(address, host, &error)),
        Err(_) => {
            let seconds = time.as_secs_f32();
            Err(unreachable(format!("it did not respond within {seconds} s")))
        }
    }
}

fn config(address: &Address, host: &Host, wire: Wire, mark: Option<&str>) -> Config {
    let keepalives = &address.keepalives;
    let mut config = Config::new();
    config
        .port(host.port)
        .user(&address.user)
        .dbname(&address.database)
        .application_name(&address.application_name)
        .ssl_mode(wire)
        .connect_timeout(address.connect_timeout)
        .tcp_user_timeout(keepalives.unanswered)
        .keepalives(keepalives.wanted)
        .keepalives_idle(keepalives.idle)
        .keepalives_interval(keepalives.interval)
        .keepalives_retries(keepalives.count);
    match host.address {
        Some(ip) if host.name.is_empty() => config.host(ip.to_string()),
        Some(ip) => config.host(&host.name).hostaddr(ip),
        None => config.host(&host.name),
    };
    if let Some(Password(password)) = &address.password {
        config.password(password);
    }
    let mark = mark.map(|mark| format!("-c {MARK_NAME}={mark}"));
    let options: Vec<&str> =
        [address.options.as_deref(), mark.as_deref()].into_iter().flatten().collect();
    if !options.is_empty() {
        config.options(options.join(" "));
    }
    config.channel_binding(match address.channel_binding.as_deref() {
        Some("disable") => ChannelBinding::Disable,
        Some("require") => ChannelBinding::Require,
        _ => ChannelBinding::Prefer,
    });
    config.target_session_attrs(match address.target_session_attrs.as_deref() {
        Some("read-write") => TargetSessionAttrs::ReadWrite,
        Some("read-only") => TargetSessionAttrs::ReadOnly,
        _ => TargetSessionAttrs::Any,
    });
    config
}
