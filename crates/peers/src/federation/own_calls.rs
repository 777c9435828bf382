//! Calls of the program around the house, which came over no wire, as telemetry sees them: like a client's
//! request, with what they cause at servers below it.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use tectum_core::{Call, CallId, FaultKind, Outcome, Tapped, Tectum};

use super::Federation;
use crate::{
    client::Caller,
    operation::{Ending, Operation, RequestBegun, Telemetry, TraceContext},
};

/// The measurements of calls on their way.
type Measured = Mutex<HashMap<CallId, Arc<dyn Operation>>>;

impl Federation {
    /// Measures such calls of this house from now on, as parts of the trace that the program was started in.
    pub fn measure_own_calls(
        self: &Arc<Self>,
        house: &Tectum,
        telemetry: Arc<dyn Telemetry>,
        context: TraceContext,
    ) {
        let (federation, measured) = (Arc::downgrade(self), Measured::default());
        house.tap().open(move |Tapped { call, outcome }| {
            // Those of clients are measured where they are read.
            let Some(federation) = federation.upgrade().filter(|_| call.client.is_none()) else { return };
            match outcome {
                None => {
                    let operation = begun(&*telemetry, call, context.clone());
                    let caller = Caller { operation: Some(operation.clone()), ..Caller::default() };
                    federation.keepers.callers.keep(call.id, Arc::new(caller));
                    measured.lock().insert(call.id, operation);
                }
                Some(outcome) => {
                    federation.keepers.callers.take(call.id);
                    let operation = measured.lock().remove(&call.id);
                    operation.into_iter().for_each(|operation| ended(&*operation, outcome));
                }
            }
        });
    }
}

fn begun(telemetry: &dyn Telemetry, call: &Call, context: TraceContext) -> Arc<dyn Operation> {
    let operation = telemetry.begin(RequestBegun {
        method: "tools/call",
        subject: None,
        id: None,
        session: None,
        version: None,
        pipe: true,
        server: None,
        context,
    });
    operation.calls(call);
    operation
}

fn ended(operation: &dyn Operation, outcome: &Outcome) {
    operation.called(outcome);
    let cancelled = matches!(&outcome.result, Err(fault) if fault.kind == FaultKind::Cancelled);
    operation.end(if cancelled { Ending::Cancelled } else { Ending::Result });
}
