//! What changes in a memory, told to whoever listens: Server-Sent Events.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use hermes_store::memory::{Admin, AuditEntry};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::Shared;
use crate::call::{Call, Fault, Reply};

/// How often the memory is looked at while somebody listens.
const LOOK: Duration = Duration::from_secs(1);
/// After so many looks without a change a line is sent, so that a dead connection is noticed.
const QUIET_LOOKS: u32 = 15;
/// How many may listen at the same time.
const MOST: usize = 32;
/// How many changes are told at a time.
const AT_ONCE: usize = 200;

static LISTENING: AtomicUsize = AtomicUsize::new(0);

/// Somebody who listens; counted as long as they do.
struct Listener;

impl Listener {
    fn new() -> Option<Listener> {
        let before = LISTENING.fetch_add(1, Ordering::SeqCst);
        let listener = Listener;
        (before < MOST).then_some(listener)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        LISTENING.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Answers with a stream that ends when the client or the daemon does.
pub(super) async fn listen(shared: &Arc<Shared>, call: &Call) -> Result<Reply, Fault> {
    let fault = |error: anyhow::Error| Fault::of(&error);
    call.must_be_wide().map_err(|problem| fault(problem.into()))?;
    stream(shared, call.profile.clone(), call.header("last-event-id")).await
}

/// The changes of a profile from now on, or after the one that was heard last.
pub(super) async fn stream(
    shared: &Arc<Shared>,
    profile: String,
    heard: Option<&str>,
) -> Result<Reply, Fault> {
    let fault = |error: anyhow::Error| Fault::of(&error);
    let Some(listener) = Listener::new() else {
        let message = "too many clients are already listening";
        return Err(Fault::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", message));
    };
    let after = match heard.and_then(|id| id.parse::<i64>().ok()) {
        Some(after) => after,
        None => latest(shared, &profile).await.map_err(fault)?,
    };
    let (sender, receiver) = mpsc::channel::<Result<Bytes, Infallible>>(16);
    let shared = Arc::clone(shared);
    tokio::spawn(async move {
        let _listener = listener;
        tell(&shared, &profile, after, &sender).await;
    });
    Ok(Reply {
        status: StatusCode::OK,
        headers: vec![(header::CONTENT_TYPE, "text/event-stream".to_owned())],
        body: Body::from_stream(ReceiverStream::new(receiver)),
    })
}

async fn tell(
    shared: &Arc<Shared>,
    profile: &str,
    mut after: i64,
    sender: &mpsc::Sender<Result<Bytes, Infallible>>,
) {
    let mut quiet = 0;
    let send = async |text: String| sender.send(Ok(Bytes::from(text))).await.is_ok();
    if !send(": listening\n\n".to_owned()).await {
        return;
    }
    loop {
        let Ok(changes) = since(shared, profile, after).await else { return };
        if let Some(last) = changes.last() {
            after = last.id;
            quiet = 0;
            if !send(changes.iter().map(event).collect()).await {
                return;
            }
            if changes.len() == AT_ONCE {
                continue;
            }
        } else if quiet >= QUIET_LOOKS {
            quiet = 0;
            if !send(": still here\n\n".to_owned()).await {
                return;
            }
        }
        quiet += 1;
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = shared.stop.cancelled() => return,
            () = sender.closed() => return,
        }
    }
}

/// `id`, `event` and `data` of one change; its words are asked for by its name.
fn event(entry: &AuditEntry) -> String {
    let data = serde_json::to_string(entry).unwrap_or_default();
    format!("id: {}\nevent: {}\ndata: {data}\n\n", entry.id, entry.action)
}

async fn latest(shared: &Arc<Shared>, profile: &str) -> anyhow::Result<i64> {
    let found = read(shared, profile, |store| store.audit_log(Admin, 1)).await?;
    Ok(found.first().map_or(0, |entry| entry.id))
}

async fn since(shared: &Arc<Shared>, profile: &str, after: i64) -> anyhow::Result<Vec<AuditEntry>> {
    read(shared, profile, move |store| store.changes_after(Admin, after, AT_ONCE)).await
}

/// Reads in a thread: the memory is on a disk.
async fn read<T: Send + 'static>(
    shared: &Arc<Shared>,
    profile: &str,
    deed: impl FnOnce(&hermes_store::memory::Memory) -> hermes_store::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    let (shared, profile) = (Arc::clone(shared), profile.to_owned());
    tokio::task::spawn_blocking(move || {
        let mut seat = shared.pool.take(&profile)?;
        let (_, _, memory) = seat.reader()?;
        let done = deed(&memory.store)?;
        shared.pool.give_back(seat);
        Ok(done)
    })
    .await?
}
