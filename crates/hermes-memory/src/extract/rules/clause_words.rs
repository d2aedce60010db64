//! Word lists of clauses: who can be a subject, what asks, tells, supposes and jokes.

pub(super) const SUBJECTS: &[&str] = &[
    "i", "my", "we", "our", "you", "he", "she", "they", "please", "can", "could", "would",
    "always", "never", "let", "remember", "call", "do", "don't", "mine", "from", "what", "how",
    "should", "that", "this", "use", "keep", "which", "where", "when", "whenever", "why", "no",
    "make", "write", "help", "give", "note", "also", "her", "his",
];

/// Verbs that make a clause a clause.
#[rustfmt::skip]
pub(super) const VERBS: &[&str] = &[
    "is", "are", "'s", "am", "was", "were", "has", "have", "uses", "use", "runs", "run", "lives", "goes", "go", "stays", "means", "does", "do",
    "will", "must", "needs", "prefer", "like", "hate", "love", "work", "works", "live", "takes", "starts", "got", "keep", "keeps", "leads", "handles",
    "owns", "manages", "moved", "switched", "decided", "agreed", "want", "need", "can", "gives", "left", "cut", "throw", "went", "find", "measure", "turned",
];

/// What people say before they come to the point.
#[rustfmt::skip]
pub(super) const LEADS: &[&str] = &[
    "and", "but", "so", "also", "oh", "ok", "okay", "hi", "hey", "hello", "well", "btw", "by the way", "fyi",
    "for the record", "just so you know", "for your information", "actually", "honestly", "yes", "yeah", "yep",
    "no", "nope", "right", "sure", "thanks", "thank you", "great", "cool", "anyway", "anyways", "one more thing", "another thing",
    "quick note", "note", "side note", "heads up", "please", "plus", "because", "since", "though", "although", "while",
    "as a reminder", "reminder", "quick update", "update", "small update", "in case it matters", "if it matters", "if it helps", "for context", "context",
    "as you know", "just", "to be clear", "in general", "generally", "personally", "um", "uh", "ah", "alright",
    "good news", "news", "important", "correction", "sorry", "oops", "wait", "good morning", "morning", "then", "perfect", "nice", "ja", "oui", "sí", "si", "sim", "first", "second", "finally", "lastly", "additionally", "hm", "hmm", "as", "last thing", "p.s", "ps", "now", "you should know", "good to know", "worth knowing", "for reference", "for future reference", "in future", "a few things about me", "about me",
];

pub(super) const BEFORE: &[&str] = &[
    "please",
    "ok",
    "okay",
    "oh",
    "hey",
    "hi",
    "also",
    "and",
    "btw",
    "by the way",
    "can you",
    "could you",
    "pls",
    "bitte",
    "just",
    "so",
    "one more thing",
    "do",
    "yes",
    "right",
    "well",
    "anyway",
    "solved",
    "ok solved",
    "and hey",
];

pub(super) const SAYING: &[&str] = &[
    "saying",
    "say",
    "says",
    "that",
    "telling",
    "tell",
    "explaining",
    "where",
    "about",
    "asking",
    "titled",
    "like",
];

#[rustfmt::skip]
pub(super) const ASKING: &[&str] = &[
    "what", "how", "why", "when", "where", "who", "which", "do you", "did you", "does", "did", "can you", "can we", "can i", "could you",
    "would you", "will you", "should i", "should we", "is it", "is there", "are there", "are you", "have you", "is the", "is my", "am i", "shall",
    "do i", "do we", "did i", "may i", "could i", "could we", "would it", "has", "have i", "have we", "isn't", "is that", "is this", "is", "are", "do they", "any idea", "any", "wondering", "i wonder", "was", "were",
];

pub(super) const SPEAKING: &[&str] = &[
    "says",
    "said",
    "thinks",
    "claims",
    "claimed",
    "told",
    "tells",
    "wrote",
    "mentioned",
    "believes",
    "suggested",
    "suggests",
    "keeps",
    "insists",
    "swears",
    "reckons",
    "argued",
    "argues",
    "recommends",
    "recommended",
    "asked",
    "asks",
    "wonders",
    "thought",
    "complained",
    "complains",
    "reported",
    "announced",
    "admitted",
    "joked",
    "quoted",
    "heard",
    "apparently",
    "supposedly",
    "allegedly",
];

