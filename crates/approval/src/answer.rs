//! A person's answer: the one form that counts.

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use tectum_core::Fault;

use crate::QuestionKind;

/// An answer. A member that is not known makes it none.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Yes or no.
    pub decision: Choice,
    /// How long a yes counts.
    #[serde(default)]
    pub remember: Remember,
    /// The reason, which the model is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The arguments to run the call with instead of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Box<RawValue>>,
    /// The answer to a question that is more than yes or no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<Value>,
}

/// Yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Choice {
    /// It may be done.
    Approve,
    /// It may not.
    Deny,
}

/// How long a yes counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Remember {
    /// For this call.
    #[default]
    Once,
    /// For calls of the same tool on the same subject in the same session.
    Session,
    /// The same, as a rule in the user's configuration.
    Project,
}

/// What came of an answer that counted.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Answered {
    /// What is remembered beyond the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remembered: Option<Remembered>,
}

/// A rule that came of a yes.
#[derive(Clone, Debug, Serialize)]
pub struct Remembered {
    /// The rule as it would be written in a list.
    pub rule: String,
    /// The change of the user's configuration as a unified diff; empty for a rule in memory.
    pub diff: String,
    /// Why the rule could not be kept; the yes counts for the one call all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl Answer {
    /// A yes to one call.
    pub fn yes() -> Self {
        Self {
            decision: Choice::Approve,
            remember: Remember::Once,
            reason: None,
            arguments: None,
            response: None,
        }
    }

    /// A no, and why.
    pub fn no(reason: impl Into<String>) -> Self {
        Self { decision: Choice::Deny, reason: Some(reason.into()), ..Self::yes() }
    }

    /// Reads an answer from JSON.
    pub fn parse(json: &str) -> Result<Self, Fault> {
        let broken = |error: serde_json::Error| {
            Fault::invalid(format!("this is no answer: {error}"))
                .hint(r#"send {"decision": "approve"} or {"decision": "deny", "reason": "..."}"#)
        };
        serde_json::from_str(json).map_err(broken)
    }

    /// A fault if it does not fit a question of this kind.
    pub(crate) fn check(&self, kind: QuestionKind) -> Result<(), Fault> {
        let wrong = |why: &str| Err(Fault::invalid(why).hint("the question still waits: answer it again"));
        match self.decision {
            Choice::Deny if self.arguments.is_some() => wrong("a no cannot bring other arguments"),
            Choice::Deny if self.remember != Remember::Once => wrong("only a yes can be remembered"),
            _ if self.remember != Remember::Once && kind != QuestionKind::Call => {
                wrong("only a yes to a call can be remembered")
            }
            _ if self.remember != Remember::Once && self.arguments.is_some() => {
                wrong("a yes to other arguments is for this one call and cannot be remembered")
            }
            _ if self.response.is_some() && kind == QuestionKind::Call => {
                wrong("a call is answered with yes or no, not with a response")
            }
            _ => match self.arguments.as_ref().map(|arguments| arguments.get().trim_start()) {
                Some(text) if kind == QuestionKind::Call && !text.starts_with('{') => {
                    wrong("`arguments` must be a JSON object")
                }
                _ => Ok(()),
            },
        }
    }
}
