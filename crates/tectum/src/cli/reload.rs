//! `tectum reload`: makes the Tectums that run for this folder read their settings now, and waits until
//! the new ones hold.

use std::{
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tectum::{
    Fault, FaultKind,
    reload::{self, Report},
    state,
};

use super::{
    failure::Failure,
    options::Shared,
    screen::{Colour, Screen, harmless},
};

/// The time to wait for an answer. A Tectum looks four times a second.
const PATIENCE: Duration = Duration::from_secs(10);
/// The interval at which answers are looked for.
const LOOK: Duration = Duration::from_millis(50);

pub(crate) fn run(shared: &Shared, screen: &Screen) -> Result<(), Failure> {
    let sources = shared.sources(Vec::new());
    let Some(state) = &sources.state else {
        let fault =
            Fault::invalid("there is nowhere to keep Tectum's state, so no running Tectum can be found");
        return Err(fault.hint("set HOME to the same value as for the running Tectum").into());
    };
    // The settings may be broken; what they are is for those to tell who run.
    let directory = state::canonical(&sources.directory);
    let folder = reload::folder(state, &directory);
    let word = reload::ask(&folder)?;
    let began = Instant::now();
    let answers = loop {
        let answers = reload::answers(&folder, &word);
        if answers.iter().all(|(_, report)| report.is_some()) || began.elapsed() > PATIENCE {
            break answers;
        }
        thread::sleep(LOOK);
    };
    if answers.is_empty() {
        let fault = Fault::not_found(format!("no Tectum runs for {}", directory.display()));
        return Err(fault
            .hint("the settings are read at the next start; check them with `tectum config check`")
            .into());
    }
    tell(&answers, screen)?;
    let silent: Vec<String> =
        answers.iter().filter(|(_, report)| report.is_none()).map(|(pid, _)| pid.to_string()).collect();
    if !silent.is_empty() {
        let message = format!(
            "process {} did not answer within {} s and may still use its old settings",
            silent.join(", "),
            PATIENCE.as_secs()
        );
        return Err(Fault::new(FaultKind::Timeout, message).hint("stop it, or try again").into());
    }
    if answers.iter().flat_map(|(_, report)| report).all(|report| report.problems.is_empty()) {
        Ok(())
    } else {
        Err(Failure::Silent(FaultKind::InvalidInput.exit_code()))
    }
}

fn tell(answers: &[(i32, Option<Report>)], screen: &Screen) -> Result<(), Failure> {
    if screen.json {
        let one = |(pid, report): &(i32, Option<Report>)| {
            let holds = report.as_ref().is_some_and(|report| report.problems.is_empty());
            json!({ "pid": pid, "answered": report.is_some(), "ok": holds, "report": report })
        };
        let all: Vec<Value> = answers.iter().map(one).collect();
        let ok = all.iter().all(|one| one["ok"] == true);
        return screen.print_json(&json!({ "ok": ok, "running": all }));
    }
    for (pid, report) in answers {
        let Some(report) = report else { continue };
        if report.problems.is_empty() {
            if !screen.quiet {
                screen.print(&screen.ok(&sentence(*pid, report)))?;
            }
            continue;
        }
        let error = screen.paint_error(Colour::Red, "error:");
        screen.tell(&format!(
            "{error} process {pid} keeps its last valid settings, because these are invalid:"
        ));
        report.problems.iter().for_each(|problem| screen.tell(&format!("  {}", harmless(problem))));
    }
    Ok(())
}

fn sentence(pid: i32, report: &Report) -> String {
    let mut text = if report.changed.is_empty() {
        format!("process {pid} has used these settings since it started")
    } else {
        format!("process {pid} uses these settings; last changed: {}", report.changed.join(", "))
    };
    if !report.at_next_start.is_empty() {
        text.push_str(&format!("; takes effect after a restart: {}", report.at_next_start.join(", ")));
    }
    text
}
