//! What can be done with a home: opening it and its databases, and every use case as a function that takes values and
//! returns values. Nothing here prints, reads arguments or knows a network protocol of ours; doors do that.

pub mod app;
pub mod asker;
pub mod background;
pub mod backup;
pub mod clock;
pub mod context;
pub mod daemon;
pub mod doctor;
pub mod embedding;
pub mod entries;
pub mod fact_view;
pub mod facts;
pub mod hit;
pub mod hooks;
pub mod in_step;
pub mod integrate;
pub mod items;
pub mod later;
pub mod lost;
pub mod memory;
pub mod models;
pub mod opened;
pub mod place;
pub mod platform;
pub mod pool;
pub mod prepare;
pub mod problem;
pub mod process;
pub mod profiles;
pub mod promote;
pub mod proposals;
pub mod reason;
pub mod remarks;
pub mod rules;
pub mod search;
pub mod server_copy;
pub mod sessions;
pub mod settings;
pub mod skills;
#[cfg(test)]
mod testing;
pub mod text;
pub mod turn;
pub mod users;
pub mod variables;
pub mod writer;

pub use app::App;
pub use asker::Asker;
