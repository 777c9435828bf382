//! One message in, its answer out: as JSON, or as a stream where more than one message comes.

use std::{sync::Arc, time::Duration};

use base64::Engine;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::{
    Request, Response, StatusCode,
    body::{Body, Incoming},
    header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue},
};
use tectum_core::SessionId;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::{
    RefusedRequest, Reply, Service, VERSION, accepts, body, header, plain, refuse,
    reply::known_legacy_version, sessions::HEADER,
};
use crate::{
    client::{Bounds, Conversation, Outbox, queue},
    link,
    serve::{Delivery, Handled},
    wire::{
        MAX_MESSAGE, MODERN, Message, code, frame,
        rpc::{self, Request as Rpc},
    },
};

/// How long a client may take to send a body, and how many bytes buy it a further second.
const BODY_PATIENCE: Duration = Duration::from_secs(5);
const BODY_RATE: u64 = 16 * 1024;
/// The bounds of the stream of one call.
const CALL_STREAM: Bounds = Bounds { messages: 256, bytes: 1024 * 1024 };

impl Service {
    /// Handles a POST.
    pub(super) async fn post(&self, request: Request<Incoming>) -> Response<Reply> {
        let (parts, incoming) = request.into_parts();
        let headers = parts.headers;
        let is_json = header(&headers, CONTENT_TYPE).is_some_and(|kind| {
            let kind = kind.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default();
            kind.trim_ascii().eq_ignore_ascii_case(b"application/json")
        });
        if !is_json {
            return plain(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send application/json");
        }
        if !accepts(&headers, "application/json") && !accepts(&headers, "text/event-stream") {
            return plain(StatusCode::NOT_ACCEPTABLE, "answers are application/json or text/event-stream");
        }
        let bytes = match self.collect(&headers, incoming).await {
            Ok(bytes) => bytes,
            Err(refusal) => return *refusal,
        };
        match rpc::read(&bytes) {
            Err(bad) => error(StatusCode::BAD_REQUEST, bad.id.as_deref(), bad.code, &bad.message),
            Ok(Message::Request(rpc)) => {
                let claims = rpc.params.meta.as_ref().is_some_and(|meta| meta.protocol_version.is_some());
                let modern = header(&headers, &VERSION).is_some_and(|version| version >= MODERN);
                if claims || modern || rpc.method == "server/discover" {
                    self.modern(&headers, &rpc).await
                } else {
                    self.legacy(&headers, &rpc).await
                }
            }
            Ok(Message::Notification { .. } | Message::Response(_)) => self.unanswered(&headers, &bytes),
        }
    }

    /// Notifications and answers need no answer of their own.
    fn unanswered(&self, headers: &HeaderMap, bytes: &[u8]) -> Response<Reply> {
        if header(headers, &VERSION) == Some(MODERN) {
            return body::empty(StatusCode::ACCEPTED);
        }
        match self.sessions.find(headers) {
            Err(refusal) => *refusal,
            Ok(session) => {
                let delivery = Delivery {
                    from: &session.client,
                    outbox: None,
                    turns: &self.turns,
                    modern: false,
                    ahead: false,
                };
                self.endpoint.handle(&delivery, bytes, &mut Vec::new());
                body::empty(StatusCode::ACCEPTED)
            }
        }
    }

    async fn legacy(&self, headers: &HeaderMap, rpc: &Rpc<'_>) -> Response<Reply> {
        if !known_legacy_version(headers) {
            let message = "MCP-Protocol-Version: this version is not spoken here";
            return error(StatusCode::BAD_REQUEST, Some(rpc.id), code::INVALID_REQUEST, message);
        }
        if rpc.method == "initialize" {
            let Ok((id, session)) = self.open_session() else {
                return plain(StatusCode::INTERNAL_SERVER_ERROR, "no random numbers for a session id");
            };
            let mut response = self.run(headers, &session.client, rpc, false).await;
            if let Ok(id) = HeaderValue::from_str(&id) {
                response.headers_mut().insert(HEADER.clone(), id);
            }
            return response;
        }
        match self.sessions.find(headers) {
            Ok(session) => self.run(headers, &session.client, rpc, false).await,
            Err(refusal) => *refusal,
        }
    }

    async fn modern(&self, headers: &HeaderMap, rpc: &Rpc<'_>) -> Response<Reply> {
        self.endpoint.federation.settle();
        if let Err(why) = headers_match(headers, rpc).and_then(|()| self.arguments_match(headers, rpc)) {
            return error(StatusCode::BAD_REQUEST, Some(rpc.id), code::HEADER_MISMATCH, &why);
        }
        // Without sessions every request is a client of its own; ids cannot clash.
        // What is its own is known by who sends the token and what it says of itself.
        let info = rpc.params.meta.as_ref().and_then(|meta| meta.client_info);
        let credential = header(headers, AUTHORIZATION).unwrap_or_default();
        let name = info.map(|info| format!("{credential}\0{}", info.get()));
        let session = name.as_ref().map_or("http".to_owned(), |name| {
            format!("http-{}", &blake3::hash(name.as_bytes()).to_hex()[..16])
        });
        let client =
            Conversation::of_one_request(SessionId::new(session), self.endpoint.federation.unheard.clone());
        if let Some(name) = name {
            client.share(&self.models, name);
        }
        self.run(headers, &client, rpc, true).await
    }

    /// The arguments that a tool's schema wants beside the body must stand there and say the same.
    fn arguments_match(&self, headers: &HeaderMap, rpc: &Rpc<'_>) -> Result<(), String> {
        let snapshot = self.endpoint.house.registry().snapshot();
        let name = rpc.params.name.as_deref().filter(|_| rpc.method == "tools/call");
        let Some(server) = name.and_then(|name| snapshot.tool(name)?.server.as_ref()) else { return Ok(()) };
        let schema = link::headers::annotated_schema(&server.definition);
        if schema.is_empty() {
            return Ok(());
        }
        let wanted = link::headers::of_call(&schema, rpc.params.arguments.map_or("{}", |raw| raw.get()));
        for (name, value) in &wanted {
            let Some(given) = once(headers, name)? else {
                return Err(format!("the {name} header is missing"));
            };
            if decoded(given) != decoded(value) {
                return Err(format!("{name} is {given}, the body says {value}"));
            }
        }
        let stray = headers.keys().map(|name| name.as_str()).find(|name| {
            name.starts_with("mcp-param-")
                && !wanted.iter().any(|(known, _)| known.eq_ignore_ascii_case(name))
        });
        stray.map_or(Ok(()), |name| Err(format!("the {name} header stands for no argument of the body")))
    }

    /// Runs a request and chooses the form of its answer.
    async fn run(
        &self,
        headers: &HeaderMap,
        client: &Arc<Conversation>,
        rpc: &Rpc<'_>,
        modern: bool,
    ) -> Response<Reply> {
        let streams = accepts(headers, "text/event-stream");
        let (outbox, mut messages) = queue(CALL_STREAM, client.unheard.clone(), Some(self.budget.clone()));
        let outlet = streams.then_some(&outbox);
        let mut out = Vec::new();
        let delivery = Delivery { from: client, outbox: outlet, turns: &self.turns, modern, ahead: false };
        match self.endpoint.request(&delivery, rpc, &mut out, Some(headers)) {
            Handled::Answered | Handled::Silent => {
                let status = if modern { status(&out, rpc) } else { StatusCode::OK };
                if messages.is_empty() {
                    return body::json(status, out);
                }
                send_later(outbox, async move { out });
                body::event_stream(messages, status)
            }
            Handled::Listening(opening) => {
                if opening.is_none() {
                    outbox.offer(out);
                }
                self.sessions.listen(client.clone(), outbox.clone());
                // Afterwards only who tells of changes keeps the stream open.
                let acknowledged = opening.map(|opening| opening.acknowledge(outbox));
                let left = CancellationToken::new();
                let closing = left.clone().drop_guard();
                let (federation, client) = (self.endpoint.federation.clone(), client.clone());
                let id = rpc.id.to_owned();
                tokio::spawn(async move {
                    // Whoever leaves is not waited for.
                    if let Some(acknowledged) = acknowledged {
                        left.run_until_cancelled(acknowledged).await;
                    }
                    left.cancelled().await;
                    client.cancel(&id);
                    federation.subscriptions.leave(client.key()).await;
                });
                body::events(None, messages, Some(closing), StatusCode::OK)
            }
            Handled::Running(mut work) => {
                // The answer is a stream only if something comes before it.
                let first = tokio::select! {
                    biased;
                    answer = &mut work => match messages.try_recv() {
                        Ok(first) => {
                            send_later(outbox, async move { answer });
                            return body::events(Some(first), messages, None, StatusCode::OK);
                        }
                        Err(_) if answer.is_empty() => return body::empty(StatusCode::NO_CONTENT),
                        Err(_) => {
                            let status = if modern { status(&answer, rpc) } else { StatusCode::OK };
                            return body::json(status, answer);
                        }
                    },
                    Some(first) = messages.recv() => first,
                };
                // Closing the stream cancels the call.
                let left = CancellationToken::new();
                let closing = left.clone().drop_guard();
                let (client, id) = (client.clone(), rpc.id.to_owned());
                send_later(outbox, async move {
                    tokio::select! {
                        answer = &mut work => answer,
                        () = left.cancelled() => {
                            client.cancel(&id);
                            work.await
                        }
                    }
                });
                body::events(Some(first), messages, Some(closing), StatusCode::OK)
            }
        }
    }

    /// The body, whole, within its bounds of size and pace.
    async fn collect(&self, headers: &HeaderMap, mut incoming: Incoming) -> Result<Bytes, RefusedRequest> {
        let too_large = || {
            let message = format!("a message may have {MAX_MESSAGE} bytes");
            Box::new(error(StatusCode::PAYLOAD_TOO_LARGE, None, code::INVALID_REQUEST, &message))
        };
        let announced = header(headers, CONTENT_LENGTH).and_then(|length| length.parse::<usize>().ok());
        if announced.is_some_and(|length| length > MAX_MESSAGE) {
            return Err(too_large());
        }
        let (start, mut body) = (Instant::now(), Vec::new());
        let mut share = self.budget.take(0);
        loop {
            // Whoever gets on has time; whoever drips has not.
            let until = start + BODY_PATIENCE + Duration::from_secs(body.len() as u64 / BODY_RATE);
            let piece = match timeout_at(until, incoming.frame()).await {
                Ok(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
                Ok(None) => return Ok(body.into()),
                Ok(Some(Err(_))) => {
                    return Err(refuse(StatusCode::BAD_REQUEST, "the body could not be read"));
                }
                Err(_) => return Err(refuse(StatusCode::REQUEST_TIMEOUT, "the body came too slowly")),
            };
            if body.len() + piece.len() > MAX_MESSAGE {
                return Err(too_large());
            }
            // Most bodies come in one piece.
            if body.is_empty() && incoming.is_end_stream() {
                return Ok(piece);
            }
            share.grow(piece.len());
            body.extend_from_slice(&piece);
            self.has_memory().await?;
        }
    }
}

/// The last message of a stream comes when its work is done.
fn send_later(outbox: Outbox, work: impl Future<Output = Vec<u8>> + Send + 'static) {
    tokio::spawn(async move {
        let answer = work.await;
        if !answer.is_empty() {
            let _ = outbox.send(answer).await;
        }
    });
}

/// In the newer era the headers repeat what intermediaries route by; both must agree.
fn headers_match(headers: &HeaderMap, rpc: &Rpc<'_>) -> Result<(), String> {
    let claimed = rpc.params.meta.as_ref().and_then(|meta| meta.protocol_version).and_then(rpc::text);
    let version = once(headers, "mcp-protocol-version")?;
    if let Some(claimed) = &claimed {
        match version {
            None => return Err("the MCP-Protocol-Version header is missing".into()),
            Some(version) if version != claimed => {
                return Err(format!("MCP-Protocol-Version is {version}, the request's _meta says {claimed}"));
            }
            Some(_) => {}
        }
    }
    // A version we do not speak is refused as such; its header rules are not ours to know.
    if claimed.as_deref() != Some(MODERN) {
        return Ok(());
    }
    match once(headers, "mcp-method")? {
        None => return Err("the Mcp-Method header is missing".into()),
        Some(method) if method != rpc.method => {
            return Err(format!("Mcp-Method is {method}, the body's method is {}", rpc.method));
        }
        Some(_) => {}
    }
    let name = match &*rpc.method {
        "tools/call" | "prompts/get" => rpc.params.name.clone(),
        "resources/read" => rpc.params.uri.and_then(rpc::text),
        "tasks/get" | "tasks/update" | "tasks/cancel" => rpc.params.task_id.and_then(rpc::text),
        _ => None,
    };
    let Some(name) = name else { return Ok(()) };
    let Some(given) = once(headers, "mcp-name")? else { return Err("the Mcp-Name header is missing".into()) };
    match decoded(given) {
        Some(given) if given == name => Ok(()),
        _ => Err(format!("Mcp-Name is {given}, the body says {name}")),
    }
}

fn once<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, String> {
    if headers.get_all(name).iter().count() > 1 {
        return Err(format!("the {name} header stands twice"));
    }
    Ok(header(headers, name))
}

/// A header value, unwrapped where it was put in Base64 (`=?base64?…?=`).
fn decoded(value: &str) -> Option<String> {
    let Some(coded) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) else {
        return Some(value.to_owned());
    };
    let bytes = base64::engine::general_purpose::STANDARD.decode(coded).ok()?;
    String::from_utf8(bytes).ok()
}

/// The status of an answer of the newer era.
fn status(answer: &[u8], rpc: &Rpc<'_>) -> StatusCode {
    let meta = rpc.params.meta.as_ref();
    let meta_is_whole =
        meta.is_some_and(|meta| meta.protocol_version.is_some() && meta.client_capabilities.is_some());
    match frame::error_code(answer) {
        Some(code::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        Some(code::UNSUPPORTED_VERSION | code::HEADER_MISMATCH | code::MISSING_CAPABILITY) => {
            StatusCode::BAD_REQUEST
        }
        Some(code::INVALID_PARAMS) if !meta_is_whole => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

fn error(status: StatusCode, id: Option<&str>, code: i32, message: &str) -> Response<Reply> {
    let mut out = Vec::new();
    frame::error(&mut out, id, code, message, None);
    body::json(status, out)
}
