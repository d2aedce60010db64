//! How many model tokens a text costs, estimated without a tokenizer.

/// About how many tokens a text is: against OpenAI's o200k within 10 % for English, Markdown and
/// code, 25 % for other Latin text and ideographs, and up to 50 % too many for other alphabets.
pub fn estimate(text: &str) -> usize {
    let mut tenths = 0;
    let mut characters = text.chars().peekable();
    while let Some(first) = characters.next() {
        let class = Class::of(first);
        let mut length = 1;
        let mut accents = usize::from(!first.is_ascii());
        while let Some(next) = characters.next_if(|next| Class::of(*next) == class) {
            length += 1;
            accents += usize::from(!next.is_ascii());
        }
        tenths += class.tenths(length, accents);
    }
    usize::div_ceil(tenths, 10)
}

/// Characters that tokenizers cut in the same way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Blank,
    Newline,
    Latin,
    Alphabet,
    Ideograph,
    Digit,
    Punctuation,
    Other,
}

impl Class {
    fn of(c: char) -> Class {
        match c {
            '\n' | '\r' => Class::Newline,
            _ if c.is_whitespace() => Class::Blank,
            '0'..='9' => Class::Digit,
            'A'..='Z' | 'a'..='z' | '\u{c0}'..='\u{24f}' => Class::Latin,
            _ if c.is_ascii() => Class::Punctuation,
            '\u{2010}'..='\u{2027}' | '\u{3001}'..='\u{3003}' | '\u{ff00}'..='\u{ff20}' => {
                Class::Punctuation
            }
            '\u{1100}'..='\u{11ff}' | '\u{2e80}'..='\u{d7ff}' | '\u{f900}'..='\u{faff}' => {
                Class::Ideograph
            }
            '\u{20000}'..='\u{3ffff}' => Class::Ideograph,
            '\u{300}'..='\u{1fff}' => Class::Alphabet,
            _ if c.is_alphanumeric() => Class::Alphabet,
            _ => Class::Other,
        }
    }

    /// The cost of a run, in tenths of a token.
    fn tenths(self, length: usize, accents: usize) -> usize {
        match self {
            // A single blank goes with the word after it.
            Class::Blank => length.saturating_sub(1).min(4) * 3,
            Class::Newline => 7,
            // Words up to eight letters are mostly one token; letters with accents split them.
            Class::Latin => 10 + (length - 1) / 8 * 10 + accents * 4,
            Class::Alphabet => 5 + length * 3,
            Class::Ideograph => length * 8,
            Class::Digit => length.div_ceil(3) * 10,
            Class::Punctuation => length.div_ceil(2) * 8,
            Class::Other => length * 15,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The counts are those of the o200k tokenizer.
    #[test]
    fn estimates_are_near_the_counts_of_a_real_tokenizer() {
        let check = |text: &str, counted: usize| {
            let estimate = estimate(text);
            let off = estimate.abs_diff(counted) * 100;
            assert!(off <= counted * 25, "{estimate} instead of about {counted}: {text}");
        };
        check("The quick brown fox jumps over the lazy dog.", 10);
        check("Prefers Postgres over MySQL for new projects and short answers by default.", 16);
        check("- Code in ~/code/brightcart, branch main. <!-- written 2026-11-15 -->\n", 22);
        check("fn main() {\n    println!(\"{}\", 1 + 2);\n}\n", 14);
        check("Die Besprechung wurde auf Donnerstag verschoben, weil er krank war.", 15);
        check("用户喜欢简短的回答，主要在早上工作。", 13);
        check("Ο χρήστης προτιμά σύντομες απαντήσεις.", 15);
    }

    #[test]
    fn ideographs_cost_about_one_token_each_and_nothing_costs_nothing() {
        assert_eq!(estimate(""), 0);
        let chinese = "我们在项目中使用数据库";
        let characters = chinese.chars().count();
        assert!((characters * 2 / 3..=characters).contains(&estimate(chinese)));
    }

    proptest! {
        #[test]
        fn a_text_costs_at_most_two_tokens_a_character_and_never_less_than_a_part_of_it(
            left in any::<String>(),
            right in any::<String>(),
        ) {
            let whole = estimate(&format!("{left}\n{right}"));
            prop_assert!(whole <= 2 * (left.chars().count() + right.chars().count() + 1));
            prop_assert!(whole >= estimate(&left).max(estimate(&right)).saturating_sub(1));
        }
    }
}
