//! Faults of the disk at every call of every operation: databases are as they were before or after, and answers are true.
#![expect(clippy::unwrap_used, reason = "helpers of tests stop at the first surprise")]

mod content;
mod disk;
mod memories;
#[path = "../memory/place.rs"]
#[allow(dead_code, reason = "the tests of other parts use it")]
mod place;
mod sessions;
#[path = "../sql/mod.rs"]
#[allow(dead_code, reason = "the tests of transcripts use the rest")]
mod sql;
#[path = "../memory/support.rs"]
#[allow(dead_code, unused_imports, reason = "the tests of other parts use the rest")]
mod support;
mod trial;
mod vfs;

/// Both kinds of test for an operation.
macro_rules! operations {
    ($($name:ident: $operation:expr;)*) => {$(
        mod $name {
            #[test]
            fn is_done_or_not_done_as_answered_whichever_call_fails() {
                $operation.survives_errors();
            }

            #[test]
            fn is_there_whole_or_not_at_all_whenever_the_power_goes() {
                $operation.survives_power_loss();
            }
        }
    )*};
}

operations! {
    append: crate::sessions::append();
    delete_session: crate::sessions::delete();
    compact_session: crate::sessions::compact();
    import_sessions: crate::sessions::import();
    record: crate::memories::record();
    add_fact: crate::memories::add_fact();
    edit_fact: crate::memories::edit_fact();
    forget: crate::memories::forget();
    erase: crate::memories::erase();
    compact: crate::memories::compact();
    extract: crate::memories::extract();
    embed: crate::memories::embed();
    import: crate::memories::import();
    migrate: crate::memories::migrate();
}
