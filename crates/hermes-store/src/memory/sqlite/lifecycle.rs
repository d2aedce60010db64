//! The life of what was recorded: taken in, drawn from, looked back on, told by a summary.

use jiff::Timestamp;
use jiff::civil::Date;

use super::SqliteMemory;
use crate::Result;
use crate::memory::*;

impl Lifecycle for SqliteMemory {
    fn taken_in(&self, _admin: Admin) -> Result<Vec<TakenIn>> {
        todo!()
    }

    fn note_taken_in(&mut self, _admin: Admin, _taken: &TakenIn, _now: Timestamp) -> Result<()> {
        todo!()
    }

    fn end_session(&mut self, _scope: Scope, _session_id: &str, _at: Timestamp) -> Result<bool> {
        todo!()
    }

    fn retire_messages(
        &mut self,
        _scope: Scope,
        _session_id: &str,
        _source: &str,
        _external_ids: &[String],
        _change: Change<'_>,
    ) -> Result<u64> {
        todo!()
    }

    fn waiting_episodes(
        &self,
        _admin: Admin,
        _idle_since: Timestamp,
        _limit: usize,
    ) -> Result<Vec<Episode>> {
        todo!()
    }

    fn mark_extracted(&mut self, _admin: Admin, _episodes: &[i64], _now: Timestamp) -> Result<()> {
        todo!()
    }

    fn extract_again(&mut self, _scope: Scope, _session_id: Option<&str>) -> Result<u64> {
        todo!()
    }

    fn sessions_to_reflect(
        &self,
        _admin: Admin,
        _idle_since: Timestamp,
        _limit: usize,
    ) -> Result<Vec<Session>> {
        todo!()
    }

    fn mark_reflected(
        &mut self,
        _admin: Admin,
        _session: SessionKey,
        _now: Timestamp,
    ) -> Result<()> {
        todo!()
    }

    fn sessions_named(&self, _scope: Scope, _session_id: &str) -> Result<Vec<Session>> {
        todo!()
    }

    fn episodes_of(&self, _scope: Scope, _session: SessionKey) -> Result<Vec<Episode>> {
        todo!()
    }

    fn steps_of(&self, _scope: Scope, _episode: &Episode) -> Result<Vec<Step>> {
        todo!()
    }

    fn old_episodes(
        &self,
        _admin: Admin,
        _before: Timestamp,
        _after: After,
        _limit: usize,
    ) -> Result<Vec<Episode>> {
        todo!()
    }

    fn keep_summary(
        &mut self,
        _scope: Scope,
        _summary: &NewSummary<'_>,
        _change: Change<'_>,
    ) -> Result<i64> {
        todo!()
    }

    fn unfinished_summaries(&self, _admin: Admin) -> Result<Vec<Episode>> {
        todo!()
    }

    fn drop_raw(
        &mut self,
        _scope: Scope,
        _summary: i64,
        _body: &str,
        _change: Change<'_>,
    ) -> Result<Dropped> {
        todo!()
    }

    fn covering(&self, _scope: Scope, _episodes: &[i64]) -> Result<Vec<(i64, i64)>> {
        todo!()
    }

    fn sessions_of_summary(&self, _scope: Scope, _summary: i64) -> Result<Vec<String>> {
        todo!()
    }

    fn keep_task(
        &mut self,
        _scope: Scope,
        _task: &NewTask<'_>,
        _change: Change<'_>,
    ) -> Result<i64> {
        todo!()
    }

    fn tasks(&self, _scope: Scope, _task_type: Option<&str>, _limit: usize) -> Result<Vec<Task>> {
        todo!()
    }

    fn note_skill_of_tasks(
        &mut self,
        _scope: Scope,
        _tasks: &[i64],
        _procedure: i64,
    ) -> Result<()> {
        todo!()
    }

    fn receipts_of(&self, _scope: Scope, _session_id: &str) -> Result<Vec<Receipt>> {
        todo!()
    }

    fn count_outcome(&mut self, _scope: Scope, _procedures: &[i64], _won: bool) -> Result<()> {
        todo!()
    }

    fn events_of_session(
        &self,
        _scope: Scope,
        _session: SessionKey,
        _kind: Option<EventKind>,
    ) -> Result<Vec<Event>> {
        todo!()
    }

    fn message_by_origin(
        &self,
        _scope: Scope,
        _source: &str,
        _session_id: &str,
        _external_id: &str,
    ) -> Result<Option<MessageKey>> {
        todo!()
    }
}
