//! The workspace: organs propose, one may win, and what won waits until it was told.

mod budget;
mod dynamics;
mod intake;
mod kept;
mod organ;
mod round;
mod shown;
mod views;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use self::shown::{Consolidated, OrganView};
use self::{budget::Budget, dynamics::Theatre, organ::Organ, shown::Outcome};
use crate::{
    counters::Counters,
    input::{AgentRhythm, Direction, Event, Input, Seconds, Severity, Task},
    modulation::ModulationState,
    news::{News, NewsId},
    quantities::Vitals,
    sentence,
    settings::{OrganConfig, Settings},
    theory::{adapter::Adapter, diversity::Diversity},
};

/// Told news that are kept for `why`.
const TOLD_KEPT: usize = 256;

/// All organs, what they remember and what waits to be told. Its serde form is the whole state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Workspace {
    settings: Settings,
    organs: BTreeMap<String, Organ>,
    /// Organs of which something waits.
    live: BTreeSet<String>,
    now: Seconds,
    tick: u64,
    rhythm: AgentRhythm,
    task: Task,
    diversity: Diversity,
    budget: Budget,
    standing: Vec<f32>,
    theatre: Theatre,
    news: Vec<News>,
    next_id: u64,
    /// When news of a site were won last, by site.
    causes: BTreeMap<String, Seconds>,
    counters: Counters,
    modulation: ModulationState,
    last_round: Outcome,
    vitals: Vitals,
}

impl Workspace {
    /// An empty workspace.
    pub fn new(settings: Settings) -> Self {
        Self {
            budget: Budget::new(settings.hourly),
            standing: Vec::new(),
            theatre: Theatre::new(settings.workspace_dim),
            settings,
            organs: BTreeMap::new(),
            live: BTreeSet::new(),
            now: 0.0,
            tick: 0,
            rhythm: AgentRhythm::idle(),
            task: Task::default(),
            diversity: Diversity::default(),
            news: Vec::new(),
            next_id: 1,
            causes: BTreeMap::new(),
            counters: Counters::default(),
            modulation: ModulationState::default(),
            last_round: Outcome::default(),
            vitals: Vitals::default(),
        }
    }

    /// The settings in effect.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Takes other settings; what was learned stays.
    pub fn configure(&mut self, settings: Settings) {
        if settings.workspace_dim != self.settings.workspace_dim || settings.seed != self.settings.seed {
            self.theatre = Theatre::new(settings.workspace_dim);
        }
        self.settings = settings;
    }

    /// Adds an organ, or takes a new configuration for one; what it remembers stays.
    pub fn register(&mut self, config: OrganConfig) {
        match self.organs.get_mut(&config.organ_id) {
            Some(organ) => {
                organ.standing.resize(config.latent_dim, 0.0);
                organ.config = config;
            }
            None => {
                self.organs.insert(config.organ_id.clone(), Organ::new(config));
            }
        }
    }

    /// Forgets an organ with all it remembers. What waits of it is dropped and counted.
    pub fn remove(&mut self, organ: &str) {
        if let Some(removed) = self.organs.remove(organ) {
            self.counters.gone += removed.kept.len() as u64;
            self.live.remove(organ);
        }
    }

