//! Context anchors: texts that stay in the model's context, one for each key, the newest last. They
//! are not part of a history: the code that assembles a prompt puts them at its end.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use parking_lot::RwLock;
use tokio::sync::broadcast;

/// The limit for all anchors together, since every prompt ends with them. The oldest is removed first.
const MOST: Bound = Bound { number: 64, bytes: 64 * 1024 };
/// The limit for the anchors of one server, whose name is before the `/` in their keys.
const MOST_OF_A_SERVER: Bound = Bound { number: 16, bytes: 16 * 1024 };
/// The most bytes of one anchor. A longer one is cut, and says so.
const MOST_CONTENT: usize = 32 * 1024;
/// The most bytes of one anchor of a server.
const MOST_CONTENT_OF_A_SERVER: usize = 8 * 1024;
/// The most characters of a key.
const MOST_KEY: usize = 128;
/// The number of changes that a slow listener may fall behind by.
const CHANGES: usize = 256;

/// One anchor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The name of the anchor.
    pub key: Arc<str>,
    /// The text of the anchor, never empty.
    pub content: Arc<str>,
}

/// A limit on the number of anchors and on their bytes.
#[derive(Clone, Copy)]
struct Bound {
    number: usize,
    bytes: usize,
}

impl Bound {
    /// The index of the oldest anchor of a server, or of all, if they are over this limit.
    fn pushes_out(self, kept: &[Anchor], server: Option<&str>) -> Option<usize> {
        let counts = |anchor: &&Anchor| server.is_none() || sender(&anchor.key) == server;
        let bytes: usize = kept.iter().filter(counts).map(|anchor| anchor.content.len()).sum();
        let over = kept.iter().filter(counts).count() > self.number || bytes > self.bytes;
        kept.iter().position(|anchor| counts(&anchor)).filter(|_| over)
    }
}

/// The server that an anchor's key belongs to.
fn sender(key: &str) -> Option<&str> {
    let word = |server: &str| server.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    key.split_once('/').map(|(server, _)| server).filter(|server| word(server))
}

/// A change of an anchor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The anchor is new.
    Set(Arc<str>),
    /// The anchor has a new text.
    Updated(Arc<str>),
    /// The anchor was removed.
    Removed(Arc<str>),
}

/// The anchors of a house.
#[derive(Debug)]
pub struct Anchors {
    kept: RwLock<Vec<Anchor>>,
    changes: broadcast::Sender<Change>,
    pushed_out: AtomicU64,
}

impl Default for Anchors {
    fn default() -> Self {
        let changes = broadcast::Sender::new(CHANGES);
        Self { kept: RwLock::default(), changes, pushed_out: AtomicU64::new(0) }
    }
}

impl Anchors {
    /// Sets an anchor, which becomes the newest; empty content removes it. True if anything changed.
    pub fn set(&self, key: &str, content: &str) -> bool {
        let key: Arc<str> = key.chars().take(MOST_KEY).collect::<String>().into();
        let mut told = Vec::new();
        {
            let mut kept = self.kept.write();
            let held = kept.iter().position(|anchor| anchor.key == key).map(|at| kept.remove(at));
            match (held, content.is_empty()) {
                (None, true) => {}
                (Some(_), true) => told.push(Change::Removed(key)),
                (held, false) => {
                    let of_server = sender(&key).is_some();
                    let most = if of_server { MOST_CONTENT_OF_A_SERVER } else { MOST_CONTENT };
                    let content = cut(content, most);
                    match held {
                        Some(held) if held.content == content => {}
                        Some(_) => told.push(Change::Updated(key.clone())),
                        None => told.push(Change::Set(key.clone())),
                    }
                    kept.push(Anchor { key: key.clone(), content });
                    let of_server = sender(&key).map(|server| (Some(server), MOST_OF_A_SERVER));
                    for (server, most) in of_server.into_iter().chain([(None, MOST)]) {
                        while let Some(at) = most.pushes_out(&kept, server) {
                            let oldest = kept.remove(at);
                            self.pushed_out.fetch_add(1, Ordering::Relaxed);
                            tracing::warn!(anchor = %oldest.key, "too many anchors; the oldest makes room");
                            told.push(Change::Removed(oldest.key));
                        }
                    }
                }
            }
        }
        let changed = !told.is_empty();
        for change in told {
            let _ = self.changes.send(change);
        }
        changed
    }

