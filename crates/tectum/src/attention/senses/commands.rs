//! Commands that were green and fail, and the first time they are green again. What the command says is in
//! its result; the news is that it was green before, and what changed since.

use std::collections::{BTreeSet, VecDeque};

use serde_json::Value;
use tectum_attention::{Direction, Event, Input, Severity};
use tectum_core::Effect;

use super::sense::{House, Sense, fact};
use crate::attention::flight::EndedCall;

/// The organ.
const COMMANDS: &str = "internal:commands";
/// How a command ends that is green.
const GREEN: &str = "exit 0";
/// Commands that are remembered; the one that ran least lately makes room.
const MOST_COMMANDS: usize = 256;
/// Files that are named as changed since the last green run.
const MOST_NAMED: usize = 3;
/// Files that are remembered as changed since a green run.
const MOST_CHANGED: usize = 64;

/// How commands ended.
#[derive(Default)]
pub(super) struct Commands {
    commands: VecDeque<KnownCommand>,
    /// Commands that go on, by the session of the shell.
    running: VecDeque<(String, String)>,
}

struct KnownCommand {
    command: String,
    exit: i64,
    /// Green runs in a row before the present state, or up to now.
    green: u64,
    ever_green: bool,
    changed: BTreeSet<String>,
}

impl Sense for Commands {
    fn organ(&self) -> &'static str {
        COMMANDS
    }

    fn ended(&mut self, call: &EndedCall, house: &House, inputs: &mut Vec<Input>) {
        self.note_changes(call, house);
        let Some((args, report)) = &call.report else { return };
        let (Ok(args), Ok(report)) =
            (serde_json::from_str::<Value>(args.get()), serde_json::from_str::<Value>(report))
        else {
            return;
        };
        let named = args["command"].as_str().or_else(|| args["script"].as_str());
        let shell = report["session"].as_str().or_else(|| args["session"].as_str());
        let command = match (named, shell) {
            // Other agents are told of it, too.
            (Some(command), _) => Some(
                tectum_redact::text(&command.split_whitespace().collect::<Vec<_>>().join(" ")).into_owned(),
            ),
            (None, Some(shell)) => {
                self.running.iter().find(|(known, _)| known == shell).map(|(_, command)| command.clone())
            }
            (None, None) => None,
        };
        let Some(command) = command else { return };
        match report["exit_code"].as_i64() {
            Some(exit) => {
                self.running.retain(|(_, running)| *running != command);
                inputs.extend(self.exited(command, exit, house).map(Input::Event));
            }
            // It goes on; whoever asks for it brings its end.
            None if report["running"] == true => {
                if let Some(shell) = shell {
                    self.running.push_front((shell.to_owned(), command));
                    self.running.truncate(MOST_COMMANDS);
                }
            }
            None => {}
        }
    }
}

impl Commands {
    fn note_changes(&mut self, call: &EndedCall, house: &House) {
        let snapshot = house.house.registry().snapshot();
        let changes = snapshot.tool(&call.tool).is_some_and(|tool| tool.effect != Effect::Read);
        if !changes || call.fault.is_some() || call.report.is_some() {
            return;
        }
        let gate = house.house.gate();
        let names: Vec<String> =
            call.paths.iter().filter_map(|path| gate.allowlist().subject(path)).collect();
        for command in &mut self.commands {
            if command.changed.len() < MOST_CHANGED {
                command.changed.extend(names.iter().cloned());
            }
        }
    }

    fn exited(&mut self, command: String, exit: i64, house: &House) -> Option<Event> {
        let known = self.commands.iter().position(|known| known.command == command);
        let Some(mut known) = known.and_then(|at| self.commands.remove(at)) else {
            let (green, ever_green) = (u64::from(exit == 0), exit == 0);
            self.commands.push_front(KnownCommand {
                command,
                exit,
                green,
                ever_green,
                changed: BTreeSet::new(),
            });
            self.commands.truncate(MOST_COMMANDS);
            return None;
        };
        let before = std::mem::replace(&mut known.exit, exit);
        let event = match (before == 0, exit == 0) {
            (true, false) => {
                let runs = known.green;
                let since: Vec<&str> = known.changed.iter().take(MOST_NAMED).map(String::as_str).collect();
                let more = known.changed.len().saturating_sub(MOST_NAMED);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                let since = if since.is_empty() {
                    String::new()
                } else {
                    format!("; changed since: {}{more}", since.join(", "))
                };
                Some(Event {
                    old: Some(GREEN.into()),
                    new: format!("exit {exit}"),
                    severity: Severity::Failure,
                    direction: Direction::Breaking,
                    touches: Some(format!("it was green {runs} times in a row{since}")),
                    ..fact(COMMANDS, house, &known.command, "exit")
                })
            }
            (false, true) if known.ever_green => Some(Event {
                old: Some(format!("exit {before}")),
                new: GREEN.into(),
                direction: Direction::Recovering,
                ..fact(COMMANDS, house, &known.command, "exit")
            }),
            _ => None,
        };
        if exit == 0 {
            known.green = if before == 0 { known.green + 1 } else { 1 };
            known.ever_green = true;
            known.changed.clear();
        }
        self.commands.push_front(known);
        event
    }
}
