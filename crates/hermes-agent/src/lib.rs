//! One conversation: what the model is told, what it may do, and what is kept of it.

pub mod approval;
pub mod prompt;
pub mod toolbox;
pub mod turn;
pub mod window;