    /// The anchor with this key.
    pub fn get(&self, key: &str) -> Option<Anchor> {
        self.kept.read().iter().find(|anchor| &*anchor.key == key).cloned()
    }

    /// All anchors, the newest last.
    pub fn all(&self) -> Vec<Anchor> {
        self.kept.read().clone()
    }

    /// All anchors as one text for the end of a prompt; `None` if there are none.
    pub fn rendered(&self) -> Option<String> {
        let mut texts: Vec<Arc<str>> = self.all().into_iter().map(|anchor| anchor.content).collect();
        if !texts.is_empty() {
            texts.extend(self.made_room().map(Into::into));
        }
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    /// The line that says how many anchors were removed to make room; `None` if none were.
    pub fn made_room(&self) -> Option<String> {
        let gone = self.pushed_out();
        (gone > 0).then(|| format!("[{gone} older anchors made room for newer ones]"))
    }

    /// How many anchors were removed to make room for others.
    pub fn pushed_out(&self) -> u64 {
        self.pushed_out.load(Ordering::Relaxed)
    }

    /// Subscribes to changes from now on.
    pub fn changes(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }
}

fn cut(content: &str, most: usize) -> Arc<str> {
    if content.len() <= most {
        return content.into();
    }
    let end = content.floor_char_boundary(most);
    format!("{}\n[cut: {} more bytes]", &content[..end], content.len() - end).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(anchors: &Anchors) -> Vec<String> {
        anchors.all().iter().map(|anchor| anchor.key.to_string()).collect()
    }

    #[test]
    fn one_for_each_key_the_newest_last() {
        let anchors = Anchors::default();
        let mut changes = anchors.changes();
        for (key, content) in [("a", "1"), ("b", "2"), ("a", "3"), ("a", "3")] {
            anchors.set(key, content);
        }
        assert_eq!(keys(&anchors), ["b", "a"]);
        assert_eq!(anchors.rendered().as_deref(), Some("2\n\n3"));
        assert!(anchors.set("b", "") && !anchors.set("b", ""));
        assert_eq!(keys(&anchors), ["a"]);
        let told: Vec<Change> = std::iter::from_fn(|| changes.try_recv().ok()).collect();
        let [a, b]: [Arc<str>; 2] = ["a".into(), "b".into()];
        assert_eq!(
            told,
            [Change::Set(a.clone()), Change::Set(b.clone()), Change::Updated(a), Change::Removed(b)]
        );
    }

    #[test]
    fn they_are_bounded_and_say_so() {
        let anchors = Anchors::default();
        for i in 0..70 {
            anchors.set(&format!("k{i}"), "x");
        }
        assert_eq!((anchors.all().len(), keys(&anchors)[0].as_str()), (64, "k6"));
        assert!(
            anchors
                .rendered()
                .is_some_and(|text| text.ends_with("[6 older anchors made room for newer ones]"))
        );
        anchors.set("long", &"ü".repeat(50_000));
        let kept = anchors.get("long").expect("kept");
        assert!(kept.content.len() < 33_000 && kept.content.ends_with("[cut: 67232 more bytes]"));
        assert_eq!(Anchors::default().rendered(), None);
    }

    #[test]
    fn those_of_one_server_push_out_nobody_elses() {
        let anchors = Anchors::default();
        anchors.set("own:src/a", "x");
        anchors.set("other/a", "x");
        for i in 0..1000 {
            anchors.set(&format!("one/{i}"), &"x".repeat(100));
        }
        assert_eq!((anchors.all().len(), keys(&anchors)[2].as_str()), (18, "one/984"));
        for i in 0..1000 {
            anchors.set(&format!("one/{i}"), &"x".repeat(60_000));
        }
        assert_eq!(keys(&anchors), ["own:src/a", "other/a", "one/999"]);
        for server in 0..100 {
            anchors.set(&format!("{server}/a"), &"x".repeat(60_000));
        }
        let bytes: usize = anchors.all().iter().map(|anchor| anchor.content.len()).sum();
        assert!(bytes <= MOST.bytes, "{bytes}");
    }
}
