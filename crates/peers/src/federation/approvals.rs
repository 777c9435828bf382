//! What was approved of every server's tools, in memory: a server's file is looked at when what it
//! offers is another thing, or when somebody may have written to it, and read when it changed.

use std::{
    collections::HashMap,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::pins::Pins;
use crate::{peer::Offer, spec::ServerName};

/// The approvals of all servers.
#[derive(Debug, Default)]
pub(super) struct Approvals {
    /// Where they are kept; nothing is without it.
    state: Option<PathBuf>,
    /// What holds where nothing is kept.
    nothing: Arc<Pins>,
    known: HashMap<ServerName, Known>,
    /// How often files were looked at, and how often one was read.
    #[cfg(test)]
    pub(super) counted: (usize, usize),
}

/// What is known of one server's file.
#[derive(Debug)]
struct Known {
    /// The file as it was before it was read; `None` when that cannot be said.
    stamp: Option<Stamp>,
    /// What the approvals were compared with; `None` when the file has to be looked at again.
    offer: Option<Arc<Offer>>,
    pins: Arc<Pins>,
}

/// Tells one content of a file from the next: times, size and identity. An absent file has one, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp(Option<[u64; 6]>);

impl Approvals {
    pub(super) fn new(state: Option<PathBuf>) -> Self {
        Self { state, ..Self::default() }
    }

    /// What was approved of a server's tools, brought up to date with what it offers. The same is
    /// given out until one of the two changes.
    pub(super) fn of(&mut self, server: &ServerName, offer: &Arc<Offer>) -> Arc<Pins> {
        let Some(state) = self.state.clone() else { return self.nothing.clone() };
        let compared = |known: &Known| known.offer.as_ref().is_some_and(|last| Arc::ptr_eq(last, offer));
        if let Some(known) = self.known.get(server).filter(|known| compared(known)) {
            return known.pins.clone();
        }
        // The stamp is taken first: what is written meanwhile is another content afterwards.
        let mut stamp = Some(self.look(&Pins::file(&state, server)));
        let mut pins = match self.known.get(server).filter(|known| known.stamp == stamp) {
            Some(known) => known.pins.clone(),
            None => Arc::new(self.read(&state, server)),
        };
        if let Some(next) = pins.updated(&offer.tools) {
            if let Err(error) = next.keep(&state, server) {
                tracing::warn!(server = %server, %error, "what was approved of its tools could not be kept");
            }
            // Somebody else may have written right after us, so the next look reads.
            (stamp, pins) = (None, Arc::new(next));
        }
        let known = Known { stamp, offer: Some(offer.clone()), pins: pins.clone() };
        self.known.insert(server.clone(), known);
        pins
    }

    /// Somebody may have approved something: every file is looked at before it is relied on again.
    pub(super) fn look_again(&mut self) {
        self.known.values_mut().for_each(|known| known.offer = None);
    }

    /// Forgets servers that are there no longer.
    pub(super) fn keep_only(&mut self, is_there: impl Fn(&ServerName) -> bool) {
        self.known.retain(|name, _| is_there(name));
    }

    fn look(&mut self, path: &Path) -> Stamp {
        #[cfg(test)]
        {
            self.counted.0 += 1;
        }
        let number = |number: i64| u64::from_ne_bytes(number.to_ne_bytes());
        let stamp = path.metadata().map(|file| {
            [
                number(file.mtime()),
                number(file.mtime_nsec()),
                number(file.ctime()),
                number(file.ctime_nsec()),
                file.size(),
                file.ino(),
            ]
        });
        Stamp(stamp.ok())
    }

    fn read(&mut self, state: &Path, server: &ServerName) -> Pins {
        #[cfg(test)]
        {
            self.counted.1 += 1;
        }
        Pins::kept(state, server)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;
    use crate::peer::Item;

    fn offer(description: &str) -> Arc<Offer> {
        let json = format!(r#"{{"name":"t","description":"{description}","inputSchema":{{}}}}"#);
        let raw = RawValue::from_string(json).expect("JSON");
        let tools = vec![Item::read(raw, "name", &mut Vec::new()).expect("an item")];
        Arc::new(Offer { tools, ..Offer::default() })
    }

    #[test]
    fn a_change_of_one_server_touches_no_other_ones_file() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let mut approvals = Approvals::new(Some(scratch.path().to_owned()));
        let names: Vec<ServerName> =
            (0..100).map(|n| ServerName::parse(&format!("s{n}")).expect("a name")).collect();
        let mut offers: Vec<Arc<Offer>> = names.iter().map(|_| offer("first")).collect();
        let compose = |approvals: &mut Approvals, offers: &[Arc<Offer>]| -> (Vec<Arc<Pins>>, usize, usize) {
            let before = approvals.counted;
            let pins = names.iter().zip(offers).map(|(name, offer)| approvals.of(name, offer)).collect();
            (pins, approvals.counted.0 - before.0, approvals.counted.1 - before.1)
        };
        let (first, looks, reads) = compose(&mut approvals, &offers);
        assert_eq!((looks, reads), (100, 100));
        let (again, looks, reads) = compose(&mut approvals, &offers);
        assert_eq!((looks, reads), (0, 0));
        assert!(first.iter().zip(&again).all(|(one, other)| Arc::ptr_eq(one, other)));
        offers[7] = offer("second");
        let (pins, looks, reads) = compose(&mut approvals, &offers);
        assert_eq!((looks, reads), (1, 1), "whoever changed, and nobody else");
        assert!(pins[7].withholds("t") && !pins[8].withholds("t"));

        // What we wrote ourselves is read once more, and then no more.
        approvals.look_again();
        assert_eq!(compose(&mut approvals, &offers).1, 100);
        approvals.look_again();
        let (_, looks, reads) = compose(&mut approvals, &offers);
        assert_eq!((looks, reads), (100, 0));

        // Another process approves the change.
        let mut theirs = Pins::kept(scratch.path(), &names[7]);
        let change = theirs.changes().remove(0);
        theirs.approve(&change);
        theirs.keep(scratch.path(), &names[7]).expect("kept");
        approvals.look_again();
        let (pins, _, reads) = compose(&mut approvals, &offers);
        assert_eq!(reads, 1);
        assert!(!pins[7].withholds("t"));
    }

    #[test]
    fn what_another_process_approved_is_not_written_over() {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let server = ServerName::parse("s").expect("a name");
        let mut approvals = Approvals::new(Some(scratch.path().to_owned()));
        approvals.of(&server, &offer("first"));
        assert!(approvals.of(&server, &offer("second")).withholds("t"));
        let mut theirs = Pins::kept(scratch.path(), &server);
        let change = theirs.changes().remove(0);
        theirs.approve(&change);
        theirs.keep(scratch.path(), &server).expect("kept");
        // Nobody told us: but the server's next offer has its file looked at.
        assert!(!approvals.of(&server, &offer("second")).withholds("t"));
        approvals.keep_only(|_| false);
        assert!(
            approvals.of(&server, &offer("first")).withholds("t"),
            "a server that comes back is read anew"
        );
    }

    #[test]
    fn nothing_is_kept_without_a_place() {
        let server = ServerName::parse("s").expect("a name");
        let mut approvals = Approvals::new(None);
        let first = approvals.of(&server, &offer("first"));
        let second = approvals.of(&server, &offer("second"));
        assert!(!second.withholds("t") && Arc::ptr_eq(&first, &second));
        assert_eq!(approvals.counted, (0, 0));
    }
}
