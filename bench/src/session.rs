//! One running server and its only client: non-blocking pipes, one thread, every answer checked.

use std::collections::HashMap;
use std::fs::File;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ioctl_fionbio, read, write};
use serde_json::Value;

use crate::lineup::{Launch, last_words};
use crate::wire::{self, Request};

/// The timeout of one answer, even of a search of the whole tree by the slowest peer.
const PATIENCE: Timespec = Timespec { tv_sec: 60, tv_nsec: 0 };
/// The timeout for a server to end after its input was closed.
const FAREWELL: Duration = Duration::from_secs(1);
/// The most bytes of one read: four times what a pipe holds by default.
const INBOX: usize = 256 * 1024;

pub(crate) struct Session {
    name: String,
    log: std::path::PathBuf,
    child: Child,
    /// The input of the server; `None` once the conversation is over.
    to: Option<ChildStdin>,
    from: ChildStdout,
    outbox: Vec<u8>,
    inbox: Vec<u8>,
    /// The part of the inbox with bytes that are not taken yet.
    filled: std::ops::Range<usize>,
    next_id: u64,
}

/// The result of driving a server for a while.
pub(crate) struct Slice {
    /// Microseconds from writing a request to having its answer, ascending.
    pub(crate) latencies: Vec<f64>,
    pub(crate) calls_per_s: f64,
}

impl Session {
    /// Starts the process; nothing has been sent yet.
    pub(crate) fn spawn(launch: &Launch) -> Result<Self> {
        let log = File::create(&launch.log)?;
        let mut child = launch
            .command()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .with_context(|| format!("could not start {}", launch.name))?;
        let to = child.stdin.take().context("the child has an input")?;
        let from = child.stdout.take().context("the child has an output")?;
        ioctl_fionbio(&to, true)?;
        ioctl_fionbio(&from, true)?;
        Ok(Self {
            name: launch.name.clone(),
            log: launch.log.clone(),
            child,
            to: Some(to),
            from,
            outbox: Vec::new(),
            inbox: vec![0; INBOX],
            filled: 0..0,
            next_id: 0,
        })
    }

    /// Sends `initialize` and its notification; returns the server's version.
    pub(crate) fn initialize(&mut self) -> Result<String> {
        let greeting = self.greet(&Request::initialize())?;
        Ok(greeting["serverInfo"]["version"].as_str().unwrap_or("unknown").to_owned())
    }

    /// Sends this request as `initialize`; returns everything that the server says about itself.
    pub(crate) fn greet(&mut self, request: &Request) -> Result<Value> {
        // A server may ask or tell something of its own first.
        let mut answer = self.hear(request)?;
        ensure!(answer["result"]["protocolVersion"].is_string(), "{} does not begin: {answer}", self.name);
        self.outbox.extend_from_slice(wire::INITIALIZED);
        self.flush()?;
        Ok(answer["result"].take())
    }

    /// Sends one request and returns its answer, successful or not.
    pub(crate) fn hear(&mut self, request: &Request) -> Result<Value> {
        let id = self.queue(request);
        loop {
            self.exchange()?;
            while let Some(line) = self.line() {
                let message: Value = serde_json::from_slice(&self.inbox[line])
                    .with_context(|| format!("{} gave a bad answer", self.name))?;
                if message["id"] == id && message.get("method").is_none() {
                    return Ok(message);
                }
            }
        }
    }

    /// Sends one request and returns its answer, which must contain what the request expects.
    pub(crate) fn ask(&mut self, request: &Request) -> Result<Vec<u8>> {
        let id = self.queue(request);
        loop {
            self.exchange()?;
            while let Some(line) = self.line() {
                let line = self.inbox[line].to_vec();
                match self.checked(&line)? {
                    None => continue,
                    Some(answered) if answered == id => {}
                    Some(other) => bail!("{} answered {other} when asked {id}", self.name),
                }
                if memchr::memmem::find(&line, request.expect.as_bytes()).is_none() {
                    bail!("{}: the answer lacks `{}`", self.name, request.expect);
                }
                return Ok(line);
            }
        }
    }

