//! From a message to the summary that stands for it.

use hermes_store::Error;
use hermes_store::memory::{
    Admin, After, Episode, EpisodeState, ItemKind, Memory, MessageKey, NewMessage, NewReceipt,
    NewSummary, NewTask, QuestionVector, RecallFilter, RecentFilter, Recorded, Scope,
    SessionChoice, TakenIn,
};
use proptest::prelude::*;

use crate::support::{Place, alice, at, by, chunk, event, message, procedure, small_model};

/// A user's message and its answer, said at a minute.
fn exchange(memory: &mut Memory, session: &str, number: i64, minute: i64) {
    let ids = [format!("{number}a"), format!("{number}b")];
    let texts = [format!("where is harbor{number}"), format!("in the north{number}")];
    let vector = Some(vec![1.0, 0.0, 0.0, 0.0]);
    let asked = NewMessage {
        at: at(minute),
        chunks: vec![chunk(&texts[0], vector)],
        ..message(session, &ids[0], &texts[0])
    };
    let answered =
        NewMessage { role: "assistant", at: at(minute), ..message(session, &ids[1], &texts[1]) };
    memory.record(alice(), &[asked, answered], by("user", minute)).unwrap();
}

fn keep(memory: &mut Memory, episodes: &[i64], body: &str) -> Result<i64, Error> {
    let chunks = vec![chunk(body, Some(vec![0.0, 1.0, 0.0, 0.0]))];
    let summary = NewSummary { episodes, body, task_type: Some("sailing"), tokens: 9, chunks };
    memory.keep_summary(alice(), &summary, by("compress", 90))
}

fn filled(place: &Place) -> Memory {
    let mut memory = place.write();
    memory.add_model(Admin, &small_model("m"), at(0)).unwrap();
    for number in 0..4 {
        exchange(&mut memory, "monday", number, 1 + number);
    }
    exchange(&mut memory, "tuesday", 4, 50);
    memory
}

fn found(memory: &Memory, filter: &RecallFilter, word: &str) -> Vec<i64> {
    let chunks = memory.postings(alice(), filter, word, 99).unwrap().chunks;
    let of_kind = |kind| move |key: &&hermes_store::memory::ChunkKey| key.kind() == Some(kind);
    chunks.iter().filter(of_kind(ItemKind::Summary)).map(|key| key.item()).collect()
}

#[test]
fn a_summary_takes_the_place_of_its_episodes_and_everything_stays_reachable() {
    let place = Place::new();
    let mut memory = filled(&place);
    memory
        .mention(
            alice(),
            ItemKind::Message,
            message_key(&memory, "1a"),
            &["Harbor".into()],
            by("extract", 60),
        )
        .unwrap();
    let summary = keep(&mut memory, &[1, 2, 5], "three talks about boats").unwrap();
    assert_eq!(memory.check_memory(Admin).unwrap(), []);
    let unfinished = memory.unfinished_summaries(Admin).unwrap();
    assert_eq!(unfinished.iter().map(|one| one.id).collect::<Vec<_>>(), [summary]);
    assert!(memory.covering(alice(), &[1, 2]).unwrap().is_empty());

    let dropped =
        memory.drop_raw(alice(), summary, "three talks about boats", by("compress", 91)).unwrap();
    assert_eq!((dropped.episodes, dropped.messages), (3, 6));
    assert_eq!(dropped.text_bytes, 3 * ("where is harbor1".len() + "in the north1".len()) as u64);
    assert_eq!(memory.unfinished_summaries(Admin).unwrap(), []);
    assert_eq!(memory.covering(alice(), &[5, 1, 3]).unwrap(), [(5, summary), (1, summary)]);
    assert_eq!(memory.sessions_of_summary(alice(), summary).unwrap(), ["monday", "tuesday"]);
    let told = memory.episodes(alice(), &[summary]).unwrap().remove(0);
    assert_eq!(told.state, EpisodeState::Compressed);
    assert_eq!((told.started_at, told.ended_at), (at(1), at(50)));
    assert_eq!(told.body.as_deref(), Some("three talks about boats"));
    assert_eq!(memory.messages_of(alice(), &told).unwrap(), []);
    assert_eq!(memory.episodes(alice(), &[1, 3]).unwrap().len(), 1);
    let recent = RecentFilter { limit: 9, ..RecentFilter::default() };
    let recent = memory.recent_episodes(alice(), &recent).unwrap();
    assert_eq!(recent.iter().map(|one| one.id).collect::<Vec<_>>(), [4, 3, summary]);
    let monday = memory.sessions_named(alice(), "monday").unwrap().remove(0);
    let of_monday = memory.episodes_of(alice(), monday.key).unwrap();
    assert_eq!(of_monday.iter().map(|one| one.id).collect::<Vec<_>>(), [summary, 3, 4]);
    assert_eq!(memory.messages_of(alice(), &of_monday[1]).unwrap().len(), 2);
    let harbor = memory.entity(alice(), "harbor").unwrap().unwrap();
    assert_eq!(memory.mentions(alice(), &harbor, ItemKind::Summary, 9).unwrap(), [summary]);
    let counts = memory.counts(Admin).unwrap();
    assert_eq!((counts.raw_episodes, counts.compressed_episodes, counts.messages), (2, 1, 4));
    assert_eq!(counts.last_compression, Some(at(91)));
    assert_eq!(memory.check_memory(Admin).unwrap(), []);
}

