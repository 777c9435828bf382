//! One version of one source file, with what was found out about it.

use std::{
    ffi::OsStr,
    path::Path,
    sync::{Arc, OnceLock},
    time::{SystemTime, UNIX_EPOCH},
};

use parking_lot::Mutex;
use tectum_core::security::Stamp;
use tectum_syntax::Language;

use super::{super::languages::Only, SourceFacts, ledger::Ledger};
use crate::files::skipped::Skipped;

/// A file that changed so shortly before it was read may change again within the same tick of
/// its file system's clock, and its stamp would not tell. The coarsest clocks count two seconds.
const SETTLES: i64 = 3;

/// Directories of other people's code, where they are not ignored anyway.
const VENDORED: [&str; 6] =
    ["node_modules", "bower_components", "vendor", "third_party", "site-packages", "venv"];

/// A version of a file. When the file changes, another takes its place.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Its path below the start.
    pub(crate) path: Arc<OsStr>,
    /// Rises with every version made in its tree.
    pub(crate) serial: u64,
    /// The language its name tells; none for a name that leaves it to the first line.
    pub(crate) named: Option<Arc<Language>>,
    seen: OnceLock<FirstLook>,
    facts: Mutex<Option<(Arc<SourceFacts>, u64)>>,
}

/// The findings of the first look at the file.
#[derive(Clone, Copy, Debug)]
struct FirstLook {
    stamp: Option<Stamp>,
    settled: bool,
    as_what: What,
}

/// The kinds that a file can turn out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Text that was searched.
    Text,
    /// No text.
    Binary,
    /// Over the size limit.
    TooLarge,
    /// It could not be opened or read.
    Unreadable,
}

impl Entry {
    pub(super) fn new(path: Arc<OsStr>, serial: u64, named: Option<Arc<Language>>) -> Self {
        Self { path, serial, named, seen: OnceLock::new(), facts: Mutex::default() }
    }

    /// Its path below the start.
    pub(crate) fn path(&self) -> &Path {
        Path::new(&*self.path)
    }

    /// True if it can be in the asked language, by its name.
    pub(crate) fn may_be(&self, only: Only) -> bool {
        match (only, &self.named) {
            (Only::Any | Only::Outlined, _) | (Only::One(_), None) => true,
            (Only::One("c" | "cpp"), _) if self.path.as_encoded_bytes().ends_with(b".h") => true,
            (Only::One(id), Some(language)) => language.pack().id == id,
        }
    }

    /// True if it lies in a directory of other people's code.
    pub(crate) fn is_vendored(&self) -> bool {
        let mut folders = self.path().components().rev().skip(1);
        folders.any(|part| VENDORED.iter().any(|name| part.as_os_str() == *name))
    }

    /// Notes what the file was when it was first read. Later looks do not count: if they saw
    /// something else, the first stamp no longer fits the file.
    pub(super) fn saw(&self, stamp: Option<Stamp>, as_what: What) {
        self.seen.get_or_init(|| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
            let now = i64::try_from(now).unwrap_or(i64::MAX);
            let young = |stamp: Stamp| stamp.written.0.max(stamp.changed.0) > now.saturating_sub(SETTLES);
            FirstLook { stamp, settled: !stamp.is_some_and(young), as_what }
        });
    }

    /// True if it was never read.
    pub(crate) fn is_new(&self) -> bool {
        self.seen.get().is_none()
    }

    /// True if a file with this stamp is still this version, as far as stamps can tell. What
    /// was never read is not known by a stamp.
    pub(super) fn is(&self, stamp: Option<Stamp>) -> bool {
        self.seen.get().is_some_and(|seen| seen.settled && seen.stamp.is_some() && seen.stamp == stamp)
    }

    /// True if the file has other names, through which it can change unseen.
    pub(super) fn is_shared(&self) -> bool {
        self.stamp().is_some_and(|stamp| stamp.links > 1)
    }

    /// True if it could not be read: the reason may have gone without a change of the file.
    pub(super) fn is_unreadable(&self) -> bool {
        self.seen.get().is_some_and(|seen| seen.as_what == What::Unreadable)
    }

    /// The stamp of the first look.
    pub(super) fn stamp(&self) -> Option<Stamp> {
        self.seen.get().and_then(|seen| seen.stamp)
    }

    /// Counts the file among the skipped ones if it was.
    pub(super) fn tally(&self, skipped: &mut Skipped) {
        match self.seen.get().map(|seen| seen.as_what) {
            Some(What::Binary) => skipped.binary += 1,
            Some(What::TooLarge) => skipped.too_large += 1,
            Some(What::Unreadable) => skipped.unreadable += 1,
            Some(What::Text) | None => {
                skipped.too_large +=
                    u64::from(self.facts.lock().as_ref().is_some_and(|(facts, _)| facts.unparsed));
            }
        }
    }

    /// The facts, if they are known.
    pub(super) fn facts(&self, ledger: &Ledger) -> Option<Arc<SourceFacts>> {
        let mut facts = self.facts.lock();
        let (known, used) = facts.as_mut()?;
        *used = ledger.tick();
        Some(known.clone())
    }

    /// Keeps facts.
    pub(super) fn keep(&self, facts: Arc<SourceFacts>, ledger: &Ledger) {
        *self.facts.lock() = Some((facts, ledger.tick()));
    }

    /// Drops the facts.
    pub(super) fn forget(&self) {
        *self.facts.lock() = None;
    }

    /// When its facts were last used, and their weight.
    pub(super) fn used(&self) -> Option<(u64, usize)> {
        self.facts.lock().as_ref().map(|(facts, used)| (*used, facts.weight()))
    }
}
