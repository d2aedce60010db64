//! Forgetting by choice: nothing else goes, nothing comes back, nothing of it is left in the file.

use hermes_store::memory::{
    Admin, ChainState, Choice, Depth, FactFilter, Forgotten, ItemKind, Memory, NewFact, NewMessage,
    NewReceipt, NewSource, NewSummary, RecallFilter, RecentFilter, Recorded, Scope, UserNumber,
};

use crate::support::{Place, alice, at, by, chunk, event, fact, message, procedure};

/// Alice spoke in three sessions, bob in one; the words of each session are in no other.
fn filled(place: &Place) -> (Memory, Scope) {
    let mut memory = place.write();
    let bob = Scope::of(memory.user_or_new("bob", by("user", 0)).unwrap());
    memory.link_identity("telegram", "bob-at-telegram", bob.user(), by("user", 0)).unwrap();
    memory.link_identity("telegram", "alice-at-telegram", UserNumber::OWNER, by("u", 0)).unwrap();
    for (scope, session, source, words) in [
        (alice(), "one", "test", "zanzibar ahoy"),
        (alice(), "two", "test", "quagmire below"),
        (alice(), "three", "journal.md", "xylophone music"),
        (bob, "one", "test", "marmalade toast"),
    ] {
        let text = format!("I said {words}");
        let said = NewMessage { source, project: Some(words), ..message(session, "1", &text) };
        memory.record(scope, &[said], by("user", 1)).unwrap();
    }
    let quoted = |episode, quote| {
        [NewSource { episode: Some(episode), quote: Some(quote), ..NewSource::default() }]
    };
    let names = ["Zanzibar".to_owned()];
    for (scope, statement, sources) in [
        (alice(), "they like zanzibar", &quoted(1, "zanzibar ahoy")[..]),
        (
            alice(),
            "they like mud",
            &[quoted(1, "zanzibar ahoy")[0], quoted(2, "quagmire below")[0]],
        ),
        (alice(), "they play music", &quoted(3, "xylophone music")),
        (alice(), "tea is hot", &[]),
        (bob, "they like marmalade", &quoted(4, "marmalade toast")),
    ] {
        let entities = if statement.contains("zanzibar") { &names[..] } else { &[] };
        let new = NewFact { sources, entities, ..fact(statement) };
        memory.add_fact(scope, &new, by("extract", 2)).unwrap();
    }
    memory
        .edit_fact(
            alice(),
            1,
            "they love zanzibar",
            &[chunk("they love zanzibar", None)],
            by("user", 3),
        )
        .unwrap();
    memory
        .add_procedure(
            alice(),
            &procedure("sail to zanzibar", &quoted(1, "zanzibar ahoy")),
            by("reflect", 4),
        )
        .unwrap();
    let went = event("went to zanzibar", 5);
    memory
        .add_event(
            alice(),
            &hermes_store::memory::NewEvent { sources: &quoted(1, "zanzibar ahoy"), ..went },
            by("extract", 5),
        )
        .unwrap();
    hand_out(&mut memory);
    (memory, bob)
}

fn hand_out(memory: &mut Memory) {
    let items = [(ItemKind::Fact, 1)];
    let receipt = NewReceipt { session_id: Some("two"), turn: None, tokens: 1, items: &items };
    memory.hand_out(alice(), &receipt, at(6)).unwrap();
}

fn holds(place: &Place, word: &str) -> bool {
    let bytes = place.bytes().to_ascii_lowercase();
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}

fn facts(memory: &Memory, scope: Scope) -> Vec<String> {
    let held = memory.list_facts(scope, &FactFilter::default(), at(99)).unwrap();
    held.into_iter().rev().map(|fact| fact.statement).collect()
}

fn recent(memory: &Memory, scope: Scope) -> Vec<i64> {
    let filter = RecentFilter { limit: 99, ..RecentFilter::default() };
    let mut ids: Vec<i64> =
        memory.recent_episodes(scope, &filter).unwrap().iter().map(|one| one.id).collect();
    ids.sort_unstable();
    ids
}

