//! The files that a model works on, kept fresh in its context: checked once after a round, and shown
//! only if they changed since the model last saw them.

use std::{collections::BTreeMap, fmt::Write as _, sync::Arc};

use similar::TextDiff;
use tectum_core::{
    Gate, Tectum, ToolName,
    security::{Access, Candidate, RawPath, SafePath, Stamp},
};

/// The first line of a block.
pub const OPENS: &str = "Changed since you read it:";
/// The last line of a block, so that the block can be removed exactly.
pub const CLOSES: &str = "(end of what changed)";
/// The most files that are tracked; beyond that the oldest is dropped.
const MOST_FILES: usize = 10_000;
/// The largest file that is tracked, in bytes.
const MOST_FILE: u64 = 1024 * 1024;
/// The most bytes of texts that are kept for diffs; beyond that a changed file is shown whole.
const MOST_KEPT: usize = 64 * 1024 * 1024;
/// The most characters of one file in a block, and of the block.
const MOST_OF_FILE: usize = 20_000;
const MOST_OF_BLOCK: usize = 60_000;
/// A text with fewer lines is shown whole.
const SHORT: usize = 200;
/// A diff above this share of the text is no shorter to read than the text.
const LARGE: f64 = 0.6;
/// Lines of context around a difference.
const AROUND: usize = 3;

/// The tracked files, which the model knows.
#[derive(Debug, Default)]
pub struct Refresh {
    files: BTreeMap<String, File>,
    kept: usize,
    /// Rises with every tracked file, so that the oldest is known.
    turn: u64,
    /// The rules that the files were last judged by.
    under: Option<Sight>,
}

/// The files that a model may be shown: those that the gate lets it read with the tool that reads files.
#[derive(Clone, Debug)]
pub struct Sight {
    gate: Arc<Gate>,
    reader: Option<ToolName>,
}

impl Sight {
    /// The current gate and reader of a house. Without a tool that reads files nothing is shown.
    pub fn now(house: &Tectum) -> Self {
        Self::new(house.gate(), house.registry().snapshot().reader().cloned())
    }

    /// The files that this gate lets a model read with this tool.
    pub fn new(gate: Arc<Gate>, reader: Option<ToolName>) -> Self {
        Self { gate, reader }
    }

    fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.gate, &other.gate) && self.reader == other.reader
    }

    fn open(&self, raw: &RawPath) -> Option<SafePath> {
        self.gate.readable(self.reader.as_deref()?, raw)
    }

    fn admit(&self, raw: &RawPath) -> Option<Candidate> {
        self.gate.allowlist().admit(raw, Access::Read).ok()
    }

    fn name(&self, raw: &RawPath) -> Option<String> {
        self.gate.allowlist().subject(raw)
    }
}

#[derive(Debug)]
struct File {
    candidate: Candidate,
    stamp: Option<Stamp>,
    seen: Seen,
    since: u64,
}

/// The state of a file as the model knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    /// The text.
    Text(Arc<str>),
    /// The hash of a text that is not kept.
    Hash(blake3::Hash),
    /// The file does not exist.
    Absent,
    /// The file cannot be shown, and why.
    Error(&'static str),
}

/// A file as the model is shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The name and the text of the file, or why there is no text.
    pub text: String,
    /// Why there is no text; `None` if there is one.
    pub why_not: Option<&'static str>,
}

/// The kind of change of a file.
enum Change {
    Created,
    Deleted,
    Changed,
}

impl Refresh {
    /// Tracks a file from now on, in its current state. Skips what the gate would not let a model
    /// read, and what is not a file.
    pub fn track(&mut self, sight: &Sight, raw: &RawPath) {
        let Some(name) = sight.name(raw) else { return };
        let Some(candidate) = sight.admit(raw) else { return };
        let stamp = candidate.stamp();
        let Some(seen) = look(sight, raw) else { return };
        self.forget(&name);
        if self.files.len() >= MOST_FILES
            && let Some(oldest) =
                self.files.iter().min_by_key(|(_, file)| file.since).map(|(name, _)| name.clone())
        {
            self.forget(&oldest);
        }
        self.turn += 1;
        let seen = self.keep(seen);
        self.files.insert(name, File { candidate, stamp, seen, since: self.turn });
        self.under.get_or_insert_with(|| sight.clone());
    }

