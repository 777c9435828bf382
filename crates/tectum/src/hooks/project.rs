//! The project as consoles show it: the settings in effect, or what a script put there. Putting something
//! there changes what is shown and never the settings: the agent has the token, too.

use axum::{Json, extract::State};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tectum_core::Fault;
use utoipa::ToSchema;

use super::{body::Posted, hooked::Hooks, refusal::Refusal};

/// A project.
#[derive(Serialize, ToSchema)]
pub(super) struct ProjectBody {
    /// Keys of the settings with their values, such as `workspace.roots`.
    project: Value,
}

/// A project to show.
#[derive(Deserialize, ToSchema)]
pub(super) struct NewProject {
    project: Map<String, Value>,
}

/// The answer to a change.
#[derive(Serialize, ToSchema)]
pub(super) struct Updated {
    /// Always `updated`.
    status: &'static str,
}

pub(super) const UPDATED: Updated = Updated { status: "updated" };

/// The project: the settings in effect
#[utoipa::path(get, path = "/api/project", responses((status = 200, description = "The project", body = ProjectBody)))]
pub(super) async fn get(State(hooks): State<Hooks>) -> Result<Json<ProjectBody>, Refusal> {
    if let Some(project) = hooks.console().with(|state| state.project.clone()).await? {
        return Ok(Json(ProjectBody { project }));
    }
    // Settings that nobody read yet are read from their files.
    let settings = tokio::task::spawn_blocking(move || hooks.settings()).await;
    let project = settings.map_err(|_| Fault::internal("the settings could not be shown"))?;
    Ok(Json(ProjectBody { project }))
}

/// Shows another project in its place; the settings stay as they are
#[utoipa::path(post, path = "/api/project", request_body = NewProject,
    responses((status = 200, description = "It is shown", body = Updated)))]
pub(super) async fn post(
    State(hooks): State<Hooks>,
    Posted(NewProject { project }): Posted<NewProject>,
) -> Result<Json<Updated>, Refusal> {
    hooks.console().with(|state| state.project = Some(project.into())).await?;
    hooks.bus().push("gui.project", &Value::Null);
    Ok(Json(UPDATED))
}
