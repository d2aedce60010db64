//! The listener: connections within bounds, each request guarded, worked on in a thread, answered in time.

use std::io::BufReader;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{RawPathParams, Request};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::Response;
use axum::routing::{MethodFilter, on};
use hermes_home::config::ServerSettings;
use hermes_home::env::Env;
use hermes_home::layout::expand_tilde;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::call::{Call, Fault, Reply};
use super::connection::{self, Patient};
use super::guard::Refused;
use super::mcp::Scoped;
use super::route::{Needs, Route, Run};
use super::tokens::Grant;
use super::whom::{Whom, named_profile};
use super::{Shared, changes, mcp, pages, routes};
use crate::failure::Problem;

/// How many connections are open at the same time; more are told to come back.
const MOST_CONNECTIONS: usize = 400;
/// How long a client may take to say what it wants, or say nothing between two requests.
const HEAD: Duration = Duration::from_secs(15);
/// How long a body may take to arrive.
const BODY: Duration = Duration::from_secs(20);
/// How long a request may take to be worked on.
const WORK: Duration = Duration::from_secs(30);
/// How long a request waits for its turn.
const TURN: Duration = Duration::from_secs(10);
/// How long a greeting in TLS may take.
const GREETING: Duration = Duration::from_secs(5);
/// How often memories that nobody asks for are closed.
const SWEEP: Duration = Duration::from_secs(10);
/// How often what was handed out is noted.
const NOTE: Duration = Duration::from_secs(1);

/// The certificate and key of the settings, ready to be used.
pub(super) fn tls(settings: &ServerSettings, env: &Env) -> anyhow::Result<Option<TlsAcceptor>> {
    let (certificate, key) = match (&settings.tls_cert, &settings.tls_key) {
        (Some(certificate), Some(key)) => {
            (expand_tilde(certificate, env)?, expand_tilde(key, env)?)
        }
        (None, None) => return Ok(None),
        _ => {
            return Err(Problem::usage("server.tls_cert and server.tls_key belong together").into());
        }
    };
    let open = |path: &std::path::Path| {
        let file = std::fs::File::open(path);
        file.map(BufReader::new).with_context(|| format!("could not read {}", path.display()))
    };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_reader_iter(open(&certificate)?)
        .collect::<Result<_, _>>()
        .map_err(|error| anyhow::anyhow!("{}: {error}", certificate.display()))?;
    let private = PrivateKeyDer::from_pem_reader(open(&key)?)
        .map_err(|error| anyhow::anyhow!("{}: {error}", key.display()))?;
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|error| anyhow::anyhow!("the certificate cannot be used: {error}"))?;
    Ok(Some(TlsAcceptor::from(Arc::new(config))))
}

/// Answers until it is told to stop.
pub(super) async fn serve(listener: TcpListener, tls: Option<TlsAcceptor>, shared: Arc<Shared>) {
    let router = router(&shared);
    let slots = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut sweep = tokio::time::interval(SWEEP);
    let mut note = tokio::time::interval(NOTE);
    loop {
        let accepted = tokio::select! {
            () = shared.stop.cancelled() => return,
            _ = sweep.tick() => { shared.pool.close_idle(); continue; }
            _ = note.tick() => { note_handed(&shared); continue; }
            accepted = listener.accept() => accepted,
        };
        let Ok((stream, _)) = accepted else {
            // No descriptors left, or a client that is gone already: the next one may have more luck.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let Ok(slot) = Arc::clone(&slots).try_acquire_owned() else {
            tokio::spawn(connection::turn_away(stream));
            continue;
        };
        let (router, shared, tls) = (router.clone(), Arc::clone(&shared), tls.clone());
        tokio::spawn(async move {
            shared.metrics.connected(1);
            let _ = stream.set_nodelay(true);
            match tls {
                None => talk(stream, router, &shared).await,
                Some(tls) => {
                    if let Ok(Ok(stream)) = tokio::time::timeout(GREETING, tls.accept(stream)).await
                    {
                        talk(stream, router, &shared).await;
                    }
                }
            }
            shared.metrics.connected(-1);
            drop(slot);
        });
    }
}