    /// Keeps `depth` requests in flight for the given time, taking them in turn from `requests`, and
    /// waits for the last answer. `turn` remembers where it stopped, so that requests which undo each
    /// other stay in step over many slices.
    pub(crate) fn drive(
        &mut self,
        requests: &[Request],
        turn: &mut usize,
        depth: usize,
        time: Duration,
    ) -> Result<Slice> {
        let mut waiting: HashMap<u64, Instant> = HashMap::with_capacity(depth * 2);
        let mut latencies = Vec::new();
        let began = Instant::now();
        let mut now = began;
        loop {
            while now - began < time && waiting.len() < depth {
                waiting.insert(self.queue(&requests[*turn]), now);
                *turn = (*turn + 1) % requests.len();
            }
            if waiting.is_empty() {
                break;
            }
            self.exchange()?;
            now = Instant::now();
            while let Some(line) = self.line() {
                let Some(id) = self.checked(&self.inbox[line])? else { continue };
                let Some(asked) = waiting.remove(&id) else {
                    bail!("{} answered {id}, which was not asked", self.name)
                };
                latencies.push((now - asked).as_secs_f64() * 1e6);
            }
        }
        let calls_per_s = latencies.len() as f64 / (now - began).as_secs_f64();
        latencies.sort_by(f64::total_cmp);
        Ok(Slice { latencies, calls_per_s })
    }

    /// Repeats the same call, one at a time and one in each span of `every`, like an agent that thinks
    /// in between.
    pub(crate) fn pace(&mut self, request: &Request, every: Duration, time: Duration) -> Result<Slice> {
        let mut latencies = Vec::new();
        let began = Instant::now();
        let mut next = began;
        while next - began < time {
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
            let asked = Instant::now();
            self.ask(request)?;
            latencies.push(asked.elapsed().as_secs_f64() * 1e6);
            next = (next + every).max(Instant::now());
        }
        let calls_per_s = latencies.len() as f64 / began.elapsed().as_secs_f64();
        latencies.sort_by(f64::total_cmp);
        Ok(Slice { latencies, calls_per_s })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    fn queue(&mut self, request: &Request) -> u64 {
        self.next_id += 1;
        request.write(self.next_id, &mut self.outbox);
        self.next_id
    }

    /// Writes what the pipe accepts, waits until there is something to read, and reads it once.
    fn exchange(&mut self) -> Result<()> {
        loop {
            self.flush()?;
            let mut ends = vec![PollFd::new(&self.from, PollFlags::IN)];
            if let Some(to) = self.to.as_ref().filter(|_| !self.outbox.is_empty()) {
                ends.push(PollFd::new(to, PollFlags::OUT));
            }
            if poll(&mut ends, Some(&PATIENCE))? == 0 {
                bail!("{} gave no answer within {} s{}", self.name, PATIENCE.tv_sec, self.last_words());
            }
            if !ends[0].revents().is_empty() {
                break;
            }
        }
        self.make_room();
        match read(&self.from, &mut self.inbox[self.filled.end..]) {
            Ok(0) => bail!("{} ended before it answered{}", self.name, self.last_words()),
            Ok(count) => self.filled.end += count,
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let Some(to) = &self.to else { bail!("the conversation with {} is over", self.name) };
        while !self.outbox.is_empty() {
            match write(to, &self.outbox) {
                Ok(count) => drop(self.outbox.drain(..count)),
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(error) => bail!("{} takes no more requests: {error}{}", self.name, self.last_words()),
            }
        }
        Ok(())
    }

    /// Takes one complete line out of the inbox.
    fn line(&mut self) -> Option<std::ops::Range<usize>> {
        let length = memchr::memchr(b'\n', &self.inbox[self.filled.clone()])?;
        let line = self.filled.start..self.filled.start + length;
        self.filled.start = line.end + 1;
        Some(line)
    }

    /// Called only between lines, so bytes may move. An answer larger than the inbox makes it grow.
    fn make_room(&mut self) {
        if self.filled.start > 0 {
            self.inbox.copy_within(self.filled.clone(), 0);
            self.filled = 0..self.filled.len();
        }
        if self.filled.end == self.inbox.len() {
            self.inbox.resize(self.inbox.len() * 2, 0);
        }
    }

    fn checked(&self, line: &[u8]) -> Result<Option<u64>> {
        wire::answered(line).with_context(|| format!("{} gave a bad answer", self.name))
    }

    fn last_words(&self) -> String {
        last_words(&self.log)
    }
}

impl Drop for Session {
    /// Closes the input, which asks a server to end; one that does not is killed.
    fn drop(&mut self) {
        self.to = None;
        let deadline = Instant::now() + FAREWELL;
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
