//! Proposals: made once, decided once.

use jiff::Timestamp;
use jiff::civil::Date;

use super::SqliteMemory;
use crate::Result;
use crate::memory::*;

impl Proposals for SqliteMemory {
    fn propose(
        &mut self,
        _scope: Scope,
        _proposal: &NewProposal<'_>,
        _change: Change<'_>,
    ) -> Result<Added> {
        todo!()
    }

    fn proposals(&self, _scope: Scope, _state: Option<ProposalState>) -> Result<Vec<Proposal>> {
        todo!()
    }

    fn proposal(&self, _scope: Scope, _id: i64) -> Result<Proposal> {
        todo!()
    }

    fn decide_proposal(
        &mut self,
        _scope: Scope,
        _id: i64,
        _decision: ProposalState,
        _change: Change<'_>,
    ) -> Result<()> {
        todo!()
    }
}
