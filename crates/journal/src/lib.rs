//! The journal: every call, refused ones too, on the disk before its answer is sent.
//!
//! A project's journal is a folder of segments, text files with one record a line ([`line`]). Every
//! process appends to a segment that nobody else writes to ([`segment`]), and everybody reads all of
//! them ([`reader`]). Secrets are hidden while a call becomes a line ([`making`]).

mod entry;
mod history;
pub mod index;
mod line;
mod making;
mod reader;
pub mod report;
mod seed;
mod segment;
mod syncer;
mod twice;
pub mod when;
mod writer;

pub use entry::{Asked, Client, Ending, Entry, Failure, Gap, HookRequest, Record, Start, Verdict};
pub use history::History;
pub use making::tokens;
pub use reader::{Damage, Line, Piece, Segment, SegmentReader, Verified, entry_at, folder, segments, verify};
pub use syncer::SyncPolicy;
pub use writer::{Settings, Writer};

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test works on its own files")]
mod tests;
