//! Events for readers: drained at once, or as a stream that can be resumed.

use std::time::Duration;

use axum::{
    Json,
    body::{Body, Bytes},
    extract::State,
    http::{
        HeaderMap,
        header::{CACHE_CONTROL, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
};
use futures_util::stream;
use serde::Serialize;
use serde_json::json;
use tectum_core::Fault;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use utoipa::ToSchema;

use super::{
    events::{Bus, Next, ReaderPlace, Reading},
    hooked::Hooks,
    refusal::Refusal,
};

/// A comment is sent on a silent stream this often, so that a dead reader is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// One event.
#[derive(Serialize, ToSchema)]
pub(super) struct EventJson {
    /// Its number; later events have larger ones.
    id: u64,
    /// When it happened.
    at: String,
    /// What happened.
    #[schema(example = "call.ended")]
    kind: String,
    /// The details.
    data: serde_json::Value,
}

/// The events that waited.
#[derive(Serialize, ToSchema)]
pub(super) struct Events {
    /// In their order.
    events: Vec<EventJson>,
    /// The number that was dropped before them, because nobody came for so long.
    missed: u64,
}

/// The events since the last request, which are then forgotten here
#[utoipa::path(get, path = "/api/events", responses((status = 200, description = "The events", body = Events)))]
pub(super) async fn drain(State(hooks): State<Hooks>) -> Response {
    Json(hooks.bus().drain()).into_response()
}

/// The events as they happen, after the one that `Last-Event-ID` names
#[utoipa::path(
    get,
    path = "/api/events/stream",
    params(("Last-Event-ID" = Option<u64>, Header, description = "The last event that was seen")),
    responses(
        (status = 200, description = "Server-sent events", body = String, content_type = "text/event-stream"),
        (status = 400, description = "`Last-Event-ID` is no number of an event", body = super::refusal::Refused),
    ),
)]
pub(super) async fn follow(State(hooks): State<Hooks>, headers: HeaderMap) -> Result<Response, Refusal> {
    let bus = hooks.bus();
    let reader = EventReader {
        place: bus.place(last_seen(&headers)?),
        changes: bus.changes(),
        closing: hooks.closing().clone(),
        _reading: bus.reading(),
        bus: bus.clone(),
    };
    let frames = stream::unfold(reader, |mut reader| async {
        let frame = reader.frame().await?;
        Some((Ok::<_, std::convert::Infallible>(frame), reader))
    });
    let head = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-cache, no-transform")];
    // A proxy or a client learns that it is connected before anything happens.
    let hello = stream::once(async { Ok(Bytes::from_static(b": connected\n\n")) });
    Ok((head, Body::from_stream(stream::StreamExt::chain(hello, frames))).into_response())
}

fn last_seen(headers: &HeaderMap) -> Result<Option<u64>, Fault> {
    let Some(given) = headers.get("last-event-id") else { return Ok(None) };
    match given.to_str().ok().and_then(|text| text.trim().parse().ok()) {
        Some(number) => Ok(Some(number)),
        None => Err(Fault::invalid("Last-Event-ID is no number of an event")
            .hint("send the `id` of the last event you saw, or leave the header out")),
    }
}

/// One reader of the stream.
struct EventReader {
    bus: std::sync::Arc<Bus>,
    place: ReaderPlace,
    changes: watch::Receiver<u64>,
    closing: CancellationToken,
    _reading: Reading,
}

impl EventReader {
    /// The next bytes for it; `None` when the house closes.
    async fn frame(&mut self) -> Option<Bytes> {
        loop {
            self.changes.mark_unchanged();
            match self.bus.next(&mut self.place) {
                Next::Event(frame) => return Some(frame),
                Next::Missed(first, count) => {
                    let data = json!({ "missed": count, "first": first });
                    // Whoever comes back after this frame has nothing more to miss.
                    let id = first - 1;
                    return Some(Bytes::from(format!("id: {id}\nevent: missed\ndata: {data}\n\n")));
                }
                Next::Nothing => {}
            }
            tokio::select! {
                changed = self.changes.changed() => changed.ok()?,
                () = self.closing.cancelled() => return None,
                () = tokio::time::sleep(KEEP_ALIVE) => {
                    return Some(Bytes::from_static(b": still here\n\n"));
                }
            }
        }
    }
}
