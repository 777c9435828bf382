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

pub(crate) use self::{
    adjust_coherence_target::AdjustCoherenceTarget, adjust_temperature::AdjustTemperature,
    focus_attention::FocusAttention, get_attention::GetAttention, inject_somatic_signal::InjectSomaticSignal,
    reset_homeostasis::ResetHomeostasis, trigger_consolidation::TriggerConsolidation,
};
use crate::cards::READS;

/// A tool that changes what is told, and nothing else.
const REGULATES: Card = Card {
    effect: Effect::Add,
    idempotent: true,
    primary: "",
    deadline: Duration::from_secs(10),
    role: ToolRole::Alias,
    ..READS
};
