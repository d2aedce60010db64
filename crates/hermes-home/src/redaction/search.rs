//! One pass over a text for the words that secrets come with; only there is anything looked at closely.

use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::Regex;

use super::kinds::{KINDS, Kind, Place};
use super::said::{self, Family, NAMES, SENTENCES};
use super::{Found, MARK, checks};

/// How much of a text one form may cover; blocks of keys are the longest.
const LONGEST: usize = 24_000;

/// How far behind a name something random still counts as named by it.
const NEAR: usize = 60;

/// All secrets of a text, in order and apart.
pub(super) fn find(text: &str) -> Vec<Found> {
    let mut search = Search { text, found: Vec::new() };
    search.by_form();
    search.by_name();
    search.by_check();
    search.settle()
}

struct Search<'a> {
    text: &'a str,
    /// With the place in the table: what comes first gives the name.
    found: Vec<(usize, Found)>,
}

impl Search<'_> {
    fn by_form(&mut self) {
        let (Some(words), owners) = &*FORM_WORDS else { return };
        let mut looked_until = vec![0; KINDS.len()];
        for hit in words.find_overlapping_iter(self.text) {
            let number = owners[hit.pattern().as_usize()];
            let kind = &KINDS[number];
            let Some(start) = begin(self.text, hit.start(), kind.place) else { continue };
            if start < looked_until[number] {
                continue;
            }
            let Some((whole, secret)) = match_at(self.text, start, form(number)) else { continue };
            looked_until[number] = whole.end;
            if whole.end >= hit.end() && is_real(self.text, kind, &secret) {
                self.found.push((number, Found { kind: kind.name, place: secret }));
            }
        }
    }

    fn by_name(&mut self) {
        let (Some(words), owners) = &*NAME_WORDS else { return };
        let mut looked_until = 0;
        for hit in words.find_overlapping_iter(self.text) {
            let rank = KINDS.len() + hit.pattern().as_usize();
            let found = match owners[hit.pattern().as_usize()] {
                Owner::Sentence(number) => {
                    let (_, kind, _) = SENTENCES[number];
                    sentence(self.text, hit.start(), number).map(|place| Found { kind, place })
                }
                Owner::Name(number) => {
                    let (_, family, kind) = NAMES[number];
                    let given =
                        named(self.text, hit.range(), family).map(|place| Found { kind, place });
                    // A long text with names all over it is looked through once.
                    let is_near = given.is_none()
                        && hit.end() >= looked_until
                        && stands_alone(self.text.as_bytes(), &hit.range())
                        && matches!(family, Family::Key | Family::NamedKey | Family::Password);
                    if is_near {
                        looked_until = hit.end() + NEAR / 2;
                        random_near(self.text, hit.end()).map(|place| Found { kind, place })
                    } else {
                        given
                    }
                }
            };
            self.found.extend(found.map(|found| (rank, found)));
        }
    }

    /// Card and account numbers, which check themselves.
    fn by_check(&mut self) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let starts = at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
            if starts && bytes[at].is_ascii_digit() {
                let end = digits_end(bytes, at);
                let place = at..end;
                if is_grouped_card(&self.text[place.clone()]) {
                    self.found.push((usize::MAX, Found { kind: "card-number", place }));
                }
                at = end.max(at + 1);
            } else if starts && is_account_start(&bytes[at..]) {
                if let Some(length) = checks::iban(&self.text[at..]) {
                    let place = at..at + length;
                    self.found.push((usize::MAX, Found { kind: "iban", place }));
                }
                at += 4;
            } else {
                at += 1;
            }
        }
    }

    /// What was found, in order; of two that overlap the longer place with the name that comes first.
    fn settle(self) -> Vec<Found> {
        let Search { text, mut found } = self;
        found.retain(|(_, one)| !touches_mark(text, &one.place));
        found.sort_by(|(a_rank, a), (b_rank, b)| {
            (a.place.start, a_rank).cmp(&(b.place.start, b_rank))
        });
        let mut apart: Vec<(usize, Found)> = Vec::with_capacity(found.len());
        for (rank, one) in found {
            match apart.last_mut().filter(|(_, last)| one.place.start < last.place.end) {
                Some((last_rank, last)) => {
                    last.place.end = last.place.end.max(one.place.end);
                    if rank < *last_rank {
                        (*last_rank, last.kind) = (rank, one.kind);
                    }
                }
                None => apart.push((rank, one)),
            }
        }
        apart.into_iter().map(|(_, one)| one).collect()
    }
}

