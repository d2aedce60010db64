//! What is done to a memory.db.

use std::path::Path;

use hermes_store::Result;
use hermes_store::memory::{
    Admin, Choice, Depth, DrawnFact, ExportChoice, ExportHead, Exported, Memory, NewFact,
    NewSource, NewSummary, PortableItem, Section, Standing, UserNumber, Wanted,
};
use hermes_store::sqlite::{self, Access, DEFAULT_WAIT};

use crate::support::{alice, at, by, chunk, event, fact, message, procedure, small_model};
use crate::trial::{Operation, Store};

const DATABASE: &str = "memory.db";

fn wanted(path: &Path) -> Wanted<'_> {
    Wanted { path, profile: "default" }
}

fn opened_at(folder: &Path) -> Result<Memory> {
    Memory::open(wanted(&folder.join(DATABASE)), Access::Write, DEFAULT_WAIT)
}

fn open(folder: &Path) -> Result<Store> {
    opened_at(folder).map(|memory| Store::Memory(Box::new(memory)))
}

fn memory(store: &mut Store) -> &mut Memory {
    match store {
        Store::Memory(memory) => memory,
        _ => panic!("a memory.db is open"),
    }
}

/// Sessions, facts, an event and a procedure; a model whose vectors are made by jobs.
fn lived(folder: &Path) {
    let path = folder.join(DATABASE);
    Memory::create(wanted(&path), "alice", by("user", 0)).unwrap();
    let mut memory = opened_at(folder).unwrap();
    for session in ["one", "two", "three"] {
        for number in 0..8 {
            let text = format!(
                "In {session} I said {number}: the lantern in the harbour. {}",
                "Words. ".repeat(20)
            );
            let external = number.to_string();
            memory.record(alice(), &[message(session, &external, &text)], by("user", 1)).unwrap();
        }
    }
    let quoted = [NewSource { episode: Some(1), quote: Some("I said 0"), ..NewSource::default() }];
    for statement in ["they like lanterns", "tea is hot", "the harbour is north"] {
        memory
            .add_fact(alice(), &NewFact { sources: &quoted, ..fact(statement) }, by("extract", 2))
            .unwrap();
    }
    memory.add_event(alice(), &event("went to the harbour", 5), by("extract", 5)).unwrap();
    hermes_store::memory::Memory::add_procedure(
        &mut memory,
        alice(),
        &procedure("light a lantern", &quoted),
        by("reflect", 4),
    )
    .unwrap();
}

fn operation(act: fn(&mut Store, &Path) -> Result<()>, steps: usize) -> Operation {
    Operation { database: DATABASE, prepare: lived, open, act, steps }
}

pub(crate) fn record() -> Operation {
    operation(
        |store, _| {
            let asked = message("four", "1", "Where did I put the lantern?");
            let answered = message("four", "2", "In the shed, behind the door.");
            memory(store).record(alice(), &[asked, answered], by("user", 7)).map(drop)
        },
        1,
    )
}

pub(crate) fn add_fact() -> Operation {
    operation(
        |store, _| {
            memory(store).add_fact(alice(), &fact("the shed is red"), by("user", 7)).map(drop)
        },
        1,
    )
}

pub(crate) fn edit_fact() -> Operation {
    operation(
        |store, _| {
            let text = "tea is cold";
            memory(store).edit_fact(alice(), 2, text, &[chunk(text, None)], by("user", 7))
        },
        1,
    )
}

fn session_one() -> Choice {
    Choice::Session(UserNumber::OWNER, "one".to_owned())
}

pub(crate) fn forget() -> Operation {
    operation(
        |store, _| {
            memory(store).forget(Admin, &session_one(), Depth::Retire, by("user", 8)).map(drop)
        },
        1,
    )
}

pub(crate) fn erase() -> Operation {
    operation(
        |store, _| {
            memory(store).forget(Admin, &session_one(), Depth::Erase, by("user", 8)).map(drop)
        },
        1,
    )
}

pub(crate) fn compact() -> Operation {
    operation(
        |store, _| {
            let memory = memory(store);
            let (body, told) = ("They spoke about a lantern.", [9, 10, 11]);
            let summary = NewSummary {
                episodes: &told,
                body,
                task_type: None,
                tokens: 6,
                chunks: vec![chunk(body, None)],
            };
            // What was cut short is gone on with, as the program does.
            let id = match memory.unfinished_summaries(Admin)?.first() {
                Some(begun) => begun.id,
                None => memory.keep_summary(alice(), &summary, by("compress", 9))?,
            };
            memory.drop_raw(alice(), id, body, by("compress", 9)).map(drop)
        },
        2,
    )
}

