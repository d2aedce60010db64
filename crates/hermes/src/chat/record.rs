//! Turns into state.db and memory.db, as they go: what was said is durable before the model is asked.

use hermes_agent::approval::{Request, Verdict};
use hermes_agent::toolbox::{Call, Outcome};
use hermes_agent::turn::{Kept, Taken, Watch};
use hermes_llm::chat::Usage;
use hermes_memory::record::summaries::{self, Leaving};
use hermes_memory::record::turn::{Caller, Turn, TurnMessage};
use hermes_store::sessions::{Beginning, SessionId, Spending};
use serde_json::{Value, json};

use super::front::{Event, Front, ProblemShown};
use super::{Conversation, Opening};
use hermes_app::asker::Asker;
use hermes_app::clock;
use hermes_app::context;
use hermes_app::pool::Seat;
use hermes_app::turn::{self, Databases, Told, Transcripts};

/// What our own agent is called in what is recorded.
const AGENT: &str = "hermes";

/// Where the messages of a conversation go.
pub(super) struct Recorder<'a> {
    pub(super) seat: &'a mut Seat,
    pub(super) sessions: &'a mut Transcripts,
    pub(super) session: &'a SessionId,
    pub(super) asker: &'a Asker,
    pub(super) opening: &'a Opening,
}

/// Shows a turn to the front, asks it, and records what is to be kept.
pub(super) struct Watching<'a> {
    pub(super) recorder: Recorder<'a>,
    pub(super) front: &'a mut dyn Front,
}

impl Recorder<'_> {
    /// Records messages and returns their numbers in state.db; none where they wait or are kept elsewhere.
    pub(super) fn record(&mut self, messages: Vec<TurnMessage>) -> anyhow::Result<Told> {
        self.seat.app.now = clock::now();
        let turn = self.turn(messages, false);
        self.keep(&turn)
    }

    fn keep(&mut self, turn: &Turn) -> anyhow::Result<Told> {
        let (app, home, memory) = self.seat.parts();
        let wait = app.lock_wait(home)?;
        turn::record(app, home, turn, Databases { sessions: self.sessions, memory, wait })
    }

    fn turn(&self, messages: Vec<TurnMessage>, ended: bool) -> Turn {
        let folder = &self.opening.folder;
        let project = context::project_of(folder).unwrap_or_else(|| folder.display().to_string());
        Turn {
            session_id: Some(self.session.to_string()),
            channel: self.opening.channel.clone(),
            identity: None,
            user: self.asker.user.as_ref().map(|user| user.as_str().to_owned()),
            agent: Some(AGENT.to_owned()),
            project: Some(project),
            messages,
            from: Caller::OurChat,
            ended,
        }
    }
}

/// The numbers under which messages are in state.db.
fn rows(told: &Told) -> Vec<i64> {
    match told {
        Told::Memory(recorded) => recorded.state_messages.clone(),
        Told::StateDb { state_messages, .. } => state_messages.clone(),
        Told::Spool { .. } => Vec::new(),
    }
}

/// What is to be said where something could not be written at once.
fn remark(told: &Told) -> Option<String> {
    match told {
        Told::Memory(_) => None,
        Told::StateDb { because, .. } => Some(format!(
            "saved in the session; it will be recorded in the memory later: {}",
            because.text
        )),
        Told::Spool { file, because, .. } => {
            Some(format!("{}; the message waits in {}", because.text, file.display()))
        }
    }
}

impl Watch for Watching<'_> {
    fn text(&mut self, piece: &str) {
        let _ = self.front.show(&Event::Text(piece));
    }

    fn text_end(&mut self) {
        let _ = self.front.show(&Event::TextEnd);
    }

    fn tool_begins(&mut self, call: &Call, describe: &str) {
        let _ = self.front.show(&Event::ToolBegins { call, describe });
    }

    fn tool_ended(&mut self, call: &Call, outcome: &Outcome) {
        let _ = self.front.show(&Event::ToolEnded { call, outcome });
    }

    fn ask(&mut self, request: &Request) -> Verdict {
        self.front.ask(request)
    }

    fn notice(&mut self, text: &str) {
        let _ = self.front.show(&Event::Notice(text));
    }

    fn keep(&mut self, messages: &[Kept]) -> Vec<i64> {
        let messages = messages.iter().map(message).collect();
        match self.recorder.record(messages) {
            Ok(told) => {
                if let Some(remark) = remark(&told) {
                    let _ = self.front.show(&Event::Notice(&remark));
                }
                rows(&told)
            }
            Err(error) => {
                let _ = self.front.show(&Event::Problem(&ProblemShown::of(&error)));
                Vec::new()
            }
        }
    }

    fn compacted(&mut self, up_to: Option<i64>, summary: &str) {
        let Some(up_to) = up_to else { return };
        self.recorder.seat.app.now = clock::now();
        let Recorder { seat, sessions, session, .. } = &mut self.recorder;
        if let Err(error) = compact(seat, sessions, session, up_to, summary) {
            let shown = ProblemShown::of(&error);
            let _ = self.front.show(&Event::Problem(&shown));
        }
    }

    fn spent(&mut self, _usage: &Usage) {}
}

