//! The tools `skills_list`, `skill_view` and `skill_manage`: how kinds of tasks are done.

use std::path::{Component, Path, PathBuf};

use hermes_agent::approval::{Kind, Request, Verdict};
use hermes_agent::toolbox::{Ask, Outcome};
use hermes_home::name::SkillName;
use hermes_home::skill::{self, Catalog, Keep, LARGEST_FILE, NewSkill, OfLocked, Offered, State};
use hermes_llm::chat::Tool;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Tools;
use hermes_app::problem;
use hermes_app::text::one_line;

pub(super) const LIST: &str = "skills_list";
pub(super) const VIEW: &str = "skill_view";
pub(super) const MANAGE: &str = "skill_manage";
/// How much of a file a model is given, in characters.
const MOST_SHOWN: usize = 40_000;

#[derive(Debug, Clone, Default, Deserialize)]
struct Arguments {
    #[serde(default)]
    action: String,
    #[serde(default)]
    name: String,
    file: Option<String>,
    description: Option<String>,
    content: Option<String>,
    old_text: Option<String>,
    task_type: Option<String>,
}

pub(super) fn tools() -> Vec<Tool> {
    let tool = |name: &str, description: &str, parameters: Value| Tool {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters,
    };
    vec![
        tool(
            LIST,
            "The skills there are, each with what it is for.",
            json!({"type": "object", "properties": {}}),
        ),
        tool(
            VIEW,
            "Read a skill, or a file of it, before you do a task it is for.",
            json!({"type": "object", "properties": {
                "name": {"type": "string"},
                "file": {"type": "string", "description": "a file of the skill, such as references/api.md"},
            }, "required": ["name"]}),
        ),
        tool(
            MANAGE,
            "Keep how a kind of task is done. create and edit take description and content (Markdown); patch takes old_text and content; delete takes the skill away. What the person wrote, changed or locked is never rewritten, and a new skill may wait until they agree.",
            json!({"type": "object", "properties": {
                "action": {"type": "string", "enum": ["create", "edit", "patch", "delete"]},
                "name": {"type": "string", "description": "a-z, 0-9, . _ -"},
                "description": {"type": "string", "description": "what it does and when to use it"},
                "content": {"type": "string"},
                "old_text": {"type": "string"},
                "task_type": {"type": "string", "description": "coding, writing, research, …"},
            }, "required": ["action", "name"]}),
        ),
    ]
}

/// What a call would do, in one line.
pub(super) fn describe(name: &str, input: &Value) -> String {
    let text = |key: &str| one_line(input[key].as_str().unwrap_or_default(), 60);
    match name {
        LIST => "list skills".to_owned(),
        VIEW => format!("read skill {}", text("name")),
        _ => format!("{} skill {}", text("action"), text("name")),
    }
}

pub(super) fn call(tools: &mut Tools, name: &str, input: &Value, ask: &mut Ask<'_>) -> Outcome {
    let asked: Arguments = match serde_json::from_value(input.clone()) {
        Ok(asked) => asked,
        Err(error) => {
            return Outcome::failed(&format!("the arguments are not understood: {error}"));
        }
    };
    let answer = match name {
        LIST => list(tools),
        VIEW => view(tools, &asked),
        _ => manage(tools, &asked, ask),
    };
    answer.unwrap_or_else(|error| {
        let hint = problem::hint(&error).map(|hint| format!(" ({hint})")).unwrap_or_default();
        Outcome::failed(&format!("{}{hint}", problem::message(&error)))
    })
}

fn plain(text: String, shown: String) -> Outcome {
    Outcome { text, is_error: false, shown: Some(shown), ends_turn: false, is_outside: false }
}

fn list(tools: &Tools) -> anyhow::Result<Outcome> {
    let catalog = Catalog::read(&tools.seat.home)?;
    let mut lines: Vec<String> = catalog
        .skills
        .iter()
        .map(|skill| format!("{}: {}", skill.name(), one_line(&skill.content.description, 300)))
        .collect();
    lines.sort();
    let count = lines.len();
    let text = if lines.is_empty() { "there are no skills".to_owned() } else { lines.join("\n") };
    Ok(plain(text, format!("{count} skills")))
}

fn view(tools: &Tools, asked: &Arguments) -> anyhow::Result<Outcome> {
    let skill = Catalog::find(&tools.seat.home, &asked.name)?;
    let text = match asked.file.as_deref().filter(|file| !file.is_empty()) {
        None => format!(
            "# {}\n{}\n\n{}{}",
            skill.name(),
            skill.content.description,
            skill.content.body,
            files_of(&skill.file)
        ),
        Some(file) => {
            let folder = skill.file.parent().unwrap_or(Path::new("."));
            let Some(path) = inside(folder, file) else {
                return Ok(Outcome::failed(&format!("{file} is not a file of this skill")));
            };
            let size = std::fs::metadata(&path).map(|found| found.len());
            match size {
                Ok(size) if size <= LARGEST_FILE => {
                    String::from_utf8_lossy(&std::fs::read(&path)?).into_owned()
                }
                Ok(_) => return Ok(Outcome::failed(&format!("{file} is larger than 1 MiB"))),
                Err(_) => return Ok(Outcome::failed(&format!("there is no {file} in this skill"))),
            }
        }
    };
    let text: String = text.chars().take(MOST_SHOWN).collect();
    // One that was learned was written by a model, from whatever it had read.
    let is_outside = skill.origin() == skill::Origin::Learned;
    Ok(Outcome { is_outside, ..plain(text, format!("read skill {}", skill.name())) })
}

