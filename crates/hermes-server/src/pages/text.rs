//! Text as it may stand on a page: escaped, highlighted, compared, and times as people say them.

use std::fmt;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use similar::{ChangeTag, TextDiff};

use hermes_app::text::{is_turning, mark};

/// Markup that was made here from escaped text: templates take it as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Html(pub(crate) String);

impl fmt::Display for Html {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl askama::filters::HtmlSafe for Html {}

/// Text with everything that means something in HTML written as text.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + text.len() / 8);
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            // A NUL has no place in HTML, and a control character may hide what follows it.
            control if control.is_control() && !matches!(control, '\n' | '\t') => {
                safe.push('\u{fffd}')
            }
            letter => safe.push(letter),
        }
    }
    safe
}

/// A hidden field of a form.
pub(crate) fn hidden(name: &str, value: &str) -> String {
    format!("<input type=\"hidden\" name=\"{}\" value=\"{}\">", escape(name), escape(value))
}

/// `3 days ago`, with the exact time behind it.
pub(crate) fn time(at: Timestamp, now: Timestamp, zone: &TimeZone) -> Html {
    let local = at.to_zoned(zone.clone());
    let exact = local.strftime("%Y-%m-%d %H:%M %Z");
    Html(format!("<time datetime=\"{at}\" title=\"{exact}\">{}</time>", ago(at, now, zone)))
}

/// How long ago it was, or the day.
fn ago(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let seconds = now.duration_since(at).as_secs();
    let count = |count: i64, noun: &str| {
        let ending = if count == 1 { "" } else { "s" };
        format!("{count} {noun}{ending} ago")
    };
    match seconds {
        0..60 => "just now".to_owned(),
        60..3_600 => count(seconds / 60, "minute"),
        3_600..86_400 => count(seconds / 3_600, "hour"),
        86_400..1_209_600 => count(seconds / 86_400, "day"),
        _ => at.to_zoned(zone.clone()).strftime("%-d %b %Y").to_string(),
    }
}

/// Text with the words that were asked for marked; words are compared without case, by their beginnings.
pub(crate) fn marked(text: &str, words: &[String]) -> Html {
    let mut made = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let start = rest.find(char::is_alphanumeric).unwrap_or(rest.len());
        made.push_str(&escape(&rest[..start]));
        rest = &rest[start..];
        let end = rest.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(rest.len());
        let word = &rest[..end];
        match is_asked(word, words) {
            true => made.push_str(&format!("<mark>{}</mark>", escape(word))),
            false => made.push_str(&escape(word)),
        }
        rest = &rest[end..];
    }
    Html(made)
}

fn is_asked(word: &str, words: &[String]) -> bool {
    let word = word.to_lowercase();
    words.iter().any(|asked| {
        let asked = asked.to_lowercase();
        // A short word stands for itself; a longer one also for what it ends in otherwise.
        let shared = asked.chars().zip(word.chars()).take_while(|(a, b)| a == b).count();
        word == asked
            || (shared >= 4 && shared + 3 >= asked.chars().count().max(word.chars().count()))
    })
}

/// The words of a question that are worth marking.
pub(crate) fn asked_words(question: &str) -> Vec<String> {
    let words = hermes_memory::task::content_words(question);
    match words.is_empty() {
        true => question.split_whitespace().map(str::to_owned).collect(),
        false => words,
    }
}

/// What went and what came, word by word.
pub(crate) fn changed(before: &str, after: &str) -> Html {
    let difference = TextDiff::from_words(before, after);
    let mut made = String::new();
    for change in difference.iter_all_changes() {
        let text = escape(change.value());
        match change.tag() {
            ChangeTag::Equal => made.push_str(&text),
            ChangeTag::Delete => made.push_str(&format!("<del>{text}</del>")),
            ChangeTag::Insert => made.push_str(&format!("<ins>{text}</ins>")),
        }
    }
    Html(made)
}

/// Markdown as a page shows it: markup inside it is text, links lead to the web or a mail, pictures are links.
pub(crate) fn markdown(text: &str) -> Html {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let events = Parser::new_ext(text, options).map(tame);
    let mut made = String::new();
    pulldown_cmark::html::push_html(&mut made, events);
    Html(made)
}

fn tame(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let dest_url = if is_harmless(&dest_url) { dest_url } else { "#".into() };
            Event::Start(Tag::Link { link_type, dest_url, title, id })
        }
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            let dest_url = if is_harmless(&dest_url) { dest_url } else { "#".into() };
            Event::Start(Tag::Link { link_type, dest_url, title, id })
        }
        Event::End(TagEnd::Image) => Event::End(TagEnd::Link),
        Event::Start(Tag::HtmlBlock) => Event::Start(Tag::Paragraph),
        Event::End(TagEnd::HtmlBlock) => Event::End(TagEnd::Paragraph),
        // Below the heading of the page.
        Event::Start(Tag::Heading { level, .. }) => Event::Start(Tag::Heading {
            level: lower(level),
            id: None,
            classes: Vec::new(),
            attrs: Vec::new(),
        }),
        Event::End(TagEnd::Heading(level)) => Event::End(TagEnd::Heading(lower(level))),
        other => other,
    }
}

