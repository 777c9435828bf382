//! How much memory a process may take. What is counted is what it can write to and shares with
//! nobody, which is what it really uses: programs such as Node reserve many gigabytes of addresses
//! that they never touch, and would not start under a bound on addresses.

use std::io;

#[cfg(target_os = "linux")]
use rustix::process::{Pid, Resource, Rlimit};

/// Bounds a process that runs already, and those it starts from now on.
#[cfg(target_os = "linux")]
pub(super) fn bound(process: Option<u32>, bytes: u64) -> io::Result<()> {
    let pid = process.and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    // Without a number it has ended already.
    let Some(pid) = pid else { return Ok(()) };
    match rustix::process::prlimit(Some(pid), Resource::Data, limit(bytes)) {
        Ok(_) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Bounds this process, and those it starts from now on.
#[cfg(target_os = "linux")]
pub(super) fn bound_ourselves(bytes: u64) -> io::Result<()> {
    Ok(rustix::process::setrlimit(Resource::Data, limit(bytes))?)
}

#[cfg(target_os = "linux")]
fn limit(bytes: u64) -> Rlimit {
    Rlimit { current: Some(bytes), maximum: Some(bytes) }
}

/// Other systems do not count it, or not like this.
#[cfg(not(target_os = "linux"))]
pub(super) fn bound(_: Option<u32>, _: u64) -> io::Result<()> {
    Ok(())
}

/// Other systems do not count it, or not like this.
#[cfg(not(target_os = "linux"))]
pub(super) fn bound_ourselves(_: u64) -> io::Result<()> {
    Ok(())
}
