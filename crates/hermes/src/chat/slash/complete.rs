//! What a line may go on with: commands, their parts, and ids of what is there.

use super::table::{self, COMMANDS, Takes};

/// Something that may stand in a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    /// What is put into the line.
    pub(crate) value: String,
    /// What it is, in a few words.
    pub(crate) about: String,
}

/// What may stand at the end of a line, and where it begins there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Choices {
    pub(crate) start: usize,
    pub(crate) choices: Vec<Choice>,
}

impl Choice {
    pub(crate) fn new(value: impl Into<String>, about: impl Into<String>) -> Choice {
        Choice { value: value.into(), about: about.into() }
    }
}

/// What the line before the cursor may go on with; `ids` is asked for what is there of a kind.
pub(crate) fn complete(line: &str, ids: &mut dyn FnMut(Takes) -> Vec<Choice>) -> Choices {
    let start = line.rfind(char::is_whitespace).map_or(0, |at| at + 1);
    let word = &line[start..];
    let mut choices = Vec::new();
    if line.starts_with('/') {
        choices = candidates(&line[..start], ids);
        choices.retain(|choice| is_meant(&choice.value, word));
    }
    Choices { start, choices }
}

/// A fact may also be called by its number alone.
fn is_meant(value: &str, word: &str) -> bool {
    let number = value.split_once(':').map(|(_, number)| number.trim_start_matches('0'));
    value.to_lowercase().starts_with(&word.to_lowercase())
        || number.is_some_and(|number| !word.is_empty() && number.starts_with(word))
}

fn candidates(before: &str, ids: &mut dyn FnMut(Takes) -> Vec<Choice>) -> Vec<Choice> {
    let words: Vec<&str> = before.split_whitespace().collect();
    let Some((name, rest)) = words.split_first() else { return commands("/") };
    let Some(command) = table::find(name.trim_start_matches('/')) else { return Vec::new() };
    match rest {
        [] => {
            let parts = command.parts.iter().map(|part| Choice::new(part.name, part.does));
            parts.chain(named(command.takes, ids)).collect()
        }
        [part] => command.part(part).map_or_else(Vec::new, |part| named(part.takes, ids)),
        _ => Vec::new(),
    }
}

fn named(takes: Takes, ids: &mut dyn FnMut(Takes) -> Vec<Choice>) -> Vec<Choice> {
    match takes {
        Takes::Nothing | Takes::Text => Vec::new(),
        Takes::Commands => commands(""),
        kind => ids(kind),
    }
}

fn commands(slash: &str) -> Vec<Choice> {
    COMMANDS.iter().map(|one| Choice::new(format!("{slash}{}", one.name), one.does)).collect()
}

/// What a command still wants, as a dim hint behind the cursor.
pub(crate) fn hint(line: &str) -> Option<String> {
    let typed = line.strip_prefix('/')?;
    let (name, rest) = typed.split_once(' ').unwrap_or((typed, ""));
    let Some(command) = table::find(name) else {
        let only = table::nearest(name).filter(|known| known.starts_with(name) && !name.is_empty());
        return only.map(|known| known[name.len()..].to_owned()).filter(|_| rest.is_empty());
    };
    let part = command.part(rest.trim());
    let form = match (part, rest) {
        (Some(part), _) => part.form,
        (None, "") => command.form,
        _ => "",
    };
    let space = if line.ends_with(' ') { "" } else { " " };
    Some(format!("{space}{form}")).filter(|_| !form.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(line: &str) -> Vec<String> {
        let mut ids = |takes| match takes {
            Takes::Facts => vec![Choice::new("fact:007", "tea"), Choice::new("fact:012", "Lisbon")],
            Takes::Skills => vec![Choice::new("deploy", "how to deploy")],
            _ => Vec::new(),
        };
        complete(line, &mut ids).choices.into_iter().map(|choice| choice.value).collect()
    }

    #[test]
    fn commands_parts_and_ids_are_completed() {
        assert_eq!(values("/re"), ["/resume", "/recall", "/retry", "/remember"]);
        assert_eq!(values("/memory f"), ["forget"]);
        assert_eq!(values("/memory forget "), ["fact:007", "fact:012"]);
        assert_eq!(values("/memory forget 7"), ["fact:007"]);
        assert_eq!(values("/memory edit fact:01"), ["fact:012"]);
        assert_eq!(values("/skills d"), ["deploy"]);
        assert_eq!(values("/help qu"), ["quit"]);
        assert!(values("no /re").is_empty() && values("").is_empty());
        assert!(values("/memory edit fact:012 new te").is_empty());
        assert!(values("/nonsense x").is_empty());
    }

    #[test]
    fn a_hint_says_what_is_still_to_be_typed() {
        assert_eq!(hint("/sea").as_deref(), Some("rch"));
        assert_eq!(hint("/search").as_deref(), Some(" WORDS"));
        assert_eq!(hint("/search ").as_deref(), Some("WORDS"));
        assert_eq!(hint("/memory edit").as_deref(), Some(" ID TEXT"));
        assert_eq!(hint("/quit"), None);
        assert_eq!(hint("hello"), None);
        assert_eq!(hint("/search tea"), None);
    }
}
