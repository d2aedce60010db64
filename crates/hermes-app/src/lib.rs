//! What can be done with a home: opening it and its databases, and every use case as a function that takes values and
//! returns values. Nothing here prints, reads arguments or knows a network protocol of ours; doors do that.
//!
//! ```
//! use hermes_app::app::{App, Opening};
//! use hermes_app::{prepare, users};
//! use hermes_store::sqlite::Access;
//!
//! let folder = tempfile::tempdir()?;
//! let app = App::new(Opening { home: Some(folder.path().join("home")), ..Opening::default() });
//! let home = app.home()?;
//! prepare::prepare(&app, &home)?;
//! let known = users::list(&app.memory(&home, Access::Read)?.store)?;
//! assert_eq!(known.results[0].name, "owner");
//! # Ok::<(), anyhow::Error>(())
//! ```

pub mod app;
pub mod asker;
pub mod background;
pub mod backup;
pub mod catch_up;
pub mod clock;
pub mod context;
pub mod daemon;
pub mod doctor;
pub mod embedding;
pub mod entries;
pub mod fact_view;
pub mod facts;
pub mod forget;
pub mod handover;
pub mod hit;
pub mod hooks;
pub mod in_step;
pub mod integrate;
pub mod items;
pub mod known_users;
pub mod later;
pub mod lost;
pub mod memory;
pub mod models;
pub mod numbers;
pub mod opened;
pub mod platform;
pub mod pool;
pub mod prepare;
pub mod problem;
pub mod process;
pub mod profiles;
pub mod progress;
pub mod promote;
pub mod proposals;
pub mod reason;
pub mod recall;
pub mod remarks;
pub mod restore_rows;
pub mod rules;
pub mod running;
pub mod search;
pub mod server_copy;
pub mod server_invite;
pub mod sessions;
pub mod settings;
pub mod skills;
pub mod status;
#[cfg(test)]
mod testing;
pub mod text;
pub mod tokens;
mod transcript;
pub mod turn;
pub mod users;
pub mod variables;
pub mod writer;

pub use app::App;
pub use asker::Asker;
