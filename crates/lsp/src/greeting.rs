//! The first request to a server: who we are and the little we can do.

use std::path::Path;

use serde_json::{Value, json};

use crate::uri;

/// What `initialize` is asked with.
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

/// A directory, as the protocol writes it.
pub(crate) fn folder(root: &Path) -> Value {
    let name = root.file_name().map_or_else(|| "/".into(), |name| name.to_string_lossy());
    json!({ "uri": uri::of_path(root), "name": name })
}
