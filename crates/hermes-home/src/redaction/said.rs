//! The names of passwords and keys, and what is said behind them: `password is …`, `api_key=…`, `Authorization: …`.

/// What kind of value a name announces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Password,
    Key,
    /// A key that is often a UUID as well.
    NamedKey,
    Pin,
    Phrase,
    SocialSecurity,
    Card,
}

/// The names, in small letters, what they announce, and what stands for it.
#[rustfmt::skip] // One name a row reads as a table.
pub(super) const NAMES: &[(&str, Family, &str)] = &[
    ("password", Family::Password, "password"),
    ("passwort", Family::Password, "password"),
    ("kennwort", Family::Password, "password"),
    ("passwd", Family::Password, "password"),
    ("passphrase", Family::Password, "password"),
    ("passcode", Family::Password, "password"),
    ("pwd", Family::Password, "password"),
    ("mot de passe", Family::Password, "password"),
    ("contraseña", Family::Password, "password"),
    ("senha", Family::Password, "password"),
    ("parola d'ordine", Family::Password, "password"),
    ("api key", Family::NamedKey, "api-key"),
    ("api-key", Family::NamedKey, "api-key"),
    ("api_key", Family::NamedKey, "api-key"),
    ("apikey", Family::NamedKey, "api-key"),
    ("api token", Family::NamedKey, "api-key"),
    ("api-token", Family::NamedKey, "api-key"),
    ("api_token", Family::NamedKey, "api-key"),
    ("apitoken", Family::NamedKey, "api-key"),
    ("access key", Family::NamedKey, "access-key"),
    ("access_key", Family::NamedKey, "access-key"),
    ("accesskey", Family::NamedKey, "access-key"),
    ("access token", Family::NamedKey, "token"),
    ("access_token", Family::NamedKey, "token"),
    ("accesstoken", Family::NamedKey, "token"),
    ("auth token", Family::NamedKey, "token"),
    ("auth_token", Family::NamedKey, "token"),
    ("authtoken", Family::NamedKey, "token"),
    ("refresh token", Family::NamedKey, "token"),
    ("refresh_token", Family::NamedKey, "token"),
    ("secret key", Family::NamedKey, "secret-key"),
    ("secret_key", Family::NamedKey, "secret-key"),
    ("secretkey", Family::NamedKey, "secret-key"),
    ("secret-key", Family::NamedKey, "secret-key"),
    ("client secret", Family::NamedKey, "client-secret"),
    ("client_secret", Family::NamedKey, "client-secret"),
    ("client-secret", Family::NamedKey, "client-secret"),
    ("clientsecret", Family::NamedKey, "client-secret"),
    ("signing secret", Family::Key, "secret-key"),
    ("signing_secret", Family::Key, "secret-key"),
    ("signing key", Family::Key, "secret-key"),
    ("signing_key", Family::Key, "secret-key"),
    ("webhook secret", Family::Key, "secret-key"),
    ("webhook_secret", Family::Key, "secret-key"),
    ("encryption key", Family::Key, "secret-key"),
    ("encryption_key", Family::Key, "secret-key"),
    ("private key", Family::Key, "secret-key"),
    ("private_key", Family::Key, "secret-key"),
    ("privatekey", Family::Key, "secret-key"),
    ("account key", Family::Key, "secret-key"),
    ("accountkey", Family::Key, "secret-key"),
    ("account_key", Family::Key, "secret-key"),
    ("license key", Family::Key, "license-key"),
    ("licence key", Family::Key, "license-key"),
    ("license_key", Family::Key, "license-key"),
    ("client-key-data", Family::Key, "secret-key"),
    ("secret_key_base", Family::Key, "secret-key"),
    ("_key", Family::Key, "secret-key"),
    ("secret", Family::Key, "secret"),
    ("token", Family::Key, "token"),
    ("credential", Family::Key, "secret"),
    ("credentials", Family::Key, "secret"),
    ("pin", Family::Pin, "pin"),
    ("pin code", Family::Pin, "pin"),
    ("door code", Family::Pin, "pin"),
    ("alarm code", Family::Pin, "pin"),
    ("verification code", Family::Pin, "pin"),
    ("security code", Family::Pin, "pin"),
    ("2fa code", Family::Pin, "pin"),
    ("otp", Family::Pin, "pin"),
    ("cvv", Family::Pin, "pin"),
    ("cvc", Family::Pin, "pin"),
    ("seed phrase", Family::Phrase, "seed-phrase"),
    ("recovery phrase", Family::Phrase, "seed-phrase"),
    ("mnemonic", Family::Phrase, "seed-phrase"),
    ("ssn", Family::SocialSecurity, "social-security-number"),
    ("social security", Family::SocialSecurity, "social-security-number"),
    ("card", Family::Card, "card-number"),
    ("visa", Family::Card, "card-number"),
    ("mastercard", Family::Card, "card-number"),
    ("amex", Family::Card, "card-number"),
];