/// Which rule a word of the second pass belongs to.
#[derive(Clone, Copy)]
enum Owner {
    Name(usize),
    Sentence(usize),
}

static FORM_WORDS: LazyLock<(Option<AhoCorasick>, Vec<usize>)> = LazyLock::new(|| {
    let all = KINDS.iter().enumerate();
    let pairs =
        all.flat_map(|(number, kind)| kind.keywords.iter().map(move |word| (*word, number)));
    let (words, owners): (Vec<&str>, Vec<usize>) = pairs.unzip();
    (automaton(&words, false), owners)
});

static NAME_WORDS: LazyLock<(Option<AhoCorasick>, Vec<Owner>)> = LazyLock::new(|| {
    let names = NAMES.iter().enumerate().map(|(number, (name, ..))| (*name, Owner::Name(number)));
    let sentences = SENTENCES.iter().enumerate().flat_map(|(number, (words, ..))| {
        words.iter().map(move |word| (*word, Owner::Sentence(number)))
    });
    let (words, owners): (Vec<&str>, Vec<Owner>) = names.chain(sentences).unzip();
    (automaton(&words, true), owners)
});

/// The words are our own: should they make no automaton, nothing would be found, and a test says so.
fn automaton(words: &[&str], any_case: bool) -> Option<AhoCorasick> {
    let mut builder = AhoCorasick::builder();
    // 0.9 ms to make and 2.5 µs for a message; a table of all states is 1.7 ms and 1.7 µs. Most processes are short.
    builder.match_kind(MatchKind::Standard).kind(Some(AhoCorasickKind::ContiguousNFA));
    builder.ascii_case_insensitive(any_case);
    builder.build(words).ok()
}

/// The form of a kind, made when it is first needed.
fn form(number: usize) -> Option<&'static Regex> {
    static FORMS: LazyLock<Vec<OnceLock<Option<Regex>>>> =
        LazyLock::new(|| KINDS.iter().map(|_| OnceLock::new()).collect());
    let made = || Regex::new(&format!("^(?:{})", KINDS[number].form)).ok();
    FORMS[number].get_or_init(made).as_ref()
}

fn sentence_form(number: usize) -> Option<&'static Regex> {
    static FORMS: LazyLock<Vec<Option<Regex>>> =
        LazyLock::new(|| SENTENCES.iter().map(|(.., form)| Regex::new(form).ok()).collect());
    FORMS[number].as_ref()
}

/// The forms of what follows a name.
struct Following {
    given: Option<Regex>,
    bare: Option<Regex>,
    digits: Option<Regex>,
    phrase: Option<Regex>,
    social_security: Option<Regex>,
}

static FOLLOWING: LazyLock<Following> = LazyLock::new(|| Following {
    given: Regex::new(said::GIVEN).ok(),
    bare: Regex::new(said::BARE).ok(),
    digits: Regex::new(said::DIGITS).ok(),
    phrase: Regex::new(said::PHRASE).ok(),
    social_security: Regex::new(said::SOCIAL_SECURITY).ok(),
});

/// The text from a place on, as far as one form may reach.
fn window(text: &str, start: usize, longest: usize) -> &str {
    let end = text.floor_char_boundary((start + longest).min(text.len()));
    &text[start..end]
}

/// Where a form fits that begins here: all of it, and the secret in it.
fn match_at(
    text: &str,
    start: usize,
    form: Option<&Regex>,
) -> Option<(Range<usize>, Range<usize>)> {
    let found = form?.captures(window(text, start, LONGEST))?;
    let whole = found.get(0)?.range();
    let secret = found.name("s").map_or(whole.clone(), |part| part.range());
    let shift = |range: Range<usize>| start + range.start..start + range.end;
    Some((shift(whole), shift(secret)))
}

