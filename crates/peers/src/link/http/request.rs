//! One request from its POST to its answer: as JSON, at the end of a stream, or on the stream
//! that continues a broken one.

use std::time::Duration;

use reqwest::{
    Method, Response, StatusCode,
    header::{CONTENT_TYPE, HeaderValue},
};

use super::{
    Call, HttpPhase, HttpSession, SESSION, Unsent, address, broken, deliver, feed, refused, session::EXPIRED,
    status_words, take,
};
use crate::wire::{Events, Loss, Opened, code, frame, rpc};

/// The pause before a stream is taken up again, where the server names none.
pub(super) const PAUSE: Duration = Duration::from_secs(1);
/// The shortest and the longest pause a server may ask for: neither a busy loop nor for ever.
pub(super) const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(300));
/// Attempts to take up a stream that fail one after the other.
const MOST_FAILURES: u32 = 5;
/// The same where nobody listens any more: a server that was ended rarely comes back with its
/// streams, and its callers should not wait long to hear of it.
const MOST_ABSENCES: u32 = 2;
/// The time a stream may stay open behind its answer, so that its connection can be used again.
const LINGER: Duration = Duration::from_secs(1);

/// The reasons why a request came to nothing.
enum CallFault {
    /// As the caller is told.
    Lost(Loss),
    /// The same, after something had come back: another form of the request may fare better.
    Answered(Loss),
}

impl Call {
    /// Sends it and delivers what comes. Whatever happens, it has an answer at the end.
    pub(super) async fn run(&self, shared: &HttpSession) {
        let fault = match self.exchange(shared).await {
            Ok(()) => CallFault::Answered(Loss::Failed("its answer is no answer to the request".into())),
            Err(fault) => fault,
        };
        let loss = match fault {
            // Servers of the older era refuse what they do not know in every conceivable way.
            CallFault::Answered(Loss::Failed(why) | Loss::Cut(why))
                if self.probes() && shared.state.lock().phase == HttpPhase::Opening =>
            {
                let (id, mut answer) = (self.head.id, Vec::new());
                frame::error(&mut answer, Some(&id.to_string()), code::METHOD_NOT_FOUND, &why, None);
                shared.deliver(id, &answer);
                return;
            }
            CallFault::Answered(loss) | CallFault::Lost(loss) => loss,
        };
        // Nothing happens here when the answer was delivered.
        shared.inbox.fail(self.head.id, loss);
    }

    async fn exchange(&self, shared: &HttpSession) -> Result<(), CallFault> {
        let headers = shared.headers(Some(self));
        let had_one = headers.contains_key(SESSION);
        let sent = shared.address.send(Method::POST, shared.address.url(), headers, self.body.clone()).await;
        let fault = |Unsent { loss, reached, .. }| {
            if reached { CallFault::Answered(loss) } else { CallFault::Lost(loss) }
        };
        let response = sent.map_err(fault)?;
        if !response.status().is_success() {
            return Err(self.refused(shared, response, had_one).await);
        }
        if self.head.method == "initialize" {
            let session = response.headers().get(SESSION).filter(|id| !id.is_empty());
            // A copy: the original keeps the whole buffer that it was read into.
            shared.state.lock().session = session.and_then(|id| HeaderValue::from_bytes(id.as_bytes()).ok());
        }
        if is_stream(&response) {
            return self.follow(shared, response).await;
        }
        let most = shared.inbox.most_of(self.head.id);
        let body = address::collect(response, most).await.map_err(failed)?;
        shared.deliver(self.head.id, &body);
        Ok(())
    }

    /// A refusal may hold the answer all the same.
    async fn refused(&self, shared: &HttpSession, response: Response, had_one: bool) -> CallFault {
        let status = response.status();
        let headers = response.headers().clone();
        let body = address::collect(response, address::MAX_REFUSAL).await.unwrap_or_default();
        if had_one && refused::is_unknown(status, &body) {
            shared.inbox.refuse(self.head.id, EXPIRED);
            return CallFault::Lost(Loss::Refused(EXPIRED.into()));
        }
        let error = matches!(rpc::open(&body), Ok(Opened::Response(response)) if response.outcome.is_err());
        if error && shared.deliver(self.head.id, &body) {
            return CallFault::Lost(Loss::Failed("it was refused".into()));
        }
        let otherwise = [StatusCode::BAD_REQUEST, StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED]
            .contains(&status);
        if self.head.method == "initialize" && otherwise {
            shared.state.lock().speaks_otherwise = true;
        }
        failed(status_words(status, &headers, &body))
    }

    /// Reads a stream up to the answer, taking it up again where it breaks and can be continued.
    async fn follow(&self, shared: &HttpSession, response: Response) -> Result<(), CallFault> {
        let most = shared.inbox.most_of(self.head.id);
        let mut events = Events::new(most);
        let mut response = Some(response);
        let (mut failures, mut absences) = (0, 0);
        loop {
            let ended = match response.take() {
                Some(response) => {
                    (failures, absences) = (0, 0);
                    match self.read(shared, response, &mut events).await {
                        Ok(()) => return Ok(()),
                        Err(ended) => ended,
                    }
                }
                None if absences > 0 => {
                    "its stream broke off, and nobody listens at its address any more".into()
                }
                None => "its stream cannot be continued".into(),
            };
            let legacy = shared.state.lock().phase != HttpPhase::Modern;
            let goes_on = legacy && failures < MOST_FAILURES && absences < MOST_ABSENCES;
            let Some(last) = events.last_id.clone().filter(|_| goes_on) else { return Err(cut(ended)) };
            let pause = events.retry.unwrap_or(PAUSE).clamp(PAUSES.0, PAUSES.1);
            tokio::time::sleep(pause * (failures + 1)).await;
            failures += 1;
            match shared.open_stream(Some(&last)).await {
                Ok(next) if is_stream(&next) && next.status().is_success() => {
                    // What was cut off is sent anew from its beginning.
                    let retry = events.retry;
                    events = Events::new(most);
                    (events.last_id, events.retry) = (Some(last), retry);
                    response = Some(next);
                }
                Ok(other) if other.status().is_client_error() => {
                    if refused::is_refused(other, shared.has_session()).await {
                        shared.session_expired();
                    }
                    return Err(cut(ended));
                }
                Err(unsent) if unsent.absent => absences += 1,
                Ok(_) | Err(_) => absences = 0,
            }
        }
    }

    /// Delivers the events of one stream. An error says how it ended without the answer.
    async fn read(
        &self,
        shared: &HttpSession,
        mut response: Response,
        events: &mut Events,
    ) -> Result<(), String> {
        loop {
            let chunk = match response.chunk().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => return Err("its stream ended before the answer".into()),
                Err(error) => return Err(broken(&error)),
            };
            let deliver = |data: &[u8]| deliver(&shared.inbox, self.head.id, data);
            feed(events, &chunk, &shared.inbox, |found| take(&shared.inbox, &found, deliver)).await;
            if !shared.inbox.is_open(self.head.id) {
                // Read to its end the connection serves another request; otherwise it is lost.
                let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
                let _ = tokio::time::timeout(LINGER, rest).await;
                return Ok(());
            }
        }
    }
}

/// True for a stream of events.
pub(crate) fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/event-stream")
}

/// A stream without the answer at its end.
fn cut(why: String) -> CallFault {
    CallFault::Answered(Loss::Cut(why))
}

fn failed(why: String) -> CallFault {
    CallFault::Answered(Loss::Failed(why))
}
