//! The network door: the HTTP API, MCP and the dashboard, on one listener of the daemon. It reads requests, calls what
//! `hermes-app` can do, and writes answers.
//!
//! ```no_run
//! use hermes_app::app::{App, Opening};
//!
//! let app = App::new(Opening::default());
//! // Nothing where the settings say that it does not listen.
//! if let Some(running) = hermes_server::start(&app, &app.existing_home()?)? {
//!     assert!(running.url().starts_with("http"));
//!     running.end();
//! }
//! # Ok::<(), anyhow::Error>(())
//! ```

mod call;
mod export;
mod pages;
mod server;
mod whom;

pub use pages::login;
pub use server::mcp::stdio::serve as serve_stdio;
pub use server::mcp::{Scoped, Surface};
pub use server::{Running, start};
pub use whom::Whom;
