//! What a server is told for one transaction: who asks, and how long what is read is wanted.

use std::time::Duration;

use ::postgres::error::SqlState;

use crate::Stop;
use crate::memory::backend::Who;

/// How long a statement may take, where there is a limit: the server itself ends what nobody waits for.
pub(super) fn time_setting(stop: &Stop) -> String {
    let Some(left) = stop.left() else { return String::new() };
    // A moment more, so that the time is surely over when the server ends it.
    let milliseconds = (left + Duration::from_millis(2)).as_millis();
    format!("select set_config('statement_timeout', '{milliseconds}', true);")
}

/// Who asks, and how plans are made for them. What one user asks for is a few rows by their numbers. The server
/// cannot know how few are in a range, and would rather read whole tables: at 100,000 messages a context took 1.5 s.
pub(super) fn user_setting(who: Who) -> String {
    let user = match who {
        Who::Nobody => String::new(),
        Who::User(number) => number.to_string(),
        Who::All => "*".to_owned(),
    };
    let whole_tables = if who == Who::All { "on" } else { "off" };
    let plans = ["enable_seqscan", "enable_hashjoin", "enable_mergejoin"]
        .map(|name| format!("set_config('{name}', '{whole_tables}', true)"));
    // With these, the plan does not depend on the values; a statement that the server keeps is planned once.
    let cached = if who == Who::All { "auto" } else { "force_generic_plan" };
    format!(
        "set_config('hermes.user', '{user}', true), set_config('plan_cache_mode', '{cached}', true), {}",
        plans.join(", ")
    )
}

pub(super) fn tell(who: Who) -> String {
    format!("select {}", user_setting(who))
}

/// Whether the server ended a statement, as it was told to when the time was over.
pub(super) fn is_cancelled(error: &::postgres::Error) -> bool {
    error.code() == Some(&SqlState::QUERY_CANCELED)
}
