//! News of a running house: which there are, who is told of which, and who has seen it. Each model is told
//! of a piece of news once, with its id; the next call of the same model shows that it arrived.
//!
//! What is news is decided by `tectum_attention`; this crate keeps its workspace behind a lock, with a
//! ledger of readers beside it that the thread of a reply can look into without waiting for a tick.

mod attention;
mod ledger;
mod line;
mod reader;
mod saved;
mod shown;

pub use attention::{Attention, Moment, UnknownOrgan};
pub use ledger::{Ledger, Telling, Told};
pub use line::Line;
pub use reader::{Audience, Reader, ReaderKey};
pub use saved::Saved;

/// The tool that answers with the news there are, and adds none of its own to its answer.
pub const GET_ATTENTION: &str = "get_attention";
/// The tool that pins and mutes organs.
pub const FOCUS_ATTENTION: &str = "focus_attention";
