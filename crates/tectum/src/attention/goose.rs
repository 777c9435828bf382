//! The file that goose reads with every turn. There is no answer from goose, so a line stands in the file until
//! its model calls one of our tools, or for a few minutes.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use tectum_attend::Attention;
use tectum_state::Lasts;

use crate::client_hooks::NewsClient;

/// The file, in the project's state. Where it is not there, goose is told nothing.
pub const GOOSE_FILE: &str = "goose.md";
/// The time that a line stands there.
const STANDS: Duration = Duration::from_secs(300);

/// What stands in the file.
#[derive(Debug, Default)]
pub(super) struct GooseFile {
    file: Option<PathBuf>,
    line: Option<(Instant, u64)>,
}

impl GooseFile {
    pub(super) fn new(folder: Option<PathBuf>) -> Self {
        Self { file: folder.map(|folder| folder.join(GOOSE_FILE)), line: None }
    }

    /// Puts the next line there, once the one before was read.
    pub(super) fn keep(&mut self, attention: &Attention) {
        let Some(file) = &self.file else { return };
        let calls = attention.ledger(|ledger| {
            let goose = ledger.readers().iter().filter(|reader| NewsClient::Goose.is(&reader.client));
            goose.map(|reader| reader.last as u64).max()
        });
        // Without a call nobody knows that goose is there.
        let Some(last) = calls else { return };
        if !exists(file) {
            return;
        }
        if self.line.is_some_and(|(since, before)| last == before && since.elapsed() < STANDS) {
            return;
        }
        let reader = attention.hooked(|client| NewsClient::Goose.is(client), NewsClient::Goose.name(), "");
        let next = attention.tell(&reader, "file", false);
        if next.is_none() && self.line.is_none() {
            return;
        }
        let text = next.as_ref().map(|line| format!("{}\n", line.text())).unwrap_or_default();
        if let Err(error) = tectum_state::replace(file, text.as_bytes(), Lasts::Process) {
            tracing::warn!(%error, file = %file.display(), "the news for goose could not be written");
        }
        self.line = next.map(|_| (Instant::now(), last));
    }
}

#[expect(clippy::disallowed_methods, reason = "a file of our own")]
fn exists(file: &std::path::Path) -> bool {
    std::fs::symlink_metadata(file).is_ok()
}
