//! A server that listens: started on a free port, ended by a signal, then by force.

use std::fs::File;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::lineup::Launch;

/// The timeout of a start: the slowest peer imports for two seconds on an idle machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// The delay between two attempts to connect: far shorter than a start.
const PAUSE: Duration = Duration::from_micros(200);
/// The timeout for a server to end after the signal.
const FAREWELL: Duration = Duration::from_secs(3);

pub(crate) struct Process {
    child: Child,
}

impl Process {
    /// Starts it and waits until it accepts connections.
    pub(crate) fn start(launch: &Launch, port: u16) -> Result<Self> {
        let log = File::create(&launch.log)?;
        let child = launch
            .command()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .with_context(|| format!("could not start {}", launch.name))?;
        let mut process = Self { child };
        let deadline = Instant::now() + PATIENCE;
        loop {
            match TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
                Ok(_) => return Ok(process),
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(error) => return Err(error.into()),
            }
            if let Some(status) = process.child.try_wait()? {
                bail!("{} ended before it listened: {status}{}", launch.name, launch.last_words());
            }
            if Instant::now() > deadline {
                bail!("{} did not listen within {} s", launch.name, PATIENCE.as_secs());
            }
            std::thread::sleep(PAUSE);
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::TERM);
        }
        let deadline = Instant::now() + FAREWELL;
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port of the loopback that was free a moment ago.
pub(crate) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
