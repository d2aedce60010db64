//! Forgetting by choice, with the marks that keep it forgotten.

use super::SqliteMemory;
use crate::Result;
use crate::memory::*;

impl Forgetting for SqliteMemory {
    fn forget_plan(&self, _admin: Admin, _choice: &Choice) -> Result<Forgotten> {
        todo!()
    }

    fn forget(
        &mut self,
        _admin: Admin,
        _choice: &Choice,
        _depth: Depth,
        _change: Change<'_>,
    ) -> Result<Forgotten> {
        todo!()
    }
}
