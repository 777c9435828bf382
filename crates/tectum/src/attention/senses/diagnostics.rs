//! Errors that a language server finds in a file and did not find before the agent's edit. Reported are
//! answers that the agent did not ask for by itself about that file: those of `diagnostics` over all files.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tectum_attention::{Direction, Event, Input, Severity};

use super::sense::{House, Sense, fact};
use crate::attention::flight::EndedCall;

/// The organ.
const DIAGNOSTICS: &str = "internal:diagnostics";
/// Files whose errors are remembered.
const MOST_FILES: usize = 1000;

/// The errors that each file had.
#[derive(Default)]
pub(super) struct DiagnosticsSense {
    files: BTreeMap<String, BTreeSet<String>>,
}

impl Sense for DiagnosticsSense {
    fn organ(&self) -> &'static str {
        DIAGNOSTICS
    }

    fn ended(&mut self, call: &EndedCall, house: &House, inputs: &mut Vec<Input>) {
        let Some((_, report)) = call.report.as_ref().filter(|_| *call.tool == *"diagnostics") else { return };
        let Ok(report) = serde_json::from_str::<Value>(report) else { return };
        for file in report["files"].as_array().into_iter().flatten() {
            let Some(path) = file["path"].as_str() else { continue };
            let problems = file["problems"].as_array().into_iter().flatten();
            let errors = problems.filter(|problem| problem["severity"] == "error");
            let errors: BTreeSet<String> =
                errors.filter_map(|problem| problem["message"].as_str()).map(str::to_owned).collect();
            if self.files.len() >= MOST_FILES && !self.files.contains_key(path) {
                self.files.pop_first();
            }
            let Some(before) = self.files.insert(path.to_owned(), errors.clone()) else { continue };
            let new: Vec<&String> = errors.difference(&before).collect();
            let Some(first) = new.first() else { continue };
            inputs.push(Input::Event(Event {
                old: Some(format!("{} errors", before.len())),
                new: format!("{} errors, new: {first}", errors.len()),
                severity: Severity::Failure,
                direction: Direction::Breaking,
                ..fact(DIAGNOSTICS, house, path, "errors")
            }));
        }
    }
}
