//! Whatever is done to a memory in SQLite, it answers like the simple one.

use hermes_store::memory::{Scope, UserNumber};
use proptest::prelude::*;

use crate::model::ModelMemory;
use crate::operations::{Changer, operation};
use crate::reads::{admin_reads, all_reads};
use crate::support::{Place, by};

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_time: 20_000, ..ProptestConfig::with_cases(cases()) })]
    #[test]
    fn a_database_answers_like_plain_lists(
        operations in prop::collection::vec(operation(3), 1..50), reopened_after in 0..50_usize,
    ) {
        let place = Place::new();
        let mut sqlite = place.write();
        let mut model = ModelMemory::new("alice");
        for name in ["bob", "carol"] {
            sqlite.user_or_new(name, by("user", 0)).unwrap();
            model.user_or_new(name, by("user", 0)).unwrap();
        }
        let (mut on_sqlite, mut on_model) = (Changer::default(), Changer::default());
        let mut minute = 10;
        for (number, operation) in operations.iter().enumerate() {
            minute += 1;
            let left = on_sqlite.apply(&mut sqlite, operation, minute);
            let right = on_model.apply(&mut model, operation, minute);
            prop_assert_eq!(left, right, "{:?}", operation);
            if number == reopened_after {
                drop(sqlite);
                sqlite = place.write();
            }
        }
        for user in 0..=4 {
            let scope = Scope::of(UserNumber::new(user));
            let (left, right) = (all_reads(&sqlite, scope, minute), all_reads(&model, scope, minute));
            for (left, right) in left.iter().zip(&right) {
                prop_assert_eq!(left, right, "as user {}", user);
            }
            prop_assert_eq!(left.len(), right.len());
        }
        for (left, right) in admin_reads(&sqlite).iter().zip(&admin_reads(&model)) {
            prop_assert_eq!(left, right);
        }
    }
}

/// 64 with a file, or as many as PROPTEST_CASES says.
fn cases() -> u32 {
    let asked = ProptestConfig::default().cases;
    crate::place::cases(if asked == 256 { 64 } else { asked })
}
