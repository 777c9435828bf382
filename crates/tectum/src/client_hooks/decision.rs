//! A decision about a tool of a client, and its reason.

/// What the client does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookDecision {
    /// The rules of this house say nothing; the client decides as it would without them.
    Pass,
    /// The tool is used without a question.
    Allow,
    /// The client asks its person.
    Ask,
    /// The tool is not used.
    Deny,
}

impl HookDecision {
    /// The word that all clients share.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Pass => "",
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A decision and its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookVerdict {
    /// The decision.
    pub decision: HookDecision,
    /// The reason, for the model and for people.
    pub reason: String,
}

impl HookVerdict {
    /// No opinion.
    pub(super) fn pass(reason: &str) -> Self {
        Self { decision: HookDecision::Pass, reason: reason.to_owned() }
    }

    /// A denial.
    pub fn deny(reason: &str) -> Self {
        Self { decision: HookDecision::Deny, reason: reason.to_owned() }
    }
}