pub(crate) fn extract() -> Operation {
    operation(
        |store, _| {
            let memory = memory(store);
            let sources =
                [NewSource { episode: Some(2), quote: Some("I said 1"), ..NewSource::default() }];
            for statement in ["they speak of harbours", "they count from nought"] {
                let drawn = DrawnFact {
                    fact: NewFact { sources: &sources, ..fact(statement) },
                    standing: Standing::New,
                    said_at: at(1),
                    is_explicit: false,
                };
                memory.draw_fact(alice(), &drawn, by("extract", 9))?;
            }
            memory.mark_extracted(Admin, &[1, 2], at(9))
        },
        3,
    )
}

/// The file is written anew after what is too old to be kept was taken away; that it was is noted first.
fn vacuum() -> Operation {
    operation(|store, _| memory(store).vacuum(Admin, at(10)).map(drop), 1)
}

/// Whether the file became smaller is no matter of what it says: an error may come when all is there.
#[test]
fn a_vacuum_changes_nothing_whenever_the_power_goes() {
    vacuum().survives_power_loss();
}

/// A second model, so that everything waits to get a vector.
pub(crate) fn embed() -> Operation {
    operation(
        |store, _| {
            let memory = memory(store);
            memory.add_model(Admin, &small_model("second"), at(9)).map(drop)
        },
        1,
    )
}

const CARRIED: &str = "carried.json";

/// What stands between two items; an item may have several lines.
const END: char = '\u{1e}';

/// An empty memory, and an export of a full one.
#[expect(clippy::disallowed_methods, reason = "a file that was brought here")]
fn carried(folder: &Path) {
    let elsewhere = tempfile::tempdir().unwrap();
    lived(elsewhere.path());
    let memory = opened_at(elsewhere.path()).unwrap();
    let mut lines = String::new();
    let write = &mut |exported: Exported<'_>| {
        match exported {
            Exported::Head(head) => {
                lines = serde_json::to_string(&ExportHead { exported_at: at(0), ..head }).unwrap();
            }
            Exported::Item(section, item) => {
                lines += &format!("{END}{} {}", section.name(), String::from_utf8_lossy(item));
            }
        }
        Ok(())
    };
    memory.export(Admin, &ExportChoice::default(), write).unwrap();
    std::fs::write(folder.join(CARRIED), lines).unwrap();
    Memory::create(wanted(&folder.join(DATABASE)), "alice", by("user", 0)).unwrap();
}

fn item(line: &str) -> PortableItem {
    let (section, fields) = line.split_once(' ').unwrap();
    let section = Section::from_name(section).unwrap();
    PortableItem { section, fields: serde_json::from_str(fields).unwrap() }
}

pub(crate) fn import() -> Operation {
    let act = |store: &mut Store, folder: &Path| {
        let text = std::fs::read_to_string(folder.join(CARRIED)).unwrap();
        let (head, items) = text.split_once(END).unwrap();
        let head: ExportHead = serde_json::from_str(head).unwrap();
        let items: Vec<PortableItem> = items.split(END).map(item).collect();
        let change = by("import", 20);
        let memory = memory(store);
        let mut import = memory.import_begin(Admin, &head, change)?;
        let chunker = |text: &hermes_store::memory::PortableText<'_>| vec![chunk(text.text, None)];
        for some in items.chunks(40) {
            memory.import_items(&mut import, some, &chunker, change)?;
        }
        memory.import_end(&import, true, change)
    };
    Operation { prepare: carried, ..operation(act, 4) }
}

/// A memory of the first schema, with a message and a fact in it.
fn of_the_first_schema(folder: &Path) {
    sqlite::create(&folder.join(DATABASE), |connection| {
        connection
            .execute_batch(include_str!("../../migrations/memory/0001_first_schema.sql"))
            .unwrap();
        connection.execute_batch(FIRST_ROWS).unwrap();
        connection.pragma_update(None, "user_version", 1).unwrap();
        Ok(())
    })
    .unwrap();
}

const FIRST_ROWS: &str = "
    insert into meta (key, value) values ('profile', 'default'), ('home_id', 'h'), ('owner', 'alice');
    insert into user (id, uid, name, created_at) values
        (0, x'00000000000000000000000000000000', '', 0), (1, x'00000000000000000000000000000001', 'alice', 0);";

pub(crate) fn migrate() -> Operation {
    let open = |_: &Path| Ok(Store::None);
    let act = |store: &mut Store, folder: &Path| {
        *store = Store::Memory(Box::new(opened_at(folder)?));
        Ok(())
    };
    // All schema files are one transaction.
    Operation { database: DATABASE, prepare: of_the_first_schema, open, act, steps: 1 }
}
