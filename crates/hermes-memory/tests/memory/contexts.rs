//! What is put in front of a model for a task, and what never is.

use hermes_home::tokens;
use hermes_memory::retrieval::{self, Context, FileText, Pass, Request, Section};
use hermes_memory::search::Reading;
use hermes_store::Stop;
use hermes_store::memory::{
    EventKind, Memory, NewEvent, NewProcedure, ProcedureKind, Scope, Trust, UserNumber,
};

use crate::support::{add_fact, change, line, memory, new_fact, owner, reading, record};

fn request(task: &str) -> Request<'_> {
    Request { task, ..Request::default() }
}

fn context(memory: &Memory, request: &Request<'_>) -> Context {
    retrieval::context(&reading(memory), request, &[]).unwrap()
}

fn has(context: &Context, name: &str) -> bool {
    context.items().any(|item| item.name == name)
}

fn with_talk() -> (tempfile::TempDir, Memory) {
    let (folder, mut memory) = memory();
    let lines: String = (1..=9)
        .flat_map(|n| {
            let day = format!("2026-10-0{n}");
            let session = format!("s{n}");
            let long = "It was a long story about boats and the sea. ".repeat(20);
            [
                line(&session, "user", &day, &format!("Talk number {n}: {long}")),
                line(&session, "assistant", &day, &format!("Answer number {n}: {long}")),
            ]
        })
        .collect();
    record(&mut memory, &lines);
    (folder, memory)
}

#[test]
fn of_a_long_task_the_beginning_and_the_end_are_looked_for_and_that_is_said() {
    let (_folder, mut memory) = memory();
    add_fact(&mut memory, "The harbour gate opens at seven", &["harbour"]);
    let pasted: String = (0..20_000).map(|number| format!("line{number} ")).collect();
    let task = format!("{pasted} When does the harbour gate open?");
    let found = context(&memory, &request(&task));
    assert!(has(&found, "fact:001"), "{found:?}");
    assert!(found.notes.iter().any(|note| note.contains("were searched for")), "{:?}", found.notes);
}

#[test]
fn a_context_that_nobody_waits_for_is_not_made() {
    let (_folder, mut memory) = with_talk();
    let stop = Stop::default();
    memory.heed(&stop).unwrap();
    let asked = request("Tell the story about boats");
    assert!(retrieval::context(&reading(&memory), &asked, &[]).is_ok());
    stop.ask();
    let ended = retrieval::context(&reading(&memory), &asked, &[]).unwrap_err();
    assert!(matches!(ended, hermes_memory::Error::Store(hermes_store::Error::Stopped)), "{ended}");
    memory.heed(&Stop::default()).unwrap();
    assert!(retrieval::context(&reading(&memory), &asked, &[]).is_ok());
}

#[test]
fn an_empty_memory_gives_an_empty_context() {
    let (_folder, memory) = memory();
    let context = context(&memory, &request("Plan the launch of BrightCart with Ada"));
    assert_eq!((context.tokens, context.sections.len()), (0, 0));
    assert_eq!(retrieval::text(&context), "");
}

#[test]
fn the_latest_three_are_always_there_and_the_running_session_never() {
    let (_folder, memory) = with_talk();
    let asked = Request { session: Some("s9"), ..request("thanks!") };
    let context = context(&memory, &asked);
    let recent = context.items().filter(|item| item.passes.contains(&Pass::Recency)).count();
    assert_eq!(recent, 3);
    assert!(!retrieval::text(&context).contains("number 9"));
    assert!(retrieval::text(&context).contains("number 8"));
}

#[test]
fn a_prompt_with_nothing_to_recall_costs_at_most_200_tokens() {
    let (_folder, memory) = with_talk();
    for task in ["thanks!", "write a haiku", "ok", "👍", "go on please"] {
        let context = context(&memory, &request(task));
        let cost = tokens::estimate(&retrieval::text(&context));
        assert!(cost <= 200 && cost <= context.tokens, "{task}: {cost}");
    }
}

