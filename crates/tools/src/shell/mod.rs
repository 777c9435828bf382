//! Commands that an agent runs.

mod subject;

pub use subject::subject;
