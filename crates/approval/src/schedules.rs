//! Orders of events around questions, as chance finds them: asked, shown, answered, cancelled, expired,
//! parked and taken up, remembered, restarted, while the world changes. No call runs that nobody agreed
//! to as it then was, and no question is left behind.

use std::sync::Arc;

use shuttle::{
    future::block_on,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};
use tokio::sync::{broadcast, oneshot};

use crate::{
    DeskEvent, OpenQuestion, QuestionKind,
    register::{Adopted, Book, End, Lock, NotOpen, Register},
    remembered::Memory,
};

/// A lock at which the order of threads is decided anew.
struct Tried<T>(Mutex<T>);

impl<T> Lock<T> for Tried<T> {
    fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        work(&mut self.0.lock().expect("whole"))
    }
}

/// What the threads of one schedule share.
struct World {
    register: Register<Tried<Book>>,
    memory: Memory,
    /// The file that the call is about.
    content: AtomicU64,
    /// Answers that were accepted: the question, and whether it was a yes.
    accepted: Mutex<Vec<(Arc<str>, bool)>>,
    /// Calls that ran: the question that was answered, or none for a remembered yes.
    ran: Mutex<Vec<Option<Arc<str>>>>,
    /// Calls that have ended.
    ended: AtomicU64,
}

/// What a call would be asked about: a yes covers the content of that moment.
fn question(content: u64) -> Arc<OpenQuestion> {
    let mut question = OpenQuestion::blank(QuestionKind::Call);
    question.binding[..8].copy_from_slice(&content.to_le_bytes());
    Arc::new(question)
}

const KEY: [u8; 32] = [7; 32];

impl World {
    fn new() -> Self {
        Self {
            register: Register::new(Tried(Mutex::new(Book::default())), broadcast::Sender::new(64)),
            memory: Memory::default(),
            content: AtomicU64::new(0),
            accepted: Mutex::new(Vec::new()),
            ran: Mutex::new(Vec::new()),
            ended: AtomicU64::new(0),
        }
    }

    fn content(&self) -> u64 {
        self.content.load(Ordering::SeqCst)
    }

    /// A call walks: it is asked about until what was agreed to is what is there, or until a no.
    fn call(&self, gives_up: bool) {
        // Each further question needs a further yes, of which there are few.
        for _ in 0..4 {
            if self.memory.covers("s", "tool", &[]) {
                self.ran.lock().expect("whole").push(None);
                return;
            }
            let open = question(self.content());
            let end = self.register.open(open.clone());
            let end = if gives_up { self.repeat(&open, end) } else { block_on(end).ok() };
            let Some(End::Yes { .. }) = end else { return };
            let mut now = [0; 32];
            now[..8].copy_from_slice(&self.content().to_le_bytes());
            if now == open.binding {
                self.ran.lock().expect("whole").push(Some(open.id.clone()));
                return;
            }
        }
    }

    /// The call cannot wait: it ends, and is repeated.
    fn repeat(&self, open: &Arc<OpenQuestion>, mut end: oneshot::Receiver<End>) -> Option<End> {
        let Some(id) = self.register.park(&open.id, Some(KEY)) else { return end.try_recv().ok() };
        assert_eq!(id, open.id, "nobody else repeats this call");
        thread::yield_now();
        match self.register.adopt_same(&KEY)? {
            Adopted::Ended(_, end) => Some(end),
            Adopted::Waiting(_, end) => block_on(end).ok(),
        }
    }

    /// A call asks, and its caller leaves.
    fn leave(&self) {
        let open = question(self.content());
        let end = self.register.open(open.clone());
        thread::yield_now();
        drop(end);
        thread::yield_now();
        let _ = self.register.settle(&open.id, End::Withdrawn);
        assert!(open.settled().is_cancelled(), "it is withdrawn everywhere");
    }

    /// A surface answers whatever it sees.
    fn answer(&self, yes: bool, remember: bool) {
        for _ in 0..3 {
            for open in self.register.waiting() {
                let _ = self.register.shown(&open.id);
                let end = match yes {
                    true => End::Yes { by: "one".into(), edited: None, response: None },
                    false => End::No { by: "other".into(), reason: String::new() },
                };
                if self.register.settle(&open.id, end).is_ok() {
                    self.accepted.lock().expect("whole").push((open.id.clone(), yes));
                    if remember {
                        self.memory.remember("s", "tool", &[]);
                    }
                }
            }
            thread::yield_now();
        }
    }

