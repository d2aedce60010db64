//! The listener: connections within bounds, each request guarded, worked on in a thread, answered in time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{RawPathParams, Request};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::Response;
use axum::routing::{MethodFilter, on};
use hermes_store::Stop;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;

use super::Shared;
use super::changes;
use super::connection::{self, Patient};
use super::guard::Refused;
use super::mcp::{self, Scoped};
use super::metrics;
use super::newcomers::Ticket;
use super::pages;
use super::route::{Needs, Route, Run};
use super::routes;
use super::workers::{TURN, in_turn};
use crate::call::{Call, Fault, Reply};
use crate::whom::{Whom, named_profile};
use hermes_app::problem::Problem;
use hermes_app::tokens::Grant;

/// How many connections are open at the same time; more are told to come back.
const MOST_CONNECTIONS: usize = 400;
/// How long a client may take to say what it wants, or say nothing between two requests.
const HEAD: Duration = Duration::from_secs(15);
/// How long a body may take to arrive.
const BODY: Duration = Duration::from_secs(20);
/// How long it may take until somebody who must make room is gone.
const ROOM: Duration = Duration::from_secs(1);
/// How long a greeting in TLS may take.
const GREETING: Duration = Duration::from_secs(5);
/// How often memories that nobody asks for are closed.
const SWEEP: Duration = Duration::from_secs(10);
/// How often what was handed out is noted.
const NOTE: Duration = Duration::from_secs(1);

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
        let Ok((stream, peer)) = accepted else {
            // No descriptors left, or a client that is gone already: the next one may have more luck.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        let (router, shared, tls) = (router.clone(), Arc::clone(&shared), tls.clone());
        let slots = Arc::clone(&slots);
        tokio::spawn(async move {
            let Some(slot) = place(&shared, slots).await else {
                return connection::turn_away(stream).await;
            };
            let ticket = shared.newcomers.take(peer.ip(), Instant::now());
            shared.metrics.connected(1);
            let _ = stream.set_nodelay(true);
            tokio::select! {
                () = greet(stream, tls, router, &shared, &ticket) => {}
                () = ticket.gone() => {}
            }
            shared.metrics.connected(-1);
            drop(slot);
        });
    }
}

/// A place among the connections; where all are taken, one of those who have not shown who they are goes.
async fn place(shared: &Shared, slots: Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
    if let Ok(slot) = Arc::clone(&slots).try_acquire_owned() {
        return Some(slot);
    }
    if !shared.newcomers.make_room(Instant::now()) {
        return None;
    }
    tokio::time::timeout(ROOM, slots.acquire_owned()).await.ok()?.ok()
}

async fn greet(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    router: Router,
    shared: &Shared,
    ticket: &Ticket,
) {
    let Some(tls) = tls else { return talk(stream, router, shared, ticket).await };
    if let Ok(Ok(stream)) = tokio::time::timeout(GREETING, tls.accept(stream)).await {
        talk(stream, router, shared, ticket).await;
    }
}

/// Notes what was handed out, on a thread that may wait for a disk.
fn note_handed(shared: &Arc<Shared>) {
    if shared.pool.has_handed() {
        let shared = Arc::clone(shared);
        tokio::task::spawn_blocking(move || shared.pool.note_handed());
    }
}

async fn talk<S>(stream: S, router: Router, shared: &Shared, ticket: &Ticket)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(64 * 1024);
    let (routes, whose) = (TowerToHyperService::new(router), ticket.clone());
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(whose.clone());
        routes.call(request)
    });
    let stream = Patient::new(stream, ticket.clone());
    let connection = builder.serve_connection(TokioIo::new(stream), service);
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
                format!("{} is not supported here", request.method()),
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
        needs => {
            let grant = admit(shared, request.headers(), needs == Needs::Writing)?;
            is_known(&request);
            grant
        }
    };
    let token = grant.name.clone();
    let done = work_on(shared, route, params, grant, request).await;
    done.inspect_err(|fault| {
        shared.note_refusal(&token, &format!("{} {}", route.method, route.path), fault);
    })
}

