//! A service that gives the answers it was told to give, one after the other.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

/// What it was asked.
pub(crate) type Asked = Arc<Mutex<Vec<String>>>;

/// Starts it; each answer is a status line with headers, and a body.
pub(crate) fn start(answers: Vec<(&'static str, &'static str)>) -> (u16, Asked) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let asked = Asked::default();
    let noted = Arc::clone(&asked);
    std::thread::spawn(move || {
        for (head, body) in answers {
            let (stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream);
            let mut request = String::new();
            while !request.ends_with("\r\n\r\n") && reader.read_line(&mut request).unwrap() > 0 {}
            let length = request
                .lines()
                .find_map(|line| {
                    line.to_ascii_lowercase().strip_prefix("content-length:").map(str::to_owned)
                })
                .map_or(0, |text| text.trim().parse().unwrap());
            reader.read_exact(&mut vec![0; length]).unwrap();
            noted.lock().unwrap().push(request);
            let length = body.len();
            write!(
                reader.get_mut(),
                "HTTP/1.1 {head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            )
            .unwrap();
        }
    });
    (port, asked)
}
