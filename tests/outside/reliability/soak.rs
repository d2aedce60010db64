//! Several machines on one memory for a long time, while servers, lines, daemons and clients break under them.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::accounts::{Account, Lines};
use crate::contents::{is_sound, rows};
use crate::is_full;
use crate::machines::{Machines, OTHER, Stop};
use crate::tellers::{self, Heard, Kept, Leash, TELLERS};

/// How many homes share the memory.
pub(crate) const HOMES: usize = 3;
/// How long nothing may be acknowledged by anybody.
const SILENCE: Duration = Duration::from_secs(300);
/// How long the daemons may take to bring in what waits: they look at least once a minute.
const DRAINING: Duration = Duration::from_secs(300);

/// How many turns are told, by all together; `HERMES_TEST_SOAK` asks for another number.
fn turns() -> usize {
    let wanted = std::env::vars().find(|(name, _)| name == "HERMES_TEST_SOAK");
    let wanted = wanted.and_then(|(_, count)| count.parse().ok());
    wanted.unwrap_or(if is_full() { 100_000 } else { 600 })
}

/// How often something breaks.
fn faults() -> usize {
    (turns() / 50).min(120)
}

/// Something that breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    /// The server is stopped in good order, and comes back at once.
    FastRestart,
    /// The server is stopped as by a power cut, and comes back at once.
    ImmediateRestart,
    /// The server is away while some turns are told.
    Away,
    /// The lines of one home are cut.
    Cut,
    /// The server ends all connections.
    Ended,
    /// A client is killed in the middle of a request.
    Client,
    /// A daemon is killed, and another is started.
    Daemon,
}

const FAULTS: [Fault; 7] = [
    Fault::Away,
    Fault::Client,
    Fault::FastRestart,
    Fault::Daemon,
    Fault::Ended,
    Fault::ImmediateRestart,
    Fault::Cut,
];

/// What breaks things, counts what is acknowledged meanwhile, and knows nothing of what the processes keep.
struct Harness<'a> {
    machines: &'a mut Machines,
    account: Account,
    heard: Receiver<Kept>,
    leashes: &'a [Leash],
    broken: BTreeMap<Fault, usize>,
}

impl Harness<'_> {
    /// Hears until so many turns are acknowledged in all, or nobody tells any more.
    fn hear(&mut self, count: usize) {
        while self.account.count() < count {
            match self.heard.recv_timeout(SILENCE) {
                Ok(kept) => self.account.note(kept),
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    panic!("nothing was acknowledged after {} turns", self.account.count())
                }
            }
        }
    }

    /// Breaks something; `round` says whose it is.
    fn break_one(&mut self, fault: Fault, round: usize) {
        *self.broken.entry(fault).or_default() += 1;
        let home = round % HOMES;
        match fault {
            Fault::FastRestart => self.restart(Stop::Fast),
            Fault::ImmediateRestart => self.restart(Stop::Immediate),
            Fault::Away => {
                self.machines.stop_server(Stop::Fast);
                self.hear(self.account.count() + 2 * TELLERS.len());
                self.machines.server.resume();
            }
            Fault::Cut => self.machines.all[home].line.cut_open(),
            Fault::Ended => {
                self.machines.end_connections();
            }
            // Whoever has most left to tell: one who is done cannot be ended any more.
            Fault::Client => self.leashes[self.account.last()].pull(),
            Fault::Daemon => {
                self.machines.cut_daemon(home);
                self.machines.start_daemon(home);
            }
        }
    }

    fn restart(&mut self, how: Stop) {
        self.machines.stop_server(how);
        self.machines.server.resume();
    }
}

/// Tells so many turns, each teller as many, and breaks things at points that are counted in acknowledged turns.
fn tell_and_break(machines: &mut Machines, turns: usize, faults: usize) -> Account {
    let leashes: [Leash; TELLERS.len()] = Default::default();
    let homes: Vec<_> = machines.all.iter().map(|machine| machine.sandbox.home()).collect();
    let each = turns / TELLERS.len();
    let (account, broken) = std::thread::scope(|scope| {
        let (sender, heard) = mpsc::channel();
        for (teller, leash) in leashes.iter().enumerate() {
            let (to, home) = (Heard { kept: sender.clone(), leash }, &homes[TELLERS[teller].home]);
            scope.spawn(move || tellers::tell(teller, home, 0..each, &to));
        }
        drop(sender);
        let account = Account::default();
        let mut harness =
            Harness { machines, account, heard, leashes: &leashes, broken: BTreeMap::new() };
        for number in 0..faults {
            harness.hear((2 * number + 1) * turns / (2 * faults));
            harness.break_one(FAULTS[number % FAULTS.len()], number / FAULTS.len());
        }
        harness.hear(each * TELLERS.len());
        (harness.account, harness.broken)
    });
    let ended: usize = leashes.iter().map(Leash::done).sum();
    tell(&format!("{} turns, kept in {:?}", account.count(), account.places()));
    tell(&format!("broken: {broken:?}; {ended} clients ended in the middle of a request"));
    assert_eq!(ended, broken.get(&Fault::Client).copied().unwrap_or(0));
    account
}

#[expect(clippy::print_stderr, reason = "how much was tried is worth knowing")]
pub(crate) fn tell(line: &str) {
    eprintln!("{line}");
}

