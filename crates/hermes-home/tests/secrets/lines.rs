//! Lines without secrets that look as if they had some: hashes, ids, lock files, pictures, code, prose.

use super::random::{ALNUM, BASE64, DIGITS, HEX, LOWER, LOWER_DIGITS, Random, URL_SAFE};

const WORDS: &[&str] = &[
    "the",
    "meeting",
    "moved",
    "to",
    "Tuesday",
    "because",
    "server",
    "was",
    "slow",
    "and",
    "we",
    "need",
    "a",
    "new",
    "plan",
    "for",
    "release",
    "notes",
    "my",
    "sister",
    "lives",
    "in",
    "Lisbon",
    "coffee",
    "budget",
    "draft",
    "please",
    "review",
    "before",
    "Friday",
    "backup",
    "ran",
    "fine",
    "deploy",
    "failed",
    "again",
    "test",
    "passes",
    "locally",
    "keyboard",
    "monkey",
    "token",
    "password",
    "secret",
    "key",
    "keys",
    "tokens",
    "passwords",
    "manager",
    "policy",
];

/// One line without a secret.
pub(super) fn line(random: &mut Random) -> String {
    let make: &[fn(&mut Random) -> String] = &[
        prose,
        hashes,
        ids,
        lock_files,
        pictures,
        code,
        paths,
        numbers,
        about_secrets,
        logs,
        addresses,
        settings,
    ];
    let make = *random.pick(make);
    make(random)
}

fn words(random: &mut Random, count: usize) -> String {
    (0..count).map(|_| *random.pick(WORDS)).collect::<Vec<_>>().join(" ")
}

fn prose(random: &mut Random) -> String {
    let count = random.between(4, 24);
    let end = *random.pick(&[".", "!", "?", "", ":"]);
    format!("{}{end}", words(random, count))
}

fn hashes(random: &mut Random) -> String {
    let hash = {
        let length = *random.pick(&[32, 40, 64, 96, 128]);
        random.of(HEX, length)
    };
    let short = random.of(HEX, 7);
    let base = random.of(BASE64, 43);
    match random.below(7) {
        0 => format!("commit {hash}"),
        1 => format!("{hash}  ./dist/app-1.2.3.tar.gz"),
        2 => format!("sha256:{hash}"),
        3 => format!("index {short}..{} 100644", random.of(HEX, 7)),
        4 => format!("Digest: sha256-{base}="),
        5 => format!("SHA256:{base} alice@laptop (ED25519)"),
        _ => format!("ETag: \"{hash}\""),
    }
}

fn ids(random: &mut Random) -> String {
    let id = random.uuid();
    let number = random.of(DIGITS, 12);
    match random.below(7) {
        0 => format!("request_id={id}"),
        1 => format!("\"id\": \"{id}\","),
        2 => format!("session {id} closed after 12 s"),
        3 => format!("order 4{number} shipped"),
        4 => format!("arn:aws:iam::{number}:role/deploy"),
        5 => format!("trace_id {}", random.of(HEX, 32)),
        _ => format!("/users/{id}/orders/{number}"),
    }
}

fn lock_files(random: &mut Random) -> String {
    let hash = random.of(HEX, 64);
    let base = random.of(BASE64, 86);
    let name = random.of(LOWER, 7);
    match random.below(6) {
        0 => format!("checksum = \"{hash}\""),
        1 => format!("      \"integrity\": \"sha512-{base}==\","),
        2 => format!(
            "  resolved \"https://registry.yarnpkg.com/{name}/-/{name}-4.17.21.tgz#{}\"",
            random.of(HEX, 40)
        ),
        3 => format!(
            "golang.org/x/{name} v0.0.0-20230101120000-{} h1:{}=",
            random.of(HEX, 12),
            random.of(BASE64, 43)
        ),
        4 => format!("    --hash=sha256:{hash} \\"),
        _ => {
            format!("    {{file = \"{name}-2.31.0-py3-none-any.whl\", hash = \"sha256:{hash}\"}},")
        }
    }
}

