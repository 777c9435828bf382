//! The target of telemetry. Nothing is sent unless an address is named, here or in OpenTelemetry's own
//! environment variable.

use std::{collections::BTreeMap, ffi::OsString, path::Path};

use tectum_peers::spec::Secret;

use super::{
    keys,
    merged::{Merged, Setting},
    place::{Origin, Problem},
    servers::{
        entry::Dialect,
        variables::{Scope, fill},
    },
    value::Value,
};

/// The word for an address that is not wanted, whatever the environment says.
const NONE: &str = "none";
/// The variable of OpenTelemetry that names a collector.
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// The collector, and the parts of telemetry that are sent to it.
#[derive(Clone, Debug)]
pub struct TelemetryTarget {
    /// The address of the collector; nothing is sent without one.
    pub endpoint: Option<String>,
    /// The reason why nothing is sent though an address is named.
    pub held: Option<String>,
    /// The headers of what is sent.
    pub headers: BTreeMap<String, Secret>,
    /// The part of the traces that begin here and are sent, from 0 to 1.
    pub sampled: f64,
    /// True if arguments and results are sent, without their secrets.
    pub content: bool,
}

/// The settings in OpenTelemetry's variables. They count less than any setting of ours: other programs set them for
/// themselves and for everything they start. Only OTLP over HTTP is spoken here.
pub(super) fn from_standard_variables(environment: &[(OsString, OsString)]) -> Option<Setting> {
    let get = |name: &str| {
        let found = environment.iter().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.to_str()).map(str::trim).filter(|value| !value.is_empty())
    };
    let disabled = get("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
    let spoken = get("OTEL_EXPORTER_OTLP_PROTOCOL").is_none_or(|protocol| protocol.starts_with("http/"));
    let address = get(ENDPOINT).filter(|address| !disabled && spoken && unfit(address).is_none())?;
    let origin = Origin::Environment(ENDPOINT.to_owned());
    Some(Setting::new(&keys::TELEMETRY_ENDPOINT, Value::Word(address.to_owned()), origin))
}

/// The target as the settings name it.
pub(super) fn target(
    merged: &Merged,
    environment: &[(OsString, OsString)],
    directory: &Path,
    wrong: &mut Vec<Problem>,
) -> TelemetryTarget {
    let mut endpoint = None;
    match merged.get(&keys::TELEMETRY_ENDPOINT) {
        Some(Setting { value: Value::Word(address), origin, .. }) if address != NONE => {
            match unfit(address) {
                None => endpoint = Some(address.clone()),
                Some((why, hint)) => wrong.push(Problem::new(origin.clone(), why).hint(hint)),
            }
        }
        _ => {}
    }
    let environment = environment.iter().cloned().collect();
    let (inputs, described) = (BTreeMap::new(), BTreeMap::new());
    let scope =
        Scope { environment: &environment, directory, home: None, inputs: &inputs, described: &described };
    let (mut headers, mut held) = (BTreeMap::new(), None);
    if let Some(Setting { value: Value::Table(fields), .. }) = merged.get(&keys::TELEMETRY_HEADERS) {
        for (name, item) in fields {
            match fill(&item.text, Dialect::Plain, scope) {
                Ok(value) => drop(headers.insert(name.clone(), Secret::new(value))),
                Err(why) => held = Some(format!("`telemetry.headers.{name}`: {}; {}", why.message, why.hint)),
            }
        }
    }
    // A header that is not known keeps telemetry from starting, and nothing else.
    let held = held.filter(|_| endpoint.is_some());
    let endpoint = endpoint.filter(|_| held.is_none());
    TelemetryTarget {
        endpoint,
        held,
        headers,
        sampled: merged.number(&keys::SAMPLE_PERCENT).unwrap_or(100) as f64 / 100.0,
        content: merged.flag(&keys::TELEMETRY_CONTENT),
    }
}

/// The mistake in an address, and the remedy. It may hold a secret, and settings are shown.
fn unfit(address: &str) -> Option<(&'static str, &'static str)> {
    let alone = "write the URL alone; secrets go into [telemetry.headers]";
    if address.contains('@') {
        return Some((
            "`telemetry.endpoint` has a user name or password before an @; do not keep secrets in settings",
            alone,
        ));
    }
    if address.contains(['?', '#']) {
        let why = "`telemetry.endpoint` has a query or a fragment; do not keep secrets in settings";
        return Some((why, alone));
    }
    let host = address.strip_prefix("http://").or_else(|| address.strip_prefix("https://"));
    let is_url = host.is_some_and(|host| !host.is_empty() && !host.contains(char::is_whitespace));
    (!is_url).then_some((
        "`telemetry.endpoint` is not a URL",
        "write it as http://127.0.0.1:4318, without /v1/traces; \"none\" sends nothing",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(variables: &[(&str, &str)]) -> Option<String> {
        let variables: Vec<(OsString, OsString)> =
            variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
        match from_standard_variables(&variables)?.value {
            Value::Word(address) => Some(address),
            _ => None,
        }
    }

    #[test]
    fn the_standard_variable_counts_where_http_is_meant() {
        let at = (ENDPOINT, "http://127.0.0.1:4318");
        let found = Some("http://127.0.0.1:4318".to_owned());
        assert_eq!(endpoint(&[at]), found);
        assert_eq!(endpoint(&[at, ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")]), found);
        assert_eq!(endpoint(&[]), None);
        assert_eq!(endpoint(&[(ENDPOINT, "")]), None);
        assert_eq!(endpoint(&[at, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]), None);
        assert_eq!(endpoint(&[at, ("OTEL_SDK_DISABLED", "true")]), None);
        assert_eq!(endpoint(&[(ENDPOINT, "http://me:secret@127.0.0.1")]), None);
    }

    #[test]
    fn an_address_is_a_url_alone() {
        for (address, fits) in [
            ("http://127.0.0.1:4318", true),
            ("https://collector.example/otlp", true),
            ("127.0.0.1:4318", false),
            ("grpc://127.0.0.1:4317", false),
            ("http://", false),
            ("http://a b", false),
            ("https://me:secret@collector.example", false),
            ("https://collector.example/?key=secret", false),
        ] {
            assert_eq!(unfit(address).is_none(), fits, "{address}");
        }
    }
}
