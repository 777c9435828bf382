//! `tectum attention watch`: urgent news, a line each, as they come. Claude Code's monitors read it: they take
//! 500 characters of a line, and stop a command that says much.

use std::{thread, time::Duration};

use clap::Args;
use serde_json::json;
use tectum::client_hooks::NEWS;

use super::{
    super::{
        failure::Failure,
        options::Shared,
        screen::{Screen, harmless},
    },
    house,
};

/// The most characters of a line.
const LONGEST: usize = 480;
/// The interval between two questions to a house, and between two looks for one.
const LOOK: Duration = Duration::from_secs(1);
/// The time for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Print urgent news as they come, a line each, for a monitor of a client.
#[derive(Debug, Args)]
#[command(after_help = "\
It runs until it is ended, finds a Tectum that is started later, and says nothing while nothing is urgent.
What it prints counts as told: the client's model does not read it again.

Example, as a monitor of a Claude Code plugin (monitors/monitors.json):
  [{\"name\": \"tectum\", \"command\": \"tectum attention watch\", \"description\": \"Urgent news of the project\"}]")]
pub(crate) struct Watch {
    /// The client whose model reads the lines
    #[arg(long, value_name = "CLIENT", default_value = "claude")]
    client: String,
}

impl Watch {
    pub(crate) fn run(self, shared: &Shared, screen: &Screen) -> Result<(), Failure> {
        let client = super::install::client(&self.client).map_err(tectum::Fault::invalid)?;
        let path = format!("{NEWS}?client={}", client.name());
        let request = json!({ "hook_event_name": "Monitor" });
        let directory = house::directory(shared);
        let mut known = None;
        loop {
            if known.is_none() {
                known = house::find(&directory).ok();
            }
            if let Some(found) = &known {
                match found.make_request("POST", &path, Some(&request), Some(PATIENCE)) {
                    Ok(answer) => {
                        if let Some(line) = answer["line"].as_str() {
                            screen.print(&harmless(&line.chars().take(LONGEST).collect::<String>()))?;
                        }
                    }
                    // It ended; another one may come.
                    Err(_) => known = None,
                }
            }
            thread::sleep(LOOK);
        }
    }
}
