//! The memory files: read with their version, written only over the version that was read.

use axum::http::{Method, StatusCode, header};
use hermes_home::layout::MemoryTarget;
use hermes_home::memory_file::{self, WholeText};
use serde_json::json;

use super::super::route::{Route, Run};
use crate::call::{Call, Fault, Reply};
use hermes_app::pool::Seat;
use hermes_app::problem::{Kind, Problem};
use hermes_app::rules;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/v1/files", "The memory files with their size and version", Run::At(list))
            .gives(&[("results", "array")]),
        Route::get(
            "/api/v1/files/{name}",
            "One file as text: memory, user or soul; the ETag is its version",
            Run::At(read),
        ),
        Route::change(
            Method::PUT,
            "/api/v1/files/{name}",
            "Replace a file; `If-Match` gives the version that was read",
            Run::At(write),
        )
        .gives(&[("name", "string"), ("version", "string"), ("changed", "boolean")]),
    ]
}

const NAMES: [&str; 3] = ["memory", "user", "soul"];

fn list(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let (app, home) = (&seat.app, &seat.home);
    let mut results = Vec::new();
    for name in NAMES {
        let target = target(name, call)?;
        let read = memory_file::read(home, &target, rules::of_file(app, home, &target)?)?;
        results.push(json!({
            "name": name,
            "exists": read.exists,
            "version": read.hash,
            "tokens": read.tokens,
            "entries": read.document.entries().len(),
        }));
    }
    Reply::json(&json!({ "results": results }))
}

fn read(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let (app, home) = (&seat.app, &seat.home);
    let target = target(call.param("name"), call)?;
    let read = memory_file::read(home, &target, rules::of_file(app, home, &target)?)?;
    let tag = tag(&read.hash);
    if call.header("if-none-match").is_some_and(|known| names(known, &read.hash)) {
        let reply = Reply::text("text/markdown; charset=utf-8", String::new());
        return Ok(Reply { status: StatusCode::NOT_MODIFIED, ..reply }.with(header::ETAG, tag));
    }
    let text = read.document.text().to_owned();
    Ok(Reply::text("text/markdown; charset=utf-8", text).with(header::ETAG, tag))
}

fn write(seat: &mut Seat, call: &Call) -> anyhow::Result<Reply> {
    let (app, home) = (&seat.app, &seat.home);
    let name = call.param("name");
    let target = target(name, call)?;
    call.whom.may_write(&target)?;
    let Some(known) = call.header("if-match") else {
        let message = "`If-Match` is missing: give the version that was read";
        return Ok(Fault::new(StatusCode::PRECONDITION_REQUIRED, "usage", message)
            .hint("send the ETag of the response to GET")
            .into_reply());
    };
    let text =
        std::str::from_utf8(&call.body).map_err(|_| Problem::usage("the body is not UTF-8"))?;
    let context = rules::of_change(app, home, &target, &app.actor)?;
    let now = memory_file::read(home, &target, context.rules)?;
    if !names(known, &now.hash) {
        return Ok(changed(&now.hash));
    }
    let whole = WholeText { text, expected_hash: &now.hash };
    match memory_file::replace_whole(home, &target, &context, &whole) {
        Err(hermes_home::Error::ChangedMeanwhile { .. }) => Ok(changed(&now.hash)),
        Err(error) => Err(error.into()),
        Ok(outcome) => {
            let read = memory_file::read(home, &target, context.rules)?;
            let answer = json!({ "name": name, "version": read.hash, "changed": outcome.changed });
            Ok(Reply::json(&answer)?.with(header::ETAG, tag(&read.hash)))
        }
    }
}

fn changed(hash: &str) -> Reply {
    Fault::new(StatusCode::PRECONDITION_FAILED, "refused", "the file was changed since it was read")
        .hint("read it again, and apply your change to the current text")
        .into_reply()
        .with(header::ETAG, tag(hash))
}

fn tag(hash: &str) -> String {
    format!("\"{hash}\"")
}

/// Whether a header names the version: one of several, with or without quotes. `*` is none: it would
/// write over what nobody has seen.
fn names(header: &str, hash: &str) -> bool {
    header
        .split(',')
        .map(|one| one.trim().trim_start_matches("W/").trim_matches('"'))
        .any(|one| one == hash)
}

fn target(name: &str, call: &Call) -> anyhow::Result<MemoryTarget> {
    match name {
        "memory" => Ok(MemoryTarget::Memory),
        "user" => Ok(call.whom.user_file()),
        "soul" => Ok(MemoryTarget::Soul),
        other => Err(Problem::new(Kind::NotFound, format!("there is no file {other}"))
            .hint("the files are memory, user and soul")
            .into()),
    }
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_version_is_named_with_quotes_or_without() {
        assert!(names("\"abc\"", "abc") && names("abc", "abc") && names("W/\"abc\"", "abc"));
        assert!(names("\"x\", \"abc\"", "abc"));
        assert!(!names("*", "abc") && !names("", "abc") && !names("\"ab\"", "abc"));
    }
}
