//! What lives in a memory: drawn, taken back, undone, proposed, counted; on SQLite alone.

use hermes_store::Error;
use hermes_store::memory::{
    Added, Admin, ChainState, Change, Drawn, DrawnFact, Fact, FactFilter, FileEntry, Memory,
    NewFact, NewProposal, NewSource, Origin, ProposalState, Scope, Standing, Trust, Undone,
};
use jiff::civil::date;

use crate::support::{Place, alice, at, by, chunk, fact};

/// A fact drawn from the `episode`th episode, said at the minute of that number.
fn drawn<'a>(
    statement: &'a str,
    sources: &'a [NewSource<'a>],
    standing: Standing,
) -> DrawnFact<'a> {
    let said_at = at(sources[0].episode.unwrap());
    let fact = NewFact { origin: Origin::Extract, sources, ..fact(statement) };
    DrawnFact { fact, standing, said_at, is_explicit: false }
}

fn source(episode: i64, quote: &str) -> [NewSource<'_>; 1] {
    let (episode, message) = (Some(episode), Some(episode * 10));
    [NewSource { episode, message, quote: Some(quote), extractor: None }]
}

fn draw(memory: &mut Memory, drawn: &DrawnFact<'_>) -> Drawn {
    memory.draw_fact(alice(), drawn, by("extract", 500)).unwrap()
}

fn held(memory: &Memory) -> Vec<i64> {
    let found = memory.list_facts(alice(), &FactFilter::default(), at(900)).unwrap();
    found.into_iter().map(|fact| fact.id).collect()
}

fn one(memory: &Memory, id: i64) -> Fact {
    memory.facts(alice(), &[id]).unwrap().remove(0)
}

fn undo(memory: &mut Memory, id: i64, change: Change<'_>) -> Result<Undone, Error> {
    memory.undo_fact(alice(), id, &|text| vec![chunk(text, None)], change)
}

fn undone(action: &str, fact: i64) -> Undone {
    Undone { action: action.to_owned(), fact }
}

#[test]
fn what_a_person_deleted_is_not_drawn_again_until_newer_words_ask_for_it() {
    let place = Place::new();
    let mut memory = place.write();
    let said = source(1, "I drink tea");
    let tea = drawn("Alice drinks tea.", &said, Standing::New);
    assert_eq!(draw(&mut memory, &tea), Drawn::New(1));
    assert_eq!(draw(&mut memory, &tea), Drawn::Known(1));
    memory.retire_fact(alice(), 1, by("user", 300)).unwrap();
    for _ in 0..2 {
        assert_eq!(draw(&mut memory, &tea), Drawn::Buried);
    }
    let elsewhere = source(2, "tea again");
    assert_eq!(
        draw(&mut memory, &drawn("alice DRINKS tea", &elsewhere, Standing::New)),
        Drawn::Buried
    );
    let reworded = source(1, "i  drink TEA");
    assert_eq!(
        draw(&mut memory, &drawn("Alice likes tea.", &reworded, Standing::New)),
        Drawn::Buried
    );

    let old = DrawnFact { is_explicit: true, ..tea.clone() };
    assert_eq!(draw(&mut memory, &old), Drawn::Buried);
    let asked = source(400, "remember that I drink tea");
    let newer =
        DrawnFact { is_explicit: true, ..drawn("Alice drinks tea.", &asked, Standing::New) };
    assert_eq!(draw(&mut memory, &newer), Drawn::New(2));
    assert_eq!(draw(&mut memory, &newer), Drawn::Known(2));
    assert_eq!(draw(&mut memory, &tea), Drawn::Known(2));
    assert_eq!(held(&memory), [2]);
}

