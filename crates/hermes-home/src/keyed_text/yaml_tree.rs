//! Where every key and value of a YAML text stands, byte by byte, for editing in place.

use std::ops::Range;

use serde_saphyr::granit_parser::{Event, Options, Parser, ScalarStyle, Span, StructureStyle};

/// A mapping and its keys.
#[derive(Debug, Clone)]
pub(crate) struct Mapping {
    pub(crate) style: MappingStyle,
    pub(crate) pairs: Vec<Pair>,
}

/// How a mapping is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MappingStyle {
    /// One key a line, by indentation.
    Block,
    /// `{…}`, with the offset of the opening brace.
    Flow { open: usize },
}

/// A key with its value.
#[derive(Debug, Clone)]
pub(crate) struct Pair {
    /// The key without quotes.
    pub(crate) name: String,
    /// The bytes of the key, quotes included.
    pub(crate) key: Range<usize>,
    /// How many characters stand before the key in its line.
    pub(crate) column: usize,
    pub(crate) value: Place,
}

/// What a value is, as far as editing cares.
#[derive(Debug, Clone)]
pub(crate) enum Place {
    /// Plain or quoted text; the range is empty when nothing is written.
    Scalar(Range<usize>),
    /// A text below `|` or `>`.
    BlockScalar,
    Mapping(Mapping),
    /// A list of plain or quoted texts: from its first character to the end of its last item or bracket.
    List {
        range: Range<usize>,
        items: Vec<Range<usize>>,
    },
    /// Another list, an alias, or something with an anchor or a tag: not edited.
    Other(Range<usize>),
}

/// The top mapping; none when the text is empty or something else.
pub(crate) fn read(text: &str) -> Option<Mapping> {
    let mut events = Vec::new();
    let mut options = Options::default();
    options.set_emit_comments(false);
    for next in Parser::new_from_str_with_options(text, options) {
        events.push(next.ok()?);
    }
    let mut reader = Reader { events: events.into_iter() };
    while let Some((event, span)) = reader.events.next() {
        match event {
            Event::StreamStart | Event::DocumentStart(..) => {}
            first => {
                return match reader.place(&first, &span)? {
                    Place::Mapping(mapping) => Some(mapping),
                    _ => None,
                };
            }
        }
    }
    None
}

struct Reader<'a> {
    events: std::vec::IntoIter<(Event<'a>, Span)>,
}

impl Reader<'_> {
    fn place(&mut self, event: &Event<'_>, span: &Span) -> Option<Place> {
        let start = span.start.byte_offset()?;
        match event {
            Event::Scalar(_, style, anchor, tag) => {
                let range = start..span.end.byte_offset()?;
                let is_decorated = *anchor != 0 || tag.is_some();
                Some(match style {
                    _ if is_decorated => Place::Other(range),
                    ScalarStyle::Literal | ScalarStyle::Folded => Place::BlockScalar,
                    _ => Place::Scalar(range),
                })
            }
            Event::MappingStart(style, anchor, tag) => {
                let mapping = self.mapping(*style, start)?;
                let is_decorated = *anchor != 0 || tag.is_some();
                Some(if is_decorated {
                    Place::Other(start..start)
                } else {
                    Place::Mapping(mapping)
                })
            }
            Event::SequenceStart(style, anchor, tag) => {
                let list = self.list(*style, start)?;
                let is_decorated = *anchor != 0 || tag.is_some();
                Some(list.filter(|_| !is_decorated).unwrap_or(Place::Other(start..start)))
            }
            Event::Alias(_) => Some(Place::Other(start..span.end.byte_offset()?)),
            _ => None,
        }
    }

    fn mapping(&mut self, style: StructureStyle, start: usize) -> Option<Mapping> {
        let style = match style {
            StructureStyle::Block => MappingStyle::Block,
            StructureStyle::Flow => MappingStyle::Flow { open: start },
        };
        let mut pairs = Vec::new();
        loop {
            let (event, span) = self.events.next()?;
            if matches!(event, Event::MappingEnd) {
                return Some(Mapping { style, pairs });
            }
            let key = self.place(&event, &span)?;
            let (value_event, value_span) = self.events.next()?;
            let value = self.place(&value_event, &value_span)?;
            if let (Place::Scalar(range), Event::Scalar(name, ..)) = (key, &event) {
                let column = span.start.col();
                pairs.push(Pair { name: name.clone().into_owned(), key: range, column, value });
            }
        }
    }

    /// The outer none means that the text ends too early, the inner one that the list is not a plain one.
    fn list(&mut self, style: StructureStyle, start: usize) -> Option<Option<Place>> {
        let (mut items, mut is_plain) = (Vec::new(), true);
        loop {
            let (event, span) = self.events.next()?;
            if matches!(event, Event::SequenceEnd) {
                let end = match style {
                    StructureStyle::Flow => span.end.byte_offset(),
                    StructureStyle::Block => items.last().map(|last: &Range<usize>| last.end),
                };
                let plain = end.filter(|_| is_plain);
                return Some(plain.map(|end| Place::List { range: start..end, items }));
            }
            match self.place(&event, &span)? {
                Place::Scalar(range) if !range.is_empty() => items.push(range),
                _ => is_plain = false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_those_of_the_text() {
        let text = "# ü\r\n\"a\": 'x y' # c\r\nb:\r\n  c: plain text\r\n  d:\r\ne: {f: 1, g: two}\r\nh: |\r\n  block\r\n";
        let root = read(text).unwrap();
        let scalar = |pair: &Pair| match &pair.value {
            Place::Scalar(range) => text[range.clone()].to_owned(),
            other => format!("{other:?}"),
        };
        assert_eq!(&text[root.pairs[0].key.clone()], "\"a\"");
        assert_eq!(scalar(&root.pairs[0]), "'x y'");
        let Place::Mapping(inner) = &root.pairs[1].value else { panic!("{root:?}") };
        assert_eq!(inner.style, MappingStyle::Block);
        assert_eq!((scalar(&inner.pairs[0]), inner.pairs[0].column), ("plain text".to_owned(), 2));
        assert_eq!(scalar(&inner.pairs[1]), "");
        let Place::Mapping(flow) = &root.pairs[2].value else { panic!("{root:?}") };
        assert!(matches!(flow.style, MappingStyle::Flow { open } if &text[open..=open] == "{"));
        assert_eq!(scalar(&flow.pairs[1]), "two");
        assert!(matches!(root.pairs[3].value, Place::BlockScalar));
    }
}
