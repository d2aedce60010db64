//! Forgetting by choice, with the marks that keep it forgotten.

mod again;
mod choose;
pub(super) mod copies;
mod erase;
mod retire;

use self::choose::Chosen;
use super::graves::{self, Grave, GraveKind};
use super::{Memory, Outcome, audit};
use crate::Result;
use crate::memory::backend::Connection;
use crate::memory::{
    Admin, Change, Choice, Depth, Forgotten, ItemKind, TakenBack, ToldElsewhere, UserNumber,
};

impl Memory {
    /// How much a choice holds.
    pub fn forget_plan(&self, _admin: Admin, choice: &Choice) -> Result<Forgotten> {
        choose::chosen(self.asking(Admin), choice)
            .map(|chosen| chosen.count())
            .map_err(|source| self.failed(source))
    }

    /// What a choice holds that files of the home tell of too, whosever it is.
    pub fn told_elsewhere(&self, _admin: Admin, choice: &Choice) -> Result<ToldElsewhere> {
        let chosen = choose::chosen(self.asking(Admin), choice);
        let chosen = chosen.map_err(|source| self.failed(source))?;
        let mut sessions: Vec<String> =
            chosen.sessions.into_iter().map(|session| session.session_id).collect();
        sessions.sort();
        sessions.dedup();
        Ok(ToldElsewhere { facts: chosen.facts, procedures: chosen.procedures, sessions })
    }

    /// Whether a choice names a session or a source that is there at all.
    pub fn knows(&self, _admin: Admin, choice: &Choice) -> Result<bool> {
        choose::is_known(self.asking(Admin), choice).map_err(|source| self.failed(source))
    }

    /// The programs, files and channels that a user's sessions came from, by name.
    pub fn known_sources(&self, _admin: Admin, user: UserNumber) -> Result<Vec<String>> {
        choose::sources_of(self.asking(Admin), user).map_err(|source| self.failed(source))
    }

    /// Forgets it, and sees to it that nothing of it is taken in or drawn again.
    pub fn forget(
        &mut self,
        _admin: Admin,
        choice: &Choice,
        depth: Depth,
        change: Change<'_>,
    ) -> Result<Forgotten> {
        match depth {
            Depth::Retire => self.write(Admin, |transaction| {
                let chosen = choose::chosen(transaction, choice)?;
                retire::retire(transaction, &chosen, change)?;
                bury(transaction, (choice, &chosen), change)?;
                note(transaction, choice, "memory.forget", change)?;
                Ok(chosen.count())
            }),
            Depth::Erase => self.removing(|memory| {
                memory.without_a_trace(Admin, |transaction| {
                    let chosen = choose::chosen(transaction, choice)?;
                    erase_chosen(transaction, (choice, &chosen), change)?;
                    Ok(chosen.count())
                })
            }),
        }
    }

    /// The episodes, procedures and events that a person took back; facts have graves of their own.
    pub fn taken_back(&self, _admin: Admin) -> Result<TakenBack> {
        again::taken_back(self.asking(Admin)).map_err(|source| self.failed(source))
    }

    /// Takes back here what was taken back in a newer state of this same memory, and the episodes of what lies in
    /// graves here.
    pub fn take_back(
        &mut self,
        _admin: Admin,
        taken: &TakenBack,
        change: Change<'_>,
    ) -> Result<Forgotten> {
        take_back(self, taken, change)
    }
}

/// Erases everything of one user, inside the caller's transaction.
pub(super) fn erase_user(
    transaction: &Connection,
    user: UserNumber,
    change: Change<'_>,
) -> Outcome<Forgotten> {
    let choice = Choice::User(user);
    let chosen = choose::chosen(transaction, &choice)?;
    erase_chosen(transaction, (&choice, &chosen), change)?;
    Ok(chosen.count())
}

fn erase_chosen(
    transaction: &Connection,
    (choice, chosen): (&Choice, &Chosen),
    change: Change<'_>,
) -> Outcome<()> {
    bury(transaction, (choice, chosen), change)?;
    erase::bury_messages(transaction, chosen, change)?;
    erase::erase(transaction, (choice, chosen), change)?;
    note(transaction, choice, "memory.erase", change)
}

/// Retires and erases here what was taken back elsewhere; the graves are here already.
fn take_back(memory: &mut Memory, taken: &TakenBack, change: Change<'_>) -> Result<Forgotten> {
    let is_any = memory.write(Admin, |transaction| {
        Ok(again::to_erase(transaction, taken)?.count() != Forgotten::default())
    })?;
    // Erased first: what is gone is not retired as well.
    let erased = if is_any { erase_again(memory, taken, change)? } else { Forgotten::default() };
    let mut count = memory.write(Admin, |transaction| {
        let chosen = again::to_retire(transaction, taken)?;
        retire::retire(transaction, &chosen, change)?;
        Ok(chosen.count())
    })?;
    count.episodes += erased.episodes;
    count.messages += erased.messages;
    count.procedures += erased.procedures;
    count.events += erased.events;
    Ok(count)
}

fn erase_again(memory: &mut Memory, taken: &TakenBack, change: Change<'_>) -> Result<Forgotten> {
    memory.removing(|memory| {
        memory.without_a_trace(Admin, |transaction| {
            let chosen = again::to_erase(transaction, taken)?;
            erase::bury_messages(transaction, &chosen, change)?;
            // What the choice is called matters only for speakers, who are forgotten with their sessions.
            let choice = Choice::Kind(UserNumber::OWNER, ItemKind::Message);
            erase::erase(transaction, (&choice, &chosen), change)?;
            Ok(chosen.count())
        })
    })
}

/// Buries the session that was chosen and the statements of the facts, so that neither comes back.
fn bury(
    transaction: &Connection,
    (choice, chosen): (&Choice, &Chosen),
    change: Change<'_>,
) -> Outcome<()> {
    if let Choice::Session(user, session_id) = choice {
        let key = graves::session_key(*user, session_id);
        let grave = Grave { kind: GraveKind::Session, user: *user, key, item: None };
        graves::bury(transaction, &grave, change)?;
    }
    for fact in &chosen.facts {
        graves::bury_fact(transaction, *fact, change)?;
    }
    Ok(())
}

/// One entry of the chain for the whole; ids that a person chose are in it as hashes.
fn note(
    transaction: &Connection,
    choice: &Choice,
    action: &str,
    change: Change<'_>,
) -> Outcome<()> {
    let (item, before) = match choice {
        Choice::User(user) => (format!("user:{}", user.get()), None),
        Choice::Session(user, id) => {
            (format!("a session of user:{}", user.get()), Some(audit::hash_of(id)))
        }
        Choice::Source(user, source) => {
            (format!("a source of user:{}", user.get()), Some(audit::hash_of(source)))
        }
        Choice::Kind(user, kind) => {
            (format!("kind:{} of user:{}", kind.number(), user.get()), None)
        }
        Choice::All => ("everything".to_owned(), None),
    };
    audit::append(transaction, change, action, &item, before.as_ref(), None)
}
