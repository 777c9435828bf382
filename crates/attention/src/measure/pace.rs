//! How long a tick takes with many organs: the clock is the caller's.

use serde_json::json;

use crate::{
    input::{AgentRhythm, Input, Reading, Task},
    settings::Settings,
    workspace::Workspace,
};

/// So many organs, all of which have something to say in every tick. `lap` is called before and after
/// each of the ticks, and before each the time until then does not count.
pub fn crowd(organs: usize, ticks: u64, mut lap: impl FnMut()) {
    // Nothing is told, so that all of them keep competing.
    let mut workspace = Workspace::new(Settings { hourly: 0, ..Settings::default() });
    let names: Vec<String> = (0..organs).map(|at| format!("mcp:s{}:r{at}", at % 100)).collect();
    for word in ["success", "failure"] {
        let inputs = names
            .iter()
            .map(|name| Input::State(Reading::new(name.clone(), 0.0, json!({ "conclusion": word }))));
        workspace.tick(0.0, inputs.collect(), AgentRhythm::idle(), &Task::default());
    }
    lap();
    for tick in 0..ticks {
        workspace.tick(tick as f64, Vec::new(), AgentRhythm::between(tick), &Task::default());
        lap();
    }
}
