//! What recording will ask a server for, asked at once.

use super::{HOLD, LABEL, LAST_PART};
use crate::memory::backend::{Connection, Foreseen};
use crate::memory::graves::{self, GraveKind};
use crate::memory::{NewMessage, UserNumber, people, vector_model};

/// How many sessions are asked for at once.
const MOST: usize = 20;

/// What recording some messages of a user asks for in most cases: nobody was merged into the user.
pub(super) fn of_messages(
    transaction: &Connection,
    user: UserNumber,
    messages: &[NewMessage<'_>],
) -> Vec<Foreseen> {
    let mut sessions: Vec<&str> = messages.iter().map(|message| message.session_id).collect();
    // In one order, so that nobody waits for somebody who waits for them.
    sessions.sort_unstable();
    sessions.dedup();
    sessions.truncate(MOST);
    let labels = messages.iter().flat_map(|one| [one.channel, one.agent, one.project]);
    let mut labels: Vec<String> = labels.flatten().map(str::to_owned).collect();
    labels.sort_unstable();
    labels.dedup();
    let mut all: Vec<Foreseen> = vec![
        (people::NUMBERS, vec![user.get().into()]),
        (vector_model::ACTIVE, Vec::new()),
        (graves::HAS_ANY, vec![GraveKind::Message.number().into(), user.get().into()]),
    ];
    for session in sessions {
        let key = graves::session_key(user, session).to_vec();
        let kind = GraveKind::Session.number();
        all.push((graves::BURIED_AT, vec![kind.into(), user.get().into(), key.into()]));
        all.extend(of_session(transaction, user, session));
    }
    all.extend(labels.into_iter().map(|label| (LABEL, vec![label.into()])));
    all
}

/// How a session stands, once nobody else goes on with it.
pub(super) fn of_session(
    transaction: &Connection,
    user: UserNumber,
    session: &str,
) -> [Foreseen; 2] {
    let values = || vec![session.to_owned().into(), user.get().into()];
    [(transaction.choose(&HOLD), values()), (LAST_PART, values())]
}
