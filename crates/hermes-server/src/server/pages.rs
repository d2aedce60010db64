//! The dashboard at the listener: who may look, what their forms hold, and pages as answers.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{RawPathParams, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use axum::routing::{get, post};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::listen::{finish, guard, is_known, name_of, whole};
use super::workers::in_turn;
use super::{Shared, changes};
use crate::call::{Fault, Reply};
use crate::pages::{self, Format, Run, Sender, Theme, Visit, assets, login};
use hermes_app::clock;

/// What a page may load, and who may show it: nothing from elsewhere, nobody else.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
/// What makes a browser ask its user for a password.
const BASIC: &str = "Basic realm=\"Hermes\", charset=\"UTF-8\"";
/// What is smaller is not worth making smaller.
const SMALL: usize = 1_000;

type Params = Vec<(String, String)>;

/// A page with who answers, as the listener keeps it.
#[derive(Clone, Copy)]
struct Place {
    path: &'static str,
    show: Run,
    deed: Option<Run>,
}

/// The pages beside the routes of the API.
pub(super) fn add(mut router: Router, shared: &Arc<Shared>) -> Router {
    for page in pages::all() {
        let place = Place { path: page.path, show: page.show, deed: page.deed };
        let ask = handler(shared, move |shared, params, request| async move {
            visit(&shared, place, params, request).await
        });
        let methods = get(ask.clone());
        let methods = if place.deed.is_some() { methods.post(ask) } else { methods };
        router = router.route(place.path, methods);
    }
    let onward = |_: Arc<Shared>, params: Params, _: Request| async move {
        let profile = params.first().map_or("default", |(_, name)| name.as_str());
        pages::see(&format!("/p/{profile}/"))
    };
    router
        .route("/", get(handler(shared, onward)))
        .route("/p/{profile}", get(handler(shared, onward)))
        .route(
            "/login",
            get(handler(shared, |shared, _, request| async move { enter(&shared, &request) })),
        )
        .route(
            "/enter",
            get(handler(shared, |shared, _, request| async move {
                enter_by_password(&shared, &request)
            })),
        )
        .route(
            "/logout",
            post(handler(
                shared,
                |shared, _, request| async move { leave(&shared, request).await },
            )),
        )
        .route(
            "/theme",
            post(handler(
                shared,
                |shared, _, request| async move { paint(&shared, request).await },
            )),
        )
        .route(
            "/assets/{hash}/{name}",
            get(handler(shared, |_, _, request| async move { asset(&request) })),
        )
        .route(
            "/p/{profile}/events",
            get(handler(shared, |shared, params, request| async move {
                listen(&shared, params, request).await
            })),
        )
}

/// Host and Origin are looked at first, whatever is asked for; every answer is made safe.
fn handler<F, Answered>(
    shared: &Arc<Shared>,
    answer: F,
) -> impl Fn(RawPathParams, Request) -> std::pin::Pin<Box<dyn Future<Output = Response> + Send>>
+ Clone
+ Send
+ Sync
+ 'static
where
    F: Fn(Arc<Shared>, Params, Request) -> Answered + Clone + Send + Sync + 'static,
    Answered: Future<Output = Reply> + Send + 'static,
{
    let shared = Arc::clone(shared);
    move |params: RawPathParams, request: Request| {
        let params: Params =
            params.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        let (shared, answer) = (Arc::clone(&shared), answer.clone());
        Box::pin(async move {
            let begun = Instant::now();
            let (method, takes_gzip) = (name_of(request.method()), takes_gzip(request.headers()));
            let path = request.uri().path().to_owned();
            let reply = match guard(&shared, request.headers()) {
                Ok(()) => answer(Arc::clone(&shared), params, request).await,
                Err(fault) => lone(Theme::System, &fault),
            };
            let response = dress(reply, takes_gzip).await;
            let route = if path.starts_with("/assets/") { "/assets" } else { "/p" };
            shared.metrics.count(method, route, response.status().as_u16(), begun.elapsed());
            response
        })
    }
}

