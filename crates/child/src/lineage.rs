//! Which starts a process descends from. A house that one of its own entries started, through
//! whatever scripts, knows that entry again and does not start it once more.

use std::ffi::OsStr;

use crate::Launch;

/// The variable with the digests of all starts above a process, the first one first.
pub const WITHIN: &str = "TECTUM_WITHIN";
/// Houses within houses: the last of these starts nobody. More than two serve no purpose; this
/// ends entries that are written anew at each level.
const MOST_DEPTH: usize = 8;
/// Digits of a digest: enough to tell the entries of one machine apart.
const DIGITS: usize = 16;

/// Whether this process descends from a start of this very command, or from so many starts that
/// it must not start anybody. `within` is what [`WITHIN`] holds here.
pub fn descends(launch: &Launch, within: Option<&OsStr>) -> bool {
    let above = above(within);
    above.len() >= MOST_DEPTH || above.iter().any(|start| *start == digest(launch))
}

/// What [`WITHIN`] is to hold in a child.
pub(super) fn extended(launch: &Launch, within: Option<&OsStr>) -> String {
    let mut all = above(within);
    let own = digest(launch);
    all.push(&own);
    all.join(",")
}

fn above(within: Option<&OsStr>) -> Vec<&str> {
    let text = within.and_then(OsStr::to_str).unwrap_or_default();
    text.split(',').filter(|start| !start.is_empty()).take(MOST_DEPTH).collect()
}

/// The command and its arguments: what a start is known by. Variables may differ from level to
/// level, and would not make it another one.
fn digest(launch: &Launch) -> String {
    let mut hasher = blake3::Hasher::new();
    for word in std::iter::once(&launch.command).chain(&launch.args) {
        hasher.update(&(word.len() as u64).to_le_bytes()).update(word.as_bytes());
    }
    hasher.finalize().to_hex().chars().take(DIGITS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(words: &[&str]) -> Launch {
        let (command, args) = words.split_first().expect("a command");
        let args = args.iter().map(|word| (*word).to_owned()).collect();
        Launch { command: (*command).to_owned(), args, env: Default::default(), cwd: None }
    }

    #[test]
    fn a_start_is_known_again_below_itself_and_nowhere_else() {
        let (own, other) = (launch(&["wrap", "serve"]), launch(&["wrap", "serv", "e"]));
        assert!(!descends(&own, None) && !descends(&own, Some(OsStr::new(""))));
        let first = extended(&own, None);
        assert!(descends(&own, Some(OsStr::new(&first))) && !descends(&other, Some(OsStr::new(&first))));
        let second = extended(&other, Some(OsStr::new(&first)));
        assert!(descends(&own, Some(OsStr::new(&second))) && descends(&other, Some(OsStr::new(&second))));
    }

    #[test]
    fn a_chain_of_ever_new_starts_ends() {
        let mut within = String::new();
        let depth = (0..100)
            .take_while(|level| {
                let next = launch(&["wrap", &level.to_string()]);
                let goes_on = !descends(&next, Some(OsStr::new(&within)));
                within = extended(&next, Some(OsStr::new(&within)));
                goes_on
            })
            .count();
        assert_eq!(depth, MOST_DEPTH);
    }
}
