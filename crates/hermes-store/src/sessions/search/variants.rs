//! The other forms of an English word: the index has no stemmer, so the question is widened instead.

/// No word is widened to more forms than this.
const MOST_VARIANTS: usize = 8;

/// Words whose forms follow no rule; the first of each line is the base.
const IRREGULAR: &[&[&str]] = &[
    &["analysis", "analyses"],
    &["become", "becomes", "became", "becoming"],
    &["begin", "begins", "began", "begun", "beginning"],
    &["break", "breaks", "broke", "broken", "breaking"],
    &["bring", "brings", "brought", "bringing"],
    &["build", "builds", "built", "building"],
    &["buy", "buys", "bought", "buying"],
    &["catch", "catches", "caught", "catching"],
    &["child", "children"],
    &["choose", "chooses", "chose", "chosen", "choosing"],
    &["come", "comes", "came", "coming"],
    &["drive", "drives", "drove", "driven", "driving"],
    &["eat", "eats", "ate", "eaten", "eating"],
    &["fall", "falls", "fell", "fallen", "falling"],
    &["find", "finds", "found", "finding"],
    &["fly", "flies", "flew", "flown", "flying"],
    &["forget", "forgets", "forgot", "forgotten", "forgetting"],
    &["freeze", "freezes", "froze", "frozen", "freezing"],
    &["give", "gives", "gave", "given", "giving"],
    &["go", "goes", "went", "gone", "going"],
    &["grow", "grows", "grew", "grown", "growing"],
    &["hide", "hides", "hid", "hidden", "hiding"],
    &["hold", "holds", "held", "holding"],
    &["index", "indexes", "indices", "indexed", "indexing"],
    &["keep", "keeps", "kept", "keeping"],
    &["know", "knows", "knew", "known", "knowing"],
    &["lead", "leads", "led", "leading"],
    &["leave", "leaves", "left", "leaving"],
    &["lose", "loses", "lost", "losing"],
    &["make", "makes", "made", "making"],
    &["man", "men"],
    &["matrix", "matrices"],
    &["meet", "meets", "met", "meeting"],
    &["pay", "pays", "paid", "paying"],
    &["person", "people", "persons"],
    &["rise", "rises", "rose", "risen", "rising"],
    &["run", "runs", "ran", "running"],
    &["say", "says", "said", "saying"],
    &["see", "sees", "saw", "seen", "seeing"],
    &["sell", "sells", "sold", "selling"],
    &["send", "sends", "sent", "sending"],
    &["speak", "speaks", "spoke", "spoken", "speaking"],
    &["spend", "spends", "spent", "spending"],
    &["stand", "stands", "stood", "standing"],
    &["take", "takes", "took", "taken", "taking"],
    &["teach", "teaches", "taught", "teaching"],
    &["tell", "tells", "told", "telling"],
    &["think", "thinks", "thought", "thinking"],
    &["throw", "throws", "threw", "thrown", "throwing"],
    &["understand", "understands", "understood", "understanding"],
    &["vertex", "vertices", "vertexes"],
    &["wear", "wears", "wore", "worn", "wearing"],
    &["win", "wins", "won", "winning"],
    &["woman", "women"],
    &["write", "writes", "wrote", "written", "writing"],
];

/// The word itself and its likely other forms, at most eight; the word alone if it is not English.
pub(super) fn variants(word: &str) -> Vec<String> {
    if word.len() < 3 || word.len() > 24 || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return vec![word.to_owned()];
    }
    let mut forms = vec![word.to_owned()];
    if let Some(group) = IRREGULAR.iter().find(|group| group.contains(&word)) {
        group.iter().for_each(|form| add(&mut forms, (*form).to_owned()));
        return forms;
    }
    let bases = bases(word);
    bases.iter().for_each(|base| add(&mut forms, base.clone()));
    for base in &bases {
        inflections(base).into_iter().for_each(|form| add(&mut forms, form));
    }
    forms.truncate(MOST_VARIANTS);
    forms
}

fn add(forms: &mut Vec<String>, form: String) {
    if !forms.contains(&form) {
        forms.push(form);
    }
}

/// What the word may be a form of, likeliest first; itself if it has no known ending.
fn bases(word: &str) -> Vec<String> {
    if let Some(stem) = word.strip_suffix("ies").or_else(|| word.strip_suffix("ied")) {
        return match stem.len() {
            0..=1 => vec![word.to_owned()],
            _ => vec![format!("{stem}y")],
        };
    }
    if let Some(stem) = word.strip_suffix("ing").or_else(|| word.strip_suffix("ed")) {
        return match stem.len() >= 2 && stem.bytes().any(is_vowel) && !stem.ends_with('e') {
            true => verb_bases(stem),
            false => vec![word.to_owned()],
        };
    }
    match word.strip_suffix('s') {
        // branches → branch, caches → cache: the ending does not tell.
        Some(base) if word.ends_with("ches") => {
            vec![base[..base.len() - 1].to_owned(), base.to_owned()]
        }
        // replicas → replica, repos → repo, but alias and chaos are no plurals.
        Some(base) if base.len() > 3 && base.ends_with(['a', 'o']) => {
            vec![base.to_owned(), word.to_owned()]
        }
        _ => vec![singular(word)],
    }
}

