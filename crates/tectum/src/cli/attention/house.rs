//! The running house that serves this directory.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;
use tectum::{Fault, client::BlockingApiHookClient, state};

use super::super::options::Shared;

/// The time for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The directory that is meant.
pub(super) fn directory(shared: &Shared) -> PathBuf {
    shared.dir.clone().unwrap_or_else(|| PathBuf::from("."))
}

/// The house, if one runs.
pub(super) fn find(directory: &Path) -> Result<BlockingApiHookClient, Fault> {
    let found = BlockingApiHookClient::serving(directory);
    let found = found.map_err(|error| Fault::invalid(format!("no Tectum can be asked: {error}")))?;
    found.ok_or_else(|| {
        let directory = state::canonical(directory).display().to_string();
        Fault::not_found(format!("no Tectum serves {directory}"))
            .hint(format!("start one with: tectum up -C {directory}"))
    })
}

/// What it says.
pub(super) fn get(shared: &Shared, path: &str) -> Result<Value, Fault> {
    find(&directory(shared))?.make_request("GET", path, None, Some(PATIENCE))
}