fn message_key(memory: &Memory, external_id: &str) -> i64 {
    memory.message_by_origin(alice(), "test", "monday", (external_id, None)).unwrap().unwrap().get()
}

#[test]
fn a_summary_is_found_by_word_and_vector_in_each_of_its_sessions() {
    let place = Place::new();
    let mut memory = filled(&place);
    exchange(&mut memory, "friday", 5, 70);
    let summary = keep(&mut memory, &[1, 5], "talks about boats").unwrap();
    memory.drop_raw(alice(), summary, "talks about boats", by("compress", 91)).unwrap();
    let sessions = |session_id: &str| {
        let choice = SessionChoice { session_id: Some(session_id), ..SessionChoice::default() };
        memory.sessions(alice(), &choice).unwrap()
    };
    let only = |session_id: &str| RecallFilter {
        sessions: Some(sessions(session_id)),
        only_messages: true,
        ..RecallFilter::default()
    };
    let without = |session_ids: &[&str]| {
        let mut without_sessions: Vec<_> = session_ids.iter().flat_map(|id| sessions(id)).collect();
        without_sessions.sort_unstable();
        RecallFilter { without_sessions, ..RecallFilter::default() }
    };
    let model = memory.active_model().unwrap().unwrap().id;
    let near = |filter: &RecallFilter| {
        let question = QuestionVector { model, vector: &[0.0, 1.0, 0.0, 0.0] };
        let near = memory.nearest(alice(), filter, &question, 9).unwrap();
        near.iter().any(|one| one.key.kind() == Some(ItemKind::Summary))
    };
    for (filter, is_found) in [
        (RecallFilter::default(), true),
        (only("monday"), true),
        (only("tuesday"), true),
        (only("friday"), false),
        (without(&["monday"]), true),
        (without(&["monday", "tuesday"]), false),
    ] {
        let wanted = if is_found { vec![summary] } else { Vec::new() };
        assert_eq!(found(&memory, &filter, "boats"), wanted, "{filter:?}");
        assert_eq!(near(&filter), is_found, "{filter:?}");
    }
    let bob = Scope::of(memory.user_or_new("bob", by("user", 92)).unwrap());
    assert_eq!(memory.postings(bob, &RecallFilter::default(), "boats", 9).unwrap().chunks, []);
    memory.retire_episode(alice(), summary, by("user", 93)).unwrap();
    assert_eq!(found(&memory, &RecallFilter::default(), "boats"), [0_i64; 0]);
    assert_eq!(memory.covering(alice(), &[1]).unwrap(), []);
}

