//! The state that all measured requests of a house share.

use std::sync::atomic::AtomicBool;

use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use tectum_redact::Redactor;

use crate::figures::Figures;

/// The telemetry of one house.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) figures: Figures,
    /// True once Prometheus has asked. Until then a request is not measured.
    pub(crate) scraped: AtomicBool,
    /// Spans are made only where there is a collector.
    pub(crate) tracing: Option<Tracing>,
    /// True if arguments and results are sent.
    pub(crate) content: bool,
    pub(crate) redactor: Redactor,
}

/// The maker of spans.
#[derive(Debug)]
pub(crate) struct Tracing {
    pub(crate) provider: SdkTracerProvider,
    pub(crate) tracer: SdkTracer,
}