    /// Tracks a file from now on and returns it in its current state, for the beginning of a
    /// conversation. A file that cannot be shown is named with the reason.
    pub fn show(&mut self, sight: &Sight, raw: &RawPath) -> Shown {
        self.track(sight, raw);
        let name = sight.name(raw).unwrap_or_else(|| raw.to_string());
        let why = match look(sight, raw) {
            Some(Seen::Text(text)) => {
                return Shown { text: format!("### `{name}`\n{}", fenced(&name, &text)), why_not: None };
            }
            Some(Seen::Absent) => "it is not there",
            Some(Seen::Error(why)) => why,
            Some(Seen::Hash(_)) | None => "it is no file that may be read",
        };
        Shown { text: format!("### `{name}`\n({why})\n"), why_not: Some(why) }
    }

    /// The tracked files by name: whether each may differ from what the model knows, and the bytes of the text
    /// that is kept of it.
    pub fn known(&self) -> impl Iterator<Item = (&str, bool, Option<usize>)> {
        self.files.iter().map(|(name, file)| {
            let bytes = match &file.seen {
                Seen::Text(text) => Some(text.len()),
                Seen::Hash(_) | Seen::Absent | Seen::Error(_) => None,
            };
            (name.as_str(), file.candidate.stamp() != file.stamp, bytes)
        })
    }

    /// How many files are tracked.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// True if no file is tracked.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// True if a file may have changed since the model last saw it.
    pub fn may_differ(&self) -> bool {
        self.files.values().any(|file| file.candidate.stamp() != file.stamp)
    }

    /// The changes since the model last saw the files, as one closed block; `None` if there are none.
    /// From now on they count as seen.
    pub fn changed(&mut self, sight: &Sight) -> Option<String> {
        self.changed_within(sight, MOST_OF_BLOCK)
    }

    /// Like `changed`, in about `most` characters; files beyond them are only named.
    pub fn changed_within(&mut self, sight: &Sight, most: usize) -> Option<String> {
        // Most files are unchanged, and are not opened. Under other rules all are judged again.
        let all = !self.under.as_ref().is_some_and(|under| under.is_same(sight));
        self.under = Some(sight.clone());
        let differs = |file: &File| all || file.candidate.stamp() != file.stamp;
        let changed: Vec<String> =
            self.files.iter().filter(|(_, file)| differs(file)).map(|(name, _)| name.clone()).collect();
        let mut block = String::new();
        let mut left_out = Vec::new();
        for name in changed {
            match self.look_again(sight, &name) {
                Some(text) if block.chars().count() + text.chars().count() > most => left_out.push(name),
                Some(text) => block.push_str(&text),
                None => {}
            }
        }
        if !left_out.is_empty() {
            let _ = writeln!(block, "Changed as well and not shown here: {}", left_out.join(", "));
        }
        (!block.is_empty()).then(|| format!("{OPENS}\n{block}{CLOSES}"))
    }

    fn look_again(&mut self, sight: &Sight, name: &str) -> Option<String> {
        let raw = RawPath::new(name);
        let stamp = self.files.get(name)?.candidate.stamp();
        let (Some(now), Some(candidate)) = (look(sight, &raw), sight.admit(&raw)) else {
            // The file may not be read any more: the model is told nothing about it.
            self.forget(name);
            return None;
        };
        let before = self.files.get(name)?.seen.clone();
        let text = told(name, &before, &now);
        self.release(&before);
        let seen = self.keep(now);
        let file = self.files.get_mut(name)?;
        (file.candidate, file.stamp, file.seen) = (candidate, stamp, seen);
        text
    }

