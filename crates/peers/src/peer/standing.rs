//! The standing of one server by what was approved of it, and the messages to its callers about that.

use tectum_core::{Fault, FaultKind};

use super::{Pins, pins::Withheld};
use crate::spec::ServerName;

/// The approvals that hold for one server.
#[derive(Debug, PartialEq)]
pub(crate) enum Standing {
    /// The approved definitions.
    Known(Pins),
    /// Nobody can tell what was approved, and why: everything is withheld.
    Lost(String),
}

impl Standing {
    /// True for a tool that may be neither listed nor called.
    pub(crate) fn withholds(&self, tool: &str) -> bool {
        match self {
            Self::Known(pins) => pins.withholds(tool).is_some(),
            Self::Lost(_) => true,
        }
    }

    /// True when the server's instructions may not be passed on.
    pub(crate) fn withholds_instructions(&self) -> bool {
        match self {
            Self::Known(pins) => pins.withholds_instructions(),
            Self::Lost(_) => true,
        }
    }

    /// The reason why nothing is known of what was approved.
    pub(crate) fn lost(&self) -> Option<&str> {
        match self {
            Self::Known(_) => None,
            Self::Lost(why) => Some(why),
        }
    }

    /// The fault of a call of a tool that is withheld.
    pub(crate) fn refusal(&self, server: &ServerName, tool: &str) -> Option<Fault> {
        let why = match self {
            Self::Lost(why) => why.clone(),
            Self::Known(pins) => match pins.withholds(tool)? {
                Withheld::Changed => "its definition changed since a person approved it".to_owned(),
                Withheld::New => "it is new, and no person has approved it yet".to_owned(),
            },
        };
        let message = format!("`{tool}` of the server `{server}` is withheld: {why}");
        let hint = format!("a person can look at it and approve it with `tectum approve-tools {server}`");
        Some(Fault::new(FaultKind::Permission, message).hint(hint))
    }

    /// Says what is withheld, if that is news.
    pub(super) fn tell(&self, server: &ServerName, before: Option<&Self>) {
        if before == Some(self) {
            return;
        }
        match self {
            Self::Lost(why) => tracing::warn!(
                %server,
                "{why}; its tools and instructions are withheld until a person runs `tectum approve-tools {server}`"
            ),
            Self::Known(pins) if pins.waiting() > 0 => tracing::warn!(
                %server,
                waiting = pins.waiting(),
                "what changed since it was approved is withheld until a person runs `tectum approve-tools {server}`"
            ),
            Self::Known(_) => {}
        }
    }
}

impl Default for Standing {
    fn default() -> Self {
        Self::Known(Pins::default())
    }
}
