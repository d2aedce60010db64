//! Takes in an export: what is known adds nothing, what is cut off is kept as far as it goes.

use std::collections::BTreeMap;
use std::io::Read;

use hermes_store::memory::{
    Admin, Change, EXPORT_VERSION, ExportHead, Import, Imported, Memory, NewChunk, PortableItem,
    PortableText, Uid,
};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::Value;
use serde_json::error::Category;

use super::format::{self, Listener, Meter};
use crate::chunk::{self, Vectors, Words};
use crate::{Error, Result};

/// A longer item is refused: it has to fit in memory several times over.
pub const LONGEST_ITEM: u64 = 64 * 1024 * 1024;

const ITEMS_PER_TRANSACTION: usize = 500;
const BYTES_PER_TRANSACTION: u64 = 4 * 1024 * 1024;
const ACTOR: &str = "import";

/// How an export is taken in.
#[derive(Debug, Clone)]
pub struct ImportSettings<'a> {
    /// The profile that it is taken into.
    pub profile: &'a str,
    /// The zone in which days are indexed.
    pub zone: &'a TimeZone,
    /// The time of the change.
    pub now: Timestamp,
    /// Whether vectors are made here or by a job.
    pub vectors: Vectors,
}

/// Where the document ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "ending", rename_all = "snake_case")]
pub enum Ending {
    /// It was whole.
    Whole,
    /// It was cut off; what stood before was taken in.
    Cut,
    /// It could not be read further; what stood before was taken in.
    Damaged {
        /// The line, from 1.
        line: usize,
        /// What is wrong there.
        why: String,
    },
    /// It has not as many items as it says.
    Short {
        /// The part.
        part: String,
        /// How many it says.
        said: u64,
        /// How many it has.
        found: u64,
    },
}

/// What an import did, or would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// The profile that the document was taken from.
    pub profile: String,
    /// The memory that it was taken from.
    pub home_id: String,
    /// When it was taken.
    pub exported_at: Timestamp,
    /// The program that wrote it.
    pub made_by: String,
    /// Whether it comes from another profile.
    pub is_of_another_profile: bool,
    /// Whether an earlier import of it was cut off.
    pub resumed: bool,
    /// How many items of each part were read.
    pub items: BTreeMap<&'static str, u64>,
    /// How many of them are here by their ids; counted by a dry run only.
    pub here_already: u64,
    /// What became of them.
    #[serde(flatten)]
    pub imported: Imported,
    /// Where it ended.
    #[serde(flatten)]
    pub ending: Ending,
}

impl ImportReport {
    /// Whether something of the document was left out that should be here.
    pub fn is_partial(&self) -> bool {
        self.ending != Ending::Whole || self.imported.total().refused > 0
    }
}

/// Cuts a text that is carried as it was cut when it was recorded.
pub fn chunks_of(text: &PortableText<'_>, zone: &TimeZone, vectors: Vectors) -> Vec<NewChunk> {
    if let Some(further) = text.further {
        return chunk::prepare_summary(text.text, further, vectors);
    }
    let words = Words {
        text: text.text,
        caption: text.caption,
        speaker: text.speaker,
        day: text.at.map(|at| chunk::day_of(at, zone)),
    };
    chunk::prepare(&words, vectors)
}

/// Takes in a document; `progress` hears how many items and bytes are done.
pub fn import(
    store: &mut Memory,
    from: &mut dyn Read,
    settings: &ImportSettings<'_>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<ImportReport> {
    take(Doing::Importing { store, import: None }, from, settings, progress)
}

/// Reads a document without taking anything in, and says what it holds.
pub fn look(
    store: &Memory,
    from: &mut dyn Read,
    settings: &ImportSettings<'_>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<ImportReport> {
    take(Doing::Looking { store }, from, settings, progress)
}

fn take<'a>(
    doing: Doing<'a>,
    from: &mut dyn Read,
    settings: &'a ImportSettings<'a>,
    progress: &'a mut dyn FnMut(u64, u64),
) -> Result<ImportReport> {
    let meter = Meter::default();
    let mut taker = Taker {
        doing,
        settings,
        progress,
        meter: meter.clone(),
        head: None,
        waiting: Vec::new(),
        waiting_since: 0,
        items: BTreeMap::new(),
        counts: None,
        here_already: 0,
        imported: Imported::default(),
        error: None,
    };
    let read = format::read(from, &meter, LONGEST_ITEM, &mut taker);
    taker.end(read)
}

enum Doing<'a> {
    Importing { store: &'a mut Memory, import: Option<Import> },
    Looking { store: &'a Memory },
}

struct Taker<'a> {
    doing: Doing<'a>,
    settings: &'a ImportSettings<'a>,
    progress: &'a mut dyn FnMut(u64, u64),
    meter: Meter,
    head: Option<ExportHead>,
    waiting: Vec<PortableItem>,
    waiting_since: u64,
    items: BTreeMap<&'static str, u64>,
    counts: Option<BTreeMap<String, u64>>,
    here_already: u64,
    imported: Imported,
    error: Option<Error>,
}