/// Lets a summary stand in state.db for the messages up to one.
pub(super) fn compact(
    seat: &mut Seat,
    sessions: &mut Transcripts,
    session: &SessionId,
    up_to: i64,
    summary: &str,
) -> anyhow::Result<()> {
    let Ok(Some(sessions)) = sessions else { return Ok(()) };
    let (app, home, memory) = seat.writer()?;
    let transcript_note = &home.transcript_note();
    let leaving = Leaving { session, up_to, transcript_note, now: app.now };
    summaries::compact(sessions, &mut memory.store, &leaving, summary)?;
    Ok(())
}

/// A message as it is recorded: calls in the form that other programs know.
fn message(kept: &Kept) -> TurnMessage {
    match kept {
        Kept::Answer { text, calls, broken } => {
            let calls: Vec<Value> = calls.iter().map(call).collect();
            TurnMessage {
                tool_calls: (!calls.is_empty()).then_some(Value::Array(calls)),
                ..TurnMessage::text("assistant", &Kept::words(text, *broken))
            }
        }
        Kept::Result { call: answered, outcome } => TurnMessage {
            tool_calls: Some(Value::Array(vec![call(answered)])),
            tool_name: Some(answered.name.clone()),
            tool_call_id: Some(answered.id.clone()),
            failed: Some(outcome.is_error),
            ..TurnMessage::text("tool", &outcome.text)
        },
    }
}

fn call(call: &Call) -> Value {
    let arguments = match &call.input {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}})
}

impl Conversation {
    /// Records what the user said, in their own words, before anything else happens.
    pub(super) fn record_said(&mut self, text: &str, front: &mut dyn Front) -> anyhow::Result<()> {
        let mut recorder = self.recorder();
        match recorder.record(vec![TurnMessage::text("user", text)]) {
            Ok(told) => {
                if let Some(remark) = remark(&told) {
                    front.show(&Event::Notice(&remark))?;
                }
                self.window.written(&rows(&told));
            }
            Err(error) => front.show(&Event::Problem(&ProblemShown::of(&error)))?,
        }
        if !self.is_begun {
            self.is_begun = true;
            if let Err(error) = self.note_beginning() {
                front.show(&Event::Problem(&ProblemShown::of(&error)))?;
            }
        }
        Ok(())
    }

    /// Writes down with what the session began.
    pub(super) fn note_beginning(&mut self) -> anyhow::Result<()> {
        let prompt = self.prompt.text();
        let beginning = Beginning {
            model: Some(&self.model.name),
            system_prompt: Some(&prompt),
            provider: Some(&self.model.provider),
            cwd: None,
        };
        let Ok(Some(sessions)) = &mut self.sessions else { return Ok(()) };
        let is_there = self.is_begun && sessions.live_session(&self.session).is_ok();
        if is_there {
            sessions.note_beginning(&self.session, &beginning)?;
        }
        Ok(())
    }

    /// Adds what a turn cost to its session.
    pub(super) fn note_spending(&mut self, taken: &Taken) {
        let added = Spending {
            input_tokens: taken.usage.input,
            output_tokens: taken.usage.output,
            cache_read_tokens: taken.usage.cache_read,
            cache_write_tokens: taken.usage.cache_write,
            calls: taken.requests,
            cost: self.model.price.map(|price| price.cost(&taken.usage)),
        };
        self.spent = sum(&self.spent, &added);
        if let Ok(Some(sessions)) = &mut self.sessions
            && sessions.live_session(&self.session).is_ok()
        {
            // What it cost is worth less than the conversation: it goes on without it.
            let _ = sessions.add_spending(&self.session, &added);
        }
    }

    /// Marks the session as over, in both databases as far as they can be written.
    pub(super) fn record_end(&mut self) {
        let now = self.seat.app.now;
        let session = self.session.clone();
        if let Ok(Some(sessions)) = &mut self.sessions {
            let _ = sessions.end_session(&session, now, "user_exit");
        }
        let mut recorder = self.recorder();
        let turn = recorder.turn(Vec::new(), true);
        let _ = recorder.keep(&turn);
        recorder.seat.app.now = now;
    }

    fn recorder(&mut self) -> Recorder<'_> {
        Recorder {
            seat: &mut self.seat,
            sessions: &mut self.sessions,
            session: &self.session,
            asker: &self.asker,
            opening: &self.opening,
        }
    }
}

fn sum(left: &Spending, right: &Spending) -> Spending {
    Spending {
        input_tokens: left.input_tokens + right.input_tokens,
        output_tokens: left.output_tokens + right.output_tokens,
        cache_read_tokens: left.cache_read_tokens + right.cache_read_tokens,
        cache_write_tokens: left.cache_write_tokens + right.cache_write_tokens,
        calls: left.calls + right.calls,
        cost: match (left.cost, right.cost) {
            (None, None) => None,
            (left, right) => Some(left.unwrap_or(0.0) + right.unwrap_or(0.0)),
        },
    }
}
