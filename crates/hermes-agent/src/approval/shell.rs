//! A shell line as the commands in it, as far as it is plain enough to be judged by rules. Pure.

/// A command of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command {
    /// Its words, without their quotes.
    pub(crate) words: Vec<Word>,
    /// Whether it reads what the one before it prints.
    pub(crate) is_piped: bool,
}

/// One word of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Word {
    /// Its text, without quotes.
    pub(crate) text: String,
    /// Whether the shell makes file names of it: `*`, `?`, `[…]`, `~`.
    pub(crate) is_pattern: bool,
}

/// What can be said of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Line {
    /// Every word of every command is known.
    Plain(Vec<Command>),
    /// Something in it is known to the shell alone.
    Tangled(&'static str),
}

const SUBSTITUTION: &str = "it substitutes something";
const REDIRECTION: &str = "it redirects to or from a file";
const COMPOUND: &str = "it is more than plain commands";
const UNCLOSED: &str = "a quote is not closed";

/// Words after which the shell does not expect the end of a simple command.
const KEYWORDS: &[&str] = &[
    "if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do",
    "done", "in", "function", "coproc", "[[", "]]", "!", "{", "}",
];

/// Reads a line as a POSIX shell does, and gives up where it is not plain.
pub(crate) fn parse(line: &str) -> Line {
    let mut reader = Reader::new(line);
    match reader.read() {
        Err(why) => Line::Tangled(why),
        Ok(()) if reader.commands.is_empty() => Line::Tangled("there is no command in it"),
        Ok(()) => Line::Plain(reader.commands),
    }
}

/// The words of every command that may be hidden in a line, however tangled: too many rather than too few.
pub(crate) fn rough(line: &str) -> Vec<Command> {
    let mut commands = Vec::new();
    let mut words = Vec::new();
    let mut word = String::new();
    let mut is_piped = false;
    let joined = line.replace("\\\n", "");
    for letter in joined.chars().chain(['\n']) {
        let ends_command = ";|&\n\r()`{}<>".contains(letter);
        if !ends_command && !letter.is_whitespace() {
            if !"'\"\\".contains(letter) {
                word.push(letter);
            }
            continue;
        }
        if !word.is_empty() {
            words.push(Word { text: std::mem::take(&mut word), is_pattern: false });
        }
        if !ends_command {
            continue;
        }
        if !words.is_empty() {
            commands.push(Command { words: std::mem::take(&mut words), is_piped });
        }
        is_piped = letter == '|';
    }
    commands
}

struct Reader<'a> {
    letters: std::iter::Peekable<std::str::Chars<'a>>,
    commands: Vec<Command>,
    words: Vec<Word>,
    word: Option<Word>,
    /// Whether a part of the word was quoted, so that it is no keyword, number or name.
    is_quoted: bool,
    is_piped: bool,
    /// Whether the next word says where a redirection goes.
    awaits_target: bool,
}

type Step = Result<(), &'static str>;