/// Notes what was handed out, on a thread that may wait for a disk.
fn note_handed(shared: &Arc<Shared>) {
    if shared.pool.has_handed() {
        let shared = Arc::clone(shared);
        tokio::task::spawn_blocking(move || shared.pool.note_handed());
    }
}

async fn talk<S>(stream: S, router: Router, shared: &Shared)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(64 * 1024);
    let service = TowerToHyperService::new(router);
    let connection = builder.serve_connection(TokioIo::new(Patient::new(stream)), service);
    tokio::pin!(connection);
    tokio::select! {
        _ = connection.as_mut() => {}
        () = shared.stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            let _ = tokio::time::timeout(super::GRACE, connection).await;
        }
    }
}

fn router(shared: &Arc<Shared>) -> Router {
    let mut router = Router::new();
    for route in routes::all() {
        let Ok(filter) = MethodFilter::try_from(route.method.clone()) else { continue };
        let (path, route, shared) = (route.path, Arc::new(route), Arc::clone(shared));
        let handler = move |params: RawPathParams, request: Request| {
            let (route, shared) = (Arc::clone(&route), Arc::clone(&shared));
            let params = params.iter().map(|(key, value)| (key.to_owned(), value.to_owned()));
            let params: Vec<(String, String)> = params.collect();
            async move { answer(&shared, &route, params, request).await }
        };
        router = router.route(path, on(filter, handler));
    }
    for path in ["/mcp", "/mcp/{profile}"] {
        let shared = Arc::clone(shared);
        let handler = move |params: RawPathParams, request: Request| {
            let profile = params.iter().next().map(|(_, value)| value.to_owned());
            let shared = Arc::clone(&shared);
            async move { answer_mcp(&shared, profile, request).await }
        };
        router = router.route(path, axum::routing::any(handler));
    }
    let (missing, other) = (Arc::clone(shared), Arc::clone(shared));
    pages::add(router, shared)
        .fallback(move |request: Request| async move {
            let fault = Fault::new(StatusCode::NOT_FOUND, "not_found", "there is no such address");
            match pages::wants_page(&request) {
                true => pages::turned_away(&missing, request, fault).await,
                false => turned_away(&missing, &request, fault.hint("see /openapi.json")),
            }
        })
        .method_not_allowed_fallback(move |request: Request| async move {
            let fault = Fault::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "usage",
                format!("{} is not understood here", request.method()),
            );
            turned_away(&other, &request, fault)
        })
}

/// Host and Origin are looked at whatever is asked for, even what is not there.
fn turned_away(shared: &Shared, request: &Request, fault: Fault) -> Response {
    let fault = guard(shared, request.headers()).err().unwrap_or(fault);
    finish(fault.into_reply())
}

/// One request from its head to its answer.
async fn answer(
    shared: &Arc<Shared>,
    route: &Arc<Route>,
    params: Vec<(String, String)>,
    request: Request,
) -> Response {
    let begun = Instant::now();
    let method = name_of(&route.method);
    let reply = match try_answer(shared, route, params, request).await {
        Ok(reply) => reply,
        Err(fault) => fault.into_reply(),
    };
    shared.metrics.count(method, route.path, reply.status.as_u16(), begun.elapsed());
    finish(reply)
}

async fn try_answer(
    shared: &Arc<Shared>,
    route: &Arc<Route>,
    params: Vec<(String, String)>,
    request: Request,
) -> Result<Reply, Fault> {
    guard(shared, request.headers())?;
    let grant = match route.needs {
        Needs::Nothing => Grant::owner(),
        needs => admit(shared, request.headers(), needs == Needs::Writing)?,
    };
    let token = grant.name.clone();
    let done = work_on(shared, route, (params, grant), request).await;
    done.inspect_err(|fault| {
        shared.note_refusal(&token, &format!("{} {}", route.method, route.path), fault);
    })
}

/// A request of somebody who was let in.
async fn work_on(
    shared: &Arc<Shared>,
    route: &Arc<Route>,
    (params, grant): (Vec<(String, String)>, Grant),
    request: Request,
) -> Result<Reply, Fault> {
    let (parts, body) = request.into_parts();
    let (whom, profile) = match route.needs {
        Needs::Nothing => (Whom::default(), "default".to_owned()),
        _ => asked(&grant, None, &parts.headers)?,
    };
    let body = whole(shared, body).await?;
    let call = Call { params, uri: parts.uri, headers: parts.headers, body, grant, whom, profile };
    match route.run {
        Run::Changes => changes::listen(shared, &call).await,
        run => {
            let writes = route.needs == Needs::Writing;
            // Held until the work is done, and let go with it.
            let turn = if writes { turn_to_write(shared).await } else { None };
            in_turn(shared, move |shared| {
                let _turn = turn;
                run_at(shared, run, &call)
            })
            .await
        }
    }
}

