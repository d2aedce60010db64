//! One story that walks through every method of a memory, whatever it is kept in.

use hermes_store::memory::{
    Added, Admin, ChainState, ChunkKey, Coverage, FactFilter, ItemKind, JobFailure, JobState,
    Lease, ModelState, NewFact, NewJob, NewMessage, NewReceipt, NewSource, QuestionVector,
    RecallFilter, RecentFilter, Recorded, Scope, SessionChoice, UserNumber,
};

use crate::compared::Compared;
use crate::model::ModelMemory;
use crate::support::{Place, alice, at, by, chunk, event, fact, message, procedure, small_model};

#[test]
fn the_story_holds() {
    let place = Place::new();
    story(&mut place.write());
}

#[test]
fn the_story_holds_in_plain_lists() {
    story(&mut ModelMemory::new("alice"));
}

fn story(store: &mut dyn Compared) {
    let bob = users(store);
    models_begin(store);
    conversation(store, bob);
    facts(store, bob);
    lessons(store, bob);
    names(store, bob);
    vectors(store);
    work(store);
    upkeep(store);
}

fn users(store: &mut dyn Compared) -> Scope {
    let bob = store.user_or_new("bob", by("user", 1)).unwrap();
    assert_eq!(store.user_or_new("bob", by("user", 1)).unwrap(), bob);
    assert_eq!(store.user("bob").unwrap().unwrap().number, bob);
    assert_eq!(store.user("carol").unwrap(), None);
    let names: Vec<String> = store.users(Admin).unwrap().into_iter().map(|u| u.name).collect();
    assert_eq!(names, ["alice", "bob"]);
    assert_eq!(store.user_of_identity("telegram", "77").unwrap(), None);
    store.link_identity("telegram", "77", UserNumber::OWNER, by("user", 2)).unwrap();
    store.link_identity("telegram", "77", bob, by("user", 2)).unwrap();
    assert_eq!(store.user_of_identity("telegram", "77").unwrap(), Some(bob));
    Scope::of(bob)
}

fn models_begin(store: &mut dyn Compared) {
    assert_eq!(store.active_model().unwrap(), None);
    let model = store.add_model(Admin, &small_model("first"), at(3)).unwrap();
    assert_eq!(model.state, ModelState::Active);
}