#[test]
fn nothing_is_dropped_for_a_summary_that_reads_otherwise() {
    let place = Place::new();
    let mut memory = filled(&place);
    let summary = keep(&mut memory, &[1, 2], "two talks").unwrap();
    place.sql(&format!("update episode set body = 'two walks' where id = {summary}"));
    let refused = memory.drop_raw(alice(), summary, "two talks", by("compress", 91)).unwrap_err();
    assert!(refused.to_string().ends_with("it cannot be read back as it was written"), "{refused}");
    for other in [1, 99] {
        assert!(memory.drop_raw(alice(), other, "two talks", by("compress", 91)).is_err());
    }
    let bob = Scope::of(memory.user_or_new("bob", by("user", 92)).unwrap());
    assert!(memory.drop_raw(bob, summary, "two walks", by("compress", 91)).is_err());
    assert_eq!(memory.counts(Admin).unwrap().messages, 10);
    assert_eq!(memory.drop_raw(alice(), summary, "two walks", by("c", 91)).unwrap().messages, 4);
    assert_eq!(memory.drop_raw(alice(), summary, "two walks", by("c", 91)).unwrap().messages, 0);
}

#[test]
fn an_episode_is_told_once_by_its_own_user() {
    let place = Place::new();
    let mut memory = filled(&place);
    keep(&mut memory, &[1, 2], "two talks").unwrap();
    for episodes in [&[2, 3][..], &[6], &[99], &[]] {
        assert!(keep(&mut memory, episodes, "again").is_err(), "{episodes:?}");
    }
    assert!(keep(&mut memory, &[3], "  ").is_err());
    let bob = Scope::of(memory.user_or_new("bob", by("user", 92)).unwrap());
    let new = NewSummary {
        episodes: &[3],
        body: "of another",
        task_type: None,
        tokens: 1,
        chunks: Vec::new(),
    };
    assert!(memory.keep_summary(bob, &new, by("compress", 92)).is_err());
    memory.retire_episode(alice(), 4, by("user", 93)).unwrap();
    assert!(keep(&mut memory, &[4], "retired").is_err());
    assert_eq!(memory.counts(Admin).unwrap().compressed_episodes, 1);
}

#[test]
fn what_was_dropped_stays_known_and_a_session_goes_on_at_new_places() {
    let place = Place::new();
    let mut memory = filled(&place);
    let summary = keep(&mut memory, &[1, 2, 3, 4], "all of monday").unwrap();
    memory.drop_raw(alice(), summary, "all of monday", by("compress", 91)).unwrap();
    let again = [message("monday", "0a", "where is harbor0")];
    let again = memory.record(alice(), &again, by("u", 92)).unwrap();
    assert_eq!(again, Recorded { known: 1, ..Recorded::default() });
    let late = NewMessage { role: "assistant", ..message("monday", "9b", "a late answer") };
    memory.record(alice(), &[late], by("u", 92)).unwrap();
    let key = MessageKey::from_row(message_key(&memory, "9b"));
    assert_eq!(key.place(), 8);
    assert_eq!(memory.messages(alice(), &[key]).unwrap()[0].text, "a late answer");
    assert_eq!(memory.counts(Admin).unwrap().messages, 3);
    assert_eq!(memory.check_memory(Admin).unwrap(), []);
}

#[test]
fn what_is_said_between_telling_and_dropping_is_not_dropped() {
    let place = Place::new();
    let mut memory = filled(&place);
    let summary = keep(&mut memory, &[4], "one talk").unwrap();
    let late = NewMessage { role: "assistant", ..message("monday", "9b", "a late answer") };
    memory.record(alice(), &[late], by("u", 92)).unwrap();
    memory.drop_raw(alice(), summary, "one talk", by("compress", 93)).unwrap();
    let key = MessageKey::from_row(message_key(&memory, "9b"));
    assert_eq!(memory.messages(alice(), &[key]).unwrap().len(), 1);
    assert_eq!(memory.check_memory(Admin).unwrap(), []);
}

#[test]
fn taking_back_a_message_takes_back_the_summary_that_tells_of_it() {
    let place = Place::new();
    let mut memory = filled(&place);
    let summary = keep(&mut memory, &[1, 2], "two talks").unwrap();
    let ids = ["0a".to_owned(), "0b".to_owned(), "none".to_owned()];
    let retired = memory.retire_messages(alice(), "monday", "test", &ids, by("u", 92)).unwrap();
    assert_eq!(retired, 1);
    assert_eq!(memory.unfinished_summaries(Admin).unwrap(), []);
    assert!(memory.drop_raw(alice(), summary, "two talks", by("c", 93)).is_err());
    assert_eq!(memory.episodes(alice(), &[1, 2, summary]).unwrap().len(), 1);
    assert_eq!(memory.check_memory(Admin).unwrap(), []);
}

