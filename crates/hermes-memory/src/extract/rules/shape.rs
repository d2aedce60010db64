//! Facts told by the shape of a clause rather than by fixed words: numbers and handles, days by which
//! something is due, rules for all that is to come.

use jiff::civil::Date;

use super::clause::{has_any, starts_with_any};
use super::dates;
use crate::reader::words::Word;

/// What an account is called.
#[rustfmt::skip]
const ACCOUNTS: &[&str] = &[
    "account", "alias", "bluesky", "callsign", "cell", "codeberg", "discord", "e-mail", "ein", "email", "extension",
    "github", "gitlab", "gamertag", "handle", "huggingface", "id", "insta", "instagram", "irc", "itch", "kaggle", "linkedin",
    "login", "mail", "mastodon", "matrix", "membership", "mobile", "nick", "nickname", "npm", "number", "orcid", "phone",
    "pypi", "reddit", "signal", "skype", "slack", "steam", "strava", "telegram", "threads", "tiktok", "twitch", "twitter", "user", "userid",
    "username", "vat", "venmo", "whatsapp", "workspace", "youtube", "soundcloud", "bandcamp", "fax", "whatsapp", "paypal", "gravatar", "stackoverflow", "docker",
];

/// Places of work on a computer.
#[rustfmt::skip]
const PLACES: &[&str] = &[
    "app", "apps", "backend", "base", "board", "box", "branch", "bucket", "channel", "cluster", "container", "database", "db", "dev", "device", "domain", "endpoint",
    "env", "environment", "frontend", "gateway", "host", "image", "instance", "laptop", "machine", "machines", "monitoring", "nas", "network", "node", "package",
    "port", "prod", "production", "proxy", "queue", "registry", "repo", "repository", "router", "schema", "sdk", "server", "servers", "staging", "store", "subnet",
    "url", "version", "vm", "vps", "warehouse", "wifi", "wiki", "workstation", "website", "ssid", "printer", "kernel", "runtime", "compiler", "api", "pipeline", "firmware", "vault", "nodes",
];

/// Whether a clause says which machine, database or place of that kind something is.
pub(super) fn is_place_of_work(words: &[Word]) -> bool {
    let Some(verb) = words.iter().position(|word| {
        matches!(
            word.lower.as_str(),
            "is" | "are" | "'s" | "lives" | "runs" | "sits" | "called" | "named"
        )
    }) else {
        return false;
    };
    let is_short = (1..=7).contains(&verb);
    let names = |word: &Word| PLACES.contains(&word.lower.as_str());
    let value = words[verb + 1..].iter().take(4).any(|word| {
        let has_digit = word.lower.chars().any(|c| c.is_ascii_digit());
        (has_digit
            || word.lower.contains(['.', '_', '/'])
            || (word.lower.contains('-') && word.lower.len() > 5)
            || (word.is_capital && !word.lower.starts_with("i'")))
            && dates::weekday(&word.lower).is_none()
    });
    let is_trouble = has_any(
        words,
        &["down", "broken", "slow", "failing", "error", "dead", "full", "crashing", "red", "flaky"],
    );
    is_short
        && words[..verb].iter().any(names)
        && value
        && !is_trouble
        && !has_any(words, &["account", "number", "password", "username", "login is"])
}

/// How many of the words name a job, if they do: `, product manager at …`.
pub(super) fn role_length(words: &[Word]) -> Option<usize> {
    const MOST: usize = 6;
    let mut length = 0;
    for (at, word) in words.iter().enumerate().take(MOST) {
        if matches!(word.lower.as_str(), "and" | "but" | "i" | "at" | "from" | "not" | "is") {
            break;
        }
        if is_job(&word.lower) {
            length = at + 1;
        }
        if word.after.comma {
            break;
        }
    }
    (length > 0).then_some(length)
}

fn is_job(word: &str) -> bool {
    #[rustfmt::skip]
    const JOBS: &[&str] = &[
        "nurse", "doctor", "student", "pm", "cto", "ceo", "cfo", "head", "lead", "postdoc", "chef", "architect", "intern", "freelance", "sre", "dba", "sysadmin", "admin", "dev", "coach", "clerk", "midwife", "vet", "pilot", "judge", "paramedic", "barista", "cook", "librarian", "accountant", "consultant", "physician", "veterinarian", "technician", "electrician", "assistant", "apprentice", "solicitor", "mechanic", "retiree",
    ];
    JOBS.contains(&word)
        || (word.len() > 5
            && [
                "ager", "eer", "oper", "igner", "tist", "lyst", "cher", "ector", "under", "owner",
                "iter", "itor", "wyer", "ller", "lumber", "enter", "armer", "ator", "alist",
                "apher", "acist", "rapist", "urgeon", "fessor", "turer", "ficer", "river", "aker",
                "rician", "nicist", "ologist", "rainer", "eller", "ographer", "eper",
            ]
            .iter()
            .any(|ending| word.ends_with(ending)))
}