#[test]
fn what_a_person_brings_back_or_types_is_not_buried_any_more() {
    let place = Place::new();
    let mut memory = place.write();
    let said = source(1, "I drink tea");
    let tea = drawn("Alice drinks tea.", &said, Standing::New);
    draw(&mut memory, &tea);
    memory.retire_fact(alice(), 1, by("user", 300)).unwrap();
    memory.restore_fact(alice(), 1, by("user", 301)).unwrap();
    memory.retire_fact(alice(), 1, by("vacuum", 302)).unwrap();
    assert_eq!(draw(&mut memory, &tea), Drawn::Known(1));
    let later = source(9, "tea, as ever");
    assert_eq!(
        draw(&mut memory, &drawn("Alice drinks tea.", &later, Standing::New)),
        Drawn::New(2)
    );

    memory.retire_fact(alice(), 2, by("user", 303)).unwrap();
    assert_eq!(
        memory.add_fact(alice(), &fact("Alice drinks tea"), by("user", 304)).unwrap(),
        Added::New(3)
    );
    memory.retire_fact(alice(), 3, by("vacuum", 305)).unwrap();
    let last = source(11, "tea to the last");
    assert_eq!(draw(&mut memory, &drawn("Alice drinks tea.", &last, Standing::New)), Drawn::New(4));
}

#[test]
fn what_a_person_edited_superseded_or_erased_is_buried_and_what_an_agent_did_is_not() {
    for (actor, expected) in [("user", Drawn::Buried), ("user:bob", Drawn::Buried)] {
        let place = Place::new();
        let mut memory = place.write();
        let change = by(actor, 300);
        for (number, text) in [(1, "one"), (2, "two"), (3, "three")] {
            let said = source(number, text);
            assert_eq!(draw(&mut memory, &drawn(text, &said, Standing::New)), Drawn::New(number));
        }
        memory.edit_fact(alice(), 1, "one, better", &[chunk("one", None)], change).unwrap();
        memory.supersede_fact(alice(), 2, &fact("two, now"), change).unwrap();
        memory.erase_fact(alice(), 3, change).unwrap();
        for text in ["one", "two", "three"] {
            let said = source(7, "elsewhere");
            assert_eq!(draw(&mut memory, &drawn(text, &said, Standing::New)), expected, "{text}");
        }
        let items = "select count(distinct item) from grave where length(key) = 16";
        assert_eq!(place.sql(items), "3");
    }
    let place = Place::new();
    let mut memory = place.write();
    let said = source(1, "one");
    draw(&mut memory, &drawn("one", &said, Standing::New));
    memory.edit_fact(alice(), 1, "one, better", &[chunk("one", None)], by("agent", 3)).unwrap();
    assert_eq!(draw(&mut memory, &drawn("one", &said, Standing::New)), Drawn::Known(1));
    let other = source(2, "one");
    assert_eq!(draw(&mut memory, &drawn("one", &other, Standing::New)), Drawn::New(2));
}

#[test]
fn a_supersession_ends_the_old_fact_when_it_was_said_and_is_not_flipped_by_drawing_again() {
    let place = Place::new();
    let mut memory = place.write();
    let [early, late, past] = [source(1, "Berlin"), source(5, "Oslo now"), source(3, "Rome then")];
    let berlin = drawn("Alice lives in Berlin.", &early, Standing::New);
    let oslo = drawn("Alice lives in Oslo.", &late, Standing::Supersedes(1));
    assert_eq!(draw(&mut memory, &berlin), Drawn::New(1));
    assert_eq!(draw(&mut memory, &oslo), Drawn::New(2));
    let old = one(&memory, 1);
    assert_eq!(
        (old.superseded_by, old.valid_to, old.retired_at),
        (Some(2), Some(at(5)), Some(at(500)))
    );
    for _ in 0..2 {
        let again = DrawnFact { standing: Standing::Supersedes(2), ..berlin.clone() };
        assert_eq!(draw(&mut memory, &again), Drawn::Known(1));
        assert_eq!(draw(&mut memory, &oslo), Drawn::Known(2));
    }
    assert_eq!(held(&memory), [2]);

    let rome = drawn("Alice lives in Rome.", &past, Standing::SupersededBy(2));
    assert_eq!(draw(&mut memory, &rome), Drawn::New(3));
    assert_eq!(draw(&mut memory, &rome), Drawn::Known(3));
    let rome = one(&memory, 3);
    assert_eq!((rome.superseded_by, rome.retired_at), (Some(2), Some(at(500))));
    assert_eq!(held(&memory), [2]);

    let gone = source(8, "Paris");
    let paris = drawn("Alice lives in Paris.", &gone, Standing::Supersedes(1));
    assert_eq!(draw(&mut memory, &paris), Drawn::New(4));
    assert_eq!((held(&memory), one(&memory, 1).superseded_by), (vec![4, 2], Some(2)));
}

