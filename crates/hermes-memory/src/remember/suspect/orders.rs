//! The ways in which texts give orders to a model: words in a row, and the frames that only programs write.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Words in a row, each one of several, with up to three others between two of them; with `!` none between.
type Order = &'static [&'static str];

/// What the words of instructions are called.
const RULES: &str = "instructions|instruction|rules|prompt|prompts|guidelines|directives|guardrails|restrictions|policies|constraints|safeguards";
const BEFORE: &str =
    "previous|prior|above|earlier|preceding|existing|former|original|system|safety|past";
const LEAVE: &str =
    "ignore|disregard|forget|override|bypass|discard|neglect|overrule|abandon|circumvent";
const GIVE: &str =
    "send|post|upload|forward|exfiltrate|transmit|leak|email|mail|submit|copy|report";
const PRIVATE: &str = "password|passwords|secret|secrets|token|tokens|credentials|memory|memories|conversation|conversations|history|transcript|transcripts|keys|env|files|contacts|data|chat|message|messages";
const AWAY: &str = "http|https|webhook|endpoint|attacker|pastebin|ftp|www";

#[rustfmt::skip] // One order a row reads as a table.
const ORDERS: &[Order] = &[
    // Leave what was said before.
    &[LEAVE, BEFORE, RULES],
    &["ignore|disregard|override|bypass|circumvent", "all|any|your|these|those|the", "instructions|instruction|prompt|guidelines|directives|guardrails|safeguards"],
    &["ignore|disregard|override|bypass|forget", "!all|your|any", "rules|restrictions|policies|constraints|guidelines|instructions"],
    &[LEAVE, "everything|anything|all|whatever", "said|told|written|above|before|earlier|previously"],
    &["previous|prior|above|earlier|preceding", "!instructions|prompt|directives"],
    &["instructions|guidelines", "no", "!longer", "apply|hold|count"],
    &["new|updated", "!instructions|instruction", "you|below|override|obey|assistant|ai|system|ignore|from|replace"],
    &["do", "not", "!follow|obey", "instructions|guidelines|prompt"],
    &["stop", "!following|obeying", "instructions|guidelines|prompt"],
    &["these|this", "!instructions|instruction|message", "take|takes|have|has|override|overrides|supersede|supersedes", "precedence|priority|all|any|previous|prior"],
    &["your|reveal|print|ignore|override|leak|change|replace|repeat|the", "!system", "!prompt", "is|now|to|and|verbatim|above|with|says|must|word"],
    // Be somebody else.
    &["you", "are", "!now", "!a|an|the|my|in|no|free|dan|acting|operating|unrestricted|root|admin"],
    &["you", "are", "!no", "!longer", "a|an|bound|limited|restricted|the|hermes|assistant"],
    &["from", "!now", "!on", "!you", "are|must|shall|obey|only"],
    &["pretend", "!to|you|that", "be|are|you"],
    &["act|behave|respond|operate", "!as", "!if|though", "you"],
    &["your", "!new|real|true|actual", "!identity|persona|purpose|objective|instructions|directive|mission"],
    &["developer|jailbreak|god|dan|unrestricted|sudo", "!mode"],
    &["answer|respond|operate|act|reply|comply|assist", "without", "restrictions|filters|guardrails|censorship|limitations"],
    &["assume", "!the|a", "role|identity|persona"],
    // Hide it.
    &["do", "!not", "!tell|inform|mention|reveal|notify|alert|warn", "user|anyone|anybody|human|operator"],
    &["do", "!not", "!mention|reveal|disclose", "this|it", "to", "user|anyone|human"],
    &["don't|never", "!tell|inform|mention|reveal", "user|human|operator"],
    &["don't", "!tell|inform|mention|reveal", "anyone|them"],
    &["without", "!telling|asking|informing|notifying|alerting|consulting", "user|human|owner|anyone"],
    &["without", "!the", "!user's|users", "knowledge|consent|approval|permission"],
    &["keep|hide|conceal", "this|it|that", "from", "user|human|owner|users"],
    &["secretly|silently|quietly|covertly", "!send|add|run|execute|forward|upload|copy|install|insert|include|delete|change|append|post|do"],
    &["user", "must|should|need|needs", "!not|never", "know|notice|learn"],
    // Give things away.
    &[GIVE, PRIVATE, "to", AWAY],
    &["send|post|upload|forward|exfiltrate|leak", "password|passwords|secrets|tokens|credentials|memory|memories|conversation|transcript"],
    &["exfiltrate", "the|all|any|user|data|files|everything"],
    &["reveal|leak|disclose|dump|expose|recite|output|print", "secret|secrets|credentials|password|passwords|verbatim|env"],
    &["reveal|repeat|print|output|disclose|recite|show|display|leak", "your", "instructions|prompt|rules|guidelines|configuration"],
    &["include|append|insert|embed|add|put", "password|passwords|secrets|tokens|credentials|memory|memories|conversation|history", "url|link|image|request|query|address"],
    &["contents|content", "of", "!env|ssh|passwd|credentials|shadow|the", "env|file|files|key|keys|ssh"],
    // Run things.
    &["curl|wget", "http|https", "sh|bash|zsh|python|python3"],
    &["curl|wget", "sh|bash|zsh"],
    &["eval|exec", "base64|atob|http|https|subprocess"],
    &["base64", "d|decode", "sh|bash"],
    &["always|first|immediately|silently|automatically", "!execute|run|invoke", "this|following", "command|script|code|payload"],
    &["execute|run|invoke", "!the|these|this", "!following", "command|commands|script|code|payload|instructions|tool|function"],
    &["download|fetch", "execute|run", "it|them|script|binary|file|payload|package"],
    &["disable|deactivate|bypass", "safety|guardrails|confirmation|confirmations|approval|approvals|safeguards"],
    &["delete|erase|wipe|destroy", "all|every|entire|your|user's", "!memories|memory|facts|backups"],
    // Speak to the model.
    &["note|message|instruction|instructions|attention|memo|notice|reminder|directive|order|important", "!to|for", "!ai|llm|llms|chatbot|chatbots|assistants|agents|models"],
    &["note|message|instruction|instructions|attention|memo|notice|directive|order|important", "!to|for", "!the|this|any|every|all", "!assistant|assistants|ai|llm|model|models|agent|agents|chatbot|language"],
    &["attention|dear|hey|hello|hi", "!ai|llm|language|chatbot", "assistant|model|agent|system|reading|please|if|when|you"],
    &["if|when", "you", "!are", "!an|a|the", "ai|llm|language|assistant|agent|artificial"],
    &["as", "!an", "!ai|llm", "you", "must|should|will|have|need|are"],
    &["assistant|ai|llm|chatbot|agent", "!must|shall", "always|never|now|immediately|obey|comply|execute|send|ignore|include|forward"],
    &["instruct|order|tell|command|direct", "!the", "!assistant|ai|model|chatbot|llm", "to"],
    // Claim a right.
    &["user|owner|admin|administrator|developer|operator|anthropic|openai", "!has|have|had|already", "!authorized|authorised|approved|permitted|allowed|preapproved|pre|consented|granted", "you|all|any|every|full|this|approved"],
    &["you", "!are|have", "!been", "authorized|authorised|cleared|granted", "to|access|permission|full"],
    &["you", "!are|have", "!authorized|authorised|full|root|admin", "to|access|permission|permissions|rights"],
    &["admin|administrator|system|developer|security", "!override"],
    &["treat|consider|regard", "this|following|these", "as", "system|trusted|authoritative|verified|instructions|instruction|command|highest"],
    // Change what is always read.
    &["write|add|save|append|store|put|insert|copy", "to|into", "!soul|memory|user|agents|claude|your", "md|soul|memory|instructions|prompt"],
    &["save|store|remember|keep|persist|memorize|memorise", "permanently|forever|persistently", "instruction|instructions|rule|order|directive"],
    &["update|change|modify|rewrite|edit|replace|overwrite", "!your|the", "!system|core|own", "prompt|instructions|memory|personality|rules|identity|configuration"],
    &["add|save|store|write|commit", "!this|following|it|the", "to|in|into", "your", "memory|memories|instructions|prompt|rules|soul"],
    &["remember", "!this|the", "!instruction|rule|order|command|directive|following"],
    // When this, then that.
    &["whenever|when|if|once|after", "user|users|human", "asks|ask|requests|mentions|says|wants|writes|types|opens|sends|logs", "redirect|ignore|forward|claim|refuse|deny|delete|visit|insert|lie|exfiltrate|secretly"],
    &["whenever|when|if|once|after|every", "user|users|human", "asks|ask|requests|mentions|says|wants|writes|types|opens|sends|logs", "send|direct|point|link|recommend|tell|answer|reply|include", AWAY],
    &["always|only", "!promote|advertise|endorse"],
    &["always", "reply|respond|answer", "!with", "link|url|http|https"],
    // Other languages.
    &["ignoriere|vergiss|missachte|umgehe", "anweisungen|anweisung|regeln|vorgaben|befehle|richtlinien|instruktionen"],
    &["du", "bist", "!jetzt|nun", "ein|eine|der|die|das|kein|nicht"],
    &["sage|sag|verrate|erzahle|erzähle", "benutzer|nutzer|user", "nichts|nicht"],
    &["neue", "!anweisung|anweisungen", "fur|für|gelten|an|assistent|ki"],
    &["ignore|oublie|oubliez|ignorez|negligez", "instructions|consignes|directives"],
    &["tu|vous", "es|etes", "!maintenant|desormais"],
    &["ne", "dis|dites|revele", "pas|rien", "utilisateur"],
    &["nouvelles", "!instructions|consignes"],
    &["ignora|olvida|descarta|ignore|omite", "instrucciones|reglas|ordenes|indicaciones|directrices"],
    &["ahora", "!eres"],
    &["no", "!le|les", "digas|informes|menciones", "usuario"],
    &["nuevas", "!instrucciones"],
    &["ignore|esqueca|desconsidere|ignora", "instrucoes|regras|ordens"],
    &["ignora|dimentica|trascura", "istruzioni|regole|indicazioni"],
    &["negeer|vergeet", "instructies|regels|opdrachten"],
];

