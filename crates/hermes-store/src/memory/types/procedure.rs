//! A procedure: how a kind of task is done well.

use jiff::Timestamp;

use super::{NewChunk, NewSource, Trust, Uid, UserNumber};

/// What a procedure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProcedureKind {
    /// What a finished task taught.
    Reflection,
    /// What several tasks had in common.
    Pattern,
    /// A skill, by its path.
    Skill,
}

/// A procedure to be kept.
#[derive(Debug, Clone)]
pub struct NewProcedure<'a> {
    /// What it is.
    pub kind: ProcedureKind,
    /// The type of task it is for: `coding`, `research`, …
    pub task_type: Option<&'a str>,
    /// One line.
    pub title: &'a str,
    /// The lesson.
    pub body: &'a str,
    /// How the task it came from went.
    pub outcome: Option<&'a str>,
    /// How far it can be trusted.
    pub trust: Trust,
    /// Whether everybody may read it.
    pub shared: bool,
    /// The names it mentions.
    pub entities: &'a [String],
    /// Where it came from.
    pub sources: &'a [NewSource<'a>],
    /// Its text ready for the index: title, line break, body.
    pub chunks: Vec<NewChunk>,
    /// What makes it unique, so that keeping it again adds nothing.
    pub origin: Option<OriginId<'a>>,
    /// Where its skill is, for one that stands for a skill.
    pub skill_path: Option<&'a str>,
}

/// What makes a thing unique: where it comes from and its id there.
#[derive(Debug, Clone, Copy)]
pub struct OriginId<'a> {
    /// The program, file or job.
    pub source: &'a str,
    /// The id inside it.
    pub external_id: &'a str,
}

/// A procedure as it is kept.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Procedure {
    /// Its number: `procedure:7`.
    pub id: i64,
    /// The same everywhere.
    pub uid: Uid,
    /// Whose it is; 0 for everybody.
    pub user: UserNumber,
    /// What it is.
    pub kind: ProcedureKind,
    /// The type of task it is for.
    pub task_type: Option<String>,
    /// One line.
    pub title: String,
    /// The lesson.
    pub body: String,
    /// How the task it came from went.
    pub outcome: Option<String>,
    /// How far it can be trusted.
    pub trust: Trust,
    /// Since when we know it.
    pub recorded_at: Timestamp,
    /// Since when we no longer hold it.
    pub retired_at: Option<Timestamp>,
    /// Whether it is held back as suspect.
    pub quarantined: bool,
    /// How often it was handed out in a context.
    pub uses: u32,
    /// How often it helped.
    pub wins: u32,
    /// How often it did not.
    pub losses: u32,
    /// Where its skill is.
    pub skill_path: Option<String>,
}
