//! The commit and branch under the agent: moved by somebody else, or left in the middle of a rebase or a
//! merge. What an agent's own command moved is its own work.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use tectum_attend::Audience;
use tectum_attention::{Event, Input};

use super::sense::{Calls, House, Sense, fact};
use crate::attention::flight::EndedCall;

/// The organ.
const HEAD: &str = "internal:head";
/// What git leaves in its folder while something is not finished.
const UNFINISHED: [(&str, &str); 4] = [
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
];
/// Tools that may run git.
const COMMANDS: [&str; 4] = ["run_shell", "run_powershell", "shell_poll", "shell_write"];

/// What was there at the last look.
#[derive(Default)]
pub(super) struct Head {
    place: Option<GitPlace>,
    before: Option<String>,
    sessions: BTreeSet<String>,
    /// Sessions that ran a command since the last look.
    commanded: BTreeSet<String>,
}

/// The folder of a checkout, and the one that all checkouts share.
#[derive(Clone, Default)]
struct GitPlace {
    own: PathBuf,
    common: PathBuf,
}

impl Sense for Head {
    fn organ(&self) -> &'static str {
        HEAD
    }

    fn ended(&mut self, call: &EndedCall, _: &House, _: &mut Vec<Input>) {
        if self.sessions.len() < 256 {
            self.sessions.insert(call.session.clone());
        }
        if COMMANDS.contains(&&*call.tool) {
            self.commanded.insert(call.session.clone());
        }
    }

    fn look(&mut self, house: &House, calls: &Calls, inputs: &mut Vec<Input>) {
        let place = self.place.get_or_insert_with(|| GitPlace::of(&house.directory));
        let now = place.head();
        let before = std::mem::replace(&mut self.before, now.clone());
        let own: BTreeSet<String> = std::mem::take(&mut self.commanded);
        let (Some(before), Some(now)) = (before, now) else { return };
        if before == now {
            return;
        }
        // A command that still runs may have moved it.
        let told: Vec<String> = self
            .sessions
            .iter()
            .filter(|session| !own.contains(*session) && !calls.are_of(session))
            .cloned()
            .collect();
        if told.is_empty() {
            return;
        }
        house.attention.concerns(HEAD, "HEAD", Audience::Sessions(told));
        let event = fact(HEAD, house, "HEAD", "commit");
        inputs.push(Input::Event(Event { old: Some(before), new: now, ..event }));
    }
}

impl GitPlace {
    fn of(directory: &Path) -> Self {
        let usual = directory.join(".git");
        // A linked checkout has a file that names its folder.
        let own = match line(&usual).and_then(|line| Some(PathBuf::from(line.strip_prefix("gitdir: ")?))) {
            Some(named) => directory.join(named),
            None => usual,
        };
        let common = line(&own.join("commondir")).map_or_else(|| own.clone(), |named| own.join(named));
        Self { own, common }
    }

    /// Branch and commit, and what is not finished.
    fn head(&self) -> Option<String> {
        let head = line(&self.own.join("HEAD"))?;
        let unfinished = UNFINISHED.iter().find(|(name, _)| exists(&self.own.join(name)));
        let state = unfinished.map(|(_, what)| format!(", {what} in progress")).unwrap_or_default();
        let Some(reference) = head.strip_prefix("ref: ") else {
            return Some(format!("detached at {}{state}", short(&head)));
        };
        let branch = reference.strip_prefix("refs/heads/").unwrap_or(reference);
        let commit = line(&self.common.join(reference)).or_else(|| self.packed(reference));
        let commit = commit.as_deref().map_or("no commit", short);
        Some(format!("{branch} at {commit}{state}"))
    }

    fn packed(&self, reference: &str) -> Option<String> {
        let packed = tectum_state::read(&self.common.join("packed-refs")).ok()??;
        let text = String::from_utf8_lossy(&packed).into_owned();
        let entry = text.lines().find(|line| line.split(' ').nth(1) == Some(reference))?;
        entry.split(' ').next().map(str::to_owned)
    }
}

fn short(commit: &str) -> &str {
    commit.get(..8).unwrap_or(commit)
}

fn line(path: &Path) -> Option<String> {
    let bytes = tectum_state::read(path).ok()??;
    Some(String::from_utf8_lossy(&bytes).lines().next().unwrap_or_default().trim().to_owned())
}

#[expect(clippy::disallowed_methods, reason = "git's own folder, not an agent's path")]
fn exists(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}