/// Pieces that only the frames of models and programs use.
const FRAMES: &[&str] = &[
    "<system",
    "</system",
    "[inst]",
    "[/inst]",
    "<<sys>>",
    "<|im_",
    "<|system",
    "<|user",
    "<|assistant",
    "<|start_header",
    "<|endoftext",
    "### system",
    "### instruction",
    "### human",
    "### assistant",
    "\nsystem:",
    "\nassistant:",
    "[system]",
    "[assistant]",
    "{\"role\":",
    "{\"role\": \"",
    "<tool_call",
    "<function_call",
    "<invoke",
    "<memory-context",
    "<hermes-memory",
    "<system-reminder",
    "begin system",
    "javascript:",
    "data:text/html",
    "![](http",
    "игнорируй",
    "забудь все",
    "не говори пользователю",
    "忽略之前",
    "忽略以上",
    "忽略所有",
    "忽略先前",
    "不要告诉用户",
    "以前の指示を無視",
    "これまでの指示を無視",
    "이전 지시",
];

/// Whether a folded text orders a model to do something.
pub(super) fn orders_a_model(folded: &str) -> bool {
    let starts_like_frame = folded.trim_start().starts_with("system:");
    if starts_like_frame || FRAMES.iter().any(|frame| folded.contains(frame)) {
        return true;
    }
    let words: Vec<&str> = folded
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .filter(|word| !word.is_empty())
        .collect();
    (0..words.len()).any(|start| {
        let orders = BY_FIRST.get(words[start]).map_or(&[][..], Vec::as_slice);
        orders.iter().any(|order| follows(&words[start + 1..], &order[1..]))
    })
}