fn is_whole(memory: &Memory) -> bool {
    memory.check_memory(Admin).unwrap().is_empty()
        && matches!(memory.check_audit(Admin).unwrap(), ChainState::Whole { .. })
}

fn one() -> Choice {
    Choice::Session(UserNumber::OWNER, "one".to_owned())
}

#[test]
fn a_forgotten_session_takes_what_was_drawn_from_nothing_else() {
    for depth in [Depth::Retire, Depth::Erase] {
        let place = Place::new();
        let (mut memory, bob) = filled(&place);
        let plan = memory.forget_plan(Admin, &one()).unwrap();
        let wanted = Forgotten {
            episodes: 1,
            messages: 1,
            facts: 1,
            procedures: 1,
            events: 1,
            proposals: 0,
        };
        assert_eq!(plan, wanted);
        assert_eq!(memory.forget(Admin, &one(), depth, by("user", 10)).unwrap(), plan);
        assert_eq!(facts(&memory, alice()), ["they like mud", "they play music", "tea is hot"]);
        assert_eq!(facts(&memory, bob), ["they like marmalade"]);
        assert_eq!((recent(&memory, alice()), recent(&memory, bob)), (vec![2, 3], vec![4]));
        assert_eq!(memory.list_procedures(alice(), None, 9).unwrap(), []);
        assert_eq!(memory.list_events(alice(), None, None, 9).unwrap(), []);
        let index = RecallFilter { kinds: vec![ItemKind::Message], ..RecallFilter::default() };
        assert_eq!(memory.postings(alice(), &index, "ahoy", 9).unwrap().chunks, []);
        assert!(is_whole(&memory));
        assert_eq!(holds(&place, "zanzibar"), depth == Depth::Retire);
        for word in ["quagmire", "xylophone", "marmalade"] {
            assert!(holds(&place, word));
        }
    }
}

#[test]
fn what_is_forgotten_is_buried_with_its_session_and_statements() {
    let place = Place::new();
    let (mut memory, _) = filled(&place);
    memory.forget(Admin, &one(), Depth::Erase, by("user", 10)).unwrap();
    let source = Choice::Source(UserNumber::OWNER, "journal.md".to_owned());
    memory.forget(Admin, &source, Depth::Erase, by("user", 10)).unwrap();
    let graves = "select kind, count(*) from grave where user_id = 1 group by kind order by kind";
    // Two facts and an earlier text of one, the words they came from, the messages, the session.
    assert_eq!(place.sql(graves), "0|3\n2|2\n3|2\n4|1");
    assert_eq!(memory.receipts_of(alice(), "two").unwrap(), []);
}

#[test]
fn a_retired_session_can_be_brought_back() {
    let place = Place::new();
    let (mut memory, _) = filled(&place);
    memory.forget(Admin, &one(), Depth::Retire, by("user", 10)).unwrap();
    let known = memory.record(alice(), &[message("one", "1", "again")], by("user", 11)).unwrap();
    assert_eq!(known.added, 0);
    memory.restore_episode(alice(), 1, &[], by("user", 12)).unwrap();
    memory.restore_fact(alice(), 1, by("user", 12)).unwrap();
    assert_eq!(recent(&memory, alice()), [1, 2, 3]);
    assert_eq!(place.sql("select count(*) from grave where kind = 4"), "0");
}

#[test]
fn an_erased_user_is_gone_with_their_identities_and_nobody_else() {
    let place = Place::new();
    let (mut memory, bob) = filled(&place);
    let choice = Choice::User(bob.user());
    let plan = memory.forget_plan(Admin, &choice).unwrap();
    assert_eq!((plan.episodes, plan.facts), (1, 1));
    assert_eq!(memory.forget(Admin, &choice, Depth::Erase, by("user", 10)).unwrap(), plan);
    for word in ["marmalade", "bob-at-telegram"] {
        assert!(!holds(&place, word), "{word}");
    }
    assert!(holds(&place, "zanzibar"));
    assert_eq!(memory.user_of_identity("telegram", "bob-at-telegram").unwrap(), None);
    assert_eq!(facts(&memory, alice()).len(), 4);
    assert_eq!(memory.users(Admin).unwrap().len(), 2);
    assert!(is_whole(&memory));
}

