//! The likeness index of a server with pgvector: it finds what comparing everything finds, is used, and may go.

use std::collections::BTreeSet;

use hermes_store::memory::{
    Admin, ChunkKey, Memory, NewChunk, NewMessage, NewModel, QuestionVector, RecallFilter,
    SessionChoice, migrate_server, server_state,
};

use crate::pg_server::{self, Flavour, Server};
use crate::place::{Place, pool};
use crate::support::{alice, at, by, chunk, message};

const DIMS: usize = 256;
/// More than are fetched rather than asked for.
const SESSIONS: usize = 23;
const IN_EACH: usize = 100;

/// Vectors around forty middles, as texts about forty things are.
fn vector(number: usize) -> Vec<f32> {
    let mut state = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut middle = ((number % 40) as u64 + 1).wrapping_mul(0xd134_2543_de82_ef95);
    let chance = |state: &mut u64| {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state >> 40) as f32 / (1 << 24) as f32 - 0.5
    };
    let values: Vec<f32> =
        (0..DIMS).map(|_| chance(&mut middle) + 0.7 * chance(&mut state)).collect();
    let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    values.iter().map(|value| value / length).collect()
}

fn fill(memory: &mut Memory) -> i64 {
    let mean = vec![0.0; DIMS];
    let new = NewModel { provider: "embedded", name: "m", dims: DIMS, details: "", mean: &mean };
    let model = memory.add_model(Admin, &new, at(0)).unwrap();
    for session in 0..SESSIONS {
        let id = format!("session-{session}");
        let said: Vec<(String, NewChunk)> = (0..IN_EACH)
            .map(|place| {
                let number = session * IN_EACH + place;
                let text = format!("text {number}");
                let chunk = chunk(&text, Some(vector(number)));
                (text, chunk)
            })
            .collect();
        let messages: Vec<NewMessage<'_>> = said
            .iter()
            .map(|(text, chunk)| NewMessage {
                chunks: vec![chunk.clone()],
                ..message(&id, text, text)
            })
            .collect();
        memory.record(alice(), &messages, by("user", 5)).unwrap();
    }
    model.id
}

fn nearest(
    memory: &Memory,
    model: i64,
    filter: &RecallFilter,
    number: usize,
) -> BTreeSet<ChunkKey> {
    let vector = vector(number);
    let question = QuestionVector { model, vector: &vector };
    memory.begin_reading().unwrap();
    let found = memory.nearest(alice(), filter, &question, 10).unwrap();
    memory.end_reading().unwrap();
    assert_eq!(found.len(), 10);
    found.iter().map(|near| near.key).collect()
}

/// Whether the index was read so often; a server tells of a connection once it has ended.
fn was_used(server: &Server, database: &str, times: i64) -> bool {
    let count = "select coalesce(sum(idx_scan), 0) from pg_stat_user_indexes where indexrelname = 'near_256'";
    let count = || server.sql(database, count).trim().parse::<i64>().unwrap();
    (0..500).any(|_| count() >= times)
}

#[test]
fn the_index_of_the_server_finds_the_nearest_and_is_not_missed_when_it_goes() {
    let server = pg_server::shared(Flavour::Vector);
    let (with, without) = (server.fresh_database(), server.fresh_database());
    let database = with.rsplit('/').next().unwrap();
    server.sql(database, "create extension vector");
    // With so few, a server would rather sort them all.
    server.sql(database, &format!("alter database {database} set enable_sort = off"));
    let mut indexed = Place::beside(&with, "default").write();
    let mut plain = Place::beside(&without, "default").write();
    assert_eq!(server_state(&pool(&with)).unwrap().pgvector_dims, [DIMS]);
    let (model, other) = (fill(&mut indexed), fill(&mut plain));

    let all = RecallFilter::default();
    let mut alike = 0;
    for number in 0..20 {
        let found = nearest(&indexed, model, &all, 5_000 + number);
        alike += found.intersection(&nearest(&plain, other, &all, 5_000 + number)).count();
    }
    assert!(alike >= 190, "{alike} of 200");
    drop(indexed);
    assert!(was_used(server, database, 20), "the index was not read");

    let indexed = Place::beside(&with, "default").read();
    let choice = SessionChoice { session_id: Some("session-7"), ..SessionChoice::default() };
    let only = RecallFilter {
        sessions: Some(indexed.sessions(alice(), &choice).unwrap()),
        ..RecallFilter::default()
    };
    let left_out = RecallFilter {
        without_sessions: only.sessions.clone().unwrap(),
        ..RecallFilter::default()
    };
    for number in 700..705 {
        assert_eq!(nearest(&indexed, model, &only, number), nearest(&plain, other, &only, number));
        let others = nearest(&indexed, model, &left_out, number);
        let of_session = only.sessions.as_deref().unwrap();
        assert!(others.iter().all(|key| !of_session.contains(&key.message().session())));
    }

    server.sql(database, "drop extension vector cascade");
    assert_eq!(nearest(&indexed, model, &all, 5_000), nearest(&plain, other, &all, 5_000));
}

#[test]
fn an_extension_that_comes_later_is_used_after_the_next_migration() {
    let server = pg_server::shared(Flavour::Vector);
    let url = server.fresh_database();
    let mut memory = Place::beside(&url, "default").write();
    let model = NewModel { dims: 4, mean: &[0.0; 4], ..crate::support::small_model("small") };
    memory.add_model(Admin, &model, at(0)).unwrap();
    assert_eq!(server_state(&pool(&url)).unwrap().pgvector_dims, [0_usize; 0]);
    server.sql(url.rsplit('/').next().unwrap(), "create extension vector");
    for _ in 0..2 {
        assert_eq!(migrate_server(&pool(&url)).unwrap(), 0);
        let mut dims = server_state(&pool(&url)).unwrap().pgvector_dims;
        dims.sort_unstable();
        assert_eq!(dims, [4, DIMS]);
    }
}
