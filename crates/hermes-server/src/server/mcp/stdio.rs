//! MCP over standard input and output: one agent, one memory, calls in their order.

use std::sync::Arc;

use anyhow::Context as _;

use super::{Door, Place, Scoped};
use hermes_app::pool::Seat;

/// Answers until the other side closes its end.
pub fn serve(seat: Seat, scoped: Scoped) -> anyhow::Result<()> {
    // One thread takes the messages, so that calls queue for the memory in the order they came in.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(4)
        .enable_all()
        .build()
        .context("could not start")?;
    let place = Place::Alone(Arc::new(tokio::sync::Mutex::new(Some(seat))));
    let door = Door { place, scoped };
    runtime.block_on(async {
        let running = match rmcp::serve_server(door, rmcp::transport::stdio()).await {
            Ok(running) => running,
            // Somebody who says nothing and goes has done nothing wrong.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
            Err(error) => {
                return Err(anyhow::Error::from(error)
                    .context("could not complete the handshake with the client"));
            }
        };
        running.waiting().await.context("the connection was lost")?;
        Ok(())
    })
}
