//! SIGKILL at every call of the system and at any moment, through every door: what was answered is kept, once.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::doors::{Door, SESSION};
use crate::is_full;
use crate::model_server::{ModelServer, Reply};
use crate::sandbox::Sandbox;
use crate::told::{Answer, Told, answered};
use crate::tree::Chance;

/// The calls at which the program is killed.
const CALLS: &str = "openat,write,pwrite64,fsync,fdatasync,ftruncate,rename,renameat,renameat2,link,linkat,unlink,\
    unlinkat,mkdir,fcntl";

/// How many kills there are for each door.
fn kills() -> usize {
    if is_full() { 260 } else { 8 }
}

/// A home and all that was told to it.
struct Scene {
    sandbox: Sandbox,
    model: ModelServer,
    told: Told,
}

impl Scene {
    fn new() -> Scene {
        let sandbox = Sandbox::ready();
        let first = [
            "memory",
            "turn",
            "--session",
            SESSION,
            "--user-text",
            "Hello",
            "--assistant-text",
            "Hi",
        ];
        sandbox.ok(&first);
        // A conversation has the number of the question in its answer too.
        let model = ModelServer::answering(|_, seen| {
            let asked = seen.last();
            let number = asked.split_once("asked ").and_then(|(_, rest)| rest.split_once('.'));
            Reply::text(&answered(number.and_then(|(n, _)| n.parse().ok()).unwrap_or(0)))
        });
        Scene { sandbox, model, told: Told::default() }
    }

    /// Tells one thing and waits for the end, unless it is to be killed before; true if it was killed.
    fn tell(
        &mut self,
        door: Door,
        under: &[String],
        delay: Option<Duration>,
        number: usize,
    ) -> bool {
        let mut command = door.command(&self.sandbox, &self.model, under, number);
        let (killed, ended_well, printed) =
            ended(&mut command, door.input(number).as_bytes(), delay);
        let answer = match (door.is_kept(ended_well, &printed), killed) {
            (true, _) => Answer::Kept,
            (false, true) => Answer::None,
            (false, false) => panic!("{door:?} {number} failed without a kill: {printed}"),
        };
        self.told.note(door.kind(), number, answer);
        killed
    }
}

/// Runs to the end or kills it then; whether it was killed, whether it ended well, what it printed.
fn ended(command: &mut Command, input: &[u8], delay: Option<Duration>) -> (bool, bool, String) {
    let mut child = command.spawn().unwrap();
    // Whoever is killed early reads nothing.
    let _ = child.stdin.take().unwrap().write_all(input);
    if let Some(delay) = delay {
        // The moment of the kill is what is tried: no event to wait for.
        std::thread::sleep(delay);
        let _ = child.kill();
    }
    let (mut printed, mut complaint) = (String::new(), String::new());
    let _ = child.stdout.take().unwrap().read_to_string(&mut printed);
    let _ = child.stderr.take().unwrap().read_to_string(&mut complaint);
    let status = child.wait().unwrap();
    (status.signal() == Some(9), status.success(), printed + &complaint)
}

fn strace(more: &[&str], calls: &str) -> Vec<String> {
    let first = ["/usr/bin/strace", "-f", "-qq", "-e"].map(str::to_owned);
    let trace = [format!("trace={calls}"), "-o".to_owned()];
    first.into_iter().chain(trace).chain(more.iter().map(|word| (*word).to_owned())).collect()
}

/// How often a door makes each call.
fn counts(scene: &mut Scene, door: Door) -> Vec<(String, usize)> {
    let log = tempfile::NamedTempFile::new().unwrap();
    let number = scene.told.next();
    door.prepare(&scene.sandbox, number);
    let under = strace(&[log.path().to_str().unwrap()], CALLS);
    assert!(!scene.tell(door, &under, None, number));
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for line in std::fs::read_to_string(log.path()).unwrap().lines() {
        let call = line.split_once(' ').map_or("", |(_, rest)| rest.trim_start());
        if let Some((name, _)) = call.split_once('(').filter(|(name, _)| !name.contains(' ')) {
            *counts.entry(name.to_owned()).or_default() += 1;
        }
    }
    counts.into_iter().collect()
}

/// Kills at call after call, and then tells it again where that is the caller's right.
#[expect(clippy::print_stderr, reason = "how many kills there were is worth knowing")]
fn killed_at_calls(door: Door) {
    let mut scene = Scene::new();
    let counts = counts(&mut scene, door);
    let places: Vec<(&str, usize)> = counts
        .iter()
        .flat_map(|(name, count)| (1..=*count).map(move |place| (name.as_str(), place)))
        .collect();
    let (mut killed, mut chance) = (0, Chance::new(door as u64));
    for round in 0..kills() {
        // Every place in its turn while there are some left, then any.
        let is_enough = kills() >= places.len() && round < places.len();
        let place = if is_enough { round } else { chance.below(places.len()) };
        let (call, count) = places[place];
        let number = scene.told.next();
        door.prepare(&scene.sandbox, number);
        let inject = format!("--inject={call}:signal=SIGKILL:when={count}");
        let under = strace(&["/dev/null", &inject], call);
        if scene.tell(door, &under, None, number) {
            killed += 1;
            // With ids of its own a turn may be told again.
            if matches!(door, Door::TurnWithIds) && round % 2 == 0 {
                assert!(!scene.tell(door, &[], None, number));
            }
        }
        if round % 20 == 19 {
            scene.told.agrees_with(&scene.sandbox, &format!("{door:?} after {call} {count}"));
        }
    }
    scene.told.agrees_with(&scene.sandbox, &format!("{door:?}"));
    eprintln!(
        "{door:?}: {killed} kills at {} places, {} kept, {} without an answer",
        places.len(),
        scene.told.count(Answer::Kept),
        scene.told.count(Answer::None)
    );
    assert!(killed * 2 >= kills(), "only {killed} kills");
}

/// Kills at random moments.
fn killed_at_moments(door: Door) {
    let mut scene = Scene::new();
    let number = scene.told.next();
    door.prepare(&scene.sandbox, number);
    let begun = Instant::now();
    scene.tell(door, &[], None, number);
    let usual = begun.elapsed();
    let mut chance = Chance::new(99 + door as u64);
    for _ in 0..kills() / 2 {
        let number = scene.told.next();
        door.prepare(&scene.sandbox, number);
        let delay = usual.mul_f64(chance.below(1_100) as f64 / 1_000.0);
        scene.tell(door, &[], Some(delay), number);
    }
    scene.told.agrees_with(&scene.sandbox, &format!("{door:?} at random moments"));
}

macro_rules! doors {
    ($($name:ident: $door:expr;)*) => {$(
        mod $name {
            #[test]
            fn killed_at_any_call_keeps_what_it_answered() {
                super::killed_at_calls($door);
            }

            #[test]
            fn killed_at_any_moment_keeps_what_it_answered() {
                super::killed_at_moments($door);
            }
        }
    )*};
}

doors! {
    turn: crate::doors::Door::Turn;
    turn_with_ids: crate::doors::Door::TurnWithIds;
    append: crate::doors::Door::Append;
    fact: crate::doors::Door::Fact;
    entry: crate::doors::Door::Entry;
    hook: crate::doors::Door::Hook;
    chat: crate::doors::Door::Chat;
    mcp: crate::doors::Door::Mcp;
}
