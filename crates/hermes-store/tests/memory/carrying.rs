//! A memory carried elsewhere: the twin is the same, nothing comes twice, what was forgotten stays so.

use hermes_store::memory::{
    Admin, ChainState, Change, Choice, Depth, ExportChoice, ExportHead, Exported, Imported, Memory,
    NewMessage, NewSource, NewSummary, PortableItem, Scope, Section, Step, UserNumber,
};
use proptest::prelude::*;

use crate::operations::{Changer, Operation, operation};
use crate::place::cases;
use crate::support::{Place, alice, at, by, chunk, fact, message};

/// Everything that was exported, as it is written.
struct Carried {
    head: ExportHead,
    lines: Vec<(Section, String)>,
}

impl Carried {
    fn of(memory: &Memory) -> Carried {
        Carried::some_of(memory, &ExportChoice::default())
    }

    fn some_of(memory: &Memory, choice: &ExportChoice<'_>) -> Carried {
        let mut carried = Carried { head: ExportHead::default(), lines: Vec::new() };
        memory
            .export(Admin, choice, &mut |exported| {
                match exported {
                    Exported::Head(head) => {
                        carried.head = ExportHead { exported_at: at(0), ..head }
                    }
                    Exported::Item(section, line) => {
                        carried.lines.push((section, String::from_utf8(line.to_vec()).unwrap()));
                    }
                }
                Ok(())
            })
            .unwrap();
        carried
    }

    fn items(&self) -> Vec<PortableItem> {
        let items = self.lines.iter().map(|(section, line)| PortableItem {
            section: *section,
            fields: serde_json::from_str(line).unwrap_or_else(|why| panic!("{why}: {line}")),
        });
        items.collect()
    }

    /// Takes everything in, `batch` items at a time; stops after `batches`.
    fn bring(&self, memory: &mut Memory, batch: usize, batches: usize) -> Imported {
        let change = Change { actor: "import", at: at(5000) };
        let mut import = memory.import_begin(Admin, &self.head, change).unwrap();
        let mut sum = Imported::default();
        let items = self.items();
        for some in items.chunks(batch).take(batches) {
            let chunker = |text: &hermes_store::memory::PortableText<'_>| {
                let mut one = chunk(text.text, None);
                one.words.extend([" ", text.further.unwrap_or_default()]);
                vec![one]
            };
            sum.join(memory.import_items(&mut import, some, &chunker, change).unwrap());
        }
        if items.chunks(batch).len() <= batches {
            memory.import_end(&import, true, change).unwrap();
        }
        sum
    }
}

fn filled(place: &Place, operations: &[Operation]) -> Memory {
    let mut memory = place.write();
    for name in ["bob", "carol"] {
        memory.user_or_new(name, by("user", 0)).unwrap();
    }
    let mut changer = Changer::default();
    for (minute, operation) in (10..).zip(operations) {
        changer.apply(&mut memory, operation, minute);
    }
    memory
}