#[test]
fn facts_about_a_name_in_the_task_are_there_and_those_no_longer_true_are_not() {
    let (_folder, mut memory) = memory();
    let old = add_fact(&mut memory, "Ada lives in Oslo.", &["Ada"]);
    let entities = ["Ada".to_owned()];
    let new = memory
        .supersede_fact(owner(), old, &new_fact("Ada lives in Bergen.", &entities), change())
        .unwrap();
    let gone = add_fact(&mut memory, "Ada has a cat.", &["Ada"]);
    memory.retire_fact(owner(), gone, change()).unwrap();
    let expired = hermes_store::memory::NewFact {
        valid_to: Some("2026-01-01T00:00:00Z".parse().unwrap()),
        ..new_fact("Ada is on leave.", &entities)
    };
    memory.add_fact(owner(), &expired, change()).unwrap();
    let context = context(&memory, &request("Write to Ada"));
    assert!(has(&context, &format!("fact:{new:03}")));
    let shown = retrieval::text(&context);
    for word in ["Oslo", "cat", "leave"] {
        assert!(!shown.contains(word), "{word} in {shown}");
    }
    assert!(retrieval::why(&context).contains("about Ada"));
}

#[test]
fn nobody_sees_what_is_private_to_another() {
    let (_folder, mut memory) = with_talk();
    add_fact(&mut memory, "Ada lives in Bergen.", &["Ada"]);
    let other = Scope::of(UserNumber::new(7));
    let asker = Reading { scope: other, ..reading(&memory) };
    let found = retrieval::context(&asker, &request("Where does Ada live?"), &[]).unwrap();
    assert_eq!((found.sections.len(), found.dropped.len()), (0, 0));
}

#[test]
fn procedures_come_with_tasks_of_their_type_and_events_with_their_time() {
    let (_folder, mut memory) = memory();
    let procedure = NewProcedure {
        kind: ProcedureKind::Reflection,
        task_type: Some("coding"),
        title: "Run the linter first",
        body: "The linter finds most faults before the tests do.",
        outcome: Some("success"),
        trust: Trust::Agent,
        shared: false,
        entities: &[],
        sources: &[],
        chunks: Vec::new(),
        origin: None,
        skill_path: None,
    };
    memory.add_procedure(owner(), &procedure, change()).unwrap();
    let event = NewEvent {
        at: "2026-10-13T09:00:00Z".parse().unwrap(),
        kind: EventKind::Decision,
        text: "Chose SQLite.",
        why: Some("one file"),
        trust: Trust::Agent,
        shared: false,
        entities: &[],
        chunks: Vec::new(),
        session: None,
        sources: &[],
        origin: None,
    };
    memory.add_event(owner(), &event, change()).unwrap();
    let coding = context(&memory, &request("Fix the failing tests in parser.rs and commit"));
    assert_eq!(
        coding.sections.iter().map(|s| s.section).collect::<Vec<_>>(),
        [Section::Procedures]
    );
    let asked = context(&memory, &request("What did you do last Tuesday and why?"));
    assert!(retrieval::text(&asked).contains("> why: one file"));
    assert!(!has(&coding, "event:1") && has(&asked, "event:1"));
}

#[test]
fn files_come_first_and_a_small_budget_holds() {
    let (_folder, mut memory) = with_talk();
    for number in 0..40 {
        add_fact(&mut memory, &format!("Ada owns boat number {number}."), &["Ada"]);
    }
    let files = [FileText { name: "MEMORY.md".to_owned(), text: "Prefers tea.".to_owned() }];
    for budget in [0, 30, 60, 100, 200, 400, 1000] {
        let asked = Request { budget: Some(budget), ..request("Which boats has Ada?") };
        let context = retrieval::context(&reading(&memory), &asked, &files).unwrap();
        assert!(tokens::estimate(&retrieval::text(&context)) <= budget, "{budget}");
        if let Some(first) = context.sections.first() {
            assert_eq!(first.section, Section::Files);
        }
    }
    let json = serde_json::to_value(context(&memory, &request("Which boats has Ada?"))).unwrap();
    assert!(json["sections"][0]["items"][0]["reason"].is_string());
}
