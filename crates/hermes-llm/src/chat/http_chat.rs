//! A chat model behind an HTTP endpoint: time-outs, tries, and the stream read to its end.

use super::gather::{Fault, Gathered, Hearing, Step};
use super::sse::{Event, Events, LineFault, Lines};
use super::{Answer, ChatModel, ChatRequest, Delta, Flow, Stop, anthropic, ollama, openai};
use crate::error::{Error, Result, Server, Task};
use crate::http::{ApiKey, Client, Endpoint, KeyHeader, Waits, header, request_id};
use crate::retry::{self, Attempt, Sleep};
use serde::Serialize;
use serde_json::Value;
use std::io::Read;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use ureq::Body;
use ureq::http::Response;

const WEB_PAGE: &str = "the server sent a web page instead of an answer";

/// In which protocol a model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The Messages protocol of Anthropic.
    Anthropic,
    /// Chat Completions at OpenAI.
    OpenAi,
    /// Chat Completions at OpenRouter.
    OpenRouter,
    /// Chat Completions of LM Studio.
    LmStudio,
    /// Chat Completions of llama.cpp or any other server.
    OpenAiShaped,
    /// The native protocol of Ollama.
    Ollama,
}

/// A chat model behind an endpoint, as plain values.
#[derive(Clone, Debug)]
pub struct ChatEndpoint {
    /// The full name by which the user chose it.
    pub name: String,
    /// In which protocol it is asked.
    pub protocol: Protocol,
    /// Where the endpoint is; it may end in `/v1` or not.
    pub base_url: String,
    /// The name the provider knows it by.
    pub model: String,
    /// The key, where one is needed.
    pub key: Option<ApiKey>,
    /// In which header the key goes.
    pub key_header: KeyHeader,
    /// Where the key came from, for the hint when it is refused.
    pub key_from: Option<String>,
    /// The organisation that pays, where OpenAI should be told.
    pub organization: Option<String>,
    /// The address of a proxy; the environment is not asked.
    pub proxy: Option<String>,
    /// A file of certificates that are trusted in the place of the built-in ones.
    pub authorities: Option<PathBuf>,
    /// How long and how often to try.
    pub limits: ChatLimits,
}

/// How long and how often to try, and how much to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChatLimits {
    /// Until a connection is made.
    pub connect: Duration,
    /// Until the model begins to answer or to think.
    pub first_token: Duration,
    /// Between two signs of life after that.
    pub idle: Duration,
    /// For a whole call: all tries and the waits between them.
    pub deadline: Duration,
    /// How often a request is sent at most.
    pub tries: u32,
    /// How many bytes an answer may have.
    pub largest_answer: usize,
}

/// A chat model behind an HTTP endpoint.
pub struct HttpChat {
    name: String,
    protocol: Protocol,
    limits: ChatLimits,
    client: Client,
    sleep: Sleep,
}

/// A request as it would be sent, with the key hidden.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Preview {
    /// Where it would go.
    pub url: String,
    /// With which headers.
    pub headers: serde_json::Map<String, Value>,
    /// The body.
    pub body: Value,
}

/// One answer while it is read.
struct Reading<'a, 'b> {
    chat: &'a HttpChat,
    gathered: Gathered,
    hearing: &'a mut Hearing<'b>,
    events: Events,
    request_id: Option<String>,
}

impl ChatEndpoint {
    /// A model with nothing but its protocol, address and name: no key, the usual limits.
    pub fn new(protocol: Protocol, base_url: &str, model: &str) -> ChatEndpoint {
        let is_anthropic = protocol == Protocol::Anthropic;
        ChatEndpoint {
            name: model.into(),
            protocol,
            base_url: base_url.into(),
            model: model.into(),
            key: None,
            key_header: if is_anthropic { KeyHeader::XApiKey } else { KeyHeader::Bearer },
            key_from: None,
            organization: None,
            proxy: None,
            authorities: None,
            limits: ChatLimits::default(),
        }
    }
}

impl Default for ChatLimits {
    fn default() -> ChatLimits {
        ChatLimits {
            connect: Duration::from_secs(10),
            // A local server may have to load the model first.
            first_token: Duration::from_secs(180),
            idle: Duration::from_secs(60),
            deadline: Duration::from_secs(600),
            tries: 5,
            largest_answer: 4 << 20,
        }
    }
}

impl Protocol {
    fn address(self, base: &str) -> String {
        match self {
            Protocol::Anthropic => crate::openai::address(base, "messages"),
            Protocol::Ollama => crate::ollama::address(base, "chat"),
            _ => crate::openai::address(base, "chat/completions"),
        }
    }

