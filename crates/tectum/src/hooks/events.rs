//! What happens in a house, as numbered events in one ring. Each reader keeps its own place in it, so a slow
//! one delays nobody and costs nothing; what was overwritten before it came is counted for it.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::SystemTime,
};

use axum::body::Bytes;
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::value::RawValue;
use tectum_journal::when;
use tokio::sync::watch;

/// Events that a reader may be behind by, or away for.
const MOST_EVENTS: usize = 4096;
/// Bytes of all of them together. A pushed event may have a megabyte.
const MOST_BYTES: usize = 8 * 1024 * 1024;
/// Events that `GET /api/events` has waiting; older ones make room.
const MOST_DRAINED: usize = 1000;

/// The ring.
#[derive(Debug)]
pub(super) struct Bus {
    ring: Mutex<Ring>,
    /// The number of the next event.
    next: watch::Sender<u64>,
    streams: AtomicUsize,
    drained: AtomicBool,
}

#[derive(Debug)]
struct Ring {
    events: VecDeque<Event>,
    bytes: usize,
    /// The number that the first event had.
    began: u64,
    /// The number of the next event; those in the ring are the ones right before it.
    next: u64,
    /// The next event for whoever drains.
    undrained: u64,
    /// Events that were gone before somebody drained.
    missed: u64,
}

/// One event as a frame of an event stream, and where in it the JSON stands.
#[derive(Clone, Debug)]
struct Event {
    frame: Bytes,
    json: std::ops::Range<usize>,
}

/// The JSON of an event.
#[derive(Serialize)]
struct Told<'a, D> {
    id: u64,
    at: String,
    kind: &'a str,
    data: &'a D,
}

/// The events that waited.
#[derive(Debug, Serialize)]
pub(super) struct Drained {
    /// In their order.
    pub(super) events: Vec<Box<RawValue>>,
    /// The number that was dropped before them.
    pub(super) missed: u64,
}

/// The next thing for a reader.
#[derive(Debug)]
pub(super) enum Next {
    /// An event.
    Event(Bytes),
    /// The events before this number are gone; how many is known if they were of this process.
    Missed(u64, Option<u64>),
    /// There is none yet.
    Nothing,
}

/// A reader's place in the ring.
#[derive(Debug)]
pub(super) struct ReaderPlace {
    next: u64,
    /// True if it asked for events that this process never had.
    lost: bool,
}

impl Default for Bus {
    /// Numbers begin with the time, so that those of a later process are larger and nobody resumes at
    /// another event of the same number.
    fn default() -> Self {
        let first = micros();
        Self {
            ring: Mutex::new(Ring {
                events: VecDeque::new(),
                bytes: 0,
                began: first,
                next: first,
                undrained: first,
                missed: 0,
            }),
            next: watch::Sender::new(first),
            streams: AtomicUsize::new(0),
            drained: AtomicBool::new(false),
        }
    }
}

impl Bus {
    /// Adds an event. What cannot be JSON is none.
    pub(super) fn push(&self, kind: &str, data: &impl Serialize) {
        let at = when::rfc3339(micros());
        let mut ring = self.ring.lock();
        let id = ring.next;
        let Ok(json) = serde_json::to_string(&Told { id, at, kind, data }) else { return };
        let head = format!("id: {id}\nevent: {}\ndata: ", kind.replace(['\n', '\r'], " "));
        let event = Event {
            json: head.len()..head.len() + json.len(),
            frame: Bytes::from(format!("{head}{json}\n\n")),
        };
        ring.next += 1;
        ring.bytes += event.frame.len();
        ring.events.push_back(event);
        while ring.events.len() > MOST_EVENTS || ring.bytes > MOST_BYTES && ring.events.len() > 1 {
            let gone = ring.events.pop_front().map_or(0, |oldest| oldest.frame.len());
            ring.bytes -= gone;
        }
        let next = ring.next;
        drop(ring);
        self.next.send_replace(next);
    }

    /// True while somebody reads events, or once somebody has drained them: then calls are told, too.
    pub(super) fn is_heard(&self) -> bool {
        self.drained.load(Ordering::Relaxed) || self.streams.load(Ordering::Relaxed) > 0
    }

    /// Told of each new event, and when somebody begins to read.
    pub(super) fn changes(&self) -> watch::Receiver<u64> {
        self.next.subscribe()
    }

    /// Takes the events that came since the last time.
    pub(super) fn drain(&self) -> Drained {
        self.drained.store(true, Ordering::Relaxed);
        self.next.send_modify(|_| ());
        let mut ring = self.ring.lock();
        let kept = ring.first().max(ring.next.saturating_sub(MOST_DRAINED as u64));
        let missed = kept.saturating_sub(ring.undrained);
        let from = kept.max(ring.undrained);
        ring.missed += missed;
        ring.undrained = ring.next;
        let waiting: Vec<Event> = ring.events.iter().skip((from - ring.first()) as usize).cloned().collect();
        drop(ring);
        Drained { events: waiting.iter().filter_map(Event::json).collect(), missed }
    }

    /// The number of events that were gone before somebody drained them.
    pub(super) fn missed(&self) -> u64 {
        self.ring.lock().missed
    }

    /// The number of the last event.
    pub(super) fn last(&self) -> u64 {
        self.ring.lock().next - 1
    }

