//! All native tools inside this process.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use tectum_core::{Gate, Rules, Snapshot, Tectum, security::Allowlist};
use tectum_native::NativeSet;
use tectum_tools::{Settings, catalog};

/// A gate over a directory, and the house of all native tools behind it.
pub(super) fn house(root: &Path) -> Result<(Tectum, Arc<Gate>)> {
    let gate = || anyhow::Ok(Gate::new(Rules::default(), Arc::new(Allowlist::builder().base(root).build()?)));
    let tools = NativeSet::new(catalog(&Settings::default()));
    Ok((Tectum::new(Snapshot::of(&[Arc::new(tools)]), gate()?), Arc::new(gate()?)))
}

pub(super) fn runtime() -> Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?)
}
