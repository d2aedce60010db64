//! MCP over HTTP: every request stands for itself.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use super::super::Shared;
use super::{Door, Place, Scoped};

/// Answers one request; Host, Origin and token were looked at before.
pub(crate) async fn answer(
    shared: &Arc<Shared>,
    scoped: Scoped,
    profile: String,
    who: String,
    request: Request,
) -> Response {
    let door = Door { place: Place::Daemon(Arc::clone(shared), profile, who), scoped };
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts()
        .with_max_request_body_bytes(shared.most_bytes)
        .with_cancellation_token(shared.stop.child_token());
    let service = StreamableHttpService::new(
        move || Ok(door.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    );
    service.handle(request).await.map(Body::new)
}
