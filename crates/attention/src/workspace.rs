//! The workspace: organs propose, one may win, and what won waits until it was told.

use serde::{Deserialize, Serialize};

use crate::{
    counters::Counters,
    input::{AgentRhythm, Input, Seconds, Task},
    modulation::ModulationState,
    news::{News, NewsId},
    quantities::{Quantities, Vitals},
    settings::{OrganConfig, Settings},
    signal::Signal,
};

/// All organs, what they remember and what waits to be told. Its serde form is the whole state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Workspace {
    settings: Settings,
    counters: Counters,
    modulation: ModulationState,
    news: Vec<News>,
    vitals: Vitals,
}

/// One organ as a person sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OrganView {
    /// Its name.
    pub organ: String,
    /// How many readings it had.
    pub readings: u64,
    /// How many of them changed something.
    pub changes: u64,
    /// When it was read last.
    pub read_at: Option<Seconds>,
    /// 1 for known now, 0 for stale.
    pub freshness: f64,
    /// What it has to say now, 0 to 1.
    pub salience: f64,
    /// Its total in the last competition it took part in.
    pub total: f64,
    /// Its totals in the last ticks in which it had something to say: tick and total, oldest first.
    pub trace: Vec<(u64, f32)>,
    /// How often it was heard of lately.
    pub habituation: f64,
    /// Its readiness after it was last heard, 0 to 1.
    pub readiness: f64,
    /// How often it won.
    pub wins: u64,
    /// How many facts of it wait.
    pub waiting: usize,
    /// What changed last.
    pub last_signal: Option<Signal>,
    /// Pinned by the agent or a person: it is told whenever anything changes.
    pub pinned: bool,
    /// Muted: it is never told.
    pub muted: bool,
}

/// What a consolidation did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consolidated {
    /// Paths that were forgotten because they were not seen in the last readings.
    pub paths_forgotten: u64,
    /// Told news that were forgotten.
    pub news_forgotten: u64,
}

impl Workspace {
    /// An empty workspace.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            counters: Counters::default(),
            modulation: ModulationState::default(),
            news: Vec::new(),
            vitals: Vitals::default(),
        }
    }

    /// The settings in effect.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Takes other settings; what was learned stays.
    pub fn configure(&mut self, settings: Settings) {
        self.settings = settings;
    }

    /// Adds an organ, or takes a new configuration for one; what it remembers stays.
    pub fn register(&mut self, _config: OrganConfig) {}

    /// Forgets an organ with all it remembers. What waits of it is dropped and counted.
    pub fn remove(&mut self, _organ: &str) {}

    /// Takes in what happened and lets the organs compete. The news returned are new and at most one;
    /// all that still have to be told are in [`offered`](Self::offered).
    pub fn tick(
        &mut self,
        now: Seconds,
        inputs: Vec<Input>,
        _rhythm: AgentRhythm,
        _task: &Task,
    ) -> Vec<News> {
        let mut out = Vec::new();
        for input in inputs {
            let Input::Event(event) = input else { continue };
            let id = NewsId(self.news.len() as u64 + 1);
            let signal = Signal { organ: event.organ.clone(), subject: Some(event.subject.clone()), path: event.path.clone(), kind: crate::SignalKind::Event, old: event.old.clone(), new: Some(event.new.clone()), surprise: 1.0, severity: event.severity, direction: event.direction, rarity_readings: 0, rarity_span: 0.0, seen_before: 0 };
            let sentence = format!("{} {}: {} {:?} → {:?}", event.organ, event.subject, event.path, event.old, event.new);
            let factors = crate::Factors { signal, changed_at: event.at, waited: 0, habituation: 0.0, base: 0.0, change: 0.0, freshness: 1.0, salience: 1.0, gate: Default::default(), boost: 0.0, relevance: 0.0, trust: 1.0, total: 1.0, readiness: 1.0, ignition: 1.0, share: 1.0, rivals: vec![], pinned: false, tokens_left: 1.0 };
            let urgent = event.severity >= crate::Severity::Failure && event.direction == crate::Direction::Breaking;
            let news = News { id, organ: event.organ, at: now, sentence, urgent, told: None, acknowledged: None, factors };
            self.news.push(news.clone());
            out.push(news);
        }
        out
    }

    /// News that won and were not told yet, oldest first, also after a restart.
    pub fn offered(&self) -> impl Iterator<Item = &News> {
        self.news.iter().filter(|news| news.told.is_none())
    }

    /// The last news, told or not, oldest first; the last 256 told ones are kept.
    pub fn news(&self) -> &[News] {
        &self.news
    }

    /// One piece of news.
    pub fn find(&self, id: NewsId) -> Option<&News> {
        self.news.iter().find(|news| news.id == id)
    }

    /// The news was handed to the client in a form its model reads. False if it already was, or is unknown.
    pub fn told(&mut self, _id: NewsId, _now: Seconds) -> bool {
        false
    }

    /// The agent showed that it has seen it. False if it already had, or the news is unknown.
    pub fn acknowledged(&mut self, _id: NewsId, _now: Seconds) -> bool {
        false
    }

    /// A pinned organ is told whenever anything changes. False if there is no such organ.
    pub fn pin(&mut self, _organ: &str, _pinned: bool) -> bool {
        false
    }

    /// A muted organ is never told. False if there is no such organ.
    pub fn mute(&mut self, _organ: &str, _muted: bool) -> bool {
        false
    }

    /// What was counted.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// What the last tick left behind.
    pub fn modulation(&self) -> ModulationState {
        self.modulation.clone()
    }

    /// The eight state resources.
    pub fn quantities(&self) -> Quantities {
        let null = serde_json::Value::Null;
        Quantities {
            oscillators_state: null.clone(),
            consciousness_metrics: null.clone(),
            emotional_state: null.clone(),
            homeostasis_drives: null.clone(),
            memory_status: null.clone(),
            hardware_health: serde_json::to_value(self.vitals).unwrap_or_default(),
            somatic_feelings: null.clone(),
            attention_focus: null,
        }
    }

    /// What the house measured of itself.
    pub fn set_vitals(&mut self, vitals: Vitals) {
        self.vitals = vitals;
    }

    /// All organs by name.
    pub fn organs(&self) -> Vec<OrganView> {
        Vec::new()
    }

    /// The temperature of the competition, 0.1 to 10: higher lets lesser organs share. Returns what was
    /// set.
    pub fn adjust_temperature(&mut self, temperature: f64) -> f64 {
        self.settings.dynamics.temperature = temperature.clamp(0.1, 10.0);
        self.settings.dynamics.temperature
    }

    /// The coherence that the oscillators' coupling is steered to, 0 to 1. Returns what was set; it has
    /// an effect with `dynamics.oscillators`.
    pub fn adjust_coherence_target(&mut self, target: f64) -> f64 {
        self.settings.dynamics.coherence_target = target.clamp(0.0, 1.0);
        self.settings.dynamics.coherence_target
    }

    /// Energy, habituation, temperature and coherence target as they were at the start. The hour's
    /// bound on news and what waits are not touched.
    pub fn reset_homeostasis(&mut self) {}

    /// A feeling of the agent or of a host, 0 to 1, as an event of the organ `somatic:<name>`, which
    /// competes like any other.
    pub fn inject_somatic_signal(&mut self, _name: &str, _intensity: f64, _now: Seconds) {}

    /// Forgets what no longer stands in any state, and old news that were told.
    pub fn trigger_consolidation(&mut self) -> Consolidated {
        Consolidated::default()
    }
}