fn pictures(random: &mut Random) -> String {
    let body = {
        let length = random.between(120, 900);
        random.of(BASE64, length)
    };
    match random.below(4) {
        0 => format!("data:image/png;base64,iVBORw0KGgo{body}="),
        1 => format!("<img src=\"data:image/jpeg;base64,/9j/4AAQSkZJRg{body}\">"),
        2 => body[..76].to_owned(),
        _ => format!("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ{body} alice@laptop"),
    }
}

fn code(random: &mut Random) -> String {
    let name = random.of(LOWER, 6);
    let number = random.between(1, 90_000);
    let lines = [
        format!("let {name} = tokens.iter().map(|token| token.len()).sum::<usize>();"),
        format!("def {name}(password: str, token: Optional[str] = None) -> bool:"),
        "const apiKey = process.env.API_KEY;".to_owned(),
        format!("if (password.length < {number}) throw new Error(\"password is too short\");"),
        "password = getpass.getpass(\"Password: \")".to_owned(),
        "token: ${{ secrets.GITHUB_TOKEN }}".to_owned(),
        format!("max_tokens={number}, temperature=0.2"),
        format!("pub fn {name}_key(&self) -> Option<&SecretKey> {{"),
        "api_key: str = Field(..., description=\"The API key\")".to_owned(),
        "secret_name: my-app-secret".to_owned(),
        format!("primary_key: {name}_id"),
        "PASSWORD_HASHERS = [\"django.contrib.auth.hashers.Argon2PasswordHasher\"]".to_owned(),
        format!("token = lexer.next_token() // {number}"),
        "Authorization: Bearer <token>".to_owned(),
        "curl -H \"Authorization: Bearer $TOKEN\" https://api.example.com/v1/items".to_owned(),
        "postgres://user:password@localhost:5432/app".to_owned(),
        "auth_token = request.headers.get(\"X-Auth-Token\")".to_owned(),
        format!("design token: color.{name}.500"),
        "password: \"{{ vault_db_password }}\"".to_owned(),
        format!("refresh_token = self.store.load_refresh_token({name})"),
        format!("#define {}_PIN 13", name.to_uppercase()),
        "sk-learn and sk-image are installed".to_owned(),
        format!("assert_eq!(token.kind, TokenKind::Ident); // {number}"),
        "export AWS_SECRET_ACCESS_KEY=<your key here>".to_owned(),
    ];
    random.pick(&lines).clone()
}

fn paths(random: &mut Random) -> String {
    let name = random.of(LOWER, 8);
    let hash = random.of(HEX, 16);
    match random.below(6) {
        0 => format!(
            "/home/{name}/projects/app/src/secret_manager/token_store.rs:{}",
            random.between(1, 900)
        ),
        1 => format!("target/debug/deps/{name}-{hash}.rlib"),
        2 => format!("C:\\Users\\{name}\\AppData\\Local\\Temp\\{hash}.tmp"),
        3 => format!("~/.ssh/id_ed25519_{name}.pub"),
        4 => format!(
            "node_modules/.pnpm/{name}@4.{}.0/node_modules/{name}/dist/index.js",
            random.below(40)
        ),
        _ => format!("keys are in /etc/{name}/tls/private.pem"),
    }
}

fn numbers(random: &mut Random) -> String {
    match random.below(7) {
        0 => format!(
            "{}.{} ms, p99 {} ms",
            random.between(1, 900),
            random.between(0, 99),
            random.between(1, 9_000)
        ),
        1 => format!(
            "+351 9{} {} {}",
            random.of(DIGITS, 2),
            random.of(DIGITS, 3),
            random.of(DIGITS, 3)
        ),
        2 => format!(
            "2026-{:02}-{:02}T12:34:56.{}Z",
            random.between(1, 12),
            random.between(1, 28),
            random.of(DIGITS, 6)
        ),
        3 => format!("17{}", random.of(DIGITS, 17)),
        4 => format!("invoice {} total {} EUR", random.of(DIGITS, 16), random.between(10, 99_999)),
        5 => format!(
            "192.168.{}.{}:{}",
            random.below(255),
            random.below(255),
            random.between(1_000, 65_000)
        ),
        _ => format!(
            "{} {} {} {}",
            random.of(DIGITS, 4),
            random.of(DIGITS, 3),
            random.of(DIGITS, 5),
            random.of(DIGITS, 2)
        ),
    }
}

