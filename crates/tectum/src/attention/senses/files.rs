//! FilesSense that an agent knows and others change. A file is known by what its last call with it left there;
//! what changes while a command of the same agent runs counts as the command's work.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tectum_attend::Audience;
use tectum_attention::Input;
use tectum_core::{
    Gate, ToolName,
    security::{Access, Candidate, RawPath, Stamp},
};

use super::sense::{Calls, House, Sense, fact};
use crate::attention::flight::EndedCall;

/// The organ.
const FILES: &str = "internal:files";
/// Sessions whose files are remembered; the one that called least lately makes room.
const MOST_SESSIONS: usize = 32;
/// FilesSense of one session; the one known longest makes room.
const MOST_FILES: usize = 2000;
/// The largest file that is looked into.
const MOST_BYTES: u64 = 1 << 20;
/// Tools that run programs, which may change any file.
const COMMANDS: [&str; 5] = ["run_shell", "run_powershell", "shell_poll", "shell_write", "undo_edit"];

/// The files that each session knows.
#[derive(Default)]
pub(super) struct FilesSense {
    sessions: HashMap<String, KnownFiles>,
    turn: u64,
}

#[derive(Default)]
struct KnownFiles {
    files: BTreeMap<String, KnownFile>,
    last: u64,
    /// Set when a command ended since the last look.
    commanded: bool,
}

struct KnownFile {
    candidate: Candidate,
    stamp: Option<Stamp>,
    content: Content,
    since: u64,
}

/// What stands in a file.
#[derive(Clone, PartialEq, Eq)]
enum Content {
    /// It changed before it could be looked at.
    Unseen,
    Absent,
    Text {
        hash: blake3::Hash,
        lines: usize,
    },
    /// Too large to be looked into: its stamp has to do.
    Large(Option<Stamp>),
}

impl Sense for FilesSense {
    fn organ(&self) -> &'static str {
        FILES
    }

    fn ended(&mut self, call: &EndedCall, house: &House, _: &mut Vec<Input>) {
        // Where rounds end with what changed, that says more.
        if house.house.effects().closing().refresh || call.fault.is_some() && call.paths.is_empty() {
            return;
        }
        self.turn += 1;
        let Some(reader) = house.house.registry().snapshot().reader().cloned() else { return };
        let gate = house.house.gate();
        if !self.sessions.contains_key(&call.session) && self.sessions.len() >= MOST_SESSIONS {
            let least =
                self.sessions.iter().min_by_key(|(_, known)| known.last).map(|(name, _)| name.clone());
            least.map(|name| self.sessions.remove(&name));
        }
        let turn = self.turn;
        let known = self.sessions.entry(call.session.clone()).or_default();
        known.last = turn;
        known.commanded |= COMMANDS.contains(&&*call.tool);
        for raw in &call.paths {
            let Some((name, mut file)) = KnownFile::look(&gate, &reader, raw, turn) else { continue };
            if file.stamp.is_some_and(|stamp| stamp.written > call.at) {
                // Somebody was faster than this look.
                (file.stamp, file.content) = (None, Content::Unseen);
            }
            known.files.insert(name, file);
        }
        while known.files.len() > MOST_FILES {
            let oldest = known.files.iter().min_by_key(|(_, file)| file.since).map(|(name, _)| name.clone());
            if oldest.map(|name| known.files.remove(&name)).is_none() {
                break;
            }
        }
    }

    fn look(&mut self, house: &House, calls: &Calls, inputs: &mut Vec<Input>) {
        let Some(reader) = house.house.registry().snapshot().reader().cloned() else { return };
        let gate = house.house.gate();
        let mut changed: BTreeMap<String, (BTreeSet<String>, Content, Content)> = BTreeMap::new();
        for (session, known) in &mut self.sessions {
            // A call may be writing right now; its end is heard of.
            if calls.are_of(session) {
                continue;
            }
            let own = std::mem::take(&mut known.commanded);
            let differs = |file: &KnownFile| file.candidate.stamp() != file.stamp;
            let names: Vec<String> =
                known.files.iter().filter(|(_, file)| differs(file)).map(|(name, _)| name.clone()).collect();
            for name in names {
                let Some((_, now)) = KnownFile::look(&gate, &reader, &RawPath::new(&name), self.turn) else {
                    // It may not be read any more: nobody is told anything about it.
                    known.files.remove(&name);
                    continue;
                };
                let (after, Some(before)) = (now.content.clone(), known.files.insert(name.clone(), now))
                else {
                    continue;
                };
                if own || before.content == after {
                    continue;
                }
                if house.attention.is_shown_files(session) {
                    continue;
                }
                let (told, ..) =
                    changed.entry(name).or_insert_with(|| (BTreeSet::new(), before.content, after));
                told.insert(session.clone());
            }
        }
        for (name, (sessions, before, after)) in changed {
            house.attention.concerns(FILES, &name, Audience::Sessions(sessions.into_iter().collect()));
            let event = fact(FILES, house, &name, "content");
            let details = matches!(after, Content::Text { .. }).then(|| format!("read_file {name}"));
            let (old, new) = (before.told(), after.told().unwrap_or_default());
            inputs.push(Input::Event(tectum_attention::Event { old, new, details, ..event }));
        }
    }
}

impl KnownFile {
    /// A file in its present state; `None` for what may not be read, or is none.
    fn look(gate: &Gate, reader: &ToolName, raw: &RawPath, since: u64) -> Option<(String, Self)> {
        let name = gate.allowlist().subject(raw)?;
        let candidate = gate.allowlist().admit(raw, Access::Read).ok()?;
        let stamp = candidate.stamp();
        let path = gate.readable(reader, raw)?;
        let content = if path.kind().is_none() {
            Content::Absent
        } else {
            let file = path.file().ok()?;
            match file.bytes(MOST_BYTES) {
                Ok(bytes) => {
                    let lines = bytes.iter().filter(|byte| **byte == b'\n').count()
                        + usize::from(bytes.last().is_some_and(|last| *last != b'\n'));
                    Content::Text { hash: blake3::hash(&bytes), lines }
                }
                Err(_) => Content::Large(stamp),
            }
        };
        Some((name, Self { candidate, stamp, content, since }))
    }
}

impl Content {
    fn told(&self) -> Option<String> {
        Some(match self {
            Self::Unseen => return None,
            Self::Absent => "no file".into(),
            Self::Text { hash, lines } => format!("{lines} lines, revision {}", &hash.to_hex()[..8]),
            Self::Large(stamp) => format!("{} bytes", stamp.map_or(0, |stamp| stamp.size)),
        })
    }
}