/// Where `at` or `for` names a place of work.
pub(super) fn workplace(words: &[Word]) -> Option<std::ops::Range<usize>> {
    let at = words.iter().position(|word| matches!(word.lower.as_str(), "at" | "for" | "with"))?;
    let mut end = at + 1;
    while end < words.len() && words[end].is_capital && end - at <= 4 {
        end += 1;
        if words[end - 1].after != crate::reader::words::Marks::default() {
            break;
        }
    }
    (end > at + 1).then_some(at + 1..end)
}

/// The second of two tools joined by `and`: `Go 1.23 and Postgres 16`.
pub(super) fn second_tool(words: &[Word]) -> Option<std::ops::Range<usize>> {
    let at = words.iter().position(|word| word.lower == "and")?;
    let is_name = |word: &Word| word.is_capital || word.lower.chars().any(|c| c.is_ascii_digit());
    let before = words[..at].iter().all(is_name) && (1..=3).contains(&at);
    let end = at + 1 + words[at + 1..].iter().take(3).take_while(|word| is_name(word)).count();
    (before && end > at + 1 && end == words.len()).then_some(at + 1..end)
}

/// Whether a clause gives a handle, an address or a number of an account.
pub(super) fn is_account(words: &[Word]) -> bool {
    let Some(name) = words.iter().position(|word| ACCOUNTS.contains(&word.lower.as_str())) else {
        return words.iter().any(|word| is_address(&word.lower))
            && is_mine(words)
            && words.len() <= 14;
    };
    let rest = &words[name + 1..];
    let value = rest.iter().position(|word| is_value(&word.lower));
    let named = |at: usize| {
        at == 0
            || rest[..at].iter().any(|word| {
                matches!(
                    word.lower.as_str(),
                    "is" | "'s"
                        | "under"
                        | "as"
                        | "to"
                        | "are"
                        | "now"
                        | "ist"
                        | "est"
                        | "es"
                        | "é"
                        | "name"
                        | "nick"
                        | "handle"
                ) || word.after.colon
            })
            || words[name].after.colon
    };
    match value {
        Some(at) => named(at) && at < 12 && !has_any(rest, &["line", "version", "open", "error"]),
        None => {
            // `itch page is under mothboyzeke`
            let at = rest.iter().position(|word| matches!(word.lower.as_str(), "under" | "as"));
            at.is_some_and(|at| at < 4 && rest.get(at + 1).is_some_and(|word| word.lower.len() > 4))
                && !has_any(words, &["i", "log", "sign"])
        }
    }
}

fn is_mine(words: &[Word]) -> bool {
    has_any(words, &["my", "me", "our", "i am", "mine"])
        && has_any(words, &["is", "'s", "at", "under", "am"])
}

fn is_address(word: &str) -> bool {
    word.starts_with('@') && word.len() > 2
        || word.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.'))
}

fn is_value(word: &str) -> bool {
    let digits = word.chars().filter(char::is_ascii_digit).count();
    let letters = word.chars().any(char::is_alphabetic);
    is_address(word)
        || digits >= 4
        || (digits >= 1
            && letters
            && word.len() >= 4
            && !word.ends_with("th")
            && !word.ends_with("st"))
        || (word.contains(['-', '_']) && letters && word.len() >= 5 && !is_hyphenated_word(word))
        || word.starts_with('+') && digits >= 1
}

fn is_hyphenated_word(word: &str) -> bool {
    matches!(
        word,
        "e-mail"
            | "sign-in"
            | "log-in"
            | "two-factor"
            | "follow-up"
            | "long-term"
            | "read-only"
            | "opt-in"
    )
}