/// `decid` → decide, `runn` → run, `deploy` → deploy, `test` → test, `cach` → cach and cache.
fn verb_bases(stem: &str) -> Vec<String> {
    let bytes = stem.as_bytes();
    let last = bytes[bytes.len() - 1];
    let is_doubled = bytes.len() > 2 && bytes[bytes.len() - 2] == last && !is_vowel(last);
    if is_doubled {
        let single = stem[..stem.len() - 1].to_owned();
        return match last {
            b'l' | b's' | b'z' | b'f' => vec![stem.to_owned(), single],
            _ => vec![single],
        };
    }
    let with_e = format!("{stem}e");
    if matches!(last, b'v' | b'u' | b'z' | b'c') || stem.ends_with("at") && bytes.len() > 4 {
        return vec![with_e];
    }
    let before = bytes[bytes.len() - 2];
    let ends_like_a_verb =
        matches!(last, b'y' | b'w' | b'x') || !is_vowel(before) && !is_soft(stem);
    match ends_like_a_verb {
        true => vec![stem.to_owned()],
        false => vec![with_e, stem.to_owned()],
    }
}

/// Endings after two consonants where an `e` may have been lost: cache, merge, handle, parse.
fn is_soft(stem: &str) -> bool {
    ["ch", "g", "s", "bl", "dl", "gl", "pl", "tl", "st", "th"].iter().any(|end| stem.ends_with(end))
}

fn singular(word: &str) -> String {
    let kept = ["ss", "us", "is", "as", "os"].iter().any(|end| word.ends_with(end));
    if kept || !word.ends_with('s') || word.len() < 4 {
        return word.to_owned();
    }
    let sibilant = ["sses", "xes", "shes", "zzes"].iter().any(|end| word.ends_with(end));
    let cut = if sibilant { 2 } else { 1 };
    word[..word.len() - cut].to_owned()
}

fn inflections(base: &str) -> Vec<String> {
    let bytes = base.as_bytes();
    let last = bytes[bytes.len() - 1];
    let before = bytes[bytes.len().saturating_sub(2)];
    if last == b'y' && !is_vowel(before) {
        let stem = &base[..base.len() - 1];
        return vec![format!("{stem}ies"), format!("{stem}ied"), format!("{base}ing")];
    }
    if last == b'e' {
        let stem = &base[..base.len() - 1];
        return vec![format!("{base}s"), format!("{base}d"), format!("{stem}ing")];
    }
    let sibilant = ["s", "x", "z", "ch", "sh"].iter().any(|end| base.ends_with(end));
    let plural = format!("{base}{}", if sibilant { "es" } else { "s" });
    let stem = if doubles(bytes) { format!("{base}{}", char::from(last)) } else { base.to_owned() };
    let mut forms = vec![plural, format!("{stem}ed"), format!("{stem}ing")];
    if doubles(bytes) && base.len() > 4 {
        forms.extend([format!("{base}ed"), format!("{base}ing")]);
    }
    forms
}

/// Consonant, vowel, consonant at the end: plan → planned, commit → committed.
fn doubles(bytes: &[u8]) -> bool {
    let [.., first, vowel, last] = bytes else { return false };
    !is_vowel(*first)
        && is_vowel(*vowel)
        && !is_vowel(*last)
        && !matches!(last, b'w' | b'x' | b'y' | b's' | b'h')
}

fn is_vowel(byte: u8) -> bool {
    matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_word_finds_its_other_forms() {
        let table: &[(&str, &[&str])] = &[
            ("decide", &["decides", "decided", "deciding"]),
            ("decided", &["decide", "decides", "deciding"]),
            ("deciding", &["decide", "decides", "decided"]),
            ("deploying", &["deploy", "deploys", "deployed"]),
            ("deploy", &["deploys", "deployed", "deploying"]),
            ("policies", &["policy"]),
            ("policy", &["policies"]),
            ("tried", &["try", "tries", "trying"]),
            ("boxes", &["box"]),
            ("caches", &["cache", "cached"]),
            ("branches", &["branch", "branched"]),
            ("cached", &["cache", "caches", "caching"]),
            ("running", &["run", "ran", "runs"]),
            ("planned", &["plan", "plans", "planning"]),
            ("commit", &["commits", "committed", "committing"]),
            ("merged", &["merge", "merges", "merging"]),
            ("tested", &["test", "tests", "testing"]),
            ("handled", &["handle", "handling"]),
            ("migrating", &["migrate", "migrated", "migrates"]),
            ("chose", &["choose", "chosen", "choosing"]),
            ("servers", &["server"]),
            ("replicas", &["replica"]),
            ("repos", &["repo"]),
            ("alias", &["aliases"]),
            ("children", &["child"]),
        ];
        for (word, expected) in table {
            let forms = variants(word);
            assert_eq!(forms[0], *word);
            for form in *expected {
                assert!(forms.iter().any(|f| f == form), "{word} → {forms:?} lacks {form}");
            }
        }
    }

    #[test]
    fn what_is_not_an_english_word_stays_alone() {
        for word in ["v2", "über", "sha256", "ab", "部署", "0"] {
            assert_eq!(variants(word), [word]);
        }
        for word in ["status", "class", "string", "this", "need"] {
            assert!(!variants(word).iter().any(|f| f.len() < word.len()), "{:?}", variants(word));
        }
    }

    proptest! {
        #[test]
        fn a_group_is_small_begins_with_the_word_and_repeats_nothing(word in "[a-z]{1,26}|\\PC{1,6}") {
            let forms = variants(&word);
            prop_assert!(forms.len() <= MOST_VARIANTS);
            prop_assert_eq!(&forms[0], &word);
            let mut unique = forms.clone();
            unique.sort();
            unique.dedup();
            prop_assert_eq!(unique.len(), forms.len());
        }
    }
}