/// Fails unless the server, the program's own export and the transcripts have every acknowledged turn once, and nothing
/// else; the words of a turn are found from another home, and never from another profile.
pub(crate) fn agree(machines: &Machines, account: &Account) {
    on_server(account).must_be(&machines.messages(), "on the server");
    for (home, profile) in [(0, "default"), (HOMES - 1, "default"), (HOMES - 1, OTHER)] {
        let wanted = account.lines(|teller| of(TELLERS[teller].profile == profile));
        let exported = exported(machines, home, profile);
        wanted.must_be(&exported, &format!("exported by home {home} from profile {profile}"));
    }
    for (home, machine) in machines.all.iter().enumerate() {
        for (profile, file) in [("default", "state.db"), (OTHER, "profiles/work/state.db")] {
            let is_told =
                |teller: usize| (TELLERS[teller].home, TELLERS[teller].profile) == (home, profile);
            let said = rows(&machine.sandbox, file, "select role || ': ' || content from messages");
            let wanted = account.lines(|teller| of(is_told(teller)));
            wanted.must_be(&Lines::of(said), &format!("in the transcript {file} of home {home}"));
        }
        is_sound(&machine.sandbox, &format!("home {home}"));
    }
    find(machines, account);
}

/// What the server should hold.
pub(crate) fn on_server(account: &Account) -> Lines {
    account.lines(|teller| Some(format!("{}: ", TELLERS[teller].profile)))
}

/// Nothing stands before a line that is wanted.
fn of(is_wanted: bool) -> Option<String> {
    is_wanted.then(String::new)
}

/// The messages of a profile as the program itself writes them out.
fn exported(machines: &Machines, home: usize, profile: &str) -> Lines {
    let sandbox = &machines.all[home].sandbox;
    let document = sandbox.json(&["-p", profile, "memory", "export", "--type", "episodes"]);
    let messages = document["episodes"].as_array().unwrap().iter();
    let messages = messages.flat_map(|episode| episode["messages"].as_array().unwrap());
    let line = |message: &Value| {
        let word = |key: &str| message[key].as_str().unwrap().to_owned();
        format!("{}: {}", word("role"), word("text"))
    };
    Lines::of(messages.map(line))
}

/// Looks for the words of some turns from other homes, and from the profile that must not have them.
fn find(machines: &Machines, account: &Account) {
    let last = &machines.all[HOMES - 1].sandbox;
    for (teller, number) in account.some(if is_full() { 60 } else { 12 }) {
        let who = &TELLERS[teller];
        let asked = who.asked(number);
        let (sandbox, stranger) = match who.profile {
            OTHER => (last, "default"),
            _ => (&machines.all[(who.home + 1) % HOMES].sandbox, OTHER),
        };
        let found = |sandbox: &crate::sandbox::Sandbox, profile: &str| {
            let word = who.word(number);
            let arguments = ["-p", profile, "memory", "search", &word, "--type", "episodes"];
            sandbox.json(&arguments).to_string().contains(&asked)
        };
        assert!(found(sandbox, who.profile), "not found: {asked}");
        assert!(!found(last, stranger), "found in the profile {stranger}: {asked}");
    }
}

/// Whatever each home still has to give adds nothing.
fn nothing_is_lacking(machines: &Machines) {
    let profiles = [(0, "default"), (1, "default"), (2, "default"), (2, OTHER)];
    for (home, profile) in profiles {
        let report = machines.all[home].sandbox.json(&["-p", profile, "memory", "catch-up"]);
        assert_eq!(report["added"], 0, "home {home}, profile {profile}: {report}");
    }
}

#[test]
fn machines_that_share_a_memory_keep_every_turn_once_whatever_breaks() {
    let begun = Instant::now();
    let mut machines = Machines::start(HOMES);
    let account = tell_and_break(&mut machines, turns(), faults());
    tell(&format!("told in {:.0?}", begun.elapsed()));
    let took = machines.drain(2 * account.count(), DRAINING);
    tell(&format!("drained after {took:.1?}"));
    agree(&machines, &account);
    nothing_is_lacking(&machines);
    on_server(&account).must_be(&machines.messages(), "after catching up again");
    tell(&format!("all in {:.0?}", begun.elapsed()));
    one_that_is_lost_is_seen(&machines, &account);
}

/// A message that is gone from the server, and one that came to the wrong profile, are named.
fn one_that_is_lost_is_seen(machines: &Machines, account: &Account) {
    let (lost, strayed) = (TELLERS[0].asked(1), TELLERS[3].answered(1));
    machines.sql(&format!("delete from hermes.message where text = '{lost}'"));
    let other = "(select profile from hermes.profile where name = 'default')";
    machines.sql(&format!(
        "update hermes.message set profile = {other}, id = -1 where text = '{strayed}'"
    ));
    let wanted = [
        format!("missing: default: user: {lost}"),
        format!("nobody said this, and it is there 1 times: default: assistant: {strayed}"),
        format!("missing: {OTHER}: assistant: {strayed}"),
    ];
    let mut found = on_server(account).differences(&machines.messages());
    found.sort();
    let mut wanted = Vec::from(wanted);
    wanted.sort();
    assert_eq!(found, wanted);
}
