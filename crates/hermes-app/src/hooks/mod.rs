//! What an agent's hooks tell and are told: events in the form of each agent, the turn that is under way, what is kept of
//! it, and what a session or a prompt is given.

mod claude_code;
pub mod counts;
mod cursor;
pub mod elsewhere;
pub mod event;
pub mod finish;
mod hermes_agent;
pub mod keep;
pub mod recall;
pub mod session;
mod transcript;
