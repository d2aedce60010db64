//! Whether a word can be a secret: how random it is, whether it is a placeholder, whether a number checks.

/// How random a text is, in bits for each of its bytes.
pub(super) fn entropy(text: &str) -> f32 {
    let mut counts = [0_u16; 256];
    for byte in text.bytes() {
        counts[usize::from(byte)] = counts[usize::from(byte)].saturating_add(1);
    }
    let length = text.len() as f32;
    let part = |count: &u16| {
        let share = f32::from(*count) / length;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(part).sum()
}

/// What people write where a secret would stand.
const PLACEHOLDERS: &[&str] = &[
    "xxxx",
    "****",
    "....",
    "____",
    "your",
    "example",
    "placeholder",
    "changeme",
    "change_me",
    "change-me",
    "redacted",
    "insert",
    "replace",
    "dummy",
    "todo",
    "goes-here",
    "goes_here",
    "undefined",
    "process.env",
    "os.environ",
    "getenv",
    "secrets.",
    "[secret: ",
    "${",
    "{{",
    "%s",
    "%(",
    "#{",
    "…",
    "not_set",
    "notset",
    "00000000",
    "base64",
    "sha256",
    "sha512",
    "bcrypt",
    "argon2",
    "utf-8",
    "utf8",
    "md5",
    "oauth2",
    "auth0",
    "1password",
    "x509",
    "ed25519",
];

/// Whether something only stands for a secret, or is a piece of code that fetches one.
pub(super) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    PLACEHOLDERS.iter().any(|sign| lower.contains(sign))
        || value.starts_with(['$', '<', '{', '@', '&', '%'])
            && value[1..].chars().all(|c| c.is_ascii_alphanumeric() || "_{}<>()-.%".contains(c))
}

/// Whether a word can be a password: nothing that people say, no path, no number.
pub(super) fn can_be_password(value: &str) -> bool {
    let letters = value.chars().filter(|c| c.is_alphabetic()).count();
    let digits = value.chars().filter(char::is_ascii_digit).count();
    let signs = value.chars().filter(|c| "!@#$%^&*?+=~|\\".contains(*c)).count();
    let length = value.chars().count();
    let is_digits_alone = letters == 0 && signs == 0 && digits >= 6 && length == digits;
    let is_mixed = letters > 0 && (digits > 0 || signs > 0);
    length >= 6 && (is_mixed || is_digits_alone) && !is_ordinary(value)
}

/// Whether a word can be a key or a token: long, of letters and digits, and random.
pub(super) fn can_be_key(value: &str) -> bool {
    let body = value.trim_end_matches('=');
    let plain = |c: char| c.is_ascii_alphanumeric() || "+/_.~-|:$%".contains(c);
    let digits = body.bytes().filter(u8::is_ascii_digit).count();
    let letters = body.bytes().filter(u8::is_ascii_alphabetic).count();
    body.len() >= 16
        && body.chars().all(plain)
        && (digits >= 2 || digits == 1 && entropy(body) >= 4.0)
        && letters >= 4
        && entropy(body) >= 3.0
        && !is_ordinary(body)
        && !is_made_of_words(body)
}

/// A long word of all three kinds of characters, for places where nothing but a word nearby speaks for a secret.
pub(super) fn is_random(value: &str) -> bool {
    let body = value.trim_end_matches('=');
    let count = |test: fn(&u8) -> bool| body.bytes().filter(test).count();
    let (upper, lower) = (count(u8::is_ascii_uppercase), count(u8::is_ascii_lowercase));
    body.len() >= 24
        && count(u8::is_ascii_digit) >= 3
        && upper >= 4
        && lower >= 4
        && entropy(body) >= 4.0
        && !body.starts_with("AAAA")
        && !is_ordinary(body)
        && !is_made_of_words(body)
}

/// Paths, addresses, versions, times and names of files.
fn is_ordinary(value: &str) -> bool {
    const ENDS: &[&str] = &[
        ".rs", ".py", ".js", ".ts", ".md", ".json", ".yaml", ".yml", ".toml", ".txt", ".pem",
        ".key", ".env", ".sh", ".go", ".rb", ".java", ".html", ".css", ".com", ".org", ".net",
        ".io", ".dev", ".lock",
    ];
    let lower = value.to_ascii_lowercase();
    let is_path = value.starts_with(['/', '~', '.']) && value[1..].contains('/')
        || value.contains("://")
        || value.contains("./")
        || value.contains("::");
    let is_hash = ["sha1-", "sha256-", "sha384-", "sha512-", "sha256:", "sha1:", "ssh-"];
    is_path
        || ENDS.iter().any(|end| lower.ends_with(end))
        || is_hash.iter().any(|start| lower.starts_with(start))
        || is_time_or_version(value)
}

fn is_time_or_version(value: &str) -> bool {
    let is_sign = |c: char| c.is_ascii_digit() || ".:-+TZv".contains(c);
    value.contains(['.', ':', '-']) && value.chars().all(is_sign)
}

