//! Text that comes from an argument, or from standard input when the argument is `-`.

use std::io::{self, Read};

use anyhow::Context;

use hermes_app::problem::Problem;

/// The most that is read from standard input as one text.
const LIMIT: u64 = 64 * 1024 * 1024;

/// The argument itself, or all of standard input for `-`.
pub(crate) fn text(argument: &str) -> anyhow::Result<String> {
    if argument != "-" {
        return Ok(argument.to_owned());
    }
    let mut bytes = Vec::new();
    io::stdin()
        .lock()
        .take(LIMIT + 1)
        .read_to_end(&mut bytes)
        .context("could not read standard input")?;
    if bytes.len() as u64 > LIMIT {
        return Err(Problem::usage("standard input is longer than 64 MiB").into());
    }
    String::from_utf8(bytes).map_err(|_| Problem::usage("standard input is not UTF-8 text").into())
}
