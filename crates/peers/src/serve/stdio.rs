//! MCP on standard input and output: one loop that reads, answers and writes.
//!
//! Everything a read brought is handled before anything is written, so a burst of calls is
//! answered with one write. Calls that cannot end at once run as tasks and come back through
//! a queue.

use std::{io, sync::Arc, time::Duration};

use tectum_core::{SessionId, Tectum};
use tokio::sync::{broadcast, mpsc, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    answer,
    conversation::{Conversation, OUTBOX},
    endpoint::{Delivery, Endpoint, Handled},
    unheard::Unheard,
};
use crate::{
    federation::{Federation, Notice},
    wire::{
        lines::{Line, Lines, on_one_line},
        pipe::{Input, Output},
        rpc::{MAX_MESSAGE, code, salvage_id},
    },
};

/// Answers are written when this much has gathered, while it is still in the cache and the
/// client can begin to read.
const PIECE: usize = 128 * 1024;
/// Unwritten answers beyond which nothing more is read: a client that does not read waits.
const MOST_UNWRITTEN: usize = 4 * 1024 * 1024;
/// How long calls in flight may go on after the client closed its end.
const GRACE: Duration = Duration::from_secs(2);

/// Serves until the client leaves or `stop` is cancelled.
pub async fn stdio(
    house: Tectum,
    federation: Option<Arc<Federation>>,
    stop: CancellationToken,
) -> io::Result<()> {
    let changes = house.registry().changes();
    let endpoint = Endpoint::new(house, federation);
    let client = Conversation::new(SessionId::new("stdio"), endpoint.unheard());
    let (outbox, mut finished) = mpsc::channel(OUTBOX);
    client.set_unasked(outbox.clone());
    let notices = endpoint.federation.as_ref().map(|federation| federation.notices());
    let announcing = tokio::spawn(announce(changes, notices, client.clone(), outbox.clone()));
    let mut server = Server {
        endpoint,
        client,
        outbox,
        tasks: TaskTracker::new(),
        lines: Lines::new(MAX_MESSAGE),
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

/// Tells the client when the tools changed, or something else it may want to know.
async fn announce(
    mut changes: watch::Receiver<u64>,
    mut notices: Option<broadcast::Receiver<Notice>>,
    client: Arc<Conversation>,
    outbox: mpsc::Sender<Vec<u8>>,
) {
    loop {
        let messages = tokio::select! {
            changed = changes.changed() => match changed {
                Ok(()) => client.tools_changed(),
                Err(_) => return,
            },
            notice = next_notice(&mut notices, client.unheard()) => client.noticed(&notice),
        };
        for message in messages {
            if outbox.send(message).await.is_err() {
                return;
            }
        }
    }
}

/// The next notice; never, where there are no servers. Who fell behind goes on with the next.
pub(super) async fn next_notice(
    notices: &mut Option<broadcast::Receiver<Notice>>,
    unheard: &Unheard,
) -> Notice {
    loop {
        match notices {
            Some(receiver) => match receiver.recv().await {
                Ok(notice) => return notice,
                Err(broadcast::error::RecvError::Lagged(missed)) => unheard.add(missed),
                Err(broadcast::error::RecvError::Closed) => *notices = None,
            },
            None => std::future::pending().await,
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
        let mut lines = std::mem::replace(&mut self.lines, Lines::new(MAX_MESSAGE));
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
            Handled::Answered | Handled::Listening(None) if self.out.len() > start => self.end_line(start),
            Handled::Answered | Handled::Listening(None) | Handled::Silent => {}
            Handled::Listening(Some(opening)) => {
                drop(self.tasks.spawn(opening.acknowledge(self.outbox.clone())));
            }
            Handled::Running(mut work) => {
                let outbox = self.outbox.clone();
                self.tasks.spawn(async move {
                    let sequel = work.sequel.take();
                    let answer = work.await;
                    if !answer.is_empty() {
                        // The receiver is gone only when the process ends.
                        let _ = outbox.send(answer).await;
                    }
                    drop(sequel);
                });
            }
        }
    }

    fn push(&mut self, message: Vec<u8>) {
        let start = self.out.len();
        // A lone answer need not be copied.
        if self.out.is_empty() {
            self.out = message;
        } else {
            self.out.extend_from_slice(&message);
        }
        self.end_line(start);
    }

    /// What was written from here on is one message, and done.
    fn end_line(&mut self, start: usize) {
        on_one_line(&mut self.out[start..]);
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
