//! The loop around the house: a model is asked, its calls go through [`Tectum::round`], and what
//! came of them goes back to it, until it has an answer.
//!
//! This crate owns the conversation: messages, tiers, what is kept when the window fills, and the
//! seam to a model. It runs no tool and judges no call: the house does, as for every other caller.
//!
//! [`Tectum::round`]: tectum_core::Tectum::round

pub mod compact;
pub mod context;
pub mod engine;
pub mod event;
pub mod message;
pub mod model;
pub mod openai;
mod order;
pub mod policy;
pub mod process;
pub mod prune;
pub mod render;
pub mod scripted;
pub mod tiers;

pub use context::LoopContext;
pub use engine::{Engine, Finished, Reason, RoundNews, Settings};
pub use event::Event;
pub use message::{Message, Metadata, Role, Source, ToolCall};
pub use model::{Answer, Finish, Model, Offer, Prompt, Usage};
pub use openai::OpenAi;
pub use policy::Policy;
pub use scripted::Scripted;
pub use tiers::{Tier, Tiers};
