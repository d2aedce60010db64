//! Messages of a conversation made ready for a memory: stripped, cut, indexed, with the tools they called.

use hermes_home::redaction::{Kept, Policy};
use hermes_home::tokens;
use hermes_store::memory::{Change, Memory, NewMessage, Recorded, Scope, Step, echo};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::steps::{self, Call};
use super::{is_history, strip, trust_of};
use crate::Result;
use crate::chunk::{self, Vectors, Words};

/// A message as a program reports it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spoken<'a> {
    pub(crate) role: &'a str,
    pub(crate) text: &'a str,
    pub(crate) at: Timestamp,
    pub(crate) tool_calls: Option<&'a Value>,
    pub(crate) tool_call_id: Option<&'a str>,
    /// The tool whose answer this is, where that is said.
    pub(crate) tool_name: Option<&'a str>,
    /// Whether a tool failed, where its answer's sender knows.
    pub(crate) failed: Option<bool>,
}

/// A message with something to remember; `place` is where it stands among those that were spoken.
pub(crate) struct Ready {
    pub(crate) place: usize,
    pub(crate) role: String,
    pub(crate) text: String,
    /// What was said to the letter, where the text has something else in place of a secret.
    pub(crate) said: Option<String>,
    pub(crate) at: Timestamp,
    steps: Vec<Step>,
}

/// The messages of a conversation that are to be kept, and how many were refused because of a secret.
#[derive(Default)]
pub(crate) struct AllReady {
    pub(crate) messages: Vec<Ready>,
    pub(crate) refused: usize,
}

/// Where a conversation takes place, and how its messages are written down.
pub(crate) struct Conversation<'a> {
    pub(crate) session_id: &'a str,
    pub(crate) channel: Option<&'a str>,
    pub(crate) agent: Option<&'a str>,
    pub(crate) project: Option<&'a str>,
    pub(crate) source: &'a str,
    pub(crate) zone: &'a TimeZone,
    pub(crate) now: Timestamp,
    pub(crate) vectors: Vectors,
}

/// The messages that say something, without what was recalled: neither what was put before a message nor what a tool
/// answered from a memory. Tools called without a word go to the
/// next message of the assistant, else to the last message of the turn. A call that nothing follows is no step
/// yet: where calls and answers are recorded apart, the answer brings its call along.
pub(crate) fn ready(spoken: &[Spoken<'_>], secrets: Policy) -> AllReady {
    let mut made: Vec<Ready> = Vec::with_capacity(spoken.len());
    let mut refused = 0;
    let mut waiting: Vec<Step> = Vec::new();
    for (place, one) in spoken.iter().enumerate() {
        if one.role == "user" {
            hand_over(&mut waiting, &mut made);
        }
        let is_followed = place + 1 < spoken.len();
        if let Some(calls) = one.tool_calls.filter(|_| one.role == "assistant" && is_followed) {
            waiting.extend(steps_of(&steps::calls(calls), &spoken[place + 1..]));
        }
        let text = strip::strip(one.text);
        if text.trim().is_empty() || !matches!(one.role, "user" | "assistant" | "tool") {
            continue;
        }
        if one.role == "tool" && is_from_memory(one, &spoken[..place]) {
            waiting.extend(steps_answered(one));
            continue;
        }
        let steps = match one.role {
            "assistant" => std::mem::take(&mut waiting),
            "tool" => steps_answered(one),
            _ => Vec::new(),
        };
        let (text, said) = match secrets.keep(&text) {
            Kept::AsItIs => (text.into_owned(), None),
            Kept::Redacted(clean) => (clean, Some(text.into_owned())),
            Kept::Refused(_) => {
                refused += 1;
                continue;
            }
        };
        made.push(Ready { place, role: one.role.to_owned(), text, said, at: one.at, steps });
    }
    hand_over(&mut waiting, &mut made);
    for step in made.iter_mut().flat_map(|one| &mut one.steps) {
        step.arguments = secrets.clean_json(&step.arguments);
    }
    AllReady { messages: made, refused }
}

impl Ready {
    /// The message as the store takes it.
    pub(crate) fn message<'a>(
        &'a self,
        conversation: &Conversation<'a>,
        external_id: &'a str,
        former_id: Option<&'a str>,
    ) -> NewMessage<'a> {
        let Conversation { zone, now, vectors, .. } = *conversation;
        let words =
            Words { text: &self.text, day: Some(chunk::day_of(self.at, zone)), ..Words::default() };
        NewMessage {
            session_id: conversation.session_id,
            role: &self.role,
            speaker: None,
            text: &self.text,
            said: self.said.as_deref(),
            caption: None,
            at: self.at,
            channel: conversation.channel,
            agent: conversation.agent,
            project: conversation.project,
            source: conversation.source,
            external_id,
            former_id,
            trust: trust_of(&self.role),
            tokens: u32::try_from(tokens::estimate(&self.text)).unwrap_or(u32::MAX),
            chunks: chunk::prepare(&words, vectors),
            steps: self.steps.clone(),
            imported: is_history(self.at, now),
        }
    }
}