#[test]
fn what_ended_and_is_said_again_is_a_new_fact() {
    let place = Place::new();
    let mut memory = place.write();
    let [first, again] = [source(1, "away this week"), source(90, "away once more")];
    let mut away = drawn("Alice is away.", &first, Standing::New);
    away.fact.valid_to = Some(at(50));
    assert_eq!(draw(&mut memory, &away), Drawn::New(1));
    let later = drawn("Alice is away.", &again, Standing::New);
    assert_eq!(draw(&mut memory, &later), Drawn::New(2));
    for _ in 0..2 {
        assert_eq!(draw(&mut memory, &away), Drawn::Known(2));
        assert_eq!(draw(&mut memory, &later), Drawn::Known(2));
    }
    assert_eq!(one(&memory, 1).valid_to, Some(at(50)));
}

#[test]
fn a_pinned_fact_and_what_is_everybodys_are_contradicted_and_never_superseded() {
    let place = Place::new();
    let mut memory = place.write();
    let bob = Scope::of(memory.user_or_new("bob", by("user", 0)).unwrap());
    memory.add_fact(alice(), &fact("The office is in Berlin."), by("user", 1)).unwrap();
    memory.pin_fact(alice(), 1, true, by("user", 2)).unwrap();
    let shared = NewFact { shared: true, ..fact("Lunch is at noon.") };
    memory.add_fact(alice(), &shared, by("user", 3)).unwrap();
    let [first, second] = [source(4, "Oslo"), source(5, "one")];
    let oslo = drawn("The office is in Oslo.", &first, Standing::Supersedes(1));
    let one_sharp = drawn("Lunch is at one.", &second, Standing::Supersedes(2));
    assert_eq!(draw(&mut memory, &oslo), Drawn::New(3));
    assert_eq!(draw(&mut memory, &oslo), Drawn::Known(3));
    assert_eq!(draw(&mut memory, &one_sharp), Drawn::New(4));
    assert_eq!(held(&memory).len(), 4);
    let pairs = |memory: &Memory, scope| {
        let found = memory.conflicts(scope).unwrap();
        found.iter().map(|pair| (pair.fact, pair.other)).collect::<Vec<_>>()
    };
    assert_eq!(pairs(&memory, alice()), [(3, 1), (4, 2)]);
    assert_eq!(pairs(&memory, bob), []);
    assert!(memory.settle_conflict(bob, 3, 1, by("user", 6)).is_err());
    memory.settle_conflict(alice(), 1, 3, by("user", 6)).unwrap();
    assert!(memory.settle_conflict(alice(), 1, 3, by("user", 6)).is_err());
    assert_eq!(pairs(&memory, alice()), [(4, 2)]);
    memory.retire_fact(alice(), 4, by("agent", 7)).unwrap();
    assert_eq!(pairs(&memory, alice()), []);
    memory.erase_fact(alice(), 4, by("user", 8)).unwrap();
    assert_eq!(memory.check_memory(Admin).unwrap(), []);
}