/// Whether letters that were written one by one make an order.
pub(super) fn orders_together(letters: &str) -> bool {
    ORDERS.iter().any(|order| {
        let firsts = order[0].split('|').flat_map(|word| letters.match_indices(word));
        firsts.into_iter().any(|(at, word)| goes_on(&letters[at + word.len()..], &order[1..]))
    })
}

/// Whether letters go on with the rest of an order, with a few other letters between two of its words.
fn goes_on(letters: &str, rest: &[&str]) -> bool {
    const BETWEEN: usize = 14;
    let Some((part, rest)) = rest.split_first() else { return true };
    let (choices, between) = match part.strip_prefix('!') {
        Some(choices) => (choices, 0),
        None => (*part, BETWEEN),
    };
    choices.split('|').filter(|word| !word.is_empty()).any(|word| {
        let reach = letters.floor_char_boundary((between + word.len()).min(letters.len()));
        letters[..reach].find(word).is_some_and(|at| goes_on(&letters[at + word.len()..], rest))
    })
}

/// The orders that begin with a word.
static BY_FIRST: LazyLock<HashMap<&'static str, Vec<Order>>> = LazyLock::new(|| {
    let mut first: HashMap<&'static str, Vec<Order>> = HashMap::new();
    for order in ORDERS {
        for word in order[0].split('|') {
            first.entry(word).or_default().push(order);
        }
    }
    first
});

/// Whether the words go on with the rest of an order; between two of its words there may be three others.
fn follows(words: &[&str], rest: &[&str]) -> bool {
    const BETWEEN: usize = 3;
    let mut at = 0;
    for part in rest {
        let (choices, between) = match part.strip_prefix('!') {
            Some(choices) => (choices, 0),
            None => (*part, BETWEEN),
        };
        let window = &words[at.min(words.len())..words.len().min(at + between + 1)];
        let fits = |word: &&str| choices.split('|').any(|one| one == *word);
        let Some(found) = window.iter().position(fits) else { return false };
        at += found + 1;
    }
    true
}