/// What a message is known by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) id: String,
    /// What it was called when the number of a message alone was its name.
    pub(crate) former: Option<String>,
}

impl From<String> for Named {
    fn from(id: String) -> Named {
        Named { id, former: None }
    }
}

/// Writes messages with their ids, in transactions of a bounded size.
pub(crate) fn write(
    store: &mut Memory,
    scope: Scope,
    conversation: &Conversation<'_>,
    messages: &[(Ready, Named)],
    change: Change<'_>,
) -> Result<Recorded> {
    let mut all = Recorded::default();
    for part in messages.chunks(super::MESSAGES_PER_TRANSACTION) {
        let part: Vec<_> = part
            .iter()
            .map(|(ready, named)| ready.message(conversation, &named.id, named.former.as_deref()))
            .collect();
        let recorded = store.record(scope, &part, change)?;
        all.added += recorded.added;
        all.known += recorded.known;
        all.episodes += recorded.episodes;
        all.buried += recorded.buried;
    }
    Ok(all)
}

/// Whether what a tool answered comes from a memory: by its own name, by the call it brings along, or by the call
/// that it answers, else the calls before it that nothing names.
fn is_from_memory(answer: &Spoken<'_>, before: &[Spoken<'_>]) -> bool {
    if let Some(name) = answer.tool_name
        && echo::answers_from_memory(name)
    {
        return true;
    }
    let asks = |calls: &Value| steps::calls(calls).iter().any(|call| call.asks_memory);
    if answer.tool_calls.is_some_and(asks) {
        return true;
    }
    let turn = before.iter().rev().take_while(|one| one.role != "user");
    let calls = turn.filter_map(|one| one.tool_calls.filter(|_| one.role == "assistant"));
    let mut called = calls.flat_map(steps::calls);
    match answer.tool_call_id {
        Some(id) => {
            called.find(|call| call.id.as_deref() == Some(id)).is_some_and(|call| call.asks_memory)
        }
        // Nothing says which call it answers: what may come from a memory is taken for it.
        None => answer.tool_name.is_none() && called.any(|call| call.asks_memory),
    }
}

fn hand_over(waiting: &mut Vec<Step>, made: &mut [Ready]) {
    match made.last_mut() {
        Some(last) => last.steps.append(waiting),
        None => waiting.clear(),
    }
}

