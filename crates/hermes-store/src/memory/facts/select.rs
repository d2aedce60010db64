//! Which fact a person means by what they typed.

use super::super::{Memory, audit};
use super::read;
use crate::memory::{Fact, ItemKind, Scope};
use crate::{Error, Result};

/// The beginning of a uid counts from this many digits on.
const FEWEST_DIGITS: usize = 4;

/// The fact meant by `42`, `042`, `fact:42` or the beginning of its uid.
pub(super) fn find(memory: &Memory, scope: Scope, selector: &str) -> Result<Fact> {
    let failed = |source| memory.failed(source);
    let typed = selector.trim();
    let bare = typed.split_once(':').filter(|(kind, _)| kind.eq_ignore_ascii_case("fact"));
    let bare = bare.map_or(typed, |(_, rest)| rest);
    let missing = || Error::NoSuchItem { item: format!("fact:{bare}") };
    if let Some(number) = number(bare)
        && let Some(fact) = read::by_id(memory.asking(scope), scope, number).map_err(failed)?
    {
        return Ok(fact);
    }
    // The beginning of a uid may be all digits, too.
    let (first, last) = uid_range(bare).ok_or_else(missing)?;
    let ids = read::between(memory.asking(scope), scope, &first, &last).map_err(failed)?;
    match ids.as_slice() {
        [] => Err(missing()),
        [id] => read::by_id(memory.asking(scope), scope, *id).map_err(failed)?.ok_or_else(missing),
        several => Err(Error::SeveralItems {
            selector: selector.to_owned(),
            candidates: several.iter().map(|id| audit::item_name(ItemKind::Fact, *id)).collect(),
        }),
    }
}

fn number(text: &str) -> Option<i64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

/// The first and last uid that begin with these hexadecimal digits.
fn uid_range(text: &str) -> Option<([u8; 16], [u8; 16])> {
    let digits: Vec<u8> = text
        .chars()
        .filter(|letter| *letter != '-')
        .map(|letter| letter.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<_>>()?;
    if !(FEWEST_DIGITS..=32).contains(&digits.len()) {
        return None;
    }
    let (mut first, mut last) = ([0_u8; 16], [0xff_u8; 16]);
    for (place, digit) in digits.iter().enumerate() {
        let (shift, mask) = if place % 2 == 0 { (4, 0x0f) } else { (0, 0xf0) };
        first[place / 2] |= digit << shift;
        last[place / 2] = (last[place / 2] & mask) | (digit << shift);
    }
    Some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_numbers_and_signs_are_not() {
        assert_eq!(number("042"), Some(42));
        assert_eq!(number("-1"), None);
        assert_eq!(number(""), None);
    }

    #[test]
    fn the_beginning_of_a_uid_spans_all_that_follow() {
        let (first, last) = uid_range("018bc").unwrap();
        assert_eq!((first[..4].to_vec(), first[15]), (vec![0x01, 0x8b, 0xc0, 0], 0));
        assert_eq!((last[..4].to_vec(), last[15]), (vec![0x01, 0x8b, 0xcf, 0xff], 0xff));
        assert_eq!(uid_range("018bcfe5-6800-7").map(|(first, _)| first[6]), Some(0x70));
        assert_eq!(uid_range("018"), None);
        assert_eq!(uid_range("fact"), None);
    }
}
