//! The handshake: the first request to a server, with our name and our few capabilities.

use std::path::Path;

use serde_json::{Value, json};

use crate::uri;

/// The parameters of `initialize`.
pub(crate) fn greeting(root: &Path, folders: &Value, options: &Value) -> Value {
    json!({
        "processId": std::process::id(),
        "clientInfo": { "name": "tectum", "version": env!("CARGO_PKG_VERSION") },
        "rootPath": root.to_string_lossy(),
        "rootUri": uri::of_path(root),
        "workspaceFolders": folders,
        "initializationOptions": options,
        "capabilities": {
            "workspace": {
                "configuration": true,
                "workspaceFolders": true,
                "didChangeConfiguration": { "dynamicRegistration": false },
                "didChangeWatchedFiles": { "dynamicRegistration": true },
            },
            "textDocument": {
                "synchronization": { "dynamicRegistration": false },
                "publishDiagnostics": { "versionSupport": true, "relatedInformation": false },
                "diagnostic": { "dynamicRegistration": false, "relatedDocumentSupport": false },
            },
            "window": { "workDoneProgress": true },
        },
    })
}

/// A directory in the protocol's form.
pub(crate) fn folder(root: &Path) -> Value {
    let name = root.file_name().map_or_else(|| "/".into(), |name| name.to_string_lossy());
    json!({ "uri": uri::of_path(root), "name": name })
}
