//! `get_ui_performance`: how fast the host's user interface is, or how fast we are.

use std::{fmt::Write as _, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tectum_core::{Card, Ctx, Fault, Reply, Subject, Tool, ToolRole, Wants};

use super::figures::{OwnFigures, Runtime, UiFigures};
use crate::cards::READS;

/// Tells figures.
#[derive(Debug)]
pub struct GetUiPerformance<C> {
    /// The figures of this process.
    pub runtime: Runtime,
    /// Counts the hits and lookups of parsed sources.
    pub cache: C,
}

/// Performance: FPS, Frame Time, CPU, Input Lag of the host UI, or Tectum's own latency.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {}

/// Figures. Those that nobody told are absent.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(default)]
pub struct Output {
    /// Whose they are: of a `host`, or of `Tectum` itself.
    pub source: &'static str,
    /// Frames a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fps: Option<f64>,
    /// Milliseconds of a frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame_time_ms: Option<f64>,
    /// Share of one core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<f64>,
    /// Milliseconds from an input to its frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_lag_ms: Option<f64>,
    /// Calls that ended since the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Calls a second since the last look.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls_per_second: Option<f64>,
    /// Half of all calls took at most this many milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50_ms: Option<f64>,
    /// All but one in a hundred took at most this many milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99_ms: Option<f64>,
    /// Resident memory in megabytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_mb: Option<f64>,
    /// Sources that were parsed before when they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_hits: Option<u64>,
    /// Sources that were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_lookups: Option<u64>,
}

impl<C: Fn() -> (u64, u64) + Send + Sync + 'static> Tool for GetUiPerformance<C> {
    type Args = Args;
    type Output = Output;
    const CARD: Card = Card {
        name: "get_ui_performance",
        title: "UI performance",
        primary: "",
        deadline: Duration::from_secs(10),
        max_output: 16 * 1024,
        role: ToolRole::Alias,
        ..READS
    };

    fn wants(&self, _: &Args) -> Wants {
        Wants { subject: Subject::None, paths: Vec::new() }
    }

    async fn call(&self, _: &Ctx, Args {}: Args) -> Result<Reply<Output>, Fault> {
        Ok(match self.runtime.host() {
            Some(figures) => of_host(figures),
            None => of_ours(&self.runtime.own(), (self.cache)()),
        })
    }
}

impl Runtime {
    /// The figures of a host that tells some, and our own.
    pub fn figures(&self) -> Output {
        // Nobody here knows the sources that were parsed.
        let own = Output { cache_hits: None, cache_lookups: None, ..of_ours(&self.own(), (0, 0)).output };
        let Some(host) = self.host() else { return own };
        let Output { source, fps, frame_time_ms, cpu_percent, input_lag_ms, .. } = of_host(host).output;
        Output { source, fps, frame_time_ms, cpu_percent, input_lag_ms, ..own }
    }
}

fn of_host(figures: UiFigures) -> Reply<Output> {
    let UiFigures { fps, frame_time_ms, cpu_percent, input_lag_ms } = figures;
    let [fps, frame, cpu, lag] =
        [fps, frame_time_ms, cpu_percent, input_lag_ms].map(|one| rounded(one, 10.0));
    let text = format!(
        "Figures of the attached host:\nFPS: {fps:?}\nFrame Time: {frame:?} ms\nCPU: {cpu:?} %\nInput Lag: {lag:?} ms"
    );
    let output = Output {
        source: "host",
        fps: Some(fps),
        frame_time_ms: Some(frame),
        cpu_percent: Some(cpu),
        input_lag_ms: Some(lag),
        ..Output::default()
    };
    Reply::new(text, output)
}

fn of_ours(own: &OwnFigures, (hits, lookups): (u64, u64)) -> Reply<Output> {
    let millis = |time: Duration| rounded(time.as_secs_f64() * 1000.0, 1000.0);
    let (p50, p99) = (millis(own.p50), millis(own.p99));
    let (rate, cpu) = (rounded(own.calls_per_second, 10.0), own.cpu_percent.map(|cpu| rounded(cpu, 10.0)));
    let memory = own.memory_kb.map(|memory| rounded(memory as f64 / 1024.0, 10.0));
    let over = rounded(own.over.as_secs_f64(), 10.0);
    let mut text = format!(
        "No host with a user interface is attached; these are figures of Tectum itself.\n\
         Calls: {} so far, {rate:?} a second over the last {over:?} s\nLatency: p50 {p50:?} ms, p99 {p99:?} ms\n",
        own.calls
    );
    let unknown = "unknown on this system";
    let _ = match cpu {
        Some(cpu) => writeln!(text, "CPU: {cpu:?} % of one core"),
        None => writeln!(text, "CPU: {unknown}"),
    };
    let _ = match memory {
        Some(memory) => writeln!(text, "Memory: {memory:?} MB"),
        None => writeln!(text, "Memory: {unknown}"),
    };
    let _ = write!(text, "Cache hits: {hits} of {lookups} sources");
    let output = Output {
        source: "Tectum",
        calls: Some(own.calls),
        calls_per_second: Some(rate),
        p50_ms: Some(p50),
        p99_ms: Some(p99),
        cpu_percent: cpu,
        memory_mb: memory,
        cache_hits: Some(hits),
        cache_lookups: Some(lookups),
        ..Output::default()
    };
    Reply::new(text, output)
}

/// As text and data both tell it.
fn rounded(value: f64, to: f64) -> f64 {
    (value * to).round() / to
}
