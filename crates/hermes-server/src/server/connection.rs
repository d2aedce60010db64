//! One connection at its edges: told to come back when there are too many, and let go when nobody takes the answer.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep, sleep};

use super::newcomers::Ticket;

/// How long a client may take nothing of an answer that waits for it.
const TAKING: Duration = Duration::from_secs(20);
/// How long one connection too many may take to hear so.
const HEARING: Duration = Duration::from_secs(2);
/// How much of what it says is read meanwhile.
const MOST_HEARD: u64 = 64 * 1024;

/// What is said to one connection too many.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\n\
    retry-after: 1\r\nconnection: close\r\ncontent-length: 74\r\n\r\n\
    {\"error\":{\"kind\":\"unavailable\",\"message\":\"too many connections are open\"}}";

/// Tells one connection too many to come back. What it says is read to its end: a connection that is closed with
/// something unread is reset, and then the client may never see the answer.
pub(super) async fn turn_away(mut stream: TcpStream) {
    let told = async {
        stream.write_all(FULL).await?;
        stream.shutdown().await?;
        tokio::io::copy(&mut (&mut stream).take(MOST_HEARD), &mut tokio::io::sink()).await
    };
    let _ = tokio::time::timeout(HEARING, told).await;
}

/// A stream that ends when its other side takes nothing for a while, so that nobody holds a place by not reading.
pub(super) struct Patient<S> {
    stream: S,
    ticket: Ticket,
    /// Runs while something waits to be taken.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S> Patient<S> {
    pub(super) fn new(stream: S, ticket: Ticket) -> Patient<S> {
        Patient { stream, ticket, waiting: None }
    }

    /// What the stream said to a write; one that is never taken fails in the end.
    fn judge<T>(
        &mut self,
        context: &mut Context<'_>,
        said: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if said.is_ready() {
            self.waiting = None;
            return said;
        }
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(TAKING)));
        ready!(waiting.as_mut().poll(context));
        waiting.as_mut().reset(Instant::now() + TAKING);
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.ticket.looked(buffer.filled().len() > before);
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let said = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.judge(context, said)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let said = Pin::new(&mut self.stream).poll_flush(context);
        self.judge(context, said)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let said = Pin::new(&mut self.stream).poll_shutdown(context);
        self.judge(context, said)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let said = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.judge(context, said)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_to_one_connection_too_many_is_as_long_as_it_says() {
        let text = std::str::from_utf8(FULL).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.ends_with(&format!("content-length: {}", body.len())), "{}", body.len());
        assert!(serde_json::from_str::<serde_json::Value>(body).is_ok());
    }
}
