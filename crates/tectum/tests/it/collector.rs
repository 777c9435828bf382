//! An OpenTelemetry collector of the tests' own: it takes OTLP over HTTP and keeps what it was told.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

use opentelemetry_proto::tonic::{
    collector::{metrics::v1::ExportMetricsServiceRequest, trace::v1::ExportTraceServiceRequest},
    common::v1::{AnyValue, KeyValue, any_value},
    metrics::v1::{Metric, metric},
    trace::v1::Span,
};
use prost::Message;
use serde_json::{Value, json};

use crate::{federated::until, rig::Rig};

/// The treatment of what it gets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    Answers,
    /// It reads, and never answers.
    Hangs,
}

/// A collector.
pub(crate) struct Collector {
    pub(crate) url: String,
    heard: Arc<Mutex<Heard>>,
}

#[derive(Default)]
struct Heard {
    connections: usize,
    heads: Vec<String>,
    bytes: Vec<u8>,
    service: Vec<KeyValue>,
    spans: Vec<Span>,
    metrics: Vec<Metric>,
    /// Streams that nobody answers are kept, so that they stay open.
    open: Vec<TcpStream>,
}

/// A span, readable.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) name: String,
    pub(crate) kind: i32,
    pub(crate) trace: String,
    pub(crate) id: String,
    pub(crate) parent: String,
    pub(crate) failed: bool,
    pub(crate) attributes: Value,
}

pub(crate) const SERVER: i32 = 2;
pub(crate) const CLIENT: i32 = 3;

impl Collector {
    pub(crate) fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let heard = Arc::<Mutex<Heard>>::default();
        let shared = heard.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let heard = shared.clone();
                heard.lock().expect("whole").connections += 1;
                std::thread::spawn(move || serve(stream, manner, &heard));
            }
        });
        Self { url, heard }
    }

    /// Makes this the collector of a rig, with more of its settings; what is told comes soon.
    pub(crate) fn settings(&self, rig: &mut Rig, more: &str) -> String {
        hurry(rig);
        // A proxy has no business on this machine.
        rig.set("HTTP_PROXY", "http://127.0.0.1:1");
        rig.set("http_proxy", "http://127.0.0.1:1");
        format!("[telemetry]\nendpoint = {}\n{more}\n", json!(self.url))
    }

    pub(crate) fn connections(&self) -> usize {
        self.heard.lock().expect("whole").connections
    }

    /// Everything that was sent, as text.
    pub(crate) fn text(&self) -> String {
        let heard = self.heard.lock().expect("whole");
        heard.heads.join("\n") + &String::from_utf8_lossy(&heard.bytes)
    }

    /// The attributes of the sender.
    pub(crate) fn service(&self) -> Value {
        attributes(&self.heard.lock().expect("whole").service)
    }

    pub(crate) fn spans(&self) -> Vec<Told> {
        self.heard.lock().expect("whole").spans.iter().map(told).collect()
    }

    /// The first span with this name and kind, once it was told of.
    #[track_caller]
    pub(crate) fn span(&self, name: &str, kind: i32) -> Told {
        let find = || self.spans().into_iter().find(|span| span.name == name && span.kind == kind);
        until(&format!("a span {name}"), || find().is_some());
        find().expect("there")
    }

    /// The newest of a metric, once it was told of.
    #[track_caller]
    pub(crate) fn metric(&self, name: &str) -> Metric {
        let find =
            || self.heard.lock().expect("whole").metrics.iter().rev().find(|one| one.name == name).cloned();
        until(&format!("a metric {name}"), || find().is_some());
        find().expect("there")
    }
}

/// Makes the binary send soon.
pub(crate) fn hurry(rig: &mut Rig) {
    rig.set("OTEL_BSP_SCHEDULE_DELAY", "50");
    rig.set("OTEL_METRIC_EXPORT_INTERVAL", "100");
}

/// The points of a histogram: attributes, count, bounds.
pub(crate) fn points(metric: &Metric) -> Vec<(Value, u64, Vec<f64>)> {
    let Some(metric::Data::Histogram(histogram)) = &metric.data else { panic!("no histogram: {metric:?}") };
    let points = histogram.data_points.iter();
    points.map(|point| (attributes(&point.attributes), point.count, point.explicit_bounds.clone())).collect()
}

fn serve(stream: TcpStream, manner: Manner, heard: &Mutex<Heard>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a copy"));
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let start = head.len();
            if reader.read_line(&mut head).unwrap_or(0) == 0 {
                return;
            }
            let line = head[start..].trim().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).expect("a body");
        let mut heard = heard.lock().expect("whole");
        if manner == Manner::Hangs {
            heard.open.push(stream);
            return;
        }
        if head.starts_with("POST /v1/traces ") {
            let request = ExportTraceServiceRequest::decode(&*body).expect("spans");
            for of_resource in request.resource_spans {
                heard.service = of_resource.resource.unwrap_or_default().attributes;
                heard.spans.extend(of_resource.scope_spans.into_iter().flat_map(|scope| scope.spans));
            }
        } else if head.starts_with("POST /v1/metrics ") {
            let request = ExportMetricsServiceRequest::decode(&*body).expect("metrics");
            let scopes = request.resource_metrics.into_iter().flat_map(|resource| resource.scope_metrics);
            heard.metrics.extend(scopes.flat_map(|scope| scope.metrics));
        } else {
            panic!("{head}");
        }
        assert!(head.to_ascii_lowercase().contains("content-type: application/x-protobuf"), "{head}");
        heard.heads.push(head);
        heard.bytes.extend(body);
        drop(heard);
        let answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-protobuf\r\nContent-Length: 0\r\n\r\n";
        if (&stream).write_all(answer).is_err() {
            return;
        }
    }
}

fn told(span: &Span) -> Told {
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    Told {
        name: span.name.clone(),
        kind: span.kind,
        trace: hex(&span.trace_id),
        id: hex(&span.span_id),
        parent: hex(&span.parent_span_id),
        failed: span.status.as_ref().is_some_and(|status| status.code == 2),
        attributes: attributes(&span.attributes),
    }
}

fn attributes(all: &[KeyValue]) -> Value {
    let value = |value: &Option<AnyValue>| match value.as_ref().and_then(|value| value.value.as_ref()) {
        Some(any_value::Value::StringValue(text)) => json!(text),
        other => panic!("{other:?}"),
    };
    let names: std::collections::BTreeSet<&str> = all.iter().map(|one| one.key.as_str()).collect();
    assert_eq!(names.len(), all.len(), "each attribute stands once: {all:?}");
    all.iter().map(|one| (one.key.clone(), value(&one.value))).collect::<serde_json::Map<_, _>>().into()
}
