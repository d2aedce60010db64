//! One POST of JSON to an endpoint, with its key, time-outs and tries.

use crate::complaint::{Complaint, Verdict};
use crate::error::{Error, Result, Server, Task};
use crate::retry::{self, Attempt, Sleep};
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;
use ureq::Body;
use ureq::http::{HeaderMap, Response, Uri};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig};

const LONGEST_MESSAGE: usize = 200;
const LARGEST_ANSWER: u64 = 256 << 20;
const LARGEST_COMPLAINT: u64 = 64 << 10;
const HIDDEN: &str = "***";

/// A secret that never prints itself.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

/// How long and how often to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Until a connection is made.
    pub connect: Duration,
    /// Until the answer to one request is complete.
    pub request: Duration,
    /// For a whole call: all batches, all tries and the waits between them.
    pub deadline: Duration,
    /// How often one request is sent at most.
    pub tries: u32,
}

/// How long one request may take.
#[derive(Clone, Copy)]
pub(crate) struct Waits {
    /// Until the answer begins.
    pub(crate) first: Duration,
    /// Until the answer is complete.
    pub(crate) whole: Duration,
}

/// In which header a key goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyHeader {
    /// `authorization: Bearer KEY`.
    Bearer,
    /// `x-api-key: KEY`.
    XApiKey,
}

/// One place to send requests to, and what goes with each.
pub(crate) struct Endpoint {
    pub(crate) task: Task,
    pub(crate) server: Server,
    pub(crate) url: String,
    pub(crate) model: String,
    pub(crate) key: Option<ApiKey>,
    pub(crate) key_header: KeyHeader,
    /// The variable the key came from, for the hint when it is refused.
    pub(crate) key_from: Option<String>,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) proxy: Option<String>,
    pub(crate) authorities: Option<PathBuf>,
    pub(crate) connect: Duration,
}

/// What sends the requests for one model.
pub(crate) struct Client {
    agent: ureq::Agent,
    host: String,
    endpoint: Endpoint,
}

impl ApiKey {
    /// Keeps a key, without the white space around it.
    pub fn new(key: &str) -> ApiKey {
        ApiKey(key.trim().into())
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "ApiKey({HIDDEN})")
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connect: Duration::from_secs(5),
            request: Duration::from_secs(60),
            deadline: Duration::from_secs(120),
            tries: 4,
        }
    }
}

impl KeyHeader {
    /// The header's name and value.
    fn with(self, key: &str) -> (&'static str, String) {
        match self {
            KeyHeader::Bearer => ("authorization", format!("Bearer {key}")),
            KeyHeader::XApiKey => ("x-api-key", key.to_owned()),
        }
    }
}

/// Whom to trust: those in a file, else the authorities of the web that are built in.
fn trusting(authorities: Option<&Path>) -> std::result::Result<TlsConfig, String> {
    let Some(path) = authorities else { return Ok(TlsConfig::default()) };
    let text = std::fs::read(path);
    let text = text.map_err(|error| format!("could not read {}: {error}", path.display()))?;
    let items = ureq::tls::parse_pem(&text).filter_map(std::result::Result::ok);
    let certificates: Vec<Certificate<'static>> = items
        .filter_map(|item| match item {
            PemItem::Certificate(certificate) => Some(certificate),
            _ => None,
        })
        .collect();
    if certificates.is_empty() {
        return Err(format!("{} contains no certificate", path.display()));
    }
    let roots = RootCerts::new_with_certs(&certificates);
    Ok(TlsConfig::builder().root_certs(roots).build())
}