/// Whether somebody with a browser asks, who should see a page and not JSON.
pub(super) fn wants_page(request: &Request) -> bool {
    let accept = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

/// A page that says that there is nothing at this address.
pub(super) async fn turned_away(shared: &Arc<Shared>, request: Request, fault: Fault) -> Response {
    let takes_gzip = takes_gzip(request.headers());
    let reply = match guard(shared, request.headers()) {
        Err(fault) => lone(Theme::System, &fault),
        Ok(()) => match admitted(shared, &request, Vec::new()) {
            Err(fault) => lone(Theme::System, &fault),
            Ok(visit) => refuse(shared, visit, fault).await,
        },
    };
    dress(reply, takes_gzip).await
}

/// One visit from its head to its answer.
async fn visit(shared: &Arc<Shared>, place: Place, params: Params, request: Request) -> Reply {
    let is_deed = request.method() == Method::POST;
    let mut visit = match admitted(shared, &request, params) {
        Ok(visit) => visit,
        Err(fault) => return lone_or_json(&request, &fault),
    };
    if is_deed && let Err(fault) = read_form(shared, &mut visit, request).await {
        return refuse(shared, visit, fault).await;
    }
    let run = place.deed.filter(|_| is_deed).unwrap_or(place.show);
    let (mut asked, format) = (visit.clone(), visit.format);
    let done = in_turn(shared, &visit.visitor, move |shared, stop| {
        asked.stop = stop.clone();
        Ok(pages::answer(&shared.pool, &shared.notices, run, &asked))
    });
    match done.await {
        Ok(reply) => reply,
        Err(fault) if format == Format::Html => lone(visit.theme, &fault),
        Err(fault) => fault.into_reply(),
    }
}

async fn refuse(shared: &Arc<Shared>, visit: Visit, fault: Fault) -> Reply {
    let who = visit.visitor.clone();
    let told =
        in_turn(shared, &who, move |shared, _| Ok(pages::refused(&shared.pool, &visit, &fault)));
    told.await.unwrap_or_else(Fault::into_reply)
}

/// The visit of somebody who was let in.
fn admitted(shared: &Shared, request: &Request, params: Params) -> Result<Visit, Fault> {
    let headers = request.headers();
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let cookies = cookies(headers);
    let sender = Sender {
        path: request.uri().path(),
        query: request.uri().query(),
        accept: text(header::ACCEPT),
        cookies: &cookies,
        is_fragment: headers.contains_key("x-fragment"),
    };
    let mut visit = Visit::new(&sender, params);
    let secret = secret(shared, headers);
    let known = secret.and_then(|secret| {
        let visitor = login::visitor(shared.pool.root(), &secret, clock::now())?;
        Some((secret, visitor))
    });
    let Some((secret, visitor)) = known else {
        return Err(Fault::new(StatusCode::UNAUTHORIZED, "unauthorized", "you are not signed in")
            .hint("run `hermes dashboard` and open the address that it prints"));
    };
    is_known(request);
    if let Err(wait) = shared.rates.take(&format!("visitor {visitor}"), Instant::now()) {
        let what = "too many requests in a minute";
        let mut fault = Fault::new(StatusCode::TOO_MANY_REQUESTS, "unavailable", what);
        fault.wait = Some(wait.as_secs() + 1);
        return Err(fault);
    }
    visit.csrf = login::csrf(&secret);
    visit.notice = visit.asked("done").and_then(|id| shared.notices.find(&visitor, id));
    visit.visitor = visitor;
    Ok(visit)
}

/// What a form says, if it comes from a page of ours.
async fn read_form(shared: &Shared, visit: &mut Visit, request: Request) -> Result<(), Fault> {
    let body = whole(shared, request.into_body()).await?;
    visit.form = pages::pairs(&body);
    match visit.said("csrf") == Some(visit.csrf.as_str()) {
        true => Ok(()),
        false => Err(Fault::new(
            StatusCode::FORBIDDEN,
            "refused",
            "the form was not sent from a page of this dashboard; nothing was changed",
        )
        .hint("go back, reload the page and send the form again")),
    }
}

/// What a visitor shows: a cookie, where no other program of this machine can see it, else a password, which browsers send
/// to one port alone.
fn secret(shared: &Shared, headers: &HeaderMap) -> Option<String> {
    let cookie = match keeps_cookies(shared, headers) {
        true => pages::cookie(&cookies(headers), cookie_name(shared)).map(str::to_owned),
        false => None,
    };
    cookie.or_else(|| password(headers))
}

/// Over TLS a cookie goes only to whoever has the certificate of the name.
fn keeps_cookies(shared: &Shared, headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok());
    shared.is_tls || !shared.hosts.is_shared(host)
}

