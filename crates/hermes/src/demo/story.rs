//! Reads the story of the demo: conversations, commands, nights and files, each with its time.

use anyhow::{Context as _, anyhow, bail};
use hermes_home::layout::MemoryTarget;
use hermes_memory::record::turn::TurnMessage;
use jiff::civil::Time;
use serde_json::{Value, json};

/// Something that happens in the story.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Step {
    /// How many days before the end.
    pub(super) days_ago: i64,
    /// At what time of that day.
    pub(super) time: Time,
    pub(super) deed: Deed,
}

/// What happens.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Deed {
    /// A conversation from its beginning to its end.
    Talk(Talk),
    /// A command of the program.
    Type(Vec<String>),
    /// What the daemon does at night.
    Night,
    /// A memory file is written anew.
    Write(MemoryTarget, String),
}

/// A conversation.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Talk {
    pub(super) channel: String,
    /// Who talks; none is the owner.
    pub(super) user: Option<String>,
    pub(super) project: Option<String>,
    pub(super) title: String,
    /// Each begins with what the user says.
    pub(super) turns: Vec<Vec<TurnMessage>>,
}

/// The told half-year.
pub(super) fn told() -> anyhow::Result<Vec<Step>> {
    steps(include_str!("story.txt"))
}

fn steps(text: &str) -> anyhow::Result<Vec<Step>> {
    let mut steps: Vec<Step> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let failed = || format!("the story has the line {line:?}");
        let Some((mark, rest)) = line.split_once(' ').filter(|(mark, _)| *mark != "#") else {
            continue;
        };
        match mark {
            "@" => steps.push(conversation(rest).with_context(failed)?),
            "$" => steps.push(command(rest).with_context(failed)?),
            "%" => steps.push(dated(rest, |_| Ok(Deed::Night)).with_context(failed)?),
            "~" => {
                let file: Vec<&str> = lines
                    .by_ref()
                    .skip_while(|line| *line != "~~~")
                    .skip(1)
                    .take_while(|line| *line != "~~~")
                    .collect();
                let text = file.join("\n") + "\n";
                let written = |name: &str| Ok(Deed::Write(target(name)?, text.clone()));
                steps.push(dated(rest, written).with_context(failed)?);
            }
            _ => match steps.last_mut().map(|step| &mut step.deed) {
                Some(Deed::Talk(talk)) => said(talk, line).with_context(failed)?,
                _ => bail!(failed()),
            },
        }
    }
    Ok(steps)
}

/// Days, a time, and what follows them.
fn dated(text: &str, deed: impl Fn(&str) -> anyhow::Result<Deed>) -> anyhow::Result<Step> {
    let (days, rest) = text.split_once(' ').context("no days")?;
    let (time, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    Ok(Step { days_ago: days.parse()?, time: time.parse()?, deed: deed(rest)? })
}

fn conversation(text: &str) -> anyhow::Result<Step> {
    dated(text, |rest| Ok(Deed::Talk(headed(rest)?)))
}

fn command(text: &str) -> anyhow::Result<Step> {
    dated(text, |rest| Ok(Deed::Type(words(rest))))
}

/// `channel project | title`, where the channel may name a user.
pub(super) fn headed(text: &str) -> anyhow::Result<Talk> {
    let (place, title) = text.split_once(" | ").context("no title")?;
    let (channel, project) = place.split_once(' ').context("no project")?;
    let (channel, user) = match channel.split_once(':') {
        Some((channel, user)) => (channel, Some(user.to_owned())),
        None => (channel, None),
    };
    Ok(Talk {
        channel: channel.to_owned(),
        user,
        project: (project != "-").then(|| format!("/home/ines/src/{project}")),
        title: title.to_owned(),
        turns: Vec::new(),
    })
}

/// One more line of a conversation; one without a mark goes on with the last message.
pub(super) fn said(talk: &mut Talk, line: &str) -> anyhow::Result<()> {
    if let Some(text) = line.strip_prefix("> ") {
        talk.turns.push(vec![TurnMessage::text("user", text)]);
        return Ok(());
    }
    let number = talk.turns.iter().map(Vec::len).sum::<usize>();
    let turn = talk.turns.last_mut().context("nobody asked yet")?;
    if let Some(text) = line.strip_prefix("< ") {
        turn.push(TurnMessage::text("assistant", text));
    } else if let Some(call) = line.strip_prefix("* ") {
        turn.extend(called(call, false, number)?);
    } else if let Some(call) = line.strip_prefix("*! ") {
        turn.extend(called(call, true, number)?);
    } else {
        let last = turn.last_mut().context("nothing was said")?;
        last.text = format!("{}\n{line}", last.text);
    }
    Ok(())
}

/// `tool {input} => result`, as the call and its answer.
fn called(text: &str, failed: bool, number: usize) -> anyhow::Result<[TurnMessage; 2]> {
    let (call, result) = text.split_once(" => ").context("no result")?;
    let (tool, input) = call.split_once(' ').context("no input")?;
    let input: Value = serde_json::from_str(input).map_err(|why| anyhow!("{why}: {input}"))?;
    let id = format!("call_{number}");
    let calls = json!([{ "id": id, "name": tool, "input": input }]);
    let asked = TurnMessage { tool_calls: Some(calls), ..TurnMessage::text("assistant", "") };
    let answered = TurnMessage {
        tool_name: Some(tool.to_owned()),
        tool_call_id: Some(id),
        failed: Some(failed),
        ..TurnMessage::text("tool", result)
    };
    Ok([asked, answered])
}

fn target(name: &str) -> anyhow::Result<MemoryTarget> {
    match name {
        "soul" => Ok(MemoryTarget::Soul),
        "memory" => Ok(MemoryTarget::Memory),
        "user" => Ok(MemoryTarget::User(None)),
        other => bail!("there is no file {other}"),
    }
}

/// Words apart by spaces; those in double quotes are one.
fn words(text: &str) -> Vec<String> {
    let pieces = text.split('"').enumerate();
    let words = pieces.flat_map(|(number, piece)| match number % 2 {
        1 => vec![piece.to_owned()],
        _ => piece.split_whitespace().map(str::to_owned).collect(),
    });
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_story_can_be_read_and_covers_half_a_year() {
        let steps = told().unwrap();
        let talks = steps.iter().filter(|step| matches!(step.deed, Deed::Talk(_))).count();
        assert!(talks >= 45, "{talks}");
        assert!(steps.iter().all(|step| (0..=180).contains(&step.days_ago)));
        assert!(steps.iter().any(|step| step.deed == Deed::Night));
    }

    #[test]
    fn words_in_quotes_are_one() {
        assert_eq!(
            words("memory add \"two words\" --file user"),
            ["memory", "add", "two words", "--file", "user"]
        );
    }

    #[test]
    fn a_conversation_has_its_calls_with_their_results() {
        let text = "@ 3 10:00 telegram:tomas - | T\n> ask\n* bash {\"command\": \"ls\"} => a\n< done\nand more";
        let Deed::Talk(talk) = steps(text).unwrap().remove(0).deed else { panic!() };
        assert_eq!(
            (talk.user.as_deref(), talk.project, talk.turns.len()),
            (Some("tomas"), None, 1)
        );
        let roles: Vec<&str> = talk.turns[0].iter().map(|message| message.role.as_str()).collect();
        assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
        assert_eq!(talk.turns[0][3].text, "done\nand more");
    }
}
