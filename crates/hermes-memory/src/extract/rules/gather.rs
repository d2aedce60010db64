//! What is found beyond a single clause: answers, names, and putting it all in order.

use jiff::ToSpan;

use super::{Drawing, Found, Kind, wish};
use crate::reader::words;
use crate::task;

impl Drawing<'_> {
    /// A short yes to a question of the assistant.
    pub(super) fn answer(&mut self) {
        let Some((_, question)) =
            self.message.before.iter().rev().find(|(role, _)| *role == "assistant")
        else {
            return;
        };
        let words = words::words(self.text, 0);
        if let Some(statement) = wish::agreed(&words, question)
            && self.found.is_empty()
        {
            self.push(Kind::Instruction, statement, &words, None, true);
        }
    }

    /// A deadline that names nothing gets the name that was said before it: it must stand alone.
    pub(super) fn add_context(&mut self) {
        for found in &mut self.found {
            if !matches!(found.kind, Kind::Deadline) || !found.entities.is_empty() {
                continue;
            }
            let before = task::entities(&self.text[..found.quote.start]);
            if let [name] = &before[..] {
                found.statement.push_str(&format!(" ({name})"));
            }
        }
    }

    /// A name and what the user wants to be called are one fact.
    pub(super) fn join_names(&mut self) {
        let of = |found: &Found, predicate: &str| found.predicate.as_deref() == Some(predicate);
        let Some(name) = self.found.iter().position(|found| of(found, "name")) else { return };
        let Some(called) = self.found.iter().position(|found| of(found, "called")) else { return };
        let other = self.found.remove(called);
        let name = if called < name { name - 1 } else { name };
        self.found[name].statement.push_str(&format!("; {}", other.statement));
    }

    /// Every fact once, with the times it holds.
    pub(super) fn done(mut self) -> Vec<Found> {
        let zone = self.message.zone.clone();
        for found in &mut self.found {
            if let Some(day) = found.due {
                let end =
                    day.checked_add(1.day()).ok().and_then(|next| next.to_zoned(zone.clone()).ok());
                found.valid_to = end.map(|end| end.timestamp());
            }
            if found.is_change {
                found.valid_from = Some(self.message.at);
            }
        }
        self.add_context();
        self.join_names();
        let mut seen = std::collections::HashSet::new();
        self.found.retain(|found| seen.insert(found.statement.to_lowercase()));
        self.found
    }
}
