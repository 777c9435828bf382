//! The two eras of the protocol: with a handshake, and without.

use rmcp::model::ProtocolVersion;

use super::{
    code,
    rpc::{Meta, text},
};

/// The newest version with a handshake.
pub(crate) const LATEST_LEGACY: &str = "2025-11-25";
/// Every version with a handshake that we speak.
pub(crate) const LEGACY: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", LATEST_LEGACY];
/// The version without one.
pub(crate) const MODERN: &str = "2026-07-28";

/// The way a request wants to be treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// Up to 2025-11-25: initialize, sessions.
    Legacy,
    /// From 2026-07-28: every request carries its own facts.
    Modern,
}

/// The reason why a request's metadata is not acceptable.
#[derive(Debug)]
pub(crate) struct BadMeta {
    pub(crate) code: i32,
    pub(crate) message: String,
    pub(crate) data: Option<String>,
}

impl Era {
    /// The era of a request. `required` says that the transport or the method knows it to be
    /// modern, so that missing facts are an error and not a sign of the older era.
    pub(crate) fn of(meta: Option<&Meta<'_>>, required: bool) -> Result<Self, BadMeta> {
        let version = meta.and_then(|meta| meta.protocol_version);
        if version.is_none() && !required {
            return Ok(Self::Legacy);
        }
        let missing = |what: &str| BadMeta {
            code: code::INVALID_PARAMS,
            message: format!("request _meta needs `io.modelcontextprotocol/{what}`"),
            data: None,
        };
        let version = version.and_then(text).ok_or_else(|| missing("protocolVersion"))?;
        if version != MODERN {
            return Err(unsupported(&version));
        }
        let capabilities = meta.and_then(|meta| meta.client_capabilities);
        match capabilities.map(|raw| raw.get().starts_with('{')) {
            Some(true) => Ok(Self::Modern),
            _ => Err(missing("clientCapabilities")),
        }
    }
}

/// The refusal of a version we do not speak, with those we do.
pub(crate) fn unsupported(requested: &str) -> BadMeta {
    let requested = serde_json::Value::from(requested);
    BadMeta {
        code: code::UNSUPPORTED_VERSION,
        message: "Unsupported protocol version".into(),
        data: Some(format!(r#"{{"supported":["{MODERN}"],"requested":{requested}}}"#)),
    }
}

/// The version a handshake settles on: the client's own where we speak it, else our newest.
pub(crate) fn negotiate(asked: &str) -> &'static str {
    LEGACY.iter().find(|known| **known == asked).copied().unwrap_or(LATEST_LEGACY)
}

/// The SDK's idea of a version, for the messages built with its types.
pub(crate) fn sdk_version(version: &'static str) -> ProtocolVersion {
    serde_json::from_value(version.into()).unwrap_or_default()
}

/// The name under which clients and servers know us.
pub(crate) fn own_info() -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(r#"{{"name":"tectum","title":"Tectum","version":"{version}"}}"#)
}

/// The metadata every modern result carries: our name under the protocol's key.
pub(crate) fn server_meta() -> (&'static str, String) {
    ("io.modelcontextprotocol/serverInfo", own_info())
}

/// Metadata that belongs to one hop and is not passed on.
pub(crate) const OWN_META: &str = "io.modelcontextprotocol/";

/// The member of `_meta` that names the subscription of a message.
pub(crate) const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