/// The path of a file below a folder, if it is one: no way up, no link out.
fn inside(folder: &Path, file: &str) -> Option<PathBuf> {
    let relative = Path::new(file);
    let is_plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
    let path = folder.join(relative);
    let real = path.canonicalize().ok()?;
    (is_plain && real.starts_with(folder.canonicalize().ok()?) && real.is_file()).then_some(real)
}

/// The other files of a skill, by name.
fn files_of(file: &Path) -> String {
    let Some(folder) = file.parent() else { return String::new() };
    let mut names = Vec::new();
    for part in ["references", "templates", "scripts", "assets"] {
        let found = std::fs::read_dir(folder.join(part)).into_iter().flatten().flatten();
        names.extend(
            found.take(50).map(|one| format!("{part}/{}", one.file_name().to_string_lossy())),
        );
    }
    names.sort();
    match names.is_empty() {
        true => String::new(),
        false => format!("\n\nFiles of this skill: {}", names.join(", ")),
    }
}

fn manage(tools: &mut Tools, asked: &Arguments, ask: &mut Ask<'_>) -> anyhow::Result<Outcome> {
    let name: SkillName = asked.name.parse()?;
    let home = tools.seat.home.clone();
    let existing = Catalog::find_any(&home, name.as_str()).ok();
    let missing = |what: &str| Ok(Outcome::failed(&format!("`{}` needs {what}", asked.action)));
    let (description, body) = match asked.action.as_str() {
        "delete" => return delete(tools, name.as_str(), ask),
        "create" | "edit" => {
            let kept = existing.as_ref().map(|skill| skill.content.description.clone());
            let Some(description) = asked.description.clone().or(kept) else {
                return missing("a description");
            };
            let Some(body) = asked.content.clone().filter(|body| !body.trim().is_empty()) else {
                return missing("content");
            };
            (description, body)
        }
        "patch" => {
            let Some(skill) = &existing else {
                return Ok(Outcome::failed(&format!("there is no skill {name}")));
            };
            let (Some(old), Some(new)) = (&asked.old_text, &asked.content) else {
                return missing("old_text and content");
            };
            let count = skill.content.body.matches(old.as_str()).count();
            if old.is_empty() || count != 1 {
                let why = format!("old_text is in the skill {count} times; it must be there once");
                return Ok(Outcome::failed(&why));
            }
            (skill.content.description.clone(), skill.content.body.replacen(old, new, 1))
        }
        other => return Ok(Outcome::failed(&format!("there is no action {other:?}"))),
    };
    let new = NewSkill {
        name,
        description,
        body,
        task_type: asked.task_type.clone().unwrap_or_else(|| "general".to_owned()),
        sources: vec![format!("session:{}", tools.session)],
        made_at: tools.seat.app.now,
    };
    offer(tools, &new, ask)
}

/// Writes a skill, or lets it wait; whether it is used at once is the person's to say.
fn offer(tools: &Tools, new: &NewSkill, ask: &mut Ask<'_>) -> anyhow::Result<Outcome> {
    let (app, home) = (&tools.seat.app, &tools.seat.home);
    let mut keep = app.config(home)?.config.keeps_learned();
    if keep == Keep::Active {
        let request = Request {
            kind: Kind::Skill,
            title: format!("save the skill {}", new.name.as_str()),
            detail: format!("{}\n\n{}", new.description, new.body),
            folder: home.skills(),
            always: None,
            editable: None,
            confinement: None,
        };
        if let Verdict::No { .. } = ask(&request) {
            keep = Keep::Pending;
        }
    }
    let name = new.name.as_str();
    Ok(match skill::offer(home, new, keep)? {
        Offered::Written { state: State::Active, .. } => {
            plain(format!("the skill {name} is kept and will be used"), format!("+ skill {name}"))
        }
        Offered::Written { state: State::Pending, .. } => plain(
            format!("the skill {name} is kept and waits until the person agrees"),
            format!("+ skill {name}, waits for `hermes skills approve {name}`"),
        ),
        Offered::Same { .. } => {
            plain(format!("the skill {name} says this already"), "known already".into())
        }
        Offered::Refused { why } => {
            Outcome::failed(&format!("the skill {name} was not written: {why}"))
        }
    })
}

fn delete(tools: &Tools, name: &str, ask: &mut Ask<'_>) -> anyhow::Result<Outcome> {
    let home = &tools.seat.home;
    let path = skill::may_delete(home, name, OfLocked::Refuse)?;
    let found = Catalog::find_any(home, name)?;
    if found.origin() != skill::Origin::Learned {
        return Ok(Outcome::failed(&format!(
            "the skill {name} is the person's own work: only they take it away"
        )));
    }
    let request = Request {
        kind: Kind::Skill,
        title: format!("delete the skill {name}"),
        detail: format!("{}\n{}", path.display(), found.content.description),
        folder: home.skills(),
        always: None,
        editable: None,
        confinement: None,
    };
    if let Verdict::No { reason } = ask(&request) {
        let why = reason.map(|why| format!(": {why}")).unwrap_or_default();
        return Ok(Outcome::failed(&format!("the person did not agree{why}")));
    }
    skill::delete(home, name, OfLocked::Refuse, tools.seat.app.now)?;
    Ok(plain(format!("the skill {name} is taken away, and kept aside"), format!("- skill {name}")))
}