/// Verbs that ask for work now.
#[rustfmt::skip]
pub(super) const REQUESTS: &[&str] = &[
    "write", "draft", "translate", "proofread", "rewrite", "rephrase", "summarize", "summarise", "fix", "send", "reply", "respond",
    "tell", "explain", "find", "search", "look", "compare", "create", "generate", "build", "implement", "refactor", "debug", "review",
    "analyze", "analyse", "calculate", "compute", "plan", "schedule", "book", "remind", "check", "list", "show", "give", "add", "update",
    "help", "prepare", "compose", "edit", "shorten", "turn", "convert", "extract", "clean", "plot", "make", "set", "run", "research", "suggest",
    "recommend", "describe", "design", "outline", "brainstorm", "investigate", "monitor", "watch", "track", "organize", "organise", "sort",
    "change", "delete", "remove", "put", "pull", "merge", "test", "deploy", "install", "read", "open", "try", "format", "email", "message", "ping",
    "ask", "answer", "paraphrase", "text", "gimme", "correct", "pls", "redo", "compile", "group", "filter", "count", "estimate",
    "schreib", "schreibe", "schick", "schicke", "sag", "übersetze", "übersetz", "erkläre", "mach", "erstelle", "écris", "traduis", "dis", "rédige", "fais", "trouve", "escribe", "escríbele", "traduce", "dile", "haz", "busca", "redacta", "escreve", "traduz", "diz", "faz", "scrivi", "traduci", "fai", "cerca", "polish", "play", "continue", "finish", "expand", "act", "post", "invite", "cancel", "move", "rename", "replace", "shut", "restart", "forward", "start", "stop", "figure",
];

#[rustfmt::skip]
pub(super) const UNSURE: &[&str] = &[
    "maybe", "might", "perhaps", "possibly", "thinking of", "thinking about", "considering", "not sure", "i guess", "we'll see", "leaning", "tempted",
    "toying with", "probably", "could be", "may be", "i may", "we may", "not decided", "undecided", "have not decided", "haven't decided", "on the fence", "tbd", "debating", "playing with the idea", "wonder", "torn between", "not yet", "i think about", "should probably", "half tempted", "in two minds", "still deciding", "if we get", "depends", "hopefully", "would be nice", "could switch", "could use", "some day", "eventually", "i could", "we could", "one of these days", "no idea", "i doubt", "exploring", "evaluating", "vielleicht", "peut-être", "quizás", "talvez", "forse", "looking into", "floated", "who knows",
];

#[rustfmt::skip]
pub(super) const FOR_NOW: &[&str] = &[
    "this time", "this one", "for now", "just this once", "this once", "for this", "in this", "of this", "to this", "this email", "this mail", "this draft", "this reply", "this file", "this function",
    "this paragraph", "this sentence", "this version", "this week only", "today only", "right now", "for today", "just today", "tonight", "in here", "at the moment", "for the moment", "temporarily", "the above", "make it", "this document", "this doc", "this text", "in it", "on it", "this post", "this report", "this section", "this answer", "this query", "this script", "that one", "these", "this table", "this slide", "this task", "this pr", "this message", "this chapter", "this letter", "on this", "diesmal", "cette fois", "esta vez", "desta vez", "questa volta", "with this",
];

#[rustfmt::skip]
pub(super) const JOKES: &[&str] = &[
    "lol", "haha", "hahaha", "just kidding", "kidding", "jk", "/s", "yeah right", "lmao", "rofl", "ha ha", "sarcasm", "joking", "joke", "because who does not love", "what could go wrong", "wouldn't it be fun", "said no one ever", "my favorite thing in the world", "oh great", "oh joy", "😂", "🙄", "🤣", "😜", "😉",
];
