//! What tasks, names and words are found in texts.

use proptest::prelude::*;

use super::*;

#[test]
fn tasks_are_sorted_by_what_they_ask_for() {
    for (text, kind) in [
        ("Fix the failing test in parser.rs", TaskType::Coding),
        ("Write a blog post about our launch", TaskType::Writing),
        ("Research alternatives to Postgres and compare them", TaskType::Research),
        ("Watch the price page and alert me when it changes", TaskType::Monitoring),
        ("Plan a trip to Lisbon in May", TaskType::Planning),
        ("Calculate the median of each column in sales.csv", TaskType::Data),
        ("Reply to Anna's email and invite her", TaskType::Communication),
        ("Schreib mir bitte ein Gedicht", TaskType::Writing),
        ("Busca información sobre baterías", TaskType::Research),
        ("thanks!", TaskType::General),
        ("", TaskType::General),
    ] {
        assert_eq!(infer(text), kind, "{text}");
    }
}

#[test]
fn names_are_found_inside_sentences() {
    let found = names("Ask Ada Lovelace about BrightCart and the \"north star\" deck.");
    for name in ["Ada Lovelace", "Ada", "BrightCart", "north star"] {
        assert!(found.iter().any(|known| known == name), "{name} in {found:?}");
    }
    assert!(!found.iter().any(|name| name == "Ask"));
}

#[test]
fn handles_tags_files_domains_and_versions_are_names() {
    let found = names("Upgrade to Python 3.12, see docs.rs and src/main.rs, tell @jo #infra");
    for name in ["Python 3.12", "Python", "docs.rs", "src/main.rs", "@jo", "#infra"] {
        assert!(found.iter().any(|known| known == name), "{name} in {found:?}");
    }
}

#[test]
fn a_name_at_the_start_is_kept_unless_it_is_a_word_tasks_begin_with() {
    assert_eq!(names("Caroline's birthday"), ["Caroline"]);
    assert!(names("Write a haiku. Then stop.").is_empty());
    assert!(names("What did I say? I forgot.").is_empty());
}

#[test]
fn courtesies_say_little_and_questions_do_not() {
    for text in ["thanks!", "ok, go on", "", "hello there", "👍"] {
        assert!(says_little(text), "{text}");
    }
    for text in ["dentist appointment", "brakes", "What did Ada say?", "我们明天去哪里吃饭"]
    {
        assert!(!says_little(text), "{text}");
    }
}

#[test]
fn the_words_searched_by_halving_are_sorted() {
    let mut sorted = EMPTY_WORDS.to_vec();
    sorted.sort_unstable();
    assert_eq!(sorted, EMPTY_WORDS);
}

proptest! {
    #[test]
    fn any_text_has_a_type_and_short_names(text in any::<String>()) {
        infer(&text);
        says_little(&text);
        prop_assert!(names(&text).iter().all(|name| name.chars().count() <= 80));
    }
}
