//! The network door: the HTTP API, MCP and the dashboard, on one listener of the daemon. It reads requests, calls what
//! `hermes-app` can do, and writes answers.

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
