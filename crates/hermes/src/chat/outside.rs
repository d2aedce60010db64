//! What a session that is taken up again holds that is not the person's own words.

use hermes_agent::prompt::{Name, Prompt};
use hermes_home::pasted::is_pasted;
use hermes_memory::provenance;
use hermes_store::memory::ItemKind;
use hermes_store::sessions::{Message, MessageState, SessionId};

use super::tools;
use hermes_app::asker::Asker;
use hermes_app::pool::Seat;

/// Whether the prompt of a session, what was recalled for its turns, or what left its window holds such words. Where
/// that cannot be found out, it does.
pub(super) fn is_before(
    seat: &mut Seat,
    asker: &Asker,
    session: &SessionId,
    prompt: Option<&Prompt>,
    messages: &[Message],
) -> bool {
    let has_left = |message: &Message| {
        let is_pasted = message.role == "user" && is_pasted(&message.text);
        message.state == MessageState::Compacted && (is_pasted || is_outside(message))
    };
    messages.iter().any(has_left) || is_recalled(seat, asker, session, prompt).unwrap_or(true)
}

fn is_recalled(
    seat: &mut Seat,
    asker: &Asker,
    session: &SessionId,
    prompt: Option<&Prompt>,
) -> anyhow::Result<bool> {
    let (_, _, memory) = seat.reader()?;
    let receipts = memory.store.receipts_of(asker.scope, session.as_str())?;
    let mut items: Vec<(ItemKind, i64)> =
        receipts.into_iter().flat_map(|receipt| receipt.items).collect();
    items.extend(prompt.into_iter().flat_map(named_in));
    Ok(provenance::is_below_user(&memory.store, asker.scope, &items)?)
}

/// Whether a message that was written down holds such words: what a tool brought, unless it only said what it did.
pub(super) fn is_outside(message: &Message) -> bool {
    message.role == "tool" && !tools::only_reports(message.tool_name.as_deref(), &message.text)
}

/// Kind and number of what was recalled when the session began; an episode counts as a summary.
fn named_in(prompt: &Prompt) -> Vec<(ItemKind, i64)> {
    let recalled = prompt.sections.iter().filter(|one| one.name == Name::Recalled);
    let name = |line: &str| {
        let (kind, number) = line.strip_prefix('[')?.split_once(']')?.0.split_once(':')?;
        let kind = match kind {
            "fact" => ItemKind::Fact,
            "episode" => ItemKind::Summary,
            "procedure" => ItemKind::Procedure,
            "event" => ItemKind::Event,
            // Of a kind that a newer program knows.
            _ => ItemKind::Message,
        };
        Some((kind, number.parse().unwrap_or(-1)))
    };
    recalled.flat_map(|one| one.text.lines()).filter_map(name).collect()
}
