//! MCP on standard input and output: one loop that reads, answers and writes.
//!
//! Everything a read brought is handled before anything is written, so a burst of calls is
//! answered with one write. Calls that cannot end at once run as tasks and come back through
//! a queue.

use std::{io, sync::Arc, time::Duration};

use tectum_core::{SessionId, Tectum};
use tokio::{io::AsyncReadExt as _, net, sync::watch};
use tokio_util::{
    sync::CancellationToken,
    task::{AbortOnDropHandle, TaskTracker},
};

use super::{Delivery, Endpoint, Handled, TakenOver, Turns, relay::FirstWord};
use crate::{
    client::{Bounds, Conversation, Notice, NoticeReader, Outbox, Queue, STDIO, ask_after, queue},
    federation::Federation,
    wire::{
        Line, Lines, MAX_MESSAGE,
        backlog::Backlog,
        code, frame, on_one_line,
        pipe::{Input, Output, both_ways},
        rpc::salvage_id,
    },
};

/// Answers are written when this much has gathered, while it is still in the cache and the
/// client can begin to read.
const PIECE: usize = 128 * 1024;
/// Unwritten bytes beyond which nothing more is read or handled: a client that does not read waits.
const MOST_UNWRITTEN: usize = 4 * 1024 * 1024;
/// The bounds of the queue behind them.
const OUTBOX: Bounds = Bounds { messages: 4096, bytes: 4 * 1024 * 1024 };
/// How long calls in flight may go on after the client closed its end.
const GRACE: Duration = Duration::from_secs(2);

/// MCP as lines of text, for the client on standard input and output and for those of relays.
#[derive(Clone, Debug)]
pub struct LineServer(Endpoint);

/// The way to one client, and back.
struct Ends {
    input: Input,
    output: Output,
}

impl LineServer {
    /// A server for this house and its servers.
    pub fn new(house: Tectum, federation: Arc<Federation>) -> Self {
        Self(Endpoint::new(house, federation))
    }

    /// Serves on standard input and output until the client leaves or `stop` is cancelled. A client that a
    /// house left behind goes on where it was.
    pub async fn stdio(&self, carried: Option<TakenOver>, stop: CancellationToken) -> io::Result<()> {
        let ends = Ends { input: Input::stdin()?, output: Output::stdout()? };
        self.serve(SessionId::new(STDIO), ends, carried, stop).await
    }

    /// Serves the client of a relay, as a client of its own. What it began ends with it.
    pub async fn relayed(&self, mut relay: net::UnixStream, stop: CancellationToken) -> io::Result<()> {
        let mut word = FirstWord::default();
        relay.read_exact(&mut word).await?;
        ask_after(u64::from_be_bytes(word));
        let (input, output) = both_ways(relay.into_std()?)?;
        let mut bits = [0_u8; 8];
        getrandom::fill(&mut bits).map_err(io::Error::other)?;
        let session = bits.iter().fold(STDIO.to_owned() + "-", |name, byte| format!("{name}{byte:02x}"));
        self.serve(SessionId::new(session.as_str()), Ends { input, output }, None, stop).await
    }

    async fn serve(
        &self,
        session: SessionId,
        Ends { input, output }: Ends,
        carried: Option<TakenOver>,
        stop: CancellationToken,
    ) -> io::Result<()> {
        let Self(endpoint) = self.clone();
        let federation = endpoint.federation.clone();
        let changes = endpoint.house.registry().changes();
        let client = Conversation::new(session, federation.unheard.clone());
        let (outbox, mut finished) = queue(OUTBOX, federation.unheard.clone(), None);
        client.set_unasked(Some(outbox.clone()));
        let notices = federation.notices();
        let announcing = announce(changes, notices, client.clone(), outbox.clone());
        let _announcing = AbortOnDropHandle::new(tokio::spawn(announcing));
        let mut server = Server {
            endpoint,
            client: client.clone(),
            outbox,
            tasks: TaskTracker::new(),
            turns: Turns::new(None),
            lines: Lines::new(MAX_MESSAGE),
            lines_left: false,
            calls_ahead: 0,
            out: Backlog::default(),
            output,
        };
        if let Some(carried) = carried {
            server.take_over(carried)?;
        }
        let served = match server.serve(input, &mut finished, stop).await {
            Ok(()) => server.finish(finished).await,
            Err(error) => Err(error),
        };
        // Nobody can be answered any more.
        client.cancel_all();
        client.set_unasked(None);
        self.0.unwatch(&client);
        served
    }
}