    fn headers(self, organization: Option<String>) -> Vec<(&'static str, String)> {
        match self {
            Protocol::Anthropic => vec![("anthropic-version", anthropic::VERSION.to_owned())],
            Protocol::OpenRouter => vec![("x-title", "Hermes".to_owned())],
            Protocol::OpenAi => {
                organization.map(|id| ("openai-organization", id)).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }
}

impl HttpChat {
    /// Makes ready to ask; fails if the address or the key cannot be used.
    pub fn new(endpoint: ChatEndpoint, sleep: Sleep) -> Result<HttpChat> {
        let ChatEndpoint { name, protocol, limits, .. } = endpoint;
        let is_ollama = protocol == Protocol::Ollama;
        let client = Client::new(Endpoint {
            task: Task::Answer,
            server: if is_ollama { Server::Ollama } else { Server::Other },
            url: protocol.address(&endpoint.base_url),
            model: endpoint.model,
            key: endpoint.key,
            key_header: endpoint.key_header,
            key_from: endpoint.key_from,
            headers: protocol.headers(endpoint.organization),
            proxy: endpoint.proxy,
            authorities: endpoint.authorities,
            connect: limits.connect,
        })?;
        Ok(HttpChat { name, protocol, limits, client, sleep })
    }

    /// The request as it would be sent, with the key hidden; nothing is sent.
    pub fn preview(&self, request: &ChatRequest) -> Preview {
        let (url, headers) = self.client.shown();
        let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value.into()));
        Preview { url, headers: headers.collect(), body: self.body(request) }
    }

    fn body(&self, request: &ChatRequest) -> Value {
        let model = self.client.model();
        match self.protocol {
            Protocol::Anthropic => anthropic::request(&model, request),
            Protocol::Ollama => ollama::request(&model, request),
            other => openai::request(other, &model, request),
        }
    }

    fn too_large(&self) -> Error {
        let limit = self.limits.largest_answer;
        Error::TooLarge { model: self.client.model(), host: self.client.host(), limit }
    }

    /// Sends once and reads the answer to its end.
    fn attempt(&self, body: &str, left: Duration, hearing: &mut Hearing<'_>) -> Attempt<Answer> {
        let started = Instant::now();
        let waits = Waits { first: self.limits.first_token.min(left), whole: left };
        self.client.send(body, waits).then(|response| {
            let mut reading = Reading {
                chat: self,
                gathered: Gathered::new(self.limits.largest_answer),
                hearing,
                events: Events::default(),
                request_id: request_id(response.headers()),
            };
            match reading.read(response, started, left) {
                Ok(stop) => reading.finish(stop),
                Err(attempt) => attempt,
            }
        })
    }
}

impl ChatModel for HttpChat {
    fn name(&self) -> &str {
        &self.name
    }

    fn complete(
        &self,
        request: &ChatRequest,
        on: &mut dyn FnMut(Delta<'_>) -> Flow,
    ) -> Result<Answer> {
        let body = self.body(request).to_string();
        let mut remaining = self.limits.deadline;
        let mut hearing = Hearing::new(on);
        retry::run(self.limits.tries, &self.sleep, &mut remaining, |left| {
            let attempt = self.attempt(&body, left, &mut hearing);
            if hearing.has_heard { attempt.last() } else { attempt }
        })
    }

    fn complete_quietly(&self, request: &ChatRequest) -> Result<Answer> {
        let body = self.body(request).to_string();
        let mut remaining = self.limits.deadline;
        let answer = retry::run(self.limits.tries, &self.sleep, &mut remaining, |left| {
            self.attempt(&body, left, &mut Hearing::new(&mut |_| Flow::Go))
        })?;
        if answer.stop == Stop::Refusal {
            let message = self.client.tidy(&answer.text());
            return Err(Error::Declined { model: self.client.model(), message });
        }
        Ok(answer)
    }
}

impl Reading<'_, '_> {
    /// Reads until the answer is complete or the caller wants no more.
    fn read(
        &mut self,
        response: Response<Body>,
        started: Instant,
        left: Duration,
    ) -> std::result::Result<Stop, Attempt<Answer>> {
        let kind = header(response.headers(), "content-type").unwrap_or_default().to_lowercase();
        let is_whole = kind.contains("json") && self.chat.protocol != Protocol::Ollama;
        let limits = &self.chat.limits;
        if kind.contains("html") || is_whole {
            return Err(self.no_stream(response));
        }
        // The thread that reads ends with the request's own deadline at the latest.
        let mut lines = Lines::new(response.into_body().into_reader(), limits.largest_answer);
        loop {
            let spent = started.elapsed();
            let patience = match self.gathered.has_begun {
                true => limits.idle,
                false => limits.first_token.saturating_sub(spent),
            };
            let line = match lines.next(patience.min(left.saturating_sub(spent))) {
                Ok(Some(line)) => line,
                Ok(None) => return self.end(),
                Err(fault) => return Err(self.broke(fault)),
            };
            match self.take(&line) {
                Ok(Step::More) => {}
                Ok(Step::Done) => return Ok(self.gathered.stop.unwrap_or(Stop::Other)),
                Ok(Step::Stopped) => return Ok(Stop::Cancelled),
                Err(Fault::Unreadable(why)) if lines.is_unfinished() && why != WEB_PAGE => {
                    return Err(self.cut(String::new()));
                }
                Err(fault) => return Err(self.faulty(fault)),
            }
        }
    }

