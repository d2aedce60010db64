//! What is recalled for a message: quoted, fenced data that goes behind the user's words.

use std::collections::HashSet;

use hermes_agent::prompt::Name;
use hermes_agent::window::Recalled;
use hermes_home::tokens;
use hermes_memory::retrieval::{self, Context};
use hermes_memory::task;

use super::Conversation;
use super::front::{Event, Front};
use hermes_app::context::{self, Given, Handed, Request};
use hermes_app::hooks::recall::belongs;
use hermes_app::recall::Recall;

/// How many tokens a message is given.
const BUDGET: usize = 1_500;

impl Conversation {
    /// Recalls what belongs to a message; nothing for a nod, and nothing that this window holds already.
    pub(super) fn recall(
        &mut self,
        text: &str,
        front: &mut dyn Front,
    ) -> anyhow::Result<Option<Recalled>> {
        self.last_recall = None;
        let is_wanted = self.seat.app.config(&self.seat.home)?.config.agent.recall;
        if !is_wanted || task::is_nod(text) {
            return Ok(None);
        }
        let given = match self.given(text) {
            Ok(given) => given,
            Err(error) => {
                show_failure(&error, front)?;
                return Ok(None);
            }
        };
        let items = given.context.items().count();
        // What is only recent belongs to the beginning of a session.
        let is_wanted = self.window.exchanges.is_empty() || belongs(&given.context);
        let recalled = match is_wanted && items > 0 {
            true => Some(Recalled {
                tokens: tokens::estimate(&given.text),
                text: given.text.clone(),
                is_outside: given.context.is_below_user(),
            }),
            false => None,
        };
        if let Some(recalled) = &recalled {
            front.show(&Event::Recalled { items, tokens: recalled.tokens })?;
            let (scope, session) = (self.asker.scope, Some(self.session.as_str()));
            let handed = Handed::of(scope, session, &given.context, self.seat.app.now);
            // A context is worth more than its receipt.
            let _ = self.seat.hand_out(handed);
        }
        self.last_recall = Some(given);
        Ok(recalled)
    }

    fn given(&mut self, text: &str) -> anyhow::Result<Given> {
        let project = context::project_of(&self.opening.folder);
        let request = Request {
            task: text,
            session: Some(self.session.as_str()),
            project: project.as_deref(),
            channel: Some(&self.opening.channel),
            budget: Some(BUDGET),
            no_files: true,
            ..Request::default()
        };
        let held = self.held();
        let (app, home, memory) = self.seat.either()?;
        let recall = Recall { app, home, store: &memory.store, asker: &self.asker };
        let mut given = recall.give(&request)?;
        without(&mut given.context, &held);
        given.text = retrieval::text(&given.context);
        Ok(given)
    }

    /// The names of what was recalled before and is still in the window.
    fn held(&self) -> HashSet<String> {
        let recalled = self.window.exchanges.iter().filter_map(|one| one.recalled.as_ref());
        let begun = self.prompt.sections.iter().filter(|one| one.name == Name::Recalled);
        let texts = recalled.map(|one| &one.text).chain(begun.map(|one| &one.text));
        let lines = texts.flat_map(|text| text.lines());
        let name = |line: &str| Some(line.strip_prefix('[')?.split_once(']')?.0.to_owned());
        lines.filter_map(name).collect()
    }
}

/// Shows why nothing is recalled; the conversation goes on without.
pub(super) fn show_failure(error: &anyhow::Error, front: &mut dyn Front) -> anyhow::Result<()> {
    let why = hermes_app::problem::message(error);
    front.show(&Event::Notice(&format!("recall failed: {why}")))
}

/// Leaves out what is in the window already.
fn without(context: &mut Context, held: &HashSet<String>) {
    for section in &mut context.sections {
        section.items.retain(|item| !held.contains(&item.name));
    }
    context.sections.retain(|section| !section.items.is_empty());
}