fn lower(level: HeadingLevel) -> HeadingLevel {
    match level {
        HeadingLevel::H1 => HeadingLevel::H2,
        HeadingLevel::H2 => HeadingLevel::H3,
        _ => HeadingLevel::H4,
    }
}

fn is_harmless(address: &str) -> bool {
    let address = address.to_ascii_lowercase();
    ["https://", "http://", "mailto:"].iter().any(|scheme| address.starts_with(scheme))
}

/// A page on which every character that turns the direction of others is a mark, but for what is edited: a field gives back
/// what it was given.
pub(crate) fn with_marks(page: String) -> String {
    if !page.chars().any(is_turning) {
        return page;
    }
    let mut made = String::with_capacity(page.len() + 64);
    let mut rest = page.as_str();
    while let Some(tag) = rest.find('<') {
        made.push_str(&marked_text(&rest[..tag]));
        rest = &rest[tag..];
        let is_field = rest.starts_with("<textarea");
        let end = match is_field {
            true => rest.find("</textarea>"),
            false => rest.find('>'),
        };
        let end = end.map_or(rest.len(), |end| end + 1);
        made.push_str(&rest[..end]);
        rest = &rest[end..];
    }
    made + &marked_text(rest)
}

fn marked_text(text: &str) -> String {
    let sign = |c: char| if is_turning(c) { escape(&mark(c)) } else { c.to_string() };
    match text.chars().any(is_turning) {
        true => text.chars().map(sign).collect(),
        false => text.to_owned(),
    }
}

/// A browser sends other line ends than the file may have.
pub(crate) fn as_in(file: &str, sent: &str) -> String {
    let plain = sent.replace("\r\n", "\n");
    match file.contains("\r\n") {
        true => plain.replace('\n', "\r\n"),
        false => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_stay_those_of_the_file() {
        assert_eq!(as_in("a\nb\n", "a\r\nc\r\n"), "a\nc\n");
        assert_eq!(as_in("a\r\nb\r\n", "a\r\nc\r\n"), "a\r\nc\r\n");
    }

    #[test]
    fn what_turns_a_text_round_is_a_mark_on_a_page_and_itself_in_a_field() {
        let page =
            "<p title=\"a\u{202e}b\">c\u{202e}d</p><textarea name=t>e\u{202e}f</textarea>g\u{200f}";
        assert_eq!(
            with_marks(page.to_owned()),
            "<p title=\"a\u{202e}b\">c&lt;U+202E&gt;d</p><textarea name=t>e\u{202e}f</textarea>g&lt;U+200F&gt;"
        );
        assert_eq!(with_marks("<p>\u{2066}<".to_owned()), "<p>&lt;U+2066&gt;<");
    }

    #[test]
    fn nothing_that_is_stored_becomes_markup() {
        let hostile = "<script>alert(1)</script>\"'&\u{0}\u{1b}[2J";
        let safe = escape(hostile);
        assert!(!safe.contains('<') && !safe.contains('"') && !safe.contains('\u{0}'), "{safe}");
        let marked = marked(hostile, &["script".to_owned()]).0;
        assert!(!marked.contains("<script"), "{marked}");
        assert!(!changed(hostile, "<img>").0.contains("<img"));
    }

    #[test]
    fn markdown_holds_no_markup_but_its_own() {
        let text = "# Title\n<img src=x onerror=alert(1)>\n\n[a](javascript:alert(1)) ![b](data:x) **c** <b>d</b>";
        let made = markdown(text).0;
        assert!(made.contains("<h2>Title</h2>") && made.contains("<strong>c</strong>"), "{made}");
        let allowed =
            ["<h2>", "</h2>", "<p>", "</p>", "<a href=\"#\">", "</a>", "<strong>", "</strong>"];
        let rest = allowed.iter().fold(made, |made, tag| made.replace(tag, ""));
        assert!(!rest.contains('<'), "{rest}");
    }

    #[test]
    fn words_are_marked_whatever_their_case_and_ending() {
        let words = ["deploy".to_owned(), "tea".to_owned()];
        let made = marked("Deployed with Tea, teapots", &words).0;
        assert_eq!(made, "<mark>Deployed</mark> with <mark>Tea</mark>, teapots");
    }

    #[test]
    fn times_are_said_as_people_say_them() {
        let at = |second: i64| Timestamp::from_second(1_800_000_000 + second).unwrap();
        let said = |second| ago(at(0), at(second), &TimeZone::UTC);
        assert_eq!(
            (said(5), said(60), said(7_300)),
            ("just now".into(), "1 minute ago".into(), "2 hours ago".into())
        );
        assert_eq!(said(3_000_000), "15 Jan 2027");
    }
}
