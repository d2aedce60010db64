//! A way to a server that can be cut after any byte.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// Passes bytes on to a port of this machine until it is told to stop.
pub(crate) struct Proxy {
    port: u16,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// How many bytes may still pass, in both directions together; any number if not said.
    left: Option<usize>,
    passed: usize,
    /// How often the client spoke after the server had, and whether the server spoke last.
    exchanges: usize,
    server_spoke: bool,
    open: Vec<TcpStream>,
}

impl Proxy {
    /// A way to this port.
    pub(crate) fn to(target: u16) -> Proxy {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State::default()));
        let shared = state.clone();
        thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, TcpStream::connect(("127.0.0.1", target)))
                else {
                    continue;
                };
                let ends = [client.try_clone(), server.try_clone()].map(Result::unwrap);
                shared.lock().unwrap().open.extend(ends);
                let ends = (client.try_clone().unwrap(), server.try_clone().unwrap());
                pump(ends, false, shared.clone());
                pump((server, client), true, shared.clone());
            }
        });
        Proxy { port, state }
    }

    /// Where it listens.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// How many bytes passed so far.
    pub(crate) fn passed(&self) -> usize {
        self.state.lock().unwrap().passed
    }

    /// How often the client has spoken after the server had: a client that waits for each answer speaks once more for
    /// each question.
    pub(crate) fn exchanges(&self) -> usize {
        self.state.lock().unwrap().exchanges
    }

    /// Lets so many further bytes pass, then cuts what is open and whatever comes.
    pub(crate) fn cut_after(&self, bytes: usize) {
        self.state.lock().unwrap().left = Some(bytes);
    }

    /// Cuts what is open now; what comes later passes.
    pub(crate) fn cut_open(&self) {
        for end in self.state.lock().unwrap().open.drain(..) {
            let _ = end.shutdown(Shutdown::Both);
        }
    }

    /// Lets everything pass again that comes from now on.
    pub(crate) fn heal(&self) {
        self.cut_open();
        self.state.lock().unwrap().left = None;
    }
}

/// Passes bytes on in one direction.
fn pump(
    (mut from, mut to): (TcpStream, TcpStream),
    is_from_server: bool,
    state: Arc<Mutex<State>>,
) {
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = from.read(&mut bytes) {
            let allowed = {
                let mut state = state.lock().unwrap();
                let allowed = state.left.map_or(count, |left| left.min(count));
                state.left = state.left.map(|left| left - allowed);
                state.passed += allowed;
                if state.server_spoke && !is_from_server {
                    state.exchanges += 1;
                }
                state.server_spoke = is_from_server;
                allowed
            };
            if to.write_all(&bytes[..allowed]).is_err() || allowed < count {
                break;
            }
        }
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    });
}
