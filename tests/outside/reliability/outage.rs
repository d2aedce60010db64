//! A server that is away for a while: what is told meanwhile is kept in the homes, and the daemons bring it in by themselves.

use std::ops::Range;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::accounts::Account;
use crate::is_full;
use crate::machines::{Machines, Stop};
use crate::soak::{HOMES, agree, on_server, tell};
use crate::tellers::{self, Heard, Leash, TELLERS};

/// When a daemon has waited longest before it calls a server again: after 1, 2, 4, 8, 16 and 32 seconds it waits for a
/// minute each time, after an hour as well as after two minutes.
const LONGEST_WAIT_IS_REACHED: Duration = Duration::from_secs(65);
/// How long after the return of the server everything is in: the longest wait, and the work.
const DRAINING: Duration = Duration::from_secs(120);

/// How many turns each teller tells while the server is away; each waits some seconds for it.
fn turns() -> usize {
    if is_full() { 60 } else { 4 }
}

/// Every teller tells these turns, all at once.
fn all_tell(machines: &Machines, numbers: &Range<usize>, account: &mut Account) {
    let leash = Leash::default();
    let (sender, heard) = mpsc::channel();
    std::thread::scope(|scope| {
        for (teller, who) in TELLERS.iter().enumerate() {
            let to = Heard { kept: sender.clone(), leash: &leash };
            let (home, numbers) = (machines.all[who.home].sandbox.home(), numbers.clone());
            scope.spawn(move || tellers::tell(teller, &home, numbers, &to));
        }
        drop(sender);
        heard.iter().for_each(|kept| account.note(kept));
    });
}

/// How many of the turns were not kept on the server at first.
fn kept_at_home(account: &Account) -> usize {
    account.places().iter().filter(|(place, _)| *place != "memory").map(|(_, count)| count).sum()
}

#[test]
fn what_was_told_while_the_server_was_away_comes_in_by_itself() {
    let mut machines = Machines::start(HOMES);
    let mut account = Account::default();
    all_tell(&machines, &(0..3), &mut account);
    let before = kept_at_home(&account);
    machines.stop_server(Stop::Immediate);
    let stopped = Instant::now();
    all_tell(&machines, &(3..3 + turns()), &mut account);
    assert_eq!(kept_at_home(&account) - before, turns() * TELLERS.len(), "{:?}", account.places());
    if is_full() {
        // The one wait that cannot be asked for: the daemons must have come to their longest.
        std::thread::sleep(LONGEST_WAIT_IS_REACHED.saturating_sub(stopped.elapsed()));
    }
    let away = stopped.elapsed();
    machines.server.resume();
    let took = machines.drain(2 * account.count(), DRAINING);
    let count = account.count();
    tell(&format!("{count} turns, away for {away:.0?}, drained {took:.1?} after the return"));
    on_server(&account).must_be(&machines.messages(), "after the outage");
    agree(&machines, &account);
}

#[test]
fn bringing_it_in_goes_on_although_it_is_cut_again_and_again() {
    let mut machines = Machines::start(HOMES);
    let mut account = Account::default();
    machines.stop_server(Stop::Fast);
    all_tell(&machines, &(0..turns()), &mut account);
    machines.server.resume();
    let begun = Instant::now();
    for _ in 0..3 {
        let passed = machines.all[0].line.passed();
        let is_at_it = || {
            let at_it =
                "select count(*) from hermes.job where kind like 'catch_up%' and state = 'leased'";
            machines.sql(at_it).trim() != "0" || machines.all[0].line.passed() > passed + 100_000
        };
        while begun.elapsed() < DRAINING && !is_at_it() {
            std::thread::yield_now();
        }
        for machine in &machines.all {
            machine.line.cut_after(0);
            machine.line.cut_open();
        }
        // Until every try of the job, and of saying how it ended, has failed.
        std::thread::sleep(Duration::from_secs(9));
        machines.all.iter().for_each(|machine| machine.line.heal());
    }
    let took = machines.drain(2 * account.count(), DRAINING);
    tell(&format!("{} turns, drained {took:.1?} after the last cut", account.count()));
    agree(&machines, &account);
}
