//! The stream on which a server of the older era says what nobody asked for.

use std::time::Duration;

use super::{HttpSession, Unsent, feed, refused, request, take_shared};
use crate::{
    link::MOST_UNASKED,
    wire::{Events, Loss},
};

/// The longest pause between two attempts.
const MOST_PAUSE: Duration = Duration::from_secs(60);

/// Listens as long as the server offers a stream. Ends when it offers none.
pub(super) async fn listen(shared: &HttpSession) {
    let mut last = None;
    let (mut pause, mut had_one) = (request::PAUSE, false);
    loop {
        // Boxed: what opening takes is given back while the stream is open, which is most of the time.
        match Box::pin(shared.open_stream(last.as_deref())).await {
            Ok(response) if response.status().is_success() && request::is_stream(&response) => {
                had_one = shared.has_session();
                let (events, heard) = read(shared, response).await;
                last = events.last_id.or(last);
                if heard {
                    pause = events.retry.unwrap_or(request::PAUSE).clamp(request::PAUSES.0, MOST_PAUSE);
                }
            }
            // Not offered, or not to us; where there was such a stream, its session may be gone.
            // Where there never was one, the next request finds out.
            Ok(response) if !response.status().is_server_error() => {
                if refused::is_refused(response, had_one).await {
                    shared.session_expired();
                }
                return;
            }
            // Asking again would not change its mind; requests say that a login is wanted.
            Err(Unsent { loss: Loss::Unauthorized(_), .. }) => return,
            Ok(_) | Err(_) => {}
        }
        tokio::time::sleep(pause).await;
        // A stream that only opens and closes is asked for less and less often.
        pause = (pause * 2).min(MOST_PAUSE);
    }
}

/// Delivers what comes until the stream ends, and tells whether anything came.
async fn read(shared: &HttpSession, mut response: reqwest::Response) -> (Events, bool) {
    let mut events = Events::new(MOST_UNASKED);
    let mut heard = false;
    // They keep the whole buffer that they were read into.
    response.headers_mut().clear();
    while let Ok(Some(chunk)) = response.chunk().await {
        heard = true;
        feed(&mut events, &chunk, &shared.inbox, |found| take_shared(&shared.inbox, &found)).await;
    }
    (events, heard)
}
