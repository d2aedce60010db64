//! A text as a model would read it: compatibility forms, look-alikes and hidden letters made plain, encodings opened.

use unicode_normalization::UnicodeNormalization;
use unicode_security::confusable_detection::skeleton;

use super::is_hidden;

/// The shortest encoded piece that is opened.
const SHORTEST_ENCODED: usize = 20;

/// How deep encodings are opened one inside the other.
const DEEPEST: usize = 2;

/// The text in small plain letters; what is written with tags is read as well.
pub(super) fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase().replace('`', "'");
    }
    let mut plain = String::with_capacity(text.len());
    for c in text.nfkc() {
        match c {
            '\u{e0020}'..='\u{e007e}' => plain.extend(char::from_u32(c as u32 - 0xe0000)),
            c if is_hidden(c) || is_mark(c) => {}
            '’' | '‘' | '`' | '´' | 'ʼ' => plain.push('\''),
            c if c.is_ascii() => plain.push(c),
            c => push_look_alike(c, &mut plain),
        }
    }
    plain.to_lowercase()
}

/// The Latin letters that a letter of another script looks like; else the letter itself.
fn push_look_alike(c: char, plain: &mut String) {
    // In small letters first: a large iota looks like an l otherwise.
    let small: String = c.to_lowercase().collect();
    let alike: String = skeleton(&small).collect();
    match alike.is_ascii() && alike.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        true => plain.push_str(&alike),
        // `é` is an e with a mark.
        false => plain.extend(c.nfkd().filter(|c| !is_mark(*c))),
    }
}

fn is_mark(c: char) -> bool {
    matches!(u32::from(c), 0x300..=0x36f | 0x1ab0..=0x1aff | 0x20d0..=0x20ff | 0xfe00..=0xfe0f)
}

/// Words with digits in the place of letters, as letters: `1gn0re`.
pub(super) fn without_digits(folded: &str) -> Option<String> {
    let letter = |c: char| match c {
        '0' => 'o',
        '1' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        other => other,
    };
    let is_mixed = |word: &str| {
        let letters = word.chars().filter(char::is_ascii_alphabetic).count();
        letters >= 1 && word.contains(['0', '1', '3', '4', '5', '7', '@', '$'])
    };
    if !folded.split_whitespace().any(is_mixed) {
        return None;
    }
    let word = |word: &str| match is_mixed(word) {
        true => word.chars().map(letter).collect::<String>(),
        false => word.to_owned(),
    };
    Some(folded.split_whitespace().map(word).collect::<Vec<_>>().join(" "))
}

/// Letters that are written one by one, together: `i g n o r e`, `i.g.n.o.r.e`.
pub(super) fn joined_letters(folded: &str) -> Option<String> {
    const FEWEST: usize = 8;
    let mut runs: Vec<String> = Vec::new();
    let mut run = String::new();
    for word in folded.split(|c: char| !c.is_alphanumeric()).chain(["end"]) {
        let mut letters = word.chars();
        match (letters.next(), letters.next()) {
            (None, _) => {}
            (Some(letter), None) => run.push(letter),
            (Some(_), Some(_)) => {
                if run.chars().count() >= FEWEST {
                    runs.push(std::mem::take(&mut run));
                }
                run.clear();
            }
        }
    }
    (!runs.is_empty()).then(|| runs.join(" "))
}

/// What is written in Base64 or as hexadecimal digits, where it is text.
pub(super) fn opened(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut level: Vec<String> = vec![text.to_owned()];
    for _ in 0..DEEPEST {
        level = level.iter().flat_map(|text| encoded(text)).collect();
        found.extend(level.iter().cloned());
    }
    found
}

fn encoded(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "+/_-=".contains(c);
    text.split(|c| !is_part(c))
        .filter(|piece| piece.len() >= SHORTEST_ENCODED)
        .flat_map(|piece| [from_hex(piece), from_base64(piece)])
        .flatten()
        .filter_map(|bytes| String::from_utf8(bytes).ok())
        .filter(|text| is_text(text))
        .collect()
}

fn is_text(text: &str) -> bool {
    let is_control = |c: char| c.is_control() && !c.is_whitespace();
    !text.chars().any(is_control) && (text.contains(' ') || !text.is_ascii())
}

fn from_hex(piece: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        piece.chars().map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let pairs = digits.filter(|digits| digits.len() % 2 == 0)?;
    Some(pairs.chunks(2).map(|pair| pair[0] * 16 + pair[1]).collect())
}

fn from_base64(piece: &str) -> Option<Vec<u8>> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let mut bytes = Vec::with_capacity(piece.len() * 3 / 4);
    let mut bits = (0_u32, 0_u32);
    for byte in piece.trim_end_matches('=').bytes() {
        bits = ((bits.0 << 6) | u32::from(value(byte)?), bits.1 + 6);
        if bits.1 >= 8 {
            bits.1 -= 8;
            bytes.push((bits.0 >> bits.1) as u8);
            bits.0 &= (1 << bits.1) - 1;
        }
    }
    Some(bytes)
}