#[test]
fn episodes_wait_until_their_session_is_over_or_idle() {
    let place = Place::new();
    let mut memory = filled(&place);
    let ids = |episodes: Vec<Episode>| episodes.iter().map(|one| one.id).collect::<Vec<_>>();
    let waiting = |memory: &Memory, idle| ids(memory.waiting_episodes(Admin, at(idle), 9).unwrap());
    assert_eq!(waiting(&memory, 0), [0_i64; 0]);
    assert_eq!(waiting(&memory, 4), [1, 2, 3, 4]);
    assert!(memory.end_session(alice(), "tuesday", at(50)).unwrap());
    assert!(!memory.end_session(alice(), "none", at(50)).unwrap());
    assert_eq!(waiting(&memory, 0), [5]);
    exchange(&mut memory, "tuesday", 9, 60);
    assert_eq!(waiting(&memory, 0), [0_i64; 0]);
    memory.retire_episode(alice(), 2, by("user", 61)).unwrap();
    memory.mark_extracted(Admin, &[1], at(62)).unwrap();
    assert_eq!(waiting(&memory, 99), [3, 4, 5, 6]);
    assert_eq!(memory.extract_again(alice(), Some("tuesday")).unwrap(), 0);
    assert_eq!(memory.extract_again(alice(), None).unwrap(), 1);
    assert_eq!(waiting(&memory, 99), [1, 3, 4, 5, 6]);
    assert_eq!(ids(memory.waiting_episodes(Admin, at(99), 2).unwrap()), [1, 3]);
}

#[test]
fn old_episodes_are_read_in_pages_once_drawn_from_and_their_session_is_old() {
    let place = Place::new();
    let mut memory = filled(&place);
    exchange(&mut memory, "monday-long", 7, 2);
    exchange(&mut memory, "monday-long", 8, 80);
    memory.mark_extracted(Admin, &[1, 2, 4, 5, 6, 7], at(81)).unwrap();
    let page = |after: After, limit| memory.old_episodes(Admin, at(60), after, limit).unwrap();
    let first = page(After::default(), 2);
    assert_eq!(first.iter().map(|one| one.id).collect::<Vec<_>>(), [1, 2]);
    let last = &first[1];
    let after = After { user: 1, session: last.session.get(), episode: last.id };
    let rest = page(after, 9);
    assert_eq!(rest.iter().map(|one| one.id).collect::<Vec<_>>(), [4, 5]);
}

#[test]
fn sessions_are_looked_back_on_once() {
    let place = Place::new();
    let mut memory = filled(&place);
    let sessions = memory.sessions_to_reflect(Admin, at(99), 9).unwrap();
    let names: Vec<&str> = sessions.iter().map(|one| one.session_id.as_str()).collect();
    assert_eq!(names, ["monday", "tuesday"]);
    assert_eq!(
        (sessions[0].source.as_str(), sessions[0].channel.as_deref()),
        ("test", Some("cli"))
    );
    memory.mark_reflected(Admin, sessions[0].key, at(99)).unwrap();
    assert_eq!(memory.sessions_to_reflect(Admin, at(99), 9).unwrap().len(), 1);
    assert_eq!(memory.sessions_to_reflect(Admin, at(9), 9).unwrap().len(), 0);
    let named = memory.sessions_named(alice(), "monday").unwrap();
    assert_eq!(named[0].reflected_at, Some(at(99)));
    let taken = TakenIn { database: "d".into(), session_id: "s".into(), last_message: 4, live: 3 };
    memory.note_taken_in(Admin, &taken, at(1)).unwrap();
    let taken = TakenIn { last_message: 9, ..taken };
    memory.note_taken_in(Admin, &taken, at(2)).unwrap();
    assert_eq!(memory.taken_in(Admin, "d").unwrap(), [taken]);
    assert!(memory.taken_in(Admin, "another").unwrap().is_empty());
}