/// A body, if it comes whole and in time.
pub(super) async fn whole(shared: &Shared, body: Body) -> Result<Bytes, Fault> {
    let body = tokio::time::timeout(BODY, axum::body::to_bytes(body, shared.most_bytes)).await;
    match body {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(_)) => {
            let most = shared.most_bytes / (1024 * 1024);
            Err(Fault::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "usage",
                format!("the body did not arrive whole, or is larger than {most} MB"),
            ))
        }
        Err(_) => {
            let what = "the body did not arrive in time";
            Err(Fault::new(StatusCode::REQUEST_TIMEOUT, "usage", what))
        }
    }
}

/// One writer after the other, in the order they came: SQLite lets in whoever happens to ask when the one before is done,
/// and of many who ask without end one may be left out for longer than it waits. Behind somebody who takes very long
/// nobody waits for ever.
async fn turn_to_write(shared: &Shared) -> Option<OwnedSemaphorePermit> {
    let turn = Arc::clone(&shared.writing).acquire_owned();
    tokio::time::timeout(TURN, turn).await.ok()?.ok()
}

/// In a thread of its own, when its turn has come; a panic there is a failure here.
pub(super) async fn in_turn(
    shared: &Arc<Shared>,
    deed: impl FnOnce(&Shared) -> anyhow::Result<Reply> + Send + 'static,
) -> Result<Reply, Fault> {
    let busy = || {
        let mut fault = Fault::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "unavailable",
            "too many requests are being worked on",
        );
        fault.wait = Some(1);
        fault
    };
    let turn = Arc::clone(&shared.workers).acquire_owned();
    let Ok(Ok(permit)) = tokio::time::timeout(TURN, turn).await else { return Err(busy()) };
    let shared = Arc::clone(shared);
    let done = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        deed(&shared)
    });
    match tokio::time::timeout(WORK, done).await {
        Ok(Ok(done)) => done.map_err(|error| Fault::of(&error)),
        Ok(Err(_)) => {
            Err(Fault::new(StatusCode::INTERNAL_SERVER_ERROR, "failure", "a bug ended it"))
        }
        Err(_) => Err(Fault::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "unavailable",
            format!(
                "it takes longer than {} seconds and goes on: what was asked may still be done",
                WORK.as_secs()
            ),
        )),
    }
}

fn run_at(shared: &Shared, run: Run, call: &Call) -> anyhow::Result<Reply> {
    let run = match run {
        Run::Plain(run) => return run(shared, call),
        Run::At(run) => run,
        Run::Changes => return Err(anyhow::anyhow!("changes are listened to, not worked on")),
    };
    let mut seat = shared.pool.take(&call.profile)?;
    seat.app.actor = call.grant.actor();
    let reply = run(&mut seat, call)?;
    shared.pool.give_back(seat);
    Ok(reply)
}

/// For whom and at which profile something is asked: what the token, the address and the headers say.
fn asked(grant: &Grant, path: Option<&str>, headers: &HeaderMap) -> Result<(Whom, String), Fault> {
    let read = || -> anyhow::Result<(Whom, String)> {
        let header = named_profile(headers)?;
        if let (Some(path), Some(header)) = (path, &header)
            && path != header
        {
            let what = format!("the address names the profile {path}, the header {header}");
            return Err(Problem::usage(what).into());
        }
        Ok((Whom::of(grant, headers)?, narrow(grant, path.or(header.as_deref()))?))
    };
    read().map_err(|error| Fault::of(&error))
}

/// The profile that is asked for, if the token is good for it.
fn narrow(grant: &Grant, asked: Option<&str>) -> anyhow::Result<String> {
    match (&grant.profile, asked) {
        (Some(bound), Some(asked)) if bound != asked => Err(Problem::new(
            crate::failure::Kind::Refused,
            format!("the token is for the profile {bound} alone"),
        )
        .into()),
        (Some(bound), _) => Ok(bound.clone()),
        (None, asked) => Ok(asked.unwrap_or("default").to_owned()),
    }
}