impl<'a> Reader<'a> {
    fn new(line: &'a str) -> Reader<'a> {
        Reader {
            letters: line.chars().peekable(),
            commands: Vec::new(),
            words: Vec::new(),
            word: None,
            is_quoted: false,
            is_piped: false,
            awaits_target: false,
        }
    }

    fn read(&mut self) -> Step {
        while let Some(letter) = self.letters.next() {
            match letter {
                ' ' | '\t' => self.end_word()?,
                '\n' => self.end_command(true)?,
                ';' => self.end_command(false)?,
                '&' | '|' => self.operator(letter)?,
                '<' | '>' => self.redirection(letter)?,
                '\'' => self.single_quoted()?,
                '"' => self.double_quoted()?,
                '\\' => self.escaped()?,
                '$' | '`' => return Err(SUBSTITUTION),
                '(' | ')' | '}' => return Err(COMPOUND),
                '{' if self.letters.next_if_eq(&'}').is_some() => self.text("{}"),
                '{' => return Err(COMPOUND),
                '#' if self.word.is_none() => return Err("it has a comment"),
                '*' | '?' | '[' => self.pattern(letter),
                '~' if self.word.is_none() => self.pattern(letter),
                control if control.is_control() => return Err("it has control characters"),
                letter => self.push(letter),
            }
        }
        self.end_command(true)
    }

    fn push(&mut self, letter: char) {
        self.word.get_or_insert_default().text.push(letter);
    }

    fn text(&mut self, text: &str) {
        self.word.get_or_insert_default().text.push_str(text);
    }

    fn pattern(&mut self, letter: char) {
        self.push(letter);
        self.word.get_or_insert_default().is_pattern = true;
    }

    fn single_quoted(&mut self) -> Step {
        self.is_quoted = true;
        self.text("");
        loop {
            match self.letters.next() {
                Some('\'') => return Ok(()),
                Some(letter) => self.push(letter),
                None => return Err(UNCLOSED),
            }
        }
    }

    fn double_quoted(&mut self) -> Step {
        self.is_quoted = true;
        self.text("");
        loop {
            match self.letters.next() {
                Some('"') => return Ok(()),
                Some('$' | '`') => return Err(SUBSTITUTION),
                Some('\\') => match self.letters.next() {
                    Some('\n') => {}
                    Some(letter @ ('$' | '`' | '"' | '\\')) => self.push(letter),
                    Some(letter) => self.text(&format!("\\{letter}")),
                    None => return Err(UNCLOSED),
                },
                Some(letter) => self.push(letter),
                None => return Err(UNCLOSED),
            }
        }
    }

    fn escaped(&mut self) -> Step {
        match self.letters.next() {
            None => Err("it ends in a backslash"),
            Some('\n') => Ok(()),
            Some(letter) => {
                self.is_quoted = true;
                self.push(letter);
                Ok(())
            }
        }
    }

    fn operator(&mut self, letter: char) -> Step {
        if letter == '&' && self.letters.next_if_eq(&'>').is_some() {
            self.end_word()?;
            self.letters.next_if_eq(&'>');
            self.awaits_target = true;
            return Ok(());
        }
        let is_double = self.letters.next_if_eq(&letter).is_some();
        let is_pipe = letter == '|' && !is_double;
        if is_pipe {
            self.letters.next_if_eq(&'&');
        }
        self.end_command(false)?;
        self.is_piped = is_pipe;
        Ok(())
    }

    fn redirection(&mut self, letter: char) -> Step {
        let is_number = |word: &Word| word.text.chars().all(|letter| letter.is_ascii_digit());
        if !self.is_quoted && self.word.as_ref().is_some_and(is_number) {
            self.word = None;
        }
        self.end_word()?;
        match (letter, self.letters.peek()) {
            ('<', Some('<' | '(' | '>' | '&')) | ('>', Some('(')) => Err(COMPOUND),
            ('>', Some('&')) => {
                self.letters.next();
                let is_stream = |letter: &char| letter.is_ascii_digit() || *letter == '-';
                let found = self.letters.next_if(is_stream);
                let is_end = self.letters.peek().is_none_or(|next| " \t\n;&|".contains(*next));
                if found.is_some() && is_end { Ok(()) } else { Err(REDIRECTION) }
            }
            (_, next) => {
                if letter == '>' && matches!(next, Some('>' | '|')) {
                    self.letters.next();
                }
                self.awaits_target = true;
                Ok(())
            }
        }
    }

    fn end_word(&mut self) -> Step {
        let is_quoted = std::mem::take(&mut self.is_quoted);
        let Some(word) = self.word.take() else { return Ok(()) };
        if std::mem::take(&mut self.awaits_target) {
            return if word.text == "/dev/null" { Ok(()) } else { Err(REDIRECTION) };
        }
        if self.words.is_empty() {
            let is_keyword = !is_quoted && KEYWORDS.contains(&word.text.as_str());
            if is_keyword || word.is_pattern || word.text.is_empty() {
                return Err(COMPOUND);
            }
            if is_assignment(&word.text) {
                return Err("it sets a variable");
            }
        }
        self.words.push(word);
        Ok(())
    }

    fn end_command(&mut self, may_be_empty: bool) -> Step {
        self.end_word()?;
        if self.awaits_target {
            return Err(REDIRECTION);
        }
        if self.words.is_empty() {
            return if may_be_empty { Ok(()) } else { Err(COMPOUND) };
        }
        let words = std::mem::take(&mut self.words);
        let is_piped = std::mem::take(&mut self.is_piped);
        self.commands.push(Command { words, is_piped });
        Ok(())
    }
}

fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    !name.is_empty()
        && !name.starts_with(|letter: char| letter.is_ascii_digit())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Option<Vec<Vec<String>>> {
        match parse(line) {
            Line::Tangled(_) => None,
            Line::Plain(commands) => Some(
                commands
                    .into_iter()
                    .map(|command| command.words.into_iter().map(|word| word.text).collect())
                    .collect(),
            ),
        }
    }

    #[test]
    fn plain_lines_are_read_as_the_shell_reads_them() {
        for (line, wanted) in [
            ("cargo test", vec![vec!["cargo", "test"]]),
            ("a b&&c;d|e&f", vec![vec!["a", "b"], vec!["c"], vec!["d"], vec!["e"], vec!["f"]]),
            ("a 'b c' \"d e\" f\\ g", vec![vec!["a", "b c", "d e", "f g"]]),
            ("a 2>&1 | b >/dev/null", vec![vec!["a"], vec!["b"]]),
            ("a\nb\n", vec![vec!["a"], vec!["b"]]),
            ("a b\\\nc", vec![vec!["a", "bc"]]),
            ("a '' x#y", vec![vec!["a", "", "x#y"]]),
            ("r'm' -rf", vec![vec!["rm", "-rf"]]),
            ("a 1 &>/dev/null", vec![vec!["a", "1"]]),
        ] {
            let wanted: Vec<Vec<String>> = wanted
                .into_iter()
                .map(|command| command.into_iter().map(str::to_owned).collect())
                .collect();
            assert_eq!(words(line), Some(wanted), "{line}");
        }
    }

    #[test]
    fn what_only_the_shell_knows_is_tangled() {
        for line in [
            "",
            "a $(b)",
            "a `b`",
            "a \"$b\"",
            "a ${b}",
            "a > b",
            "a >> b",
            "a < b",
            "a << b",
            "a 'b",
            "a \"b",
            "a \\",
            "(a)",
            "{ a; }",
            "if a; then b; fi",
            "X=1 a",
            "a {b,c}",
            "a # b",
            "! a",
            "a ;; b",
            "&& a",
            "a <(b)",
            "a >&b",
            "* a",
            "~/a b",
            "a \u{1b}[2J",
            "a\rb",
            "f() { a; }",
            "for x in y; do a; done",
            "a >",
            "a 2>x",
        ] {
            assert_eq!(words(line), None, "{line}");
        }
    }

    #[test]
    fn a_rough_reading_finds_what_is_hidden() {
        let found = rough("echo \"$(rm -rf x)\" > `y`; sh -c 'reboot now'");
        let starts: Vec<&str> = found.iter().map(|one| one.words[0].text.as_str()).collect();
        assert_eq!(starts, ["echo", "rm", "y", "sh"]);
    }
}
