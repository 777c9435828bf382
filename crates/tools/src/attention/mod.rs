//! News of the house for whoever asks, and what decides which of them are told.

mod adjust_coherence_target;
mod adjust_temperature;
mod focus_attention;
mod get_attention;
mod inject_somatic_signal;
mod reset_homeostasis;
mod trigger_consolidation;

use std::time::Duration;

use tectum_core::{Card, Effect, ToolRole};
use tectum_native::NativeTool;

use crate::{Settings, cards::READS};

/// A tool that changes what is told, and nothing else.
const REGULATES: Card = Card {
    effect: Effect::Add,
    idempotent: true,
    primary: "",
    deadline: Duration::from_secs(10),
    role: ToolRole::Alias,
    ..READS
};

/// The tools of a house that has attention; those for the optional parts where these are on.
pub(crate) fn tools(settings: &Settings) -> Vec<NativeTool> {
    let Some(attention) = &settings.attention else { return Vec::new() };
    let mut tools = vec![
        NativeTool::new(get_attention::GetAttention(attention.clone())),
        NativeTool::new(focus_attention::FocusAttention(attention.clone())),
    ];
    if attention.has_dynamics() {
        tools.extend([
            NativeTool::new(adjust_temperature::AdjustTemperature(attention.clone())),
            NativeTool::new(adjust_coherence_target::AdjustCoherenceTarget(attention.clone())),
            NativeTool::new(reset_homeostasis::ResetHomeostasis(attention.clone())),
            NativeTool::new(inject_somatic_signal::InjectSomaticSignal(attention.clone())),
            NativeTool::new(trigger_consolidation::TriggerConsolidation(attention.clone())),
        ]);
    }
    tools
}
