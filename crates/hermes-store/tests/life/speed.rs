//! How long it takes to drop what summaries tell of: run with `--release -- --ignored --nocapture`.

use hermes_store::memory::{
    Admin, After, Episodes, Lifecycle, NewChunk, NewMessage, NewModel, NewSummary, Upkeep, Vectors,
};

use crate::support::{Place, alice, at, by, chunk, message};

const DIMS: usize = 256;
const SESSIONS: usize = 2_000;
const EPISODES: usize = 50;

fn vector(number: usize) -> Vec<f32> {
    let mut state = number as u64 * 2_654_435_761 + 12_345;
    let mut vector: Vec<f32> = (0..DIMS)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as f32 / 8_388_608.0 - 1.0
        })
        .collect();
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|value| *value /= length);
    vector
}

fn text(number: usize) -> String {
    let words = ["harbor", "boat", "tide", "rope", "anchor", "sail", "gull", "salt", "pier", "net"];
    let pick = |place: usize| words[(number * 7 + place * place * 3) % words.len()];
    let said: Vec<String> =
        (0..45).map(|place| format!("{}{}", pick(place), (number * 31 + place) % 997)).collect();
    said.join(" ")
}

fn cpu_seconds() -> f64 {
    let spent = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = spent.rsplit(')').next().unwrap().split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}

#[test]
#[ignore = "measures, takes a minute in an optimised build"]
#[expect(clippy::print_stdout, reason = "the numbers are what it is run for")]
fn a_hundred_thousand_episodes_are_compacted_in_some_tens_of_seconds() {
    let place = Place::new();
    let mut memory = place.write();
    let model =
        NewModel { provider: "embedded", name: "m", dims: DIMS, details: "", mean: &[0.0; DIMS] };
    memory.add_model(Admin, &model, at(0)).unwrap();
    let begun = cpu_seconds();
    for session in 0..SESSIONS {
        let id = format!("session-{session}");
        let said: Vec<(String, String)> = (0..EPISODES)
            .map(|place| (place.to_string(), text(session * EPISODES + place)))
            .collect();
        let messages: Vec<NewMessage<'_>> = said
            .iter()
            .enumerate()
            .map(|(place, (external, text))| NewMessage {
                chunks: vec![NewChunk {
                    vector: Some(vector(session * EPISODES + place)),
                    ..chunk(text, None)
                }],
                ..message(&id, external, text)
            })
            .collect();
        memory.record(alice(), &messages, by("user", 1)).unwrap();
    }
    println!("recorded {} episodes: {:.1} s of CPU", SESSIONS * EPISODES, cpu_seconds() - begun);
    let all: Vec<i64> = (1..=(SESSIONS * EPISODES) as i64).collect();
    memory.mark_extracted(Admin, &all, at(2)).unwrap();
    let begun = cpu_seconds();
    let (mut after, mut clusters, mut slowest) = (After::default(), 0, 0.0_f64);
    loop {
        let old = memory.old_episodes(Admin, at(1_000_000), after, 60).unwrap();
        let Some(last) = old.last() else { break };
        after = After { user: last.user.get(), session: last.session.get(), episode: last.id };
        let ids: Vec<i64> = old.iter().map(|episode| episode.id).collect();
        let body = text(clusters);
        let chunks = vec![NewChunk { vector: Some(vector(clusters)), ..chunk(&body, None) }];
        let summary =
            NewSummary { episodes: &ids, body: &body, task_type: None, tokens: 90, chunks };
        let kept = memory.keep_summary(alice(), &summary, by("compress", 2)).unwrap();
        let before = cpu_seconds();
        memory.drop_raw(alice(), kept, &body, by("compress", 2)).unwrap();
        slowest = slowest.max(cpu_seconds() - before);
        clusters += 1;
    }
    println!("{clusters} clusters: {:.1} s of CPU, slowest {slowest:.2} s", cpu_seconds() - begun);
    let counts = memory.counts(Admin).unwrap();
    println!("{counts:?}");
    let begun = cpu_seconds();
    println!("{:?}, {:.1} s of CPU", memory.vacuum(Admin, at(3)).unwrap(), cpu_seconds() - begun);
    assert_eq!(memory.check_memory(Admin).unwrap(), []);
}
