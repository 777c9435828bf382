//! The station where a person decides about a call. Who asks people is elsewhere; this is the interface.

use std::{
    any::Any,
    fmt,
    pin::Pin,
    sync::{Arc, OnceLock},
};

use serde_json::value::RawValue;

use crate::{Call, Fault, FaultKind, Grants, Origin, Payload, ToolInfo, Wants};

/// What the gate found out about a call that needs consent.
#[derive(Clone, Debug)]
pub struct Asks {
    /// The subject of the call: the tool's primary argument, or the part of it that the rule is about.
    pub subject: String,
    /// Everything that the rules looked at: parts, paths and their true names.
    pub subjects: Vec<String>,
    /// The rule that asks, and the place where it is written.
    pub rule: String,
    /// That place alone.
    pub origin: Option<Origin>,
}

impl Asks {
    /// True if a rule in a list asks, which no allow rule beats; false for a default.
    pub fn by_rule(&self) -> bool {
        self.rule.starts_with("ask rule ") || self.rule.starts_with("deny rule ")
    }

    /// Tells a person how to allow the call without being asked again.
    pub fn how_to_allow(&self, tool: &str) -> String {
        if self.by_rule() {
            return format!("a person can remove the {}, or narrow its pattern", self.rule);
        }
        // Escapes of JSON are escapes of TOML.
        let allow = serde_json::Value::from(self.allow_rule(tool));
        format!("a person can allow it in ~/.config/tectum/tectum.toml: [permissions] allow = [{allow}]")
    }

    /// The rule that allows this subject and no other.
    pub fn allow_rule(&self, tool: &str) -> String {
        match self.subject.as_str() {
            "" => tool.to_owned(),
            subject => format!("{tool}({})", globset::escape(subject)),
        }
    }

    /// The refusal where nobody can be asked.
    pub fn nobody_to_ask(&self, tool: &str) -> Fault {
        let message = format!("{tool} needs approval ({}) and nobody is there to give it", self.rule);
        Fault::new(FaultKind::Permission, message).hint(self.how_to_allow(tool))
    }
}

/// The question about one call, with all that is known of it.
pub struct Question<'a> {
    /// The call.
    pub call: &'a Call,
    /// The definition of its tool.
    pub tool: Option<&'a ToolInfo>,
    /// What it needs.
    pub wants: &'a Wants,
    /// The paths it would get, opened.
    pub grants: &'a Grants,
    /// Why it is asked about.
    pub asks: &'a Asks,
    /// The way to see what it would do.
    pub rehearse: Option<&'a Rehearse<'a>>,
    /// The id of the question and who answered it, noted for the record.
    pub noted: Noted,
}

/// Runs the tool of a call with other arguments behind the same gate, unseen and unrecorded. They must be
/// such that nothing is changed.
pub type Rehearse<'a> = dyn Fn(Box<RawValue>) -> Rehearsal<'a> + Send + Sync + 'a;

/// The future of such a run.
pub type Rehearsal<'a> = Pin<Box<dyn Future<Output = Result<Payload, Fault>> + Send + 'a>>;

/// What the record is told of a question.
#[derive(Debug, Default)]
pub struct Noted {
    /// The id of the question.
    pub id: OnceLock<Arc<str>>,
    /// Who answered: `client` for the person behind the call, else the name of the place where it was
    /// answered.
    pub by: OnceLock<Arc<str>>,
}

/// The consent of a person to one call.
#[derive(Clone, Debug)]
pub struct Consent {
    /// The digest of what they agreed to. Only the approver that gave it can tell whether it still holds.
    pub covers: [u8; 32],
    /// The arguments that they put in the place of the call's own.
    pub edited: Option<Box<RawValue>>,
}

/// The outcome of a question.
#[derive(Debug)]
pub enum Approved {
    /// The call may run as it was judged.
    Run,
    /// A person agreed, some time after the call was judged: it is judged anew, and the consent is shown
    /// with the next question.
    Agreed(Consent),
}

/// The future of one question.
pub type Asking<'a> = Pin<Box<dyn Future<Output = Result<Approved, Fault>> + Send + 'a>>;

/// Whoever asks people about calls. A fault refuses the call; dropping the future withdraws the question.
pub trait Approver: Any + fmt::Debug + Send + Sync {
    /// Asks about a call. `before` is the consent that was given earlier during the same call: if it
    /// covers the call as it is judged now, the call may run, else the question is a new one.
    fn ask<'a>(&'a self, question: &'a Question<'a>, before: Option<Consent>) -> Asking<'a>;
    /// Hears how a call ended that was approved.
    fn ended(&self, _tool: &str, _subject: &str, _failed: bool) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(subject: &str, rule: &str) -> Asks {
        Asks { subject: subject.into(), subjects: vec![subject.into()], rule: rule.into(), origin: None }
    }

    #[test]
    fn a_line_that_allows_a_call_is_about_that_call_alone() {
        let allow = |subject: &str| asks(subject, "default").how_to_allow("shell");
        assert!(allow("").ends_with(r#"allow = ["shell"]"#), "{}", allow(""));
        assert!(
            allow("rm *\n\"x\"").ends_with(r#"allow = ["shell(rm [*]\n\"x\")"]"#),
            "{}",
            allow("rm *\n\"x\"")
        );
    }

    #[test]
    fn an_ask_rule_is_named_since_no_allow_rule_beats_it() {
        let fault = asks("ls", "ask rule `shell(*)` (tectum.toml:3)").nobody_to_ask("shell");
        let hint = fault.hint.expect("hint");
        assert!(hint.contains("remove the ask rule `shell(*)` (tectum.toml:3), or narrow"), "{hint}");
        assert!(!hint.contains("allow ="), "{hint}");
        let fault = asks("ls", "default").nobody_to_ask("shell");
        assert_eq!(fault.kind, FaultKind::Permission);
        assert!(fault.hint.expect("hint").contains(r#"allow = ["shell(ls)"]"#));
    }
}