/// Tells the client when the tools changed, or something else it may want to know.
async fn announce(
    mut changes: watch::Receiver<u64>,
    mut notices: NoticeReader,
    client: Arc<Conversation>,
    outbox: Outbox,
) {
    loop {
        let messages = tokio::select! {
            changed = changes.changed() => match changed {
                Ok(()) => client.noticed(&Notice::Tools),
                Err(_) => return,
            },
            notice = notices.next() => client.noticed(&notice),
        };
        for message in messages {
            if outbox.send(message).await.is_err() {
                return;
            }
        }
    }
}

/// How many calls stand in what was read. Inside of a text the quotes would be escaped.
fn calls(bytes: &[u8]) -> usize {
    memchr::memmem::find_iter(bytes, b"\"tools/call\"").count()
}

struct Server {
    endpoint: Endpoint,
    client: Arc<Conversation>,
    outbox: Outbox,
    tasks: TaskTracker,
    turns: Turns,
    lines: Lines,
    /// Lines that were read and not handled: the client has to read first.
    lines_left: bool,
    /// Calls that were read and not handled.
    calls_ahead: usize,
    out: Backlog,
    output: Output,
}

impl Server {
    async fn serve(
        &mut self,
        mut input: Input,
        finished: &mut Queue,
        stop: CancellationToken,
    ) -> io::Result<()> {
        let stopped = stop.cancelled();
        tokio::pin!(stopped);
        let mut reading = true;
        loop {
            self.flush()?;
            if !reading && !self.lines_left && self.out.is_empty() {
                return Ok(());
            }
            let (backlog, room) = (!self.out.is_empty(), self.has_room());
            tokio::select! {
                // Finished calls first: a client that never stops asking still gets its answers.
                biased;
                Some(message) = finished.recv(), if room => {
                    self.push(message.bytes);
                    self.push_ready(finished);
                }
                () = std::future::ready(()), if room && self.lines_left => self.take_lines()?,
                read = input.read(&mut self.lines.buffer), if room && reading => match read {
                    Ok(0) => { self.end_of_input()?; reading = false }
                    Ok(read) => { self.look_ahead(read); self.take_lines()? }
                    Err(error) => { tracing::debug!(%error, "standard input failed"); reading = false }
                },
                writable = self.output.writable(), if backlog => writable?,
                () = &mut stopped => { self.client.cancel_all(); return Ok(()) }
            }
        }
    }

    /// Takes a client over from a house that ended: this house hears what the other one knew, and the
    /// client what it waits for in vain.
    fn take_over(&mut self, carried: TakenOver) -> io::Result<()> {
        ask_after(carried.last_question);
        for (_, line) in &carried.known {
            // The client had the answer of the other house.
            let mut unsent = Vec::new();
            if let Handled::Running(work) = self.endpoint.handle(&self.delivery(), line, &mut unsent) {
                self.tasks.spawn(work);
            }
        }
        carried.told().for_each(|message| self.push(message));
        self.lines.buffer.extend_from_slice(&carried.input);
        self.take_lines()
    }