/// Where a secret would begin that has its keyword here; none if it cannot stand here.
fn begin(text: &str, at: usize, place: Place) -> Option<usize> {
    let bytes = text.as_bytes();
    match place {
        Place::Anywhere => Some(at),
        Place::Word => begins_word(bytes, at).then_some(at),
        Place::Alone => {
            let is_inside = at > 0 && matches!(bytes[at - 1], b'/' | b'+' | b'=' | b'-');
            let is_named = at > 0 && bytes[at - 1] == b'=';
            (begins_word(bytes, at) && (!is_inside || is_named)).then_some(at)
        }
        Place::Inside(longest) => {
            let is_part =
                |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'~' | b'.');
            let before = bytes[..at].iter().rev().take(longest).take_while(is_part).count();
            let first = at - before;
            (before > 0 && (begins_word(bytes, first) || before == longest)).then_some(first)
        }
    }
}

/// Whether a word begins here; an escaped line end or sign before it is none of its letters.
fn begins_word(bytes: &[u8], at: usize) -> bool {
    let before = |back: usize| at.checked_sub(back).and_then(|place| bytes.get(place)).copied();
    let is_word =
        |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_hex = |back: usize| before(back).is_some_and(|byte| byte.is_ascii_hexdigit());
    match before(1) {
        None => true,
        Some(b'-') => !is_word(before(2)),
        Some(byte) if byte.is_ascii_alphanumeric() || byte == b'_' => {
            (matches!(byte, b'n' | b'r' | b't') && before(2) == Some(b'\\'))
                || (is_hex(1) && is_hex(2) && before(3) == Some(b'%'))
                || ((1..=4).all(is_hex) && before(5) == Some(b'u') && before(6) == Some(b'\\'))
        }
        Some(_) => true,
    }
}

/// Whether what fits a form is random enough, and whole.
fn is_real(text: &str, kind: &Kind, secret: &Range<usize>) -> bool {
    let next = text.as_bytes().get(secret.end).copied();
    let goes_on = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_cut = match kind.place {
        Place::Anywhere => false,
        Place::Alone => next.is_some_and(|byte| goes_on(byte) || matches!(byte, b'/' | b'+')),
        _ => next.is_some_and(goes_on),
    };
    if is_cut {
        return false;
    }
    let body = &text[secret.clone()];
    kind.entropy == 0.0 || (checks::entropy(body) >= kind.entropy && !is_filler(body))
}

/// `sk-xxxxxxxxxxxxxxxx`, `ghp_your_token_goes_here_please`.
fn is_filler(body: &str) -> bool {
    let lower = body.to_ascii_lowercase();
    ["xxxxxx", "your_", "your-", "_here", "-here", "......"].iter().any(|sign| lower.contains(sign))
}

fn sentence(text: &str, start: usize, number: usize) -> Option<Range<usize>> {
    let (_, secret) = match_at(text, start, sentence_form(number))?;
    let value = &text[secret.clone()];
    let kind = SENTENCES[number].1;
    let is_example = matches!(
        value.to_ascii_lowercase().as_str(),
        "password" | "pass" | "passwd" | "pwd" | "pw"
    );
    let is_it = match kind {
        "login" => !is_example,
        "password" => !is_example && value.len() >= 4,
        "authorization" => true,
        _ => checks::can_be_key(value),
    };
    (is_it && !checks::is_placeholder(value)).then_some(secret)
}

/// The value that a name announces.
fn named(text: &str, name: Range<usize>, family: Family) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let goes_on = bytes.get(name.end).is_some_and(|byte| byte.is_ascii_alphanumeric());
    let is_inside = name.start > 0 && bytes[name.start - 1].is_ascii_alphanumeric();
    let is_short = matches!(family, Family::Pin | Family::SocialSecurity | Family::Card);
    if goes_on || (is_short && is_inside) {
        return None;
    }
    match family {
        Family::Phrase => {
            match_at(text, name.end, FOLLOWING.phrase.as_ref()).map(|(_, words)| words)
        }
        Family::SocialSecurity => {
            match_at(text, name.end, FOLLOWING.social_security.as_ref()).map(|(_, number)| number)
        }
        Family::Card => card_near(text, name.end),
        Family::Pin => {
            let (given, _) = match_at(text, name.end, FOLLOWING.given.as_ref())?;
            let (_, digits) = match_at(text, given.end, FOLLOWING.digits.as_ref())?;
            let shortest =
                if text[name].len() == 3 && !text[digits.clone()].is_empty() { 3 } else { 4 };
            (digits.len() >= shortest).then_some(digits)
        }
        Family::Password => password(text, name.end),
        Family::Key | Family::NamedKey => key(text, name, family),
    }
}