#[test]
fn tasks_receipts_and_outcomes_are_kept() {
    let place = Place::new();
    let mut memory = filled(&place);
    let task = NewTask {
        external_id: "monday",
        session: None,
        task_type: "coding",
        title: "mend the net",
        started_at: at(1),
        ended_at: at(2),
        outcome: "unclear",
        steps: "[]",
        words: "net",
    };
    let id = memory.keep_task(alice(), &task, by("reflect", 3)).unwrap();
    let better = NewTask { outcome: "success", ..task.clone() };
    assert_eq!(memory.keep_task(alice(), &better, by("reflect", 4)).unwrap(), id);
    memory.note_skill_of_tasks(alice(), &[id], 1).unwrap();
    let kept = memory.tasks(alice(), Some("coding"), 9).unwrap();
    assert_eq!(
        (kept.len(), kept[0].outcome.as_deref(), kept[0].skill),
        (1, Some("success"), Some(1))
    );
    assert_eq!(memory.tasks(alice(), Some("other"), 9).unwrap(), []);
    memory.add_procedure(alice(), &procedure("look", &[]), by("reflect", 5)).unwrap();
    memory.count_outcome(alice(), &[1], true).unwrap();
    memory.count_outcome(alice(), &[1], false).unwrap();
    let counted = memory.procedures(alice(), &[1]).unwrap().remove(0);
    assert_eq!((counted.wins, counted.losses), (1, 1));
    let items = [(ItemKind::Procedure, 1), (ItemKind::Summary, 2)];
    let receipt = NewReceipt { session_id: Some("monday"), turn: None, tokens: 3, items: &items };
    memory.hand_out(alice(), &receipt, at(6)).unwrap();
    let receipts = memory.receipts_of(alice(), "monday").unwrap();
    assert_eq!((receipts.len(), &receipts[0].items[..]), (1, &items[..]));
    assert_eq!(memory.receipts_of(alice(), "tuesday").unwrap(), []);
    memory.add_event(alice(), &event("the net was mended", 7), by("extract", 8)).unwrap();
    let monday = memory.sessions_named(alice(), "monday").unwrap()[0].key;
    place.sql(&format!("update event set session = {}", monday.get()));
    place.sql(&format!(
        "insert into step (message, number, tool, arguments, failed) values ({}, 0, 'shell', '{{}}', 1)",
        message_key(&memory, "0b")
    ));
    assert_eq!(memory.events_of_session(alice(), monday, None).unwrap().len(), 1);
    let episode = memory.episodes(alice(), &[1]).unwrap().remove(0);
    let steps = memory.steps_of(alice(), &episode).unwrap();
    assert_eq!((steps.len(), steps[0].tool.as_str(), steps[0].failed), (1, "shell", true));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::place::cases(48)))]
    #[test]
    fn every_message_is_readable_or_its_episode_told_by_a_summary(
        sessions in prop::collection::vec(0..3_usize, 1..20),
        clusters in prop::collection::vec(
            (prop::collection::btree_set(1..24_i64, 1..6), any::<bool>()), 0..8),
    ) {
        let place = Place::new();
        let mut memory = place.write();
        let mut recorded = Vec::new();
        for (number, session) in sessions.iter().enumerate() {
            let session = ["a", "b", "c"][*session];
            exchange(&mut memory, session, number as i64, number as i64);
            recorded.push(session);
        }
        for (number, (cluster, is_dropped)) in clusters.iter().enumerate() {
            let ids: Vec<i64> = cluster.iter().copied().collect();
            let body = format!("summary {number}");
            if let Ok(summary) = keep(&mut memory, &ids, &body)
                && *is_dropped
            {
                memory.drop_raw(alice(), summary, &body, by("compress", 91)).unwrap();
            }
            for (number, session) in recorded.iter().enumerate() {
                let key = memory
                    .message_by_origin(alice(), "test", session, (&format!("{number}b"), None))
                    .unwrap()
                    .unwrap();
                let episode = number as i64 + 1;
                let said = memory.messages(alice(), &[key]).unwrap();
                let told = memory.covering(alice(), &[episode]).unwrap();
                prop_assert_eq!(said.len() + told.len(), 1);
                for (_, summary) in told {
                    prop_assert_eq!(memory.episodes(alice(), &[summary]).unwrap().len(), 1);
                    let sessions = memory.sessions_of_summary(alice(), summary).unwrap();
                    prop_assert!(sessions.iter().any(|one| one == session));
                }
            }
            prop_assert_eq!(memory.check_memory(Admin).unwrap(), []);
        }
    }
}