impl Listener for Taker<'_> {
    fn begin(&mut self, head: &ExportHead) -> bool {
        let begun = self.try_begin(head);
        self.noted(begun)
    }

    fn item(&mut self, item: PortableItem) -> bool {
        *self.items.entry(item.section.name()).or_default() += 1;
        if let Doing::Looking { store } = &self.doing {
            let found = is_here(store, &item);
            let found = found.map(|found| self.here_already += u64::from(found));
            return self.noted(found);
        }
        self.waiting.push(item);
        let bytes = self.meter.read() - self.waiting_since;
        if self.waiting.len() < ITEMS_PER_TRANSACTION && bytes < BYTES_PER_TRANSACTION {
            return true;
        }
        let written = self.write();
        self.noted(written)
    }

    fn counts(&mut self, counts: BTreeMap<String, u64>) {
        self.counts = Some(counts);
    }
}

impl Taker<'_> {
    fn noted(&mut self, done: Result<()>) -> bool {
        match done {
            Ok(()) => true,
            Err(error) => {
                self.error = Some(error);
                false
            }
        }
    }

    fn change(&self) -> Change<'static> {
        Change { actor: ACTOR, at: self.settings.now }
    }

    fn try_begin(&mut self, head: &ExportHead) -> Result<()> {
        if head.hermes_memory > EXPORT_VERSION {
            return Err(Error::NewerExport { found: head.hermes_memory, known: EXPORT_VERSION });
        }
        if head.hermes_memory == 0 {
            return Err(Error::NotExport { why: "it does not contain its format".to_owned() });
        }
        let change = self.change();
        if let Doing::Importing { store, import } = &mut self.doing {
            *import = Some(store.import_begin(Admin, head, change)?);
        }
        self.head = Some(head.clone());
        Ok(())
    }

    /// Takes in what waits, in one transaction.
    fn write(&mut self) -> Result<()> {
        let waiting = std::mem::take(&mut self.waiting);
        self.waiting_since = self.meter.read();
        let change = self.change();
        let ImportSettings { zone, vectors, .. } = *self.settings;
        let chunker = |text: &PortableText<'_>| chunks_of(text, zone, vectors);
        if let Doing::Importing { store, import: Some(import) } = &mut self.doing {
            self.imported.join(store.import_items(import, &waiting, &chunker, change)?);
        }
        (self.progress)(self.items.values().sum(), self.meter.read());
        Ok(())
    }

    fn end(mut self, read: serde_json::Result<()>) -> Result<ImportReport> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        let Some(head) = self.head.take() else { return Err(self.not_export(read)) };
        let ending = self.ending(read)?;
        if !self.waiting.is_empty() {
            self.write()?;
        }
        let change = self.change();
        let mut resumed = false;
        if let Doing::Importing { store, import: Some(import) } = &mut self.doing {
            resumed = import.resumes;
            store.import_end(import, ending == Ending::Whole, change)?;
        }
        Ok(ImportReport {
            is_of_another_profile: head.profile != self.settings.profile,
            profile: head.profile,
            home_id: head.home_id,
            exported_at: head.exported_at,
            made_by: head.made_by,
            resumed,
            items: self.items,
            here_already: self.here_already,
            imported: self.imported,
            ending,
        })
    }

    fn ending(&self, read: serde_json::Result<()>) -> Result<Ending> {
        let Err(error) = read else { return Ok(self.complete()) };
        let damaged = |why: String| Ending::Damaged { line: error.line(), why };
        Ok(match error.classify() {
            Category::Eof => Ending::Cut,
            Category::Io if self.meter.is_over() => {
                damaged(format!("an item is longer than {LONGEST_ITEM} bytes"))
            }
            Category::Io => return Err(Error::Unreadable(error.into())),
            Category::Syntax | Category::Data => damaged(error.to_string()),
        })
    }

    /// Compares what was read with what the document says it holds.
    fn complete(&self) -> Ending {
        let Some(counts) = &self.counts else { return Ending::Cut };
        for (part, said) in counts {
            let found = self.items.iter().find(|(name, _)| **name == *part);
            let found = found.map_or(0, |(_, found)| *found);
            if found != *said {
                return Ending::Short { part: part.clone(), said: *said, found };
            }
        }
        Ending::Whole
    }

    fn not_export(&self, read: serde_json::Result<()>) -> Error {
        match read {
            Err(error) if error.is_io() && !self.meter.is_over() => Error::Unreadable(error.into()),
            Err(error) => Error::NotExport { why: error.to_string() },
            Ok(()) => Error::NotExport { why: "it has no items".to_owned() },
        }
    }
}

fn is_here(store: &Memory, item: &PortableItem) -> Result<bool> {
    let uid = item.fields.get("uid").and_then(Value::as_str);
    match uid.and_then(|uid| uid.parse::<Uid>().ok()) {
        Some(uid) => Ok(store.has_item(Admin, uid)?),
        None => Ok(false),
    }
}
