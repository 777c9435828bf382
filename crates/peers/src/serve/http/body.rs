//! Bodies of answers: whole, or a stream of events.

use std::{
    error::Error,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use hyper::{
    Response, StatusCode,
    body::{Body, Frame, SizeHint},
    header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue},
};
use tokio::time::{Instant, Sleep};
use tokio_util::sync::DropGuard;

use super::{BesideBody, connections::Answering};
use crate::{
    client::{Budget, BudgetShare, Queue, QueuedMessage},
    wire::on_one_line,
};

/// A comment is sent on a silent stream this often, so that a dead client is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Answers up to this size are not counted: as many as there are connections are no burden.
const SMALL: usize = 4 * 1024;

/// The body of an answer on its way to the client.
pub(super) struct AnswerBody {
    reply: Reply,
    _answering: Answering,
}

/// Bytes that count as memory in use until they are written.
struct Counted<B> {
    bytes: B,
    _share: Option<BudgetShare>,
}

/// The body of an answer.
pub(super) enum Reply {
    Whole(Option<Bytes>),
    Events(EventStream),
    Beside(BesideBody),
}

/// Messages as server-sent events, until their sender ends.
pub(super) struct EventStream {
    first: Option<Box<QueuedMessage>>,
    messages: Queue,
    silence: Pin<Box<Sleep>>,
    /// Cancels what feeds the stream when the client closes it.
    _closing: Option<DropGuard>,
}

impl AnswerBody {
    /// What is there already counts from now on; messages of a stream do so since they were sent.
    pub(super) fn new(mut reply: Reply, answering: Answering, budget: &Budget) -> Self {
        if let Reply::Whole(Some(bytes)) = &mut reply
            && bytes.len() > SMALL
        {
            let share = Some(budget.take(bytes.len()));
            *bytes = Bytes::from_owner(Counted { bytes: std::mem::take(bytes), _share: share });
        }
        Self { reply, _answering: answering }
    }
}

impl<B: AsRef<[u8]>> AsRef<[u8]> for Counted<B> {
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.get_mut().reply).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.reply.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.reply.size_hint()
    }
}

impl Body for Reply {
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Self::Events(events) => events.poll(cx).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes)))),
            Self::Beside(body) => Pin::new(body).poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_none(),
            Self::Events(_) => false,
            Self::Beside(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64)),
            Self::Events(_) => SizeHint::default(),
            Self::Beside(body) => body.size_hint(),
        }
    }
}

impl EventStream {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(event(*first)));
        }
        match self.messages.poll_recv(cx) {
            Poll::Ready(Some(message)) => {
                self.silence.as_mut().reset(Instant::now() + KEEP_ALIVE);
                Poll::Ready(Some(event(*message)))
            }
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => {
                std::task::ready!(self.silence.as_mut().poll(cx));
                self.silence.as_mut().reset(Instant::now() + KEEP_ALIVE);
                cx.waker().wake_by_ref();
                Poll::Ready(Some(Bytes::from_static(b": still here\n\n")))
            }
        }
    }
}

fn event(message: QueuedMessage) -> Bytes {
    let mut event = Vec::with_capacity(message.bytes.len() + 24);
    event.extend_from_slice(b"event: message\ndata: ");
    let start = event.len();
    event.extend_from_slice(&message.bytes);
    on_one_line(&mut event[start..]);
    event.extend_from_slice(b"\n\n");
    Bytes::from_owner(Counted { bytes: event, _share: message.share })
}

/// An answer that is there already.
pub(super) fn full(status: StatusCode, kind: &'static str, bytes: Vec<u8>) -> Response<Reply> {
    let mut response = Response::new(Reply::Whole(Some(bytes.into())));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// An answer without a body.
pub(super) fn empty(status: StatusCode) -> Response<Reply> {
    let mut response = Response::new(Reply::Whole(None));
    *response.status_mut() = status;
    response
}

/// JSON.
pub(super) fn json(status: StatusCode, bytes: Vec<u8>) -> Response<Reply> {
    full(status, "application/json", bytes)
}

/// EventStream from this queue.
pub(super) fn event_stream(messages: Queue, status: StatusCode) -> Response<Reply> {
    events(None, messages, None, status)
}

/// The same after a first one, telling `closing` when the client leaves.
pub(super) fn events(
    first: Option<Box<QueuedMessage>>,
    messages: Queue,
    closing: Option<DropGuard>,
    status: StatusCode,
) -> Response<Reply> {
    let silence = Box::pin(tokio::time::sleep(KEEP_ALIVE));
    let mut response =
        Response::new(Reply::Events(EventStream { first, messages, silence, _closing: closing }));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, no-transform"));
    response
}