fn cookie_name(shared: &Shared) -> &'static str {
    if shared.is_tls { login::SAFE_COOKIE } else { login::COOKIE }
}

/// The password of a browser that asked its user for one.
fn password(headers: &HeaderMap) -> Option<String> {
    let said = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, rest) = said.split_once(' ')?;
    let pair = BASE64_STANDARD.decode(rest.trim()).ok()?;
    let pair = String::from_utf8(pair).ok()?;
    let (_, password) = pair.split_once(':')?;
    scheme.eq_ignore_ascii_case("basic").then(|| password.trim().to_owned())
}

/// Tries that were not good are counted, and a good one is looked at before them: nobody can use it up for others.
fn not_good(shared: &Shared) -> Fault {
    if let Err(wait) = shared.rates.take("login", Instant::now()) {
        let what = "too many invalid codes were tried";
        let mut fault = Fault::new(StatusCode::TOO_MANY_REQUESTS, "unavailable", what);
        fault.wait = Some(wait.as_secs() + 1);
        return fault;
    }
    let what = "this code was already used, or is older than ten minutes";
    Fault::new(StatusCode::UNAUTHORIZED, "unauthorized", what)
        .hint("run `hermes dashboard` to get a new code")
}

/// Asks for a code as a password: for browsers that do not find the name of the dashboard.
fn enter_by_password(shared: &Shared, request: &Request) -> Reply {
    let (home, now) = (shared.pool.root(), clock::now());
    let Some(password) = password(request.headers()) else {
        let what =
            "enter the code that `hermes dashboard` prints as the password, with any user name";
        let fault = Fault::new(StatusCode::UNAUTHORIZED, "unauthorized", what);
        return lone(theme(request.headers()), &fault).with(header::WWW_AUTHENTICATE, BASIC);
    };
    if login::visitor(home, &password, now).is_some() {
        return pages::see("/");
    }
    match login::admit_by_password(home, &password, now) {
        Ok(true) => {
            is_known(request);
            pages::see("/")
        }
        Ok(false) => {
            lone(theme(request.headers()), &not_good(shared)).with(header::WWW_AUTHENTICATE, BASIC)
        }
        Err(error) => lone(theme(request.headers()), &Fault::of(&error)),
    }
}

/// A code becomes a cookie, once.
fn enter(shared: &Shared, request: &Request) -> Reply {
    let pairs = pages::pairs(request.uri().query().unwrap_or_default().as_bytes());
    let code = pairs.iter().find(|(name, _)| name == "code").map_or("", |(_, code)| code.as_str());
    let theme = theme(request.headers());
    let (home, now) = (shared.pool.root(), clock::now());
    if !keeps_cookies(shared, request.headers()) && login::is_good(home, code, now) {
        // Only whoever has a good code is told the name.
        return pages::see(&format!("{}/login?code={code}", shared.dashboard));
    }
    if !keeps_cookies(shared, request.headers()) || !login::redeem(home, code, now) {
        let known = secret(shared, request.headers());
        if known.and_then(|secret| login::visitor(home, &secret, now)).is_some() {
            return pages::see("/");
        }
        return lone(theme, &not_good(shared));
    }
    is_known(request);
    let entered = login::new_visitor(home, clock::now()).and_then(|cookie| {
        let page = pages::html(StatusCode::OK, pages::welcome(theme)?);
        let cookie = set_cookie(shared, cookie_name(shared), &cookie, "; HttpOnly");
        Ok(page.with(header::SET_COOKIE, cookie))
    });
    entered.unwrap_or_else(|error| lone(theme, &Fault::of(&error)))
}

async fn leave(shared: &Arc<Shared>, request: Request) -> Reply {
    let secret = secret(shared, request.headers());
    match passing_form(shared, request).await {
        Err(fault) => lone(Theme::System, &fault),
        Ok(visit) => {
            if let Some(secret) = secret {
                login::leave(shared.pool.root(), &secret);
            }
            let fault = Fault::new(StatusCode::OK, "done", "You are signed out.")
                .hint("run `hermes dashboard` to sign in again");
            let secure = if shared.is_tls { "; Secure" } else { "" };
            let name = cookie_name(shared);
            let gone = format!("{name}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict{secure}");
            lone(visit.theme, &fault).with(header::SET_COOKIE, gone)
        }
    }
}