fn is_sound(memory: &Memory) -> Result<(), TestCaseError> {
    prop_assert_eq!(memory.check_memory(Admin).unwrap(), []);
    let chain = memory.check_audit(Admin).unwrap();
    prop_assert!(matches!(chain, ChainState::Whole { .. }), "{:?}", chain);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_time: 20_000, ..ProptestConfig::with_cases(cases(64)) })]

    #[test]
    fn an_empty_memory_becomes_the_twin_of_the_one_exported(
        operations in prop::collection::vec(operation(3), 1..60), batch in 1..40_usize,
    ) {
        let (here, there) = Place::pair();
        let memory = filled(&here, &operations);
        let carried = Carried::of(&memory);
        let mut twin = there.write();
        let imported = carried.bring(&mut twin, batch, usize::MAX);
        prop_assert_eq!(&imported.reasons, &Vec::<String>::new());
        let again = Carried::of(&twin);
        prop_assert_eq!(&carried.lines, &again.lines);
        prop_assert_eq!(&carried.head, &again.head);
        is_sound(&twin)?;
        for user in 1..=3 {
            let scope = Scope::of(UserNumber::new(user));
            let (left, right) = (
                memory.list_facts(scope, &Default::default(), at(900)).unwrap(),
                twin.list_facts(scope, &Default::default(), at(900)).unwrap(),
            );
            prop_assert_eq!(left, right);
        }
        let twice = carried.bring(&mut twin, batch, usize::MAX);
        prop_assert_eq!(twice.total().added, 0, "{:?}", twice);
        prop_assert_eq!(&carried.lines, &Carried::of(&twin).lines);
    }

    #[test]
    fn an_import_that_was_cut_off_goes_on_to_the_same_end(
        operations in prop::collection::vec(operation(3), 1..60),
        others in prop::collection::vec(operation(3), 0..20),
        batch in 1..20_usize, cut in 0..30_usize,
    ) {
        let (here, clean, broken) = (Place::new(), Place::new(), Place::new());
        let carried = Carried::of(&filled(&here, &operations));
        let fill = |place: &Place| match others.is_empty() {
            true => place.write(),
            false => filled(place, &others),
        };
        let (mut clean_memory, mut broken_memory) = (fill(&clean), fill(&broken));
        carried.bring(&mut clean_memory, batch, usize::MAX);
        carried.bring(&mut broken_memory, batch, cut);
        drop(broken_memory);
        let mut broken_memory = broken.write();
        carried.bring(&mut broken_memory, batch, usize::MAX);
        is_sound(&broken_memory)?;
        let (left, right) = (Carried::of(&clean_memory), Carried::of(&broken_memory));
        let comparable = |carried: &Carried| -> Vec<String> {
            let own = |line: &&(Section, String)| {
                others.is_empty() || !matches!(line.0, Section::Audit | Section::Users)
            };
            carried.lines.iter().filter(own).map(|line| without_chance(&line.1)).collect()
        };
        prop_assert_eq!(comparable(&left), comparable(&right));
    }

    #[test]
    fn what_is_there_stays_and_what_comes_is_added(
        operations in prop::collection::vec(operation(3), 1..40),
        others in prop::collection::vec(operation(3), 1..40), batch in 1..40_usize,
    ) {
        let (here, there) = (Place::new(), Place::new());
        let carried = Carried::of(&filled(&here, &operations));
        let mut target = filled(&there, &others);
        let before = Carried::of(&target);
        let imported = carried.bring(&mut target, batch, usize::MAX);
        prop_assert_eq!(&imported.reasons, &Vec::<String>::new());
        is_sound(&target)?;
        let after = Carried::of(&target);
        for (section, line) in &before.lines {
            if matches!(section, Section::Facts | Section::Procedures | Section::Events | Section::Receipts) {
                prop_assert!(after.lines.contains(&(*section, line.clone())), "{}", line);
            }
        }
        let twice = carried.bring(&mut target, batch, usize::MAX);
        prop_assert_eq!(twice.total().added, 0, "{:?}", twice);
        prop_assert_eq!(&after.lines, &Carried::of(&target).lines);
    }
}

/// The ids that chance gave to the items which two memories made by themselves.
fn without_chance(line: &str) -> String {
    let mut fields: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(line).unwrap();
    fields.remove("uid");
    serde_json::Value::from(fields).to_string()
}

/// A memory with a summary whose episodes are gone, tool calls, forgotten things and a long session.
fn eventful(place: &Place) -> Memory {
    let mut memory = place.write();
    let steps =
        vec![Step { tool: "cargo".into(), arguments: "test".into(), failed: true, message: 0 }];
    for number in 0..6 {
        let id = format!("m{number}");
        let new = NewMessage {
            steps: steps.clone(),
            at: at(number),
            ..message("monday", &id, "the harbor is closed")
        };
        memory.record(alice(), &[new], by("record", number)).unwrap();
    }
    let mut told = chunk("The harbor was closed.", None);
    told.words.push_str(" because houses were painted in Zanzibar");
    let summary = NewSummary {
        episodes: &[1, 2],
        body: "The harbor was closed.",
        tokens: 5,
        task_type: None,
        chunks: vec![told],
    };
    let summary = memory.keep_summary(alice(), &summary, by("compress", 10)).unwrap();
    memory.drop_raw(alice(), summary, "The harbor was closed.", by("compress", 11)).unwrap();
    let sources =
        [NewSource { episode: Some(1), message: Some(3), quote: Some("closed"), extractor: None }];
    let closed =
        hermes_store::memory::NewFact { sources: &sources, ..fact("The harbor is closed.") };
    memory.add_fact(alice(), &closed, by("user", 12)).unwrap();
    memory.supersede_fact(alice(), 1, &fact("The harbor is open."), by("user", 13)).unwrap();
    memory.add_fact(alice(), &fact("Copper is dear."), by("user", 14)).unwrap();
    memory.erase_fact(alice(), 3, by("user", 15)).unwrap();
    memory
}

