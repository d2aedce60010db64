//! Ports for servers that must be told a number before they start.

use std::net::TcpListener;
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

/// A port that nobody listens on. It lies below those the system lends to outgoing connections, so that no connection
/// of another test can sit on it before a server starts there, or while one starts again.
pub(crate) fn free_port() -> u16 {
    const FIRST: u32 = 10_000;
    const HOW_MANY: u32 = 20_000;
    static ASKED: AtomicU32 = AtomicU32::new(0);
    // Tests run beside each other begin at different places.
    let begin = process::id().wrapping_mul(101);
    for _ in 0..HOW_MANY {
        let next = begin.wrapping_add(ASKED.fetch_add(1, Ordering::Relaxed));
        let port = u16::try_from(FIRST + next % HOW_MANY).unwrap();
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
    panic!("no port is free from {FIRST} on");
}
