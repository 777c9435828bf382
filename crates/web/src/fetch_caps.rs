//! How much of an answer is read.

/// What is read of a page, packed and unpacked: enough for a book of text, and bounded memory for a bomb.
pub(crate) const MOST_BYTES: usize = 5 * 1024 * 1024;