#[test]
fn summaries_gone_episodes_and_given_out_numbers_come_along() {
    let (here, there) = (Place::new(), Place::new());
    let carried = Carried::of(&eventful(&here));
    let mut twin = there.write();
    let imported = carried.bring(&mut twin, 3, usize::MAX);
    assert_eq!(imported.reasons, Vec::<String>::new());
    assert_eq!(carried.lines, Carried::of(&twin).lines);
    // The summary is found by words that it does not show, whatever their stem looks like.
    let kinds = vec![hermes_store::memory::ItemKind::Summary];
    let filter = hermes_store::memory::RecallFilter { kinds, ..Default::default() };
    for (word, count) in [("harbor", 1), ("zanzibar", 1), ("house", 1), ("because", 1), ("hou", 0)]
    {
        let found = twin.postings(alice(), &filter, word, 10).unwrap();
        assert_eq!(found.chunks.len(), count, "{word}");
    }
    // Number 3 was erased: it is not given out again.
    let next = twin.add_fact(alice(), &fact("Velvet is soft."), by("user", 20)).unwrap();
    assert_eq!(next, hermes_store::memory::Added::New(4));
    // What was recorded and dropped there is not recorded again here.
    let first = message("monday", "m0", "the harbor is closed");
    assert_eq!(twin.record(alice(), &[first], by("record", 21)).unwrap().known, 1);
}

#[test]
fn numbers_that_are_taken_move_with_everything_that_names_them() {
    let (here, there) = (Place::new(), Place::new());
    let carried = Carried::of(&eventful(&here));
    let mut target = there.write();
    target.add_fact(alice(), &fact("Onions are cheap."), by("user", 1)).unwrap();
    let said = message("monday", "other", "something else was said on monday");
    target.record(alice(), &[said], by("record", 1)).unwrap();
    let imported = carried.bring(&mut target, 100, usize::MAX);
    assert_eq!(imported.reasons, Vec::<String>::new());
    let facts = target.list_facts(
        alice(),
        &hermes_store::memory::FactFilter { with_retired: true, ..Default::default() },
        at(900),
    );
    let facts = facts.unwrap();
    let old = facts.iter().find(|fact| fact.statement == "The harbor is closed.").unwrap();
    let new = facts.iter().find(|fact| fact.statement == "The harbor is open.").unwrap();
    assert_eq!(old.superseded_by, Some(new.id));
    assert_eq!(facts.iter().find(|fact| fact.id == 1).unwrap().statement, "Onions are cheap.");
    assert_eq!(target.check_memory(Admin).unwrap(), []);
    assert!(matches!(target.check_audit(Admin).unwrap(), ChainState::Whole { .. }));
    let sources = target.sources_of_fact(alice(), old.id).unwrap();
    assert_eq!(sources[0].quote.as_deref(), Some("closed"));
}

