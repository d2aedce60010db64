//! How made-up people and assistants write: the words of single messages.

use super::topics::{General, Topic, pick};
use hermes_app::numbers::Numbers;

/// The share of statements that name what they are about.
const NAMED: f64 = 0.65;

/// What the places of a phrase are filled with.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Filling<'a> {
    pub(super) name: &'a str,
    pub(super) value: &'a str,
    pub(super) old_value: &'a str,
    pub(super) person: &'a str,
    /// What a statement is about, in a word or two.
    pub(super) gist: &'a str,
}

/// Fills a phrase: `{x}` and `{v}` from the filling, `{n}` and `{k}` by chance.
pub(super) fn fill(
    phrase: &str,
    filling: Filling<'_>,
    topic: &Topic,
    numbers: &mut Numbers,
) -> String {
    let mut text = phrase
        .replace("{x}", filling.name)
        .replace("{v}", filling.value)
        .replace("{o}", filling.old_value)
        .replace("{me}", filling.person)
        .replace("{g}", filling.gist);
    while text.contains("{n}") {
        text = text.replacen("{n}", pick(numbers, &topic.nouns), 1);
    }
    while text.contains("{k}") {
        text = text.replacen("{k}", &(2 + numbers.below(58)).to_string(), 1);
    }
    text.replace("\\n", "\n").replace("\\\\", "\\")
}

/// A statement of a person, among the words people put around one.
pub(super) fn statement(said: &str, filling: Filling<'_>, voice: &mut Voice<'_, '_>) -> String {
    let mut parts = Vec::new();
    if voice.chance(NAMED) {
        let gist = pick(voice.numbers, &voice.general.gists);
        parts.push(voice.line(gist, filling));
    } else if voice.chance(0.4) {
        let before = pick(voice.numbers, &voice.general.befores);
        parts.push(voice.careless(before, filling));
    }
    parts.push(fill(said, filling, voice.topic, voice.numbers));
    if voice.chance(0.25) {
        let opener = pick(voice.numbers, &voice.topic.openers);
        parts.push(format!("\n{}", voice.careless(opener, filling)));
    } else if voice.chance(0.5) {
        let after = pick(voice.numbers, &voice.general.afters);
        parts.push(voice.careless(after, filling));
    }
    parts.join(" ")
}

/// A message of a person that states nothing.
pub(super) fn remark(phrase: &str, filling: Filling<'_>, voice: &mut Voice<'_, '_>) -> String {
    let mut text = voice.careless(phrase, filling);
    if voice.chance(0.25) {
        let before = pick(voice.numbers, &voice.general.befores);
        text = format!("{} {text}", voice.careless(before, filling));
    }
    if voice.chance(0.3) {
        let after = pick(voice.numbers, &voice.general.afters);
        text = format!("{text} {}", voice.careless(after, filling));
    }
    text
}

/// An answer of the assistant: sections of several kinds, with what it must say inside.
pub(super) fn answer(
    must_say: Option<&str>,
    filling: Filling<'_>,
    voice: &mut Voice<'_, '_>,
) -> String {
    let length = 900 + voice.numbers.below(1_900);
    let intro = pick(voice.numbers, &voice.general.intros);
    let mut sections = vec![voice.line(intro, filling)];
    let mut to_say = must_say;
    let mut total = 0;
    while total < length {
        let is_time = total * 2 > length;
        let section = match to_say.filter(|_| is_time) {
            Some(text) => {
                to_say = None;
                around(text, filling, voice)
            }
            None => section(filling, voice),
        };
        total += section.len();
        sections.push(section);
    }
    sections.extend(to_say.map(|text| around(text, filling, voice)));
    if voice.chance(0.6) {
        let caveat = pick(voice.numbers, &voice.general.caveats);
        sections.push(format!("> {}", voice.line(caveat, filling)));
    }
    let close = pick(voice.numbers, &voice.general.closes);
    sections.push(voice.line(close, filling));
    sections.join("\n\n")
}

/// Who writes, and about what.
pub(super) struct Voice<'a, 'n> {
    pub(super) topic: &'a Topic,
    /// What else the person talks about, for a word in passing.
    pub(super) other: &'a Topic,
    pub(super) general: &'a General,
    pub(super) numbers: &'n mut Numbers,
}

impl Voice<'_, '_> {
    fn chance(&mut self, share: f64) -> bool {
        self.numbers.fraction() < share
    }

    fn line(&mut self, phrase: &str, filling: Filling<'_>) -> String {
        fill(phrase, filling, self.topic, self.numbers)
    }

