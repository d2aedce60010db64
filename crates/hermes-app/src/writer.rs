//! A memory that is opened to be written when it is first needed, and then stays open.

use std::time::Duration;

use hermes_home::Home;
use hermes_store::Stop;
use hermes_store::sqlite::Access;

use crate::app::App;
use crate::memory::OpenMemory;
use crate::process::{self, Identity};

/// The one connection through which a profile is written.
#[derive(Default)]
pub struct Writer(Option<(OpenMemory, Option<Identity>)>);

impl Writer {
    /// The memory; the first who asks opens it, and makes one where there is none. Others who write are waited for so
    /// long at most.
    pub fn memory(
        &mut self,
        app: &App,
        home: &Home,
        wait: Duration,
    ) -> anyhow::Result<&mut OpenMemory> {
        self.close_replaced();
        let (memory, _) = match self.0.take() {
            Some((mut memory, identity)) => {
                memory.store.wait_at_most(wait)?;
                self.0.insert((memory, identity))
            }
            None => {
                let memory = app.memory_within(home, Access::Write, wait)?;
                let identity = process::identity(&memory.path);
                self.0.insert((memory, identity))
            }
        };
        Ok(memory)
    }

    /// The memory, if it is open.
    pub fn opened(&self) -> Option<&OpenMemory> {
        self.0.as_ref().map(|(memory, _)| memory)
    }

    /// Ends what is read from now on when the flag says so.
    pub(crate) fn heed(&mut self, stop: &Stop) -> hermes_store::Result<()> {
        self.0.as_mut().map_or(Ok(()), |(memory, _)| memory.store.heed(stop))
    }

    /// Lets go of a database in whose place another one is: nothing goes to the old one.
    pub(crate) fn close_replaced(&mut self) {
        self.0.take_if(|(memory, identity)| !memory.is_in_place(*identity));
    }
}
