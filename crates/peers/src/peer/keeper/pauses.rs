//! The pauses before something is tried again.

use std::time::Duration;

/// The pause before a server that is there is asked again what it did not answer; each further
/// failure doubles it.
pub(super) const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest such pause: a server that is mended is found within a minute or two.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The pause before the next retry of something that failed so often.
pub(super) fn pause(failures: u32) -> Duration {
    let pause = FIRST_PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(8)).min(LONGEST_PAUSE);
    pause.mul_f64(0.5 + spread())
}

/// A number in 0..1, so that servers that died together do not come back in step.
pub(super) fn spread() -> f64 {
    getrandom::u32().map_or(0.5, |bits| f64::from(bits) / f64::from(u32::MAX))
}
