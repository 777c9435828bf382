//! The workspace as others see it: organs, the seed's state and its eight resources.

use serde_json::json;

use super::{Workspace, shown::OrganView};
use crate::{input::Direction, modulation::ModulationState, quantities::Quantities, theory::phase};

/// The last hour, for how the agent was treated.
const HOUR: f64 = 3600.0;

impl Workspace {
    /// All organs by name.
    pub fn organs(&self) -> Vec<OrganView> {
        self.organs.values().map(|organ| organ.view(self.now, self.tick, &self.settings)).collect()
    }

    /// Organs of which something waits or was just told, with their totals in the last tick.
    pub fn speaking(&self) -> impl Iterator<Item = (&str, f64)> {
        let spoke = self
            .organs
            .iter()
            .filter(|(_, organ)| organ.trace.back().is_some_and(|(tick, _)| *tick == self.tick));
        spoke.map(|(name, organ)| (name.as_str(), organ.total))
    }

    /// What the last tick left behind.
    pub fn modulation(&self) -> ModulationState {
        let standings = self.organs.iter().map(|(name, organ)| (name.clone(), organ.standing.clone()));
        ModulationState { organ_standings: standings.collect(), ..self.modulation.clone() }
    }

    /// The eight state resources.
    pub fn quantities(&self) -> Quantities {
        let organs = || self.organs.values();
        let (mean, coherence) = phase::mean(organs().map(|organ| organ.phase));
        let waiting = || organs().flat_map(|organ| organ.kept.iter());
        let recent = |direction| {
            let news = self.news.iter().filter(|news| self.now - news.at < HOUR);
            news.map(|news| &news.factors.signal)
                .filter(|signal| signal.direction == direction)
                .map(|signal| signal.severity.weight())
                .sum::<f64>()
        };
        let (broke, recovered) = (recent(Direction::Breaking), recent(Direction::Recovering));
        let named = |chosen: fn(&super::Organ) -> bool| {
            self.organs.iter().filter(|(_, organ)| chosen(organ)).map(|(name, _)| name).collect::<Vec<_>>()
        };
        Quantities {
            oscillators_state: json!({
                "agent_phase": self.rhythm.phase(), "in_call": self.rhythm.in_call, "round": self.rhythm.round,
                "organs_phase": mean, "coherence": coherence, "bleed": self.theatre.bleed(), "oscillators": self.settings.dynamics.oscillators,
            }),
            consciousness_metrics: json!({
                "tick": self.tick, "competitors": self.last_round.competitors, "ignited": self.last_round.ignited,
                "winner": self.last_round.winner, "winner_share": self.last_round.share,
                "confidence": self.modulation.workspace_winner_confidence, "energy": self.last_round.energy,
            }),
            emotional_state: json!({
                "valence": recovered - broke, "broke_last_hour": broke, "recovered_last_hour": recovered,
                "arousal": waiting().map(|kept| kept.salience).fold(0.0, f64::max),
            }),
            homeostasis_drives: json!({
                "news_left_this_hour": self.budget.left(), "hourly": self.settings.hourly,
                "energy_ratio": self.modulation.energy_ratio,
                "temperature": self.settings.dynamics.temperature,
                "coherence_target": self.settings.dynamics.coherence_target,
            }),
            memory_status: json!({
                "organs": self.organs.len(), "paths": organs().map(super::Organ::paths).sum::<usize>(),
                "waiting": waiting().count(), "news": self.news.len(), "counters": self.counters,
            }),
            hardware_health: json!(self.vitals),
            somatic_feelings: json!({
                "unreadable": named(|organ| !organ.readable),
                "signals": named(|organ| organ.config.organ_id.starts_with("somatic:") && !organ.kept.is_empty()),
            }),
            attention_focus: json!({
                "last": self.news.last(), "offered": self.offered().map(|news| news.id).collect::<Vec<_>>(),
                "waiting": named(|organ| !organ.kept.is_empty()),
                "pinned": named(|organ| organ.pinned), "muted": named(|organ| organ.muted),
            }),
        }
    }
}