/// The day by which a clause says something is due, if it says so.
#[rustfmt::skip]
pub(super) fn due(words: &[Word], said: Date) -> Option<Date> {
    let (at, named) = dates::last(words, said)?;
    let has_sign = has_any(
        words,
        &[
            "due", "deadline", "has to", "have to", "must", "needs to", "need to", "got to",
            "gotta", "goes in", "goes to", "goes out", "goes live", "promised", "hand in",
            "hand over", "turn in", "submit", "deliver", "is expected", "are expected", "expires",
            "runs out", "last day", "closes", "cutoff", "cut-off", "cut off", "at the latest",
            "no later than", "want it by", "wants it by", "launches", "ships", "fällig", "abgabe",
            "à rendre", "frist", "stichtag", "bis spätestens", "supposed to be", "owe", "sign off",
            "signed off", "files by", "drop-dead", "wraps up", "latest", "hard stop",
            "should be in", "needs the", "needs my", "wants the", "wants my", "needs our",
            "expects", "is to be", "are to be", "renew", "pay",
        ],
    );
    let is_by = at > 0 && {
        let before = words[at - 1].lower.as_str();
        let first = words[at].lower.as_str();
        let is_limit = |word: &str| matches!(word, "by" | "until" | "til" | "till" | "before");
        is_limit(before) || is_limit(first)
    };
    let is_event = has_any(
        words,
        &[
            "meeting", "appointment", "birthday", "call", "party", "dinner", "flight", "lunch",
            "holiday", "vacation", "weather", "forecast", "born", "off", "remind", "anniversary",
            "gone", "away", "back", "travelling", "traveling", "on leave",
        ],
    );
    let is_past = has_any(words, &["was", "were", "had", "yesterday", "last"])
        && !has_any(words, &["last day"]);
    let is_mine =
        is_by && has_any(words, &["i", "we", "my", "our", "the"]) && !has_any(words, &["not"]);
    let is_firm =
        has_any(words, &["due", "deadline", "must", "has to", "goes in", "needs to"]) || !is_event;
    (is_firm && (has_sign || is_mine) && !is_past).then_some(named.day)
}

/// Things that are made again and again.
#[rustfmt::skip]
const OUTPUTS: &[&str] = &[
    "answer", "answers", "article", "articles", "chart", "charts", "code", "comment", "comments", "commit", "commits", "date", "dates",
    "diagrams", "document", "documents", "docs", "draft", "drafts", "email", "emails", "e-mails", "everything", "explanation", "explanations", "file",
    "headings", "images", "invoice", "invoices", "letter", "letters", "list", "lists", "mail", "mails", "meeting", "meetings", "message", "messages", "mockups", "note", "notes",
    "numbers", "offer", "offers", "plan", "plans", "post", "posts", "presentation", "presentations", "price", "prices", "quote", "quotes", "recipe", "recipes", "reply", "replies", "report",
    "reports", "response", "responses", "review", "reviews", "slide", "slides", "spreadsheet", "spreadsheets", "summaries", "summary", "table", "tables", "temperatures", "text", "texts", "times", "titles",
    "translation", "translations", "units", "queries", "scripts", "tests", "function", "functions", "calls", "prs", "tickets", "captions", "sources", "citations", "references", "time", "amounts", "measurements", "distances", "anything",
];

/// What people do not want to see.
#[rustfmt::skip]
const UNWANTED: &[&str] = &[
    "abbreviations", "apologies", "bullet", "bullets", "calls", "commands", "disclaimers", "emoji", "emojis", "exclamation", "filler", "fluff", "greeting", "greetings", "hashtags",
    "headers", "headings", "intro", "intros", "introduction", "jargon", "markdown", "meetings", "notifications", "pleasantries", "preamble", "slang", "small", "spoilers", "summaries",
    "tables", "flattery", "semicolons", "acronyms", "passive", "footnotes", "caveats", "comments", "testify", "placeholders", "marketing", "corporate", "adverbs", "semicolon", "meat", "sugar", "nuts", "gluten", "dairy", "pork", "alcohol", "gifs", "metaphors", "analogies", "fillers",
];

