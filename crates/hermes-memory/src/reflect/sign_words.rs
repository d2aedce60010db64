//! The words by which a user's message corrects, praises or complains; English first, then German, French and Spanish.

/// A pattern is words in a row: `^` begins the sentence, `|` parts choices.
pub(super) type Patterns = &'static [&'static str];

/// Words that may stand before the first one that counts.
#[rustfmt::skip]
pub(super) const FILLERS: &[&str] = &[
    "oh", "hmm", "hm", "ah", "um", "ok", "okay", "well", "sorry", "wait", "hey", "please", "but",
    "and", "so", "ach", "aber", "bitte", "also", "mais", "pero", "hey",
];

/// Words that say no.
pub(super) const NO: &[&str] = &["no", "nope", "nein", "non", "nah"];

/// What makes a no harmless when it comes next.
#[rustfmt::skip]
pub(super) const HARMLESS_AFTER_NO: &[&str] = &[
    "problem", "problems", "worries", "thanks", "thank", "need", "idea", "rush", "hurry", "doubt",
    "question", "questions", "more", "longer", "one", "matter", "pressure", "way", "danke",
    "merci", "gracias", "big",
];

/// What makes a forbidding word harmless when it comes next.
#[rustfmt::skip]
pub(super) const HARMLESS_AFTER_DONT: &[&str] = &[
    "worry", "bother", "mind", "know", "think", "understand", "forget", "see", "get", "have",
    "you", "we", "they", "care", "hesitate", "remember", "even",
];

/// Words that forbid at the beginning of a sentence.
pub(super) const DONT: &[&str] = &["don't", "dont", "never", "stop"];

/// The user puts right what was done.
#[rustfmt::skip]
pub(super) const CORRECTIONS: Patterns = &[
    "that's|thats|that|this|it's|it|you're wrong|incorrect",
    "that|this|it|you is|was|are wrong|incorrect",
    "that's|thats|it's not right|correct|what|it|how",
    "that|this|it is|was not right|correct|what|how",
    "that|this|it isn't|wasn't right|correct|what",
    "^wrong", "^not like that|this", "^not that", "^not what i",
    "^i said", "as i said", "like i said", "i already said|told|asked", "i told you",
    "i asked you", "^i asked for", "^i meant", "what i meant", "^i mean|meant the|to|that|a|in|for|not",
    "^i wanted _ not", "what i asked", "what i wanted", "what i said",
    "^again but", "^once more but", "^try again but|with|and|without",
    "^same but|again", "^redo", "^do it again", "^do that again",
    "^use _ instead", "^use _ not", "^use _ _ instead", "^use _ _ not", "^use _ _ _ instead",
    "^actually no|use|make|it|i|that's|don't|do", "^instead use|of|do|make",
    "you forgot", "you missed", "you ignored", "you skipped", "you should have",
    "you were supposed|meant|asked to", "you misunderstood", "you got _ wrong",
    "should be _ not", "should be _ instead", "should have been", "supposed to be",
    "too long|short|verbose|wordy|formal|casual|detailed|complicated|technical",
    "^make it|them|this|that shorter|longer|simpler|briefer|clearer|less|more",
    "^shorter", "^longer", "^simpler", "^less", "^more concise|detail|formal|casual",
    "^keep it|them short|brief|simple|formal|under",
    "das ist falsch", "das war falsch", "das stimmt nicht", "nicht richtig", "^nicht so",
    "^falsch", "^ich sagte", "ich habe gesagt", "ich hatte gesagt", "^ich meinte",
    "^nochmal aber", "^noch einmal aber", "^stattdessen", "zu lang|kurz|ausführlich|formell",
    "^kürzer", "^du hast vergessen",
    "c'est faux", "ce n'est pas ça|correct|juste|bon", "^j'ai dit", "^je voulais dire",
    "^pas comme ça", "trop long|longue|court|formel", "^plus court|simple", "tu as oublié",
    "está mal", "eso no es", "no es correcto", "^dije", "te dije", "^quise decir",
    "^así no", "demasiado largo|larga|corto|formal", "^más corto|simple", "olvidaste",
];

/// The user says that what was done is of no use.
#[rustfmt::skip]
pub(super) const COMPLAINTS: Patterns = &[
    "that|it|this|still doesn't|didn't|does|did work|help|compile|run|build|start|pass",
    "that|it|this does|did not work|help|compile|run|build|start|pass",
    "still doesn't|not|fails|failing|broken|wrong|crashes|broke", "it's still", "it still",
    "same error|problem|mistake again|as", "the same error|problem|mistake", "^not working", "isn't working",
    "you broke", "this|that|it is|was useless|nonsense|garbage|terrible|awful",
    "that's|it's useless|nonsense|garbage|terrible|awful|broken|not working|worse",
    "^useless", "^terrible", "made it worse", "waste of time",
    "funktioniert nicht", "geht nicht", "geht immer noch nicht", "immer noch falsch",
    "ne marche pas", "ne fonctionne pas", "no funciona", "sigue fallando",
];

/// Questions that complain.
#[rustfmt::skip]
pub(super) const COMPLAINING_QUESTIONS: Patterns = &[
    "^why did you", "^why didn't you", "^why are you", "^didn't i", "^did i not", "^why is it still",
    "^why does it still", "^why do you", "^warum hast du", "^pourquoi as tu",
];

/// The user asks for another try.
#[rustfmt::skip]
pub(super) const RETRIES: Patterns = &[
    "^try again", "^try it again", "^try once more", "^another try", "^again$", "^once more$",
    "^nochmal$", "^noch einmal$", "^versuch es nochmal", "^réessaie", "^inténtalo de nuevo",
];

/// The user says that it was done well.
#[rustfmt::skip]
pub(super) const PRAISE: Patterns = &[
    "^perfect", "^perfectly", "^excellent", "^brilliant", "^awesome", "^amazing", "^fantastic",
    "^wonderful", "^great", "^nice", "^lovely", "^exactly", "^lgtm", "^beautiful", "^superb",
    "that's|thats exactly|perfect|great|it|right|correct|better", "that is exactly|perfect|great|right|correct",
    "^works", "it|that|this works|worked", "works now|perfectly|great|fine", "working now",
    "^well done", "^good job|work|one", "^nice work|job|one", "^great work|job", "^love it|this|that",
    "looks good|great|perfect", "^that fixed|solved|helped", "that fixed it", "you nailed it",
    "just what i wanted|needed", "^thanks that worked|works|helped", "^spot on",
    "^perfekt", "^super", "^klasse", "^genau", "^sehr gut", "das funktioniert", "^prima", "^gut gemacht",
    "^parfait", "^génial", "^excellent", "ça marche", "^très bien", "^perfecto", "^genial",
    "funciona", "^muy bien", "^excelente",
];

/// Words that take praise back.
#[rustfmt::skip]
pub(super) const DOUBTS: &[&str] = &[
    "not", "no", "isn't", "wasn't", "doesn't", "didn't", "don't", "but", "except", "however",
    "would", "could", "should", "if", "almost", "nearly", "yet", "until", "once", "when", "idea",
    "nicht", "kein", "aber", "wenn", "pas", "mais", "si", "pero",
];
