//! Starting a program and ending it: its own process group, a clean environment, nothing to
//! read, and no more output than was asked for. It never outlives the call that started it.

use std::{
    ffi::{OsStr, OsString},
    io::{ErrorKind, Read},
    os::{fd::AsFd, unix::process::CommandExt},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, Signal, kill_process_group},
};
use tectum_child::Confinement;
use tectum_core::{Fault, FaultKind};

/// The time to wait for a silent program before the call is asked whether it still wants it.
const TICK: Duration = Duration::from_millis(20);
/// The pause between two looks at a program that has closed its output and should end.
const PAUSE: Duration = Duration::from_millis(1);
/// The bytes of one read.
const CHUNK: usize = 64 * 1024;
/// The bytes that are kept of a program's error output; the rest is read and dropped, so that it does
/// not wait for us.
const COMPLAINTS: usize = 16 * 1024;

/// The program to start.
pub(crate) struct Order<'o> {
    pub(crate) program: &'o OsStr,
    pub(crate) args: Vec<OsString>,
    pub(crate) folder: &'o Path,
    /// All it gets to know of our environment.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// The files it may open.
    pub(crate) confinement: &'o Confinement,
}

/// The time it may run.
#[derive(Clone, Copy)]
pub(crate) struct Leash<'l> {
    /// The name of the program in replies.
    pub(crate) who: &'static str,
    /// The advice for when it takes too long.
    pub(crate) slow: &'static str,
    /// True once the call was cancelled.
    pub(crate) stop: &'l (dyn Fn() -> bool + Sync),
    /// When it is killed at the latest.
    pub(crate) until: Instant,
}

impl Leash<'_> {
    /// Ends a call that is over.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        if (self.stop)() {
            return Err(Fault::new(FaultKind::Cancelled, "the call was cancelled"));
        }
        if Instant::now() >= self.until {
            let late = format!("{} took too long and was stopped", self.who);
            return Err(Fault::new(FaultKind::Timeout, late).hint(self.slow));
        }
        Ok(())
    }
}

/// The result of a program.
#[derive(Debug)]
pub(crate) struct Ran {
    /// True when it ended well.
    pub(crate) success: bool,
    /// Its output.
    pub(crate) out: Vec<u8>,
    /// Its standard error.
    pub(crate) err: String,
    /// True when it had more to write than was asked for; it was killed then.
    pub(crate) cut: bool,
}

impl Ran {
    /// The result of a run that ended well; otherwise an error.
    pub(crate) fn checked(self, who: &str) -> Result<Self, Fault> {
        if self.success { Ok(self) } else { Err(failed(who, &self.err)) }
    }
}

/// Runs a program to its end, to `most` bytes of output, or to the end of its leash.
pub(crate) fn run(order: &Order<'_>, leash: &Leash<'_>, most: usize) -> Result<Ran, Fault> {
    let mut group = Group::start(order, leash.who)?;
    let mut out = Stream::new(group.child.stdout.take(), most);
    let mut err = Stream::new(group.child.stderr.take(), COMPLAINTS);
    let mut buffer = vec![0; CHUNK];
    while !out.closed() || !err.closed() {
        leash.check()?;
        let [out_ready, err_ready] = ready(&out, &err).map_err(|error| broken(leash.who, error))?;
        if out_ready {
            out.read(&mut buffer);
        }
        if err_ready {
            err.read(&mut buffer);
        }
        if out.full {
            break;
        }
    }
    let err_text = String::from_utf8_lossy(&err.bytes).into_owned();
    if out.full {
        // Dropping the group kills it.
        return Ok(Ran { success: true, out: out.bytes, err: err_text, cut: true });
    }
    let status = group.wait(leash)?;
    Ok(Ran { success: status.success(), out: out.bytes, err: err_text, cut: false })
}

/// A program and all it starts.
struct Group {
    child: Child,
    reaped: bool,
}

