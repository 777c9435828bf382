//! The reason why a command failed, and the same as data.

use std::io;

use serde_json::{Value, json};
use tectum::{
    Fault, FaultKind, Problems,
    config::{Origin, Problem},
    servers::StartError,
    token::TokenError,
};

/// The reason why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A call or one of its stations.
    Fault(Fault),
    /// The settings.
    Settings(Problems),
    /// All is said already; only the exit code is left.
    Silent(u8),
}

/// A fault as data.
pub(crate) fn fault_json(fault: &Fault) -> Value {
    json!({ "kind": fault.kind, "message": fault.message, "hint": fault.hint })
}

/// Wrong settings as data.
pub(crate) fn problems_json(problems: &[Problem]) -> Value {
    let each = problems.iter().map(|problem| match &problem.origin {
        Origin::File { name, line, column } => json!({
            "file": &**name, "line": line, "column": column, "message": problem.message, "hint": problem.hint,
        }),
        origin => json!({ "origin": origin.to_string(), "message": problem.message, "hint": problem.hint }),
    });
    let message = problems.first().map(ToString::to_string).unwrap_or_default();
    json!({ "kind": "config", "message": message, "problems": each.collect::<Vec<_>>() })
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self::Settings(problems)
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Settings(problems) => problems.into(),
            StartError::Required(mut fault) => {
                fault.message = format!("a required server is missing: {}", fault.message);
                fault.into()
            }
        }
    }
}

impl From<TokenError> for Failure {
    fn from(error: TokenError) -> Self {
        let mut fault = Fault::invalid(error.to_string());
        fault.hint = error.hint();
        Self::Fault(fault)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Fault(Fault::new(FaultKind::Internal, format!("system error: {error}")))
    }
}
