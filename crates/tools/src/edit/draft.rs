//! One file of a batch while its edits are made: nothing is written yet.

use tectum_core::Fault;

use super::{
    diff, matching,
    pen::{idle, missing},
    search::{Count, EditSearch},
};
use crate::text::{NotText, TextFile, check_nul, revision};

/// A file on its way from what it was to what it shall be.
#[derive(Debug)]
pub(super) struct EditDraft {
    pub(super) name: String,
    /// Edits made so far.
    pub(super) edits: usize,
    before: Option<Result<TextFile, NotText>>,
    now: Option<TextFile>,
    /// After an edit failed, later ones would fail for its sake only.
    failed: bool,
}

impl EditDraft {
    pub(super) fn new(name: String, current: Option<&[u8]>) -> Self {
        let before = current.map(|bytes| TextFile::decode(bytes.to_vec()));
        let now = before.as_ref().and_then(|file| file.as_ref().ok().cloned());
        Self { name, edits: 0, before, now, failed: false }
    }

    /// Makes one edit on what the edits before it left.
    pub(super) fn apply(&mut self, old: &str, new: &str, replace_all: bool) -> Result<(), Fault> {
        let outcome = self.next(old, new, replace_all);
        match outcome {
            Ok(after) => {
                self.now = Some(after);
                self.edits += 1;
                Ok(())
            }
            Err(fault) => {
                let after_failure = std::mem::replace(&mut self.failed, true);
                Err(if after_failure { follows_failure(fault) } else { fault })
            }
        }
    }

    fn next(&self, old: &str, new: &str, replace_all: bool) -> Result<TextFile, Fault> {
        if let Some(Err(not_text)) = &self.before {
            return Err(not_text.fault(&self.name));
        }
        let empty = self.now.as_ref().is_none_or(|file| file.text().is_empty());
        match &self.now {
            None if old.is_empty() => self.created(new),
            None => Err(missing(&self.name)),
            Some(file) if old.is_empty() && empty => file.edited(&[(0..0, new.to_owned())]),
            Some(_) if old.is_empty() => Err(Fault::conflict(format!(
                "{} already exists, and an empty old_string only makes new files",
                self.name
            ))
            .hint("quote the text to replace")),
            Some(file) => {
                let search = EditSearch { old, new, count: Count::new(replace_all, None) };
                let found = matching::find(&self.name, file, &search)?;
                let after = file.edited(&found.edits)?;
                if after.bytes() == file.bytes() { Err(idle(&self.name)) } else { Ok(after) }
            }
        }
    }

    fn created(&self, content: &str) -> Result<TextFile, Fault> {
        check_nul(content)?;
        TextFile::decode(content.into()).map_err(|not_text| not_text.fault(&self.name))
    }

    /// Refuses edits that took each other back, and those that together leave no readable text.
    pub(super) fn check(&self) -> Result<(), Fault> {
        match (&self.before, &self.now) {
            (Some(Ok(before)), Some(now)) if !self.failed && before.bytes() == now.bytes() => {
                Err(idle(&self.name))
            }
            (_, Some(now)) if !self.failed => now.check_reads_again(),
            _ => Ok(()),
        }
    }

    pub(super) fn is_new(&self) -> bool {
        self.before.is_none()
    }

    pub(super) fn revision_before(&self) -> String {
        match &self.before {
            Some(Ok(file)) => revision(file.bytes()),
            _ => String::new(),
        }
    }

    pub(super) fn diff(&self, limit: diff::Limit) -> String {
        let before = match &self.before {
            Some(Ok(file)) => file.text(),
            _ => "",
        };
        diff::unified(&self.name, before, self.now.as_ref().map_or("", TextFile::text), limit)
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.now.map(TextFile::into_bytes).unwrap_or_default()
    }
}

fn follows_failure(mut fault: Fault) -> Fault {
    fault.message.push_str(" (an earlier edit of this file failed, which may be why)");
    fault
}
