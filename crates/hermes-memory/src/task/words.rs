//! The words that tell what a task is about; English first, then German, French and Spanish.

use super::TaskType;

/// A word, or its beginning before a star, and how much it speaks for a type.
pub(super) type Signs = &'static [(&'static str, u32)];

/// Words that speak for a type, with their weight.
#[rustfmt::skip]
pub(super) const SIGNS: &[(TaskType, Signs)] = &[
    (TaskType::Coding, &[
        ("code", 3), ("coding", 3), ("bug*", 3), ("debug*", 3), ("refactor*", 3), ("compil*", 3),
        ("implement*", 2), ("function*", 2), ("unittest*", 3), ("pytest", 3), ("test*", 1),
        ("api", 1), ("script*", 2), ("commit*", 2), ("repo*", 1), ("deploy*", 2),
        ("stacktrace*", 3), ("exception*", 2), ("rust", 2), ("python", 2), ("javascript", 2),
        ("typescript", 2), ("fix*", 2), ("patch*", 2), ("merge", 1), ("endpoint*", 2),
        ("migration*", 1), ("docker*", 2), ("regex*", 3), ("class", 1), ("library", 1),
        ("install*", 1), ("build", 1), ("crash*", 2), ("programmier*", 3), ("behebe*", 2),
        ("fehler*", 2), ("corrige*", 2), ("programme*", 2), ("código", 3), ("depura*", 3),
        ("arregla*", 2),
    ]),
    (TaskType::Writing, &[
        ("write", 2), ("writing", 2), ("rewrite", 3), ("draft*", 3), ("blog*", 3),
        ("article*", 2), ("essay*", 3), ("story", 2), ("poem*", 3), ("haiku*", 3),
        ("proofread*", 3), ("edit", 2), ("summar*", 2), ("translat*", 3), ("headline*", 2),
        ("paragraph*", 2), ("letter", 2), ("documentation", 2), ("readme", 2), ("speech", 2),
        ("post", 1), ("copy", 1), ("schreib*", 3), ("verfass*", 3), ("übersetz*", 3),
        ("formulier*", 2), ("écri*", 3), ("rédige*", 3), ("tradui*", 3), ("escrib*", 3),
        ("redacta*", 3), ("traduc*", 3),
    ]),
    (TaskType::Research, &[
        ("research*", 3), ("find", 1), ("compare*", 2), ("comparison", 2), ("investigat*", 3),
        ("look", 1), ("search*", 2), ("survey*", 2), ("learn*", 1), ("literature", 3),
        ("paper*", 2), ("study", 1), ("studies", 2), ("sources", 2), ("alternativ*", 2),
        ("options", 1), ("evaluate*", 2), ("explain*", 1), ("difference*", 2), ("which", 1),
        ("review*", 1), ("recherch*", 3), ("vergleich*", 3), ("such*", 2), ("untersuch*", 3),
        ("cherche*", 3), ("compare*", 2), ("investiga*", 3), ("busca*", 3), ("compara*", 3),
    ]),
    (TaskType::Monitoring, &[
        ("monitor*", 3), ("watch*", 2), ("track*", 2), ("alert*", 3), ("notify", 3),
        ("uptime", 3), ("keep", 1), ("eye", 1), ("check", 1), ("whenever", 2), ("changes", 1),
        ("daily", 1), ("hourly", 2), ("status", 1), ("health", 1), ("überwach*", 3),
        ("beobacht*", 3), ("surveill*", 3), ("vigila*", 3), ("monitorea*", 3),
    ]),
    (TaskType::Planning, &[
        ("plan", 3), ("plans", 2), ("planning", 3), ("schedul*", 3), ("roadmap*", 3),
        ("itinerary", 3), ("organi*", 2), ("prioriti*", 3), ("agenda", 3), ("milestone*", 3),
        ("deadline*", 2), ("trip", 2), ("calendar", 2), ("week", 1), ("goals", 2),
        ("strategy", 2), ("steps", 1), ("planen", 3), ("plane", 2), ("planif*", 3),
        ("organis*", 2), ("prévo*", 2), ("organiza*", 2),
    ]),
    (TaskType::Data, &[
        ("data", 2), ("dataset*", 3), ("csv", 3), ("spreadsheet*", 3), ("excel", 3),
        ("chart*", 3), ("plot*", 2), ("analy*", 2), ("statistic*", 3), ("average", 2),
        ("median", 3), ("table*", 2), ("column*", 2), ("rows", 2), ("query", 1), ("queries", 1),
        ("aggregate*", 3), ("forecast*", 2), ("calculate*", 2), ("pivot*", 3), ("dashboard*", 2),
        ("metrics", 2), ("daten", 3), ("auswert*", 3), ("berechne*", 2), ("données", 3),
        ("calcule*", 2), ("datos", 3), ("calcula*", 2),
    ]),
    (TaskType::Communication, &[
        ("email*", 3), ("mail", 3), ("mails", 3), ("reply", 3), ("respond*", 2), ("message*", 2),
        ("send", 2), ("tell", 1), ("slack", 2), ("telegram", 2), ("meeting*", 2), ("invite*", 3),
        ("announce*", 2), ("newsletter*", 2), ("call", 1), ("inform", 2), ("apologi*", 2),
        ("antworte*", 3), ("schick*", 2), ("sende*", 2), ("répond*", 3), ("envo*", 2),
        ("responde*", 3), ("envía*", 3), ("envia*", 2), ("correo*", 3), ("courriel*", 3),
    ]),
];

