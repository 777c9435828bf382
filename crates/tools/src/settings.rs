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
    pub threads: Threads,
    /// The tiers that work can be handed over to; without any there is no `handoff`.
    pub tiers: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            durability: Durability::Full,
            max_output: None,
            max_file: 64 * 1024 * 1024,
            state_dir: None,
            threads: Threads::default(),
            tiers: Vec::new(),
        }
    }
}

/// How many threads a search may use: as many as said, else one for each core, at most eight.
#[derive(Clone, Copy, Debug, Default)]
pub struct Threads(pub Option<usize>);

impl Threads {
    /// The number. Cores are counted when a search starts, not when the server does: the
    /// system takes its time to answer.
    pub fn count(self) -> usize {
        const MOST: usize = 8;
        self.0
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(2, |cores| cores.get().min(MOST)))
    }
}
