//! Secrets made from what providers publish about theirs: the beginning, the alphabet, the length. The data are made up.

use super::random::{
    ALNUM, BASE32, BASE58, BASE64, DIGITS, HEX, LOWER, LOWER_DIGITS, Random, UPPER, UPPER_DIGITS,
    URL_SAFE,
};

/// A secret of one provider.
pub(super) struct Maker {
    pub(super) label: &'static str,
    pub(super) make: fn(&mut Random) -> String,
}

fn long(random: &mut Random, start: &str, letters: &str, count: usize) -> String {
    format!("{start}{}", random.of(letters, count))
}

/// Those that can be told by their form alone.
#[rustfmt::skip] // One provider a row reads as a table.
pub(super) const PREFIXED: &[Maker] = &[
    Maker { label: "github classic", make: |r| { let s = *r.pick(&["ghp_", "gho_", "ghu_", "ghs_", "ghr_"]); long(r, s, ALNUM, 36) } },
    Maker { label: "github fine-grained", make: |r| { let a = r.of(ALNUM, 22); let b = r.of(ALNUM, 59); format!("github_pat_{a}_{b}") } },
    Maker { label: "gitlab personal", make: |r| long(r, "glpat-", URL_SAFE, 20) },
    Maker { label: "gitlab deploy", make: |r| long(r, "gldt-", URL_SAFE, 20) },
    Maker { label: "gitlab runner", make: |r| long(r, "glrt-", URL_SAFE, 20) },
    Maker { label: "openai project", make: |r| long(r, "sk-proj-", URL_SAFE, 124) },
    Maker { label: "openai classic", make: |r| { let a = r.of(ALNUM, 20); let b = r.of(ALNUM, 20); format!("sk-{a}T3BlbkFJ{b}") } },
    Maker { label: "openai service account", make: |r| long(r, "sk-svcacct-", URL_SAFE, 120) },
    Maker { label: "anthropic", make: |r| { let body = r.of(URL_SAFE, 93); format!("sk-ant-api03-{body}AA") } },
    Maker { label: "anthropic admin", make: |r| { let body = r.of(URL_SAFE, 93); format!("sk-ant-admin01-{body}AA") } },
    Maker { label: "openrouter", make: |r| long(r, "sk-or-v1-", HEX, 64) },
    Maker { label: "deepseek", make: |r| long(r, "sk-", HEX, 32) },
    Maker { label: "hugging face", make: |r| { let both = format!("{LOWER}{UPPER}"); long(r, "hf_", &both, 34) } },
    Maker { label: "groq", make: |r| long(r, "gsk_", ALNUM, 52) },
    Maker { label: "xai", make: |r| long(r, "xai-", ALNUM, 80) },
    Maker { label: "perplexity", make: |r| long(r, "pplx-", ALNUM, 48) },
    Maker { label: "replicate", make: |r| long(r, "r8_", ALNUM, 37) },
    Maker { label: "tavily", make: |r| long(r, "tvly-", ALNUM, 32) },
    Maker { label: "nvidia", make: |r| long(r, "nvapi-", URL_SAFE, 64) },
    Maker { label: "langsmith", make: |r| { let a = r.of(HEX, 32); let b = r.of(HEX, 10); format!("lsv2_pt_{a}_{b}") } },
    Maker { label: "voyage", make: |r| long(r, "pa-", URL_SAFE, 43) },
    Maker { label: "aws access key id", make: |r| { let s = *r.pick(&["AKIA", "ASIA"]); long(r, s, BASE32, 16) } },
    Maker { label: "google api", make: |r| long(r, "AIza", URL_SAFE, 35) },
    Maker { label: "google oauth", make: |r| long(r, "ya29.a0", URL_SAFE, 150) },
    Maker { label: "google client secret", make: |r| long(r, "GOCSPX-", URL_SAFE, 28) },
    Maker { label: "azure client secret", make: |r| { let a = r.of(ALNUM, 3); let b = r.of(ALNUM, 34); format!("{a}8Q~{b}") } },
    Maker { label: "alibaba", make: |r| long(r, "LTAI", ALNUM, 20) },
    Maker { label: "tencent", make: |r| long(r, "AKID", ALNUM, 32) },
    Maker { label: "digitalocean personal", make: |r| long(r, "dop_v1_", HEX, 64) },
    Maker { label: "digitalocean oauth", make: |r| long(r, "doo_v1_", HEX, 64) },
    Maker { label: "heroku", make: |r| long(r, "HRKU-AA", URL_SAFE, 58) },
    Maker { label: "fly", make: |r| long(r, "fm2_", BASE64, 120) },
    Maker { label: "netlify", make: |r| long(r, "nfp_", ALNUM, 36) },
    Maker { label: "supabase", make: |r| long(r, "sbp_", HEX, 40) },
    Maker { label: "neon", make: |r| long(r, "napi_", LOWER_DIGITS, 64) },
    Maker { label: "planetscale", make: |r| long(r, "pscale_tkn_", URL_SAFE, 43) },
    Maker { label: "cloudflare origin", make: |r| { let a = r.of(HEX, 24); let b = r.of(HEX, 146); format!("v1.0-{a}-{b}") } },
    Maker { label: "databricks", make: |r| long(r, "dapi", HEX, 32) },
    Maker { label: "tailscale", make: |r| { let a = r.of(ALNUM, 12); let b = r.of(ALNUM, 32); format!("tskey-auth-{a}CNTRL-{b}") } },
    Maker { label: "vault service", make: |r| long(r, "hvs.", URL_SAFE, 95) },
    Maker { label: "vault batch", make: |r| long(r, "hvb.", URL_SAFE, 150) },
    Maker { label: "terraform cloud", make: |r| { let a = r.of(ALNUM, 14); let b = r.of(ALNUM, 67); format!("{a}.atlasv1.{b}") } },
    Maker { label: "pulumi", make: |r| long(r, "pul-", HEX, 40) },
    Maker { label: "doppler", make: |r| long(r, "dp.pt.", ALNUM, 43) },
    Maker { label: "1password service", make: |r| long(r, "ops_eyJ", BASE64, 400) },
    Maker { label: "1password key", make: |r| { let p: Vec<String> = [6, 6, 5, 5, 5, 5].iter().map(|n| r.of(UPPER_DIGITS, *n)).collect(); format!("A3-{}", p.join("-")) } },
    Maker { label: "atlassian", make: |r| long(r, "ATATT3xFfGF0", URL_SAFE, 180) },
    Maker { label: "bitbucket", make: |r| long(r, "ATBB", ALNUM, 32) },
    Maker { label: "npm", make: |r| long(r, "npm_", ALNUM, 36) },
    Maker { label: "pypi", make: |r| long(r, "pypi-AgEIcHlwaS5vcmc", URL_SAFE, 150) },
    Maker { label: "rubygems", make: |r| long(r, "rubygems_", HEX, 48) },
    Maker { label: "crates.io", make: |r| long(r, "cio", ALNUM, 32) },
    Maker { label: "docker", make: |r| long(r, "dckr_pat_", URL_SAFE, 27) },
    Maker { label: "nuget", make: |r| long(r, "oy2", LOWER_DIGITS, 43) },
    Maker { label: "clojars", make: |r| long(r, "CLOJARS_", LOWER_DIGITS, 60) },
    Maker { label: "artifactory", make: |r| long(r, "AKCp", ALNUM, 69) },
    Maker { label: "sonar", make: |r| long(r, "squ_", HEX, 40) },
    Maker { label: "sourcegraph", make: |r| long(r, "sgp_", HEX, 40) },
    Maker { label: "postman", make: |r| { let a = r.of(HEX, 24); let b = r.of(HEX, 34); format!("PMAK-{a}-{b}") } },
    Maker { label: "prefect", make: |r| long(r, "pnu_", ALNUM, 36) },
    Maker { label: "launchdarkly", make: |r| { let id = r.uuid(); format!("sdk-{id}") } },
    Maker { label: "grafana", make: |r| { let a = r.of(ALNUM, 32); let b = r.of(HEX, 8); format!("glsa_{a}_{b}") } },
    Maker { label: "new relic", make: |r| long(r, "NRAK-", UPPER_DIGITS, 27) },
    Maker { label: "sentry", make: |r| long(r, "sntryu_", HEX, 64) },
    Maker { label: "dynatrace", make: |r| { let a = r.of(BASE32, 24); let b = r.of(BASE32, 64); format!("dt0c01.{a}.{b}") } },
    Maker { label: "slack bot", make: |r| { let a = r.of(DIGITS, 12); let b = r.of(DIGITS, 13); let c = r.of(ALNUM, 24); format!("xoxb-{a}-{b}-{c}") } },
    Maker { label: "slack user", make: |r| { let p: Vec<String> = (0..3).map(|_| r.of(DIGITS, 12)).collect(); let c = r.of(HEX, 32); format!("xoxp-{}-{c}", p.join("-")) } },
    Maker { label: "slack app", make: |r| { let a = r.of(UPPER_DIGITS, 11); let b = r.of(DIGITS, 13); let c = r.of(HEX, 64); format!("xapp-1-{a}-{b}-{c}") } },
    Maker { label: "slack webhook", make: |r| { let p: Vec<String> = [9, 11].iter().map(|n| r.of(UPPER_DIGITS, *n)).collect(); let c = r.of(ALNUM, 24); format!("https://hooks.slack.com/services/T{}/B{}/{c}", p[0], p[1]) } },
    Maker { label: "discord webhook", make: |r| { let a = r.of(DIGITS, 18); let b = r.of(URL_SAFE, 68); format!("https://discord.com/api/webhooks/1{a}/{b}") } },
    Maker { label: "discord bot", make: |r| { let a = r.of(ALNUM, 24); let b = r.of(ALNUM, 6); let c = r.of(URL_SAFE, 38); format!("MT{a}.{b}.{c}") } },
    Maker { label: "telegram bot", make: |r| { let a = r.of(DIGITS, 9); let b = r.of(URL_SAFE, 33); format!("7{a}:AA{b}") } },
    Maker { label: "twilio", make: |r| long(r, "SK", HEX, 32) },
    Maker { label: "sendgrid", make: |r| { let a = r.of(URL_SAFE, 22); let b = r.of(URL_SAFE, 43); format!("SG.{a}.{b}") } },
    Maker { label: "mailgun", make: |r| long(r, "key-", HEX, 32) },
    Maker { label: "mailchimp", make: |r| { let a = r.of(HEX, 32); let n = r.between(1, 21); format!("{a}-us{n}") } },
    Maker { label: "brevo", make: |r| { let a = r.of(HEX, 64); let b = r.of(ALNUM, 16); format!("xkeysib-{a}-{b}") } },
    Maker { label: "resend", make: |r| { let a = r.of(ALNUM, 8); let b = r.of(ALNUM, 24); format!("re_{a}_{b}") } },
    Maker { label: "stripe secret", make: |r| long(r, "sk_live_", ALNUM, 24) },
    Maker { label: "stripe restricted", make: |r| long(r, "rk_live_", ALNUM, 99) },
    Maker { label: "stripe webhook", make: |r| long(r, "whsec_", ALNUM, 32) },
    Maker { label: "square", make: |r| long(r, "sq0atp-", URL_SAFE, 22) },
    Maker { label: "braintree", make: |r| { let a = r.of(LOWER_DIGITS, 16); let b = r.of(HEX, 32); format!("access_token$production${a}${b}") } },
    Maker { label: "shopify", make: |r| long(r, "shpat_", HEX, 32) },
    Maker { label: "plaid", make: |r| { let id = r.uuid(); format!("access-production-{id}") } },
    Maker { label: "razorpay", make: |r| long(r, "rzp_live_", ALNUM, 14) },
    Maker { label: "flutterwave", make: |r| { let a = r.of(HEX, 32); format!("FLWSECK-{a}-X") } },
    Maker { label: "shippo", make: |r| long(r, "shippo_live_", HEX, 40) },
    Maker { label: "easypost", make: |r| long(r, "EZAK", ALNUM, 54) },
    Maker { label: "duffel", make: |r| long(r, "duffel_live_", URL_SAFE, 43) },
    Maker { label: "linear", make: |r| long(r, "lin_api_", ALNUM, 40) },
    Maker { label: "notion", make: |r| long(r, "ntn_", ALNUM, 46) },
    Maker { label: "notion classic", make: |r| long(r, "secret_", ALNUM, 43) },
    Maker { label: "airtable", make: |r| { let a = r.of(ALNUM, 14); let b = r.of(HEX, 64); format!("pat{a}.{b}") } },
    Maker { label: "clickup", make: |r| { let a = r.of(DIGITS, 8); let b = r.of(UPPER_DIGITS, 32); format!("pk_{a}_{b}") } },
    Maker { label: "figma", make: |r| long(r, "figd_", URL_SAFE, 40) },
    Maker { label: "dropbox", make: |r| long(r, "sl.", URL_SAFE, 135) },
    Maker { label: "typeform", make: |r| long(r, "tfp_", URL_SAFE, 59) },
    Maker { label: "contentful", make: |r| long(r, "CFPAT-", URL_SAFE, 43) },
    Maker { label: "facebook", make: |r| long(r, "EAA", ALNUM, 180) },
    Maker { label: "hubspot", make: |r| { let id = r.uuid(); format!("pat-na1-{id}") } },
    Maker { label: "age", make: |r| long(r, "AGE-SECRET-KEY-1", UPPER_DIGITS, 58) },
    Maker { label: "bip32", make: |r| long(r, "xprv9s21ZrQH143K", BASE58, 95) },
    Maker { label: "this program", make: |r| long(r, "hermes_", HEX, 48) },
    Maker { label: "json web token", make: |r| { let p: Vec<String> = [36, 120, 43].iter().map(|n| r.of(URL_SAFE, *n)).collect(); format!("eyJ{}.eyJ{}.{}", p[0], p[1], p[2]) } },
    Maker { label: "pem", make: |r| { let k = *r.pick(&["RSA ", "EC ", "", "OPENSSH ", "ENCRYPTED "]); let l: Vec<String> = (0..6).map(|_| r.of(BASE64, 64)).collect(); format!("-----BEGIN {k}PRIVATE KEY-----\n{}\n-----END {k}PRIVATE KEY-----", l.join("\n")) } },
    Maker { label: "pgp", make: |r| { let l: Vec<String> = (0..4).map(|_| r.of(BASE64, 64)).collect(); format!("-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{}\n-----END PGP PRIVATE KEY BLOCK-----", l.join("\n")) } },
];

