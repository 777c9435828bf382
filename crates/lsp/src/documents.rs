//! The texts a server knows from us, and what it said about which version of each.
//!
//! Only what is being asked about is open. Everything else a server reads from the disk, so that it
//! never sees a text of ours that somebody changed since.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};
use tokio::time::Instant;

use crate::{
    message::notification,
    report::{Given, Report},
    spec::Asked,
    uri,
};

/// Files that a server is told of at once; more of them change only with a branch.
const MOST_CHANGED: usize = 1000;

/// The open documents of one server.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    open: HashMap<PathBuf, Document>,
    /// Rises with every text that is sent, of whichever document.
    version: i64,
    /// Whether this server says which version it speaks of.
    names_versions: bool,
}

#[derive(Debug)]
struct Document {
    version: i64,
    content: blake3::Hash,
    /// What was said since this version was sent.
    said: Option<Said>,
    /// Questions that wait for it.
    waiting: usize,
}

#[derive(Debug)]
struct Said {
    version: Option<i64>,
    report: Report,
    at: Instant,
}

/// What is known about a version.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// This, for good.
    Final(Report),
    /// Something without a version, which counts if nothing else comes until then.
    Unless(Instant),
    /// Nothing.
    Nothing,
}

impl Documents {
    /// Makes a text the one the server knows, and gives the version to wait for and the messages
    /// that do it. With `pulled`, the server is asked for each answer, so an unchanged text need
    /// not be sent again to get a new one.
    pub(crate) fn bring(&mut self, asked: &Asked, changed: &[PathBuf], pulled: bool) -> (i64, Vec<Vec<u8>>) {
        let mut messages = self.close_others(&asked.path);
        messages.extend(changes(changed.iter().filter(|path| **path != asked.path)));
        let content = blake3::hash(asked.text.as_bytes());
        let again = self.names_versions;
        match self.open.get_mut(&asked.path) {
            // Somebody waits for the same text right now, or an answer to it is still to come.
            Some(document)
                if document.content == content
                    && (pulled || document.said.is_none() || document.waiting > 0) =>
            {
                document.waiting += 1;
                return (document.version, messages);
            }
            // Some servers do not look again at a text that stays the same, though what it
            // depends on may have changed. Closing it makes them.
            Some(document) if document.content == content && again => {
                messages.push(self.close(&asked.path));
            }
            _ => {}
        }
        self.version += 1;
        let version = self.version;
        let uri = uri::of_path(&asked.path);
        if let Some(document) = self.open.get_mut(&asked.path) {
            (document.version, document.content, document.said) = (version, content, None);
            document.waiting += 1;
            let params = json!({
                "textDocument": { "uri": uri, "version": version },
                "contentChanges": [{ "text": &*asked.text }],
            });
            messages.push(notification("textDocument/didChange", &params));
        } else {
            let document = Document { version, content, said: None, waiting: 1 };
            self.open.insert(asked.path.clone(), document);
            let params = json!({ "textDocument": {
                "uri": uri, "languageId": asked.language, "version": version, "text": &*asked.text,
            } });
            messages.push(notification("textDocument/didOpen", &params));
        }
        (version, messages)
    }

    /// Closes a document of a server that names no versions, before it is asked about again. Such a
    /// server may say nothing where nothing changed, and what it says would not tell which text it
    /// is about; about a document that was just opened it always speaks.
    pub(crate) fn close_unversioned(&mut self, path: &Path) -> Option<Vec<u8>> {
        let spoke = |document: &Document| document.said.is_some() && document.waiting == 0;
        let anew = !self.names_versions && self.open.get(path).is_some_and(spoke);
        anew.then(|| self.close(path))
    }

    /// A question waits no more.
    pub(crate) fn leave(&mut self, path: &Path) {
        if let Some(document) = self.open.get_mut(path) {
            document.waiting = document.waiting.saturating_sub(1);
        }
    }

    /// How many questions wait.
    pub(crate) fn waiting(&self) -> usize {
        self.open.values().map(|document| document.waiting).sum()
    }

    /// Takes what a server says unasked. About documents that are not open nothing is kept.
    pub(crate) fn published(&mut self, params: &RawValue) -> Result<(), serde_json::Error> {
        #[derive(Deserialize)]
        struct Published<'p> {
            uri: String,
            version: Option<i64>,
            #[serde(borrow)]
            diagnostics: &'p RawValue,
        }
        let Published { uri, version, diagnostics } = serde_json::from_str(params.get())?;
        self.names_versions |= version.is_some();
        let Some(document) = uri::to_path(&uri).and_then(|path| self.open.get_mut(&path)) else {
            return Ok(());
        };
        if version.is_some_and(|version| version < document.version)
            || version.is_none() && self.names_versions
        {
            return Ok(());
        }
        let given: Vec<Given> = serde_json::from_str(diagnostics.get())?;
        document.said = Some(Said { version, report: Report::of(given), at: Instant::now() });
        Ok(())
    }

    /// What is known about this version of a document, or a later one.
    pub(crate) fn known(&self, path: &Path, version: i64, settle: Duration) -> Known {
        let Some(document) = self.open.get(path) else { return Known::Nothing };
        match &document.said {
            Some(Said { version: Some(said), report, .. }) if *said >= version => {
                Known::Final(report.clone())
            }
            Some(Said { version: None, report, at }) => {
                let until = *at + settle;
                if Instant::now() >= until { Known::Final(report.clone()) } else { Known::Unless(until) }
            }
            _ => Known::Nothing,
        }
    }

    fn close_others(&mut self, but: &Path) -> Vec<Vec<u8>> {
        let idle = |(path, document): (&PathBuf, &Document)| {
            (document.waiting == 0 && path != but).then(|| path.clone())
        };
        let others: Vec<PathBuf> = self.open.iter().filter_map(idle).collect();
        others.iter().map(|path| self.close(path)).collect()
    }

    fn close(&mut self, path: &Path) -> Vec<u8> {
        self.open.remove(path);
        notification("textDocument/didClose", &json!({ "textDocument": { "uri": uri::of_path(path) } }))
    }
}

/// Tells of files that may have changed on the disk.
fn changes<'c>(paths: impl Iterator<Item = &'c PathBuf>) -> Option<Vec<u8>> {
    /// The protocol's number for a file that was changed.
    const CHANGED: u8 = 2;
    let events: Vec<Value> =
        paths.take(MOST_CHANGED).map(|path| json!({ "uri": uri::of_path(path), "type": CHANGED })).collect();
    (!events.is_empty())
        .then(|| notification("workspace/didChangeWatchedFiles", &json!({ "changes": events })))
}

#[cfg(test)]
#[path = "documents_tests.rs"]
mod tests;