pub(super) fn guard(shared: &Shared, headers: &HeaderMap) -> Result<(), Fault> {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let count = headers.get_all(header::HOST).iter().count();
    let host = text(header::HOST).filter(|_| count == 1);
    shared.hosts.check(host, text(header::ORIGIN)).map_err(|refused| {
        let (what, hint) = match refused {
            Refused::Host => (
                "the Host of the request is none of this listener's names",
                "add the name with `hermes config set server.allowed_hosts NAME`",
            ),
            Refused::Origin => ("pages of other sites may not ask", "ask without a browser"),
        };
        Fault::new(StatusCode::FORBIDDEN, "refused", what).hint(hint)
    })
}

/// What the token of the request allows.
fn admit(shared: &Shared, headers: &HeaderMap, is_writing: bool) -> Result<Grant, Fault> {
    let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = text(header::AUTHORIZATION).and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
    });
    let key = headers.get("x-api-key").and_then(|value| value.to_str().ok());
    let unknown = |message: &str| {
        Fault::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
            .hint("send `Authorization: Bearer TOKEN`; `hermes token show` prints the owner's")
    };
    let token = bearer.or(key).ok_or_else(|| unknown("there is no token"))?;
    let grant = shared.tokens.grant(token).map_err(|error| Fault::of(&error))?;
    let grant = grant.ok_or_else(|| unknown("the token is not known"))?;
    if let Err(wait) = shared.rates.take(&grant.name, Instant::now()) {
        let mut fault = Fault::new(
            StatusCode::TOO_MANY_REQUESTS,
            "unavailable",
            "too many requests in a minute",
        );
        fault.wait = Some(wait.as_secs() + 1);
        return Err(fault);
    }
    if is_writing && grant.read_only {
        let fault = Fault::new(StatusCode::FORBIDDEN, "refused", "the token is for reading alone");
        shared.note_refusal(&grant.name, "a change", &fault);
        return Err(fault);
    }
    Ok(grant)
}

async fn answer_mcp(shared: &Arc<Shared>, profile: Option<String>, request: Request) -> Response {
    let begun = Instant::now();
    let method = name_of(request.method());
    let response = match mcp_grant(shared, profile.as_deref(), request.headers()) {
        Err(fault) => finish(fault.into_reply()),
        Ok(asked) => mcp::http::answer(shared, asked, request).await,
    };
    shared.metrics.count(method, "/mcp", response.status().as_u16(), begun.elapsed());
    response
}

fn mcp_grant(
    shared: &Shared,
    profile: Option<&str>,
    headers: &HeaderMap,
) -> Result<(Scoped, String), Fault> {
    guard(shared, headers)?;
    let grant = admit(shared, headers, false)?;
    let (whom, profile) = asked(&grant, profile, headers)
        .inspect_err(|fault| shared.note_refusal(&grant.name, "/mcp", fault))?;
    shared.pool.home_of(&profile).map_err(|error| Fault::of(&error))?;
    let scoped =
        Scoped { whom, read_only: grant.read_only, grant: Some(grant), ..Scoped::default() };
    Ok((scoped, profile))
}

/// What every answer says: nobody keeps a copy, nobody guesses what it is.
pub(super) fn finish(reply: Reply) -> Response<Body> {
    let mut response = reply.into_response();
    let headers = response.headers_mut();
    let value = axum::http::HeaderValue::from_static;
    headers.entry(header::CACHE_CONTROL).or_insert(value("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, value("nosniff"));
    headers.insert(header::REFERRER_POLICY, value("no-referrer"));
    response
}

pub(super) fn name_of(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        _ => "OTHER",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_for_one_profile_is_good_for_no_other() {
        let bound = Grant { profile: Some("work".to_owned()), ..Grant::owner() };
        assert_eq!(narrow(&bound, None).unwrap(), "work");
        assert_eq!(narrow(&bound, Some("work")).unwrap(), "work");
        assert!(narrow(&bound, Some("home")).is_err());
        assert_eq!(narrow(&Grant::owner(), None).unwrap(), "default");
    }
}
