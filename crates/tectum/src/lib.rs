//! Tectum, one roof over an AI agent's tools, for programs that bring their own loop.
//!
//! The binary `tectum` serves the same house over MCP. A Rust host builds it directly:
//!
//! ```ignore
//! let config = tectum::Config::built_in(".")?;          // or Sources::of_process(".").load()?
//! let house = tectum::build(&config)?;
//! let args = serde_json::value::to_raw_value(&serde_json::json!({ "path": "README.md" }))?;
//! let call = tectum::Call::new(tectum::SessionId::new("mine"), "read_file", args);
//! match house.call(call).await.result {
//!     Ok(payload) => println!("{payload:?}"),
//!     Err(fault) => eprintln!("{}", fault.text()),
//! }
//! ```

pub mod at_desk;
pub mod client;
pub mod client_hooks;
pub mod config;
mod control;
pub mod hooks;
mod house;
pub mod houses;
pub mod journal;
pub mod observers;
mod offered;
pub mod on_behalf;
pub mod reload;
pub mod replay;
mod rulebook;
pub mod servers;
pub mod state;
pub mod status;
pub mod telemetry;
pub mod token;
pub mod tool_facts;

pub use config::{Config, Problems, Sources};
pub use house::{
    build, build_for_one_call, build_hosted, build_to_replay, build_to_undo, build_to_undo_in_copy,
    rules_that_wait, sandbox_settings,
};
/// The vocabulary and the walk of a call.
pub use tectum_approval as approval;
/// The vocabulary and the walk of a call.
pub use tectum_core as core;
pub use tectum_core::{Call, Fault, FaultKind, Outcome, Payload, SessionId, Tectum};
/// The loop of a model around the house.
pub use tectum_engine as engine;
/// Tools of this process as a provider.
pub use tectum_native as native;
/// Serving over MCP.
pub use tectum_peers as peers;
/// The native tools.
pub use tectum_tools as tools;
/// Tickets with dependencies, and the workers at them.
pub use tectum_tracks as tracks;
/// The turns of a model: rounds of calls, their limits, the files it knows.
pub use tectum_turns as turns;
