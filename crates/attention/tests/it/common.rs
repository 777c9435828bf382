//! What the tests of the workspace share: one that ticks, and states to hand in.

use serde_json::{Value, json};
use tectum_attention::{
    AgentRhythm, Direction, Event, Input, News, OrganConfig, Reading, Settings, Severity, Task, Workspace,
};

/// A workspace with its own clock, one second a tick, and a new round each tick.
pub(crate) struct House {
    pub(crate) workspace: Workspace,
    pub(crate) now: f64,
    pub(crate) round: u64,
    pub(crate) in_call: bool,
    pub(crate) task: Task,
}

impl House {
    pub(crate) fn new(settings: Settings) -> Self {
        let workspace = Workspace::new(settings);
        Self { workspace, now: 1_000_000.0, round: 0, in_call: false, task: Task::default() }
    }

    /// So many news that the hour's bound is never what is tested.
    pub(crate) fn generous() -> Self {
        Self::new(Settings { hourly: 100_000, ..Settings::default() })
    }

    pub(crate) fn tick(&mut self, inputs: Vec<Input>) -> Vec<News> {
        self.now += 1.0;
        self.round += 1;
        let rhythm =
            if self.in_call { AgentRhythm::in_call(self.round) } else { AgentRhythm::between(self.round) };
        let news = self.workspace.tick(self.now, inputs, rhythm, &self.task);
        for news in &news {
            assert!(self.workspace.told(news.id, self.now));
        }
        news
    }

    pub(crate) fn states(&mut self, states: &[(&str, Value)]) -> Vec<News> {
        let inputs = states
            .iter()
            .map(|(organ, state)| Input::State(Reading::new(*organ, self.now + 1.0, state.clone())));
        let inputs = inputs.collect();
        self.tick(inputs)
    }

    /// So many green readings of these organs.
    pub(crate) fn green(&mut self, organs: &[&str], readings: usize) {
        for _ in 0..readings {
            let states: Vec<_> = organs.iter().map(|organ| (*organ, build("success"))).collect();
            assert!(self.states(&states).is_empty());
        }
    }

    pub(crate) fn view(&self, organ: &str) -> tectum_attention::OrganView {
        self.workspace.organs().into_iter().find(|view| view.organ == organ).expect("an organ")
    }
}

pub(crate) fn build(conclusion: &str) -> Value {
    json!({ "conclusion": conclusion, "name": "tests" })
}

pub(crate) fn event(organ: &str, subject: &str, severity: Severity, at: f64) -> Event {
    Event {
        organ: organ.to_owned(),
        at,
        subject: subject.to_owned(),
        path: "state".to_owned(),
        old: Some("good".to_owned()),
        new: "bad".to_owned(),
        severity,
        direction: Direction::Breaking,
        touches: None,
        details: None,
    }
}

pub(crate) fn config(organ: &str) -> OrganConfig {
    OrganConfig::resource(organ, organ)
}
