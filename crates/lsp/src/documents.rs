//! The texts that we sent to a server, and its diagnostics for each version of them.
//!
//! Only documents with a pending question are open. A server reads all others from the disk, so it
//! never sees an outdated text from us.

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

/// The most changed files in one notification; only a switch of branches changes more.
const MOST_CHANGED: usize = 1000;

/// The open documents of one server.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    open: HashMap<PathBuf, Document>,
    /// The version counter, which rises with every text that is sent, of whichever document.
    version: i64,
    /// True if this server names the version in its diagnostics.
    names_versions: bool,
}

#[derive(Debug)]
struct Document {
    version: i64,
    content: blake3::Hash,
    /// The diagnostics since this version was sent.
    said: Option<Said>,
    /// The number of questions that wait for it.
    waiting: usize,
}

#[derive(Debug)]
struct Said {
    version: Option<i64>,
    report: Report,
    at: Instant,
}

/// The diagnostics that are known for a version.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// The final diagnostics.
    Final(Report),
    /// Diagnostics without a version, which become final if no others come until then.
    Unless(Instant),
    /// No diagnostics yet.
    Nothing,
}

impl Documents {
    /// Sends a text to the server: returns the version to wait for and the messages to send. With
    /// `pulled`, the server answers each request, so an unchanged text need not be sent again to get a
    /// new answer.
    pub(crate) fn bring(&mut self, asked: &Asked, changed: &[PathBuf], pulled: bool) -> (i64, Vec<Vec<u8>>) {
        let mut messages = self.close_others(&asked.path);
        messages.extend(changes(changed.iter().filter(|path| **path != asked.path)));
        let content = blake3::hash(asked.text.as_bytes());
        let again = self.names_versions;
        match self.open.get_mut(&asked.path) {
            // Another question waits for the same text, or its answer is still to come.
            Some(document)
                if document.content == content
                    && (pulled || document.said.is_none() || document.waiting > 0) =>
            {
                document.waiting += 1;
                return (document.version, messages);
            }
            // Some servers do not check an unchanged text again, though what it depends on may have
            // changed. Closing it makes them.
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

    /// Closes a document of a server that names no versions, before the next question about it. Such a
    /// server may send nothing if nothing changed, and its diagnostics would not tell which text they
    /// are about; for a document that was just opened it always sends some.
    pub(crate) fn close_unversioned(&mut self, path: &Path) -> Option<Vec<u8>> {
        let spoke = |document: &Document| document.said.is_some() && document.waiting == 0;
        let anew = !self.names_versions && self.open.get(path).is_some_and(spoke);
        anew.then(|| self.close(path))
    }

    /// Ends the wait of one question.
    pub(crate) fn leave(&mut self, path: &Path) {
        if let Some(document) = self.open.get_mut(path) {
            document.waiting = document.waiting.saturating_sub(1);
        }
    }

    /// The number of questions that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.open.values().map(|document| document.waiting).sum()
    }

    /// Stores the diagnostics that a server publishes. Those for documents that are not open are dropped.
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

    /// The diagnostics for this version of a document, or a later one.
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

/// The notification about files that may have changed on the disk.
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
