//! A line that is cut anywhere in a write: what was said is recorded once, and the memory is whole.

use std::time::Duration;

use hermes_store::memory::{Admin, ChainState, RecallFilter, migrate_server};
use hermes_store::{Error, Stop};

use crate::pg_server::proxy::Proxy;
use crate::pg_server::{self, Flavour};
use crate::place::{self, Place, ROLE};
use crate::support::{alice, by, fact, message};

/// The way to the shared database through something that can be cut.
pub(crate) fn by_proxy(flavour: Flavour) -> (Proxy, String) {
    let url = place::database(flavour);
    let (server, database) = (pg_server::shared(flavour), url.rsplit('/').next().unwrap());
    server.sql(database, &format!("alter role {ROLE} password 'known'"));
    let proxy = Proxy::to(server.port());
    let url =
        format!("postgres://{ROLE}:known@127.0.0.1:{}/{database}?sslmode=disable", proxy.port());
    (proxy, url)
}

#[test]
fn a_line_cut_anywhere_in_a_write_loses_and_doubles_nothing() {
    for flavour in [Flavour::Plain, Flavour::Vector] {
        let (proxy, url) = by_proxy(flavour);
        let place = Place::on(flavour);
        let through = Place::beside(&url, place.profile());
        let mut memory = through.write();
        memory.record(alice(), &[message("monday", "first", "hello")], by("user", 1)).unwrap();
        let before = proxy.passed();
        memory
            .record(alice(), &[message("monday", "second", "hello again")], by("user", 1))
            .unwrap();
        let bytes = proxy.passed() - before;
        let cuts = if std::env::var("HERMES_TEST_FULL").as_deref() == Ok("1") { 120 } else { 12 };
        for cut in 0..cuts {
            let (key, text) = (format!("cut-{cut}"), format!("said at cut{cut}x"));
            proxy.cut_after(bytes * cut / cuts);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(Duration::from_millis(60));
                    proxy.heal();
                });
                memory.record(alice(), &[message("monday", &key, &text)], by("user", 2)).unwrap();
            });
            let found = memory
                .postings(alice(), &RecallFilter::default(), &format!("cut{cut}x"), 9)
                .unwrap();
            assert_eq!(found.chunks.len(), 1, "after {} of {bytes} bytes", bytes * cut / cuts);
        }
        let wanted = cuts as u64 + 2;
        assert_eq!(memory.counts(Admin).unwrap().messages, wanted);
        assert_eq!(memory.check_audit(Admin).unwrap(), ChainState::Whole { entries: wanted });
        assert_eq!(memory.check_memory(Admin).unwrap(), []);
    }
}

#[test]
fn reading_goes_on_after_a_cut_and_a_fact_is_added_once() {
    let (proxy, url) = by_proxy(Flavour::Plain);
    let place = Place::new();
    let mut memory = Place::beside(&url, place.profile()).write();
    for number in 0..10 {
        proxy.cut_open();
        let statement = format!("Harbor number {number} is open.");
        memory.add_fact(alice(), &fact(&statement), by("user", number)).unwrap();
        proxy.cut_open();
        let found = memory.facts(alice(), &[number + 1]).unwrap();
        assert_eq!(found[0].statement, statement);
    }
    assert_eq!(memory.counts(Admin).unwrap().facts, 10);
}

#[test]
fn a_server_that_stays_away_is_an_error_that_says_so_and_nothing_is_half_done() {
    let (proxy, url) = by_proxy(Flavour::Plain);
    let place = Place::new();
    let mut memory = Place::beside(&url, place.profile()).write();
    proxy.cut_after(0);
    proxy.cut_open();
    let refused = memory.add_fact(alice(), &fact("Nobody hears this."), by("user", 1)).unwrap_err();
    let said = refused.to_string();
    assert!(said.contains("PostgreSQL at 127.0.0.1"), "{said}");
    proxy.heal();
    assert_eq!(memory.counts(Admin).unwrap().facts, 0);
    memory.add_fact(alice(), &fact("Now it is heard."), by("user", 1)).unwrap();
    assert_eq!(memory.counts(Admin).unwrap().facts, 1);
}

#[test]
fn tables_are_made_whole_although_the_line_is_cut_anywhere() {
    let server = pg_server::shared(Flavour::Plain);
    let proxy = Proxy::to(server.port());
    let through = |database: &str| {
        let there = server.tcp_url(database);
        let here = there.replace(&format!(":{}/", server.port()), &format!(":{}/", proxy.port()));
        place::pool(&format!("{here}?sslmode=disable"))
    };
    let fresh = || server.fresh_database().rsplit('/').next().unwrap().to_owned();
    migrate_server(&through(&fresh())).unwrap();
    let bytes = proxy.passed();
    let cuts = if std::env::var("HERMES_TEST_FULL").as_deref() == Ok("1") { 120 } else { 12 };
    for cut in 0..cuts {
        let database = fresh();
        proxy.cut_after(bytes * cut / cuts);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(60));
                proxy.heal();
            });
            migrate_server(&through(&database)).unwrap();
        });
        let noted = "select count(*) = max(number) and max(number) = count(distinct number) from hermes.migration";
        assert_eq!(server.sql(&database, noted).trim(), "t", "after {} bytes", bytes * cut / cuts);
        Place::beside(&server.url(&database), "default").write();
    }
}

#[test]
fn the_server_itself_ends_what_is_read_for_too_long() {
    let place = Place::new();
    place.write().add_fact(alice(), &fact("The gate is open."), by("user", 1)).unwrap();
    let mut memory = place.read();
    let url = place::database(Flavour::Plain);
    let owner = pg_server::shared(Flavour::Plain).url(url.rsplit('/').next().unwrap());
    let mut holder = place::pool(&owner).get().unwrap();
    holder.batch_execute("begin; lock table hermes.fact in access exclusive mode").unwrap();
    memory.heed(&Stop::within(Duration::from_millis(50))).unwrap();
    let ended = memory.facts(alice(), &[1]).unwrap_err();
    assert!(matches!(ended, Error::Stopped), "{ended}");
    holder.batch_execute("rollback").unwrap();
    memory.heed(&Stop::default()).unwrap();
    assert_eq!(memory.facts(alice(), &[1]).unwrap().len(), 1, "the next one has all the time");
}
