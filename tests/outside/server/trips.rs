//! How often a server is waited for: statements go out together, and those that come again are kept on the server.

use hermes_store::memory::Admin;

use crate::cutting::by_proxy;
use crate::pg_server::Flavour;
use crate::place::Place;
use crate::support::{alice, by, message};

#[test]
fn a_turn_of_a_known_session_waits_for_the_server_three_times() {
    for flavour in [Flavour::Plain, Flavour::Vector] {
        let (proxy, url) = by_proxy(flavour);
        let place = Place::on(flavour);
        let mut memory = Place::beside(&url, place.profile()).write();
        // The first turns of a connection find out what can be kept, and have it kept.
        let mut waits = Vec::new();
        for number in 0..40 {
            let before = proxy.exchanges();
            let key = |who: &str| format!("{who}-{number}");
            let (said, answered) = (key("said"), key("answered"));
            let turn = [message("monday", &said, &said), message("monday", &answered, &answered)];
            assert_eq!(memory.record(alice(), &turn, by("user", number)).unwrap().added, 2);
            waits.push(proxy.exchanges() - before);
        }
        waits.sort_unstable();
        // Sometimes numbers are reserved, or the vectors counted.
        assert_eq!(waits[waits.len() / 2], 3, "{waits:?}");
    }
}

#[test]
fn a_question_by_itself_waits_once() {
    let (proxy, url) = by_proxy(Flavour::Plain);
    let place = Place::new();
    let memory = Place::beside(&url, place.profile()).read();
    let mut waits = Vec::new();
    for _ in 0..20 {
        let before = proxy.exchanges();
        memory.pulse().unwrap();
        waits.push(proxy.exchanges() - before);
    }
    waits.sort_unstable();
    assert_eq!(waits[waits.len() / 2], 1, "{waits:?}");
    assert_eq!(memory.counts(Admin).unwrap().messages, 0);
}
