//! Old episodes become summaries: found, used, never lost, whatever the model answers.

use hermes_home::config::Retrieval;
use hermes_memory::ask::{Prompt, Reply};
use hermes_memory::chunk::{self, Vectors};
use hermes_memory::compress::{self, Report, Settings};
use hermes_memory::retrieval::{self, Request};
use hermes_memory::search::{self, Item, Kind, Question};
use hermes_memory::{Error, Result};
use hermes_store::memory::{Admin, ItemKind, Memory, NewSummary, Scope};

use crate::support::{change, line, memory, now, owner, reading, record, record_as};

/// Six old sessions, from which everything was drawn; returns the numbers of their episodes.
fn old_talk() -> (tempfile::TempDir, Memory, Vec<i64>) {
    let (folder, mut memory) = memory();
    let subjects = ["Kestrelbrook", "Zanzibar", "Okavango", "Ulaanbaatar", "Quetzal", "Wombat"];
    let lines: String = subjects
        .iter()
        .enumerate()
        .flat_map(|(number, name)| {
            let (session, day) = (format!("s{number}"), format!("2026-03-0{}", number + 1));
            let asked = format!("We decided that {name} gets its own budget of {number}400 euros.");
            let answered = format!("Noted: {name}. I will put the spreadsheet into the folder.");
            [line(&session, "user", &day, &asked), line(&session, "assistant", &day, &answered)]
        })
        .collect();
    record(&mut memory, &lines);
    let waiting = memory.waiting_episodes(Admin, now(), 100).unwrap();
    let ids: Vec<i64> = waiting.iter().map(|episode| episode.id).collect();
    assert_eq!(ids.len(), 6);
    memory.mark_extracted(Admin, &ids, now()).unwrap();
    (folder, memory, ids)
}

fn compress(memory: &mut Memory) -> Report {
    compress::run(memory, &Settings::new(now(), now()), None, &mut |_| {}).unwrap()
}

fn summaries(memory: &Memory, word: &str) -> Vec<String> {
    let question = Question { text: word, kind: Kind::Episodes, limit: 10, ..Question::default() };
    let answer = search::search(&reading(memory), &question).unwrap();
    answer
        .results
        .iter()
        .map(|found| match &found.item {
            Item::Summary(summary) => summary.body.clone().unwrap(),
            other => panic!("{other:?} is no summary"),
        })
        .collect()
}

#[test]
fn every_episode_is_told_by_a_summary_that_its_rare_words_find() {
    let (_folder, mut memory, ids) = old_talk();
    let report = compress(&mut memory);
    assert_eq!((report.episodes, report.messages), (6, 12));
    assert!((2..=6).contains(&report.clusters), "{report:?}");
    assert_eq!(memory.covering(owner(), &ids).unwrap().len(), 6);
    let found = summaries(&memory, "Okavango");
    assert!(found[0].contains("Okavango") && found[0].contains("March 2026"), "{found:?}");
    // A word that was said, whether the summary shows it or not.
    assert!(!summaries(&memory, "spreadsheet").is_empty());
    assert_eq!(memory.counts(Admin).unwrap().messages, 0);
}

#[test]
fn compressing_twice_changes_nothing_and_a_dry_run_nothing_at_all() {
    let (_folder, mut memory, _) = old_talk();
    let settings = Settings { dry_run: true, ..Settings::new(now(), now()) };
    let planned = compress::run(&mut memory, &settings, None, &mut |_| {}).unwrap();
    assert_eq!(memory.counts(Admin).unwrap().raw_episodes, 6);
    assert_eq!(compress(&mut memory), planned);
    assert_eq!(compress(&mut memory), Report::default());
}

#[test]
fn what_is_pinned_or_young_stays() {
    let (_folder, mut memory, _) = old_talk();
    let settings = Settings {
        is_pinned: &|session| session == "s1",
        ..Settings::new("2026-03-04T00:00:00Z".parse().unwrap(), now())
    };
    let report = compress::run(&mut memory, &settings, None, &mut |_| {}).unwrap();
    assert_eq!((report.episodes, report.pinned), (2, 1));
    assert_eq!(memory.counts(Admin).unwrap().raw_episodes, 4);
}