    /// Takes in what happened and lets the organs compete. The news returned are new and at most one;
    /// all that still have to be told are in [`offered`](Self::offered).
    pub fn tick(&mut self, now: Seconds, inputs: Vec<Input>, rhythm: AgentRhythm, task: &Task) -> Vec<News> {
        let passed = if self.tick == 0 { 0.0 } else { (now - self.now).max(0.0) };
        self.now = if now.is_finite() { self.now.max(now) } else { self.now };
        self.tick += 1;
        self.rhythm = rhythm;
        self.counters.ticks += 1;
        self.age();
        for input in inputs {
            self.take(input);
        }
        self.relate(task);
        self.round(passed)
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
    pub fn told(&mut self, id: NewsId, now: Seconds) -> bool {
        let Some(news) = self.news.iter_mut().find(|news| news.id == id && news.told.is_none()) else {
            return false;
        };
        news.told = Some(now);
        self.counters.told += 1;
        self.counters.between_rounds += u64::from(!self.rhythm.in_call);
        self.counters.tokens += sentence::tokens(&news.sentence) as u64;
        self.forget_old_news();
        true
    }

    /// The agent showed that it has seen it. False if it already had, or the news is unknown.
    pub fn acknowledged(&mut self, id: NewsId, now: Seconds) -> bool {
        let Some(news) = self.news.iter_mut().find(|news| news.id == id && news.acknowledged.is_none())
        else {
            return false;
        };
        news.acknowledged = Some(now);
        self.counters.acknowledged += 1;
        true
    }

    /// A pinned organ is told whenever anything changes. False if there is no such organ.
    pub fn pin(&mut self, organ: &str, pinned: bool) -> bool {
        self.organs.get_mut(organ).map(|organ| organ.pinned = pinned).is_some()
    }

    /// A muted organ is never told; what waits of it is dropped and counted. False if there is no such
    /// organ.
    pub fn mute(&mut self, organ: &str, muted: bool) -> bool {
        let Some(found) = self.organs.get_mut(organ) else { return false };
        found.muted = muted;
        if muted {
            self.counters.muted += found.kept.len() as u64;
            found.kept.clear();
            self.live.remove(organ);
        }
        true
    }

    /// What was counted.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// What the house measured of itself.
    pub fn set_vitals(&mut self, vitals: Vitals) {
        self.vitals = vitals;
    }

    /// The temperature of the competition, 0.1 to 10: higher lets lesser organs share. Returns what was
    /// set.
    pub fn adjust_temperature(&mut self, temperature: f64) -> f64 {
        if temperature.is_finite() {
            self.settings.dynamics.temperature = temperature.clamp(0.1, 10.0);
        }
        self.settings.dynamics.temperature
    }

    /// The coherence that the oscillators' coupling is steered to, 0 to 1. Returns what was set; it has
    /// an effect with `dynamics.oscillators`.
    pub fn adjust_coherence_target(&mut self, target: f64) -> f64 {
        if target.is_finite() {
            self.settings.dynamics.coherence_target = target.clamp(0.0, 1.0);
        }
        self.settings.dynamics.coherence_target
    }

    /// Energy, habituation, temperature and coherence target as they were at the start. The hour's
    /// bound on news and what waits are not touched.
    pub fn reset_homeostasis(&mut self) {
        self.organs.values_mut().for_each(Organ::rest);
        self.causes.clear();
        self.theatre.energy = Default::default();
        let start = crate::settings::Dynamics::default();
        self.settings.dynamics.temperature = start.temperature;
        self.settings.dynamics.coherence_target = start.coherence_target;
    }

    /// A feeling of the agent or of a host, 0 to 1, as an event of the organ `somatic:<name>` in the next
    /// tick, which competes like any other. Returns whether it is strong enough to be told.
    pub fn inject_somatic_signal(&mut self, name: &str, intensity: f64, now: Seconds) -> bool {
        let severity = match intensity {
            x if x >= 0.9 => Severity::Failure,
            x if x >= 0.6 => Severity::Warning,
            x if x >= 0.3 => Severity::Notice,
            _ => Severity::None,
        };
        self.take(Input::Event(Event {
            organ: format!("somatic:{name}"),
            at: now,
            subject: name.to_owned(),
            path: "intensity".to_owned(),
            old: None,
            new: format!("{intensity:.2}"),
            severity,
            direction: Direction::Breaking,
            touches: None,
            details: None,
        }));
        severity >= Severity::Warning
    }

    /// Trained weights for `dynamics.adapter`; none goes back to the fixed projection.
    pub fn set_adapter(&mut self, adapter: Option<Adapter>) {
        self.theatre.adapter = adapter;
    }

    /// Forgets what no longer stands in any state, and news that were told and acknowledged.
    pub fn trigger_consolidation(&mut self) -> Consolidated {
        let before = self.news.len();
        self.news.retain(|news| news.told.is_none() || news.acknowledged.is_none());
        Consolidated {
            paths_forgotten: self.organs.values_mut().map(Organ::forget_unseen).sum(),
            news_forgotten: (before - self.news.len()) as u64,
        }
    }

    fn forget_old_news(&mut self) {
        let told = self.news.iter().filter(|news| news.told.is_some()).count();
        if told > TOLD_KEPT
            && let Some(oldest) = self.news.iter().position(|news| news.told.is_some())
        {
            self.news.remove(oldest);
        }
    }
}
