//! Prompts for which nothing that was said before is of use.

use hermes_app::numbers::Numbers;

const GREETINGS: [&str; 8] = [
    "Hi",
    "Hello",
    "Good morning",
    "Good evening",
    "Hey there",
    "Hi again",
    "Good afternoon",
    "Greetings",
];
const GREETINGS_END: [&str; 5] =
    ["!", ", how are you?", ", are you ready?", ", what can you do?", ", let's begin."];
const THINGS: [&str; 20] = [
    "an escalator",
    "fog",
    "a stapler",
    "gravel",
    "an umbrella stand",
    "static electricity",
    "a lighthouse",
    "moss",
    "a paper clip",
    "thunder",
    "a doorbell",
    "magnets",
    "an anvil",
    "dew",
    "a thimble",
    "basalt",
    "a weather vane",
    "rust",
    "an hourglass",
    "tides",
];
const WORDS: [&str; 20] = [
    "spoon", "window", "ladder", "feather", "bucket", "candle", "pillow", "whistle", "button",
    "lantern", "hammer", "curtain", "pebble", "ribbon", "saddle", "needle", "basket", "blanket",
    "kettle", "anchor",
];
const UNITS: [(&str, &str); 4] = [
    ("miles", "kilometres"),
    ("pounds", "kilograms"),
    ("gallons", "litres"),
    ("inches", "millimetres"),
];

/// Two hundred different ones: greetings, haiku, sums, and chores about words and units.
pub(super) fn prompts() -> Vec<String> {
    let mut numbers = Numbers::new(11);
    let mut all = Vec::new();
    for greeting in GREETINGS {
        all.extend(GREETINGS_END.iter().map(|end| format!("{greeting}{end}")));
    }
    for thing in THINGS {
        all.push(format!("Write a haiku about {thing}."));
        all.push(format!("Make up a limerick on the subject of {thing}, five lines."));
    }
    for number in 0..20 {
        let (first, second) = (12 + number * 3, 17 + numbers.below(80));
        all.push(format!("What is {first} times {second}?"));
        all.push(format!("Divide {} by {second} and round to two digits.", first * 1000));
    }
    for (number, word) in WORDS.iter().enumerate() {
        let (from, to) = UNITS[number % UNITS.len()];
        all.push(format!("Give me three synonyms of the word \"{word}\"."));
        all.push(format!("Translate \"{word}\" into Finnish, Basque and Welsh."));
        all.push(format!("Spell \"{word}\" backwards."));
        all.push(format!("Convert {} {from} to {to}.", 7 + number * 11));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_two_hundred_different_prompts() {
        let mut all = prompts();
        assert_eq!(all.len(), 200);
        all.sort();
        all.dedup();
        assert_eq!(all.len(), 200);
    }
}