#[test]
fn an_edit_a_retirement_and_a_restoration_can_be_undone_again_and_again() {
    let place = Place::new();
    let mut memory = place.write();
    memory.add_fact(alice(), &fact("Tea is hot."), by("agent", 1)).unwrap();
    let nothing = undo(&mut memory, 1, by("user", 2)).unwrap_err();
    assert!(matches!(nothing, Error::NothingToUndo { .. }) && nothing.hint().is_some());
    memory
        .edit_fact(alice(), 1, "Tea is cold.", &[chunk("Tea is cold.", None)], by("user", 3))
        .unwrap();
    memory.pin_fact(alice(), 1, true, by("user", 4)).unwrap();
    for (minute, text) in [(5, "Tea is hot."), (6, "Tea is cold."), (7, "Tea is hot.")] {
        assert_eq!(undo(&mut memory, 1, by("user", minute)).unwrap(), undone("fact.edit", 1));
        assert_eq!(one(&memory, 1).statement, text);
    }
    memory.retire_fact(alice(), 1, by("user", 8)).unwrap();
    assert_eq!(undo(&mut memory, 1, by("user", 9)).unwrap(), undone("fact.retire", 1));
    assert_eq!(held(&memory), [1]);
    assert_eq!(undo(&mut memory, 1, by("user", 10)).unwrap(), undone("fact.restore", 1));
    assert_eq!(held(&memory), [0; 0]);
    assert_eq!(undo(&mut memory, 1, by("user", 11)).unwrap(), undone("fact.retire", 1));

    let told: Vec<(String, Option<String>)> = memory
        .history_of_fact(alice(), 1)
        .unwrap()
        .into_iter()
        .map(|change| (change.action, change.text))
        .collect();
    let step = |action: &str, text: Option<&str>| (action.to_owned(), text.map(str::to_owned));
    let (hot, cold) = (Some("Tea is hot."), Some("Tea is cold."));
    let expected = [
        step("fact.add", hot),
        step("fact.edit", cold),
        step("fact.pin", None),
        step("fact.edit", hot),
        step("fact.edit", cold),
        step("fact.edit", hot),
        step("fact.retire", None),
        step("fact.restore", None),
        step("fact.retire", None),
        step("fact.restore", None),
    ];
    assert_eq!(told, expected);
    let bob = Scope::of(memory.user_or_new("bob", by("user", 0)).unwrap());
    assert!(memory.history_of_fact(bob, 1).is_err());
    assert!(memory.undo_fact(bob, 1, &|_| Vec::new(), by("user", 12)).is_err());
    assert!(matches!(memory.check_audit(Admin).unwrap(), ChainState::Whole { .. }));
}

#[test]
fn a_supersession_can_be_undone_from_either_side_and_done_again() {
    let place = Place::new();
    let mut memory = place.write();
    let [early, late] = [source(1, "Berlin"), source(5, "Oslo now")];
    let mut berlin = drawn("Alice lives in Berlin.", &early, Standing::New);
    berlin.fact.valid_to = Some(at(950));
    draw(&mut memory, &berlin);
    draw(&mut memory, &drawn("Alice lives in Oslo.", &late, Standing::Supersedes(1)));
    for (minute, id) in [(600, 1), (610, 2)] {
        assert_eq!(undo(&mut memory, id, by("user", minute)).unwrap(), undone("fact.supersede", 1));
        assert_eq!((held(&memory), one(&memory, 1).valid_to), (vec![1], Some(at(950))));
        assert_eq!(one(&memory, 1).superseded_by, None);
        let told = memory.history_of_fact(alice(), 1).unwrap();
        assert_eq!(told.last().unwrap().action, "fact.unsupersede");
        let again = drawn("Alice lives in Oslo.", &late, Standing::Supersedes(1));
        assert_eq!(draw(&mut memory, &again), Drawn::Buried);
        assert_eq!(
            undo(&mut memory, id, by("user", minute + 1)).unwrap(),
            undone("fact.unsupersede", 2)
        );
        assert_eq!((held(&memory), one(&memory, 1).valid_to), (vec![2], Some(at(5))));
    }
    assert_eq!(memory.find_fact(alice(), "1").unwrap().superseded_by, Some(2));
}

#[test]
fn undoing_a_supersession_leaves_what_stood_on_its_own_or_was_superseded_since() {
    let place = Place::new();
    let mut memory = place.write();
    for text in ["a", "b"] {
        memory.add_fact(alice(), &fact(text), by("user", 1)).unwrap();
    }
    assert_eq!(memory.supersede_fact(alice(), 1, &fact("b"), by("user", 2)).unwrap(), 2);
    assert_eq!(undo(&mut memory, 1, by("user", 3)).unwrap(), undone("fact.supersede", 1));
    assert_eq!(held(&memory), [2, 1]);

    assert_eq!(memory.supersede_fact(alice(), 1, &fact("c"), by("user", 4)).unwrap(), 3);
    assert_eq!(memory.supersede_fact(alice(), 3, &fact("d"), by("user", 5)).unwrap(), 4);
    assert_eq!(undo(&mut memory, 1, by("user", 6)).unwrap(), undone("fact.supersede", 1));
    assert_eq!(held(&memory), [4, 2, 1]);
    assert_eq!(one(&memory, 3).superseded_by, Some(4));
}