/// How the names of program files end.
#[rustfmt::skip]
pub(super) const CODE_ENDINGS: &[&str] = &[
    "rs", "py", "js", "ts", "tsx", "go", "java", "c", "h", "cpp", "rb", "php", "sql", "sh",
    "toml", "yaml", "yml", "json", "html", "css", "kt", "swift",
];

/// Other words that begin a sentence without being a name.
#[rustfmt::skip]
pub(super) const COMMON_STARTS: &[&str] = &[
    "add", "after", "again", "also", "always", "and", "ask*", "before", "best", "book", "bring",
    "but", "change*", "choose", "clean*", "continue", "create*", "decide", "delete*",
    "describe*", "design*", "download*", "during", "each", "every*", "first*", "follow*",
    "generate*", "given", "go", "here", "hier", "if", "improve*", "instead", "last", "later",
    "let*", "list*", "maybe", "move*", "name", "never", "new", "next", "note*", "nothing", "now",
    "old", "once", "one", "only", "open*", "order", "our", "paint", "people", "pick*", "play",
    "prepare*", "print*", "put", "read*", "remember*", "remind*", "remove*", "rename*", "run*",
    "save*", "say", "set*", "since", "sing", "some*", "start*", "stop*", "suggest*", "take",
    "then", "there", "today", "tomorrow", "try", "turn", "two", "update*", "upload*", "use*",
    "using", "verify", "visit", "well", "while", "without", "work*", "yesterday", "zeig*",
    "mach*", "gib", "montre*", "donne*", "fais", "haz", "muestra*",
];

/// Words that say nothing about what a task is about; sorted, as they are searched by halving.
#[rustfmt::skip]
pub(super) const EMPTY_WORDS: &[&str] = &[
    "a", "about", "all", "alright", "am", "an", "and", "any", "are", "as", "at", "awesome", "be",
    "been", "bitte", "bonjour", "but", "by", "bye", "can", "continue", "cool", "could", "danke", "das", "de",
    "der", "did", "die", "do", "does", "doing", "done", "ein", "eine", "el", "et", "for", "from",
    "give", "go", "good", "got", "gracias", "great", "had", "hallo", "has", "have", "he", "hello",
    "her", "hey", "hi", "him", "his", "hola", "how", "i", "ich", "if", "in", "into", "is", "ist",
    "it", "its", "je", "just", "know", "la", "le", "les", "let", "like", "lot", "make", "may",
    "me", "merci", "might", "morning", "much", "my", "need", "nice", "night", "no", "not", "of",
    "ok", "okay", "on", "or", "our", "perfect", "please", "really", "right", "see", "she",
    "should", "so", "some", "something", "sounds", "sure", "than", "thank", "thanks", "that",
    "the", "their", "them", "then", "there", "these", "they", "this", "those", "thx", "to",
    "too", "um", "und", "up", "us", "very", "want", "was", "we", "well", "were", "what", "when",
    "where", "which", "who", "why", "will", "with", "would", "yeah", "yes", "you", "your",
];

