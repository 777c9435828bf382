//! The figures: durations of requests, and the state of the house when somebody asks.

use std::{fmt, time::Duration};

use opentelemetry::{
    KeyValue,
    metrics::{Histogram, Meter, MeterProvider as _, UpDownCounter},
};
use opentelemetry_sdk::{Resource, metrics::SdkMeterProvider};
use prometheus::{Registry, TextEncoder};
use tectum_peers::operation::Looks;

use crate::{collector::Collector, names};

/// The figures of a house.
pub(crate) struct Figures {
    provider: SdkMeterProvider,
    registry: Option<Registry>,
    meter: Meter,
    server: Histogram<f64>,
    client: Histogram<f64>,
    active: UpDownCounter<i64>,
}

impl Figures {
    pub(crate) fn new(
        resource: Resource,
        collector: Option<&Collector>,
        scraped: bool,
    ) -> Result<Self, String> {
        let mut provider = SdkMeterProvider::builder().with_resource(resource);
        if let Some(collector) = collector {
            provider = provider.with_periodic_exporter(collector.metrics()?);
        }
        let registry = scraped.then(Registry::new);
        if let Some(registry) = &registry {
            let reader = opentelemetry_prometheus::exporter().with_registry(registry.clone());
            provider =
                provider.with_reader(reader.scope_info_enabled(false).build().map_err(|e| e.to_string())?);
        }
        let provider = provider.build();
        let meter = provider.meter("tectum");
        let durations = |name, of| {
            let histogram = meter.f64_histogram(name).with_unit("s").with_description(of);
            histogram.with_boundaries(names::BOUNDS.to_vec()).build()
        };
        let figures = Self {
            server: durations(names::SERVER_DURATION, "Durations of requests of clients."),
            client: durations(names::CLIENT_DURATION, "Durations of requests to federated servers."),
            active: meter
                .i64_up_down_counter(names::ACTIVE)
                .with_unit("{operation}")
                .with_description("Requests of clients that are being worked on.")
                .build(),
            registry,
            meter,
            provider,
        };
        if let Some(failures) = collector.map(Collector::failures) {
            figures
                .meter
                .u64_observable_counter(names::EXPORTS_FAILED)
                .with_description("Requests to the collector that failed.")
                .with_callback(move |observer| observer.observe(failures(), &[]))
                .build();
        }
        Ok(figures)
    }

    pub(crate) fn provider(&self) -> SdkMeterProvider {
        self.provider.clone()
    }

    pub(crate) fn look(&self, Looks { servers, journal }: Looks) {
        self.meter
            .u64_observable_gauge(names::SERVER_UP)
            .with_description("Whether a federated server is connected: 1 or 0.")
            .with_callback(move |observer| {
                for (name, up) in servers() {
                    observer.observe(up.into(), &[KeyValue::new(names::SERVER, name)]);
                }
            })
            .build();
        self.meter
            .u64_observable_gauge(names::JOURNAL_SIZE)
            .with_unit("By")
            .with_description("Bytes of the journal on the disk.")
            .with_callback(move |observer| observer.observe(journal(), &[]))
            .build();
    }

    /// A request of a client began.
    pub(crate) fn began(&self) {
        self.active.add(1, &[]);
    }

    /// A request of a client ended.
    pub(crate) fn of_client(&self, took: Duration, labels: &[KeyValue]) {
        self.active.add(-1, &[]);
        self.server.record(took.as_secs_f64(), labels);
    }

    /// A request to a server ended.
    pub(crate) fn to_server(&self, took: Duration, labels: &[KeyValue]) {
        self.client.record(took.as_secs_f64(), labels);
    }

    pub(crate) fn page(&self) -> Option<String> {
        let families = self.registry.as_ref()?.gather();
        // Writing text into memory cannot fail.
        Some(TextEncoder::new().encode_to_string(&families).unwrap_or_default())
    }

    pub(crate) fn stop(&self) {
        let _ = self.provider.shutdown();
    }
}

impl fmt::Debug for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Figures").finish_non_exhaustive()
    }
}
