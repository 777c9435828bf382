//! The cost of a text to a model, as far as its length shows.

/// Bytes per token, as a rule of thumb for English and JSON.
const BYTES_PER_TOKEN: usize = 4;

/// About how many tokens a text of this many bytes has.
pub(super) fn estimate(bytes: usize) -> usize {
    bytes.div_ceil(BYTES_PER_TOKEN)
}
