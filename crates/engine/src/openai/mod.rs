//! A model behind a server that speaks chat completions as OpenAI's does, which most do. Owns the
//! connection: the key, waiting, trying again. A key is read from the environment, sent, and never
//! written anywhere.

mod assemble;
mod events;
mod fault;
mod place;
mod wire;

use std::{
    env, fmt,
    net::IpAddr,
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use reqwest::{
    Client, Response, Url,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue},
    redirect,
};
use tectum_core::Fault;

pub use self::place::Place;
use self::{
    assemble::Assembly,
    events::Events,
    fault::{MOST_PAUSE, Trouble},
};
use crate::{Answer, Model, Prompt};

/// The limit for making a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// The largest answer, in bytes: far more than any model says at once.
const MOST_ANSWER: usize = 32 << 20;
/// The largest body of a refusal that is looked at.
const MOST_REFUSAL: usize = 64 * 1024;

/// A model at such a place.
pub struct OpenAi {
    client: Client,
    url: Url,
    headers: HeaderMap,
    place: Place,
    /// Set when the server said that it does not stream.
    whole: AtomicBool,
}

impl OpenAi {
    /// A client for this place. Nothing is sent yet.
    pub fn new(place: Place) -> Result<Self, Fault> {
        install_tls();
        let url = address(&place.base_url)?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream, application/json"));
        if let Some(key) = place.key_env.as_ref().and_then(|name| env::var(name).ok()) {
            let wrong = |_| {
                let name = place.key_env.as_deref().unwrap_or_default();
                Fault::invalid(format!("the key in {name} cannot be sent: it holds a line break or the like"))
            };
            let mut value = HeaderValue::from_str(&format!("Bearer {}", key.trim())).map_err(wrong)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        let client = client(&url).map_err(|error| {
            Fault::internal(format!("no HTTP client can be made: {}", fault::words(&error)))
        })?;
        Ok(Self { client, url, headers, place, whole: AtomicBool::new(false) })
    }

    /// Sends the request until something comes of it, and reads the answer.
    async fn try_again(
        &self,
        prompt: &Prompt<'_>,
        said: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Answer, Fault> {
        let mut pause = self.place.pause;
        let mut tries = 0;
        loop {
            tries += 1;
            let trouble = match self.once(prompt, said).await {
                Ok(answer) => return Ok(answer),
                Err(trouble) => trouble,
            };
            let wait = trouble.wait.unwrap_or(pause);
            if tries >= trouble.tries || wait > MOST_PAUSE {
                return Err(trouble.fault);
            }
            tracing::info!(why = trouble.fault.message, ?wait, "the model is asked again");
            tokio::time::sleep(wait).await;
            pause = (pause * 2).min(MOST_PAUSE);
        }
    }

    async fn once(
        &self,
        prompt: &Prompt<'_>,
        said: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Answer, Trouble> {
        let streams = !self.whole.load(Ordering::Relaxed);
        let response = self.send(prompt, streams).await?;
        let status = response.status();
        if status.is_success() {
            return self.read(response, said).await;
        }
        let headers = response.headers().clone();
        let body = self.collect(response, MOST_REFUSAL).await.unwrap_or_default();
        if streams && fault::dislikes_streams(status, &body) {
            tracing::info!("the model's server does not stream; it is asked for whole answers");
            self.whole.store(true, Ordering::Relaxed);
            return Err(Trouble::at_once(fault::refusal(&self.place, &self.url, status, &headers, &body)));
        }
        Err(Trouble::refused(&self.place, &self.url, status, &headers, &body))
    }

    async fn send(&self, prompt: &Prompt<'_>, streams: bool) -> Result<Response, Trouble> {
        let body = wire::request(prompt, &self.place.model, streams);
        let request = self.client.post(self.url.clone()).headers(self.headers.clone()).body(body);
        match tokio::time::timeout(self.place.patience, request.send()).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(Trouble::unsent(&self.url, &error)),
            Err(_) => Err(Trouble::silent(&self.url, self.place.patience)),
        }
    }

    /// Reads an answer, whichever form it has: a server may stream or not, whatever it was asked.
    async fn read(&self, response: Response, said: &mut (dyn FnMut(&str) + Send)) -> Result<Answer, Trouble> {
        let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if !kind.is_some_and(|kind| kind.trim_start().starts_with("text/event-stream")) {
            let body = self.collect(response, MOST_ANSWER).await?;
            // Some servers stream and call it something else.
            let is_stream = body.trim_ascii_start().starts_with(b"data:");
            let answer = if is_stream { assemble::all(&body) } else { wire::whole(&body) };
            let answer = answer.map_err(|why| Trouble::nonsense(&self.url, &why))?;
            if !answer.text.is_empty() {
                said(&answer.text);
            }
            return Ok(answer);
        }
        let mut heard = false;
        let mut hear = |text: &str| {
            heard = true;
            said(text);
        };
        let read = self.stream(response, &mut hear).await;
        read.map_err(|trouble| if heard { trouble.final_one() } else { trouble })
    }

    async fn stream(
        &self,
        mut response: Response,
        said: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Answer, Trouble> {
        let mut events = Events::new(MOST_ANSWER);
        let mut assembly = Assembly::default();
        let nonsense = |why: String| Trouble::nonsense(&self.url, &why);
        while let Some(bytes) = self.chunk(&mut response).await? {
            for event in events.feed(&bytes).map_err(nonsense)? {
                if assembly.take(&event, said).map_err(nonsense)? {
                    return Ok(assembly.answer());
                }
            }
        }
        // Some servers end without the last word.
        if !assembly.is_complete() {
            return Err(Trouble::broken(&self.url, "the stream ended in the middle of an answer"));
        }
        Ok(assembly.answer())
    }

    async fn collect(&self, mut response: Response, most: usize) -> Result<Vec<u8>, Trouble> {
        let mut body = Vec::new();
        while let Some(bytes) = self.chunk(&mut response).await? {
            if body.len() + bytes.len() > most {
                return Err(Trouble::nonsense(&self.url, &format!("its answer is larger than {most} bytes")));
            }
            body.extend_from_slice(&bytes);
        }
        Ok(body)
    }

    async fn chunk(&self, response: &mut Response) -> Result<Option<Bytes>, Trouble> {
        match tokio::time::timeout(self.place.patience, response.chunk()).await {
            Ok(Ok(bytes)) => Ok(bytes),
            Ok(Err(error)) => Err(Trouble::broken(&self.url, &fault::words(&error))),
            Err(_) => Err(Trouble::silent(&self.url, self.place.patience)),
        }
    }
}

impl Model for OpenAi {
    async fn answer(&self, prompt: Prompt<'_>, said: &mut (dyn FnMut(&str) + Send)) -> Result<Answer, Fault> {
        self.try_again(&prompt, said).await
    }
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi").field("place", &self.place).finish_non_exhaustive()
    }
}

/// Installs the one provider of cryptography that TLS uses here.
fn install_tls() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // A host program that installed one before us keeps its own.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

fn address(base: &str) -> Result<Url, Fault> {
    let hint = "write it as http://127.0.0.1:8080/v1 or https://host/v1";
    // A key may stand in an address that is not one, so it is not repeated.
    let mut url = Url::parse(base)
        .map_err(|error| Fault::invalid(format!("--base-url is not a URL: {error}")).hint(hint))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(Fault::invalid("the address of the model is neither http:// nor https://").hint(hint));
    }
    let path = url.path().trim_end_matches('/').to_owned();
    if !path.ends_with("/chat/completions") {
        url.set_path(&format!("{path}/chat/completions"));
    }
    Ok(url)
}

fn client(url: &Url) -> reqwest::Result<Client> {
    let mut builder = Client::builder();
    // One that never speaks TLS needs no certificates, and some machines have none.
    if url.scheme() == "http" {
        builder = builder.tls_certs_only([]);
    }
    // A proxy has no business on this machine, whatever the environment says.
    if is_local(url) {
        builder = builder.no_proxy();
    }
    builder
        .user_agent(concat!("tectum/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT)
        .tcp_nodelay(true)
        .referer(false)
        // A redirect would carry the conversation, and perhaps the key, to somebody else.
        .redirect(redirect::Policy::none())
        .build()
}

fn is_local(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || host.ends_with(".localhost") || address.is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
