//! The words by which people say in which form they want an answer; English first, then German, French and Spanish.

/// A form: its key, the phrases that ask for it, and what is noted about the user.
pub(super) type Form = (&'static str, &'static [&'static str], &'static str);

/// Forms and tones that people ask for.
#[rustfmt::skip]
pub(super) const FORMS: &[Form] = &[
    ("table", &["as a table", "in a table", "make a table", "als tabelle", "sous forme de tableau", "en una tabla"],
        "Often asks for answers as a table."),
    ("bullets", &["bullet points", "bullet point", "bulleted list", "as bullets", "in bullets", "stichpunkte", "als stichpunkte", "en puces", "en viñetas"],
        "Often asks for bullet points."),
    ("json", &["as json", "in json", "json only", "als json", "en json"],
        "Often asks for answers as JSON."),
    ("steps", &["step by step", "schritt für schritt", "étape par étape", "paso a paso"],
        "Often asks for explanations step by step."),
    ("code", &["code only", "only the code", "just the code", "nur den code", "seulement le code", "solo el código"],
        "Often wants the code alone, without explanations."),
    ("diff", &["as a diff", "show me the diff", "show the diff", "only the diff"],
        "Often asks to see changes as a diff."),
    ("short", &["keep it short", "be brief", "be concise", "short answer", "shorter", "in one sentence", "in two sentences", "too long", "too verbose", "tl dr", "kurz bitte", "fasse dich kurz", "zu lang", "sois bref", "plus court", "sé breve", "más corto"],
        "Wants short answers."),
    ("detail", &["in detail", "in depth", "more detail", "more details", "be thorough", "ausführlicher", "plus de détails", "más detalle"],
        "Often wants detailed answers."),
    ("simple", &["in simple words", "in plain english", "simple terms", "explain like", "einfache worte", "en mots simples", "palabras sencillas"],
        "Wants things explained in simple words."),
    ("no_emojis", &["no emojis", "no emoji", "without emojis", "stop using emojis", "don't use emojis", "keine emojis", "sans emojis", "sin emojis"],
        "Does not want emojis."),
    ("formal", &["formal tone", "more formal", "too casual", "förmlicher", "plus formel", "más formal"],
        "Wants a formal tone."),
    ("casual", &["casual tone", "more casual", "less formal", "too formal", "lockerer", "moins formel", "menos formal"],
        "Wants a casual tone."),
];

/// Commands and tools that say nothing about a project.
#[rustfmt::skip]
pub(super) const PLAIN_TOOLS: &[&str] = &[
    "bash", "shell", "sh", "exec", "run", "terminal", "cd", "ls", "cat", "echo", "grep", "find",
    "sed", "awk", "head", "tail", "mkdir", "cp", "mv", "rm", "pwd", "touch", "read", "write",
    "edit", "read_file", "write_file", "edit_file", "list_files", "search", "glob", "sudo", "env",
    "export", "which", "true", "test", "set", "source", "sleep", "wc", "sort", "xargs",
];
