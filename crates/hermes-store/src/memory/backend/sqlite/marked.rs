//! The high-water mark of a memory: kept with each change, compared when it is opened.

use std::cell::RefCell;

use crate::Result;
use crate::memory::{Admin, Memory, audit};
use crate::rot::{Behind, HighWater, Water, Which};
use crate::sqlite::Access;

impl Memory {
    /// Whether the memory has less than was acknowledged: an entry of the chain of changes is missing or another one.
    pub fn behind(&self, marks: &HighWater) -> Result<Option<Behind>> {
        if let Some(noted) = marks.noted(Which::Memory) {
            return Ok(Some(noted));
        }
        self.compare_with_mark(marks)
    }

    /// Raises the mark with each change from now on. What is missing by now is noted first, so that it is not hidden.
    pub fn keep_mark(&mut self, marks: &HighWater) -> Result<()> {
        if self.access == Access::Read || self.connection.file().is_none() {
            return Ok(());
        }
        let mut water = Water::open(marks, Which::Memory);
        let behind = self.compare_with_mark(marks)?;
        let last = audit::mark(&*self.connection).map_err(|source| self.failed(source))?;
        if let Some(behind) = behind {
            marks.note(Which::Memory, behind);
            water.set(last.unwrap_or_default());
        } else if let Some(last) = last {
            water.raise(last);
        }
        self.water = Some(RefCell::new(water));
        Ok(())
    }

    /// Takes the memory as it is: what is missing is given up, and the mark is what is there.
    pub fn accept_as_is(&self, marks: &HighWater) -> Result<()> {
        let last = audit::mark(self.asking(Admin)).map_err(|source| self.failed(source))?;
        marks.forget_note(Which::Memory)?;
        Water::open(marks, Which::Memory).set(last.unwrap_or_default());
        Ok(())
    }

    /// The mark is read first: what it says was in the database by then.
    fn compare_with_mark(&self, marks: &HighWater) -> Result<Option<Behind>> {
        let Some(mark) = marks.read(Which::Memory).filter(|_| self.connection.file().is_some())
        else {
            return Ok(None);
        };
        let compared = audit::behind(self.asking(Admin), mark);
        compared.map_err(|source| self.failed(source))
    }
}
