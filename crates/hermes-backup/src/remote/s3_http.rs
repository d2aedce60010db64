//! One signed request to a bucket, sent again a few times where that may help.

use std::io::Read;
use std::path::Path;
use std::time::Duration;

use rusty_s3::{Bucket, Credentials, S3Action, UrlStyle};
use ureq::Body;
use ureq::http::{HeaderMap, Request, Response};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig};
use url::Url;

use super::s3_says::{Answer, Failed};
use super::{S3, S3Keys};
use crate::{Error, Result};

const SIGNED_FOR: Duration = Duration::from_secs(3600);
const TRIES: u32 = 4;
const FIRST_WAIT: Duration = Duration::from_millis(500);
const LARGEST_TEXT: u64 = 16 << 20;

/// What sends the requests for one bucket.
pub(super) struct Client {
    agent: ureq::Agent,
    pub(super) bucket: Bucket,
    keys: Credentials,
    pub(super) place: String,
}

/// One request.
pub(super) struct Call<'a> {
    method: &'static str,
    url: Url,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Option<&'a [u8]>,
}

impl<'a> Call<'a> {
    /// Signs an action; its address is good for an hour.
    pub(super) fn of<A: S3Action<'a>>(action: &A) -> Call<'a> {
        let method = A::METHOD.to_str();
        Call { method, url: action.sign(SIGNED_FOR), headers: Vec::new(), body: None }
    }

    /// The same with a body.
    pub(super) fn with(mut self, body: &'a [u8]) -> Call<'a> {
        self.body = Some(body);
        self
    }

    /// The same with a header.
    pub(super) fn header(mut self, name: &'static str, value: String) -> Call<'a> {
        self.headers.push((name, value));
        self
    }

    /// When it was signed, by the clock of this host.
    fn signed(&self) -> Option<String> {
        let mut pairs = self.url.query_pairs();
        pairs.find(|(name, _)| name == "X-Amz-Date").map(|(_, value)| value.into_owned())
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
        return Err(format!("there is no certificate in {}", path.display()));
    }
    let roots = RootCerts::new_with_certs(&certificates);
    Ok(TlsConfig::builder().root_certs(roots).build())
}

impl Client {
    /// Makes ready to send; nothing is sent yet.
    pub(super) fn new(s3: &S3, keys: &S3Keys) -> Result<Client> {
        let bad = |why: String| Error::Setting { what: s3.place(), why };
        let endpoint = Url::parse(&s3.endpoint).map_err(|error| bad(error.to_string()))?;
        let style = if s3.path_style { UrlStyle::Path } else { UrlStyle::VirtualHost };
        let bucket = Bucket::new(endpoint, style, s3.bucket.clone(), s3.region.clone())
            .map_err(|error| bad(error.to_string()))?;
        let tls = trusting(keys.authorities.as_deref()).map_err(bad)?;
        let (id, secret) = (keys.id.clone(), keys.secret.as_str());
        let keys = match &keys.token {
            Some(token) => Credentials::new_with_token(id, secret, token.as_str()),
            None => Credentials::new(id, secret),
        };
        let minutes = |minutes: u64| Some(Duration::from_secs(60 * minutes));
        let config = ureq::Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .user_agent(concat!("hermes/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(Duration::from_secs(20)))
            .timeout_send_body(minutes(15))
            .timeout_recv_response(minutes(5))
            .timeout_recv_body(minutes(15))
            .build();
        Ok(Client { agent: config.into(), bucket, keys, place: s3.place() })
    }

    /// The keys, as actions want them.
    pub(super) fn keys(&self) -> Option<&Credentials> {
        Some(&self.keys)
    }

    /// Sends a request until it goes well or is not worth another try; `take` reads the answer.
    pub(super) fn send<T>(
        &self,
        call: &Call<'_>,
        mut take: impl FnMut(Response<Body>) -> Result<T, Failed>,
    ) -> Result<T, Failed> {
        let mut wait = FIRST_WAIT;
        for _ in 1..TRIES {
            match self.once(call).and_then(&mut take) {
                Err(failed) if failed.passing => {
                    std::thread::sleep(failed.wait.unwrap_or(wait));
                    wait *= 3;
                }
                other => return other,
            }
        }
        self.once(call).and_then(&mut take)
    }

    /// Sends a request and reads its answer as text.
    pub(super) fn text(&self, call: &Call<'_>) -> Result<String, Failed> {
        self.send(call, |mut response| {
            let reader = response.body_mut().with_config().limit(LARGEST_TEXT);
            let text = reader.read_to_string().map_err(|error| Failed::no_answer(&error))?;
            // Some requests begin with a status of success and end with a complaint.
            if text.contains("<Error>") {
                let answer = Answer { body: &text, ..plain(500) };
                return Err(Failed::answered(&answer));
            }
            Ok(text)
        })
    }

    /// Sends a request whose answer is its headers.
    pub(super) fn headers(&self, call: &Call<'_>) -> Result<HeaderMap, Failed> {
        self.send(call, |response| Ok(response.headers().clone()))
    }

    fn once(&self, call: &Call<'_>) -> Result<Response<Body>, Failed> {
        let mut request = Request::builder().method(call.method).uri(call.url.as_str());
        for (name, value) in &call.headers {
            request = request.header(*name, value);
        }
        let sent = match call.body {
            Some(body) => request.body(body).map(|request| self.agent.run(request)),
            None => request.body(()).map(|request| self.agent.run(request)),
        };
        let response = sent
            .unwrap_or_else(|error| Err(ureq::Error::Http(error)))
            .map_err(|error| Failed::no_answer(&error))?;
        if response.status().is_success() { Ok(response) } else { Err(complaint(call, response)) }
    }
}

fn complaint(call: &Call<'_>, response: Response<Body>) -> Failed {
    let (head, body) = response.into_parts();
    let mut bytes = Vec::new();
    // A complaint cut short is better than none, so an error while reading it is let go.
    let _ = body.into_reader().take(64 << 10).read_to_end(&mut bytes);
    let signed = call.signed();
    Failed::answered(&Answer {
        body: &String::from_utf8_lossy(&bytes),
        date: header(&head.headers, "date"),
        retry_after: header(&head.headers, "retry-after"),
        region: header(&head.headers, "x-amz-bucket-region"),
        signed: signed.as_deref(),
        ..plain(head.status.as_u16())
    })
}

fn plain<'a>(status: u16) -> Answer<'a> {
    Answer { status, body: "", date: None, retry_after: None, region: None, signed: None }
}

/// The text of a header.
pub(super) fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
