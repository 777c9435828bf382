//! One file of a question: read once, shown once, and noted as what it was.

use std::{fs::File, sync::Arc};

use tectum_core::{Ctx, ProgressNote, security::Stamp};
use tectum_syntax::Language;

use super::{
    super::languages::{Languages, Only},
    Entry, FileContent, SourceFacts,
    content::Buffer,
    entry::What,
    ledger::Ledger,
};

/// Files between two notes of progress.
const NOTE_EVERY: usize = 2_000;

/// Reads the files of one question.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'q> {
    pub(super) languages: &'q Languages,
    pub(super) ctx: &'q Ctx,
    pub(super) ledger: &'q Arc<Ledger>,
}

/// The file is larger than the question wants to see, which says nothing to other questions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Larger;

impl Reader<'_> {
    /// Shows what was opened to `work`, unless it has more than `most` bytes.
    pub(super) fn look<R>(
        &self,
        entry: &Arc<Entry>,
        opened: Option<(File, Stamp)>,
        buffer: &mut Buffer,
        most: u64,
        work: &impl Fn(&Arc<Entry>, FileContent<'_>) -> Option<R>,
    ) -> Result<Option<R>, Larger> {
        let Some((file, stamp)) = opened else {
            entry.saw(None, What::Unreadable);
            return Ok(None);
        };
        match buffer.read(&file, stamp.size, most.min(self.languages.max_file)) {
            Ok(content) => {
                let found = work(entry, content);
                let binary = found.is_none() && content.is_doubtful() && content.text().is_none();
                entry.saw(Some(stamp), if binary { What::Binary } else { What::Text });
                Ok(found)
            }
            Err(What::TooLarge) if most < self.languages.max_file => Err(Larger),
            Err(what) => {
                entry.saw(Some(stamp), what);
                Ok(None)
            }
        }
    }

    /// The definitions of a file, kept for later questions; nothing where it is no source of the asked
    /// language.
    pub(super) fn facts(
        &self,
        entry: &Arc<Entry>,
        content: FileContent<'_>,
        only: Only,
        count: bool,
    ) -> Option<Arc<SourceFacts>> {
        let text = content.text()?;
        let language = self.language(entry, &text, only)?;
        let stop = || self.is_cancelled();
        let facts = Arc::new(SourceFacts::find(&language, &text, count, self.ledger, &stop).ok()?);
        entry.keep(facts.clone(), self.ledger);
        Some(facts)
    }

    /// Reports progress now and then: `done` files so far, the last `step` of them since the
    /// previous report.
    pub(super) fn note(&self, done: usize, step: usize, total: Option<usize>) {
        if done == 0 || done % NOTE_EVERY >= step || !self.ctx.progress.wanted() {
            return;
        }
        let message = match total {
            Some(total) => format!("looked at {done} of {total} files"),
            None => format!("looked at {done} files"),
        };
        let (done, total) = (done as u64, total.map(|total| total as u64));
        self.ctx.progress.note(ProgressNote { done, total, message });
    }

    /// True if the call was cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.ctx.cancel.is_cancelled()
    }

    /// The language of a file, if it is one that is asked for.
    pub(crate) fn language(&self, entry: &Entry, text: &str, only: Only) -> Option<Arc<Language>> {
        if entry.named.is_none() && !text.starts_with("#!") {
            return None;
        }
        self.languages.find(&entry.path.to_string_lossy(), text, only).ok()
    }
}
