//! Pins the harness, and so every server it starts, to one CPU.

use anyhow::{Context, Result};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// On one CPU nothing waits for another CPU to wake up: what remains is the cost of the call itself.
/// It takes the last CPU because the first serves most interrupts.
pub(crate) fn pin() -> Result<()> {
    let allowed = sched_getaffinity(None).context("this system does not tell which CPUs may be used")?;
    let last = (0..CpuSet::MAX_CPU).rev().find(|cpu| allowed.is_set(*cpu)).context("no CPU may be used")?;
    let mut one = CpuSet::new();
    one.set(last);
    sched_setaffinity(None, &one).with_context(|| format!("could not pin to CPU {last}"))
}
