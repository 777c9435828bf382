//! The journal: every call, refused ones too, on the disk before its answer is sent.
//!
//! A project's journal is a folder of segments, text files of one record a line ([`line`]). Every
//! process writes to a segment that nobody else writes to ([`segment`]) and everybody reads them all
//! ([`reader`]). Secrets are hidden where an [`Entry`] is made, before it is a line.

mod entry;
mod reader;

pub use entry::{Asked, Client, Ending, Entry, Failure, Gap, HookRequest, Record, Start, Verdict};
pub use reader::{Damage, Line, Piece, Segment, SegmentReader, Verified, entry_at, folder, segments, verify};
