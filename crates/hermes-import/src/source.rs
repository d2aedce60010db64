//! The programs whose histories and memories can be read.

/// A program, or a form of file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The transcripts of Claude Code.
    ClaudeCode,
    /// The rollouts of Codex.
    Codex,
    /// The export of ChatGPT.
    #[serde(rename = "chatgpt")]
    ChatGpt,
    /// The export of Claude.ai.
    ClaudeAi,
    /// Workspace and sessions of OpenClaw.
    #[serde(rename = "openclaw")]
    OpenClaw,
    /// A home of Hermes Agent.
    HermesAgent,
    /// Memories of Mem0.
    Mem0,
    /// The memory.jsonl of the reference memory server of MCP.
    #[serde(rename = "reference")]
    ReferenceMemory,
    /// The memory_store.db of Holographic.
    Holographic,
    /// A folder of Markdown files.
    #[serde(rename = "markdown")]
    MarkdownFolder,
    /// Messages, one JSON object a line.
    Jsonl,
}

impl Source {
    /// All of them.
    pub const ALL: [Source; 11] = [
        Source::ClaudeCode,
        Source::Codex,
        Source::ChatGpt,
        Source::ClaudeAi,
        Source::OpenClaw,
        Source::HermesAgent,
        Source::Mem0,
        Source::ReferenceMemory,
        Source::Holographic,
        Source::MarkdownFolder,
        Source::Jsonl,
    ];

    /// The name that is typed, and by which what was taken in is known.
    pub fn id(self) -> &'static str {
        match self {
            Source::ClaudeCode => "claude-code",
            Source::Codex => "codex",
            Source::ChatGpt => "chatgpt",
            Source::ClaudeAi => "claude-ai",
            Source::OpenClaw => "openclaw",
            Source::HermesAgent => "hermes-agent",
            Source::Mem0 => "mem0",
            Source::ReferenceMemory => "reference",
            Source::Holographic => "holographic",
            Source::MarkdownFolder => "markdown",
            Source::Jsonl => "jsonl",
        }
    }

    /// The name as people read it.
    pub fn title(self) -> &'static str {
        match self {
            Source::ClaudeCode => "Claude Code",
            Source::Codex => "Codex",
            Source::ChatGpt => "ChatGPT",
            Source::ClaudeAi => "Claude.ai",
            Source::OpenClaw => "OpenClaw",
            Source::HermesAgent => "Hermes Agent",
            Source::Mem0 => "Mem0",
            Source::ReferenceMemory => "MCP reference memory",
            Source::Holographic => "Holographic",
            Source::MarkdownFolder => "Markdown folder",
            Source::Jsonl => "JSON lines",
        }
    }
}