    /// Whatever waits ends without an answer, in one way or another.
    fn end_all(&self, end: &End) {
        for open in self.register.waiting() {
            let _ = self.register.settle(&open.id, end.clone());
        }
    }
}

/// One schedule; `shape` picks who takes part.
fn schedule(shape: u64) {
    let world = Arc::new(World::new());
    let mut events = world.register.events.subscribe();
    let callers: Vec<_> = (0..2)
        .map(|n| {
            let world = world.clone();
            thread::spawn(move || {
                world.call(n == 0 && shape & 1 == 1);
                world.ended.fetch_add(1, Ordering::SeqCst);
            })
        })
        .collect();
    let mut others = Vec::new();
    let mut with = |work: fn(&World)| {
        let world = world.clone();
        others.push(thread::spawn(move || work(&world)));
    };
    with(if shape & 2 == 2 { |world| world.answer(true, true) } else { |world| world.answer(true, false) });
    with(|world| world.answer(false, false));
    with(if shape & 4 == 4 {
        |world| world.end_all(&End::Late)
    } else {
        |world| world.end_all(&End::Withdrawn)
    });
    with(World::leave);
    with(|world| _ = world.content.fetch_add(1, Ordering::SeqCst));
    others.into_iter().for_each(|other| other.join().expect("ends"));
    // Whoever still waits loses the last surface.
    while world.ended.load(Ordering::SeqCst) < 2 {
        world.end_all(&End::Nobody);
        thread::yield_now();
    }
    callers.into_iter().for_each(|caller| caller.join().expect("ends"));
    check(&world, &mut events);
}

fn check(world: &World, events: &mut broadcast::Receiver<DeskEvent>) {
    let accepted = world.accepted.lock().expect("whole");
    let ran = world.ran.lock().expect("whole");
    for (at, (id, _)) in accepted.iter().enumerate() {
        assert!(!accepted[..at].iter().any(|(other, _)| other == id), "{id} was answered twice");
    }
    for (at, id) in ran.iter().enumerate() {
        match id {
            Some(id) => {
                assert!(accepted.contains(&(id.clone(), true)), "{id} ran without a yes");
                assert!(!ran[..at].contains(&Some(id.clone())), "{id} ran twice");
            }
            None => assert!(accepted.iter().any(|(_, yes)| *yes), "remembered without a yes"),
        }
    }
    let leaked = world.register.count();
    // An answer that its caller did not come back for is all that may be left, and it is let go.
    let (mut asked, mut settled) = (Vec::new(), Vec::new());
    while let Ok(event) = events.try_recv() {
        match event {
            DeskEvent::Asked(open) => asked.push(open),
            DeskEvent::Settled { id, .. } => settled.push(id),
            DeskEvent::Shown(_) => {}
        }
    }
    asked.iter().for_each(|open| world.register.forget(&open.id));
    assert_eq!((world.register.count(), world.register.waiting().len()), (0, 0), "{leaked} were left");
    for open in &asked {
        let times = settled.iter().filter(|id| **id == open.id).count();
        assert!(open.settled().is_cancelled() && times == 1, "{} was settled {times} times", open.id);
        // Nothing of it survives a restart.
        let next: Register = Register::new(Default::default(), broadcast::Sender::new(1));
        let yes = End::Yes { by: "late".into(), edited: None, response: None };
        assert_eq!(next.settle(&open.id, yes).expect_err("unknown"), NotOpen::Unknown);
    }
}

#[test]
fn soak_no_order_of_events_runs_a_call_that_nobody_agreed_to() {
    let each = if std::env::var_os("TECTUM_SOAK").is_some() { 12_500 } else { 400 };
    for shape in 0..8 {
        shuttle::check_random(move || schedule(shape), each);
    }
    println!("soak: orders of events around approvals | {}, none ran without consent", each * 8);
}
