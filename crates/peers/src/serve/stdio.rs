//! MCP on standard input and output: one loop that reads, answers and writes.
//!
//! Everything a read brought is handled before anything is written, so a burst of calls is
//! answered with one write. Calls that cannot end at once run as tasks and come back through
//! a queue.

use std::{io, sync::Arc, time::Duration};

use tectum_core::{SessionId, Tectum};
use tokio::sync::{mpsc, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    answer,
    conversation::{Conversation, OUTBOX},
    endpoint::{Delivery, Endpoint, Handled},
    pipe::{Input, Output},
    rpc::{MAX_MESSAGE, code, salvage_id},
};

/// Answers are written when this much has gathered, while it is still in the cache and the
/// client can begin to read.
const PIECE: usize = 128 * 1024;
/// Unwritten answers beyond which nothing more is read: a client that does not read waits.
const MOST_UNWRITTEN: usize = 4 * 1024 * 1024;
/// How long calls in flight may go on after the client closed its end.
const GRACE: Duration = Duration::from_secs(2);

/// Serves until the client leaves or `stop` is cancelled.
pub async fn stdio(house: Tectum, stop: CancellationToken) -> io::Result<()> {
    let changes = house.registry().changes();
    let client = Conversation::new(SessionId::new("stdio"));
    let (outbox, mut finished) = mpsc::channel(OUTBOX);
    let announcing = tokio::spawn(announce(changes, client.clone(), outbox.clone()));
    let mut server = Server {
        endpoint: Endpoint::new(house),
        client,
        outbox,
        tasks: TaskTracker::new(),
        lines: Lines::default(),
        out: Vec::new(),
        output: Output::stdout()?,
    };
    let served = server.serve(Input::stdin()?, &mut finished, stop).await;
    announcing.abort();
    match served {
        Ok(()) => server.finish(finished).await,
        Err(error) => {
            // Nobody can be answered any more.
            server.client.cancel_all();
            Err(error)
        }
    }
}

/// Tells the client when the tools changed.
async fn announce(
    mut changes: watch::Receiver<u64>,
    client: Arc<Conversation>,
    outbox: mpsc::Sender<Vec<u8>>,
) {
    while changes.changed().await.is_ok() {
        for message in client.tools_changed() {
            if outbox.send(message).await.is_err() {
                return;
            }
        }
    }
}

struct Server {
    endpoint: Endpoint,
    client: Arc<Conversation>,
    outbox: mpsc::Sender<Vec<u8>>,
    tasks: TaskTracker,
    lines: Lines,
    out: Vec<u8>,
    output: Output,
}

impl Server {
    async fn serve(
        &mut self,
        mut input: Input,
        finished: &mut mpsc::Receiver<Vec<u8>>,
        stop: CancellationToken,
    ) -> io::Result<()> {
        let stopped = stop.cancelled();
        tokio::pin!(stopped);
        let mut reading = true;
        loop {
            self.flush()?;
            if !reading && self.out.is_empty() {
                return Ok(());
            }
            let backlog = !self.out.is_empty();
            tokio::select! {
                // Finished calls first: a client that never stops asking still gets its answers.
                biased;
                Some(message) = finished.recv() => {
                    self.push(message);
                    // Whatever else is ready goes out with the same write.
                    while let Ok(message) = finished.try_recv() {
                        self.push(message);
                    }
                }
                read = input.read(&mut self.lines.buffer), if reading && self.out.len() < MOST_UNWRITTEN => match read {
                    Ok(0) => { self.end_of_input()?; reading = false }
                    Ok(_) => self.take_lines()?,
                    Err(error) => { tracing::debug!(%error, "standard input failed"); reading = false }
                },
                writable = self.output.writable(), if backlog => writable?,
                () = &mut stopped => { self.client.cancel_all(); return Ok(()) }
            }
        }
    }

    /// Handles every complete line that has been read.
    fn take_lines(&mut self) -> io::Result<()> {
        let mut lines = std::mem::take(&mut self.lines);
        let mut written = Ok(());
        lines.drain(|line| {
            self.line(line);
            if self.out.len() >= PIECE && written.is_ok() {
                written = self.flush();
            }
        });
        self.lines = lines;
        written
    }

    /// A last line without its newline still counts.
    fn end_of_input(&mut self) -> io::Result<()> {
        if !self.lines.buffer.is_empty() {
            self.lines.buffer.push(b'\n');
            self.take_lines()?;
        }
        Ok(())
    }

