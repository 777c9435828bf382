//! The settings of the house: one table of keys, five layers, one typed result.
//!
//! Of the operator's layers the later wins: built-in defaults, the user's file, the environment,
//! flags. Lists of rules and of protected names accumulate instead, so a deny of any layer
//! holds. The project's own file narrows the result and never widens it (`compose.rs`). An absent or
//! empty file is a safe set-up; a key nobody knows is an error.

pub mod accept;
mod build;
mod compose;
pub mod environment;
pub mod file;
pub mod form;
mod key;
pub mod keys;
pub mod load;
pub mod merged;
pub mod model;
pub mod place;
pub mod reactions;
pub mod schema;
pub mod servers;
mod settings_text;
pub mod show;
mod telemetry;
pub mod value;

pub use load::Sources;
pub use model::{
    AttentionSettings, AuthMode, Config, Federation, Files, Http, Organs, Permissions, ProjectEnv, Run,
    ToolSet, Workspace,
};
pub use place::{Origin, Problem, Problems};
pub use telemetry::TelemetryTarget;
