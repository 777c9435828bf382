//! The telemetry of one house, from its start to its end.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use opentelemetry::{KeyValue, trace::TracerProvider as _};
use opentelemetry_sdk::{
    Resource,
    trace::{Sampler, SdkTracerProvider},
};
use tectum_peers::{
    operation::{Looks, Operation, RequestBegun, Telemetry},
    spec::Secret,
};
use tectum_redact::Redactor;

use crate::{
    collector::Collector,
    figures::Figures,
    measured::Measured,
    shared::{Shared, Tracing},
};

/// The settings of telemetry.
#[derive(Debug)]
pub struct TelemetrySettings {
    /// The address of the collector; nothing is sent without one.
    pub endpoint: Option<String>,
    /// The headers of what is sent to it.
    pub headers: BTreeMap<String, Secret>,
    /// The part of the traces that begin here and are sent, from 0 to 1.
    pub sampled: f64,
    /// True if arguments and results are sent, without their secrets.
    pub content: bool,
    /// True if Prometheus may ask for figures.
    pub scraped: bool,
    /// The version of the program.
    pub version: &'static str,
}

/// The telemetry of one house.
#[derive(Debug)]
pub struct OpenTelemetry(Arc<Shared>);

impl OpenTelemetry {
    /// Starts to measure; the error says what is wrong with the settings. Nothing is sent at once.
    pub fn start(settings: &TelemetrySettings, redactor: Redactor) -> Result<Self, String> {
        let service = match std::env::var_os("OTEL_SERVICE_NAME") {
            Some(_) => Resource::builder(),
            None => Resource::builder().with_service_name("tectum"),
        };
        let resource = service.with_attribute(KeyValue::new("service.version", settings.version)).build();
        let collector =
            settings.endpoint.as_ref().map(|endpoint| Collector::new(endpoint, &settings.headers));
        let figures = Figures::new(resource.clone(), collector.as_ref(), settings.scraped)?;
        let tracing = match &collector {
            None => None,
            Some(collector) => {
                // The queue of spans counts there what it drops.
                opentelemetry::global::set_meter_provider(figures.provider());
                let sampler = Sampler::TraceIdRatioBased(settings.sampled);
                let provider = SdkTracerProvider::builder()
                    .with_resource(resource)
                    .with_sampler(Sampler::ParentBased(Box::new(sampler)))
                    .with_batch_exporter(collector.spans()?)
                    .build();
                let tracer = provider.tracer("tectum");
                Some(Tracing { provider, tracer })
            }
        };
        let scraped = AtomicBool::new(false);
        Ok(Self(Arc::new(Shared { figures, scraped, tracing, content: settings.content, redactor })))
    }
}

impl Telemetry for OpenTelemetry {
    fn is_wanted(&self) -> bool {
        self.0.tracing.is_some() || self.0.scraped.load(Ordering::Relaxed)
    }

    fn begin(&self, request: RequestBegun<'_>) -> Arc<dyn Operation> {
        Arc::new(Measured::of_client(&self.0, request))
    }

    fn look(&self, looks: Looks) {
        self.0.figures.look(looks);
    }

    fn page(&self) -> Option<String> {
        self.0.scraped.store(true, Ordering::Relaxed);
        self.0.figures.page()
    }

    fn stop(&self) {
        // A collector that took nothing has been told of.
        if let Some(tracing) = &self.0.tracing {
            let _ = tracing.provider.shutdown();
        }
        self.0.figures.stop();
    }
}
