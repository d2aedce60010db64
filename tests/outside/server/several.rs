//! Several daemons on one memory: nothing is lost or doubled, each job is done once, news is seen at once.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use hermes_store::memory::{Admin, ChainState, Lease, NewJob, NewMessage, RecallFilter};

use crate::pg_server::{self, Flavour};
use crate::place::{self, Place};
use crate::support::{alice, at, by, message};

const DAEMONS: usize = 4;

fn turns() -> usize {
    if std::env::var("HERMES_TEST_FULL").as_deref() == Ok("1") { 1_000 } else { 40 }
}

/// One daemon's memory: connections of its own.
fn daemon(place: &Place, flavour: Flavour) -> Place {
    Place::beside(&place::database(flavour), place.profile())
}

fn record(place: &Place, daemon: usize, turns: usize) {
    let mut memory = place.write();
    let session = format!("session-{daemon}");
    for turn in 0..turns {
        let (asked, answered) = (format!("{daemon}-{turn}-a"), format!("{daemon}-{turn}-b"));
        let said = format!("turn {turn} of daemon {daemon} about word{daemon}x{turn}");
        let question = message(&session, &asked, &said);
        let answer = NewMessage { role: "assistant", ..message(&session, &answered, "noted") };
        memory.record(alice(), &[question, answer], by("user", 5)).unwrap();
    }
}

#[test]
fn daemons_that_record_at_once_lose_and_double_nothing() {
    for flavour in [Flavour::Plain, Flavour::Vector] {
        let alone = Place::on(flavour);
        let began = Instant::now();
        record(&alone, 0, turns());
        let one = began.elapsed();

        let place = Place::on(flavour);
        let began = Instant::now();
        std::thread::scope(|scope| {
            for number in 0..DAEMONS {
                let daemon = daemon(&place, flavour);
                scope.spawn(move || record(&daemon, number, turns()));
            }
        });
        let all = began.elapsed();
        let throughput = DAEMONS as f64 * one.as_secs_f64() / all.as_secs_f64();
        println!(
            "{flavour:?}: one {one:?}, {DAEMONS} at once {all:?}, {throughput:.2} times as much"
        );

        let memory = place.read();
        let counts = memory.counts(Admin).unwrap();
        let wanted = (DAEMONS * turns()) as u64;
        assert_eq!((counts.messages, counts.raw_episodes), (2 * wanted, wanted));
        assert_eq!(memory.check_audit(Admin).unwrap(), ChainState::Whole { entries: wanted });
        assert_eq!(memory.check_memory(Admin).unwrap(), []);
        for (number, turn) in [(0, 0), (1, turns() / 2), (3, turns() - 1)] {
            let word = format!("word{number}x{turn}");
            let found = memory.postings(alice(), &RecallFilter::default(), &word, 9).unwrap();
            assert_eq!(found.chunks.len(), 1, "{word}");
        }
    }
}

#[test]
fn each_job_is_done_by_one_and_a_dead_daemons_job_by_the_next() {
    let place = Place::new();
    let jobs = 60;
    let mut memory = place.write();
    for number in 0..jobs {
        let key = number.to_string();
        let job = NewJob {
            kind: "embed",
            payload: "{}",
            dedupe_key: Some(&key),
            user: None,
            run_at: at(1),
        };
        memory.queue_job(Admin, &job, at(1)).unwrap();
    }
    let start = Barrier::new(DAEMONS);
    let taken: Vec<Vec<i64>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..DAEMONS)
            .map(|number| {
                let (daemon, start) = (daemon(&place, Flavour::Plain), &start);
                scope.spawn(move || {
                    let mut memory = daemon.write();
                    let owner = format!("daemon-{number}");
                    let mut done = Vec::new();
                    start.wait();
                    let lease = Lease { owner: &owner, until: at(30) };
                    while let Some(job) = memory.lease_job(Admin, &["embed"], lease, at(2)).unwrap()
                    {
                        // The first daemon dies with the first job that it took.
                        if number == 0 {
                            return done;
                        }
                        assert!(memory.finish_job(Admin, job.id, &owner, at(3)).unwrap());
                        done.push(job.id);
                    }
                    done
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let all: Vec<i64> = taken.iter().flatten().copied().collect();
    let once: BTreeSet<i64> = all.iter().copied().collect();
    assert_eq!(all.len(), once.len(), "a job was done twice");
    let late = Lease { owner: "late", until: at(60) };
    let left = jobs - all.len();
    assert!(left <= 1, "{left} jobs were left");
    for _ in 0..left {
        assert_eq!(memory.lease_job(Admin, &["embed"], late, at(29)).unwrap(), None);
        assert!(memory.lease_job(Admin, &["embed"], late, at(30)).unwrap().is_some());
    }
}

#[test]
fn what_one_records_another_recalls_at_once() {
    let place = Place::new();
    let (mut here, there) = (place.write(), daemon(&place, Flavour::Plain).read());
    let find = |word: &str| {
        there.postings(alice(), &RecallFilter::default(), word, 9).unwrap().chunks.len()
    };
    assert_eq!(find("lighthouse"), 0);
    let mut waits = Vec::new();
    let mut asked_twice = 0;
    let mut pulse = there.pulse().unwrap();
    for number in 0..20 {
        let (key, text) = (number.to_string(), format!("the lighthouse{number} is green"));
        here.record(alice(), &[message("monday", &key, &text)], by("user", 1)).unwrap();
        let began = Instant::now();
        while find(&format!("lighthouse{number}")) == 0 {
            asked_twice += 1;
            assert!(began.elapsed() < Duration::from_secs(120));
        }
        waits.push(began.elapsed());
        let now = there.pulse().unwrap();
        assert!(now > pulse, "the pulse stands at {now}");
        pulse = now;
    }
    waits.sort_unstable();
    println!("seen by the other after {:?}, {:?} at most", waits[10], waits[19]);
    assert_eq!(asked_twice, 0, "the first question finds what is recorded: {waits:?}");
}

#[test]
fn whoever_listens_hears_of_a_change_at_once_and_again_after_a_cut() {
    for flavour in [Flavour::Plain, Flavour::Vector] {
        let place = Place::on(flavour);
        let there = daemon(&place, flavour);
        let other = Place::on(flavour);
        let (sender, heard) = std::sync::mpsc::channel();
        let listening = there.read();
        let notices = listening
            .notices(move || {
                let _ = sender.send(Instant::now());
            })
            .unwrap();
        let limit = Duration::from_secs(120);
        // The first tells that it listens.
        heard.recv_timeout(limit).unwrap();
        record(&other, 0, 1);
        let began = Instant::now();
        record(&place, 0, 1);
        let told = heard.recv_timeout(limit).unwrap().duration_since(began);
        println!("{flavour:?}: told after {told:?}");
        let server = pg_server::shared(flavour);
        let database = place::database(flavour).rsplit('/').next().unwrap().to_owned();
        let cut = "select count(pg_terminate_backend(pid)) from pg_stat_activity where query = 'listen hermes'";
        while heard.try_recv().is_ok() {}
        assert_ne!(server.sql(&database, cut).trim(), "0");
        heard.recv_timeout(limit).unwrap();
        record(&place, 1, 1);
        heard.recv_timeout(limit).unwrap();
        drop(notices);
    }
}