    fn delivery(&self) -> Delivery<'_> {
        Delivery {
            from: &self.client,
            outbox: Some(&self.outbox),
            turns: &self.turns,
            modern: false,
            ahead: self.calls_ahead > 0,
        }
    }

    /// Counts the calls in the last bytes that were read, where a round ends with something.
    fn look_ahead(&mut self, read: usize) {
        if self.endpoint.house.effects().closing().any() {
            let buffer = &self.lines.buffer;
            self.calls_ahead += calls(&buffer[buffer.len().saturating_sub(read)..]);
        }
    }

    /// Whatever else is ready goes out with the same write.
    fn push_ready(&mut self, finished: &mut Queue) {
        while self.has_room()
            && let Ok(message) = finished.try_recv()
        {
            self.push(message.bytes);
        }
    }

    fn has_room(&self) -> bool {
        self.out.len() < MOST_UNWRITTEN
    }

    /// Handles the complete lines that have been read, as long as there is room for answers.
    fn take_lines(&mut self) -> io::Result<()> {
        let mut lines = std::mem::replace(&mut self.lines, Lines::new(MAX_MESSAGE));
        let mut written = Ok(());
        self.lines_left = !lines.drain_while(|line| {
            self.line(line);
            if self.out.len() >= PIECE && written.is_ok() {
                written = self.flush();
            }
            self.has_room()
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
        let start = self.out.bytes.len();
        let handled = match line {
            Line::Whole(bytes) if bytes.trim_ascii().is_empty() => Handled::Silent,
            Line::Whole(bytes) => {
                if self.calls_ahead > 0 {
                    self.calls_ahead = self.calls_ahead.saturating_sub(calls(bytes));
                }
                let mut out = std::mem::take(&mut self.out.bytes);
                let handled = self.endpoint.handle(&self.delivery(), bytes, &mut out);
                self.out.bytes = out;
                handled
            }
            Line::TooLong { start, size } => {
                self.calls_ahead = 0;
                let message = format!("the message has {size} bytes, the limit is {MAX_MESSAGE}");
                frame::error(
                    &mut self.out.bytes,
                    salvage_id(start).as_deref(),
                    code::INVALID_REQUEST,
                    &message,
                    None,
                );
                Handled::Answered
            }
        };
        match handled {
            Handled::Answered | Handled::Listening(None) if self.out.bytes.len() > start => {
                self.end_line(start)
            }
            Handled::Answered | Handled::Listening(None) | Handled::Silent => {}
            Handled::Listening(Some(opening)) => {
                drop(self.tasks.spawn(opening.acknowledge(self.outbox.clone())));
            }
            Handled::Running(mut work) => {
                let outbox = self.outbox.clone();
                self.tasks.spawn(async move {
                    let (seat, sequel) = (work.seat.take(), work.sequel.take());
                    let answer = (&mut work).await;
                    if !answer.is_empty()
                        // The receiver is gone only when the process ends.
                        && let Ok(place) = outbox.reserve(answer.len()).await
                    {
                        // The client may use the id again as soon as it has the answer.
                        drop(seat);
                        place.send(answer);
                    }
                    drop(sequel);
                });
            }
        }
    }

    fn push(&mut self, message: Vec<u8>) {
        let start = self.out.bytes.len();
        self.out.push(message);
        self.end_line(start);
    }

    /// What was written from here on is one message, and done.
    fn end_line(&mut self, start: usize) {
        on_one_line(&mut self.out.bytes[start..]);
        self.out.bytes.push(b'\n');
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush(|bytes| self.output.write_now(bytes))
    }

    /// The client closed its end: calls in flight get a moment, their answers are still sent.
    async fn finish(mut self, mut finished: Queue) -> io::Result<()> {
        self.tasks.close();
        let until = tokio::time::Instant::now() + GRACE;
        loop {
            self.push_ready(&mut finished);
            self.flush()?;
            if self.tasks.is_empty() && finished.is_empty() && self.out.is_empty() {
                return Ok(());
            }
            tokio::select! {
                Some(message) = finished.recv(), if self.has_room() => self.push(message.bytes),
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
