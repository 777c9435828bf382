//! The collector: what is sent to it, and what people hear when it does not answer.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{MetricExporter, Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use reqwest::{Url, blocking::Client, redirect::Policy};
use tectum_peers::{is_local, spec::Secret};

/// The time it may take to answer. Only the thread that sends waits for that.
const PATIENCE: Duration = Duration::from_secs(5);

/// A collector that takes OTLP over HTTP, as protocol buffers.
#[derive(Debug)]
pub(crate) struct Collector {
    endpoint: String,
    headers: BTreeMap<String, Secret>,
    door: Arc<Door>,
}

impl Collector {
    pub(crate) fn new(endpoint: &str, headers: &BTreeMap<String, Secret>) -> Self {
        let endpoint = endpoint.trim_end_matches('/').to_owned();
        let door = Door { at: endpoint.clone(), ..Door::default() };
        Self { endpoint, headers: headers.clone(), door: Arc::new(door) }
    }

    /// Sends spans.
    pub(crate) fn spans(&self) -> Result<SpanExporter, String> {
        self.set_up(SpanExporter::builder().with_http(), "traces").build().map_err(|error| error.to_string())
    }

    /// Sends figures.
    pub(crate) fn metrics(&self) -> Result<MetricExporter, String> {
        let exporter = self.set_up(MetricExporter::builder().with_http(), "metrics");
        exporter.build().map_err(|error| error.to_string())
    }

    /// The number of requests to it that failed.
    pub(crate) fn failures(&self) -> impl Fn() -> u64 + Send + Sync + 'static {
        let door = self.door.clone();
        move || door.failed.load(Ordering::Relaxed)
    }

    fn set_up<B: WithExportConfig + WithHttpConfig>(&self, exporter: B, signal: &str) -> B {
        let headers = self.headers.iter().map(|(name, value)| (name.clone(), value.reveal().to_owned()));
        exporter
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(format!("{}/v1/{signal}", self.endpoint))
            .with_timeout(PATIENCE)
            .with_headers(headers.collect())
            .with_shared_http_client(self.door.clone())
    }
}

/// The way to a collector.
#[derive(Debug, Default)]
struct Door {
    at: String,
    /// Made by the first thread that sends: reading the system's certificates takes a while.
    client: OnceLock<Client>,
    failed: AtomicU64,
    /// True while it does not answer as it should, which is told once.
    down: AtomicBool,
}

#[async_trait]
impl HttpClient for Door {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let sent = match self.client() {
            Ok(client) => client.send_bytes(request).await,
            Err(error) => Err(error.into()),
        };
        match &sent {
            Ok(response) if response.status().is_success() => {
                if self.down.swap(false, Ordering::Relaxed) {
                    tracing::warn!(at = self.at, "the telemetry collector answers again");
                }
            }
            Ok(response) => self.failed(&response.status().to_string()),
            Err(error) => self.failed(&words(&**error)),
        }
        sent
    }
}

impl Door {
    fn client(&self) -> Result<&Client, reqwest::Error> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        // It fails where another part of the program was first.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder();
        // One that never speaks TLS needs no certificates, and some machines have none.
        if self.at.starts_with("http:") {
            builder = builder.tls_certs_only([]);
        }
        // A proxy has no business on this machine, whatever the environment says.
        if Url::parse(&self.at).is_ok_and(|url| is_local(&url)) {
            builder = builder.no_proxy();
        }
        // Headers with a secret go where they were meant to, and nowhere else.
        builder = builder.redirect(Policy::none()).timeout(PATIENCE).connect_timeout(PATIENCE);
        let client = builder.user_agent(concat!("tectum/", env!("CARGO_PKG_VERSION"))).build()?;
        Ok(self.client.get_or_init(|| client))
    }

    fn failed(&self, why: &str) {
        self.failed.fetch_add(1, Ordering::Relaxed);
        if !self.down.swap(true, Ordering::Relaxed) {
            let why = tectum_redact::text(why);
            tracing::warn!(at = self.at, %why, "the telemetry collector takes nothing; calls go on without it");
        }
    }
}

/// An error with what caused it.
fn words(error: &(dyn std::error::Error + 'static)) -> String {
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        words = format!("{words}: {cause}");
        source = cause.source();
    }
    words
}