    fn take(&mut self, line: &str) -> std::result::Result<Step, Fault> {
        if self.chat.protocol == Protocol::Ollama {
            return match line.trim().is_empty() {
                true => Ok(Step::More),
                false => ollama::line(line, &mut self.gathered, self.hearing),
            };
        }
        if line.starts_with('<') && !self.gathered.has_begun {
            return Err(Fault::Unreadable(WEB_PAGE.into()));
        }
        match self.events.line(line) {
            Some(event) => self.event(&event),
            None => Ok(Step::More),
        }
    }

    fn event(&mut self, event: &Event) -> std::result::Result<Step, Fault> {
        match self.chat.protocol {
            Protocol::Anthropic => anthropic::event(event, &mut self.gathered, self.hearing),
            _ => openai::event(event, &mut self.gathered, self.hearing),
        }
    }

    /// Nothing more comes: the answer is complete only if it said so.
    fn end(&mut self) -> std::result::Result<Stop, Attempt<Answer>> {
        let last = self.events.end();
        let step = last.map_or(Ok(Step::More), |event| self.event(&event));
        match (step, self.gathered.stop) {
            (Err(fault @ Fault::Complaint(_)), _) => Err(self.faulty(fault)),
            (Ok(Step::Stopped), _) => Ok(Stop::Cancelled),
            (Ok(Step::Done), stop) => Ok(stop.unwrap_or(Stop::Other)),
            // Some servers give the reason for the end and leave out the mark of it.
            (_, Some(stop)) => Ok(stop),
            _ => Err(self.cut(String::new())),
        }
    }

    /// The answer, unless it says nothing or says no.
    fn finish(self, stop: Stop) -> Attempt<Answer> {
        let (client, model) = (&self.chat.client, self.chat.client.model());
        let says_anything = self.gathered.says_anything();
        let has_refused = stop == Stop::Refusal || !self.gathered.refusal.is_empty();
        if has_refused && !says_anything {
            let message = client.message(&self.gathered.refusal, self.request_id.as_deref());
            return Attempt::Fail(Error::Declined { model, message });
        }
        if !says_anything && stop != Stop::Cancelled {
            let used_up = stop == Stop::MaxTokens;
            let why = if used_up { ", because all its tokens were used for thinking" } else { "" };
            return Attempt::Fail(Error::Empty { model, host: client.host(), why });
        }
        let (request_id, stop) = (self.request_id, if has_refused { Stop::Refusal } else { stop });
        let mut answer = self.gathered.finish(stop);
        let id = request_id.or(answer.request_id.take());
        answer.request_id = id.map(|id| client.tidy(&id));
        answer.model = match answer.model.is_empty() {
            true => model,
            false => client.tidy(&answer.model),
        };
        Attempt::Done(answer)
    }

    /// The server answered, but not with a stream: a complaint, a web page, or something else.
    fn no_stream(&self, response: Response<Body>) -> Attempt<Answer> {
        let is_page =
            header(response.headers(), "content-type").is_some_and(|kind| kind.contains("html"));
        let mut body = Vec::new();
        let limit = self.chat.limits.largest_answer as u64;
        let _ = response.into_body().into_reader().take(limit).read_to_end(&mut body);
        let value: Value = serde_json::from_slice(&body).unwrap_or_default();
        match super::gather::parse(&value.to_string()) {
            Err(fault @ Fault::Complaint(_)) => self.faulty(fault),
            _ => {
                let why = if is_page { WEB_PAGE } else { "it is not a stream" };
                Attempt::Fail(self.chat.client.bad_answer(b"", why.into()))
            }
        }
    }

    fn faulty(&self, fault: Fault) -> Attempt<Answer> {
        let client = &self.chat.client;
        match fault {
            Fault::Unreadable(why) => Attempt::Fail(client.bad_answer(b"", why)),
            Fault::TooLarge => Attempt::Fail(self.chat.too_large()),
            Fault::Complaint(complaint) => {
                let id = self.request_id.as_deref();
                let status = complaint.status.unwrap_or(500);
                match client.judge(status, &complaint, id, None) {
                    Attempt::Again(Error::Busy { model, host, message, .. }, wait) => {
                        Attempt::Again(Error::GaveUp { model, host, message }, wait)
                    }
                    other => other,
                }
            }
        }
    }

    fn broke(&self, fault: LineFault) -> Attempt<Answer> {
        match fault {
            LineFault::TooLarge => Attempt::Fail(self.chat.too_large()),
            LineFault::Silent => self.cut(": no data was received for too long".into()),
            LineFault::Broken(why) => self.cut(format!(": {}", self.chat.client.tidy(&why))),
        }
    }

    fn cut(&self, why: String) -> Attempt<Answer> {
        let client = &self.chat.client;
        Attempt::Again(Error::Cut { model: client.model(), host: client.host(), why }, None)
    }
}
