//! How a command fails: one clear line, or one JSON line, and an exit code that means something.

use std::{ffi::OsString, io, process::ExitCode};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde_json::{Value, json};
use tectum::{
    Fault, FaultKind, Problems,
    config::{Origin, Problem},
    servers::StartError,
    token::TokenError,
};

use super::screen::{Colour, Screen, harmless};

/// Wrong usage and wrong settings end with this code, as a call with wrong arguments does.
const USAGE: u8 = 2;

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// A call or one of its stations.
    Fault(Fault),
    /// The settings.
    Settings(Problems),
    /// All is said already; only the exit code is left.
    Silent(u8),
}

impl Failure {
    /// Tells it and gives the exit code.
    pub(crate) fn report(self, screen: &Screen) -> ExitCode {
        let code = match self {
            Self::Silent(code) => code,
            Self::Fault(fault) => {
                if screen.json {
                    screen.tell(&json!({ "error": fault_json(&fault) }).to_string());
                } else {
                    screen.tell(&error_text(screen, &fault.message, fault.hint.as_deref()));
                }
                fault.kind.exit_code()
            }
            Self::Settings(Problems(problems)) => {
                if screen.json {
                    screen.tell(&json!({ "error": problems_json(&problems) }).to_string());
                } else {
                    for problem in &problems {
                        screen.tell(&error_text(screen, &problem.to_string(), problem.hint.as_deref()));
                    }
                }
                USAGE
            }
        };
        ExitCode::from(code)
    }
}

/// Words the parser of the command line did not take. Help and version come this way as well.
pub(crate) fn usage(mut error: clap::Error, words: &[OsString]) -> ExitCode {
    let json = words.iter().any(|word| word == "--json");
    keep_hidden(&mut error);
    if error.kind() == ErrorKind::UnknownArgument && words.get(1).is_some_and(|word| word == "add") {
        let tip = "the program and its arguments stand behind `--`: tectum add NAME -- COMMAND ARGS...";
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.to_owned().into()]));
    }
    if error.use_stderr() && json {
        let message = error.render().to_string();
        // What is wrong ends at the first empty line; what follows is how to use it.
        let lines: Vec<&str> =
            message.lines().take_while(|line| !line.trim().is_empty()).map(str::trim).collect();
        let message = lines.join(" ");
        let message = message.trim_start_matches("error: ");
        let hint = "`tectum --help` shows the commands and their options";
        let line = json!({ "error": { "kind": "usage", "message": message, "hint": hint } }).to_string();
        // Nobody is left to tell that standard error is closed.
        let _ = io::Write::write_fmt(&mut io::stderr(), format_args!("{line}\n"));
    } else {
        // The same holds for a closed standard output.
        let _ = error.print();
    }
    ExitCode::from(if error.use_stderr() { USAGE } else { 0 })
}

/// Commands that people are not shown are not suggested either.
fn keep_hidden(error: &mut clap::Error) {
    const HIDDEN: [&str; 2] = ["guard", "names"];
    let shown = match error.get(ContextKind::SuggestedSubcommand) {
        Some(ContextValue::String(name)) => vec![name.clone()],
        Some(ContextValue::Strings(names)) => names.clone(),
        _ => return,
    };
    let shown: Vec<String> = shown.into_iter().filter(|name| !HIDDEN.contains(&name.as_str())).collect();
    error.remove(ContextKind::SuggestedSubcommand);
    if !shown.is_empty() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(shown));
    }
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

fn error_text(screen: &Screen, message: &str, hint: Option<&str>) -> String {
    let error = screen.paint_error(Colour::Red, "error:");
    let message = harmless(message);
    match hint.map(harmless) {
        Some(hint) => format!("{error} {message}\n{} {hint}", screen.paint_error(Colour::Cyan, "hint:")),
        None => format!("{error} {message}"),
    }
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
                fault.message = format!("a required server is not there: {}", fault.message);
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
        Self::Fault(Fault::new(FaultKind::Internal, format!("the system failed: {error}")))
    }
}