    /// A phrase as someone in a hurry types it.
    fn careless(&mut self, phrase: &str, filling: Filling<'_>) -> String {
        let text = self.line(phrase, filling);
        match self.numbers.below(8) {
            0 => text.to_lowercase(),
            1 => swapped(&text, self.numbers),
            2 => text.replace('\'', "").trim_end_matches('.').to_owned(),
            _ => text,
        }
    }

    /// A sentence about the topic, or one that fits everything.
    fn sentence(&mut self, filling: Filling<'_>) -> String {
        let phrase = match self.numbers.below(5) {
            0..=2 => pick(self.numbers, &self.topic.points),
            _ => pick(self.numbers, &self.general.bodies),
        };
        self.line(phrase, filling)
    }

    /// From the lesser to the greater number of different sentences.
    fn sentences(&mut self, least: usize, most: usize, filling: Filling<'_>) -> Vec<String> {
        let count = least + self.numbers.below(most - least + 1);
        let mut sentences: Vec<String> = Vec::new();
        for _ in 0..count * 2 {
            let sentence = self.sentence(filling);
            if sentences.len() < count && !sentences.contains(&sentence) {
                sentences.push(sentence);
            }
        }
        sentences
    }
}

fn around(text: &str, filling: Filling<'_>, voice: &mut Voice<'_, '_>) -> String {
    let before = voice.sentences(1, 2, filling).join(" ");
    let after = voice.sentences(1, 2, filling).join(" ");
    format!("{before} {text} {after}")
}

fn section(filling: Filling<'_>, voice: &mut Voice<'_, '_>) -> String {
    let body = match voice.numbers.below(10) {
        0..=3 => voice.sentences(2, 4, filling).join(" "),
        4 | 5 => steps(filling, voice),
        6 => bullets(filling, voice),
        7 => table(filling, voice),
        8 => in_passing(filling, voice),
        _ => code(filling, voice),
    };
    if voice.chance(0.45) {
        let head = pick(voice.numbers, &voice.general.heads);
        return format!("## {}\n\n{body}", voice.line(head, filling));
    }
    body
}

fn steps(filling: Filling<'_>, voice: &mut Voice<'_, '_>) -> String {
    let count = 3 + voice.numbers.below(3);
    let lines: Vec<String> = (1..=count)
        .map(|number| {
            let step = pick(voice.numbers, &voice.general.steps);
            format!("{number}. {}", voice.line(step, filling))
        })
        .collect();
    lines.join("\n")
}

fn bullets(filling: Filling<'_>, voice: &mut Voice<'_, '_>) -> String {
    let sentences = voice.sentences(2, 4, filling).into_iter().map(|sentence| {
        let noun = pick(voice.numbers, &voice.topic.nouns);
        format!("- **{noun}**: {sentence}")
    });
    sentences.collect::<Vec<_>>().join("\n")
}

fn table(filling: Filling<'_>, voice: &mut Voice<'_, '_>) -> String {
    let mut lines = vec!["| option | effort | effect |".to_owned(), "|---|---|---|".to_owned()];
    for effort in ["small", "medium", "large"] {
        let row = format!("| change the {{n}} of {{x}} | {effort}, {{k}} h | {{k}} % |");
        lines.push(voice.line(&row, filling));
    }
    lines.join("\n")
}

fn code(filling: Filling<'_>, voice: &mut Voice<'_, '_>) -> String {
    let code = pick(voice.numbers, &voice.topic.code);
    let code = voice.line(code, filling);
    format!("```\n{code}\n```\n\n{}", voice.sentence(filling))
}

/// A paragraph that strays to another topic.
fn in_passing(filling: Filling<'_>, voice: &mut Voice<'_, '_>) -> String {
    let other = voice.other;
    let point = pick(voice.numbers, &other.points);
    let point = fill(point, filling, other, voice.numbers);
    let sentence = voice.sentence(filling);
    format!("On a side note, since it came up with the {}: {point} {sentence}", other.nouns[0])
}

/// The text with two letters of one word in the wrong order.
fn swapped(text: &str, numbers: &mut Numbers) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let places: Vec<usize> = (1..letters.len().saturating_sub(2))
        .filter(|at| letters[at - 1..at + 2].iter().all(char::is_ascii_lowercase))
        .collect();
    if let Some(at) = places.get(numbers.below(places.len())) {
        letters.swap(*at, at + 1);
    }
    letters.into_iter().collect()
}
