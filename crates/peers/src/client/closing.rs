//! The text at the end of a round's last result, where the settings ask for it: files that are not as
//! the model saw them, and anchors that changed. Each is told once. An answer that cannot carry it
//! leaves it to the next one.
//!
//! Over MCP a round ends when a client waits for no further call. Who the model is that saw something
//! is told by the connection, or, where every request stands alone, by its credential and what it says
//! of itself; and by the thread that it names.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};

use parking_lot::Mutex;
use tectum_core::{FaultKind, Outcome, Payload, PeerReply, Tectum};
use tectum_turns::{Refresh, Sight};

use super::Form;
use crate::wire::Members;

/// Models of one connection, or of one listener, whose files are remembered; the one that called least
/// lately makes room.
const MOST_MODELS: usize = 32;
/// The least room that a reply must have left for further texts; with less they wait for the next one.
const LEAST_ROOM: usize = 2_000;

/// The files and anchors that one model has seen, and the number of its calls at work.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    at_work: AtomicUsize,
    told: Mutex<ModelKnows>,
}

#[derive(Debug, Default)]
struct ModelKnows {
    files: Refresh,
    anchors: HashMap<Arc<str>, Arc<str>>,
}

/// The models behind one connection, or behind all requests of a listener.
#[derive(Debug, Default)]
pub(crate) struct Models(Mutex<Vec<(blake3::Hash, Arc<Seen>)>>);

impl Models {
    /// The record of what the model of this name has seen. The name may be long and hold a secret: it
    /// is not kept.
    pub(crate) fn get(&self, name: &str) -> Arc<Seen> {
        let name = blake3::hash(name.as_bytes());
        let mut models = self.0.lock();
        let known = models.iter().position(|(known, _)| *known == name).map(|at| models.remove(at));
        if known.is_none() && models.len() >= MOST_MODELS {
            models.remove(0);
        }
        let (_, seen) = known.unwrap_or((name, Arc::default()));
        models.push((name, seen.clone()));
        seen
    }
}

/// A file that a model knows.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SeenFile {
    /// Its name.
    pub path: String,
    /// True if it may differ from what the model knows.
    pub stale: bool,
    /// The bytes of the text that the model knows; `None` where none is kept.
    pub bytes: Option<usize>,
}

impl Models {
    /// The files that any of them knows. One that is stale for one of them is stale.
    pub(crate) fn known(&self) -> Vec<SeenFile> {
        let all: Vec<Arc<Seen>> = self.0.lock().iter().map(|(_, seen)| seen.clone()).collect();
        let mut known: BTreeMap<String, SeenFile> = BTreeMap::new();
        for seen in all {
            for (path, stale, bytes) in seen.told.lock().files.known() {
                let new = || SeenFile { path: path.to_owned(), stale, bytes };
                let file = known.entry(path.to_owned()).or_insert_with(new);
                file.stale |= stale;
            }
        }
        known.into_values().collect()
    }
}

/// One call of a round.
#[derive(Debug)]
pub(crate) struct Part {
    seen: Arc<Seen>,
    ended: bool,
}

impl Part {
    /// A call of this model begins.
    pub(crate) fn begin(seen: Arc<Seen>) -> Self {
        seen.at_work.fetch_add(1, Ordering::AcqRel);
        Self { seen, ended: false }
    }

    /// The call is over: the texts to add to its answer. More calls may have come already (`ahead`);
    /// what had to wait though a round is over is counted.
    pub(crate) fn close(
        mut self,
        house: &Tectum,
        outcome: &Outcome,
        form: &Form,
        ahead: bool,
        waited: &AtomicU64,
    ) -> Vec<String> {
        let mut told = self.seen.told.lock();
        let closing = house.effects().closing();
        let sight = Sight::now(house);
        if closing.refresh && outcome.result.is_ok() {
            // A file that is read or changed by a call is known to its model from then on. Looking at
            // it blocks for as long as a small file takes to read.
            outcome.paths.iter().for_each(|path| told.files.track(&sight, path));
        }
        if closing.append_anchors {
            told.note_own(house, outcome);
        }
        let others = self.seen.at_work.fetch_sub(1, Ordering::AcqRel) > 1;
        self.ended = true;
        if others || ahead {
            return Vec::new();
        }
        let Some(mut room) = room(outcome, form).filter(|room| *room >= LEAST_ROOM) else {
            let due = closing.refresh && told.files.may_differ()
                || closing.append_anchors && told.has_new_anchors(house);
            waited.fetch_add(u64::from(due), Ordering::Relaxed);
            return Vec::new();
        };
        let mut texts = Vec::new();
        if closing.refresh {
            // The frame around what is told.
            texts.extend(told.files.changed_within(&sight, (room - LEAST_ROOM / 2).min(MOST_OF_FILES)));
            room = room.saturating_sub(texts.iter().map(String::len).sum());
        }
        if closing.append_anchors {
            texts.extend(told.new_anchors(house, room, form.reply / 2));
        }
        texts
    }
}

