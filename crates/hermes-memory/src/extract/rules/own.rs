//! The user's own sentences in a message: no code, quotations, logs, tables, pasted mails or recalled memory.

use std::ops::Range;

/// The sentences that are the user's own words, in bytes of the text, in their order.
pub(super) fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for block in own_lines(text) {
        split(text, block, &mut found);
    }
    found
}

/// What the lines before leave open.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Open {
    Nothing,
    Code(&'static str),
    Tag(String),
    Remembered,
}

fn own_lines(text: &str) -> Vec<Range<usize>> {
    let mut own = Vec::new();
    let mut open = Open::Nothing;
    let mut start = 0;
    let mut headers = 0;
    for line in text.split_inclusive('\n') {
        let place = start..start + line.len();
        start = place.end;
        let content = line.trim();
        let was_open = open != Open::Nothing;
        open = step(open, content, &text[place.end..]);
        if was_open || open != Open::Nothing {
            let is_over = was_open && open == Open::Nothing && !ends_a_block(content);
            if !(is_over && is_own(line, content)) {
                continue;
            }
        }
        if begins_a_pasted_mail(content, &mut headers) {
            break;
        }
        if is_own(line, content) {
            own.push(place);
        }
        if announces_pasted_text(content) {
            break;
        }
    }
    own
}

/// What is open after a line.
fn step(open: Open, content: &str, rest: &str) -> Open {
    match open {
        Open::Code(fence) if content == fence => Open::Nothing,
        Open::Tag(name) if content.contains(&format!("</{name}")) => Open::Nothing,
        Open::Remembered if is_remembered(content) => Open::Remembered,
        Open::Nothing | Open::Remembered => opened(content, rest),
        other => other,
    }
}

/// What a line opens.
fn opened(content: &str, rest: &str) -> Open {
    for fence in ["```", "~~~"] {
        if content.starts_with(fence) && !content[3..].contains(fence) {
            return Open::Code(fence);
        }
    }
    if content == "# Remembered" {
        return Open::Remembered;
    }
    match opened_tag(content) {
        Some(name) if content.contains(&format!("</{name}")) => Open::Nothing,
        Some(name) if rest.contains(&format!("</{name}")) => Open::Tag(name.to_owned()),
        _ => Open::Nothing,
    }
}

fn is_remembered(content: &str) -> bool {
    content.is_empty()
        || content.starts_with(['#', '>', '['])
        || content.starts_with("What follows was remembered")
}

fn ends_a_block(content: &str) -> bool {
    content.starts_with("```") || content.starts_with("~~~") || content.contains("</")
}

fn opened_tag(content: &str) -> Option<&str> {
    let inside = content.strip_prefix('<')?;
    let end = inside.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | ':')))?;
    (end > 0 && inside.starts_with(|c: char| c.is_ascii_alphabetic())).then(|| &inside[..end])
}

/// Whether a line is the user's own: not a quotation, a table, a log, a prompt or code.
fn is_own(line: &str, content: &str) -> bool {
    if content.is_empty() || content.starts_with('>') || opened_tag(content).is_some() {
        return false;
    }
    let is_indented = line.starts_with("    ") || line.starts_with('\t');
    let is_bullet =
        content.starts_with(['-', '*', '•']) || content.starts_with(|c: char| c.is_ascii_digit());
    let is_table = content.starts_with('|') || content.matches('|').count() >= 2;
    let first = content.split_whitespace().next().unwrap_or_default();
    let is_shell = first.contains('@') && first.ends_with([':', '$', '#']);
    let is_prompt = is_shell
        || ["$ ", ">>> ", "# ", "% ", "In [", "+ ", "--- ", "+++ ", "@@ "]
            .iter()
            .any(|start| content.starts_with(start));
    !(is_table || is_prompt || (is_indented && !is_bullet) || is_log(content) || is_code(content))
}

fn is_log(content: &str) -> bool {
    let first = content.split_whitespace().next().unwrap_or_default();
    let bare = first.trim_matches(['[', ']', ':', '(', ')']);
    let is_level = matches!(
        bare,
        "INFO"
            | "WARN"
            | "WARNING"
            | "ERROR"
            | "DEBUG"
            | "TRACE"
            | "FATAL"
            | "CRITICAL"
            | "Traceback"
    );
    let digits = bare.chars().filter(char::is_ascii_digit).count();
    let is_stamp = digits >= 6
        && bare.chars().all(|c| {
            c.is_ascii_digit() || matches!(c, '-' | ':' | 'T' | 'Z' | '.' | '/' | '+' | ',')
        })
        && bare.contains([':', '-', '/'])
        && content.split_whitespace().nth(1).is_some_and(|next| {
            let next = next.trim_matches(['[', ']', ':']);
            next.starts_with(|c: char| c.is_ascii_digit())
                || next.chars().all(|c| c.is_ascii_uppercase())
        });
    is_level
        || is_stamp
        || content.starts_with("at ") && content.contains('(') && content.contains(':')
}

fn is_code(content: &str) -> bool {
    let ends_like_code =
        content.ends_with(['{', '}', ';']) && content.contains(['(', '=', '{', '}']);
    let starts_like_code = [
        "def ", "fn ", "import ", "#include", "const ", "let ", "var ", "class ", "SELECT ",
        "File \"",
    ]
    .iter()
    .any(|start| content.starts_with(start));
    let is_shaped = content.contains(['(', '=', '{', '*', '"', '.']) && !content.ends_with('.');
    ends_like_code
        || (starts_like_code && is_shaped && content.contains(['(', '=', '{', '<', '*', '"']))
}

