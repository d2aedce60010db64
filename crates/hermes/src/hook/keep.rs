//! What a hook keeps: the turn that is over, and that a session has ended.

use hermes_home::Home;
use hermes_memory::chunk::Vectors;
use hermes_memory::record::spool;
use hermes_memory::record::turn::{Caller as Reporter, Settings, Turn, TurnMessage};
use hermes_store::sessions::random_bytes;

use super::event::{Caller, Event};
use super::recall::project_of;
use super::transcript::{self, Said};
use super::{session, transcript::Tail};
use crate::app::App;
use crate::desk::{context, turn};

/// Records the turn that is over, from what was kept of it and the end of the transcript.
pub(crate) fn stop(app: &App, home: &Home, caller: Caller, event: &Event) -> anyhow::Result<()> {
    let Some(id) = &event.session else { return Ok(()) };
    let path = session::path(home, caller, id);
    let pending = session::read(&path);
    let tail = event.transcript.as_deref().map(transcript::tail).unwrap_or_default();
    let messages = messages(event, &pending, &tail);
    if messages.is_empty() {
        return Ok(());
    }
    let turn = Turn { messages, ..empty(caller, event) };
    if let Some(why) = turn.fault() {
        anyhow::bail!("the turn cannot be recorded: {why}");
    }
    // Their sessions are not in state.db: it need not be opened.
    turn::record(app, home, &turn, &mut Ok(None))?;
    context::hand_out(app, home, &pending.handed);
    session::done(&path);
    Ok(())
}

/// Notes that a session is over; the daemon does the rest.
pub(crate) fn end(app: &App, home: &Home, caller: Caller, event: &Event) -> anyhow::Result<()> {
    let Some(id) = &event.session else { return Ok(()) };
    let path = session::path(home, caller, id);
    context::hand_out(app, home, &session::read(&path).handed);
    session::done(&path);
    let zone = app.zone(home)?;
    let mode = app.config(home)?.config.users.mode;
    let settings = Settings {
        mode,
        zone: &zone,
        now: app.now,
        vectors: Vectors::Later,
        random: random_bytes(),
        transcript_note: &home.transcript_note(),
    };
    let turn = Turn { ended: true, ..empty(caller, event) };
    if let Some(why) = turn.fault() {
        anyhow::bail!("the end cannot be recorded: {why}");
    }
    spool::put(&home.spool(), &turn, &settings)?;
    Ok(())
}

fn empty(caller: Caller, event: &Event) -> Turn {
    Turn {
        session_id: event.session.clone(),
        channel: caller.name().to_owned(),
        identity: None,
        user: None,
        agent: Some(caller.name().to_owned()),
        project: event.folder.as_deref().map(project_of),
        messages: Vec::new(),
        from: Reporter::Other(caller.name().to_owned()),
        ended: false,
    }
}

/// The prompt and the answer; the ids of the transcript where it says the same, so that an import knows them.
fn messages(event: &Event, pending: &session::Pending, tail: &Tail) -> Vec<TurnMessage> {
    let is_this_turn = event.turn.is_none() || pending.turn.is_none() || event.turn == pending.turn;
    let kept = pending.prompt.clone().filter(|_| is_this_turn);
    let prompt = event.prompt.clone().or(kept);
    let answers = Some(pending.answers.join("\n\n")).filter(|text| !text.is_empty());
    let answer = event.answer.clone().or(answers.filter(|_| is_this_turn));
    // A transcript that lags tells of the turn before.
    let is_fresh = prompt.is_none() || says(tail.prompt.as_ref(), prompt.as_deref());
    let told = if is_fresh { tail.clone() } else { Tail::default() };
    let pairs = [("user", prompt, told.prompt), ("assistant", answer, told.answer)];
    pairs.into_iter().filter_map(|(role, said, told)| message(role, said, told)).collect()
}

fn message(role: &str, said: Option<String>, told: Option<Said>) -> Option<TurnMessage> {
    let id = match &said {
        Some(said) if !says(told.as_ref(), Some(said)) => None,
        _ => told.as_ref().and_then(|told| told.id.clone()),
    };
    let text = said.or(told.map(|told| told.text))?;
    Some(TurnMessage { external_id: id, ..TurnMessage::text(role, &text) })
}

fn says(told: Option<&Said>, text: Option<&str>) -> bool {
    match (told, text) {
        (Some(told), Some(text)) => told.text.trim() == text.trim(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::Moment;
    use super::*;

    fn said(text: &str, id: &str) -> Option<Said> {
        Some(Said { text: text.to_owned(), id: Some(id.to_owned()) })
    }

    fn told(
        event: &Event,
        pending: &session::Pending,
        tail: &Tail,
    ) -> Vec<(String, Option<String>)> {
        let messages = messages(event, pending, tail);
        messages.into_iter().map(|message| (message.text, message.external_id)).collect()
    }

    #[test]
    fn a_turn_is_made_of_what_is_known_best() {
        let event = Event { answer: Some("an answer".into()), ..Event::new("Stop", Moment::Stop) };
        let pending = session::Pending { prompt: Some("a prompt".into()), ..Default::default() };
        let tail = Tail { prompt: said("a prompt", "u1"), answer: said("an answer", "a1") };
        let whole = [
            ("a prompt".to_owned(), Some("u1".to_owned())),
            ("an answer".to_owned(), Some("a1".to_owned())),
        ];
        assert_eq!(told(&event, &pending, &tail), whole);
        let silent = Event::new("Stop", Moment::Stop);
        assert_eq!(told(&silent, &session::Pending::default(), &tail), whole);
        let late = Tail { prompt: said("an earlier one", "u0"), answer: said("its answer", "a0") };
        let plain = [("a prompt".to_owned(), None), ("an answer".to_owned(), None)];
        assert_eq!(told(&event, &pending, &late), plain);
        assert!(told(&silent, &session::Pending::default(), &Tail::default()).is_empty());
    }
}
