//! A section within its limit: whole lines from its beginning, and a line that says what was left out.

use hermes_home::tokens;

/// How the line begins that says what was left out.
pub(super) const SIGN: &str = "[… cut here: ";

/// The heading and as much of the body as the limit allows, and whether something was left out.
pub(super) fn within(heading: Option<&str>, body: &str, cap: usize) -> (String, bool) {
    let whole = joined(heading, body);
    let all = tokens::estimate(&whole);
    if all <= cap {
        return (whole, false);
    }
    let note = format!("{SIGN}this section has about {all} tokens, and may have {cap}]");
    let ends = ends(body);
    let shown = |end: usize| joined(heading, &format!("{}\n{note}", body[..end].trim_end()));
    // The cost grows with the text, so the longest that fits is found by halving.
    let fits = ends.partition_point(|end| tokens::estimate(&shown(*end)) <= cap);
    let end = fits.checked_sub(1).and_then(|place| ends.get(place)).copied().unwrap_or(0);
    (shown(end), true)
}

/// Where the body may be cut: after each line, and inside lines that are long.
fn ends(body: &str) -> Vec<usize> {
    const LONG: usize = 400;
    let mut ends = Vec::new();
    let mut since = 0;
    for (at, c) in body.char_indices() {
        since += 1;
        if c == '\n' || since >= LONG {
            ends.push(at + c.len_utf8());
            since = 0;
        }
    }
    ends
}

fn joined(heading: Option<&str>, body: &str) -> String {
    match heading {
        Some(heading) => format!("{heading}\n{body}"),
        None => body.to_owned(),
    }
}
