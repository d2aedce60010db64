//! Word lists of clauses: who can be a subject, which verbs make a clause, what stands before the point.

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