/// Characters of changed files in one answer, as for a model of our own.
const MOST_OF_FILES: usize = 60_000;

impl Drop for Part {
    fn drop(&mut self) {
        // A call that nobody waits for any more is none of its round.
        if !self.ended {
            self.seen.at_work.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

impl ModelKnows {
    /// Notes what the answer says itself, since that need not be told in it.
    fn note_own(&mut self, house: &Tectum, outcome: &Outcome) {
        let Ok(Payload::Native(reply)) = &outcome.result else { return };
        if outcome.directives.is_empty() {
            return;
        }
        for anchor in house.effects().anchors.all() {
            if reply.text.contains(&*anchor.content) {
                self.anchors.insert(anchor.key, anchor.content);
            }
        }
    }

    fn has_new_anchors(&self, house: &Tectum) -> bool {
        let anchors = house.effects().anchors.all();
        anchors.iter().any(|anchor| self.anchors.get(&anchor.key) != Some(&anchor.content))
    }

    /// The anchors that changed, as far as there is room for them. One that could never be told whole
    /// is cut.
    fn new_anchors(&mut self, house: &Tectum, mut room: usize, longest: usize) -> Option<String> {
        let anchors = &house.effects().anchors;
        let all = anchors.all();
        self.anchors.retain(|key, _| all.iter().any(|anchor| anchor.key == *key));
        let mut texts = Vec::new();
        for anchor in all {
            if self.anchors.get(&anchor.key) == Some(&anchor.content) {
                continue;
            }
            let text = beginning(&anchor.content, longest);
            if text.len() > room {
                continue;
            }
            room -= text.len();
            texts.push(text);
            self.anchors.insert(anchor.key, anchor.content);
        }
        if !texts.is_empty() {
            texts.extend(anchors.made_room());
        }
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }
}

fn beginning(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most);
    format!("{}\n[cut: {} more bytes]", &text[..end], text.len() - end)
}

/// The bytes an answer can still take; `None` where it has no place for texts.
fn room(outcome: &Outcome, form: &Form) -> Option<usize> {
    let taken = match &outcome.result {
        Ok(Payload::Native(reply)) => reply.text.len(),
        Ok(Payload::Peer(PeerReply { json: raw, .. })) => {
            let members = Members::of(raw.get())?;
            let content = members.get("content").is_some_and(|content| content.get().starts_with('['));
            let becomes = !form.data && members.get("structuredContent").is_some();
            (content || becomes).then_some(raw.get().len())?
        }
        Err(fault) if fault.raw.is_some() => return None,
        Err(fault) if matches!(fault.kind, FaultKind::Cancelled | FaultKind::Internal) => return None,
        Err(fault) => fault.text().len(),
    };
    Some(form.reply.saturating_sub(taken))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_that_called_least_lately_makes_room() {
        let models = Models::default();
        let first = models.get("0");
        for name in 1..=MOST_MODELS {
            assert!(Arc::ptr_eq(&first, &models.get("0")));
            models.get(&name.to_string());
        }
        assert!(!Arc::ptr_eq(&models.get("x"), &first) && Arc::ptr_eq(&models.get("0"), &first));
        assert_eq!(models.0.lock().len(), MOST_MODELS);
    }

    #[test]
    fn a_call_that_is_left_alone_holds_up_no_round() {
        let seen: Arc<Seen> = Arc::default();
        let (one, other) = (Part::begin(seen.clone()), Part::begin(seen.clone()));
        drop(one);
        assert_eq!(seen.at_work.load(Ordering::Acquire), 1);
        drop(other);
        assert_eq!(seen.at_work.load(Ordering::Acquire), 0);
    }
}
