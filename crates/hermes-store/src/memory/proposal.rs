//! A proposal: something that will be written once a person agrees.

use jiff::Timestamp;

use super::{Added, Change, Scope, Trust, UserNumber};
use crate::Result;

/// A proposal to be kept.
#[derive(Debug, Clone, Copy)]
pub struct NewProposal<'a> {
    /// What would be done: `memory.add`, `user.add`, `memory.remove`, `user.remove`, …
    pub kind: &'a str,
    /// What it would be done with, as JSON.
    pub body: &'a str,
    /// What made it: `extract`, `reflect`, `agent`, …
    pub origin: &'a str,
    /// How far its words can be trusted.
    pub trust: Trust,
    /// The episode it comes from.
    pub episode: Option<i64>,
}

/// A proposal as it is kept.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Proposal {
    /// Its number: `proposal:4`.
    pub id: i64,
    /// For whom.
    pub user: UserNumber,
    /// What would be done.
    pub kind: String,
    /// What it would be done with, as JSON.
    pub body: String,
    /// What made it.
    pub origin: String,
    /// How far its words can be trusted.
    pub trust: Trust,
    /// The episode it comes from.
    pub episode: Option<i64>,
    /// Whether it was decided.
    pub state: ProposalState,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was decided.
    pub decided_at: Option<Timestamp>,
}

/// Whether a proposal was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProposalState {
    /// Nobody decided.
    Open,
    /// It was done.
    Accepted,
    /// It was refused, and is not made again.
    Refused,
}

/// Keep, read and decide proposals.
pub trait Proposals {
    /// Keeps a proposal, unless the same one was made before, whatever was decided.
    fn propose(
        &mut self,
        scope: Scope,
        proposal: &NewProposal<'_>,
        change: Change<'_>,
    ) -> Result<Added>;

    /// The proposals in a state (all if none), oldest first.
    fn proposals(&self, scope: Scope, state: Option<ProposalState>) -> Result<Vec<Proposal>>;

    /// The proposal with this number.
    fn proposal(&self, scope: Scope, id: i64) -> Result<Proposal>;

    /// Says that an open proposal was accepted or refused; fails if it was decided already.
    fn decide_proposal(
        &mut self,
        scope: Scope,
        id: i64,
        decision: ProposalState,
        change: Change<'_>,
    ) -> Result<()>;
}
