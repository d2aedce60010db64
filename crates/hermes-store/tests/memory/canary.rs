//! Nobody reads what another said: each user's texts hold a word of their own, looked for everywhere.

use hermes_store::memory::{Scope, UserNumber};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::operations::{Changer, Operation, operation};
use crate::reads::all_reads;
use crate::support::{Place, by};

const USERS: i64 = 50;

/// Each case is twenty thousand reads, so their number is fixed.
const CASES: u32 = 8;

#[test]
fn no_answer_holds_the_word_of_another() {
    let config = ProptestConfig { cases: CASES, max_shrink_iters: 50, ..ProptestConfig::default() };
    let operations = prop::collection::vec(operation(USERS), 400..401);
    let tried = TestRunner::new(config).run(&operations, |operations| check(&operations));
    tried.unwrap();
}

fn check(operations: &[Operation]) -> Result<(), TestCaseError> {
    let place = Place::new();
    let mut memory = place.write();
    for number in 2..=USERS {
        memory.user_or_new(&format!("user{number}"), by("user", 0)).unwrap();
    }
    let mut changer = Changer::with_canaries();
    for (minute, operation) in (10..).zip(operations) {
        changer.apply(&mut memory, operation, minute);
    }
    let mut own = 0;
    for user in 0..=USERS {
        for line in all_reads(&memory, Scope::of(UserNumber::new(user)), 410) {
            let words = line.split(|letter: char| !letter.is_alphanumeric());
            for word in words.filter_map(|word| word.strip_prefix("canary")) {
                prop_assert_eq!(word, user.to_string(), "user {} reads: {}", user, &line);
                own += 1;
            }
        }
    }
    prop_assert!(own > 200, "only {} canaries were read by their owners", own);
    Ok(())
}
