//! What the configuration decides for all tools at once.

use std::path::PathBuf;

use tectum_core::security::Durability;

/// Settings shared by the native tools.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What a successful write promises.
    pub durability: Durability,
    /// A cap on every tool's text, below its own, in bytes.
    pub max_output: Option<usize>,
    /// The largest file an edit or a search takes into memory, in bytes.
    pub max_file: u64,
    /// Where before-images for `undo_edit` are kept; in memory only when unset.
    pub state_dir: Option<PathBuf>,
    /// Threads a search may use.
    pub threads: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            durability: Durability::Full,
            max_output: None,
            max_file: 64 * 1024 * 1024,
            state_dir: None,
            threads: std::thread::available_parallelism().map_or(2, |n| n.get().min(8)),
        }
    }
}
