//! Reads the document piece by piece: never more of it in memory than one item.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Read};
use std::rc::Rc;

use hermes_store::memory::{ExportHead, PortableItem, Section};
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Value};

/// What listens while a document is read.
pub(super) trait Listener {
    /// The first items follow; false stops the reading.
    fn begin(&mut self, head: &ExportHead) -> bool;

    /// One item; false stops the reading.
    fn item(&mut self, item: PortableItem) -> bool;

    /// The counts at the end.
    fn counts(&mut self, counts: BTreeMap<String, u64>);
}

/// How far the reading is, and how far it may go before the next item begins.
#[derive(Debug, Clone, Default)]
pub(super) struct Meter {
    read: Rc<Cell<u64>>,
    limit: Rc<Cell<u64>>,
}

impl Meter {
    /// How many bytes were read.
    pub(super) fn read(&self) -> u64 {
        self.read.get()
    }

    /// Whether an item was too long.
    pub(super) fn is_over(&self) -> bool {
        self.read.get() > self.limit.get()
    }

    fn allow(&self, bytes: u64) {
        self.limit.set(self.read.get().saturating_add(bytes));
    }
}

/// A reader that stops where an item is too long.
pub(super) struct Metered<'r> {
    pub(super) inner: &'r mut dyn Read,
    pub(super) meter: Meter,
}

impl Read for Metered<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.meter.is_over() {
            return Err(io::Error::other("one item is too long"));
        }
        let count = self.inner.read(buffer)?;
        self.meter.read.set(self.meter.read.get() + count as u64);
        Ok(count)
    }
}

/// Reads a document to its end, or to where it is damaged.
pub(super) fn read(
    from: &mut dyn Read,
    meter: &Meter,
    longest: u64,
    listener: &mut dyn Listener,
) -> serde_json::Result<()> {
    meter.allow(longest);
    let metered = Metered { inner: from, meter: meter.clone() };
    let buffered = io::BufReader::with_capacity(1 << 16, metered);
    let mut json = serde_json::Deserializer::from_reader(buffered);
    Document { meter, longest, listener }.deserialize(&mut json)?;
    json.end()
}

struct Document<'a> {
    meter: &'a Meter,
    longest: u64,
    listener: &'a mut dyn Listener,
}

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an export of a memory")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let mut head: Map<String, Value> = Map::new();
        let mut has_begun = false;
        while let Some(key) = map.next_key::<String>()? {
            if let Some(section) = Section::from_name(&key) {
                if !std::mem::replace(&mut has_begun, true) {
                    self.begin(&head).map_err(A::Error::custom)?;
                }
                let Document { meter, longest, ref mut listener } = self;
                map.next_value_seed(Items { section, meter, longest, listener: &mut **listener })?;
            } else if key == "counts" {
                // A memory without a single item is one too.
                if !std::mem::replace(&mut has_begun, true) {
                    self.begin(&head).map_err(A::Error::custom)?;
                }
                self.listener.counts(map.next_value()?);
            } else if !has_begun && HEAD.contains(&key.as_str()) {
                head.insert(key, map.next_value()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
            self.meter.allow(self.longest);
        }
        if has_begun { Ok(()) } else { Err(A::Error::custom("it has no items")) }
    }
}

const HEAD: [&str; 7] =
    ["hermes_memory", "made_by", "profile", "home_id", "exported_at", "is_part", "numbers"];

impl Document<'_> {
    fn begin(&mut self, head: &Map<String, Value>) -> Result<(), &'static str> {
        let version = head.get("hermes_memory").and_then(Value::as_u64);
        let version = version.and_then(|version| u32::try_from(version).ok());
        let text = |name: &str| head.get(name).and_then(Value::as_str).unwrap_or_default();
        let numbers = head.get("numbers").cloned().unwrap_or_default();
        let head = ExportHead {
            hermes_memory: version.unwrap_or(0),
            made_by: text("made_by").to_owned(),
            profile: text("profile").to_owned(),
            home_id: text("home_id").to_owned(),
            exported_at: text("exported_at").parse().unwrap_or_default(),
            is_part: head.get("is_part").and_then(Value::as_bool).unwrap_or(false),
            numbers: serde_json::from_value(numbers).unwrap_or_default(),
        };
        if self.listener.begin(&head) { Ok(()) } else { Err("stopped") }
    }
}

struct Items<'a> {
    section: Section,
    meter: &'a Meter,
    longest: u64,
    listener: &'a mut dyn Listener,
}

impl<'de> DeserializeSeed<'de> for Items<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Items<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a list of {}", self.section.name())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.meter.allow(self.longest);
        while let Some(fields) = items.next_element::<Map<String, Value>>()? {
            if !self.listener.item(PortableItem { section: self.section, fields }) {
                return Err(A::Error::custom("stopped"));
            }
            self.meter.allow(self.longest);
        }
        Ok(())
    }
}
