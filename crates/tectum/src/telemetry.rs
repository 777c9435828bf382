//! The telemetry of a running house: whether it is wanted, and what it looks at.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Weak},
    time::Duration,
};

use tectum_peers::{
    federation::Federation,
    operation::{Looks, Telemetry},
};

use crate::Config;

/// The time the collector may take for what is left when the house closes.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// The telemetry of a house, if it has any.
#[derive(Clone, Debug, Default)]
pub struct HouseTelemetry(Option<Arc<dyn Telemetry>>);

impl HouseTelemetry {
    /// Starts it, if a collector is named or `scraped` says that Prometheus may ask.
    pub(crate) fn start(config: &Config, scraped: bool) -> Self {
        if let Some(why) = &config.telemetry.held {
            tracing::error!(why, "nothing is sent to the telemetry collector");
        }
        if config.telemetry.endpoint.is_none() && !(scraped && cfg!(feature = "telemetry")) {
            return Self(None);
        }
        Self(started(config, scraped).inspect_err(|why| tracing::error!(why, "there is no telemetry")).ok())
    }

    /// The seam through which requests are measured.
    pub(crate) fn seam(&self) -> Option<Arc<dyn Telemetry>> {
        self.0.clone()
    }

    /// Adds figures about these servers, and about the journal in this folder.
    pub(crate) fn look(&self, federation: &Arc<Federation>, journal: Option<PathBuf>) {
        let Some(telemetry) = &self.0 else { return };
        let federation = Arc::downgrade(federation);
        telemetry.look(Looks {
            servers: Box::new(move || servers(&federation)),
            journal: Box::new(move || journal.as_ref().map_or(0, |folder| size(folder))),
        });
    }

    /// The figures as Prometheus reads them.
    pub(crate) async fn page(&self) -> Option<String> {
        let telemetry = self.0.clone()?;
        // It fails only if it panicked.
        tokio::task::spawn_blocking(move || telemetry.page()).await.ok().flatten()
    }

    /// Sends what is left.
    pub(crate) async fn stop(self) {
        let Some(telemetry) = self.0 else { return };
        let stopping = tokio::task::spawn_blocking(move || telemetry.stop());
        let _ = tokio::time::timeout(LAST_WORDS, stopping).await;
    }
}

/// The servers that somebody needs, each with true if it is connected.
fn servers(federation: &Weak<Federation>) -> Vec<(String, bool)> {
    let Some(federation) = federation.upgrade() else { return Vec::new() };
    let status = federation.status().into_iter();
    let needed = status.filter(|(_, status)| !["idle", "stopped"].contains(&status.state));
    needed.map(|(name, status)| (name, status.state == "ready")).collect()
}

/// The bytes of the files in a folder.
fn size(folder: &Path) -> u64 {
    tectum_state::list(folder).unwrap_or_default().iter().map(|file| file.size).sum()
}

#[cfg(feature = "telemetry")]
fn started(config: &Config, scraped: bool) -> Result<Arc<dyn Telemetry>, String> {
    use tectum_redact::Redactor;
    use tectum_telemetry::{OpenTelemetry, TelemetrySettings};

    let target = &config.telemetry;
    let settings = TelemetrySettings {
        endpoint: target.endpoint.clone(),
        headers: target.headers.clone(),
        sampled: target.sampled,
        content: target.content,
        scraped,
        version: env!("CARGO_PKG_VERSION"),
    };
    // Figures alone hold nothing that a client wrote. Observers may be shown everything; a collector may not.
    let redactor = match &target.endpoint {
        Some(_) => Redactor::new(&config.observers.names, &config.observers.texts)?,
        None => Redactor::none(),
    };
    Ok(Arc::new(OpenTelemetry::start(&settings, redactor)?))
}

#[cfg(not(feature = "telemetry"))]
fn started(_config: &Config, _scraped: bool) -> Result<Arc<dyn Telemetry>, String> {
    Err("this build is without it: build with the feature `telemetry`".to_owned())
}