#[test]
fn erasing_everything_leaves_the_users_and_the_owners_identities() {
    let place = Place::new();
    let (mut memory, bob) = filled(&place);
    let plan = memory.forget_plan(Admin, &Choice::All).unwrap();
    let wanted =
        Forgotten { episodes: 4, messages: 4, facts: 5, procedures: 1, events: 1, proposals: 0 };
    assert_eq!(plan, wanted);
    assert_eq!(memory.forget(Admin, &Choice::All, Depth::Erase, by("user", 10)).unwrap(), plan);
    for word in ["zanzibar", "quagmire", "xylophone", "marmalade", "bob-at", "journal.md"] {
        assert!(!holds(&place, word), "{word}");
    }
    let owner = memory.user_of_identity("telegram", "alice-at-telegram").unwrap();
    assert_eq!(owner, Some(UserNumber::OWNER));
    assert_eq!((facts(&memory, alice()), facts(&memory, bob)), (Vec::new(), Vec::new()));
    assert_eq!(memory.entity(alice(), "zanzibar").unwrap(), None);
    assert_eq!(memory.forget_plan(Admin, &Choice::All).unwrap(), Forgotten::default());
    assert!(is_whole(&memory));
    memory.record(alice(), &[message("new", "1", "a new day")], by("user", 11)).unwrap();
    assert!(is_whole(&memory));
}

#[test]
fn one_kind_is_forgotten_alone() {
    for depth in [Depth::Retire, Depth::Erase] {
        for kind in ItemKind::ALL {
            let place = Place::new();
            let (mut memory, bob) = filled(&place);
            let choice = Choice::Kind(UserNumber::OWNER, kind);
            let plan = memory.forget_plan(Admin, &choice).unwrap();
            assert_eq!(memory.forget(Admin, &choice, depth, by("user", 10)).unwrap(), plan);
            let left = |kept: ItemKind, count: usize| if kind == kept { 0 } else { count };
            assert_eq!(facts(&memory, alice()).len(), left(ItemKind::Fact, 4));
            assert_eq!(recent(&memory, alice()).len(), left(ItemKind::Message, 3));
            let procedures = memory.list_procedures(alice(), None, 9).unwrap().len();
            assert_eq!(procedures, left(ItemKind::Procedure, 1));
            let events = memory.list_events(alice(), None, None, 9).unwrap().len();
            assert_eq!(events, left(ItemKind::Event, 1));
            assert_eq!((facts(&memory, bob).len(), recent(&memory, bob).len()), (1, 1));
            assert!(is_whole(&memory), "{kind:?}");
        }
    }
}

#[test]
fn a_summary_goes_with_each_of_its_sessions_and_leaves_no_trace_of_what_it_told() {
    for is_dropped in [false, true] {
        let place = Place::new();
        let (mut memory, _) = filled(&place);
        let body = "a summary about zanzibar";
        let chunks = vec![chunk(body, None)];
        let new = NewSummary { episodes: &[1, 2], body, task_type: None, tokens: 4, chunks };
        let summary = memory.keep_summary(alice(), &new, by("compress", 8)).unwrap();
        if is_dropped {
            memory.drop_raw(alice(), summary, body, by("compress", 9)).unwrap();
        }
        let plan = memory.forget_plan(Admin, &one()).unwrap();
        assert_eq!((plan.facts, plan.episodes), (1, if is_dropped { 1 } else { 2 }));
        assert_eq!(memory.forget(Admin, &one(), Depth::Erase, by("user", 10)).unwrap(), plan);
        assert!(!holds(&place, "zanzibar"), "dropped: {is_dropped}");
        let left = if is_dropped { vec![3] } else { vec![2, 3] };
        assert_eq!(recent(&memory, alice()), left);
        assert_eq!(memory.unfinished_summaries(Admin).unwrap(), []);
        assert!(is_whole(&memory));
        let two = [message("two", "1", "I said quagmire below")];
        let two = memory.record(alice(), &two, by("u", 11)).unwrap();
        assert_eq!(two, Recorded { known: 1, ..Recorded::default() });
    }
}
