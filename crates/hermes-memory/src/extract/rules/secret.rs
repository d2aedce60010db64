//! Secrets are never kept: words that look like passwords, keys, tokens or card numbers, and sentences about them.

use std::sync::LazyLock;

/// Whether a text says or shows a secret.
pub fn has_secret(text: &str) -> bool {
    names_a_secret(text) || text.split_whitespace().any(is_secret_token) || has_card_number(text)
}

/// What passwords and keys are called.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "password", "passwort", "passphrase", "passcode", "pwd", "api key", "api-key", "apikey",
    "api_key", "secret key", "secret_key", "access key", "access token", "access_token",
    "auth token", "bearer", "private key", "client secret", "client_secret", "pin code",
    "my pin", "pin is", "pin:", "cvv", "cvc", "credit card", "card number", "seed phrase",
    "recovery code", "recovery phrase", "mot de passe", "contraseña", "senha", "ssn",
    "social security", "iban", "2fa code", "token is", "token:", "token=", "license key",
    "webhook secret", "signing secret", "kennwort", "parola d'ordine", "clave de", "door code",
    "alarm code", "verification code", "otp", "passwd", "credentials are", "secret:",
    "secret is",
];

/// For each byte, the names that begin with it.
static BY_FIRST: LazyLock<Vec<Vec<&str>>> = LazyLock::new(|| {
    let mut lists = vec![Vec::new(); 256];
    for name in NAMES {
        lists[usize::from(name.as_bytes()[0])].push(*name);
    }
    lists
});

/// Where the first name of a password or key ends.
fn first_end(lower: &str) -> Option<usize> {
    let lists = &*BY_FIRST;
    let bytes = lower.as_bytes();
    let ends = (0..bytes.len()).flat_map(|at| {
        let names = lists[usize::from(bytes[at])].iter();
        names
            .filter(move |name| bytes[at..].starts_with(name.as_bytes()))
            .map(move |name| at + name.len())
    });
    ends.min()
}

/// Whether a text speaks of a password or key and gives something that can be one.
fn names_a_secret(text: &str) -> bool {
    let lower = text.to_lowercase();
    let Some(at) = first_end(&lower) else { return false };
    // The name alone is no secret: `use a password manager`.
    let rest = &lower[at..];
    let gives = [" is ", ":", "=", " für", " for the", " to ", " 's "]
        .iter()
        .any(|sign| rest.contains(sign));
    gives || rest.split_whitespace().any(looks_random)
}

/// Whether a word has the form of a key, token or password.
pub(super) fn is_secret_token(raw: &str) -> bool {
    const STARTS: &[&str] = &[
        "sk-",
        "sk_",
        "pk_",
        "rk_",
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "github_pat_",
        "glpat-",
        "xoxb-",
        "xoxp-",
        "xoxa-",
        "xapp-",
        "akia",
        "asia",
        "aiza",
        "eyj",
        "hf_",
        "npm_",
        "pypi-",
        "dop_v1_",
        "sg.",
        "whsec_",
        "-----begin",
        "ya29.",
        "shpat_",
        "lin_api_",
        "secret_",
        "age-secret-key",
        "r8_",
        "gsk_",
        "tvly-",
        "pplx-",
    ];
    let word = raw.trim_matches(|c: char| "\"'`.,;:()[]{}<>*“”".contains(c));
    let value = word.rsplit(['=', ':']).next().unwrap_or(word);
    [word, value].iter().any(|part| {
        let lower = part.to_lowercase();
        let has_start = STARTS.iter().any(|start| lower.starts_with(start));
        (has_start
            && part.len() >= 12
            && (lower.chars().any(|c| c.is_ascii_digit()) || part.len() >= 20))
            || is_random(part)
    }) || has_login(word)
}

/// `https://name:password@host`.
fn has_login(word: &str) -> bool {
    let Some((_, rest)) = word.split_once("://") else { return false };
    rest.split('/')
        .next()
        .and_then(|host| host.split_once('@'))
        .is_some_and(|(login, _)| login.contains(':'))
}

/// Long, and of letters in both cases with digits: nothing people say.
fn is_random(word: &str) -> bool {
    const LONG: usize = 20;
    if word.len() < LONG || word.contains(['/', '@']) && word.contains('.') || word.contains("://")
    {
        return false;
    }
    let body = word
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '_' | '-' | '.'));
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let upper = word.chars().filter(char::is_ascii_uppercase).count();
    let lower = word.chars().filter(char::is_ascii_lowercase).count();
    let is_hex = word.len() >= 32 && word.chars().all(|c| c.is_ascii_hexdigit()) && digits > 3;
    let is_uuid = word.len() == 36 && word.matches('-').count() == 4;
    body && !is_uuid && (is_hex || (digits >= 3 && upper >= 3 && lower >= 3))
}

/// A short word that nobody says: letters with digits or signs, as passwords have.
fn looks_random(raw: &str) -> bool {
    let word = raw.trim_matches(|c: char| "\"'`.,;()[]{}<>“”".contains(c));
    let digits = word.chars().any(|c| c.is_ascii_digit());
    let letters = word.chars().any(char::is_alphabetic);
    let signs = word.chars().any(|c| "!@#$%^&*?+=".contains(c));
    word.chars().count() >= 4 && (digits || (signs && letters))
}

/// A run of 13 to 19 digits, in groups or not, that passes the check of card numbers.
fn has_card_number(text: &str) -> bool {
    let mut digits: Vec<u32> = Vec::new();
    let mut gap = 0;
    for c in text.chars().chain(['x']) {
        match c.to_digit(10) {
            Some(digit) => {
                digits.push(digit);
                gap = 0;
            }
            None if matches!(c, ' ' | '-') && gap == 0 && !digits.is_empty() => gap = 1,
            None => {
                if (13..=19).contains(&digits.len()) && passes_check(&digits) {
                    return true;
                }
                digits.clear();
                gap = 0;
            }
        }
    }
    false
}

fn passes_check(digits: &[u32]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| match at % 2 {
            0 => *digit,
            _ if digit * 2 > 9 => digit * 2 - 9,
            _ => digit * 2,
        })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_recognised_and_ordinary_words_are_not() {
        for text in [
            "my password is hunter2",
            "The API key is sk-proj-abc123def456ghi789",
            "use ghp_16C7e42F292c6912E7710c838347Ae178B4a",
            "card 4111 1111 1111 1111 please",
            "postgres://admin:s3cret@db.example.com/app",
            "token: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0",
            "Mein Passwort ist geheim123",
        ] {
            assert!(has_secret(text), "{text}");
        }
        for text in [
            "I use a password manager",
            "My GitHub username is nadia-dev",
            "My number is +351 912 345 678",
            "The repo is github.com/brightcart/atlas-pipeline",
            "Project Atlas uses Python 3.12",
            "We decided to rotate API keys monthly",
        ] {
            assert!(!has_secret(text), "{text}");
        }
    }
}