#[test]
fn what_was_cut_short_is_finished_first() {
    let (_folder, mut memory, ids) = old_talk();
    let body = "1 March 2026: they spoke of Kestrelbrook";
    let summary = NewSummary {
        episodes: &ids[..2],
        body,
        task_type: None,
        tokens: 9,
        chunks: chunk::prepare_summary(body, "", Vectors::Now),
    };
    memory.keep_summary(owner(), &summary, change()).unwrap();
    assert_eq!(memory.counts(Admin).unwrap().messages, 12);
    let report = compress(&mut memory);
    assert_eq!((report.finished, report.episodes), (1, 6));
    assert_eq!(memory.covering(owner(), &ids).unwrap().len(), 6);
}

fn ask(memory: &mut Memory, answer: &dyn Fn(&Prompt) -> Result<Reply>) -> Report {
    let mut ask = |prompt: &Prompt| answer(prompt);
    compress::run(memory, &Settings::new(now(), now()), Some(&mut ask), &mut |_| {}).unwrap()
}

fn reply(text: &str) -> Result<Reply> {
    Ok(Reply { text: text.to_owned(), model: "m".to_owned() })
}

#[test]
fn a_model_tells_and_the_words_it_left_out_are_added() {
    let (_folder, mut memory, _) = old_talk();
    let report = ask(&mut memory, &|prompt| {
        assert!(prompt.user.starts_with("BEGIN CONVERSATIONS\n") && prompt.user.contains("euros"));
        reply("Budgets were decided.")
    });
    assert_eq!(report.by_model, report.clusters);
    let found = summaries(&memory, "Zanzibar");
    assert!(found[0].contains("\nBudgets were decided.\nAlso:"), "{found:?}");
}

#[test]
fn a_bad_answer_leaves_everything_raw_and_the_third_one_is_done_without() {
    let (_folder, mut memory, _) = old_talk();
    for _ in 0..2 {
        let report = ask(&mut memory, &|_| reply("I'm sorry, I cannot do that."));
        assert_eq!((report.clusters, report.episodes), (0, 0));
        assert!(report.waiting > 0);
    }
    let report = ask(&mut memory, &|_| reply("<b>no</b>"));
    assert_eq!((report.episodes, report.by_model), (6, 0));
}

#[test]
fn a_model_that_is_down_ends_the_work_and_loses_nothing() {
    let (_folder, mut memory, _) = old_talk();
    let spent = || Error::Spent { model: "m".to_owned(), spent: "all".to_owned() };
    let report = ask(&mut memory, &|_| Err(spent()));
    assert!(report.stopped.is_some() && report.clusters == 0);
    assert_eq!(memory.counts(Admin).unwrap().raw_episodes, 6);
}

#[test]
fn a_context_shows_the_summary_of_what_was_said() {
    let (_folder, mut memory, _) = old_talk();
    compress(&mut memory);
    let settings = Retrieval {
        recency_episodes: 0,
        semantic_top_k: 3,
        min_relevance_score: 0.3,
        ..Retrieval::default()
    };
    let request = Request {
        task: "What budget did we decide on for Quetzal?",
        settings: Some(settings),
        ..Request::default()
    };
    let context = retrieval::context(&reading(&memory), &request, &[]).unwrap();
    let shown = retrieval::text(&context);
    assert!(shown.contains("Quetzal") && shown.contains(", summary"), "{shown}");
    let (kind, id) = context.receipt()[0];
    assert_eq!(kind, ItemKind::Summary);
    assert!(memory.episodes(owner(), &[id]).unwrap()[0].body.is_some());
}

#[test]
fn a_summary_tells_of_one_user_alone() {
    let (_folder, mut memory) = memory();
    for user in ["ana", "ben", "cleo"] {
        let scope = Scope::of(memory.user_or_new(user, change()).unwrap());
        for number in 0..4 {
            let said = format!("We decided that the budget of Canary{user} is {number}400 euros.");
            let day = format!("2026-03-0{}", number + 1);
            record_as(&mut memory, scope, &line(&format!("{user}{number}"), "user", &day, &said));
        }
    }
    let waiting = memory.waiting_episodes(Admin, now(), 100).unwrap();
    let ids: Vec<i64> = waiting.iter().map(|episode| episode.id).collect();
    memory.mark_extracted(Admin, &ids, now()).unwrap();
    let calls = std::cell::Cell::new(0);
    let report = ask(&mut memory, &|prompt| {
        let told =
            ["ana", "ben", "cleo"].map(|user| prompt.user.contains(&format!("Canary{user}")));
        assert_eq!(told.iter().filter(|is_told| **is_told).count(), 1, "{}", prompt.user);
        calls.set(calls.get() + 1);
        reply("Budgets were decided.")
    });
    assert_eq!((report.episodes, report.by_model), (12, calls.get()));
    assert!(calls.get() >= 3);
}
