//! The state of orchestration, and what the house is doing: from the board of the tracks, the questions that
//! wait for a person, and the calls in flight.

use std::collections::BTreeMap;

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tectum_approval::QuestionKind;
use utoipa::ToSchema;

use super::{board::Board, calls::Doing, hooked::Hooks, refusal::Refusal};

/// What the house does while a model is asked.
const SENDING: &str = "sending...";

/// The state of orchestration.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(default)]
pub(super) struct MmaStatus {
    /// `idle`, `planning`, `executing` or `done`.
    mma_status: String,
    /// What is being done: `idle`, `sending...` while a model is asked, or what a call is doing.
    ai_status: String,
    /// The tier at work.
    active_tier: Option<String>,
    /// The id of the track at work; empty if there is none.
    active_track: String,
    /// The tickets of that track.
    active_tickets: Vec<Value>,
    /// True if each ticket is asked about.
    mma_step_mode: bool,
    /// A call or a script waits for a person.
    pending_tool_approval: bool,
    /// A ticket waits for a person.
    pending_mma_step_approval: bool,
    /// A worker waits for a person.
    pending_mma_spawn_approval: bool,
    /// A ticket, a call or a script waits for a person.
    pending_approval: bool,
    /// A worker waits for a person.
    pending_spawn: bool,
    /// All tracks.
    tracks: Vec<Value>,
    /// Tracks that a person has not accepted yet.
    proposed_tracks: Vec<Value>,
    /// The output of each stream so far.
    mma_streams: BTreeMap<String, String>,
}

/// What indicators show.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Indicators {
    /// A model is asked, or a command runs.
    thinking: bool,
    /// A call is in flight.
    live: bool,
    /// Another session than the present one is in view.
    prior: bool,
}

/// The state of orchestration
#[utoipa::path(get, path = "/api/gui/mma_status", responses(
    (status = 200, description = "The state", body = MmaStatus),
))]
pub(super) async fn status(State(hooks): State<Hooks>) -> Result<Json<MmaStatus>, Refusal> {
    let now = hooks.clone();
    // Asked of the console's task as every other state is, so that a script sees what it did before.
    Ok(Json(hooks.console().with(move |_| mma(&now)).await?))
}

/// What indicators show
#[utoipa::path(get, path = "/api/gui/diagnostics", responses(
    (status = 200, description = "The indicators", body = Indicators),
))]
pub(super) async fn diagnostics(State(hooks): State<Hooks>) -> Result<Json<Indicators>, Refusal> {
    let now = hooks.clone();
    let shown = move |state: &mut super::console::ConsoleState| {
        let doing = now.flight().doing();
        let sending = mma(&now).ai_status == SENDING;
        Indicators {
            thinking: sending || matches!(doing, Doing::Command(_)),
            live: doing != Doing::Idle,
            prior: state.entries.is_some(),
        }
    };
    Ok(Json(hooks.console().with(shown).await?))
}

fn mma(hooks: &Hooks) -> MmaStatus {
    let mut status: MmaStatus =
        hooks.board().map(Board::now).and_then(|now| serde_json::from_value(now).ok()).unwrap_or_default();
    if status.mma_status.is_empty() {
        status.mma_status = "idle".into();
    }
    let kinds: Vec<QuestionKind> = hooks.desk().questions().iter().map(|question| question.kind).collect();
    let waits = |kind| kinds.contains(&kind);
    status.pending_tool_approval = waits(QuestionKind::Call) || waits(QuestionKind::Ask);
    status.pending_mma_step_approval = waits(QuestionKind::Step);
    status.pending_mma_spawn_approval = waits(QuestionKind::Spawn);
    status.pending_approval = status.pending_mma_step_approval || status.pending_tool_approval;
    status.pending_spawn = status.pending_mma_spawn_approval;
    let doing = hooks.flight().doing();
    if doing != Doing::Idle || status.ai_status.is_empty() {
        status.ai_status = doing.to_string();
    }
    status
}