/// Whether a word is made of words that are joined: `max_tokens_per_minute_2`, `refresh-token-v2-handler`.
fn is_made_of_words(value: &str) -> bool {
    let parts: Vec<&str> =
        value.split(['_', '-', '.', '/', ':']).filter(|part| !part.is_empty()).collect();
    let is_word = |part: &&&str| {
        let letters = part.bytes().filter(u8::is_ascii_alphabetic).count();
        let digits = part.len() - letters;
        part.len() <= 14 && (letters == 0 && digits <= 4 || digits <= 2 && has_one_case(part))
    };
    parts.len() >= 3 && parts.iter().filter(is_word).count() == parts.len()
}

/// Small letters, large letters, or a large one first.
fn has_one_case(part: &str) -> bool {
    let rest = part.get(1..).unwrap_or_default();
    !rest.bytes().any(|byte| byte.is_ascii_uppercase())
        || !part.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Whether digits pass the check of card numbers.
pub(super) fn passes_luhn(digits: &[u8]) -> bool {
    let double = |digit: u8| if digit * 2 > 9 { digit * 2 - 9 } else { digit * 2 };
    let worth =
        |(at, digit): (usize, &u8)| u32::from(if at % 2 == 0 { *digit } else { double(*digit) });
    digits.iter().rev().enumerate().map(worth).sum::<u32>().is_multiple_of(10)
}

/// Whether the digits are those of a card: a known beginning with its length, and the check.
pub(super) fn is_card(digits: &[u8]) -> bool {
    let first = |count: usize| {
        digits.iter().take(count).fold(0_u32, |sum, digit| sum * 10 + u32::from(*digit))
    };
    let fits = match digits.len() {
        13 | 19 => first(1) == 4,
        14 => matches!(first(2), 36 | 38) || matches!(first(3), 300..=305),
        15 => matches!(first(2), 34 | 37),
        16 => {
            matches!(first(1), 4)
                || matches!(first(2), 51..=55 | 65 | 35)
                || matches!(first(4), 2221..=2720 | 6011)
        }
        _ => false,
    };
    fits && passes_luhn(digits)
}

/// How long an account number is in a country.
fn iban_length(country: &str) -> Option<usize> {
    const LENGTHS: &[(&str, usize)] = &[
        ("NO", 15),
        ("BE", 16),
        ("DK", 18),
        ("FI", 18),
        ("NL", 18),
        ("MK", 19),
        ("SI", 19),
        ("AT", 20),
        ("BA", 20),
        ("EE", 20),
        ("LT", 20),
        ("LU", 20),
        ("CH", 21),
        ("HR", 21),
        ("LV", 21),
        ("LI", 21),
        ("BG", 22),
        ("DE", 22),
        ("GB", 22),
        ("GE", 22),
        ("IE", 22),
        ("ME", 22),
        ("RS", 22),
        ("AE", 23),
        ("GI", 23),
        ("IL", 23),
        ("CZ", 24),
        ("ES", 24),
        ("MD", 24),
        ("RO", 24),
        ("SA", 24),
        ("SE", 24),
        ("SK", 24),
        ("TN", 24),
        ("PT", 25),
        ("IS", 26),
        ("TR", 26),
        ("FR", 27),
        ("GR", 27),
        ("IT", 27),
        ("MC", 27),
        ("SM", 27),
        ("AL", 28),
        ("AZ", 28),
        ("CY", 28),
        ("HU", 28),
        ("LB", 28),
        ("PL", 28),
        ("UA", 29),
        ("BR", 29),
        ("MT", 31),
    ];
    LENGTHS.iter().find(|(code, _)| *code == country).map(|(_, length)| *length)
}

/// How many bytes of the text, which begins with two letters and two digits, are an account number.
pub(super) fn iban(text: &str) -> Option<usize> {
    let length = iban_length(text.get(..2)?)?;
    let mut plain = String::with_capacity(length);
    let mut end = 0;
    for (at, c) in text.char_indices() {
        match c {
            ' ' if plain.len().is_multiple_of(4) && plain.len() < length => {}
            c if c.is_ascii_uppercase() || c.is_ascii_digit() => plain.push(c),
            _ => return None,
        }
        if plain.len() == length {
            end = at + 1;
            break;
        }
    }
    let goes_on = text[end..].starts_with(|c: char| c.is_ascii_alphanumeric());
    if plain.len() != length || goes_on {
        return None;
    }
    let (head, tail) = plain.split_at(4);
    let remainder = tail.bytes().chain(head.bytes()).fold(0_u32, |sum, byte| match byte {
        b'0'..=b'9' => (sum * 10 + u32::from(byte - b'0')) % 97,
        _ => (sum * 100 + u32::from(byte - b'A') + 10) % 97,
    });
    (remainder == 1).then_some(end)
}