fn conversation(store: &mut dyn Compared, bob: Scope) {
    let asked = message("monday", "1", "where is the harbor?");
    let answer = NewMessage {
        role: "assistant",
        speaker: None,
        at: at(2),
        ..message("monday", "2", "behind the copper mill")
    };
    let again = NewMessage { at: at(5), ..message("monday", "3", "thanks") };
    let said = [asked, answer, again];
    let done = store.record(alice(), &said, by("user", 6)).unwrap();
    assert_eq!(done, Recorded { added: 3, known: 0, episodes: 2, buried: 0 });
    let done = store.record(alice(), &said, by("user", 6)).unwrap();
    assert_eq!(done, Recorded { added: 0, known: 3, episodes: 0, buried: 0 });

    let recent = RecentFilter { limit: 9, ..RecentFilter::default() };
    let episodes = store.recent_episodes(alice(), &recent).unwrap();
    assert_eq!(episodes.iter().map(|one| one.id).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(store.recent_episodes(bob, &recent).unwrap(), []);
    assert_eq!(
        store.episodes(alice(), &[1, 2]).unwrap(),
        [episodes[1].clone(), episodes[0].clone()]
    );
    let first = &episodes[1];
    let messages = store.messages_of(alice(), first).unwrap();
    assert_eq!(messages[1].text, "behind the copper mill");
    let keys: Vec<_> = messages.iter().map(|one| one.key).collect();
    assert_eq!(store.messages(alice(), &keys).unwrap(), messages);
    assert_eq!(
        (store.messages(bob, &keys).unwrap(), store.messages_of(bob, first).unwrap()),
        (vec![], vec![])
    );

    let all = RecallFilter::default();
    let found = store.postings(alice(), &all, "copper", 9).unwrap();
    assert_eq!((found.chunks.len(), found.complete), (1, true));
    let everything = [0..=i64::MAX];
    assert_eq!(store.chunks(alice(), &everything, None).unwrap().len(), 3);
    assert!(store.extent(alice(), &all, 2).unwrap().more);
    assert_eq!(store.extent(bob, &all, 2).unwrap().chunks, 0);
    let heads = store.message_heads(alice(), &everything).unwrap();
    assert_eq!(heads.iter().map(|one| one.is_question).collect::<Vec<_>>(), [true, false, false]);
    assert_eq!(store.speakers(alice(), &["alice".to_owned()]).unwrap(), ["Alice"]);
    assert_eq!(store.speakers(bob, &["alice".to_owned()]).unwrap(), [""; 0]);
    let monday = SessionChoice { session_id: Some("monday"), ..SessionChoice::default() };
    assert_eq!(store.sessions(alice(), &monday).unwrap(), [first.session]);

    store.retire_episode(alice(), 1, by("user", 7)).unwrap();
    assert_eq!(store.episodes(alice(), &[1]).unwrap(), []);
    assert_eq!(store.postings(alice(), &all, "copper", 9).unwrap().chunks, []);
    let chunks =
        messages.iter().map(|one| (ChunkKey::of_message(one.key, 0), chunk(&one.text, None)));
    store.restore_episode(alice(), 1, &chunks.collect::<Vec<_>>(), by("user", 8)).unwrap();
    assert_eq!(store.postings(alice(), &all, "copper", 9).unwrap().chunks.len(), 1);
    assert!(store.retire_episode(bob, 1, by("user", 9)).is_err());
}

fn facts(store: &mut dyn Compared, bob: Scope) {
    let sources =
        [NewSource { episode: Some(1), quote: Some("behind the mill"), ..NewSource::default() }];
    let names = ["Harbor".to_owned()];
    let harbor = NewFact { sources: &sources, entities: &names, ..fact("The harbor is north.") };
    assert_eq!(store.add_fact(alice(), &harbor, by("extract", 10)).unwrap(), Added::New(1));
    let same = fact("the HARBOR  is north");
    assert_eq!(store.add_fact(alice(), &same, by("extract", 11)).unwrap(), Added::Known(1));
    assert_eq!(store.add_fact(bob, &same, by("extract", 11)).unwrap(), Added::New(2));
    assert!(store.find_fact(bob, "fact:001").is_err());
    let found = store.find_fact(alice(), "fact:001").unwrap();
    assert_eq!((found.entities, found.revision), (vec!["Harbor".to_owned()], 1));
    assert_eq!(
        store.sources_of_fact(alice(), 1).unwrap()[0].quote.as_deref(),
        Some("behind the mill")
    );
    assert_eq!(store.sources_of_fact(bob, 1).unwrap(), []);

    let better = "The old harbor is north.";
    store.edit_fact(alice(), 1, better, &[chunk(better, None)], by("user", 12)).unwrap();
    assert!(store.edit_fact(bob, 1, "mine", &[], by("user", 12)).is_err());
    let earlier = store.revisions_of_fact(alice(), 1).unwrap();
    assert_eq!((earlier.len(), earlier[0].text.as_str()), (1, "The harbor is north."));

    let south = fact("The harbor is south.");
    assert_eq!(store.supersede_fact(alice(), 1, &south, by("user", 20)).unwrap(), 3);
    let old = store.facts(alice(), &[3, 1, 2]).unwrap()[1].clone();
    assert_eq!(
        (old.superseded_by, old.retired_at, old.valid_to),
        (Some(3), Some(at(20)), Some(at(20)))
    );
    assert!(store.restore_fact(alice(), 1, by("user", 21)).is_err());
    let held = |filter: FactFilter<'_>, store: &dyn Compared| {
        let found = store.list_facts(alice(), &filter, at(30)).unwrap();
        found.into_iter().map(|fact| fact.id).collect::<Vec<_>>()
    };
    assert_eq!(held(FactFilter::default(), store), [3]);
    assert_eq!(held(FactFilter { as_of: Some(at(15)), ..FactFilter::default() }, store), [1]);
    assert_eq!(held(FactFilter { with_retired: true, ..FactFilter::default() }, store), [3, 1]);

    store.retire_fact(alice(), 3, by("user", 22)).unwrap();
    assert_eq!(held(FactFilter::default(), store), [0; 0]);
    assert_eq!(store.add_fact(alice(), &south, by("user", 23)).unwrap(), Added::New(4));
    assert!(store.restore_fact(alice(), 3, by("user", 24)).is_err());
    store.erase_fact(alice(), 4, by("user", 25)).unwrap();
    store.restore_fact(alice(), 3, by("user", 26)).unwrap();
    assert_eq!(held(FactFilter::default(), store), [3]);
    let shared = NewFact { shared: true, ..fact("Lunch is at noon.") };
    assert_eq!(store.add_fact(bob, &shared, by("user", 27)).unwrap(), Added::New(5));
    assert_eq!(held(FactFilter::default(), store), [5, 3]);
}