/// A request of somebody who was let in.
async fn work_on(
    shared: &Arc<Shared>,
    route: &Arc<Route>,
    params: Vec<(String, String)>,
    grant: Grant,
    request: Request,
) -> Result<Reply, Fault> {
    let (parts, body) = request.into_parts();
    let (whom, profile) = match route.needs {
        Needs::Nothing => (Whom::default(), "default".to_owned()),
        _ => asked(&grant, None, &parts.headers)?,
    };
    // Whoever need not say who they are has nothing to send either.
    let body = match route.needs {
        Needs::Nothing => Bytes::new(),
        _ => whole(shared, body).await?,
    };
    let call = Call { params, uri: parts.uri, headers: parts.headers, body, grant, whom, profile };
    match route.run {
        Run::Changes => changes::listen(shared, &call).await,
        Run::AtOnce(run) => run(shared, &call).map_err(|error| Fault::of(&error)),
        Run::Metrics => metrics::answer(shared, call).await,
        run => {
            let writes = route.needs == Needs::Writing;
            // Held until the work is done, and let go with it.
            let turn = if writes { turn_to_write(shared).await } else { None };
            let who = call.grant.name.clone();
            in_turn(shared, &who, move |shared, stop| {
                let _turn = turn;
                run_at(shared, run, &call, stop)
            })
            .await
        }
    }
}

/// Whoever sent this request showed who they are: their connection is nobody's to close.
pub(super) fn is_known(request: &Request) {
    if let Some(ticket) = request.extensions().get::<Ticket>() {
        ticket.shown();
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
                format!("the body did not arrive completely, or is larger than {most} MB"),
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

fn run_at(shared: &Shared, run: Run, call: &Call, stop: &Stop) -> anyhow::Result<Reply> {
    let run = match run {
        Run::Plain(run) => return run(shared, call),
        Run::At(run) => run,
        Run::AtOnce(_) | Run::Metrics | Run::Changes => {
            return Err(anyhow::anyhow!("this is answered without a turn"));
        }
    };
    let mut seat = shared.pool.take(&call.profile)?;
    seat.app.actor = call.grant.actor();
    seat.heed(stop)?;
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
            let what = format!(
                "the address names the profile {path}, but the header names \
                 {header}"
            );
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
            hermes_app::problem::Kind::Refused,
            format!("the token is only for the profile {bound}"),
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
                "the Host header of the request is not a name of this server",
                "add the name with `hermes config set server.allowed_hosts NAME`",
            ),
            Refused::Origin => (
                "requests from pages of other sites are not allowed",
                "send the request without a \
                 browser",
            ),
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
    let token = bearer.or(key).ok_or_else(|| unknown("the request has no token"))?;
    let grant = shared.tokens.grant(token).map_err(|error| Fault::of(&error))?;
    let grant = grant.ok_or_else(|| unknown("the token is unknown"))?;
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
        let fault = Fault::new(StatusCode::FORBIDDEN, "refused", "the token is read-only");
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
        Ok((scoped, profile, who)) => {
            is_known(&request);
            mcp::http::answer(shared, scoped, profile, who, request).await
        }
    };
    shared.metrics.count(method, "/mcp", response.status().as_u16(), begun.elapsed());
    response
}

fn mcp_grant(
    shared: &Shared,
    profile: Option<&str>,
    headers: &HeaderMap,
) -> Result<(Scoped, String, String), Fault> {
    guard(shared, headers)?;
    let grant = admit(shared, headers, false)?;
    let (whom, profile) = asked(&grant, profile, headers)
        .inspect_err(|fault| shared.note_refusal(&grant.name, "/mcp", fault))?;
    shared.pool.home_of(&profile).map_err(|error| Fault::of(&error))?;
    let name = grant.name.clone();
    let scoped =
        Scoped { whom, read_only: grant.read_only, grant: Some(grant), ..Scoped::default() };
    Ok((scoped, profile, name))
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
