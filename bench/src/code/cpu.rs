//! CPU time: of this thread, and of the commands this process waited for.

use std::fs;

use anyhow::{Context, Result};
use rustix::param::clock_ticks_per_second;
use rustix::time::{ClockId, clock_gettime};

/// The CPU seconds that this thread used for some work, with its result.
pub(crate) fn of_thread<R>(work: impl FnOnce() -> R) -> (f64, R) {
    let before = thread_seconds();
    let result = work();
    (thread_seconds() - before, result)
}

/// The CPU seconds of a command that was started and waited for meanwhile, itself and all it waited
/// for. The kernel counts these in hundredths of a second.
pub(crate) fn of_children<R>(work: impl FnOnce() -> Result<R>) -> Result<(f64, R)> {
    let before = children_seconds()?;
    let result = work()?;
    Ok((children_seconds()? - before, result))
}

fn thread_seconds() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

fn children_seconds() -> Result<f64> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // The command name may contain spaces; fields are counted from its closing bracket.
    let fields = stat.rsplit_once(')').context("a status without a name")?.1;
    let ticks = fields.split_whitespace().skip(13).take(2).map(str::parse::<f64>);
    let ticks: f64 = ticks.sum::<Result<f64, _>>()?;
    Ok(ticks / clock_ticks_per_second() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_takes_time_and_waiting_does_not() {
        let (busy, sum) = of_thread(|| (0..3_000_000u64).fold(1u64, |sum, n| sum.rotate_left(3) ^ n));
        assert!(busy > 0.0 && sum != 0);
        let (waited, ()) = of_thread(|| std::thread::sleep(std::time::Duration::from_millis(1)));
        assert!(waited >= 0.0);
        let (children, output) =
            of_children(|| Ok(std::process::Command::new("true").output()?)).expect("a command runs");
        assert!(children >= 0.0 && output.status.success());
    }
}
