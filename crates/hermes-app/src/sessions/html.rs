//! Sessions as one HTML page that needs nothing else: no script, no font, no link outside.

use std::fmt::Write;

use super::conversation::{Conversation, Line};

const HEAD: &str = "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">
<title>Sessions</title>
<style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin: 3rem 0 0; }
.details { color: GrayText; font-size: .875rem; }
article { border-left: 3px solid CanvasText; margin: 1.25rem 0; padding: .1rem 0 .1rem 1rem; }
article.user { border-color: #2b6cb0; }
article.assistant { border-color: #2f855a; }
article.tool, article.system { border-color: GrayText; }
article.gone { opacity: .65; }
header { font-size: .8125rem; color: GrayText; }
header b { color: CanvasText; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; margin: .25rem 0; }
.tool pre, pre.call { font: .875rem/1.4 ui-monospace, monospace; }
</style>
</head>
<body>
<h1>Sessions</h1>
";

/// Roles that have a look of their own.
const KINDS: [&str; 4] = ["user", "assistant", "tool", "system"];

/// The beginning of the page, before the first session.
pub(crate) fn head() -> &'static str {
    HEAD
}

/// The end of the page.
pub(crate) fn foot() -> &'static str {
    "</body>\n</html>\n"
}

/// One session of the page.
pub(crate) fn section(conversation: &Conversation) -> String {
    let id = escape(&conversation.id);
    let mut text = format!("<section id=\"{id}\">\n<h2>{}</h2>\n", escape(&conversation.title));
    let details: Vec<String> = conversation
        .details
        .iter()
        .map(|(name, value)| format!("{name} {}", escape(value)))
        .collect();
    let _ = writeln!(text, "<p class=\"details\">{}</p>", details.join(" · "));
    for message in &conversation.messages {
        text.push_str(&article(message));
    }
    text.push_str("</section>\n");
    text
}

fn article(message: &Line) -> String {
    let role = message.role.split(' ').next().unwrap_or_default();
    let kind = KINDS.iter().find(|kind| **kind == role).unwrap_or(&"system");
    let gone = if message.state.is_some() { " gone" } else { "" };
    let state = message.state.map(|state| format!(" · {state}")).unwrap_or_default();
    let mut text = format!(
        "<article class=\"{kind}{gone}\">\n<header><b>{}</b> {}{state}</header>\n",
        escape(&message.role),
        escape(&message.when)
    );
    if !message.text.is_empty() {
        let _ = writeln!(text, "<pre>{}</pre>", escape(&message.text));
    }
    for call in &message.calls {
        let _ = writeln!(text, "<pre class=\"call\">{}</pre>", escape(call));
    }
    text.push_str("</article>\n");
    text
}

/// Text that no browser takes for markup; control characters become the replacement character.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(c),
            c if c.is_control() => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_text_becomes_markup(text in any::<String>()) {
            let safe = escape(&text);
            prop_assert!(!safe.contains(['<', '>', '"', '\'']));
        }
    }
}
