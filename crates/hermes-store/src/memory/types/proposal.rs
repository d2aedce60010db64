//! A proposal: something that will be written once a person agrees.

use jiff::Timestamp;

use super::{Trust, UserNumber};

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