/// Light or dark, as somebody chose.
async fn paint(shared: &Arc<Shared>, request: Request) -> Reply {
    match passing_form(shared, request).await {
        Err(fault) => lone(Theme::System, &fault),
        Ok(visit) => {
            let theme = Theme::parse(visit.said("theme").unwrap_or_default());
            let back = visit.said("back").filter(|back| back.starts_with("/p/")).unwrap_or("/");
            let cookie = set_cookie(shared, "theme", theme.word(), "");
            pages::see(back).with(header::SET_COOKIE, cookie)
        }
    }
}

async fn passing_form(shared: &Shared, request: Request) -> Result<Visit, Fault> {
    let mut visit = admitted(shared, &request, Vec::new())?;
    read_form(shared, &mut visit, request).await?;
    Ok(visit)
}

fn set_cookie(shared: &Shared, name: &str, value: &str, more: &str) -> String {
    let secure = if shared.is_tls { "; Secure" } else { "" };
    let lives = login::VISITOR_LIVES.as_secs();
    format!("{name}={value}; Path=/; Max-Age={lives}; SameSite=Strict{more}{secure}")
}

/// A file that every page needs; its address changes when it does.
fn asset(request: &Request) -> Reply {
    let Some(asset) = assets::find(request.uri().path()) else {
        let what = "there is no such address";
        return Fault::new(StatusCode::NOT_FOUND, "not_found", what).into_reply();
    };
    let reply = Reply::text(asset.kind, String::new())
        .with(header::CACHE_CONTROL, "public, max-age=31536000, immutable");
    match takes_gzip(request.headers()) {
        true => Reply { body: asset.small.as_slice().into(), ..reply }
            .with(header::CONTENT_ENCODING, "gzip"),
        false => Reply { body: asset.bytes.into(), ..reply },
    }
}

/// What changes, for a page that is open.
async fn listen(shared: &Arc<Shared>, params: Params, request: Request) -> Reply {
    let heard = request.headers().get("last-event-id").and_then(|value| value.to_str().ok());
    let heard = heard.map(str::to_owned);
    let listening = match admitted(shared, &request, params) {
        Err(fault) => Err(fault),
        Ok(visit) => match shared.pool.home_of(&visit.profile) {
            Err(error) => Err(Fault::of(&error)),
            Ok(_) => changes::stream(shared, visit.profile, heard.as_deref()).await,
        },
    };
    listening.unwrap_or_else(Fault::into_reply)
}

fn lone_or_json(request: &Request, fault: &Fault) -> Reply {
    let is_json = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    match is_json.is_some_and(|accept| accept.starts_with("application/json")) {
        true => fault.clone().into_reply(),
        false => lone(theme(request.headers()), fault),
    }
}

/// A page without anything about the home.
fn lone(theme: Theme, fault: &Fault) -> Reply {
    match pages::lone(theme, fault) {
        Ok(text) => pages::html(fault.status, text),
        Err(_) => fault.clone().into_reply(),
    }
}

fn theme(headers: &HeaderMap) -> Theme {
    Theme::parse(pages::cookie(&cookies(headers), "theme").unwrap_or_default())
}

fn cookies(headers: &HeaderMap) -> String {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    all.collect::<Vec<_>>().join("; ")
}

fn takes_gzip(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|accepted| accepted.split(',').any(|one| one.trim().starts_with("gzip")))
}

/// What every page says to the browser, and its bytes made smaller where that helps.
async fn dress(reply: Reply, takes_gzip: bool) -> Response {
    let mut response = finish(reply);
    let value = HeaderValue::from_static;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, value(POLICY));
    headers.insert("cross-origin-opener-policy", value("same-origin"));
    // Without it a browser sends `Origin: null` with a form, and nobody could tell it from a stranger's.
    headers.insert(header::REFERRER_POLICY, value("same-origin"));
    headers.insert(header::VARY, value("accept-encoding, cookie, accept, x-fragment"));
    let is_stream = headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
        || headers.contains_key(header::CONTENT_DISPOSITION);
    if !takes_gzip || is_stream || headers.contains_key(header::CONTENT_ENCODING) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    let Ok(bytes) = axum::body::to_bytes(body, usize::MAX).await else {
        return finish(Reply::text("text/plain", String::new()));
    };
    if bytes.len() < SMALL {
        return Response::from_parts(parts, bytes.into());
    }
    parts.headers.insert(header::CONTENT_ENCODING, value("gzip"));
    Response::from_parts(parts, assets::gzip(&bytes).into())
}
