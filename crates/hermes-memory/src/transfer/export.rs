//! Writes a memory as one JSON document, one item a line.

use std::collections::BTreeMap;
use std::io::{self, Write};

use hermes_home::redaction;
use hermes_store::memory::{
    Admin, ExportChoice, ExportHead, Exported, Memory, Section, UserNumber,
};
use jiff::Timestamp;
use serde::Serialize;

use crate::Result;

/// What is exported, and how.
#[derive(Debug, Clone)]
pub struct ExportSettings<'a> {
    /// The program that writes, with its version.
    pub made_by: &'a str,
    /// The time of the export.
    pub now: Timestamp,
    /// Only what belongs to this user.
    pub user: Option<UserNumber>,
    /// Only what was recorded since.
    pub since: Option<Timestamp>,
    /// Only these parts.
    pub sections: Option<&'a [Section]>,
    /// Whether what looks like a secret is replaced.
    pub redact: bool,
}

/// What was written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Written {
    /// How many items of each part.
    pub items: BTreeMap<&'static str, u64>,
    /// How many bytes.
    pub bytes: u64,
}

/// Writes everything that is chosen; `progress` hears how many items and bytes were written.
pub fn export(
    store: &Memory,
    out: &mut dyn Write,
    settings: &ExportSettings<'_>,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Written> {
    let hide: &dyn Fn(&str) -> String = &|text| redaction::redact(text).into_owned();
    let choice = ExportChoice {
        user: settings.user,
        since: settings.since,
        sections: settings.sections,
        redact: settings.redact.then_some(hide),
    };
    let mut document =
        Document { out, settings, section: None, written: Written::default(), count: 0 };
    store.export(Admin, &choice, &mut |exported| {
        document.put(exported)?;
        if document.count.is_multiple_of(1000) {
            progress(document.count, document.written.bytes);
        }
        Ok(())
    })?;
    let ended = document.end();
    ended.map_err(|source| hermes_store::Error::MemoryUnwritten { source })?;
    progress(document.count, document.written.bytes);
    Ok(document.written)
}

struct Document<'a> {
    out: &'a mut dyn Write,
    settings: &'a ExportSettings<'a>,
    section: Option<Section>,
    written: Written,
    count: u64,
}

impl Document<'_> {
    fn put(&mut self, exported: Exported<'_>) -> io::Result<()> {
        match exported {
            Exported::Head(head) => self.begin(head),
            Exported::Item(section, line) => self.item(section, line),
        }
    }

    fn begin(&mut self, head: ExportHead) -> io::Result<()> {
        let ExportSettings { made_by, now, .. } = self.settings;
        let head = ExportHead { made_by: (*made_by).to_owned(), exported_at: *now, ..head };
        let head = serde_json::to_value(head)?;
        let fields = head.as_object().into_iter().flatten();
        for (place, (name, value)) in fields.enumerate() {
            let begin = if place == 0 { "{" } else { ",\n" };
            self.write(format!("{begin}\"{name}\": {value}").as_bytes())?;
        }
        Ok(())
    }

    fn item(&mut self, section: Section, line: &[u8]) -> io::Result<()> {
        if self.section == Some(section) {
            self.write(b",\n")?;
        } else {
            self.close_section()?;
            self.write(format!(",\n\"{}\": [\n", section.name()).as_bytes())?;
            self.section = Some(section);
        }
        self.write(line)?;
        *self.written.items.entry(section.name()).or_default() += 1;
        self.count += 1;
        Ok(())
    }

    fn close_section(&mut self) -> io::Result<()> {
        match self.section.take() {
            Some(_) => self.write(b"\n]"),
            None => Ok(()),
        }
    }

    /// The counts come last: a document that has them was written to its end.
    fn end(&mut self) -> io::Result<()> {
        self.close_section()?;
        let counts = serde_json::to_string(&self.written.items)?;
        self.write(format!(",\n\"counts\": {counts}\n}}\n").as_bytes())?;
        self.out.flush()
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.written.bytes += bytes.len() as u64;
        Ok(())
    }
}
