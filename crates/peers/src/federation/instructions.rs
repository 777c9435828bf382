//! The instructions of servers for models, as part of our own. They are taken from what was last known
//! of each server: nobody is waited for to say hello.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use tectum_state::Lasts;

use super::Peers;
use crate::{peer::Approvals, visible::visible};

/// Bytes of one server's instructions that are passed on beside those of others: enough for
/// what most servers write, and no server takes the room of all.
const MOST_OF_ONE: usize = 1024;
/// Bytes of all of them together with our own: clients cut what is longer.
const MOST: usize = 4096;
/// The part of that for a word on those that are left out.
const LAST_WORD: usize = 96;

/// The instructions of one server.
struct Said<'a> {
    name: &'a str,
    prefix: bool,
    text: &'a str,
}

/// The instructions of all servers.
pub(super) struct Instructions {
    approvals: Arc<Approvals>,
    /// A file that is there while some server says something of itself.
    word: Option<PathBuf>,
}

impl Instructions {
    pub(super) fn new(state: Option<&Path>, approvals: Arc<Approvals>) -> Self {
        Self { approvals, word: state.map(|state| state.join("instructions.json")) }
    }

    /// False when no server said anything of itself when it was last known: then nobody has to find
    /// out which servers there are.
    pub(super) fn may_be(&self) -> bool {
        self.word.as_ref().is_some_and(|word| word.exists())
    }

    /// The instructions for clients: our own where there are any, and the servers'.
    pub(super) fn text(&self, own: Option<&str>, peers: &Peers) -> Option<String> {
        let offers: Vec<_> = peers.values().map(|peer| (peer, peer.offer())).collect();
        let said = offers.iter().filter_map(|(peer, offer)| {
            if self.approvals.standing(&peer.spec, offer).withholds_instructions() {
                return None;
            }
            let text = offer.instructions.as_deref().map(str::trim).filter(|text| !text.is_empty())?;
            Some(Said { name: peer.spec.name.as_str(), prefix: peer.spec.prefix, text })
        });
        composed(own, peers.len() == 1, &said.collect::<Vec<_>>())
    }

    /// Leaves word for the next start whether any server says something of itself.
    pub(super) fn keep_word(&self, peers: &Peers) {
        let Some(word) = self.word.clone() else { return };
        let says = |text: &String| !text.trim().is_empty();
        let any = peers.values().any(|peer| peer.offer().instructions.as_ref().is_some_and(says));
        if word.exists() == any {
            return;
        }
        self.approvals.writer.submit(&word.clone(), move || {
            if let Err(error) = keep_word(&word, any) {
                tracing::debug!(%error, "whether servers say something of themselves could not be kept");
            }
        });
    }
}

fn keep_word(word: &Path, any: bool) -> std::io::Result<()> {
    if any {
        tectum_state::replace(word, b"true", Lasts::Process)
    } else {
        tectum_state::remove(word).map(drop)
    }
}

/// One server that stands for all there is speaks for itself, and whole. Otherwise each has a
/// section, its lines marked as its own so that none can speak for another or for us.
fn composed(own: Option<&str>, alone: bool, said: &[Said<'_>]) -> Option<String> {
    if let (None, true, [Said { prefix: false, text, .. }]) = (own, alone, said) {
        return Some(visible(text).into_owned());
    }
    let mut sections = String::new();
    let mut left_out = 0;
    let room = MOST.saturating_sub(own.map_or(0, str::len) + LAST_WORD);
    for Said { name, prefix, text } in said {
        let tools = if *prefix { format!(" (its tools begin with {name}__)") } else { String::new() };
        let section = format!("\n\nThe server {name} says of itself{tools}:\n{}", quoted(text));
        if sections.len() + section.len() <= room {
            sections.push_str(&section);
        } else {
            left_out += 1;
        }
    }
    if left_out > 0 {
        let _ =
            write!(sections, "\n\n({left_out} more servers say something of themselves; it is left out.)");
    }
    let all = format!("{}{sections}", own.unwrap_or_default());
    Some(all.trim_start().to_owned()).filter(|all| !all.is_empty())
}

/// A text within its bound, each line marked.
fn quoted(text: &str) -> String {
    let shown = visible(text);
    let end = shown.floor_char_boundary(MOST_OF_ONE);
    let mut quoted: String = shown[..end].lines().fold(String::new(), |all, line| all + "> " + line + "\n");
    if end < shown.len() {
        let _ = write!(quoted, "(cut: the first {end} of {} bytes)", shown.len());
    } else {
        quoted.pop();
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said<'a>(name: &'a str, prefix: bool, text: &'a str) -> Said<'a> {
        Said { name, prefix, text }
    }

    #[test]
    fn each_server_speaks_for_itself_only() {
        let two = [said("a", true, "One.\nTwo."), said("b", false, "Hidden\u{202e}.")];
        let expect = "Ours.\n\nThe server a says of itself (its tools begin with a__):\n> One.\n> Two.\n\n\
            The server b says of itself:\n> Hidden\\u{202e}.";
        assert_eq!(composed(Some("Ours."), false, &two).as_deref(), Some(expect));
        assert_eq!(composed(None, false, &two).as_deref(), expect.strip_prefix("Ours.\n\n"));
        assert_eq!(composed(None, true, &[]), None);
        assert_eq!(composed(Some("Ours."), true, &[]).as_deref(), Some("Ours."));
    }

    #[test]
    fn one_that_stands_for_all_is_passed_whole() {
        let long = "ä".repeat(MOST);
        assert_eq!(composed(None, true, &[said("a", false, &long)]).as_deref(), Some(&*long));
        let beside_ours = composed(Some("Ours."), true, &[said("a", false, &long)]).expect("some");
        assert!(beside_ours.len() < MOST && beside_ours.ends_with("(cut: the first 1024 of 8192 bytes)"));
    }

    #[test]
    fn all_together_are_bounded_whatever_they_say() {
        for text in ["x".repeat(100_000), "\n".repeat(100_000), "\u{200b}".repeat(100_000)] {
            let many: Vec<_> = (0..100).map(|_| said("server", true, &text)).collect();
            let all = composed(Some("Ours."), false, &many).expect("some");
            assert!(all.len() <= MOST, "{}", all.len());
            assert!(all.contains("more servers say something of themselves"), "{all}");
        }
    }
}
