//! A statement in its pieces: words, values, marks.

/// A piece of a statement.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Space(String),
    Word(String),
    Number(String),
    Text(String),
    Value(String),
    Mark(char),
}

/// The pieces of a statement, in their order.
pub(super) fn tokens(sql: &str) -> Vec<Token> {
    let letters: Vec<char> = sql.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    let run = |from: usize, is: &dyn Fn(char) -> bool| {
        let mut end = from;
        while letters.get(end).is_some_and(|letter| is(*letter)) {
            end += 1;
        }
        end
    };
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    while let Some(letter) = letters.get(at).copied() {
        let text = |end: usize| letters[at..end].iter().collect::<String>();
        let (token, end) = if letter.is_whitespace() {
            let end = run(at, &char::is_whitespace);
            (Token::Space(text(end)), end)
        } else if letter == '\'' || letter == '"' {
            let close = run(at + 1, &|other| other != letter) + 1;
            (Token::Text(text(close.min(letters.len()))), close)
        } else if letter == '?'
            || (letter == ':' && letters.get(at + 1).is_some_and(|l| is_word(*l)))
        {
            let end = run(at + 1, &is_word);
            (Token::Value(text(end)), end)
        } else if letter.is_ascii_digit() {
            let end = run(at, &is_word);
            (Token::Number(text(end)), end)
        } else if is_word(letter) {
            let end = run(at, &is_word);
            (Token::Word(text(end)), end)
        } else {
            (Token::Mark(letter), at + 1)
        };
        found.push(token);
        at = end;
    }
    found
}
