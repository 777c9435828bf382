//! What matters in a stream of readings, and when an agent hears of it. Pure: no file, no thread, no
//! clock of its own, the same inputs give the same news.
//!
//! # How it is used
//!
//! ```
//! use serde_json::json;
//! use tectum_attention::{AgentRhythm, Input, OrganConfig, Reading, Settings, Task, Workspace};
//!
//! let mut workspace = Workspace::new(Settings::default());
//! workspace.register(OrganConfig::resource("mcp:ci:main", "ci://main"));
//! let read = |at, state| Input::State(Reading::new("mcp:ci:main", at, state));
//! for at in 0..300 {
//!     let input = read(f64::from(at), json!({"conclusion": "success", "run": at}));
//!     let news = workspace.tick(f64::from(at), vec![input], AgentRhythm::idle(), &Task::default());
//!     assert!(news.is_empty());
//! }
//! let input = read(300.0, json!({"conclusion": "failure", "run": 300}));
//! let news = workspace.tick(300.0, vec![input], AgentRhythm::idle(), &Task::default());
//! assert!(news[0].sentence.contains("\"success\" → \"failure\""));
//! workspace.told(news[0].id, 300.0);
//! ```
//!
//! # What was decided
//!
//! * **Time** is [`Seconds`] since the Unix epoch from a clock that never goes back: the wall clock at
//!   the start plus what a monotonic clock counted since. A time before the last one counts as the last.
//! * **External organs** hand in whole JSON states ([`Reading`]); the surprise of each path is found
//!   here. **Internal organs** hand in finished facts ([`Event`]) with a severity: nobody needs history
//!   to know that a red build is one.
//! * **An organ that changed keeps one waiting fact** until it was told or came back to what it was
//!   before; a later change of the same organ replaces the new side of it and keeps the old one. Events
//!   of internal organs wait one for each `subject`.
//! * **A tick names at most one winner.** [`AgentRhythm`] carries the number of the round: a round gets
//!   one news, an hour as many as [`Settings::hourly`]. In the middle of a call only urgent ones pass.
//! * **News that were offered stay offered**: until [`Workspace::told`] they are in
//!   [`Workspace::offered`], also after a restart. Delivering twice is prevented by the id, which is
//!   never used again.
//! * **The whole state is [`Workspace`] itself**, as serde: save it whenever it pleases you.

mod counters;
pub mod generate;
mod input;
pub mod measure;
mod modulation;
mod news;
mod quantities;
mod sentence;
mod settings;
mod signal;
pub mod theory;
mod workspace;

pub use counters::Counters;
pub use input::{AgentRhythm, Direction, Event, Input, Reading, Seconds, Severity, Task, Touch};
pub use modulation::ModulationState;
pub use news::{Factors, GateFactors, News, NewsId, Rival};
pub use quantities::{Quantities, Vitals};
pub use settings::{Change, Dynamics, OrganConfig, Settings, Source};
pub use signal::{Signal, SignalKind};
pub use theory::{adapter::Adapter, vector::Random};
pub use workspace::{Consolidated, OrganView, Workspace};
