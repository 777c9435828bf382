//! What stands at the end of a round's last result, where the settings ask for it: files that are
//! not as the model saw them, and the anchors. Over MCP a round ends when a client waits for no
//! further call.

use tectum_core::{Outcome, Tectum};

use super::conversation::Conversation;

/// The texts to add to the result of a call, which still has its place.
pub(super) fn texts(house: &Tectum, from: &Conversation, outcome: &Outcome) -> Vec<String> {
    let closing = house.effects().closing();
    let last = || from.running() <= 1;
    let mut texts = Vec::new();
    if closing.refresh {
        // A file that is read or changed by a call is known to its model from then on. Looking at
        // it blocks for as long as a small file takes to read.
        let gate = house.gate();
        let mut known = from.known_files();
        if outcome.result.is_ok() {
            outcome.paths.iter().for_each(|path| known.track(&gate, path));
        }
        if last() {
            texts.extend(known.changed(&gate));
        }
    }
    if closing.append_anchors && last() {
        texts.extend(house.effects().anchors.rendered());
    }
    texts
}
