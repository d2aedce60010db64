//! One POST of JSON to an endpoint, with its key, time-outs and tries.

use crate::embed::{Prefixes, Provider};
use crate::error::{Error, Result};
use crate::retry::{self, Attempt};
use serde_json::Value;
use std::fmt;
use std::io::Read;
use std::time::Duration;
use ureq::http::{HeaderMap, Uri};

const LONGEST_MESSAGE: usize = 200;
const LARGEST_ANSWER: u64 = 256 << 20;
const LARGEST_COMPLAINT: u64 = 64 << 10;
const HIDDEN: &str = "***";

/// Waits between two tries; tests give one that only notes how long.
pub type Sleep = Box<dyn Fn(Duration) + Send + Sync>;

/// A secret that never prints itself.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

/// A model behind an endpoint, as plain values.
#[derive(Clone, Debug)]
pub struct HttpModel {
    /// Where the endpoint is.
    pub base_url: String,
    /// The key, where one is needed.
    pub key: Option<ApiKey>,
    /// The name of the model.
    pub model: String,
    /// The width to ask for and to insist on; the model's own when absent.
    pub dimensions: Option<usize>,
    /// What to put before the texts; chosen by the model's name when absent.
    pub prefixes: Option<Prefixes>,
    /// How many texts go into one request.
    pub batch: usize,
    /// The address of a proxy; the environment is not asked.
    pub proxy: Option<String>,
    /// How long and how often to try.
    pub limits: Limits,
}

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

/// What sends the requests of one embedder.
pub(crate) struct Client {
    agent: ureq::Agent,
    provider: Provider,
    url: String,
    host: String,
    model: HttpModel,
    sleep: Sleep,
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

impl HttpModel {
    /// A model with nothing but its address and name: no key, batches of 64, the usual limits.
    pub fn new(base_url: &str, model: &str) -> HttpModel {
        HttpModel {
            base_url: base_url.into(),
            key: None,
            model: model.into(),
            dimensions: None,
            prefixes: None,
            batch: 64,
            proxy: None,
            limits: Limits::default(),
        }
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

impl Client {
    /// Makes ready to send; fails if an address cannot be used.
    pub(crate) fn new(
        provider: Provider,
        url: String,
        model: HttpModel,
        sleep: Sleep,
    ) -> Result<Client> {
        let bad = |why: &str| Error::BadAddress { model: model.model.clone(), why: why.into() };
        let host = host_of(&url).map_err(bad)?;
        let unsendable = |key: &ApiKey| !key.0.bytes().all(|byte| byte.is_ascii_graphic());
        if model.key.as_ref().is_some_and(unsendable) {
            return Err(Error::BadKey { host });
        }
        let proxy = model.proxy.as_deref().map(ureq::Proxy::new).transpose();
        let proxy = proxy.map_err(|_| bad("the proxy is not an address"))?;
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(proxy)
            .user_agent(concat!("hermes/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(model.limits.connect))
            .build();
        Ok(Client { agent: config.into(), provider, url, host, model, sleep })
    }

    /// How long and how often this client tries.
    pub(crate) fn limits(&self) -> &Limits {
        &self.model.limits
    }

    /// Sends a body and gives back the answer's.
    pub(crate) fn post(&self, body: &Value, remaining: &mut Duration) -> Result<Vec<u8>> {
        let body = body.to_string();
        retry::run(self.limits(), &self.sleep, remaining, |left| self.attempt(&body, left))
    }

    /// An answer that cannot be used; if it carries a complaint of the server, that is the reason.
    pub(crate) fn bad_answer(&self, answer: &[u8], why: String) -> Error {
        let why = complaint(answer).unwrap_or(why);
        Error::BadAnswer { model: self.name(), host: self.host.clone(), why: self.tidy(&why) }
    }

    fn attempt(&self, body: &str, left: Duration) -> Attempt<Vec<u8>> {
        let mut request = self
            .agent
            .post(&self.url)
            .config()
            .timeout_global(Some(left.min(self.model.limits.request)))
            .build()
            .header("content-type", "application/json");
        if let Some(ApiKey(key)) = &self.model.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let mut response = match request.send(body) {
            Ok(response) => response,
            Err(error) => return self.failed(&error),
        };
        if !response.status().is_success() {
            return self.complained(response);
        }
        match response.body_mut().with_config().limit(LARGEST_ANSWER).read_to_vec() {
            Ok(answer) => Attempt::Done(answer),
            Err(error) => self.failed(&error),
        }
    }

    /// No answer came: worth another try unless the request itself is at fault.
    fn failed(&self, error: &ureq::Error) -> Attempt<Vec<u8>> {
        let why = self.tidy(&error.to_string());
        let found = Error::Unreachable { provider: self.provider, host: self.host.clone(), why };
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
    fn complained(&self, response: ureq::http::Response<ureq::Body>) -> Attempt<Vec<u8>> {
        let status = response.status().as_u16();
        let headers = response.headers();
        let wait = retry::retry_after(header(headers, "retry-after"), header(headers, "date"));
        let mut body = Vec::new();
        // A complaint cut short is better than none, so an error while reading it is let go.
        let _ = response.into_body().into_reader().take(LARGEST_COMPLAINT).read_to_end(&mut body);
        let message = complaint(&body).unwrap_or_else(|| String::from_utf8_lossy(&body).into());
        let (model, host, message) = (self.name(), self.host.clone(), self.tidy(&message));
        if retry::is_passing(status) {
            return Attempt::Again(Error::Busy { model, host, status, message }, wait);
        }
        Attempt::Fail(Error::Refused { provider: self.provider, model, host, status, message })
    }

    fn name(&self) -> String {
        self.model.model.clone()
    }

    /// One short line without the key; the key goes first, so that no part of it is left by a cut.
    fn tidy(&self, message: &str) -> String {
        let hidden = match &self.model.key {
            Some(ApiKey(key)) if !key.is_empty() => message.replace(key, HIDDEN),
            _ => message.into(),
        };
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
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// The host of an address, without user and password.
fn host_of(url: &str) -> std::result::Result<String, &'static str> {
    let uri: Uri = url.parse().map_err(|_| "it is not an address")?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err("it does not begin with http:// or https://");
    }
    let host = uri.host().filter(|host| !host.is_empty()).ok_or("it names no host")?;
    Ok(uri.port_u16().map_or_else(|| host.into(), |port| format!("{host}:{port}")))
}

/// What a server says went wrong, in one of the shapes servers use.
fn complaint(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let places = ["/error/message", "/error", "/message", "/detail"];
    places.iter().find_map(|place| body.pointer(place)?.as_str()).map(String::from)
}
