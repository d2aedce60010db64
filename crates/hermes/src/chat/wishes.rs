//! "Remember that…": kept at once after the turn, and shown when it was read back.

use hermes_memory::extract::{self, AtOnce};
use hermes_memory::identity;
use hermes_memory::remember::{Followed, Remembered};
use hermes_store::memory::{Memory, Scope};
use jiff::Timestamp;

use super::front::{Event, Front, ProblemShown};
use super::{Conversation, Written};
use hermes_app::fact_view::name_of;
use hermes_app::text::one_line;
use hermes_app::{later, rules};

/// How much of an entry a line shows.
const SHOWN: usize = 100;

impl Conversation {
    /// Keeps what the user asked to remember in so many words; that it could not be kept is shown, and the
    /// conversation goes on.
    pub(super) fn remember_wishes(&mut self, front: &mut dyn Front) -> anyhow::Result<()> {
        let became = match self.keep_wishes() {
            Ok(became) => became,
            Err(error) => return front.show(&Event::Problem(&ProblemShown::of(&error))),
        };
        for followed in &became.followed {
            self.show_followed(followed, front)?;
        }
        for remembered in &became.remembered {
            self.show_remembered(remembered, front)?;
        }
        Ok(())
    }

    fn keep_wishes(&mut self) -> anyhow::Result<AtOnce> {
        if self.asker.is_unasked() {
            // Where the turn waits, the daemon reads the wish when it takes the turn in.
            return Ok(AtOnce::default());
        }
        let (scope, session) = (self.asker.scope, self.session.to_string());
        let (app, home, memory) = self.seat.writer()?;
        let rules = rules::of_learning(app, home, &memory.store)?;
        let usual = app.zone(home)?;
        let zone = identity::zone_of(&memory.store, scope.user(), &usual)?;
        let settings = extract::Settings {
            now: app.now,
            zone_of: &|_| zone.clone(),
            idle_since: Timestamp::MIN,
            limit: 1,
            vectors: rules.vectors,
            imported_with_model: false,
            remember: Some(&rules),
        };
        let became = extract::at_once(&mut memory.store, scope, &session, &settings)?;
        if !became.remembered.is_empty() || !became.followed.is_empty() {
            later::fill_in(home, app, &mut memory.store)?;
        }
        Ok(became)
    }

    fn show_remembered(
        &mut self,
        remembered: &Remembered,
        front: &mut dyn Front,
    ) -> anyhow::Result<()> {
        match remembered {
            Remembered::Written(written) => self.show_kept(written.fact, &written.entry, front),
            Remembered::Proposed { proposal, why, .. } => front.show(&Event::Notice(&format!(
                "not written yet, {why}: approve it with `hermes memory approve {proposal}`"
            ))),
            Remembered::Buried => front.show(&Event::Notice(
                "not remembered, because you deleted it before; say it once more to store it",
            )),
        }
    }

    fn show_followed(&mut self, followed: &Followed, front: &mut dyn Front) -> anyhow::Result<()> {
        match followed {
            Followed::Rewritten { text, fact, .. } => self.show_kept(*fact, text, front),
            Followed::Removed { entry, fact, .. } => front.show(&Event::Notice(&format!(
                "- {} is outdated: \"{}\"",
                name_of(*fact),
                one_line(entry, SHOWN)
            ))),
            Followed::Proposed { proposal, .. } => front.show(&Event::Notice(&format!(
                "an entry would be updated: approve it with `hermes memory approve {proposal}`"
            ))),
            Followed::LeftAlone { path, why, .. } => front.show(&Event::Notice(&format!(
                "an entry in {} is outdated and was left unchanged: {why}",
                path.display()
            ))),
            Followed::Back { .. } => Ok(()),
        }
    }

    /// The line comes only when both the fact and the entry are there.
    fn show_kept(&mut self, fact: i64, entry: &str, front: &mut dyn Front) -> anyhow::Result<()> {
        let scope = self.asker.scope;
        let (_, _, memory) = self.seat.writer()?;
        if !is_held(&memory.store, scope, fact)? {
            return Ok(());
        }
        let (id, text) = (name_of(fact), one_line(entry, SHOWN));
        front.show(&Event::Remembered { id: &id, text: &text, undo: true })?;
        self.written.push(Written { id, text });
        Ok(())
    }
}

fn is_held(store: &Memory, scope: Scope, fact: i64) -> anyhow::Result<bool> {
    let found = store.facts(scope, &[fact])?;
    Ok(found.iter().any(|fact| fact.retired_at.is_none()))
}
