//! What people type, and what it is taken to mean.

use proptest::prelude::*;

use super::*;

fn expression(text: &str) -> Option<String> {
    let query = parse(text);
    query.condition.and_then(|condition| condition.expression(&query.terms))
}

fn shown(text: &str, kind: TermKind) -> Vec<String> {
    let terms = parse(text).terms;
    terms.into_iter().filter(|term| term.kind == kind).map(|term| term.shown).collect()
}

#[test]
fn a_sentence_is_read_as_words_and_small_words() {
    let question = "What did we decide about the deploy?";
    assert_eq!(parse(question).mode, Mode::Plain);
    assert_eq!(shown(question, TermKind::Content), ["decide", "deploy"]);
    assert_eq!(shown(question, TermKind::Stop), ["what", "did", "we", "about", "the"]);
}

#[test]
fn punctuation_is_text_in_a_sentence() {
    let table = [
        ("state.db", "state db"),
        ("content:secret", "content secret"),
        ("NEAR(cat)", "near cat"),
        ("^start", "start"),
        ("a+b", "a b"),
        ("{curly}", "curly"),
        ("C++", "c"),
        ("Anna's", "anna"),
        ("it’s-fine", "it s fine"),
        ("5*3", "5 3"),
        ("un\"closed", "un closed"),
        ("**bold**", "bold"),
        ("/tmp/*", "tmp"),
    ];
    for (text, expected) in table {
        let query = parse(text);
        assert_eq!(query.mode, Mode::Plain, "{text}");
        assert_eq!(query.terms[0].shown, expected, "{text}");
    }
}

#[test]
fn the_query_language_is_read_as_fts5_reads_it() {
    let table = [
        ("\"exact phrase\"", r#"("exact phrase")"#),
        ("\"exact phrase\" word", r#"(("exact phrase") AND ("word"))"#),
        ("one OR two three", r#"(("one") OR (("two") AND ("three")))"#),
        ("one NOT two three", r#"(("one") NOT (("two") AND ("three")))"#),
        ("one AND two OR three", r#"((("one") AND ("two")) OR ("three"))"#),
        ("a b NOT c", r#"((("a") AND ("b")) NOT ("c"))"#),
        ("(one OR two) three", r#"((("one") OR ("two")) AND ("three"))"#),
        ("dep*", r#"("dep" *)"#),
        ("\"two wor\"*", r#"("two wor" *)"#),
        ("state.db OR x", r#"(("state db") OR ("x"))"#),
        ("\"say \"\"hi\"\" now\"", r#"("say hi now")"#),
    ];
    for (text, expected) in table {
        assert_eq!(parse(text).mode, Mode::Strict, "{text}");
        assert_eq!(expression(text).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn operators_with_nothing_to_join_are_dropped() {
    let table = [
        ("\"a\" OR", r#"("a")"#),
        ("OR \"a\"", r#"("a")"#),
        ("a OR OR b", r#"(("a") OR ("b"))"#),
        ("a AND NOT b", r#"(("a") NOT ("b"))"#),
        ("NOT b AND a", r#"(("a") NOT ("b"))"#),
        ("a NOT", r#""#),
        ("a NOT OR b", r#"(("a") NOT ("b"))"#),
        ("((\"a\")", r#"("a")"#),
        ("\"a\"))) AND b", r#"(("a") AND ("b"))"#),
        ("() OR \"a\"", r#"("a")"#),
    ];
    for (text, expected) in table {
        assert_eq!(expression(text).unwrap_or_default(), expected, "{text}");
    }
}

#[test]
fn a_leading_not_is_ignored_and_says_so() {
    let query = parse("NOT draft");
    assert_eq!(query.condition, Some(Node::Term(0)));
    assert_eq!(query.notes, ["NOT needs another word beside it; it was ignored"]);
    let query = parse("deploy OR NOT draft");
    assert_eq!(query.condition, Some(Node::Term(0)));
    assert_eq!(query.notes.len(), 1);
}

#[test]
fn operators_in_lower_case_or_alone_are_words() {
    for text in ["cats or dogs", "rock and roll", "NOT", "OR", "AND AND", "search OR", "* ?"] {
        assert_eq!(parse(text).mode, Mode::Plain, "{text}");
    }
}

#[test]
fn scripts_without_blanks_become_literals_beside_the_words() {
    let query = parse("Docker部署 服务器 now");
    let literals: Vec<&str> = query.terms.iter().filter_map(Term::as_literal).collect();
    assert_eq!(literals, ["部署", "服务器"]);
    assert_eq!(query.terms[0].shown, "docker");
    let pairs: Vec<String> = query.terms[2].apart().into_iter().map(|term| term.shown).collect();
    assert_eq!(pairs, ["服务", "务器"]);
}

#[test]
fn symbols_alone_are_looked_for_as_they_stand() {
    assert_eq!(parse("🎉").terms[0].as_literal(), Some("🎉"));
    assert!(parse("?!").terms.is_empty());
    assert!(parse("\0\u{1}\t").terms.is_empty());
}

#[test]
fn the_same_word_twice_or_in_two_forms_is_one_term() {
    assert_eq!(shown("deploy Deploy deployed", TermKind::Content), ["deploy"]);
}

#[test]
fn a_long_query_is_cut_and_says_so() {
    let query = parse(&"word ".repeat(1000));
    assert_eq!(query.notes, ["only the first 2048 characters of the query were read"]);
    let many: String = (0..40).map(|n| format!("word{n} ")).collect();
    let query = parse(&many);
    assert_eq!(query.terms.len(), MOST_TERMS);
    assert_eq!(query.notes, ["only the first 24 words of the query were used"]);
}

#[test]
fn text_inside_json_is_found_by_its_escapes() {
    assert_eq!(json_escaped("é🎉a"), "\\u00e9\\ud83c\\udf89a");
    assert!(parse("café").terms[0].ways.contains(&Way::Words(vec!["caf".into(), "u00e9".into()])));
}

proptest! {
    #[test]
    fn anything_typed_is_read(text in "(\"|\\(|\\)|\\*| |AND|OR|NOT|a|bc|部署|🎉|\u{0}|:|NEAR\\(|\\PC){0,40}") {
        let query = parse(&text);
        prop_assert_eq!(query.mode == Mode::Strict, query.condition.is_some());
        prop_assert!(query.terms.iter().all(|term| !term.ways.is_empty()));
    }
}
