//! The files that a model works on, kept fresh in its context: looked at once after a round, and
//! told only where they are not as the model last saw them.

use std::{collections::BTreeMap, fmt::Write as _, sync::Arc};

use similar::TextDiff;
use tectum_core::{
    Gate, Tectum, ToolName,
    security::{Access, Candidate, RawPath, SafePath, Stamp},
};

/// The first line of a block.
pub const OPENS: &str = "Changed since you read it:";
/// Its last, so that it can be taken out exactly.
pub const CLOSES: &str = "(end of what changed)";
/// Files that are followed; what is older than so many makes room.
const MOST_FILES: usize = 10_000;
/// The largest file that is followed, in bytes.
const MOST_FILE: u64 = 1024 * 1024;
/// Texts that are kept to tell what changed; beyond so many bytes a change is told whole.
const MOST_KEPT: usize = 64 * 1024 * 1024;
/// Characters of one file in a block, and of the block.
const MOST_OF_FILE: usize = 20_000;
const MOST_OF_BLOCK: usize = 60_000;
/// A text of fewer lines is told whole.
const SHORT: usize = 200;
/// A difference above this share of the text is no shorter to read than the text.
const LARGE: f64 = 0.6;
/// Lines around a difference.
const AROUND: usize = 3;

/// The files that a model knows.
#[derive(Debug, Default)]
pub struct Refresh {
    files: BTreeMap<String, File>,
    kept: usize,
    /// Rises with every file that comes, so that the oldest is known.
    turn: u64,
    /// The rules that the files were judged by.
    under: Option<Sight>,
}

/// What a model may be shown of files: what the gate lets it read with the tool that reads files.
#[derive(Clone, Debug)]
pub struct Sight {
    gate: Arc<Gate>,
    reader: Option<ToolName>,
}

impl Sight {
    /// What holds in a house now. Without a tool that reads files nothing is shown.
    pub fn now(house: &Tectum) -> Self {
        Self::new(house.gate(), house.registry().snapshot().reader().cloned())
    }

    /// What this gate lets a model read with this tool.
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

/// What the model knows of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    /// This text.
    Text(Arc<str>),
    /// A text with this hash, which is not kept.
    Hash(blake3::Hash),
    /// That it is not there.
    Absent,
    /// That it cannot be shown, and why.
    Error(&'static str),
}

/// A file as a model is shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Its name and its text, or why there is none.
    pub text: String,
    /// Why there is no text; `None` when there is one.
    pub why_not: Option<&'static str>,
}

/// One file that is not as it was.
enum Change {
    Created,
    Deleted,
    Changed,
}

impl Refresh {
    /// Follows a file from now on, as it is now. What the gate would not let a model read is not
    /// followed, nor is what is no file.
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

    /// Follows a file from now on and gives it as it is now, for the beginning of a conversation.
    /// What cannot be shown is named with the reason.
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

    /// How many files are followed.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// True when none is.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// True when a file may not be as the model last saw it.
    pub fn may_differ(&self) -> bool {
        self.files.values().any(|file| file.candidate.stamp() != file.stamp)
    }

    /// What changed since the model last saw it, as one closed block; `None` when nothing did.
    /// From now on the model has seen it.
    pub fn changed(&mut self, sight: &Sight) -> Option<String> {
        self.changed_within(sight, MOST_OF_BLOCK)
    }

    /// The same in about so many characters; files beyond them are named only.
    pub fn changed_within(&mut self, sight: &Sight, most: usize) -> Option<String> {
        // Most files are as they were, and are not opened. Under other rules all are judged anew.
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
            // It may not be read any more: the model is told nothing about it.
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

/// What there is; `None` for what may not be read.
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

/// The part of a block about one file; `None` when it is as it was.
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
        // A look never gives a hash.
        (_, Seen::Hash(_)) => String::new(),
    };
    let head = match change {
        Change::Created => "is new",
        Change::Deleted => "was deleted",
        Change::Changed => "changed",
    };
    Some(format!("### `{name}` {head}\n{body}"))
}

/// The change as a diff, where that is shorter to read than the text.
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
    // A fence that the text itself does not hold.
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
