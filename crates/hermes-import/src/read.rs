//! Reads everything of one source and hands it out, item by item.

use std::path::Path;

use crate::reading::{Options, Reading, Sink};
use crate::tally::Tally;
use crate::{
    Error, Result, Source, chatgpt, claude_ai, claude_code, codex, hermes_agent, holographic,
    jsonl, markdown, mem0, openclaw, reference,
};

/// Reads all that a source keeps at a path. The source is never changed; what cannot be read is counted.
pub fn read<'a>(
    source: Source,
    path: &Path,
    options: &'a Options,
    sink: &'a mut Sink<'a>,
) -> Result<Tally> {
    let mut reading = Reading::new(options, sink);
    let read = match source {
        Source::ClaudeCode => claude_code::read(path, &mut reading),
        Source::Codex => codex::read(path, &mut reading),
        Source::ChatGpt => chatgpt::read(path, &mut reading),
        Source::ClaudeAi => claude_ai::read(path, &mut reading),
        Source::OpenClaw => openclaw::read(path, &mut reading),
        Source::HermesAgent => hermes_agent::read(path, &mut reading),
        Source::Mem0 => mem0::read(path, &mut reading),
        Source::ReferenceMemory => reference::read(path, &mut reading),
        Source::Holographic => holographic::read(path, &mut reading),
        Source::MarkdownFolder => markdown::read(path, &mut reading),
        Source::Jsonl => jsonl::read(path, &mut reading),
    };
    match read {
        Ok(()) | Err(Error::Stopped) => Ok(reading.tally),
        Err(error) => Err(error),
    }
}
