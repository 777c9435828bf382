//! Every native tool, once.

use tectum_core::NativeTool;

use crate::Settings;

/// The native tools, in the order clients see them.
pub fn catalog(_settings: &Settings) -> Vec<NativeTool> {
    Vec::new()
}