/// What is given behind a name, in quotes or not; what ends a sentence is not part of it.
fn given(text: &str, after: usize) -> Option<(Range<usize>, bool, bool)> {
    let (sign, _) = match_at(text, after, FOLLOWING.given.as_ref())?;
    let is_quoted = text[..sign.end].ends_with(['"', '\'', '`', '“', '«']);
    let is_said = text[sign.clone()].contains(|c: char| c.is_alphabetic());
    let value = if is_quoted {
        let quote = text[..sign.end].chars().next_back()?;
        let close = match quote {
            '“' => '”',
            '«' => '»',
            other => other,
        };
        let inside = window(text, sign.end, 400);
        let end = inside.find([close, '\n', '\\'])?;
        sign.end..sign.end + end
    } else {
        let (bare, _) = match_at(text, sign.end, FOLLOWING.bare.as_ref())?;
        let trimmed = text[bare.clone()].trim_end_matches(['.', '!', '?', ':', '*', '&']);
        // `hunter2!`: the sign may be part of it, and nothing is lost with it.
        bare.start..bare.start + trimmed.len()
    };
    (value.len() >= 3).then_some((value, is_quoted, is_said))
}

fn password(text: &str, after: usize) -> Option<Range<usize>> {
    let (place, is_quoted, is_said) = given(text, after)?;
    let value = &text[place.clone()];
    if checks::is_placeholder(value) {
        return None;
    }
    if is_quoted && !value.contains(char::is_whitespace) && value.chars().count() >= 6 {
        let lower = value.to_ascii_lowercase();
        let is_about = said::ABOUT.contains(&lower.as_str()) || lower.contains("password");
        return (!is_about).then_some(place);
    }
    if checks::can_be_password(value) && !value.contains(char::is_whitespace) {
        return Some(place);
    }
    (is_said && is_sworn(text, &place)).then_some(place)
}

/// `my password is swordfish.`: one word of letters that ends the sentence and tells nothing about the password.
fn is_sworn(text: &str, place: &Range<usize>) -> bool {
    const SENTENCE: usize = 200;
    let value = &text[place.clone()];
    let rest = window(text, place.end, 8);
    let ends = rest.trim_start_matches(['.', '!', '"', '\'', '`', ' ', '\t']);
    let is_end = ends.is_empty() && rest.len() < 8
        || rest.starts_with(['.', '!', '\n'])
        || ends.starts_with('\n');
    let from = text.floor_char_boundary(place.start.saturating_sub(SENTENCE));
    let before = &text[from..place.start];
    let line = &before[before.rfind(['\n', '.']).map_or(0, |at| at + 1)..];
    let line = format!(" {}", line.trim_start().to_lowercase());
    let is_own = [" my ", " our ", " mein ", " meine ", " mon ", " mi ", " minha "]
        .iter()
        .any(|word| line.contains(word));
    let is_about = said::ABOUT.contains(&value.to_lowercase().as_str());
    is_own && is_end && value.chars().count() >= 6 && !is_about
}

fn key(text: &str, name: Range<usize>, family: Family) -> Option<Range<usize>> {
    let before = &text.as_bytes()[name.start.saturating_sub("public_".len())..name.start];
    let before = before.to_ascii_lowercase();
    if before.ends_with(b"public") || before.ends_with(b"public_") {
        return None;
    }
    let (place, ..) = given(text, name.end)?;
    let value = &text[place.clone()];
    let is_uuid = value.len() == 36 && value.matches('-').count() == 4;
    let is_it = match is_uuid {
        true => family == Family::NamedKey,
        false => checks::can_be_key(value),
    };
    (is_it && !checks::is_placeholder(value)).then_some(place)
}

