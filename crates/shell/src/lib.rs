//! Commands that an agent runs: which parts one has, how it runs, and what is kept of its output.

pub mod parts;

pub use parts::{Part, parts};
