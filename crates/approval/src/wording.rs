//! What a call is told of its question's end.

use tectum_core::{Fault, FaultKind};

use crate::{OpenQuestion, register::End};

impl OpenQuestion {
    /// The name of what is asked about, in sentences.
    fn named(&self) -> &str {
        if self.tool.is_empty() { "it" } else { &self.tool }
    }

    /// The refusal that an end other than a yes is.
    pub(crate) fn refusal(&self, end: End) -> Fault {
        let (tool, patience) = (self.named(), self.patience);
        match end {
            End::No { reason, .. } => {
                Fault::new(FaultKind::Permission, format!("{tool} was refused by a person: {reason}"))
            }
            End::Late => {
                let message = format!("nobody approved {tool} within {} s", patience.0.as_secs());
                Fault::new(FaultKind::Timeout, message)
            }
            End::Unseen => {
                let minutes = patience.1.as_secs() / 60;
                let message =
                    format!("nobody approved {tool}: nobody looked at the question for {minutes} minutes");
                Fault::new(FaultKind::Timeout, message).hint("ask for fewer things at once")
            }
            End::Nobody => self.nobody(),
            End::Withdrawn | End::Yes { .. } => {
                Fault::new(FaultKind::Cancelled, format!("the question about {tool} was withdrawn"))
            }
        }
    }

    fn nobody(&self) -> Fault {
        let because = match self.rule.text.as_str() {
            "" => String::new(),
            rule => format!(" ({rule})"),
        };
        let message = format!("{} needs approval{because} and nobody is there to give it", self.named());
        let fault = Fault::new(FaultKind::Permission, message);
        if self.how_to_allow.is_empty() { fault } else { fault.hint(self.how_to_allow.clone()) }
    }

    /// What a call is told that cannot wait any longer.
    pub(crate) fn pending(&self, id: &str) -> Fault {
        let message = format!(
            "pending, id {id}: {} waits for a person's approval ({}); repeat the call with exactly the same arguments",
            self.named(),
            self.rule.text
        );
        let allow = Some(self.how_to_allow.as_str()).filter(|how| !how.is_empty());
        let hint = format!(
            "a person answers in `tectum top`, or with `tectum approve {id}` or `tectum deny {id}`, and the answer waits for the repeated call{}{}",
            if allow.is_some() { "; " } else { "" },
            allow.unwrap_or_default()
        );
        Fault::new(FaultKind::Timeout, message).hint(hint)
    }
}