/// How the calls went, by the answers that follow: by their ids, else in their order.
fn steps_of(calls: &[Call], following: &[Spoken<'_>]) -> Vec<Step> {
    let answers: Vec<&Spoken<'_>> = following
        .iter()
        .take_while(|one| one.role != "user")
        .filter(|one| one.role == "tool")
        .collect();
    let answer_to = |number: usize, call: &Call| match &call.id {
        Some(id) => answers.iter().find(|answer| answer.tool_call_id == Some(id.as_str())).copied(),
        None => answers.get(number).filter(|answer| answer.tool_call_id.is_none()).copied(),
    };
    let went_wrong =
        |answer: &Spoken<'_>| answer.failed.unwrap_or_else(|| steps::reports_failure(answer.text));
    calls
        .iter()
        .enumerate()
        .map(|(number, call)| call.step(answer_to(number, call).is_some_and(went_wrong)))
        .collect()
}

/// The calls that an answer brings along, as it tells of them.
fn steps_answered(answer: &Spoken<'_>) -> Vec<Step> {
    let calls = answer.tool_calls.map(steps::calls).unwrap_or_default();
    let failed = answer.failed.unwrap_or_else(|| steps::reports_failure(answer.text));
    calls.iter().map(|call| call.step(failed)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn spoken<'a>(role: &'a str, text: &'a str) -> Spoken<'a> {
        let at = Timestamp::UNIX_EPOCH;
        Spoken {
            role,
            text,
            at,
            tool_calls: None,
            tool_call_id: None,
            tool_name: None,
            failed: None,
        }
    }

    #[test]
    fn a_call_without_words_goes_to_the_next_words_of_the_assistant() {
        let calls = json!([{"id": "a", "name": "look", "input": {}}, {"id": "b", "name": "run"}]);
        let turn = [
            spoken("user", "go"),
            Spoken { tool_calls: Some(&calls), ..spoken("assistant", "") },
            Spoken { tool_call_id: Some("b"), ..spoken("tool", "Error: no") },
            Spoken { tool_call_id: Some("a"), ..spoken("tool", "seen") },
            spoken("assistant", "done"),
        ];
        let made = ready(&turn, Policy::Redact).messages;
        assert_eq!(made.iter().map(|one| one.place).collect::<Vec<_>>(), [0, 2, 3, 4]);
        let told: Vec<_> = made[3].steps.iter().map(|s| (s.tool.as_str(), s.failed)).collect();
        assert_eq!(told, [("look", false), ("run", true)]);
    }

    #[test]
    fn a_call_that_nothing_follows_stays_in_its_turn() {
        let calls = json!([{"name": "look"}]);
        let turn = [
            spoken("user", "go"),
            Spoken { tool_calls: Some(&calls), ..spoken("assistant", " ") },
            spoken("user", "stop"),
            spoken("assistant", "stopped"),
        ];
        let made = ready(&turn, Policy::Redact).messages;
        assert_eq!((made[0].steps.len(), made[2].steps.len()), (1, 0));
        assert!(ready(&turn[1..2], Policy::Redact).messages.is_empty());
    }

    #[test]
    fn a_call_recorded_before_its_answer_is_told_by_the_answer_alone() {
        let calls = json!([{"id": "a", "name": "look", "input": {"at": 1}}]);
        let call = Spoken { tool_calls: Some(&calls), ..spoken("assistant", "I look.") };
        let answer =
            Spoken { tool_calls: Some(&calls), failed: Some(true), ..spoken("tool", "no") };
        assert!(ready(&[call], Policy::Redact).messages[0].steps.is_empty());
        let made = ready(&[answer], Policy::Redact).messages;
        assert!(made[0].steps[0].tool == "look" && made[0].steps[0].failed);
    }

    #[test]
    fn what_a_memory_answered_is_left_out_and_the_call_is_told_without_its_words() {
        let calls = json!([
            {"id": "a", "name": "mcp__hermes__search", "input": {"query": "piano"}},
            {"id": "b", "name": "Bash", "input": {"command": "ls"}},
        ]);
        let turn = [
            spoken("user", "where is it?"),
            Spoken { tool_calls: Some(&calls), ..spoken("assistant", "") },
            Spoken { tool_call_id: Some("a"), ..spoken("tool", "[fact:1] behind the piano") },
            Spoken { tool_call_id: Some("b"), ..spoken("tool", "README.md") },
            spoken("assistant", "I found it."),
        ];
        let made = ready(&turn, Policy::Redact).messages;
        let texts: Vec<&str> = made.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(texts, ["where is it?", "README.md", "I found it."]);
        let told: Vec<_> = made[2].steps.iter().map(|step| step.arguments.as_str()).collect();
        assert_eq!(told, ["{}", r#"{"command":"ls"}"#]);
        // Recorded apart, it is known by its own name or by the call it brings along.
        let named =
            Spoken { tool_name: Some("session_search"), ..spoken("tool", "behind the piano") };
        let one = json!([{"name": "memory_get", "input": {}}]);
        let brings = Spoken { tool_calls: Some(&one), ..spoken("tool", "behind the piano") };
        let is_left_out = |one| ready(&[one], Policy::Redact).messages.is_empty();
        assert!(is_left_out(named) && is_left_out(brings));
    }

    #[test]
    fn a_sender_who_knows_better_is_believed_and_recalled_text_is_left_out() {
        let calls = json!([{"name": "look"}]);
        let turn = [
            spoken("user", "<memory-context>old</memory-context>"),
            Spoken { tool_calls: Some(&calls), ..spoken("assistant", "looking") },
            Spoken { failed: Some(true), ..spoken("tool", "fine") },
            spoken("system", "be kind"),
        ];
        let made = ready(&turn, Policy::Redact).messages;
        assert_eq!(made.len(), 2);
        assert!(made[0].steps[0].failed);
    }
}
