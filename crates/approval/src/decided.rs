//! An answer that was there before the question: calls that are replayed or taken back ask nobody.

use std::sync::Arc;

use tectum_core::{Approved, Approver, Asking, Consent, Fault, FaultKind, Question};

/// An answer that was there before the question.
#[derive(Debug)]
pub struct Decided(Option<(FaultKind, String, Option<String>)>);

impl Decided {
    /// The call may run.
    pub fn yes() -> Arc<dyn Approver> {
        Arc::new(Self(None))
    }

    /// The call is refused with this fault.
    pub fn no(fault: Fault) -> Arc<dyn Approver> {
        Arc::new(Self(Some((fault.kind, fault.message, fault.hint))))
    }
}

impl Approver for Decided {
    fn ask<'a>(&'a self, _: &'a Question<'a>, _: Option<Consent>) -> Asking<'a> {
        let answer = match self.0.clone() {
            None => Ok(Approved::Run),
            Some((kind, message, hint)) => Err(Fault { hint, ..Fault::new(kind, message) }),
        };
        Box::pin(std::future::ready(answer))
    }
}
