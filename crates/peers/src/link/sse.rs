//! The transport of 2024 as a carrier: one stream on which everything comes, and a second
//! address, told on that stream, to which everything is posted.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use reqwest::{
    Method, Response, Url,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue},
};
use tokio::runtime::Handle;

use super::{
    Inbox, MOST_UNASKED, Outgoing, RequestHead,
    http::{self, Address, SendOrder, broken, collect, status_words},
};
use crate::wire::{Events, Loss, StreamItem, same_origin};

/// The time a server may take to tell where to post to.
const ENDPOINT: Duration = Duration::from_secs(10);
/// The time it may take to accept what needs no answer.
const ACCEPTS: Duration = Duration::from_secs(30);
/// The largest answer to a post; the real one comes on the stream.
const MAX_RECEIPT: usize = 1024 * 1024;

/// Bytes of an event that are kept before its bound is asked for.
const SMALL: usize = 64 * 1024;

/// One server's stream and the address beside it.
pub(crate) struct Sse(Arc<SseServer>);

struct SseServer {
    address: Address,
    endpoint: Url,
    inbox: Arc<Inbox>,
    order: SendOrder,
    runtime: Handle,
}

/// A stream that is being read.
struct Stream {
    response: Response,
    events: Events,
}

impl Sse {
    /// Opens the stream and waits until the server said where to post to.
    pub(crate) async fn open(address: Address, inbox: Arc<Inbox>) -> Result<Self, Loss> {
        let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static("text/event-stream"))]);
        let response = address.send(Method::GET, address.url(), headers, Bytes::new()).await;
        let response = response.map_err(|unsent| unsent.loss)?;
        if !response.status().is_success() || !http::is_stream(&response) {
            let (status, headers) = (response.status(), response.headers().clone());
            let body = collect(response, MAX_RECEIPT).await.unwrap_or_default();
            let said = status_words(status, &headers, &body);
            return Err(Loss::Failed(format!("it offers no stream of events: {said}")));
        }
        let mut stream = Stream { response, events: Events::new(MOST_UNASKED) };
        let told = tokio::time::timeout(ENDPOINT, stream.endpoint(address.url(), &inbox)).await;
        let endpoint =
            told.unwrap_or_else(|_| Err(Loss::Failed("it did not tell where to post to".into())))?;
        let shared = Arc::new(SseServer {
            address,
            endpoint,
            inbox: inbox.clone(),
            order: SendOrder::default(),
            runtime: Handle::current(),
        });
        tokio::spawn(async move {
            let closed = inbox.closed().clone();
            if let Some(end) = closed.run_until_cancelled(stream.read(&inbox)).await {
                inbox.close(Loss::Gone(end));
            }
        });
        Ok(Self(shared))
    }

    pub(super) fn send(&self, message: Outgoing) -> Result<(), Loss> {
        if let Some(loss) = self.0.inbox.lost() {
            return Err(loss);
        }
        let body = Bytes::from(message.bytes);
        let shared = self.0.clone();
        if let Some(RequestHead { id, headers, .. }) = message.request {
            let before = shared.order.so_far();
            self.0.spawn(async move {
                before.cancelled().await;
                if let Err(loss) = shared.post(body, &headers, Some(id)).await {
                    shared.inbox.fail(id, loss);
                }
            });
            return Ok(());
        }
        let turn = shared.order.take();
        let turn = turn.ok_or_else(|| Loss::Failed("it does not take what it is sent".into()))?;
        self.0.spawn(async move {
            turn.come().await;
            if let Ok(Err(loss)) = tokio::time::timeout(ACCEPTS, shared.post(body, &[], None)).await {
                tracing::debug!(why = %loss, "a notification was not taken");
            }
        });
        Ok(())
    }
}

impl Drop for Sse {
    fn drop(&mut self) {
        self.0.inbox.close(Loss::Gone("the connection was let go".into()));
    }
}

impl SseServer {
    /// Runs a task that ends with the connection.
    fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        let closed = self.inbox.closed().clone();
        self.runtime.spawn(async move {
            closed.run_until_cancelled(work).await;
        });
    }

    /// Posts one message. Some servers answer on the spot what belongs on the stream.
    async fn post(&self, body: Bytes, beside: &[(String, String)], id: Option<u64>) -> Result<(), Loss> {
        let mut headers = HeaderMap::from_iter([
            (ACCEPT, HeaderValue::from_static("application/json, text/event-stream")),
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        ]);
        http::add_beside(&mut headers, beside, false);
        let response = self.address.send(Method::POST, &self.endpoint, headers, body).await;
        let response = response.map_err(|unsent| unsent.loss)?;
        let (status, headers) = (response.status(), response.headers().clone());
        let receipt = collect(response, MAX_RECEIPT).await.unwrap_or_default();
        if let Some(id) = id {
            http::deliver(&self.inbox, id, &receipt);
        }
        if status.is_success() {
            return Ok(());
        }
        Err(Loss::Failed(status_words(status, &headers, &receipt)))
    }
}

impl Stream {
    /// Reads up to the event that tells where to post to. Another origin is not accepted: what
    /// is posted may be secret, and goes with a login.
    async fn endpoint(&mut self, base: &Url, inbox: &Inbox) -> Result<Url, Loss> {
        let mut told = None;
        while told.is_none() {
            let chunk = match self.response.chunk().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => {
                    return Err(Loss::Failed("its stream ended before it told where to post to".into()));
                }
                Err(error) => return Err(Loss::Failed(broken(&error))),
            };
            let each = |found: StreamItem<'_>| match found {
                StreamItem::Event { name: "endpoint", data } if told.is_none() => {
                    told = Some(String::from_utf8_lossy(data).trim().to_owned());
                }
                found => http::take_shared(inbox, &found),
            };
            http::feed(&mut self.events, &chunk, inbox, each).await;
        }
        let told = told.unwrap_or_default();
        match base.join(&told) {
            Ok(url) if same_origin(base, &url) => Ok(url),
            _ => {
                let told: String = told.chars().take(200).collect();
                Err(Loss::Failed(format!(
                    "it wants messages posted to another origin ({told}), which is refused"
                )))
            }
        }
    }

    /// Delivers what comes, and says how it ended.
    async fn read(&mut self, inbox: &Inbox) -> String {
        loop {
            match self.response.chunk().await {
                Ok(Some(chunk)) => {
                    for piece in chunk.chunks(SMALL) {
                        // What is larger may become as large as what it seems to be.
                        if self.events.pending().len() > SMALL {
                            self.events.limit(inbox.most(self.events.pending()));
                        }
                        http::feed(&mut self.events, piece, inbox, |found| http::take_shared(inbox, &found))
                            .await;
                    }
                }
                Ok(None) => return "its stream ended".into(),
                Err(error) => return broken(&error),
            }
        }
    }
}
