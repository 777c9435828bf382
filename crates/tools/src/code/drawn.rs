//! Outlines that were drawn lately, kept to be sent again.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::value::RawValue;
use tectum_syntax::Detail;

use super::Only;

/// A small cache of finished outlines. An agent asks for the same few again and again, and drawing
/// one costs far more than sending it.
#[derive(Debug, Default)]
pub(crate) struct OutlineCache(Mutex<Vec<Arc<DrawnOutline>>>);

/// The arguments of an outline; together with the bytes of the file they decide it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OutlineKey {
    pub(super) path: String,
    pub(super) only: Only,
    pub(super) detail: Detail,
    pub(super) room: usize,
    pub(super) from_line: usize,
}

/// A finished outline, and the bytes it is of.
#[derive(Debug)]
pub(super) struct DrawnOutline {
    pub(super) asked: OutlineKey,
    pub(super) bytes: Vec<u8>,
    pub(super) text: String,
    pub(super) output: Arc<RawValue>,
}

impl OutlineCache {
    /// Outlines kept at a time.
    const MOST: usize = 8;
    /// Bytes of the largest file whose outline is kept: the file is kept, too.
    const LARGEST: usize = 1024 * 1024;

    pub(super) fn get(&self, asked: &OutlineKey) -> Option<Arc<DrawnOutline>> {
        let mut drawn = self.0.lock();
        let at = drawn.iter().position(|sheet| sheet.asked == *asked)?;
        let found = drawn.remove(at);
        drawn.push(found.clone());
        Some(found)
    }

    /// Keeps an outline in the place of an older one of the same file.
    pub(super) fn put(&self, sheet: Arc<DrawnOutline>) {
        if sheet.bytes.len() > Self::LARGEST {
            return;
        }
        let mut drawn = self.0.lock();
        drawn.retain(|old| old.asked != sheet.asked);
        if drawn.len() == Self::MOST {
            drawn.remove(0);
        }
        drawn.push(sheet);
    }
}
