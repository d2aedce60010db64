//! Made-up conversations with the word statistics of real ones (Zipf), the same every time.

use hermes_app::numbers::Numbers;

/// The commonest words, most frequent first; every other word of the vocabulary is made of syllables.
const COMMON: &[&str] = &[
    "the", "to", "and", "of", "a", "we", "is", "in", "it", "that", "for", "you", "with", "on",
    "this", "be", "are", "not", "have", "was", "but", "can", "what", "they", "will", "so", "if",
    "about", "there", "how", "when", "did", "all", "from", "or", "which", "do", "should", "would",
    "one", "server", "file", "change", "test", "error", "project", "time", "work", "code", "data",
    "need", "user", "make", "version", "system", "page", "update", "question", "report", "week",
    "deploy", "database", "branch", "message", "build", "customer", "design", "review", "plan",
    "meeting",
];
/// Words that say nothing about what is asked.
const EMPTY_WORDS: &str = "a an and are as at be been but by can could did do does for from had \
    has have he her hers him his how i if in is it its me my of on or our she should so than that \
    the their them then there these they this to was we were what when where which who whom whose \
    why will with would you your";
const ONSETS: &[&str] = &[
    "b", "br", "c", "d", "dr", "f", "g", "gr", "h", "k", "l", "m", "n", "p", "r", "s", "st", "t",
    "v",
];
const VOWELS: &[&str] = &["a", "e", "i", "o", "u", "ai", "ea", "ou"];
const CODAS: &[&str] = &["", "", "l", "m", "n", "nd", "r", "s", "t", "x"];
const WORDS: usize = 30_000;
/// Zipf–Mandelbrot: the word of rank r has weight 1 / (r + SHIFT).
const SHIFT: f64 = 2.7;

/// The words a made-up person uses, with how often they use each.
pub(crate) struct Vocabulary {
    words: Vec<String>,
    /// Summed weights, for drawing a word by its frequency.
    sums: Vec<f64>,
}

impl Vocabulary {
    pub(crate) fn new() -> Vocabulary {
        let mut numbers = Numbers::new(1);
        let mut words: Vec<String> = COMMON.iter().map(|word| (*word).to_owned()).collect();
        while words.len() < WORDS {
            words.push(made_up(&mut numbers, words.len()));
        }
        Vocabulary::of(words)
    }

    /// A vocabulary of real words, commonest first; names and slips make one of four rare words.
    pub(crate) fn real<'a>(known: impl Iterator<Item = &'a str>) -> Vocabulary {
        const FIRST_MADE_UP: usize = 2_000;
        let mut numbers = Numbers::new(1);
        let mut words: Vec<String> = COMMON.iter().map(|word| (*word).to_owned()).collect();
        for word in known.filter(|word| !COMMON.contains(word)) {
            if words.len() > FIRST_MADE_UP && words.len().is_multiple_of(4) {
                words.push(made_up(&mut numbers, words.len()));
            }
            words.push(word.to_owned());
        }
        Vocabulary::of(words)
    }

    fn of(words: Vec<String>) -> Vocabulary {
        let mut sum = 0.0;
        let sums = (0..words.len()).map(|rank| {
            sum += 1.0 / (rank as f64 + SHIFT);
            sum
        });
        Vocabulary { sums: sums.collect(), words }
    }

    /// Every word, commonest first.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// A word as often as people use it.
    pub(crate) fn draw(&self, numbers: &mut Numbers) -> &str {
        let total = self.sums.last().copied().unwrap_or(1.0);
        let wanted = numbers.fraction() * total;
        let rank = self.sums.partition_point(|sum| *sum < wanted);
        &self.words[rank.min(self.words.len() - 1)]
    }

    /// The word of the given rank, 0 being the commonest.
    pub(crate) fn rank(&self, rank: usize) -> &str {
        &self.words[rank.min(self.words.len() - 1)]
    }

    /// A message of about `length` characters, with sentences.
    pub(crate) fn message(&self, numbers: &mut Numbers, length: usize) -> String {
        let mut text = String::with_capacity(length + 16);
        let mut left = 0;
        while text.len() < length {
            if left == 0 {
                left = 6 + numbers.below(12);
                text.push_str(if text.is_empty() { "" } else { ". " });
            } else {
                text.push(' ');
            }
            text.push_str(self.draw(numbers));
            left -= 1;
        }
        text.push('.');
        text
    }
}

/// Whether a word, in lower case, says nothing about what is asked.
pub(crate) fn is_empty_word(word: &str) -> bool {
    EMPTY_WORDS.split_whitespace().any(|empty| empty == word)
}

fn made_up(numbers: &mut Numbers, rank: usize) -> String {
    let syllables = 2 + usize::from(rank > 2_000) + usize::from(rank > 15_000);
    let mut word = String::new();
    for _ in 0..syllables {
        word.push_str(ONSETS[numbers.below(ONSETS.len())]);
        word.push_str(VOWELS[numbers.below(VOWELS.len())]);
        word.push_str(CODAS[numbers.below(CODAS.len())]);
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_numbers_give_the_same_text_of_the_asked_length() {
        let vocabulary = Vocabulary::new();
        let first = vocabulary.message(&mut Numbers::new(7), 300);
        assert_eq!(first, vocabulary.message(&mut Numbers::new(7), 300));
        assert!((300..340).contains(&first.len()), "{}", first.len());
    }

    #[test]
    fn common_words_are_common_and_rare_ones_rare() {
        let vocabulary = Vocabulary::new();
        let mut numbers = Numbers::new(3);
        let drawn: Vec<&str> = (0..20_000).map(|_| vocabulary.draw(&mut numbers)).collect();
        let count = |word: &str| drawn.iter().filter(|drawn| **drawn == word).count();
        assert!(count("the") > 500, "{}", count("the"));
        assert!(count(vocabulary.rank(20_000)) < 5);
    }
}
