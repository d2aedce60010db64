//! Which episodes a model reads in one call.

use hermes_store::memory::UserNumber;

use super::run::Read;

/// How many tokens of messages a model reads in one call.
const TOKENS_PER_CALL: usize = 6_000;

/// What one call of a model will read: the words of one user alone, so that no fact of one is drawn from those of another.
pub(super) struct Batch {
    pub(super) user: UserNumber,
    pub(super) reads: Vec<Read>,
    cost: usize,
}

impl Batch {
    pub(super) fn of(user: UserNumber) -> Batch {
        Batch { user, reads: Vec::new(), cost: 0 }
    }

    /// Takes one more; returns those that were there, if it would be too much for one call with them.
    pub(super) fn add(&mut self, read: Read) -> Vec<Read> {
        let next = read.cost();
        let is_full = !self.reads.is_empty() && self.cost + next > TOKENS_PER_CALL;
        let full = if is_full { std::mem::take(&mut self.reads) } else { Vec::new() };
        self.cost = if is_full { next } else { self.cost + next };
        self.reads.push(read);
        full
    }
}
