//! One connection for a thread that waits. Requests that are sent together take one round trip.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::ops::{Deref, DerefMut};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use postgres::tls::MakeTlsConnect;
use postgres::types::{ToSql, Type};
use postgres::{
    AsyncMessage, Config, Connection, Error, Notification, Row, SimpleQueryMessage, Socket,
    Statement,
};
use tokio::runtime::Runtime;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::prepared::Prepared;

type Result<T> = std::result::Result<T, Error>;

/// A value and the type it is sent as.
pub type Value<'a> = (&'a (dyn ToSql + Sync), Type);

/// How long a server may take to acknowledge that a connection ends.
const GOODBYE: Duration = Duration::from_secs(1);

/// What is sent to a server.
#[derive(Clone, Copy)]
pub enum Request<'a> {
    /// Statements without values, separated by semicolons.
    Script(&'a str),
    /// A statement, for its rows.
    Query(&'a str, &'a [Value<'a>]),
    /// A statement, for the number of rows that it changes.
    Execute(&'a str, &'a [Value<'a>]),
}

/// What a server answers.
#[derive(Debug)]
pub enum Response {
    /// The rows of a script, as text.
    Script(Vec<SimpleQueryMessage>),
    /// The rows of a query.
    Rows(Vec<Row>),
    /// How many rows were changed.
    Changed(u64),
}

impl Response {
    /// The rows of a query.
    pub fn rows(self) -> Vec<Row> {
        match self {
            Response::Rows(rows) => rows,
            Response::Script(_) | Response::Changed(_) => Vec::new(),
        }
    }

    /// How many rows were changed.
    pub fn changed(&self) -> u64 {
        match self {
            Response::Changed(count) => *count,
            Response::Script(_) | Response::Rows(_) => 0,
        }
    }
}

/// A connection to a server.
pub struct Client {
    runtime: Runtime,
    /// Taken when the connection ends.
    inner: Option<postgres::Client>,
    wire: Wire,
    pub(super) prepared: Prepared,
}

/// The connection itself; it moves only while somebody waits for it.
struct Wire {
    connection: Connection<Socket, <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream>,
    notifications: VecDeque<Notification>,
    is_over: bool,
}

impl Client {
    /// Connects; `mark` is what this connection can be recognised by, if one was sent along.
    pub(super) fn connect(
        runtime: Runtime,
        config: &Config,
        tls: MakeRustlsConnect,
        mark: Option<String>,
    ) -> Result<Client> {
        let (inner, connection) = runtime.block_on(config.connect(tls))?;
        let wire = Wire { connection, notifications: VecDeque::new(), is_over: false };
        Ok(Client { runtime, inner: Some(inner), wire, prepared: Prepared::new(mark) })
    }

    /// Sends all requests at once and waits for all responses. In a transaction, a request that fails makes those
    /// behind it fail too; the first error is returned.
    pub fn send(&mut self, requests: &[Request<'_>]) -> Result<Vec<Response>> {
        let new = self.prepared.worth_it(requests);
        if new.is_empty() {
            return self.send_now(requests);
        }
        // The scripts in front may begin the transaction in which the names of the statements mean something.
        let is_script = |request: &&Request<'_>| matches!(request, Request::Script(_));
        let (first, rest) = requests.split_at(requests.iter().take_while(is_script).count());
        let mut responses = self.send_now(first)?;
        self.prepare(&new)?;
        responses.append(&mut self.send_now(rest)?);
        Ok(responses)
    }

    fn send_now(&mut self, requests: &[Request<'_>]) -> Result<Vec<Response>> {
        let (runtime, inner, wire, prepared) = self.parts();
        let all = requests.iter().map(|request| {
            let statement = prepared.statement(request).cloned();
            Box::pin(answered(inner, *request, statement))
        });
        wire.wait_for(runtime, in_order(all.collect()))
    }

    fn prepare(&mut self, new: &[(&str, Vec<Type>)]) -> Result<()> {
        let (runtime, inner, wire, prepared) = self.parts();
        let all = new.iter().map(|(text, types)| Box::pin(inner.prepare_typed(text, types)));
        let statements = wire.wait_for(runtime, in_order(all.collect()))?;
        for ((text, types), statement) in new.iter().zip(statements) {
            prepared.keep(text, types, &statement);
        }
        Ok(())
    }

    /// Sends a script and does not wait for the response: if it fails, so does what comes next.
    pub fn send_off(&mut self, script: &str) {
        let (runtime, inner, wire, _) = self.parts();
        let mut sent = pin!(inner.simple_query(script));
        runtime.block_on(poll_fn(|context| {
            let _ = sent.as_mut().poll(context);
            let _ = wire.advance(context);
            Poll::Ready(())
        }));
    }

    /// Runs statements without values, and hands out their rows as text.
    pub fn simple_query(&mut self, script: &str) -> Result<Vec<SimpleQueryMessage>> {
        match self.send_now(&[Request::Script(script)])?.pop() {
            Some(Response::Script(messages)) => Ok(messages),
            _ => Ok(Vec::new()),
        }
    }

    /// Runs statements without values.
    pub fn batch_execute(&mut self, script: &str) -> Result<()> {
        self.simple_query(script).map(drop)
    }

    /// The rows of a statement.
    pub fn query_typed(&mut self, text: &str, values: &[Value<'_>]) -> Result<Vec<Row>> {
        let response = self.send(&[Request::Query(text, values)])?.pop();
        Ok(response.map_or_else(Vec::new, Response::rows))
    }

    /// The first row of a statement, if it has one.
    pub fn query_typed_opt(&mut self, text: &str, values: &[Value<'_>]) -> Result<Option<Row>> {
        Ok(self.query_typed(text, values)?.into_iter().next())
    }

    /// The one row of a statement.
    pub fn query_typed_one(&mut self, text: &str, values: &[Value<'_>]) -> Result<Row> {
        let (runtime, inner, wire, _) = self.parts();
        wire.wait_for(runtime, inner.query_typed_one(text, values))
    }

    /// Changes rows; how many.
    pub fn execute_typed(&mut self, text: &str, values: &[Value<'_>]) -> Result<u64> {
        let response = self.send(&[Request::Execute(text, values)])?.pop();
        Ok(response.map_or(0, |response| response.changed()))
    }

    /// Begins a transaction; dropped without a commit, nothing of it stays.
    pub fn transaction(&mut self) -> Result<Transaction<'_>> {
        self.batch_execute("begin")?;
        Ok(Transaction { client: self, is_over: false })
    }

    /// Whether the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.wire.is_over || self.inner.as_ref().is_none_or(postgres::Client::is_closed)
    }

    /// Whether the server answers within a time.
    pub fn is_valid(&mut self, within: Duration) -> bool {
        let (runtime, inner, wire, _) = self.parts();
        let answers = async {
            Ok(tokio::time::timeout(within, inner.simple_query(""))
                .await
                .is_ok_and(|it| it.is_ok()))
        };
        wire.wait_for(runtime, answers).unwrap_or(false)
    }

    /// The next notification, if one comes within a time.
    pub fn notification(&mut self, within: Duration) -> Result<Option<Notification>> {
        let Client { runtime, wire, .. } = self;
        let next = poll_fn(|context| {
            if let Some(first) = wire.notifications.pop_front() {
                return Poll::Ready(Ok(Some(first)));
            }
            match wire.advance(context) {
                Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
                Poll::Ready(Ok(())) => Poll::Ready(Ok(None)),
                Poll::Pending => match wire.notifications.pop_front() {
                    Some(first) => Poll::Ready(Ok(Some(first))),
                    None => Poll::Pending,
                },
            }
        });
        runtime.block_on(async { tokio::time::timeout(within, next).await.unwrap_or(Ok(None)) })
    }

    fn parts(&mut self) -> (&Runtime, &postgres::Client, &mut Wire, &mut Prepared) {
        match &self.inner {
            Some(inner) => (&self.runtime, inner, &mut self.wire, &mut self.prepared),
            None => unreachable!("it is taken out in drop alone"),
        }
    }

    /// Finds out whether statements can be kept on the server, once this connection has been used a few times.
    pub(super) fn learn_to_prepare(&mut self) {
        if self.prepared.is_asked_for() {
            let can = super::prepared::can_prepare(self).unwrap_or(false);
            self.prepared.learned(can);
        }
    }

    /// Prepares one statement, asks a question while it is there, and lets it go.
    pub(super) fn with_prepared(&mut self, text: &str, question: &str) -> Result<Vec<Row>> {
        let (runtime, inner, wire, _) = self.parts();
        let ask = async {
            let statement = inner.prepare_typed(text, &[]).await?;
            let rows = inner.query_typed(question, &[]).await;
            drop(statement);
            rows
        };
        wire.wait_for(runtime, ask)
    }
}

impl Wire {
    /// Sends and receives what can be without waiting; ready when the connection has ended.
    fn advance(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        while !self.is_over {
            match self.connection.poll_message(context) {
                Poll::Ready(Some(Ok(AsyncMessage::Notification(it)))) => {
                    self.notifications.push_back(it);
                }
                // Notices are for people who sit at psql.
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(Some(Err(error))) => {
                    self.is_over = true;
                    return Poll::Ready(Err(error));
                }
                Poll::Ready(None) => self.is_over = true,
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(Ok(()))
    }

    fn wait_for<T>(
        &mut self,
        runtime: &Runtime,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let mut work = pin!(work);
        runtime.block_on(poll_fn(|context| {
            if let Poll::Ready(Err(error)) = self.advance(context) {
                return Poll::Ready(Err(error));
            }
            match work.as_mut().poll(context) {
                // What it has just handed over is to go out.
                Poll::Pending => match self.advance(context) {
                    Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
                    Poll::Ready(Ok(())) => work.as_mut().poll(context),
                    Poll::Pending => Poll::Pending,
                },
                done => done,
            }
        }))
    }
}

async fn answered(
    client: &postgres::Client,
    request: Request<'_>,
    statement: Option<Statement>,
) -> Result<Response> {
    Ok(match (request, statement) {
        (Request::Script(text), _) => Response::Script(client.simple_query(text).await?),
        (Request::Query(text, values), None) => {
            Response::Rows(client.query_typed(text, values).await?)
        }
        (Request::Query(_, values), Some(statement)) => {
            Response::Rows(client.query(&statement, &without_types(values)).await?)
        }
        (Request::Execute(text, values), None) => {
            Response::Changed(client.execute_typed(text, values).await?)
        }
        (Request::Execute(_, values), Some(statement)) => {
            Response::Changed(client.execute(&statement, &without_types(values)).await?)
        }
    })
}

fn without_types<'a>(values: &[Value<'a>]) -> Vec<&'a (dyn ToSql + Sync)> {
    values.iter().map(|(value, _)| *value).collect()
}

/// Starts all, each in its turn, and waits for all; what the first that failed says.
async fn in_order<T, F: Future<Output = Result<T>>>(mut all: Vec<Pin<Box<F>>>) -> Result<Vec<T>> {
    let mut done: Vec<Option<Result<T>>> = all.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (work, done) in all.iter_mut().zip(&mut done) {
            if done.is_none()
                && let Poll::Ready(it) = work.as_mut().poll(context)
            {
                *done = Some(it);
            }
        }
        match done.iter().all(Option::is_some) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    })
    .await;
    done.into_iter().flatten().collect()
}

impl Drop for Client {
    fn drop(&mut self) {
        // The server hears of it when the one who speaks is gone.
        self.inner = None;
        let Client { runtime, wire, .. } = self;
        let over = poll_fn(|context| wire.advance(context).map(drop));
        let _ = runtime.block_on(async { tokio::time::timeout(GOODBYE, over).await });
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(to, "Client(closed: {})", self.is_closed())
    }
}

/// A transaction on a connection.
#[derive(Debug)]
pub struct Transaction<'c> {
    client: &'c mut Client,
    is_over: bool,
}

impl Transaction<'_> {
    /// Keeps what was done.
    pub fn commit(mut self) -> Result<()> {
        self.is_over = true;
        self.client.batch_execute("commit")
    }
}

impl Deref for Transaction<'_> {
    type Target = Client;

    fn deref(&self) -> &Client {
        self.client
    }
}

impl DerefMut for Transaction<'_> {
    fn deref_mut(&mut self) -> &mut Client {
        self.client
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            let _ = self.client.batch_execute("rollback");
        }
    }
}
