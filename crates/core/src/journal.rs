//! The record of every call, refused ones too. The writer is elsewhere; this is its interface.

use std::{
    fmt,
    sync::OnceLock,
    time::{Duration, SystemTime},
};

use tokio::sync::mpsc;

use crate::{Call, CallId, FaultKind, Outcome, SessionId, ToolName};

/// The journal entry of one call.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The time when it ended.
    pub at: SystemTime,
    /// The id of the call.
    pub call: CallId,
    /// The conversation it belongs to.
    pub session: SessionId,
    /// The tool of the call.
    pub tool: ToolName,
    /// The arguments as they came.
    pub args: String,
    /// The kind and message of a failure; `None` for success.
    pub failed: Option<(FaultKind, String)>,
    /// The duration of the call.
    pub took: Duration,
}

type Meter = Box<dyn Fn(Duration) + Send + Sync>;

/// The queue to the writer. Without a writer nothing is kept and a call does no work here.
#[derive(Default)]
pub struct Journal {
    writer: OnceLock<mpsc::Sender<Entry>>,
    meter: OnceLock<Meter>,
}

impl Journal {
    /// Attaches the writer. A second one is refused.
    pub fn attach(&self, writer: mpsc::Sender<Entry>) -> Result<(), mpsc::Sender<Entry>> {
        self.writer.set(writer)
    }

    /// Tells how long each call took, on the call's own thread, to the one meter. Only the first counts.
    pub fn measure(&self, meter: impl Fn(Duration) + Send + Sync + 'static) {
        let _ = self.meter.set(Box::new(meter));
    }

    /// Records a call. The queue is bounded and awaited: the journal may slow a call, never lose one.
    pub async fn record(&self, call: &Call, outcome: &Outcome) {
        if let Some(meter) = self.meter.get() {
            meter(outcome.took);
        }
        let Some(writer) = self.writer.get() else { return };
        let entry = Entry {
            at: SystemTime::now(),
            call: call.id,
            session: call.session.clone(),
            tool: call.tool.clone(),
            args: call.args.get().to_owned(),
            failed: outcome.result.as_ref().err().map(|fault| (fault.kind, fault.message.clone())),
            took: outcome.took,
        };
        if writer.send(entry).await.is_err() {
            tracing::error!(call = %call.id, "the journal's writer is gone");
        }
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").field("writer", &self.writer).finish_non_exhaustive()
    }
}