#[test]
fn entries_of_memory_files_belong_to_facts() {
    let place = Place::new();
    let mut memory = place.write();
    let bob = Scope::of(memory.user_or_new("bob", by("user", 0)).unwrap());
    memory.add_fact(alice(), &fact("Tea is hot."), by("user", 1)).unwrap();
    let link = |entry| FileEntry { fact: 1, file: "memory".to_owned(), entry: [entry; 32] };
    assert!(memory.link_file_entry(bob, &link(1), at(2)).is_err());
    memory.link_file_entry(alice(), &link(1), at(2)).unwrap();
    memory.link_file_entry(alice(), &link(2), at(3)).unwrap();
    assert_eq!(
        (memory.file_entries(alice()).unwrap(), memory.file_entries(bob).unwrap()),
        (vec![link(2)], vec![])
    );
    memory.erase_fact(alice(), 1, by("user", 4)).unwrap();
    assert_eq!(memory.file_entries(alice()).unwrap(), []);
}

#[test]
fn a_proposal_is_made_once_and_decided_once() {
    let place = Place::new();
    let mut memory = place.write();
    let bob = Scope::of(memory.user_or_new("bob", by("user", 0)).unwrap());
    let new = NewProposal {
        kind: "memory.add",
        body: "{\"text\":\"tea\"}",
        origin: "extract",
        trust: Trust::Untrusted,
        episode: Some(3),
    };
    assert_eq!(memory.propose(alice(), &new, by("extract", 1)).unwrap(), Added::New(1));
    assert_eq!(memory.propose(alice(), &new, by("extract", 2)).unwrap(), Added::Known(1));
    assert_eq!(memory.propose(bob, &new, by("extract", 2)).unwrap(), Added::New(2));
    assert!(memory.proposal(bob, 1).is_err());
    assert!(memory.decide_proposal(bob, 1, ProposalState::Accepted, by("user", 3)).is_err());
    assert!(memory.decide_proposal(alice(), 1, ProposalState::Open, by("user", 3)).is_err());
    memory.decide_proposal(alice(), 1, ProposalState::Refused, by("user", 3)).unwrap();
    let again =
        memory.decide_proposal(alice(), 1, ProposalState::Accepted, by("user", 4)).unwrap_err();
    assert_eq!(again.to_string(), "could not accept proposal:1: it was already rejected");
    assert_eq!(memory.propose(alice(), &new, by("extract", 5)).unwrap(), Added::Known(1));
    let kept = memory.proposal(alice(), 1).unwrap();
    assert_eq!(
        (kept.state, kept.decided_at, kept.trust),
        (ProposalState::Refused, Some(at(3)), Trust::Untrusted)
    );
    assert_eq!(memory.proposals(alice(), Some(ProposalState::Open)).unwrap(), []);
    assert_eq!(memory.proposals(alice(), None).unwrap(), [kept]);
}

#[test]
fn numbers_are_counted_by_the_day() {
    let place = Place::new();
    let mut memory = place.write();
    let (monday, tuesday) = (date(2025, 6, 16), date(2025, 6, 17));
    assert_eq!(memory.counter(Admin, monday, "tokens").unwrap(), 0);
    assert_eq!(memory.add_to_counter(Admin, monday, "tokens", 40).unwrap(), 40);
    assert_eq!(memory.add_to_counter(Admin, monday, "tokens", 2).unwrap(), 42);
    assert_eq!(memory.add_to_counter(Admin, tuesday, "tokens", 5).unwrap(), 5);
    assert_eq!(memory.counter(Admin, monday, "tokens").unwrap(), 42);
    assert_eq!(memory.counter(Admin, monday, "calls").unwrap(), 0);
}
