//! Tests of the search for secrets: what goes, what stays, and that twice is once.

use proptest::prelude::*;
use serde_json::json;

use super::*;

#[test]
fn the_words_around_a_secret_stay() {
    for (said, kept) in [
        ("use ghp_0123456789abcdefghijABCDEFGHIJ456789 now", "use [secret: github-token] now"),
        ("my password is hunter2!", "my password is [secret: password]!"),
        ("API_KEY=f3a9c81d2b7e46509ac1", "API_KEY=[secret: api-key]"),
        ("postgres://joe:s3cr3t@db/x", "postgres://joe:[secret: login]@db/x"),
        ("say \"AKIAIOSFODNN7EXAMPLE\"", "say \"[secret: aws-access-key]\""),
        (
            "a -----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY----- b",
            "a [secret: private-key] b",
        ),
        ("card 4111 1111 1111 1111 please", "card [secret: card-number] please"),
        ("Mein Passwort ist geheim123", "Mein Passwort ist [secret: password]"),
        ("my wifi password is swordfish.", "my wifi password is [secret: password]."),
        ("IBAN DE89 3704 0044 0532 0130 00, thanks", "IBAN [secret: iban], thanks"),
        ("the door code is 4711", "the door code is [secret: pin]"),
        ("hermes_00112233445566778899aabbccddeeff0011223344556677", "[secret: hermes-token]"),
    ] {
        assert_eq!(redact(said), kept);
    }
}

#[test]
fn plain_words_stay() {
    for said in [
        "I forgot my password yesterday, see src/memory/sqlite/transfer/importer.rs",
        "commit 0123456789abcdef0123456789abcdef01234567",
        "018bcfe5-6800-7fff-bfff-ffffffffffff and https://example.org/a?b=c",
        "the key to success is practice; the token ring is old",
        "My number is +351 912 345 678",
        "The password is required, and the API key is rotated every 90 days",
        "max_tokens: 4096, token: color.primary.500, password: <your password>",
        "password = os.environ[\"DB_PASSWORD\"]",
        "We decided to rotate API keys monthly",
        "PWD=/home/alice/projects/demo2",
        "task-force sk-learn is a library",
    ] {
        assert_eq!(redact(said), said);
    }
}

#[test]
fn a_field_of_json_is_named_by_its_field() {
    let value =
        json!({"user": "joe", "password": "correcthorse9", "list": [{"token": "none"}], "n": 3});
    let clean = json!({"user": "joe", "password": "[secret: password]", "list": [{"token": "none"}], "n": 3});
    assert_eq!(redact_value(value), clean);
}

#[test]
fn a_long_text_of_beginnings_is_looked_through_in_the_time_of_its_length() {
    // Looked at again from each beginning, one of these would take hours.
    for piece in [
        "sk-",
        "-eyJ",
        "password is ",
        "AKIA ",
        "EAA",
        "://a:",
        "1234 ",
        "DE89",
        "token ",
        "secret: abc ",
    ] {
        let text = piece.repeat(1_000_000 / piece.len());
        assert_eq!(redact(&text), text, "{piece}");
    }
}

proptest! {
    #[test]
    fn redacting_twice_is_redacting_once(
        text in prop_oneof![
            any::<String>(),
            "((my )?password(:| is |=)[a-z0-9!]{3,12} ?|ghp_[A-Za-z0-9]{36} |token=[A-Za-z0-9]{16,40}[ ;]){0,6}",
        ],
    ) {
        let once = redact(&text).into_owned();
        prop_assert_eq!(redact(&once).into_owned(), once.clone());
        prop_assert!(!has_secret(&once));
    }
}
