//! Stands between two programs and cuts the line after so many bytes.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Which bytes are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Those to the server.
    Up,
    /// Those from the server.
    Down,
}

pub(crate) struct Proxy {
    pub(crate) port: u16,
    line: Arc<Line>,
}

struct Line {
    server: u16,
    way: Way,
    cut_after: u64,
    counted: AtomicU64,
    cut: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// Begins to pass everything on; after so many bytes nothing gets through any more.
    pub(crate) fn start(server: u16, way: Way, cut_after: u64) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let line = Arc::new(Line {
            server,
            way,
            cut_after,
            counted: AtomicU64::new(0),
            cut: AtomicBool::new(false),
            open: Mutex::new(Vec::new()),
        });
        let accepting = Arc::clone(&line);
        std::thread::spawn(move || accept(&listener, &accepting));
        Proxy { port, line }
    }

    /// How many bytes came through.
    pub(crate) fn counted(&self) -> u64 {
        self.line.counted.load(Ordering::SeqCst)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.line.hang_up();
        // Wakes up the one who waits for connections, who then ends.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

impl Line {
    fn hang_up(&self) {
        self.cut.store(true, Ordering::SeqCst);
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// How many of these bytes may pass.
    fn allowed(&self, way: Way, wanted: u64) -> u64 {
        if way != self.way {
            return wanted;
        }
        let before = self.counted.fetch_add(wanted, Ordering::SeqCst);
        self.cut_after.saturating_sub(before).min(wanted)
    }
}

fn accept(listener: &TcpListener, line: &Arc<Line>) {
    let port = listener.local_addr().unwrap().port();
    for client in listener.incoming() {
        let Ok(client) = client else { return };
        if line.cut.load(Ordering::SeqCst) {
            return;
        }
        let Ok(server) = TcpStream::connect(("127.0.0.1", line.server)) else { return };
        for (from, to, way) in [(&client, &server, Way::Up), (&server, &client, Way::Down)] {
            let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
            line.open.lock().unwrap().push(from.try_clone().unwrap());
            let line = Arc::clone(line);
            std::thread::spawn(move || {
                pass_on(from, to, way, &line);
                if line.cut.load(Ordering::SeqCst) {
                    let _ = TcpStream::connect(("127.0.0.1", port));
                }
            });
        }
    }
}

fn pass_on(mut from: TcpStream, mut to: TcpStream, way: Way, line: &Line) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(read) = from.read(&mut buffer) {
        let allowed = line.allowed(way, read as u64) as usize;
        if read == 0 || to.write_all(&buffer[..allowed]).is_err() {
            break;
        }
        if allowed < read {
            return line.hang_up();
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
