//! Everything that is remembered as the body of an answer, made while it is sent.

use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use hermes_app::pool::Seat;
use hermes_app::problem::{Kind, Problem};
use hermes_memory::transfer::{self, ExportSettings};
use hermes_store::Stop;
use hermes_store::memory::UserNumber;
use hermes_store::sqlite::Access;
use jiff::Timestamp;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::call::Reply;

/// How many pieces wait for a slow reader, and how long one waits for a reader that does not read.
const WAITING: usize = 16;
const PIECE: usize = 64 * 1024;
const PATIENCE: Duration = Duration::from_secs(30);
/// How many exports there are at the same time: each is a thread and a view of the database.
const MOST: usize = 4;
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);

/// One of the exports that are under way.
struct UnderWay;

impl UnderWay {
    fn begin() -> Result<UnderWay, Problem> {
        let counted = UNDER_WAY.fetch_add(1, Ordering::SeqCst);
        let one = UnderWay;
        match counted < MOST {
            true => Ok(one),
            false => {
                let why = format!("{MOST} exports are under way already");
                Err(Problem::new(Kind::Unavailable, why).hint("ask again when one is done"))
            }
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What is exported.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wish {
    /// Only what belongs to this user.
    pub(crate) user: Option<UserNumber>,
    /// Only what was recorded since.
    pub(crate) since: Option<Timestamp>,
    /// Whether what looks like a password or a key is replaced.
    pub(crate) redact: bool,
}

/// Everything that is remembered, made while it is sent.
pub(crate) fn stream(seat: &Seat, wish: Wish) -> anyhow::Result<Reply> {
    // A connection of its own: it goes on when this request is answered.
    let mut memory = seat.app.memory(&seat.home, Access::Read)?;
    memory.store.heed(&Stop::default())?;
    let Wish { user, since, redact } = wish;
    let now = seat.app.now;
    let (under_way, handle) = (UnderWay::begin()?, Handle::current());
    let (sender, receiver) = mpsc::channel::<io::Result<Bytes>>(WAITING + 1);
    // Room for an error at the end, also where the reader takes nothing more.
    let last_word = sender.clone().try_reserve_owned()?;
    std::thread::Builder::new().name("export".to_owned()).spawn(move || {
        let _under_way = under_way;
        let settings = ExportSettings {
            made_by: concat!("hermes ", env!("CARGO_PKG_VERSION")),
            now,
            user,
            since,
            sections: None,
            redact,
        };
        let waiting = Vec::with_capacity(PIECE);
        let mut pipe = Pipe { sender, handle, waiting };
        let done = transfer::export(&memory.store, &mut pipe, &settings, &mut |_, _| {});
        let done =
            done.map_err(|error| io::Error::other(error.to_string())).and_then(|_| pipe.flush());
        if let Err(error) = done {
            // The body ends in an error, so that nobody takes half for the whole.
            last_word.send(Err(error));
        }
    })?;
    Ok(Reply {
        status: StatusCode::OK,
        headers: vec![(header::CONTENT_TYPE, "application/json".to_owned())],
        body: Body::from_stream(ReceiverStream::new(receiver)),
    })
}

/// What is written comes out at the other end as pieces of a body.
struct Pipe {
    sender: mpsc::Sender<io::Result<Bytes>>,
    handle: Handle,
    waiting: Vec<u8>,
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        if self.waiting.len() >= PIECE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let piece = Bytes::from(std::mem::replace(&mut self.waiting, Vec::with_capacity(PIECE)));
        let sent = self.handle.block_on(self.sender.send_timeout(Ok(piece), PATIENCE));
        sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_exports_and_no_more_until_one_is_done() {
        let mut under_way: Vec<UnderWay> = (0..MOST).map(|_| UnderWay::begin().unwrap()).collect();
        assert!(UnderWay::begin().is_err());
        assert!(UnderWay::begin().is_err());
        under_way.pop();
        assert!(UnderWay::begin().is_ok());
    }
}
