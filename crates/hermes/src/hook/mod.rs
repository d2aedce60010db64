//! What an agent's hooks are answered: context when a session or a prompt begins, records when a turn ends.

pub(crate) mod counts;
