//! The byte model: a file is bytes plus facts; text is only a view of it.
//!
//! Matching and showing work on the decoded text. Changing works on bytes: an edit names a
//! range of the text, the same range of bytes is replaced, and every byte outside it is
//! copied, never written again from the text.

mod binary;
mod encoding;
mod facts;
mod file;
mod lines;
mod readable;

pub use binary::NotText;
pub use encoding::Encoding;
pub use facts::{Eol, Facts, Indent, Newline};
pub use file::TextFile;
pub use lines::{Lines, body, split};
pub use readable::check_nul;

/// A short name for exactly this content: the first 16 hex digits of its BLAKE3 hash.
pub fn revision(bytes: &[u8]) -> String {
    let mut hex = blake3::hash(bytes).to_hex().to_string();
    hex.truncate(16);
    hex
}