impl Client {
    /// Makes ready to send; fails if an address cannot be used.
    pub(crate) fn new(endpoint: Endpoint) -> Result<Client> {
        let bad = |why: &str| Error::BadAddress { model: endpoint.model.clone(), why: why.into() };
        let host = host_of(&endpoint.url).map_err(bad)?;
        let unsendable = |key: &ApiKey| !key.0.bytes().all(|byte| byte.is_ascii_graphic());
        if endpoint.key.as_ref().is_some_and(unsendable) {
            return Err(Error::BadKey { host });
        }
        let proxy = endpoint.proxy.as_deref().map(ureq::Proxy::new).transpose();
        let proxy = proxy.map_err(|_| bad("the proxy is not a valid address"))?;
        let tls = trusting(endpoint.authorities.as_deref()).map_err(|why| bad(&why))?;
        let config = ureq::Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(proxy)
            .user_agent(concat!("hermes/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(endpoint.connect))
            .build();
        Ok(Client { agent: config.into(), host, endpoint })
    }

    /// Sends a body until there is an answer, and gives back the answer's.
    pub(crate) fn post(
        &self,
        body: &str,
        limits: &Limits,
        sleep: &Sleep,
        remaining: &mut Duration,
    ) -> Result<Vec<u8>> {
        retry::run(limits.tries, sleep, remaining, |left| {
            let whole = left.min(limits.request);
            self.send(body, Waits { first: whole, whole }).then(|mut response| {
                match response.body_mut().with_config().limit(LARGEST_ANSWER).read_to_vec() {
                    Ok(answer) => Attempt::Done(answer),
                    Err(error) => self.failed(&error),
                }
            })
        })
    }

    /// Sends a body once; what comes back has a status of success.
    pub(crate) fn send(&self, body: &str, waits: Waits) -> Attempt<Response<Body>> {
        let mut request = self
            .agent
            .post(&self.endpoint.url)
            .config()
            .timeout_recv_response(Some(waits.first))
            .timeout_global(Some(waits.whole))
            .build();
        for (name, value) in self.headers() {
            request = request.header(name, value);
        }
        match request.send(body) {
            Ok(response) if response.status().is_success() => Attempt::Done(response),
            Ok(response) => self.complained(response),
            Err(error) => self.failed(&error),
        }
    }

    /// The address and the headers as they may be shown, with the key hidden.
    pub(crate) fn shown(&self) -> (String, Vec<(&'static str, String)>) {
        let headers = self.headers().into_iter().map(|(name, value)| (name, self.hide(&value)));
        (without_password(&self.endpoint.url), headers.collect())
    }

    /// The host, with its port when one was given.
    pub(crate) fn host(&self) -> String {
        self.host.clone()
    }

    /// The name of the model.
    pub(crate) fn model(&self) -> String {
        self.endpoint.model.clone()
    }

    /// An answer that cannot be used; if it carries a complaint of the server, that is the reason.
    pub(crate) fn bad_answer(&self, answer: &[u8], why: String) -> Error {
        let why = Complaint::of_json(answer).map_or(why, |complaint| complaint.message);
        Error::BadAnswer { model: self.model(), host: self.host(), why: self.tidy(&why) }
    }

    /// No answer came: worth another try unless the request itself is at fault.
    fn failed<T>(&self, error: &ureq::Error) -> Attempt<T> {
        let why = self.tidy(&error.to_string());
        let found = Error::Unreachable { server: self.endpoint.server, host: self.host(), why };
        match error {
            ureq::Error::Io(_)
            | ureq::Error::Timeout(_)
            | ureq::Error::HostNotFound
            | ureq::Error::ConnectionFailed
            | ureq::Error::Protocol(_) => Attempt::Again(found, None),
            _ => Attempt::Fail(found),
        }
    }

    /// The server said no, or not now.
    fn complained<T>(&self, response: Response<Body>) -> Attempt<T> {
        let status = response.status().as_u16();
        let headers = response.headers();
        let wait = retry::retry_after(header(headers, "retry-after"), header(headers, "date"));
        let id = request_id(headers);
        let mut body = Vec::new();
        // A complaint cut short is better than none, so an error while reading it is let go.
        let _ = response.into_body().into_reader().take(LARGEST_COMPLAINT).read_to_end(&mut body);
        self.judge(status, &Complaint::of_body(&body), id.as_deref(), wait)
    }

    /// What a complaint means: worth another try, or final.
    pub(crate) fn judge<T>(
        &self,
        status: u16,
        complaint: &Complaint,
        request_id: Option<&str>,
        wait: Option<Duration>,
    ) -> Attempt<T> {
        let (task, model, host) = (self.endpoint.task, self.model(), self.host());
        let message = self.message(&complaint.message, request_id);
        let (server, key_from) = (self.endpoint.server, self.endpoint.key_from.clone());
        Attempt::Fail(match complaint.verdict(status) {
            Verdict::Passing => {
                return Attempt::Again(Error::Busy { task, model, host, status, message }, wait);
            }
            Verdict::NoCredit => Error::NoCredit { task, model, host, message },
            Verdict::TooLong => Error::TooLong { task, model, message },
            Verdict::Final => {
                Error::Refused { task, server, model, host, status, message, key_from }
            }
        })
    }

    /// What a server said, with the id by which it can be asked about.
    pub(crate) fn message(&self, said: &str, request_id: Option<&str>) -> String {
        let said = self.tidy(said);
        match request_id {
            Some(id) => format!("{said} (request {})", self.tidy(id)),
            None => said,
        }
    }

    /// One short line without the key; the key goes first, so that no part of it is left by a cut.
    pub(crate) fn tidy(&self, message: &str) -> String {
        let hidden = self.hide(message);
        let words: Vec<&str> = hidden
            .split(|c: char| c.is_whitespace() || c.is_control())
            .filter(|w| !w.is_empty())
            .collect();
        let line = words.join(" ");
        if line.is_empty() {
            return "no message".into();
        }
        line.chars().take(LONGEST_MESSAGE).collect()
    }

    fn hide(&self, text: &str) -> String {
        match &self.endpoint.key {
            Some(ApiKey(key)) if !key.is_empty() => text.replace(key, HIDDEN),
            _ => text.into(),
        }
    }

    fn headers(&self) -> Vec<(&'static str, String)> {
        let mut headers = vec![("content-type", "application/json".to_owned())];
        headers.extend(self.endpoint.headers.iter().cloned());
        let key = self.endpoint.key.as_ref();
        headers.extend(key.map(|ApiKey(key)| self.endpoint.key_header.with(key)));
        headers
    }
}

/// The id a server gave to a request, by which it can be asked about.
pub(crate) fn request_id(headers: &HeaderMap) -> Option<String> {
    let names = ["request-id", "x-request-id", "x-generation-id"];
    names.iter().find_map(|name| header(headers, name)).map(str::to_owned)
}

pub(crate) fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// The host of an address, without user and password.
fn host_of(url: &str) -> std::result::Result<String, &'static str> {
    let uri: Uri = url.parse().map_err(|_| "it is not a valid address")?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err("it does not start with http:// or https://");
    }
    let host = uri.host().filter(|host| !host.is_empty()).ok_or("it has no host")?;
    Ok(uri.port_u16().map_or_else(|| host.into(), |port| format!("{host}:{port}")))
}

fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}
