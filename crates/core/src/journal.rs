//! The record of every call, refused ones too. Who keeps it is elsewhere; this is the interface.

use std::{
    fmt,
    pin::Pin,
    sync::{Arc, OnceLock},
    time::Duration,
};

use crate::{Call, Effect, Fault, Judgement, Outcome};

/// A call at its end, as the recorder sees it.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// The call.
    pub call: &'a Call,
    /// The outcome of the call.
    pub outcome: &'a Outcome,
    /// What the stations before the provider found.
    pub trail: &'a Trail,
}

/// What the stations before the provider found out about a call; nothing after the one that refused it.
#[derive(Debug, Default)]
pub struct Trail {
    /// The server of a federated tool.
    pub server: Option<Arc<str>>,
    /// How the call affects the world.
    pub effect: Option<Effect>,
    /// The judgement of the gate, and the rule or the reason.
    pub judged: Option<(Judgement, String)>,
    /// The answer to the question, if one was asked.
    pub asked: Option<Asked>,
}

/// A question that was asked about a call.
#[derive(Clone, Copy, Debug)]
pub struct Asked {
    /// Who answered; `None` if nobody did.
    pub by: Option<&'static str>,
    /// True if the call may run.
    pub approved: bool,
    /// The time from the question to its end.
    pub waited: Duration,
}

/// The future of a record that is being made.
pub type Recording<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;

/// Whoever keeps the record of calls.
pub trait Recorder: Send + Sync {
    /// Keeps a call. Its caller is answered when this has ended.
    fn record<'a>(&'a self, seen: Seen<'a>) -> Recording<'a>;
    /// A fault if a call that changes something could not be recorded: it is refused with it.
    fn ready_for(&self, change: &Call) -> Result<(), Fault>;
}

type Meter = Box<dyn Fn(Duration) + Send + Sync>;

/// The place of the recorder. Without one nothing is kept and a call does no work here.
#[derive(Default)]
pub struct Journal {
    recorder: OnceLock<Arc<dyn Recorder>>,
    meter: OnceLock<Meter>,
}

impl Journal {
    /// Attaches the recorder. False if there is one already: it stays.
    pub fn attach(&self, recorder: Arc<dyn Recorder>) -> bool {
        self.recorder.set(recorder).is_ok()
    }

    /// Tells how long each call took, on the call's own thread, to the one meter. Only the first counts.
    pub fn measure(&self, meter: impl Fn(Duration) + Send + Sync + 'static) {
        let _ = self.meter.set(Box::new(meter));
    }

    /// Records a call. It is awaited: the journal may slow a call, never lose one.
    pub(crate) async fn record(&self, seen: Seen<'_>) {
        if let Some(meter) = self.meter.get() {
            meter(seen.outcome.took);
        }
        if let Some(recorder) = self.recorder.get() {
            recorder.record(seen).await;
        }
    }

    /// A fault if a call that changes something could not be recorded.
    pub(crate) fn ready_for(&self, change: &Call) -> Result<(), Fault> {
        self.recorder.get().map_or(Ok(()), |recorder| recorder.ready_for(change))
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Journal").field(&self.recorder.get().is_some()).finish()
    }
}
