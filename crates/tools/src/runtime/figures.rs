//! The figures that are counted: calls as they end, the process's own use of the machine, and whatever
//! a user interface that hosts us says of itself.

use std::{
    fmt,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;

use super::paces::Paces;

/// Ticks of a second in which the kernel counts a process's time.
const TICKS: f64 = 100.0;

/// The figures of a user interface about itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UiFigures {
    /// Frames a second.
    pub fps: f64,
    /// The time of a frame, in milliseconds.
    pub frame_time_ms: f64,
    /// The share of one core it uses, in percent.
    pub cpu_percent: f64,
    /// The time an input waits for its frame, in milliseconds.
    pub input_lag_ms: f64,
}

type Host = Arc<dyn Fn() -> Option<UiFigures> + Send + Sync>;

/// The figures of one house. Cheap to clone; all clones are the same.
#[derive(Clone)]
pub struct Runtime(Arc<Counted>);

struct Counted {
    paces: Paces,
    begun: Instant,
    host: Mutex<Option<Host>>,
    /// The counts of the last look.
    last: Mutex<Option<LastLook>>,
}

/// The counts at one moment.
#[derive(Clone, Copy)]
struct LastLook {
    at: Instant,
    calls: u64,
    cpu: Option<f64>,
}

/// Our own figures.
#[derive(Debug)]
pub(super) struct OwnFigures {
    pub(super) calls: u64,
    /// Since the last look, or the start.
    pub(super) over: Duration,
    pub(super) calls_per_second: f64,
    pub(super) p50: Duration,
    pub(super) p99: Duration,
    /// The share of one core, where the system tells.
    pub(super) cpu_percent: Option<f64>,
    /// Resident memory in kilobytes, where the system tells.
    pub(super) memory_kb: Option<u64>,
}

impl Runtime {
    /// Notes a call that ended.
    pub fn note(&self, took: Duration) {
        self.0.paces.note(took);
    }

    /// From now on a user interface is asked for its figures; `None` from it means that it has none now.
    /// It is asked on the call's own thread and must not wait. It takes the place of the one before.
    pub fn attach(&self, host: impl Fn() -> Option<UiFigures> + Send + Sync + 'static) {
        *self.0.host.lock() = Some(Arc::new(host));
    }

    /// No user interface is asked any more.
    pub fn detach(&self) {
        *self.0.host.lock() = None;
    }

    pub(super) fn host(&self) -> Option<UiFigures> {
        let host = self.0.host.lock().clone()?;
        let figures = host()?;
        let UiFigures { fps, frame_time_ms, cpu_percent, input_lag_ms } = figures;
        [fps, frame_time_ms, cpu_percent, input_lag_ms].iter().all(|one| one.is_finite()).then_some(figures)
    }

    pub(super) fn own(&self) -> OwnFigures {
        let (calls, [p50, p99]) = self.0.paces.shares([0.5, 0.99]);
        let now = LastLook { at: Instant::now(), calls, cpu: cpu_seconds() };
        let before = self.0.last.lock().replace(now);
        let before = before.unwrap_or(LastLook { at: self.0.begun, calls: 0, cpu: now.cpu.map(|_| 0.0) });
        let over = now.at.saturating_duration_since(before.at);
        let a_second = |count: f64| count / over.as_secs_f64().max(0.001);
        let used = now.cpu.zip(before.cpu).map(|(now, before)| (now - before).max(0.0));
        OwnFigures {
            calls,
            over,
            calls_per_second: a_second(calls.saturating_sub(before.calls) as f64),
            p50,
            p99,
            cpu_percent: used.map(|used| a_second(used) * 100.0),
            memory_kb: memory_kb(),
        }
    }
}

impl Default for Runtime {
    fn default() -> Self {
        let (host, last) = (Mutex::default(), Mutex::default());
        Self(Arc::new(Counted { paces: Paces::default(), begun: Instant::now(), host, last }))
    }
}

impl PartialEq for Runtime {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Runtime {}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").finish_non_exhaustive()
    }
}

/// The time that the cores gave this process.
fn cpu_seconds() -> Option<f64> {
    let stat = kernel("/proc/self/stat")?;
    // The name before it, in parentheses, may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / TICKS)
}

fn memory_kb() -> Option<u64> {
    let status = kernel("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// A file of the kernel about this process; `None` on systems that keep no such file.
fn kernel(file: &str) -> Option<String> {
    String::from_utf8(tectum_state::read(Path::new(file)).ok()??).ok()
}