/// Words that are written with a capital without being a name worth tagging.
#[rustfmt::skip]
pub(super) const NOT_NAMES: &[&str] = &[
    "i", "i'm", "monday", "mondays", "tuesday", "tuesdays", "wednesday", "wednesdays", "thursday", "thursdays", "friday",
    "fridays", "saturday", "saturdays", "sunday", "sundays", "january", "february", "march", "april", "may", "june", "july",
    "august", "september", "october", "november", "december", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep",
    "sept", "oct", "nov", "dec", "english", "french", "german", "spanish", "portuguese", "italian", "dutch", "american",
    "british", "christmas", "easter", "ok", "okay", "am", "pm", "utc", "api", "url", "id", "csv", "json", "pdf", "html",
    "css", "sql", "usd", "eur", "ui", "ux", "ceo", "cto", "faq", "todo", "tbd", "fyi", "btw", "asap", "phd", "vat", "kpi",
    "pr", "qa", "hr", "it", "tv", "pc", "cpu", "gpu", "ram", "ssd", "dns", "ssh", "http", "https", "vps", "vpn", "sdk",
    "readme", "rest", "gdpr", "crm", "ci", "cd", "ip", "tls", "ssl", "orm", "gmt", "cet", "est", "pst", "uk", "us", "eu",
    "valentine", "christmas", "bitte", "mr", "mrs", "ms", "herrn", "herr", "frau", "q1", "q2", "q3", "q4", "kunden",
    "e-mails", "texten", "doi", "sgd", "gbp", "iva", "sepa", "lol", "job", "log", "faq", "rag", "llm", "ai", "ml",
];

/// Ordinary words that begin sentences.
#[rustfmt::skip]
pub(super) const ORDINARY_STARTS: &[&str] = &[
    "above", "actually", "all", "almost", "although", "another", "anyone", "anyway", "apparently", "apart", "around", "because",
    "below", "besides", "between", "both", "boss", "budget", "business", "correction", "customer", "customers", "could", "cut", "dear", "decision", "did", "dinner",
    "does", "don't", "due", "either", "else", "enough", "even", "exactly", "except", "few", "final", "finally", "fine", "for",
    "from", "fun", "funny", "further", "general", "generally", "gimme", "going", "gone", "great", "guess", "half", "happy", "hardly",
    "has", "hate", "have", "heads", "help", "her", "here's", "his", "home", "honestly", "house", "however", "huge", "i've", "i'd", "i'll", "idea",
    "imagine", "important", "in", "indeed", "interesting", "it's", "its", "keep", "kind", "kindly", "know", "less", "like", "little", "long", "look", "lots", "love",
    "made", "main", "make", "many", "might", "mine", "more", "morning", "most", "mostly", "must", "my", "nah", "need", "no", "nobody", "nope", "not", "of", "off",
    "often", "oh", "on", "or", "other", "others", "otherwise", "out", "over", "own", "part", "past", "perhaps", "personally", "pls", "plus", "possibly",
    "postmortem", "pretend", "probably", "quick", "quite", "rather", "rename", "right", "same", "see", "seems", "seriously", "several", "shall", "short", "should", "shout",
    "small", "so", "sometimes", "soon", "sorry", "still", "such", "suppose", "sure", "team", "tell", "text", "thank", "that's", "the", "their", "there's", "these", "they",
    "they're", "thing", "things", "think", "this", "those", "though", "three", "till", "time", "to", "too", "total", "totally", "under", "unless", "until", "up", "us",
    "usually", "very", "wait", "want", "was", "we", "we'll", "we're", "we've", "were", "what's", "whatever", "when", "whenever", "where", "whether", "which", "who",
    "whoever", "whole", "why", "will", "with", "within", "won't", "would", "wow", "yeah", "yep", "yes", "yet", "yo", "you", "you're", "your", "note", "make", "good", "submitted",
    "uploaded", "come", "peux-tu", "retiens", "nota", "toma", "prefiero", "acuérdate", "ricordati", "schreib", "ich", "für", "merke", "escríbele", "was", "wie", "wer", "wo", "wann",
    "können", "kannst", "quel", "quelle", "pourquoi", "comment", "est-ce", "je", "mon", "ma", "mes", "puedes", "cuánto", "cómo", "qué", "quién", "dove", "quando", "perché", "chi", "não", "podes", "qual", "bonjour", "merci", "salut", "hola", "buenas", "ciao", "grazie", "obrigado", "obrigada", "guten", "vielen",
    "deadline", "today's", "digits", "birthday", "remind", "everyone", "nothing", "wah", "since", "once", "mail", "phone", "office", "standup", "payments", "payroll", "rent", "invoice", "invoices", "lunch", "coffee", "guys", "folks", "mum", "mom", "dad", "grandma", "doctor", "whats", "thats", "dont", "cant", "im", "ive", "lets", "hello", "sounds", "looks", "works", "goodness", "heavens", "gosh", "damn", "bar", "house", "prod", "production", "staging",
];