fn stands_alone(bytes: &[u8], name: &Range<usize>) -> bool {
    let is_letter =
        |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_alphanumeric);
    !is_letter(name.start.checked_sub(1)) && !is_letter(Some(name.end))
}

/// A random word on the same line, not far behind a name.
fn random_near(text: &str, after: usize) -> Option<Range<usize>> {
    let line = window(text, after, NEAR + 400);
    let line = &line[..line.find('\n').unwrap_or(line.len())];
    let is_part = |c: char| c.is_ascii_alphanumeric() || "+/_=-".contains(c);
    let mut from = 0;
    while let Some(start) = line[from..].find(is_part).map(|at| at + from) {
        if start > NEAR {
            return None;
        }
        let end = line[start..].find(|c| !is_part(c)).map_or(line.len(), |at| at + start);
        let (word, goes_on) = (&line[start..end], line[end..].starts_with(['.', ':', '%']));
        let is_end = !goes_on || line[end + 1..].starts_with([' ', '\t']) || line.len() == end + 1;
        if is_end && checks::is_random(word) && !checks::is_placeholder(word) {
            return Some(after + start..after + end);
        }
        from = end;
    }
    None
}

fn digits_end(bytes: &[u8], start: usize) -> usize {
    const LONGEST_CARD: usize = 23;
    let is_part = |at: usize| {
        let next_is_digit = bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
        bytes[at].is_ascii_digit() || (matches!(bytes[at], b' ' | b'-') && next_is_digit)
    };
    (start..bytes.len())
        .find(|at| *at > start + LONGEST_CARD || !is_part(*at))
        .unwrap_or(bytes.len())
}

/// Digits in the groups that cards show: four by four, or 4-6-5.
fn is_grouped_card(text: &str) -> bool {
    let groups: Vec<usize> = text.split([' ', '-']).map(str::len).collect();
    let is_grouped =
        matches!(groups.as_slice(), [4, 4, 4, 4] | [4, 6, 5] | [4, 6, 4] | [4, 4, 4, 4, 3]);
    is_grouped && checks::is_card(&digits_of(text))
}

/// A card number behind the name of one, in groups or not.
fn card_near(text: &str, after: usize) -> Option<Range<usize>> {
    let line = window(text, after, NEAR);
    let line = &line[..line.find('\n').unwrap_or(line.len())];
    let start = line.find(|c: char| c.is_ascii_digit())?;
    let end = digits_end(text.as_bytes(), after + start);
    checks::is_card(&digits_of(&text[after + start..end])).then_some(after + start..end)
}

fn digits_of(text: &str) -> Vec<u8> {
    text.bytes().filter(u8::is_ascii_digit).map(|byte| byte - b'0').collect()
}

fn is_account_start(bytes: &[u8]) -> bool {
    matches!(bytes, [a, b, c, d, ..]
        if a.is_ascii_uppercase() && b.is_ascii_uppercase() && c.is_ascii_digit() && d.is_ascii_digit())
}

/// Whether a place is part of what already stands for a secret.
fn touches_mark(text: &str, place: &Range<usize>) -> bool {
    let from = text.floor_char_boundary(place.start.saturating_sub(MARK.len() + 40));
    let before = &text[from..place.start];
    let is_inside = before.rfind(MARK).is_some_and(|at| !before[at..].contains(']'));
    is_inside || text[place.clone()].contains(MARK) || MARK.starts_with(&text[place.clone()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_can_be_read() {
        assert!((0..KINDS.len()).all(|number| form(number).is_some()));
        assert!((0..SENTENCES.len()).all(|number| sentence_form(number).is_some()));
        let Following { given, bare, digits, phrase, social_security } = &*FOLLOWING;
        assert!([given, bare, digits, phrase, social_security].iter().all(|form| form.is_some()));
        let count = |words: &Option<AhoCorasick>| words.as_ref().map(AhoCorasick::patterns_len);
        assert!(count(&FORM_WORDS.0) > Some(150) && count(&NAME_WORDS.0) > Some(70));
    }
}
