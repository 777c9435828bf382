//! Replies that were cut: what stands first and last in them, and the room it takes.

/// Bytes kept free for what stands around a page.
const NOTES: usize = 512;

/// The bytes of a reply that are for what was asked, when notes may stand around it.
pub(crate) fn room(most: usize) -> usize {
    most.saturating_sub(NOTES.min(most / 4))
}

/// A page that was cut: that more follows stands before it and after it, since some clients show a
/// model only one end of a long reply.
pub(crate) fn framed(note: &str, page: &str) -> String {
    let end = if page.is_empty() || page.ends_with('\n') { "" } else { "\n" };
    format!("[{note}]\n{page}{end}[{note}]")
}
