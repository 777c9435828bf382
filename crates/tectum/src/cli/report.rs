//! The form of a failure in print: one clear line, or one JSON line, and an exit code that means
//! something.

use std::{ffi::OsString, io, process::ExitCode};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde_json::json;
use tectum::Problems;

use super::{
    failure::{Failure, fault_json, problems_json},
    screen::{Colour, Screen, harmless},
};

/// Wrong usage and wrong settings end with this code, as a call with wrong arguments does.
const USAGE: u8 = 2;

/// Prints why a command failed and gives the exit code.
pub(crate) fn failed(failure: Failure, screen: &Screen) -> ExitCode {
    let code = match failure {
        Failure::Silent(code) => code,
        Failure::Fault(fault) => {
            if screen.json {
                screen.tell(&json!({ "error": fault_json(&fault) }).to_string());
            } else {
                screen.tell(&error_text(screen, &fault.message, fault.hint.as_deref()));
            }
            fault.kind.exit_code()
        }
        Failure::Settings(Problems(problems)) => {
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

/// Words the parser of the command line did not take. Help and version come this way as well.
pub(crate) fn usage(mut error: clap::Error, words: &[OsString]) -> ExitCode {
    let json = words.iter().any(|word| word == "--json");
    keep_hidden(&mut error);
    if error.kind() == ErrorKind::UnknownArgument && words.get(1).is_some_and(|word| word == "add") {
        let tip = "put the program and its arguments after `--`: tectum add NAME -- COMMAND ARGS...";
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
    const HIDDEN: [&str; 1] = ["names"];
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

fn error_text(screen: &Screen, message: &str, hint: Option<&str>) -> String {
    let error = screen.paint_error(Colour::Red, "error:");
    let message = harmless(message);
    match hint.map(harmless) {
        Some(hint) => format!("{error} {message}\n{} {hint}", screen.paint_error(Colour::Cyan, "hint:")),
        None => format!("{error} {message}"),
    }
}
