//! The turns of a model: the calls of one answer run together, the memory and the limits of a turn,
//! and the files that the model knows.

mod refresh;
mod round;
mod turn;

pub use refresh::{CLOSES, OPENS, Refresh, Shown, Sight};
pub use round::RoundOutcome;
pub use turn::{Limits, Stop, Turn};
