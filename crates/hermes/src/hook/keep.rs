//! What a hook keeps: the turn that is over, and that a session has ended.

use hermes_app::App;
use hermes_app::context::{self, Handed};
use hermes_app::hooks::event::{Caller, Event, Moment};
use hermes_app::hooks::finish::{self, Because};
use hermes_app::hooks::keep::record_all;
use hermes_app::hooks::{elsewhere, session};
use hermes_home::Home;
use hermes_memory::record::turn::TurnMessage;

use super::deadline::Deadline;

/// Whose event it is, and what must not be lost when the time is up.
pub(super) struct Keeper<'a> {
    pub(super) app: &'a App,
    pub(super) home: &'a Home,
    pub(super) caller: Caller,
    pub(super) deadline: &'a Deadline,
}

impl Keeper<'_> {
    /// Keeps the prompt of a turn that begins, and what is known of the one before.
    pub(super) fn begin(&self, event: &Event) -> anyhow::Result<()> {
        let Some(id) = &event.session else { return Ok(()) };
        let path = session::path(self.home, self.caller, id);
        let ((), written) = session::change(&path, |session| {
            session.meet(self.caller, event);
            finish::tell(session, Because::NextPrompt, self.app.now);
            session.begin(event, self.app.now);
        });
        self.kept_alone(event, "user", event.prompt.as_deref(), written)
    }

    /// Notes what the model was given for a prompt.
    pub(super) fn hand(&self, event: &Event, handed: Handed) -> anyhow::Result<()> {
        let Some(id) = &event.session else { return Ok(()) };
        let path = session::path(self.home, self.caller, id);
        let ((), written) = session::change(&path, |session| session.handed.push(handed));
        Ok(written?)
    }

    /// Keeps an answer of the turn that is under way.
    pub(super) fn answer(&self, event: &Event) -> anyhow::Result<()> {
        let Some(id) = &event.session else { return Ok(()) };
        let path = session::path(self.home, self.caller, id);
        let ((), written) = session::change(&path, |session| {
            session.meet(self.caller, event);
            session.answered(event);
        });
        self.kept_alone(event, "assistant", event.answer.as_deref(), written)
    }

    /// What could not be written down, and is in no transcript either, is kept as a message of its own.
    fn kept_alone(
        &self,
        event: &Event,
        role: &str,
        text: Option<&str>,
        written: hermes_home::Result<()>,
    ) -> anyhow::Result<()> {
        if let (Err(_), None, Some(text)) = (&written, &event.transcript, text) {
            let mut session = session::Session::default();
            session.meet(self.caller, event);
            finish::push(&mut session, vec![TurnMessage::text(role, text)], self.app.now);
            for turn in &session.told {
                elsewhere::put_line(&self.app.env, self.home, turn)?;
            }
        }
        Ok(written?)
    }

    /// Keeps what is said outside of a home that is half of two because a restore was cut off: what is written there
    /// would be gone when the restore is undone.
    pub(super) fn outside(&self, event: &Event) -> anyhow::Result<()> {
        let mut session = session::Session::default();
        session.meet(self.caller, event);
        let alone = match (event.moment, &event.transcript) {
            (Moment::Stop, _) => {
                finish::stop(&mut session, event, self.app.now);
                None
            }
            (Moment::Prompt, None) => Some(("user", &event.prompt)),
            (Moment::Answer, None) => Some(("assistant", &event.answer)),
            _ => None,
        };
        if let Some((role, Some(text))) = alone {
            finish::push(&mut session, vec![TurnMessage::text(role, text)], self.app.now);
        }
        session.told.iter().try_for_each(|turn| elsewhere::put_line(&self.app.env, self.home, turn))
    }

    /// Records the turn that is over, from what was kept of it and the transcript.
    pub(super) fn stop(&self, event: &Event) -> anyhow::Result<()> {
        self.over(event, |session| finish::stop(session, event, self.app.now))
    }

    /// Records what is left of a session, and notes that it is over; the daemon does the rest.
    pub(super) fn end(&self, event: &Event) -> anyhow::Result<()> {
        self.over(event, |session| {
            session.is_ended = true;
            finish::tell(session, Because::Ended, self.app.now)
        })
    }

    /// What is told of the session is in its file before anything slow is tried.
    fn over(
        &self,
        event: &Event,
        tell: impl FnOnce(&mut session::Session) -> Option<String>,
    ) -> anyhow::Result<()> {
        let Some(id) = &event.session else { return Ok(()) };
        let path = session::path(self.home, self.caller, id);
        let ((fault, told, handed), written) = session::change(&path, |session| {
            session.meet(self.caller, event);
            let fault = tell(session);
            (fault, session.told.clone(), std::mem::take(&mut session.handed))
        });
        match &written {
            Ok(()) => self.deadline.is_kept(self.home),
            Err(_) => self.deadline.is_not_kept(self.home, &told),
        }
        let recorded = record_all(self.app, self.home, &path, &told);
        if recorded.is_ok() {
            self.deadline.is_done();
            context::hand_out(self.app, self.home, &handed);
        }
        match fault {
            Some(why) => anyhow::bail!("the turn cannot be recorded: {why}"),
            None => recorded,
        }
    }
}
