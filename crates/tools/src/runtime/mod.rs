//! The performance of the program: figures of the user interface that hosts it, or its own.

mod figures;
mod get_ui_performance;
mod paces;

pub use figures::{Runtime, UiFigures};
pub use get_ui_performance::GetUiPerformance;