#[test]
fn what_was_forgotten_is_not_brought_back_by_an_older_export_however_often() {
    let place = Place::new();
    let mut memory = place.write();
    memory.add_fact(alice(), &fact("Copper is dear."), by("user", 1)).unwrap();
    memory.add_fact(alice(), &fact("Velvet is soft."), by("user", 1)).unwrap();
    memory.record(alice(), &[message("monday", "a", "a secret harbor")], by("record", 1)).unwrap();
    let carried = Carried::of(&memory);
    memory.retire_fact(alice(), 1, by("user", 2)).unwrap();
    memory.erase_fact(alice(), 2, by("user", 2)).unwrap();
    let monday = Choice::Session(UserNumber::OWNER, "monday".to_owned());
    memory.forget(Admin, &monday, Depth::Erase, by("user", 3)).unwrap();
    let before = Carried::of(&memory);
    for _ in 0..2 {
        let imported = carried.bring(&mut memory, 2, usize::MAX);
        assert_eq!(imported.total().added, 0, "{imported:?}");
        assert_eq!(Carried::of(&memory).lines, before.lines);
    }
    // A copy of the same words under another id stays away as well.
    let (other, from) = (Place::new(), Place::new());
    let mut elsewhere = from.write();
    elsewhere.add_fact(alice(), &fact("velvet is soft"), by("user", 1)).unwrap();
    carried.bring(&mut other.write(), 2, usize::MAX);
    let imported = Carried::of(&elsewhere).bring(&mut memory, 10, usize::MAX);
    assert_eq!(imported.tallies["facts"].forgotten, 1);
}

#[test]
fn another_users_things_stay_theirs_and_numbers_of_another_home_mean_nothing() {
    let (here, there) = (Place::new(), Place::new());
    let mut memory = here.write();
    let bob = Scope::of(memory.user_or_new("bob", by("user", 0)).unwrap());
    memory.record(bob, &[message("monday", "a", "bob speaks")], by("record", 1)).unwrap();
    memory.add_fact(bob, &fact("Bob sails."), by("user", 1)).unwrap();
    let carried = Carried::of(&memory);
    let mut target = there.write();
    target.user_or_new("carol", by("user", 0)).unwrap();
    for _ in 0..2 {
        let imported = carried.bring(&mut target, 10, usize::MAX);
        assert_eq!(imported.reasons, Vec::<String>::new());
    }
    let bob_here = target.user("bob").unwrap().unwrap().number;
    assert_eq!(bob_here, UserNumber::new(3));
    let facts = target.list_facts(Scope::of(bob_here), &Default::default(), at(900)).unwrap();
    assert_eq!(facts.len(), 1);
    let carol = Scope::of(UserNumber::new(2));
    assert!(target.list_facts(carol, &Default::default(), at(900)).unwrap().is_empty());
    assert_eq!(target.counts(Admin).unwrap().messages, 1);
    assert_eq!(target.check_memory(Admin).unwrap(), []);
}

#[test]
fn a_bad_item_costs_only_itself_and_a_part_of_a_memory_can_be_carried() {
    let (here, there) = (Place::new(), Place::new());
    let memory = eventful(&here);
    let sections = [Section::Facts];
    let choice = ExportChoice { sections: Some(&sections), ..ExportChoice::default() };
    let mut carried = Carried::some_of(&memory, &choice);
    assert!(carried.head.is_part);
    assert!(carried.lines.iter().all(|line| line.0 != Section::Episodes));
    let bad = [
        r#"{"id":90}"#,
        r#"{"id":91,"uid":"018bcfe5-6800-7fff-bfff-ffffffffffff","user":77,"statement":"x"}"#,
        r#"{"id":92,"uid":"018bcfe5-6800-7fff-bfff-fffffffffffe","user":1,"statement":"x","kind":"fact","confidence":1,"origin":"nobody","trust":1,"recorded_at":"2025-01-01T00:00:00Z"}"#,
        r#"{"id":93,"uid":"018bcfe5-6800-7fff-bfff-fffffffffffd","user":1,"statement":7}"#,
    ];
    carried.lines.extend(bad.map(|line| (Section::Facts, line.to_owned())));
    let mut target = there.write();
    let imported = carried.bring(&mut target, 100, usize::MAX);
    assert_eq!((imported.tallies["facts"].added, imported.tallies["facts"].refused), (2, 4));
    assert_eq!(imported.reasons.len(), 4, "{:?}", imported.reasons);
    assert_eq!(target.check_memory(Admin).unwrap(), []);
}
