//! What the rules promise for any text.

use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::super::{Found, Kind, Spoken};
use super::draw;
use hermes_home::redaction::has_secret;

fn found(text: &str) -> Vec<Found> {
    let at = "2026-03-04T09:12:00Z".parse().unwrap();
    draw(&Spoken { role: "user", text, before: &[], at, zone: &TimeZone::UTC })
}

#[test]
fn plain_statements_are_found() {
    for (text, kind, statement) in [
        ("I live in Porto.", Kind::Identity, "User lives in Porto"),
        (
            "I prefer reports in bullet points.",
            Kind::Preference,
            "User prefers reports in bullet points",
        ),
        ("My GitHub username is nadia-dev", Kind::Account, "User's GitHub username is nadia-dev"),
        ("Tomas is my manager.", Kind::Relation, "Tomas is the user's manager"),
        ("Always answer in English.", Kind::Instruction, "User wants: always answer in English"),
    ] {
        let facts = found(text);
        assert_eq!(facts.len(), 1, "{text}: {facts:?}");
        assert_eq!((facts[0].kind, facts[0].statement.as_str()), (kind, statement));
    }
}

#[test]
fn questions_guesses_and_the_words_of_others_say_nothing() {
    for text in [
        "Do I live in Porto?",
        "If I lived in Berlin I would take the train.",
        "Tom says he hates bullet points.",
        "Write a mail to Bob saying I prefer Tuesday.",
        "Maybe we'll switch to Go.",
        "I used to use Vim.",
        "My password is hunter2.",
        "> I live in Porto.",
        "```\nI live in Porto.\n```",
    ] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn only_the_user_says_facts() {
    let at = "2026-03-04T09:12:00Z".parse().unwrap();
    for role in ["assistant", "tool", "system"] {
        let said = Spoken { role, text: "I live in Porto.", before: &[], at, zone: &TimeZone::UTC };
        assert_eq!(draw(&said), [], "{role}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_the_same_twice_with_quotes_inside(
        text in prop_oneof![any::<String>(), "([a-zA-Z0-9'’@.,:;?!\"\n-]{1,8} ){1,40}", "((I|my|we|always|never|live|in|Porto|prefer|is|due|on|Friday|remember|that|no|and|password|sk-abc123def456ghi789),? ){1,20}"],
    ) {
        let facts = found(&text);
        prop_assert_eq!(&facts, &found(&text));
        for fact in &facts {
            prop_assert!(text.get(fact.quote.clone()).is_some());
            prop_assert!(!has_secret(&fact.statement));
            prop_assert!((0.0..=1.0).contains(&fact.confidence));
        }
    }
}
