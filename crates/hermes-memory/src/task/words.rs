//! The words that tell what a task is about; English first, then German, French and Spanish.

/// Words, or their beginnings before a star, with which tasks begin or of which they speak.
#[rustfmt::skip]
pub(super) const TASK_WORDS: &[&str] = &[
    "agenda", "aggregate*", "alert*", "alternativ*", "analy*", "announce*", "antworte*", "api", "apologi*",
    "arregla*", "article*", "auswert*", "average", "behebe*", "beobacht*", "berechne*", "blog*", "bug*",
    "build", "busca*", "calcula*", "calculate*", "calcule*", "calendar", "call", "changes", "chart*", "check",
    "cherche*", "class", "code", "coding", "column*", "commit*", "compara*", "compare*", "comparison",
    "compil*", "copy", "correo*", "corrige*", "courriel*", "crash*", "csv", "código", "daily", "dashboard*",
    "data", "dataset*", "daten", "datos", "deadline*", "debug*", "deploy*", "depura*", "difference*",
    "docker*", "documentation", "données", "draft*", "edit", "email*", "endpoint*", "envia*", "envo*",
    "envía*", "escrib*", "essay*", "evaluate*", "excel", "exception*", "explain*", "eye", "fehler*", "find",
    "fix*", "forecast*", "formulier*", "function*", "goals", "haiku*", "headline*", "health", "hourly",
    "implement*", "inform", "install*", "investiga*", "investigat*", "invite*", "itinerary", "javascript",
    "keep", "learn*", "letter", "library", "literature", "look", "mail", "mails", "median", "meeting*",
    "merge", "message*", "metrics", "migration*", "milestone*", "monitor*", "monitorea*", "newsletter*",
    "notify", "options", "organi*", "organis*", "organiza*", "paper*", "paragraph*", "patch*", "pivot*",
    "plan", "plane", "planen", "planif*", "planning", "plans", "plot*", "poem*", "post", "prioriti*",
    "programme*", "programmier*", "proofread*", "prévo*", "pytest", "python", "queries", "query", "readme",
    "recherch*", "redacta*", "refactor*", "regex*", "reply", "repo*", "research*", "respond*", "responde*",
    "review*", "rewrite", "roadmap*", "rows", "rust", "rédige*", "répond*", "schedul*", "schick*", "schreib*",
    "script*", "search*", "send", "sende*", "slack", "sources", "speech", "spreadsheet*", "stacktrace*",
    "statistic*", "status", "steps", "story", "strategy", "studies", "study", "such*", "summar*", "surveill*",
    "survey*", "table*", "telegram", "tell", "test*", "track*", "traduc*", "tradui*", "translat*", "trip",
    "typescript", "unittest*", "untersuch*", "uptime", "verfass*", "vergleich*", "vigila*", "watch*", "week",
    "whenever", "which", "write", "writing", "écri*", "übersetz*", "überwach*",
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