impl Group {
    #[expect(
        clippy::disallowed_methods,
        reason = "programs of one answer are started here and nowhere else: bounded, with a clean environment, ended with the call"
    )]
    fn start(order: &Order<'_>, who: &str) -> Result<Self, Fault> {
        let mut command = Command::new(order.program);
        command
            .args(&order.args)
            .current_dir(order.folder)
            .env_clear()
            .envs(order.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let child = order.confinement.spawn(&mut command).map_err(|error| not_started(order, who, error))?;
        Ok(Self { child, reaped: false })
    }

    /// Waits for the end of a program that has nothing more to say.
    fn wait(&mut self, leash: &Leash<'_>) -> Result<ExitStatus, Fault> {
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => {
                    self.reaped = true;
                    return Ok(status);
                }
                Ok(None) => {
                    leash.check()?;
                    std::thread::sleep(PAUSE);
                }
                Err(error) => return Err(broken(leash.who, error)),
            }
        }
    }
}

impl Drop for Group {
    /// Kills the whole group while its leader is not yet reaped, so that its number is still
    /// its own.
    fn drop(&mut self) {
        if self.reaped {
            return;
        }
        let leader = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(leader) = leader {
            let _ = kill_process_group(leader, Signal::KILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One of a program's outputs, kept up to a limit.
struct Stream<R> {
    from: Option<R>,
    bytes: Vec<u8>,
    most: usize,
    /// True when more came than was kept.
    full: bool,
}

impl<R: Read + AsFd> Stream<R> {
    fn new(from: Option<R>, most: usize) -> Self {
        Self { from, bytes: Vec::new(), most, full: false }
    }

    fn closed(&self) -> bool {
        self.from.is_none()
    }

    /// Takes what is there. One read of a ready stream does not wait.
    fn read(&mut self, buffer: &mut [u8]) {
        let Some(from) = &mut self.from else { return };
        match from.read(buffer) {
            Ok(0) => self.from = None,
            Ok(read) => {
                let kept = read.min(self.most - self.bytes.len());
                self.bytes.extend_from_slice(&buffer[..kept]);
                self.full |= kept < read;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => self.from = None,
        }
    }
}

/// Tells which of the two outputs has something to read, after waiting a tick at most.
fn ready<A: Read + AsFd, B: Read + AsFd>(out: &Stream<A>, err: &Stream<B>) -> std::io::Result<[bool; 2]> {
    let tick = Timespec { tv_sec: 0, tv_nsec: i64::from(TICK.subsec_nanos()) };
    let mut waiting = Vec::with_capacity(2);
    waiting.extend(out.from.as_ref().map(|from| PollFd::new(from, PollFlags::IN)));
    waiting.extend(err.from.as_ref().map(|from| PollFd::new(from, PollFlags::IN)));
    match poll(&mut waiting, Some(&tick)) {
        Ok(_) => {}
        Err(rustix::io::Errno::INTR) => return Ok([false, false]),
        Err(errno) => return Err(errno.into()),
    }
    let mut spoke = waiting.iter().map(|fd| !fd.revents().is_empty());
    let mut next = |closed: bool| !closed && spoke.next().unwrap_or(false);
    Ok([next(out.closed()), next(err.closed())])
}

fn not_started(order: &Order<'_>, who: &str, error: std::io::Error) -> Fault {
    let program = order.program.to_string_lossy();
    // The system says the same of a program and of a directory that is not there.
    if error.kind() == ErrorKind::NotFound && order.folder.is_dir() {
        return Fault::not_found(format!("{program} is not installed, or not in PATH"))
            .hint(format!("install {program}, or work without it"));
    }
    broken(who, error)
}

fn broken(who: &str, error: std::io::Error) -> Fault {
    let mut fault = Fault::conflict(format!("{who} could not be run: {}", error.kind()));
    fault.source = Some(error.into());
    fault
}

/// A fault with the error output of a program, without the places it named: they may lie outside of what is shown.
fn failed(who: &str, err: &str) -> Fault {
    const MOST: usize = 200;
    let first = err.lines().find(|line| !line.trim().is_empty()).unwrap_or("it did not say why");
    let hidden = |word: &str| {
        let place = word.trim_start_matches(['\'', '"', '(', '`']).starts_with(['/', '~']);
        if place { "(a path)".to_owned() } else { word.to_owned() }
    };
    let words: Vec<String> = first.split_whitespace().map(hidden).collect();
    let told: String = words.join(" ").chars().take(MOST).filter(|c| !c.is_control()).collect();
    let mut fault = Fault::conflict(format!("{who} failed: {told}"));
    fault.source = Some(err.to_owned().into());
    fault
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
