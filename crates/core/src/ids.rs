//! The ids of calls and conversations, and the names of tools.

use std::{
    fmt,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

/// A tool's public name.
pub type ToolName = Arc<str>;

/// The id of one call, unique across processes and restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(u64);

impl CallId {
    /// A new id that no other call has.
    pub fn fresh() -> Self {
        static SEED: OnceLock<u64> = OnceLock::new();
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let seed = *SEED.get_or_init(|| getrandom::u64().unwrap_or_else(|_| u64::from(std::process::id())));
        // A bijection of the counter (splitmix64): unique in this process, spread across others.
        let mut z =
            seed.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Self(z ^ (z >> 31))
    }

    /// Reads the form that [`fmt::Display`] writes.
    pub fn parse(text: &str) -> Option<Self> {
        let hex = text.strip_prefix("c-")?;
        (hex.len() == 16).then(|| u64::from_str_radix(hex, 16).ok()).flatten().map(Self)
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "c-{:016x}", self.0)
    }
}

/// The id of the conversation a call belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SessionId(pub Arc<str>);

impl SessionId {
    /// An id with this name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }
}
