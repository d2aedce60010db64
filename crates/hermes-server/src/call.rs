//! A request as a route sees it, and what it answers.

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header};
use axum::response::Response;
use hermes_app::problem::ErrorText;
use hermes_home::config::UsersMode;
use hermes_memory::identity::{self, Who};
use hermes_memory::record::turn::Identity;
use hermes_store::memory::{Change, Memory, Scope, UserNumber};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::whom::Whom;
use hermes_app::asker::Asker;
use hermes_app::problem::{self, Kind, Problem};
use hermes_app::tokens::Grant;

/// One request.
pub(super) struct Call {
    pub(super) params: Vec<(String, String)>,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) grant: Grant,
    /// For whom it is asked.
    pub(super) whom: Whom,
    /// The profile that the header or the token names.
    pub(super) profile: String,
}

impl Call {
    /// A part of the path.
    pub(super) fn param(&self, name: &str) -> &str {
        let found = self.params.iter().find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value.as_str())
    }

    /// What stands after the `?`.
    pub(super) fn query<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let query = axum::extract::Query::<T>::try_from_uri(&self.uri);
        query.map(|query| query.0).map_err(|error| {
            Problem::usage(format!("the query is not understood: {}", error.body_text()))
                .hint("see the parameters at /openapi.json")
        })
    }

    /// The body.
    pub(super) fn json<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        serde_json::from_slice(&self.body).map_err(|error| {
            Problem::usage(format!("the body is not understood: {error}"))
                .hint("see what a body holds at /openapi.json")
        })
    }

    /// A header that is text.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// Who reads.
    pub(super) fn asker(&self, store: &Memory) -> anyhow::Result<Asker> {
        self.whom.asker(store)
    }

    /// Who reads, where the body may say who it is.
    pub(super) fn asker_of(
        &self,
        store: &Memory,
        mode: UsersMode,
        channel: Option<&str>,
        who: Option<&Identity>,
    ) -> anyhow::Result<Asker> {
        let Some(Identity { native_id, chat, .. }) = who.filter(|_| !self.whom.is_narrow()) else {
            return self.asker(store);
        };
        let channel = channel.unwrap_or("api");
        if let Some(why) = identity::fault(channel) {
            return Err(Problem::usage(format!("`channel` {why}")).into());
        }
        let scope = identity::reader(store, mode, Who { channel, native_id, chat: *chat })?;
        if scope.user() == UserNumber::OWNER {
            return Ok(Asker::owner());
        }
        let users = store.users(hermes_store::memory::Admin)?;
        let name = users.iter().find(|user| user.number == scope.user());
        let user = name.and_then(|user| user.name.parse().ok());
        // Somebody without a name of their own has no USER.md; the owner's is not theirs.
        let nobody = || "nobody".parse().ok();
        Ok(Asker { scope, user: user.or_else(nobody) })
    }

    /// Whose things are changed; a new name becomes a user.
    pub(super) fn writer(&self, store: &mut Memory, change: Change<'_>) -> anyhow::Result<Scope> {
        self.whom.writer(store, change)
    }

    /// Refuses what belongs to everybody to somebody who asks for one user.
    pub(super) fn must_be_wide(&self) -> Result<(), Problem> {
        self.whom.must_be_wide()
    }
}

/// What a route answers.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: Vec<(HeaderName, String)>,
    pub(crate) body: Body,
}

impl Reply {
    /// A value as JSON.
    pub(super) fn json<T: Serialize>(value: &T) -> anyhow::Result<Reply> {
        Ok(Reply {
            status: StatusCode::OK,
            headers: vec![(header::CONTENT_TYPE, "application/json".to_owned())],
            body: Body::from(serde_json::to_vec(value)?),
        })
    }

    /// Something that was made.
    pub(super) fn created<T: Serialize>(value: &T) -> anyhow::Result<Reply> {
        Ok(Reply { status: StatusCode::CREATED, ..Reply::json(value)? })
    }

    /// Text of a kind.
    pub(crate) fn text(kind: &str, text: String) -> Reply {
        Reply {
            status: StatusCode::OK,
            headers: vec![(header::CONTENT_TYPE, kind.to_owned())],
            body: Body::from(text),
        }
    }

    /// The same with a header more.
    pub(crate) fn with(mut self, name: HeaderName, value: impl Into<String>) -> Reply {
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn into_response(self) -> Response {
        let mut response = Response::new(self.body);
        *response.status_mut() = self.status;
        for (name, value) in self.headers {
            if let Ok(value) = HeaderValue::from_str(&value) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }
}

/// A request that was not answered as it was meant.
#[derive(Debug, Clone)]
pub(crate) struct Fault {
    pub(crate) status: StatusCode,
    kind: String,
    message: String,
    hint: Option<String>,
    pub(super) wait: Option<u64>,
}

impl Fault {
    pub(crate) fn new(status: StatusCode, kind: &str, message: impl Into<String>) -> Fault {
        Fault { status, kind: kind.to_owned(), message: message.into(), hint: None, wait: None }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Fault {
        self.hint = Some(hint.into());
        self
    }

    /// What an error means for somebody who asks over HTTP.
    pub(crate) fn of(error: &anyhow::Error) -> Fault {
        let ErrorText { kind, message, hint } = problem::told(error);
        let status = match kind {
            Kind::Usage => StatusCode::BAD_REQUEST,
            Kind::NotFound | Kind::Missing => StatusCode::NOT_FOUND,
            Kind::Refused => StatusCode::FORBIDDEN,
            // Whoever writes will be done soon: it is worth another try, unlike what contradicts something else.
            Kind::Locked if problem::is_passing_lock(error) => StatusCode::SERVICE_UNAVAILABLE,
            Kind::Locked => StatusCode::CONFLICT,
            Kind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Kind::TimedOut => StatusCode::GATEWAY_TIMEOUT,
            Kind::Failure | Kind::Partial | Kind::Findings | Kind::WrongKey => {
                StatusCode::INTERNAL_SERVER_ERROR
            }
        };
        let wait = (kind == Kind::Locked && status == StatusCode::SERVICE_UNAVAILABLE).then_some(1);
        Fault { status, kind: problem::word(kind), message, hint, wait }
    }

    /// The kind of problem for whoever is not told a status.
    pub(super) fn problem_kind(&self) -> Kind {
        match self.status {
            StatusCode::GATEWAY_TIMEOUT => Kind::TimedOut,
            _ => Kind::Unavailable,
        }
    }

    /// What it says, and the next thing to try.
    pub(crate) fn told(&self) -> (&str, Option<&str>) {
        (&self.message, self.hint.as_deref())
    }

    pub(crate) fn into_reply(self) -> Reply {
        let mut error = json!({ "kind": self.kind, "message": self.message });
        if let (Some(hint), Some(object)) = (self.hint, error.as_object_mut()) {
            object.insert("hint".to_owned(), Value::from(hint));
        }
        let body = json!({ "error": error }).to_string();
        let mut reply = Reply::text("application/json", body);
        reply.status = self.status;
        if self.status == StatusCode::UNAUTHORIZED {
            reply = reply.with(header::WWW_AUTHENTICATE, "Bearer");
        }
        match self.wait {
            Some(seconds) => reply.with(header::RETRY_AFTER, seconds.to_string()),
            None => reply,
        }
    }
}
