//! Who asks what is remembered in a home: searches and contexts are asked of it.

use hermes_home::Home;
use hermes_store::memory::Memory;

use crate::app::App;
use crate::asker::Asker;

/// A memory that is read for somebody.
#[derive(Clone, Copy)]
pub struct Recall<'a> {
    /// The program.
    pub app: &'a App,
    /// The home.
    pub home: &'a Home,
    /// The memory of the home.
    pub store: &'a Memory,
    /// Who asks.
    pub asker: &'a Asker,
}
