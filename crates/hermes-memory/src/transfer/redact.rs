//! Replaces what looks like a secret in a text.

/// What stands where a secret was.
const REDACTED: &str = "[redacted]";

/// How keys of well-known services begin.
const PREFIXES: [&str; 30] = [
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "pk_live_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "xoxa-",
    "xoxb-",
    "xoxp-",
    "xoxr-",
    "xoxs-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "hf_",
    "npm_",
    "pypi-",
    "dop_v1_",
    "SG.",
    "shpat_",
    "eyJ",
    "pa-",
];

/// Words after which a secret stands.
const SAID: [&str; 10] = [
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "token",
    "secret",
    "bearer",
    "apikey",
    "api_key",
    "credential",
];

/// The shortest thing behind a prefix that is taken for a key.
const SHORTEST_KEY: usize = 16;

/// The text with `[redacted]` for everything that looks like a secret.
pub fn redact(text: &str) -> String {
    let text = without_private_keys(text);
    let mut clean = String::with_capacity(text.len());
    let mut before = String::new();
    let mut rest = text.as_str();
    while let Some(start) = rest.find(|c: char| !is_gap(c)) {
        clean.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find(is_gap).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        clean.push_str(&cleaned(word, &before));
        if !matches!(word, "is" | "was" | ":" | "=" | "to") {
            before = word.trim_end_matches([':', '=']).to_lowercase();
        }
        rest = after;
    }
    clean.push_str(rest);
    clean
}

fn is_gap(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '"' | '\'' | '`' | ',' | ';' | '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | '|'
        )
}

/// One word, or what is left of it.
fn cleaned(word: &str, before: &str) -> String {
    let bare = word.trim_end_matches(['.', '!', '?', ':']);
    let tail = &word[bare.len()..];
    if looks_like_key(bare) || (is_said(before) && could_be_secret(bare)) {
        return format!("{REDACTED}{tail}");
    }
    if let Some((scheme, rest)) = bare.split_once("://")
        && let Some((login, place)) = rest.split_once('@')
        && let Some((user, _)) = login.split_once(':')
    {
        return format!("{scheme}://{user}:{REDACTED}@{place}{tail}");
    }
    if let Some(at) = bare.find(['=', ':']) {
        let (name, value) = (&bare[..at], &bare[at + 1..]);
        let is_value = looks_like_key(value) || (is_said(&name.to_lowercase()) && value.len() >= 6);
        if is_value {
            return format!("{name}{}{REDACTED}{tail}", &bare[at..=at]);
        }
    }
    word.to_owned()
}

fn is_said(name: &str) -> bool {
    SAID.iter().any(|word| name.ends_with(word)) || name.ends_with("_key") || name.ends_with("-key")
}

/// Whether something behind a word like `password` may be one, and not the rest of a sentence.
fn could_be_secret(word: &str) -> bool {
    let has = |test: fn(char) -> bool| word.chars().any(test);
    let is_mixed = has(|c| c.is_ascii_digit()) || has(|c| c.is_ascii_punctuation());
    word.chars().count() >= 6 && is_mixed && has(char::is_alphabetic)
}

fn looks_like_key(word: &str) -> bool {
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+' | '=');
    if !word.chars().all(is_plain) {
        return false;
    }
    let is_prefixed = PREFIXES.iter().any(|prefix| {
        word.strip_prefix(prefix)
            .is_some_and(|rest| rest.len() >= SHORTEST_KEY.min(20 - prefix.len().min(8)))
            && word.len() >= SHORTEST_KEY
    });
    is_prefixed || is_random(word)
}

/// Long, of small and large letters and digits in turn, and neither a path nor a name.
fn is_random(word: &str) -> bool {
    let bare = word.trim_end_matches('=');
    if bare.len() < 32 || bare.contains(['.', '-']) {
        return false;
    }
    let kind = |c: char| match c {
        'a'..='z' => 0,
        'A'..='Z' => 1,
        '0'..='9' => 2,
        _ => 3,
    };
    let kinds: Vec<u8> = bare.chars().map(kind).collect();
    let changes = kinds.windows(2).filter(|pair| pair[0] != pair[1]).count();
    [0, 1, 2].iter().all(|kind| kinds.contains(kind)) && changes * 4 >= bare.len()
}

/// Takes out whole blocks of private keys.
fn without_private_keys(text: &str) -> String {
    const BEGIN: &str = "-----BEGIN ";
    const END: &str = "-----END ";
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(BEGIN) {
        let head = rest[start..].lines().next().unwrap_or_default();
        if !head.contains("PRIVATE KEY") {
            let next = start + BEGIN.len();
            clean.push_str(&rest[..next]);
            rest = &rest[next..];
            continue;
        }
        clean.push_str(&rest[..start]);
        clean.push_str(REDACTED);
        let block = &rest[start + BEGIN.len()..];
        rest = match block.find(END).map(|at| &block[at + END.len()..]) {
            Some(after) => after.find("-----").map_or("", |at| &after[at + 5..]),
            None => "",
        };
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn secrets_go_and_the_sentence_stays() {
        for (said, kept) in [
            ("use sk-abcdefghijklmnop123456 now", "use [redacted] now"),
            ("token: ghp_0123456789abcdefghijABCDEFGHIJ456789.", "token: [redacted]."),
            ("my password is hunter2!", "my password is [redacted]!"),
            ("API_KEY=abc123def", "API_KEY=[redacted]"),
            ("postgres://joe:s3cr3t@db/x", "postgres://joe:[redacted]@db/x"),
            ("say \"AKIAIOSFODNN7EXAMPLE\"", "say \"[redacted]\""),
            (
                "a -----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY----- b",
                "a [redacted] b",
            ),
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
        ] {
            assert_eq!(redact(said), said);
        }
    }

    proptest! {
        #[test]
        fn any_text_can_be_looked_at(text in any::<String>()) {
            redact(&text);
        }
    }
}