fn about_secrets(random: &mut Random) -> String {
    let days = random.between(7, 365);
    let lines = [
        format!("We rotate the API key every {days} days."),
        "The password is required and must have at least 12 characters.".to_owned(),
        "Please reset my password, I forgot it again.".to_owned(),
        "The password is stored in 1Password under Infrastructure.".to_owned(),
        format!("The token expires after {days} minutes."),
        "Never put an API key into the repository.".to_owned(),
        "My password manager is Bitwarden.".to_owned(),
        format!("It used {} tokens for the summary.", days * 37),
        "The secret to good bread is time.".to_owned(),
        "Is the access token sent in a header or in a cookie?".to_owned(),
        "The private key never leaves the laptop; the public key is on the server.".to_owned(),
        "password: must contain a digit and a sign".to_owned(),
        "The card has a limit of 2000 euros a month.".to_owned(),
        "I need a PIN of four digits for the new card.".to_owned(),
        "token is invalid".to_owned(),
        "The passphrase is wrong, try again".to_owned(),
        "The encryption key is derived with Argon2id.".to_owned(),
        "the client secret is rotated by Terraform".to_owned(),
        format!("password is {days} characters long"),
        "Our password policy is strict.".to_owned(),
    ];
    random.pick(&lines).clone()
}

fn logs(random: &mut Random) -> String {
    let hash = random.of(HEX, 12);
    match random.below(5) {
        0 => format!(
            "[INFO] 12:0{}:11 worker-{} finished job {hash}",
            random.below(9),
            random.below(64)
        ),
        1 => format!(
            "error[E0308]: mismatched types --> src/{}.rs:{}:{}",
            random.of(LOWER, 6),
            random.between(1, 999),
            random.between(1, 80)
        ),
        2 => format!("Pulling from library/postgres {hash}: Pull complete"),
        3 => format!(
            "pod/{}-{}-{} 1/1 Running 0 5d",
            random.of(LOWER, 6),
            random.of(LOWER_DIGITS, 10),
            random.of(LOWER_DIGITS, 5)
        ),
        _ => {
            format!("GET /api/v1/items?page={} 200 {}ms", random.below(99), random.between(1, 900))
        }
    }
}

fn addresses(random: &mut Random) -> String {
    let name = random.of(LOWER, 8);
    match random.below(6) {
        0 => format!("https://example.com/{name}?utm_source=mail&id={}", random.of(DIGITS, 8)),
        1 => format!("{name}@example.org wrote on Monday"),
        2 => format!("https://www.youtube.com/watch?v={}", random.of(URL_SAFE, 11)),
        3 => format!("https://docs.google.com/document/d/{}/edit", random.of(URL_SAFE, 44)),
        4 => format!("git@github.com:{name}/app.git"),
        _ => format!(
            "https://cdn.example.net/{}/{name}.min.js?v={}",
            random.of(HEX, 20),
            random.of(ALNUM, 8)
        ),
    }
}

fn settings(random: &mut Random) -> String {
    let name = random.of(LOWER, 6);
    let lines = [
        format!("  image: registry.example.com/{name}@sha256:{}", random.of(HEX, 64)),
        format!("uid: {}", random.of(LOWER_DIGITS, 12)),
        format!("version = \"{}.{}.{}\"", random.below(9), random.below(40), random.below(90)),
        "token_file: /run/secrets/api-token".to_owned(),
        "password_file: /etc/app/password".to_owned(),
        format!("cache_key: {name}-v2-linux-x86_64"),
        format!("sort_key: created_at_{name}"),
        "api_key_env: OPENAI_API_KEY".to_owned(),
        format!("key: {name}"),
        format!("foreign_key: {name}_fk_2"),
        "secret: false".to_owned(),
        "password: null".to_owned(),
        format!("ANDROID_KEYSTORE=/keys/{name}.jks"),
        "PWD=/home/ci/build-2".to_owned(),
        format!("topic_key: orders.{name}.v1"),
    ];
    random.pick(&lines).clone()
}
