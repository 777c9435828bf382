//! What stands at the end of a round's last result, where the settings ask for it: files that are
//! not as the model saw them, and the anchors. Over MCP a round ends when a client waits for no
//! further call.

use tectum_core::{Outcome, Tectum};

use super::conversation::Conversation;

/// The texts to add to a call's result. `others` calls of its client are still running.
pub(super) fn texts(house: &Tectum, from: &Conversation, outcome: &Outcome, others: usize) -> Vec<String> {
    let closing = house.effects().closing();
    let mut texts = Vec::new();
    if closing.refresh {
        // A file that is read or changed by a call is known to its model from then on. Looking at
        // it blocks for as long as a small file takes to read.
        let gate = house.gate();
        let mut known = from.known_files();
        if outcome.result.is_ok() {
            outcome.paths.iter().for_each(|path| known.track(&gate, path));
        }
        if others == 0 {
            texts.extend(known.changed(&gate));
        }
    }
    if closing.append_anchors && others == 0 {
        texts.extend(house.effects().anchors.rendered());
    }
    texts
}