fn lessons(store: &mut dyn Compared, bob: Scope) {
    let lesson = procedure("Read before writing", &[]);
    assert_eq!(store.add_procedure(alice(), &lesson, by("agent", 31)).unwrap(), Added::New(1));
    let id = 1;
    assert_eq!(store.list_procedures(alice(), Some("coding"), 5).unwrap()[0].id, id);
    assert_eq!(store.list_procedures(alice(), Some("research"), 5).unwrap(), []);
    assert_eq!(store.procedures(bob, &[id]).unwrap(), []);
    assert!(store.retire_procedure(bob, id, by("user", 32)).is_err());
    store.retire_procedure(alice(), id, by("user", 32)).unwrap();
    assert_eq!(store.list_procedures(alice(), None, 5).unwrap(), []);
    assert!(store.procedures(alice(), &[id]).unwrap()[0].retired_at.is_some());

    let chosen = event("We chose SQLite", 30);
    assert_eq!(store.add_event(alice(), &chosen, by("agent", 33)).unwrap(), Added::New(1));
    let id = 1;
    assert_eq!(store.list_events(alice(), Some(at(30)), Some(at(31)), 5).unwrap()[0].id, id);
    assert_eq!(store.list_events(alice(), None, Some(at(30)), 5).unwrap(), []);
    assert_eq!(store.events(bob, &[id]).unwrap(), []);
    store.retire_event(alice(), id, by("user", 34)).unwrap();
    assert_eq!(store.list_events(alice(), None, None, 5).unwrap(), []);
}

fn names(store: &mut dyn Compared, bob: Scope) {
    let id = store.add_alias(alice(), "Harbor", "the port", by("user", 40)).unwrap();
    let harbor = store.entity(alice(), "The  Port").unwrap().unwrap();
    assert_eq!((harbor.id, harbor.aliases.clone()), (id, vec!["the port".to_owned()]));
    assert_eq!(
        store.entities_in(alice(), "from the port on").unwrap(),
        std::slice::from_ref(&harbor)
    );
    assert_eq!(store.entity(bob, "harbor").unwrap(), None);
    assert_eq!(store.mentions(alice(), &harbor, ItemKind::Fact, 9).unwrap(), [0; 0]);
    let names = ["The Port".to_owned()];
    store.mention(alice(), ItemKind::Fact, 3, &names, by("extract", 41)).unwrap();
    assert_eq!(store.mentions(alice(), &harbor, ItemKind::Fact, 9).unwrap(), [3]);
    assert_eq!(store.mentions(bob, &harbor, ItemKind::Fact, 9).unwrap(), [0; 0]);
    assert!(store.mention(bob, ItemKind::Fact, 3, &names, by("extract", 41)).is_err());
    store.mention(alice(), ItemKind::Summary, 1, &["Quay".to_owned()], by("extract", 42)).unwrap();
    assert_eq!(store.add_alias(alice(), "Harbor", "quay", by("user", 43)).unwrap(), id);
    assert_eq!(store.mentions(alice(), &harbor, ItemKind::Summary, 9).unwrap(), [1]);
}

fn vectors(store: &mut dyn Compared) {
    let next = store.add_model(Admin, &small_model("second"), at(50)).unwrap();
    assert_eq!(next.state, ModelState::Building);
    assert!(store.activate_model(Admin, next.id).is_err());
    let lacking = store.unembedded(Admin, next.id, None, 100).unwrap();
    let axis = |place: usize| (0..4).map(|n| if n == place % 4 { 1.0 } else { 0.0 }).collect();
    let made: Vec<(ChunkKey, Vec<f32>)> =
        lacking.iter().enumerate().map(|(n, one)| (one.chunk, axis(n))).collect();
    assert_eq!(store.put_vectors(Admin, next.id, &made).unwrap(), made.len());
    let all = made.len() as u64;
    assert_eq!(store.coverage(Admin, next.id).unwrap(), Coverage { done: all, all });
    store.activate_model(Admin, next.id).unwrap();
    assert_eq!(store.active_model().unwrap().unwrap().id, next.id);
    assert_eq!(store.models(Admin).unwrap()[1].state, ModelState::Retired);
    assert_eq!(store.drop_retired_vectors(Admin).unwrap(), 0);
    let question = QuestionVector { model: next.id, vector: &[0.0, 1.0, 0.0, 0.0] };
    let near = store.nearest(alice(), &RecallFilter::default(), &question, 1).unwrap();
    assert!((near[0].similarity - 1.0).abs() < 0.01);
}