/// How a value follows its name: `is`, `:`, `=`, in quotes or not.
pub(super) const GIVEN: &str = r#"(?i)^["'`\])*]{0,4}[ \t]{0,3}(?P<sign>=>|:=|={1,3}|->|:|\bis\b:?|\bwas\b|\bist\b|\best\b|\bes\b|\bé\b|\bto\b)[ \t]{0,3}(?:\n[ \t]{0,8})?(?:\\?["'`]|«|“)?(?:(?:bearer|basic|token)[ \t]+)?"#;

/// What is given without quotes.
pub(super) const BARE: &str = r#"^[^\s"'`,;<>(){}\[\]“”«»\\]{3,300}"#;

/// A number after the name of a code.
pub(super) const DIGITS: &str = r"^#?(?P<s>[0-9]{3,10})\b";

/// The words of a seed.
pub(super) const PHRASE: &str = r"(?i)^[ \t]{0,2}(?:is|are|was)?[ \t]{0,2}[:=]?\s{0,3}(?P<s>[a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){11,23})";

/// A social security number, with what may stand before it.
pub(super) const SOCIAL_SECURITY: &str = r"(?i)^(?:[ \t]*(?:number|no\.?|nr\.?))?[ \t]*(?:is|:|=|#)?[ \t]*(?P<s>[0-9]{3}[- ][0-9]{2}[- ][0-9]{4})\b";

/// Words behind `password is` that tell something about it.
#[rustfmt::skip]
pub(super) const ABOUT: &[&str] = &[
    "required", "wrong", "correct", "incorrect", "invalid", "valid", "expired", "stored", "hashed", "weak", "strong",
    "empty", "missing", "optional", "needed", "secret", "safe", "secure", "insecure", "unknown", "fine", "good",
    "bad", "old", "new", "changed", "unchanged", "reset", "lost", "forgotten", "leaked", "compromised", "encrypted",
    "protected", "disabled", "enabled", "short", "long", "here", "there", "okay", "ready", "unset", "null", "none",
    "true", "false", "private", "public", "visible", "hidden", "printed", "logged", "rotated", "shared", "accepted",
    "rejected", "refused", "masked", "redacted", "everything", "nothing", "something", "easy", "hard", "simple",
    "complex", "unique", "random", "temporary", "permanent", "blank", "set", "gone", "below", "above", "attached",
    "important", "sensitive", "confidential", "case-sensitive", "different", "same", "similar", "available",
];

/// Forms that need no name: headers, flags, logins in addresses. What is called `s` is the secret.
#[rustfmt::skip]
pub(super) const SENTENCES: &[(&[&str], &str, &str)] = &[
    (&["://"], "login", r#"^://[^\s/@:'"<>]{0,128}:(?P<s>[^\s@/'"<>?#]{1,256})@[A-Za-z0-9\[_]"#),
    (&["authorization"], "authorization", r#"(?i)^authorization(?:\\?["'])?[ \t]*[:=][ \t]*(?:\\?["'])?(?:bearer|basic|token|apikey|digest)[ \t]+(?P<s>[A-Za-z0-9+/_.=~|:-]{8,2000})"#),
    (&["bearer "], "bearer-token", r"(?i)^bearer +(?P<s>[A-Za-z0-9+/_.=~|-]{20,2000})"),
    (&["machine "], "password", r"(?i)^machine\s+\S{1,200}\s+login\s+\S{1,200}\s+password\s+(?P<s>\S{3,200})"),
    (&[" -u "], "login", r#"^ -u ["']?[^\s:'"]{1,100}:(?P<s>[^\s'"]{4,200})"#),
    (&["--password", "--passwd", "--pass"], "password", r#"^--pass(?:word|wd)?[ =]["']?(?P<s>[^\s"'<>\[\]$-][^\s"'<>\[\]]{3,200})"#),
    (&["--token", "--api-key", "--apikey", "--secret", "--auth-token", "--access-token"], "token", r#"^--[a-z-]{5,14}[ =]["']?(?P<s>[A-Za-z0-9+/_.=~-]{12,400})"#),
];
