//! A program at the other end of a connection, for as long as a test needs it.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// A program at the other end, which ends with this value, or with the test if that is killed.
pub(crate) struct Server {
    child: Child,
}

impl Server {
    /// Starts it and waits for a line on its standard error that `ready` finds something in.
    pub(crate) fn start<T: Send + 'static>(
        program: &[&str],
        ready: impl Fn(&str) -> Option<T> + Send + 'static,
    ) -> (Server, T) {
        let mut child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL"])
            .args(program)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            let mut all = String::new();
            let mut line = String::new();
            while lines.read_line(&mut line).is_ok_and(|read| read > 0) {
                all.push_str(&line);
                if let Some(found) = ready(&line) {
                    tell.send(Ok(found)).unwrap();
                    // What else it writes has to go somewhere.
                    let _ = std::io::copy(&mut lines.by_ref(), &mut std::io::sink());
                    return;
                }
                line.clear();
            }
            let _ = tell.send(Err(all));
        });
        let server = Server { child };
        let found = told.recv_timeout(Duration::from_secs(120)).expect("it did not begin in time");
        (server, found.unwrap_or_else(|wrote| panic!("{program:?} wrote: {wrote}")))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