fn work(store: &mut dyn Compared) {
    let new = NewJob {
        kind: "embed",
        payload: "{}",
        dedupe_key: Some("all"),
        user: None,
        run_at: at(60),
    };
    assert_eq!(store.queue_job(Admin, &new, at(60)).unwrap(), Some(1));
    assert_eq!(store.queue_job(Admin, &new, at(60)).unwrap(), None);
    let lease = |owner, until| Lease { owner, until: at(until) };
    assert_eq!(store.lease_job(Admin, &["other"], lease("one", 65), at(60)).unwrap(), None);
    assert_eq!(store.lease_job(Admin, &["embed"], lease("one", 65), at(59)).unwrap(), None);
    let job = store.lease_job(Admin, &["embed"], lease("one", 65), at(60)).unwrap().unwrap();
    assert_eq!((job.state, job.attempts), (JobState::Leased, 1));
    assert_eq!(store.lease_job(Admin, &["embed"], lease("two", 70), at(61)).unwrap(), None);
    assert!(store.lease_job(Admin, &["embed"], lease("two", 70), at(65)).unwrap().is_some());
    assert!(!store.finish_job(Admin, 1, "one", at(66)).unwrap());
    let failure = |again| JobFailure { error: "no answer", again, at: at(66) };
    assert!(!store.fail_job(Admin, 1, "one", failure(None)).unwrap());
    assert!(store.fail_job(Admin, 1, "two", failure(Some(at(80)))).unwrap());
    let open = store.open_jobs(Admin, 9).unwrap();
    assert_eq!((open[0].run_at, open[0].last_error.as_deref()), (at(80), Some("no answer")));
    assert!(store.lease_job(Admin, &["embed"], lease("two", 90), at(80)).unwrap().is_some());
    assert!(store.finish_job(Admin, 1, "two", at(81)).unwrap());
    assert_eq!(store.open_jobs(Admin, 9).unwrap(), []);
    assert_eq!(store.queue_job(Admin, &new, at(82)).unwrap(), Some(2));
}

fn upkeep(store: &mut dyn Compared) {
    let said = store.messages_of(alice(), &store.episodes(alice(), &[1]).unwrap()[0]).unwrap();
    let mut items: Vec<(ItemKind, i64)> =
        said.iter().map(|one| (ItemKind::Message, one.key.get())).collect();
    items.extend([(ItemKind::Fact, 3), (ItemKind::Fact, 2)]);
    let receipt = NewReceipt { session_id: Some("monday"), turn: None, tokens: 40, items: &items };
    store.hand_out(alice(), &receipt, at(90)).unwrap();
    assert_eq!(store.episodes(alice(), &[1]).unwrap()[0].uses, 1);
    assert_eq!(store.find_fact(alice(), "3").unwrap().uses, 1);
    let bob = Scope::of(store.user("bob").unwrap().unwrap().number);
    assert_eq!(store.find_fact(bob, "2").unwrap().uses, 0);

    store.vacuum(Admin, at(91)).unwrap();
    let counts = store.counts(Admin).unwrap();
    assert_eq!((counts.raw_episodes, counts.messages, counts.users), (2, 3, 2));
    assert_eq!((counts.facts, counts.retired_facts, counts.events), (3, 1, 0));
    assert_eq!((counts.open_jobs, counts.last_vacuum), (1, Some(at(91))));
    assert_eq!((counts.episode_vectors, counts.fact_vectors, counts.other_vectors), (3, 4, 2));
    store.rebuild_segments(Admin).unwrap();
    assert_eq!(store.check_memory(Admin).unwrap(), []);
    let log = store.audit_log(Admin, 3).unwrap();
    assert_eq!((log[0].action.as_str(), log[0].actor.as_str()), ("entity.alias", "user"));
    let all = store.audit_log(Admin, 1000).unwrap().len() as u64;
    assert_eq!(store.check_audit(Admin).unwrap(), ChainState::Whole { entries: all });
}
