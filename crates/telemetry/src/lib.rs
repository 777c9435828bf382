//! Telemetry of a house: a span for each request, sent to a collector over OTLP where one is named, and
//! figures for the collector and for Prometheus. Nothing of it delays a request or fails one.

mod collector;
mod figures;
mod measured;
mod names;
mod open_telemetry;
mod shared;

pub use open_telemetry::{OpenTelemetry, TelemetrySettings};