    /// A place after this event, or for what comes from now on.
    pub(super) fn place(&self, after: Option<u64>) -> ReaderPlace {
        let next = self.ring.lock().next;
        match after {
            None => ReaderPlace { next, lost: false },
            Some(after) if after < next => ReaderPlace { next: after + 1, lost: false },
            Some(_) => ReaderPlace { next, lost: true },
        }
    }

    /// The next event at this place.
    pub(super) fn next(&self, place: &mut ReaderPlace) -> Next {
        let ring = self.ring.lock();
        let first = ring.first();
        if std::mem::take(&mut place.lost) {
            return Next::Missed(place.next, None);
        }
        if place.next < first {
            let wanted = std::mem::replace(&mut place.next, first);
            // Numbers of an earlier process are times before this one began.
            return Next::Missed(first, (wanted >= ring.began).then_some(first - wanted));
        }
        match ring.events.get((place.next - first) as usize) {
            None => Next::Nothing,
            Some(event) => {
                place.next += 1;
                Next::Event(event.frame.clone())
            }
        }
    }

    /// Counts a reader until what is returned is dropped.
    pub(super) fn reading(self: &Arc<Self>) -> Reading {
        self.streams.fetch_add(1, Ordering::Relaxed);
        self.next.send_modify(|_| ());
        Reading(self.clone())
    }
}

/// A reader that is there.
#[derive(Debug)]
pub(super) struct Reading(Arc<Bus>);

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Ring {
    /// The number of the oldest event that is still there.
    fn first(&self) -> u64 {
        self.next - self.events.len() as u64
    }
}

impl Event {
    fn json(&self) -> Option<Box<RawValue>> {
        serde_json::from_slice(&self.frame[self.json.clone()]).ok()
    }
}

fn micros() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_micros()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn told(bus: &Bus) -> (Vec<Value>, u64) {
        let Drained { events, missed } = bus.drain();
        let data = |json: &RawValue| serde_json::from_str::<Value>(json.get()).expect("JSON")["data"].clone();
        (events.iter().map(|json| data(json)).collect(), missed)
    }

    /// Everything at a place: events by their data, and what was missed.
    fn read(bus: &Bus, place: &mut ReaderPlace) -> Vec<String> {
        let mut all = Vec::new();
        loop {
            match bus.next(place) {
                Next::Nothing => return all,
                Next::Missed(_, count) => all.push(format!("missed {count:?}")),
                Next::Event(frame) => {
                    let text = String::from_utf8_lossy(&frame).into_owned();
                    let json = text.lines().find_map(|line| line.strip_prefix("data: ")).expect("data");
                    all.push(serde_json::from_str::<Value>(json).expect("JSON")["data"].to_string());
                }
            }
        }
    }

    #[test]
    fn draining_takes_each_event_once_and_counts_what_made_room() {
        let bus = Bus::default();
        bus.push("x", &1);
        assert_eq!(told(&bus), (vec![json!(1)], 0));
        assert_eq!(told(&bus), (vec![], 0));
        (0..1500).for_each(|n| bus.push("x", &n));
        let (events, missed) = told(&bus);
        assert_eq!((events.len(), &events[0], missed), (1000, &json!(500), 500));
        assert_eq!(bus.missed(), 500);
    }

    #[test]
    fn readers_have_places_of_their_own_and_resume_after_what_they_saw() {
        let bus = Bus::default();
        let mut early = bus.place(None);
        let first = early.next;
        (0..3).for_each(|n| bus.push("x", &n));
        assert_eq!(read(&bus, &mut early), ["0", "1", "2"]);
        assert_eq!(read(&bus, &mut bus.place(None)), [""; 0]);
        assert_eq!(read(&bus, &mut bus.place(Some(first))), ["1", "2"]);
        assert_eq!(told(&bus).0.len(), 3, "reading destroys nothing");
    }

    #[test]
    fn a_reader_is_told_what_it_missed() {
        let bus = Bus::default();
        let first = bus.place(None).next;
        let mut slow = bus.place(None);
        (0..MOST_EVENTS + 2).for_each(|n| bus.push("x", &n));
        let seen = read(&bus, &mut slow);
        assert_eq!(
            (seen[0].as_str(), seen[1].as_str(), seen.len()),
            ("missed Some(2)", "2", MOST_EVENTS + 1)
        );
        // One that comes back from an earlier process, and one with a number that nobody gave.
        assert_eq!(read(&bus, &mut bus.place(Some(first - 10)))[0], "missed None");
        assert_eq!(read(&bus, &mut bus.place(Some(u64::MAX))), ["missed None"]);
    }

    #[test]
    fn large_events_push_out_older_ones_and_the_newest_stays() {
        let bus = Bus::default();
        let mut place = bus.place(None);
        let large = "x".repeat(MOST_BYTES / 2);
        (0..3).for_each(|_| bus.push("x", &large));
        let seen = read(&bus, &mut place);
        assert_eq!((seen[0].as_str(), seen.len()), ("missed Some(2)", 2));
        assert!(bus.ring.lock().bytes <= MOST_BYTES);
    }

    #[test]
    fn a_kind_stays_on_its_line() {
        let bus = Bus::default();
        let mut place = bus.place(None);
        bus.push("a\nid: 7", &"b\nc");
        let Next::Event(frame) = bus.next(&mut place) else { panic!("an event") };
        assert_eq!(String::from_utf8_lossy(&frame).lines().count(), 4, "{frame:?}");
    }
}