/// Whether what follows is a mail of somebody: header lines, or the line that introduces one.
fn begins_a_pasted_mail(content: &str, headers: &mut usize) -> bool {
    let is_header = [
        "From:", "To:", "Subject:", "Sent:", "Date:", "Cc:", "Von:", "Betreff:", "De:", "Objet:",
        "Asunto:",
    ]
    .iter()
    .any(|header| content.starts_with(header));
    *headers = if is_header { *headers + 1 } else { 0 };
    let lower = content.to_lowercase();
    *headers >= 2
        || lower.contains("original message")
        || lower.contains("forwarded message")
        || (lower.starts_with("on ") && lower.ends_with("wrote:"))
}

/// Whether a line says that what follows is text to work on, or another's words.
#[rustfmt::skip]
fn announces_pasted_text(content: &str) -> bool {
    const SIGNS: &[&str] = &[
        "this", "following", "below", "text", "mail", "email", "message", "paragraph", "wrote",
        "says", "said", "sentence", "draft", "log", "logs", "output", "transcript", "review",
        "translate", "proofread", "summarize", "summarise", "rewrite", "article", "snippet",
        "feedback", "letter", "quote", "reply", "note", "notes", "error", "config", "bio",
        "übersetze", "traduis", "traduce", "traduz", "traduci", "texte", "texto", "testo", "story",
        "dialogue", "post", "comment", "ticket", "minutes", "paste", "pasted", "dump", "wrote",
        "response", "statement", "intro", "description", "readme",
    ];
    if !content.ends_with(':') {
        return false;
    }
    let last = content.rsplit(['.', '!', '?']).next().unwrap_or(content).to_lowercase();
    let asks_to_keep = ["remember", "note", "keep", "rule", "prefer", "from now on"];
    !asks_to_keep.iter().any(|word| last.trim_start().starts_with(word))
        && last.split(|c: char| !c.is_alphanumeric()).any(|word| SIGNS.contains(&word))
}

/// Cuts a line into sentences.
fn split(text: &str, line: Range<usize>, found: &mut Vec<Range<usize>>) {
    let mut start = line.start;
    let content = &text[line.clone()];
    for (at, c) in content.char_indices() {
        let end = line.start + at + c.len_utf8();
        let next = text[end..line.end].chars().next();
        let is_alone = matches!(c, '。' | '！' | '？' | '\n');
        let is_stop = matches!(c, '.' | '!' | '?' | '…')
            && next
                .is_none_or(|next| next.is_whitespace() || matches!(next, '"' | '”' | ')' | '\''))
            && !(c == '.' && is_abbreviation(&text[start..end - 1]));
        if is_alone || is_stop {
            add(text, start..end, found);
            start = end;
        }
    }
    add(text, start..line.end, found);
}

fn add(text: &str, place: Range<usize>, found: &mut Vec<Range<usize>>) {
    let content = &text[place.clone()];
    let lead = content.len() - content.trim_start_matches(is_lead).len();
    let core = content.trim_start_matches(is_lead).trim_end();
    if !core.is_empty() {
        found.push(place.start + lead..place.start + lead + core.len());
    }
}

fn is_lead(c: char) -> bool {
    c.is_whitespace() || matches!(c, '-' | '*' | '•' | '"' | '”' | ')' | '\'')
}

fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or_default();
    let lower = word.to_lowercase();
    matches!(
        lower.as_str(),
        "e.g"
            | "i.e"
            | "dr"
            | "mr"
            | "mrs"
            | "ms"
            | "st"
            | "vs"
            | "approx"
            | "prof"
            | "z.b"
            | "bzw"
            | "sr"
            | "sra"
            | "jr"
            | "etc"
            | "no"
            | "inc"
            | "ca"
            | "mme"
            | "resp"
    ) || (word.chars().count() == 1 && word.chars().all(char::is_uppercase) && word != "I")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(text: &str) -> Vec<&str> {
        sentences(text).into_iter().map(|place| &text[place]).collect()
    }

    #[test]
    fn only_the_users_own_sentences_are_read() {
        assert_eq!(
            own("I use Python 3.12. Dr. No said so! Ok?"),
            ["I use Python 3.12.", "Dr. No said so!", "Ok?"]
        );
        assert_eq!(
            own(
                "One.\n> I live in Rome.\n| a | b |\n2026-01-01 10:00:00 ERROR I live in Rome\nTwo."
            ),
            ["One.", "Two."]
        );
        assert_eq!(own("Look:\n```\nI live in Rome.\n```\nThanks."), ["Look:", "Thanks."]);
        assert_eq!(own("```rust\nI live in Rome.\n```\nThanks."), ["Thanks."]);
        assert_eq!(own("<memory-context>\nI live in Rome.\n</memory-context>\nHi."), ["Hi."]);
        assert_eq!(own("Translate this text:\nI live in Rome."), ["Translate this text:"]);
        assert_eq!(
            own("See below.\nFrom: Bob\nSubject: x\nI live in Rome."),
            ["See below.", "From: Bob"]
        );
        assert_eq!(own("# Remembered\n## Facts\n[fact:1]\n> I live in Rome.\n\nHi."), ["Hi."]);
    }
}
