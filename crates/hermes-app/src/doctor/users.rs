//! Checks of who talks to the agent: identities that are linked to nobody.

use hermes_home::config::UsersMode;
use hermes_memory::identity;
use hermes_store::memory::{Admin, Memory};

use super::Check;
use crate::text::printable;

/// How many identities are named one by one.
const NAMED: usize = 5;

/// Each identity that is linked to nobody, with the command that says who it is.
pub(super) fn checks(store: &Memory, mode: UsersMode) -> Vec<Check> {
    let unlinked = match identity::to_link(store) {
        Ok(unlinked) => unlinked,
        Err(error) => return vec![Check::fail("identities", error.to_string())],
    };
    let users = store.users(Admin).unwrap_or_default();
    let name_of = |number| {
        let found = users.iter().find(|user| user.number == number);
        found.map_or_else(String::new, |user| user.name.clone())
    };
    let mut results: Vec<Check> = unlinked
        .iter()
        .take(NAMED)
        .map(|(one, command)| {
            let (id, channel) = (printable(&one.native_id), printable(&one.channel));
            let name = printable(&name_of(one.user));
            match mode {
                UsersMode::Single => {
                    let evidence = format!(
                        "{id} of {channel} is not linked to a user and gets shared items only; \
                         messages went to {name}"
                    );
                    Check::warn("identities", evidence).repair("hermes user confirm")
                }
                UsersMode::Several => {
                    let evidence = format!(
                        "{id} of {channel} is not linked to a user: messages went to \
                             {name}"
                    );
                    Check::warn("identities", evidence).repair(printable(command))
                }
            }
        })
        .collect();
    if let Some(more) = unlinked.len().checked_sub(NAMED).filter(|more| *more > 0) {
        let evidence = format!("{more} more are not linked to a user");
        results.push(Check::warn("identities", evidence).repair("hermes user list"));
    }
    results
}