/// Whether a clause is a rule for all that is to come.
#[rustfmt::skip]
pub(super) fn is_rule(words: &[Word]) -> bool {
    let first = words.first().map_or("", |word| word.lower.as_str());
    let is_about_another = matches!(
        first,
        "he" | "she"
            | "they"
            | "it"
            | "this"
            | "that"
            | "there"
            | "these"
            | "those"
            | "everybody"
            | "everyone"
            | "people"
            | "someone"
            | "you"
            | "some"
            | "one"
    ) || (words.first().is_some_and(|word| word.is_capital)
        && words.get(1).is_some_and(|next| {
            matches!(
                next.lower.as_str(),
                "is" | "'s" | "always" | "never" | "has" | "says" | "does" | "was" | "will"
            )
        }));
    if is_about_another
        || has_any(
            words,
            &[
                "i never", "never said", "never mind", "i always", "never seen", "as always",
                "than ever", "ever since", "ever again", "hardly ever", "forever", "never been",
                "never had", "never looked", "never did", "never knew", "never got", "always been",
                "almost always", "nearly always", "never heard", "never works", "always wins",
                "have ever", "has ever", "had ever", "always wanted", "never again will",
            ],
        )
    {
        return false;
    }
    const FEWEST: usize = 3;
    if words.len() < FEWEST {
        return is_prohibition(words);
    }
    let is_marked = has_any(
        words,
        &[
            "always", "never", "ever", "every time", "each time", "from now on", "from here on",
            "going forward", "from this point", "in everything", "in anything", "by default",
            "as a rule", "as standard", "every single time", "without exception",
            "across the board", "at all times", "for all my", "in all my", "on all my",
            "in future", "in the future",
        ],
    );
    is_marked || is_recurring(words) || is_for_outputs(words) || is_prohibition(words)
}

/// `every weekday morning, look at …`: an order that comes again and again.
#[rustfmt::skip]
fn is_recurring(words: &[Word]) -> bool {
    let is_time = |word: &str| {
        dates::weekday(word.trim_end_matches('s')).is_some()
            || matches!(
                word,
                "day"
                    | "morning"
                    | "evening"
                    | "week"
                    | "weekday"
                    | "month"
                    | "hour"
                    | "night"
                    | "afternoon"
                    | "quarter"
                    | "year"
            )
    };
    let at = words.windows(2).position(|pair| {
        matches!(pair[0].lower.as_str(), "every" | "each") && is_time(&pair[1].lower)
    });
    at.is_some_and(|at| {
        let is_order = at == 0
            || starts_with_any(
                words,
                &[
                    "check", "send", "look", "give", "post", "remind", "tell", "watch", "run",
                    "summarise", "summarize", "ping", "update", "give me", "email", "review",
                    "draft", "back", "make", "pull", "scan", "collect", "have", "do", "monitor",
                ],
            );
        is_order && !has_any(words, &["i", "we", "only", "until", "is", "are", "was"])
    })
}

/// `use it on every invoice`, `dates in all reports as …`.
fn is_for_outputs(words: &[Word]) -> bool {
    let at = words.iter().position(|word| matches!(word.lower.as_str(), "every" | "all" | "any"));
    let is_meant = |at: usize| {
        words[at + 1..].iter().take(3).any(|word| OUTPUTS.contains(&word.lower.as_str()))
    };
    let is_preposition = |at: usize| {
        at > 0
            && matches!(
                words[at - 1].lower.as_str(),
                "on" | "in" | "for" | "at" | "of" | "with" | "to" | "under"
            )
    };
    at.is_some_and(|at| is_meant(at) && is_preposition(at))
        && !has_any(words, &["i", "we", "is", "are", "was", "were", "has", "have"])
}

/// `no emojis`, `don't give me …`.
#[rustfmt::skip]
fn is_prohibition(words: &[Word]) -> bool {
    if starts_with_any(
        words,
        &["no", "zero", "skip the", "drop the", "spare me the", "enough with the", "without"],
    ) {
        let rest = words.iter().skip(1).take(4);
        return !words[0].after.comma
            && rest.into_iter().any(|word| UNWANTED.contains(&word.lower.as_str()));
    }
    const NOT: &[&str] = &[
        "worry", "know", "forget", "think", "mind", "let", "get", "understand", "see", "have",
        "care", "want", "like", "need", "believe", "go", "tell", "panic", "bother", "quote",
        "stop", "even", "laugh", "judge", "you", "i", "we", "hesitate", "remember", "say", "think",
        "feel", "hate", "do", "look", "make", "touch", "move", "wait", "die", "blame", "at",
        "thank",
    ];
    starts_with_any(words, &["do not"])
        && words.len() >= 4
        && words.get(2).is_some_and(|word| !NOT.contains(&word.lower.as_str()))
        && !has_any(
            words,
            &["in it", "on it", "for it", "yet", "the word", "to it", "before", "until"],
        )
}