/// Those that only the words before them tell: the words, and the secret.
pub(super) struct NamedMaker {
    pub(super) label: &'static str,
    pub(super) make: fn(&mut Random) -> (String, String),
}

fn password(random: &mut Random) -> String {
    let word = *random.pick(&["Falcon", "mango", "Tiger", "sunset", "Rocket", "violet", "Banjo"]);
    let sign = *random.pick(&["!", "#", "", "$", "*", "?"]);
    format!("{word}{}{sign}{}", random.of(DIGITS, 3), random.of(LOWER, 3))
}

fn named(random: &mut Random, names: &[&str], value: String) -> (String, String) {
    (format!("{} ", random.pick(names)), value)
}

#[rustfmt::skip]
pub(super) const NAMED: &[NamedMaker] = &[
    NamedMaker { label: "password said", make: |r| { let p = password(r); named(r, &["my password is", "the Wi-Fi password is", "password:", "new password was"], p) } },
    NamedMaker { label: "password in env", make: |r| { let p = password(r); let n = *r.pick(&["DB_PASSWORD=", "PGPASSWORD=", "password=", "MYSQL_PWD="]); (n.to_owned(), p) } },
    NamedMaker { label: "password in other languages", make: |r| { let p = password(r); named(r, &["Mein Passwort ist", "Le mot de passe est", "La contraseña es"], p) } },
    NamedMaker { label: "aws secret key", make: |r| { let v = r.of(BASE64, 40); let n = *r.pick(&["AWS_SECRET_ACCESS_KEY=", "aws_secret_access_key = ", "secretAccessKey: "]); (n.to_owned(), v) } },
    NamedMaker { label: "azure storage key", make: |r| { let v = r.of(BASE64, 86); ("AccountName=shop;AccountKey=".to_owned(), format!("{v}==")) } },
    NamedMaker { label: "datadog key", make: |r| { let v = r.of(HEX, 32); ("DD_API_KEY=".to_owned(), v) } },
    NamedMaker { label: "uuid key", make: |r| { let v = r.uuid(); named(r, &["api key:", "The API token is", "client_secret:"], v) } },
    NamedMaker { label: "generic token", make: |r| { let v = r.of(ALNUM, 40); named(r, &["token:", "my access token is", "auth_token =", "secret:"], v) } },
    NamedMaker { label: "bearer header", make: |r| { let v = r.of(URL_SAFE, 48); ("Authorization: Bearer ".to_owned(), v) } },
    NamedMaker { label: "basic header", make: |r| { let v = r.of(BASE64, 32); ("authorization: Basic ".to_owned(), v) } },
    NamedMaker { label: "login in an address", make: |r| { let v = r.of(ALNUM, 14); let s = *r.pick(&["postgres://app:", "mysql://root:", "https://ci-bot:", "amqp://guest:"]); (s.to_owned(), format!("{v}@")) } },
    NamedMaker { label: "pin", make: |r| { let v = r.of(DIGITS, 4); named(r, &["my PIN is", "the door code is", "PIN:", "alarm code is"], v) } },
    NamedMaker { label: "card", make: card },
    NamedMaker { label: "npmrc", make: |r| { let v = r.uuid(); ("//registry.example.org/:_authToken=".to_owned(), v) } },
];

/// A card number with its check digit.
fn card(random: &mut Random) -> (String, String) {
    let mut digits: Vec<u32> = vec![4];
    digits.extend((0..14).map(|_| random.below(10) as u32));
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, d)| {
            if at % 2 == 0 {
                let two = d * 2;
                if two > 9 { two - 9 } else { two }
            } else {
                *d
            }
        })
        .sum();
    digits.push((10 - sum % 10) % 10);
    let text: String = digits.iter().map(u32::to_string).collect();
    let grouped = (0..4).map(|at| &text[at * 4..at * 4 + 4]).collect::<Vec<_>>().join(" ");
    let shown = if random.below(2) == 0 { grouped } else { text };
    ("my card number is ".to_owned(), shown)
}