    fn line(&mut self, line: Line<'_>) {
        let start = self.out.len();
        let handled = match line {
            Line::Whole(bytes) if bytes.trim_ascii().is_empty() => Handled::Silent,
            Line::Whole(bytes) => {
                let delivery = Delivery { from: &self.client, outbox: Some(&self.outbox), modern: false };
                self.endpoint.handle(&delivery, bytes, &mut self.out)
            }
            Line::TooLong { start, size } => {
                let message = format!("the message has {size} bytes, the limit is {MAX_MESSAGE}");
                answer::error(
                    &mut self.out,
                    salvage_id(start).as_deref(),
                    code::INVALID_REQUEST,
                    &message,
                    None,
                );
                Handled::Answered
            }
        };
        match handled {
            Handled::Answered | Handled::Listening if self.out.len() > start => self.out.push(b'\n'),
            Handled::Answered | Handled::Listening | Handled::Silent => {}
            Handled::Running(work) => {
                let outbox = self.outbox.clone();
                self.tasks.spawn(async move {
                    let answer = work.await;
                    if !answer.is_empty() {
                        // The receiver is gone only when the process ends.
                        let _ = outbox.send(answer).await;
                    }
                });
            }
        }
    }

    fn push(&mut self, message: Vec<u8>) {
        // A lone answer need not be copied.
        if self.out.is_empty() {
            self.out = message;
        } else {
            self.out.extend_from_slice(&message);
        }
        self.out.push(b'\n');
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut written = 0;
        while written < self.out.len() {
            match self.output.write_now(&self.out[written..])? {
                0 => break,
                more => written += more,
            }
        }
        self.out.drain(..written);
        if self.out.is_empty() && self.out.capacity() > MOST_UNWRITTEN {
            self.out = Vec::new();
        }
        Ok(())
    }

    /// The client closed its end: calls in flight get a moment, their answers are still sent.
    async fn finish(mut self, mut finished: mpsc::Receiver<Vec<u8>>) -> io::Result<()> {
        self.tasks.close();
        let until = tokio::time::Instant::now() + GRACE;
        loop {
            while let Ok(message) = finished.try_recv() {
                self.push(message);
            }
            self.flush()?;
            if self.tasks.is_empty() && finished.is_empty() && self.out.is_empty() {
                return Ok(());
            }
            tokio::select! {
                Some(message) = finished.recv() => self.push(message),
                writable = self.output.writable(), if !self.out.is_empty() => writable?,
                () = self.tasks.wait(), if !self.tasks.is_empty() => {}
                () = tokio::time::sleep_until(until) => {
                    self.client.cancel_all();
                    return Ok(());
                }
            }
        }
    }
}

/// What has been read and not yet handled.
#[derive(Default)]
struct Lines {
    buffer: Vec<u8>,
    /// Bytes of an over-long line that were let go already.
    skipped: usize,
    /// Up to where the buffer is known to hold no newline.
    searched: usize,
    /// The beginning of an over-long line.
    start: Vec<u8>,
}

enum Line<'l> {
    Whole(&'l [u8]),
    TooLong { start: &'l [u8], size: usize },
}

impl Lines {
    /// What is kept of an over-long line, to find its id in.
    const KEPT: usize = 64 * 1024;

    fn drain(&mut self, mut each: impl FnMut(Line<'_>)) {
        let mut from = 0;
        while let Some(at) = memchr::memchr(b'\n', &self.buffer[from.max(self.searched)..]) {
            let end = from.max(self.searched) + at;
            let line = &self.buffer[from..end];
            let size = self.skipped + line.len();
            if size > MAX_MESSAGE {
                let start = if self.start.is_empty() { line } else { &self.start };
                each(Line::TooLong { start, size });
            } else {
                each(Line::Whole(line));
            }
            self.skipped = 0;
            self.start.clear();
            self.searched = 0;
            from = end + 1;
        }
        self.buffer.drain(..from);
        self.searched = self.buffer.len();
        if self.skipped + self.buffer.len() > MAX_MESSAGE {
            if self.start.is_empty() {
                self.start.extend_from_slice(&self.buffer[..self.buffer.len().min(Self::KEPT)]);
            }
            self.skipped += self.buffer.len();
            self.buffer = Vec::new();
            self.searched = 0;
        } else if self.buffer.is_empty() && self.buffer.capacity() > 1024 * 1024 {
            self.buffer = Vec::new();
        }
    }
}
