//! One of several words on the command line, each with a line of help.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// A word, what its help says, and what it means.
pub(crate) type Word<T> = (&'static str, &'static str, T);

/// Takes one of these words.
pub(crate) fn one_of<T>(words: &'static [Word<T>]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    let shown = words.iter().map(|(word, help, _)| match help.is_empty() {
        true => PossibleValue::new(word),
        false => PossibleValue::new(word).help(help),
    });
    PossibleValuesParser::new(shown).try_map(|said| {
        let found = words.iter().find(|(word, ..)| *word == said);
        found.map(|(_, _, meaning)| *meaning).ok_or("it is not one of the possible values")
    })
}
