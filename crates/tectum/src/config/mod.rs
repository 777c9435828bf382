//! What the house is set up with: one table of keys, five layers, one typed result.
//!
//! Later layers win: built-in defaults, the user's file, the project's file, the environment,
//! flags. Lists of rules and of protected names accumulate instead, so a deny of any layer
//! holds. An absent or empty file is a safe set-up; a key nobody knows is an error.

mod build;
pub mod environment;
pub mod file;
pub mod form;
mod key;
pub mod keys;
pub mod load;
pub mod model;
pub mod place;
pub mod schema;
pub mod servers;
pub mod show;
pub mod value;

pub use load::Sources;
pub use model::{AuthMode, Config, Exposure, Federation, Files, Http, Level, Run, ToolSet, Workspace};
pub use place::{Origin, Problem, Problems};