    fn keep(&mut self, seen: Seen) -> Seen {
        match seen {
            Seen::Text(text) if self.kept + text.len() > MOST_KEPT => {
                Seen::Hash(blake3::hash(text.as_bytes()))
            }
            Seen::Text(text) => {
                self.kept += text.len();
                Seen::Text(text)
            }
            other => other,
        }
    }

    fn release(&mut self, seen: &Seen) {
        if let Seen::Text(text) = seen {
            self.kept -= text.len();
        }
    }

    fn forget(&mut self, name: &str) {
        if let Some(file) = self.files.remove(name) {
            self.release(&file.seen);
        }
    }
}

/// The current state of a file; `None` if it may not be read.
fn look(sight: &Sight, raw: &RawPath) -> Option<Seen> {
    let path = sight.open(raw)?;
    if path.kind().is_none() {
        return Some(Seen::Absent);
    }
    let file = path.file().ok()?;
    if file.size() > MOST_FILE {
        return Some(Seen::Error("it is too large to be shown here"));
    }
    match file.bytes(MOST_FILE) {
        Ok(bytes) if bytes.contains(&0) => Some(Seen::Error("it is no text")),
        Ok(bytes) => Some(Seen::Text(String::from_utf8_lossy(&bytes).into())),
        Err(_) => Some(Seen::Error("it cannot be read")),
    }
}

/// The part of a block about one file; `None` if it is unchanged.
fn told(name: &str, before: &Seen, now: &Seen) -> Option<String> {
    let same = match (before, now) {
        (Seen::Hash(hash), Seen::Text(text)) => *hash == blake3::hash(text.as_bytes()),
        (before, now) => before == now,
    };
    if same {
        return None;
    }
    let change = match (before, now) {
        (_, Seen::Absent) => Change::Deleted,
        (Seen::Absent, _) => Change::Created,
        _ => Change::Changed,
    };
    let body = match (before, now) {
        (_, Seen::Absent) => String::new(),
        (_, Seen::Error(why)) => format!("({why})\n"),
        (Seen::Text(old), Seen::Text(new)) => difference(name, old, new).unwrap_or_else(|| fenced(name, new)),
        (_, Seen::Text(new)) => fenced(name, new),
        // `look` never returns a hash.
        (_, Seen::Hash(_)) => String::new(),
    };
    let head = match change {
        Change::Created => "is new",
        Change::Deleted => "was deleted",
        Change::Changed => "changed",
    };
    Some(format!("### `{name}` {head}\n{body}"))
}

/// The change as a diff, if that is shorter to read than the text.
fn difference(name: &str, old: &str, new: &str) -> Option<String> {
    if new.lines().count() < SHORT {
        return None;
    }
    let diff = TextDiff::from_lines(old, new);
    let text = diff.unified_diff().context_radius(AROUND).header(name, name).to_string();
    (text.len() as f64 <= LARGE * new.len() as f64).then(|| block("diff", &text))
}

fn fenced(name: &str, text: &str) -> String {
    let kind = name.rsplit_once('.').map_or("", |(_, kind)| kind);
    block(kind, text)
}

fn block(kind: &str, text: &str) -> String {
    let mut shown: String = text.chars().take(MOST_OF_FILE).collect();
    let cut = text.len() - shown.len();
    if !shown.ends_with('\n') {
        shown.push('\n');
    }
    // A fence that does not occur in the text.
    let mut fence = String::from("```");
    while shown.contains(&fence) {
        fence.push('`');
    }
    let rest = if cut > 0 {
        format!("(cut: {cut} more bytes; read the rest if you need it)\n")
    } else {
        String::new()
    };
    format!("{fence}{kind}\n{shown}{fence}\n{rest}")
}

#[cfg(test)]
#[path = "refresh_tests.rs"]
mod tests;
