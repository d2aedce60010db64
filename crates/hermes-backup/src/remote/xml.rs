//! The little XML that a bucket answers with: texts of elements, nothing more.

/// The text of the first element of this name.
pub(super) fn text_of(xml: &str, name: &str) -> Option<String> {
    inside(xml, name).map(|(text, _)| unescape(text.trim()))
}

/// What is inside each element of this name.
pub(super) fn each<'a>(xml: &'a str, name: &str) -> Vec<&'a str> {
    let mut found = Vec::new();
    let mut rest = xml;
    while let Some((text, after)) = inside(rest, name) {
        found.push(text);
        rest = after;
    }
    found
}

/// What is inside the first element of this name, and what comes after it.
fn inside<'a>(xml: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let mut rest = xml;
    loop {
        rest = &rest[rest.find('<')? + 1..];
        let Some(after) = rest.strip_prefix(name) else { continue };
        let head = &after[..after.find('>')?];
        let begins = head.is_empty() || head.starts_with(char::is_whitespace);
        if begins && !head.ends_with('/') {
            let body = &after[head.len() + 1..];
            let close = format!("</{name}>");
            let end = body.find(&close)?;
            return Some((&body[..end], &body[end + close.len()..]));
        }
    }
}

fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let known = rest.find(';').and_then(|end| Some((entity(&rest[1..end])?, end + 1)));
        let (letter, length) = known.unwrap_or(('&', 1));
        plain.push(letter);
        rest = &rest[length..];
    }
    plain.push_str(rest);
    plain
}

fn entity(name: &str) -> Option<char> {
    let number = name.strip_prefix('#');
    match (name, number) {
        ("amp", _) => Some('&'),
        ("lt", _) => Some('<'),
        ("gt", _) => Some('>'),
        ("quot", _) => Some('"'),
        ("apos", _) => Some('\''),
        (_, Some(number)) => match number.strip_prefix('x') {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => number.parse().ok(),
        }
        .and_then(char::from_u32),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_found_by_the_name_of_their_element() {
        let xml = r#"<?xml version="1.0"?><Result xmlns="x"><Keys/><KeyMarker></KeyMarker>
            <Upload><Key>a&amp;b&#34;</Key><UploadId> 1 </UploadId></Upload>
            <Upload><Key>c</Key><UploadId>2</UploadId></Upload></Result>"#;
        assert_eq!(text_of(xml, "Key").as_deref(), Some("a&b\""));
        assert_eq!(text_of(xml, "UploadId").as_deref(), Some("1"));
        assert_eq!(text_of(xml, "Keys"), None);
        let uploads = each(xml, "Upload");
        assert_eq!(uploads.len(), 2);
        assert_eq!(text_of(uploads[1], "UploadId").as_deref(), Some("2"));
    }

    proptest! {
        #[test]
        fn no_answer_makes_it_panic(xml in "[<>/&;#ax ]{0,60}", name in "[ax]{1,2}") {
            let _ = (text_of(&xml, &name), each(&xml, &name));
        }
    }
}
