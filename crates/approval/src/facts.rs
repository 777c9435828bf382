//! The facts that a yes covers: who calls, what exactly, the files as they are, the rule that asks and
//! the tool's definition. A digest of them tells whether anything changed.

use std::{fs::File, os::unix::fs::FileExt as _};

use tectum_core::{
    Question,
    security::{Kind, SafePath},
};

use crate::PathFact;

/// Files up to this size are hashed whole. Of larger ones size, place and time of the last change count.
const MOST_HASHED: u64 = 64 << 20;
/// Names of a directory that are looked at.
const MOST_NAMES: usize = 4096;

/// What is known of a call when it is asked about.
#[derive(Debug)]
pub(crate) struct Facts {
    /// The digest of tool and arguments.
    pub(crate) digest: blake3::Hash,
    /// The same with the caller: a repeated call has the same.
    pub(crate) key: [u8; 32],
    /// The paths.
    pub(crate) paths: Vec<PathFact>,
    /// The digest of everything.
    pub(crate) binding: [u8; 32],
}

impl Facts {
    pub(crate) async fn of(question: &Question<'_>) -> Self {
        let (mut paths, mut files) = (Vec::new(), Vec::new());
        for (at, path) in question.grants.paths().iter().enumerate() {
            let kind = path.kind();
            let mut hash = None;
            match kind {
                Some(Kind::File) => match path.file().map(|file| file.handle().try_clone()) {
                    Ok(Ok(file)) => files.push((at, file)),
                    _ => hash = Some("unreadable".to_owned()),
                },
                // Where a command runs, names come and go; what is moved or removed is another matter.
                Some(Kind::Directory)
                    if question.wants.paths.get(at).is_some_and(|(_, access)| !access.changes()) =>
                {
                    hash = Some(format!("directory {:?}", path.identity()));
                }
                Some(Kind::Directory) => hash = Some(listing(path)),
                Some(kind) => hash = Some(format!("{kind} {:?}", path.identity())),
                None => {}
            }
            paths.push(PathFact { path: path.name(), exists: kind.is_some(), hash });
        }
        if !files.is_empty() {
            // Nobody else waits for this disk.
            let hashed = move || files.iter().map(|(at, file)| (*at, hash(file))).collect::<Vec<_>>();
            for (at, hash) in tokio::task::spawn_blocking(hashed).await.unwrap_or_default() {
                paths[at].hash = Some(hash);
            }
        }
        Self::with(question, paths)
    }

    fn with(question: &Question<'_>, paths: Vec<PathFact>) -> Self {
        let Question { call, tool, asks, .. } = question;
        let digest = digest(&[&call.tool, call.args.get()]);
        let client = call.client.as_deref().map(|client| client.name.as_str()).unwrap_or_default();
        let key = digest_of(&[call.session.0.as_bytes(), client.as_bytes(), digest.as_bytes()]);
        let mut all = blake3::Hasher::new();
        let mut add = |part: &[u8]| {
            // Its length first, so that no two lists of parts look the same.
            all.update(&(part.len() as u64).to_le_bytes()).update(part);
        };
        add(key.as_bytes());
        add(asks.rule.as_bytes());
        asks.subjects.iter().for_each(|subject| add(subject.as_bytes()));
        if let Some(tool) = tool {
            add(tool.description.as_bytes());
            add(tool.input_schema.to_string().as_bytes());
            add(tool.server.as_ref().map(|server| server.definition.as_bytes()).unwrap_or_default());
        }
        for PathFact { path, exists, hash } in &paths {
            add(path.as_bytes());
            add(&[u8::from(*exists)]);
            add(hash.as_deref().unwrap_or_default().as_bytes());
        }
        Self { digest, key: *key.as_bytes(), paths, binding: *all.finalize().as_bytes() }
    }

    /// True if this consent is to the call as it is now. Of arguments that a person wrote, the consent
    /// covers exactly them.
    pub(crate) fn covered_by(&self, consent: &tectum_core::Consent) -> bool {
        let now = if consent.edited.is_some() { &self.key } else { &self.binding };
        consent.covers == *now
    }
}

/// The key that a call with these arguments in the place of its own will have.
pub(crate) fn edited_key(question: &Question<'_>, edited: &str) -> [u8; 32] {
    let digest = digest(&[&question.call.tool, edited]);
    let client = question.call.client.as_deref().map(|client| client.name.as_str()).unwrap_or_default();
    *digest_of(&[question.call.session.0.as_bytes(), client.as_bytes(), digest.as_bytes()]).as_bytes()
}

fn digest(parts: &[&str]) -> blake3::Hash {
    digest_of(&parts.iter().map(|part| part.as_bytes()).collect::<Vec<_>>())
}

fn digest_of(parts: &[&[u8]]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part);
    }
    hasher.finalize()
}

/// The hash of a file's content.
fn hash(file: &File) -> String {
    let Ok(known) = file.metadata() else { return "unreadable".to_owned() };
    if known.len() > MOST_HASHED {
        use std::os::unix::fs::MetadataExt as _;
        let (size, place) = (known.len(), known.ino());
        return format!("{size} bytes, inode {place}, written {}.{:09}", known.mtime(), known.mtime_nsec());
    }
    let (mut hasher, mut piece, mut at) = (blake3::Hasher::new(), vec![0; 64 << 10], 0);
    loop {
        match file.read_at(&mut piece, at) {
            Ok(0) => return hasher.finalize().to_hex().to_string(),
            Ok(read) => {
                hasher.update(&piece[..read]);
                at += read as u64;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return "unreadable".to_owned(),
        }
    }
}

/// The names in a directory, with kinds and sizes.
fn listing(path: &SafePath) -> String {
    let Ok(mut listing) = path.list(MOST_NAMES) else { return "unreadable".to_owned() };
    listing.entries.sort_by(|a, b| a.name.cmp(&b.name));
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("{:?}", path.identity()).as_bytes());
    for entry in &listing.entries {
        hasher.update(format!("{:?} {} {}\n", entry.name, entry.kind, entry.size).as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}
