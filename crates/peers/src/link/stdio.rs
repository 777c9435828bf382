//! A child process as a carrier: lines on its standard input and output.
//!
//! Whoever sends writes at once, as far as the pipe takes it; the rest waits for a task. Where
//! many requests are in flight they wait for it too, and what comes together leaves with one
//! write. One task reads. Nothing is handed to a pool of threads.

use std::{io, process::ExitStatus, sync::Arc};

use bytes::{Buf as _, BufMut as _, BytesMut};
use parking_lot::Mutex;
use tokio::{
    io::AsyncReadExt,
    net::unix::pipe,
    sync::{Notify, watch},
};

use super::{Inbox, MOST_UNASKED, Origin, Outgoing};
use crate::{
    child::{Child, Life},
    wire::{Line, Lines, Loss, on_one_line},
};

/// Bytes that may wait for a server that does not read; beyond that it counts as gone.
const MOST_UNWRITTEN: usize = 64 * 1024 * 1024;
/// The same for what answers the server's own messages: one that asks and does not read gets no more.
const MOST_UNREAD_ANSWERS: usize = 1024 * 1024;
/// Room that is kept for what will wait next.
const MOST_SPARE: usize = 256 * 1024;
/// The bytes of one read, which are sorted before others have their turn.
const CHUNK: usize = 16 * 1024;
/// The bytes of one read of a message that is larger than that.
const LARGE_CHUNK: usize = 256 * 1024;
/// Bytes of a message that are kept before its bound is asked for.
const SMALL: usize = 64 * 1024;

/// The time a server that closed its output may take to end by itself.
const ENDS: std::time::Duration = std::time::Duration::from_millis(500);

/// The pipes of one child.
#[derive(Debug)]
pub(crate) struct Pipes {
    process: u32,
    out: Arc<Out>,
    inbox: Arc<Inbox>,
    /// Raised to ask the child's keeper to end it; lowered by the keeper when the tree is gone.
    ending: watch::Sender<Phase>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Running,
    Asked,
    Ended,
}

#[derive(Debug)]
struct Out {
    writer: Mutex<PipeWriter>,
    more: Notify,
}

#[derive(Debug)]
struct PipeWriter {
    /// `None` once the server was told that nothing more comes.
    pipe: Option<Arc<pipe::Sender>>,
    waiting: BytesMut,
    /// The requests among what waits; they fail if it cannot be written.
    requests: Vec<u64>,
}

impl Pipes {
    /// Takes over a child that was just started. Its end is the connection's.
    pub(crate) fn new(child: Child, inbox: Arc<Inbox>) -> Self {
        let process = child.id();
        let Child { stdin, stdout, life } = child;
        let out = Arc::new(Out {
            writer: Mutex::new(PipeWriter {
                pipe: Some(Arc::new(stdin)),
                waiting: BytesMut::new(),
                requests: Vec::new(),
            }),
            more: Notify::new(),
        });
        let (ending, asked) = watch::channel(Phase::Running);
        tokio::spawn(write_on(out.clone(), inbox.clone()));
        let reading = tokio::spawn(read_on(stdout, inbox.clone()));
        tokio::spawn(keep(life, out.clone(), inbox.clone(), asked, ending.clone(), reading));
        Self { process, out, inbox, ending }
    }

    /// The number of the server's process, or of its guard's.
    pub(super) fn process(&self) -> u32 {
        self.process
    }

    pub(super) fn send(&self, mut message: Outgoing) -> Result<(), Loss> {
        on_one_line(&mut message.bytes);
        message.bytes.push(b'\n');
        let request = message.request.as_ref().map(|head| head.id);
        let most = if request.is_some() { MOST_UNWRITTEN } else { MOST_UNREAD_ANSWERS };
        let together = request.is_some() && self.inbox.is_busy();
        let mut writer = self.out.writer.lock();
        let Some(pipe) = writer.pipe.clone() else {
            drop(writer);
            return Err(self.inbox.lost().unwrap_or_else(|| Loss::Gone("it was stopped".into())));
        };
        let mut written = 0;
        if writer.waiting.is_empty() && !together {
            written = match pipe.try_write(&message.bytes) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
                Err(error) => return Err(closed(&error)),
            };
        }
        if written < message.bytes.len() {
            if writer.waiting.len() > most {
                return Err(Loss::Failed("it does not read what it is sent".into()));
            }
            let first = writer.waiting.is_empty();
            writer.waiting.extend_from_slice(&message.bytes[written..]);
            writer.requests.extend(request);
            drop(writer);
            // Whoever finds something waiting finds the task woken, too.
            if first {
                self.out.more.notify_one();
            }
        }
        Ok(())
    }

    /// Ends the child and everything it started.
    pub(super) async fn stop(&self) {
        let mut phase = self.ending.subscribe();
        self.ending.send_if_modified(|phase| {
            let running = *phase == Phase::Running;
            if running {
                *phase = Phase::Asked;
            }
            running
        });
        let _ = phase.wait_for(|phase| *phase == Phase::Ended).await;
    }
}

impl Out {
    fn shut(&self) {
        self.writer.lock().pipe = None;
        self.more.notify_one();
    }
}

fn closed(error: &io::Error) -> Loss {
    Loss::Gone(format!("its standard input is closed ({error})"))
}

fn ended(status: ExitStatus) -> Loss {
    use std::os::unix::process::ExitStatusExt as _;
    Loss::Gone(match (status.code(), status.signal()) {
        (Some(code), _) => format!("it ended with exit code {code}"),
        (None, Some(signal)) => format!("it was ended by signal {signal}"),
        (None, None) => "it ended".into(),
    })
}

/// Writes what was not written at once.
async fn write_on(out: Arc<Out>, inbox: Arc<Inbox>) {
    loop {
        out.more.notified().await;
        // Requests that are ready to be sent are sent together.
        tokio::task::yield_now().await;
        loop {
            let pipe = {
                let writer = out.writer.lock();
                let Some(pipe) = writer.pipe.clone() else { return };
                if writer.waiting.is_empty() {
                    break;
                }
                pipe
            };
            if pipe.writable().await.is_err() {
                return;
            }
            let mut writer = out.writer.lock();
            match pipe.try_write(&writer.waiting) {
                Ok(count) => {
                    writer.waiting.advance(count);
                    if writer.waiting.is_empty() {
                        writer.requests.clear();
                        writer.waiting = BytesMut::with_capacity(writer.waiting.capacity().min(MOST_SPARE));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => {
                    writer.waiting = BytesMut::new();
                    let requests = std::mem::take(&mut writer.requests);
                    drop(writer);
                    for id in requests {
                        inbox.fail(id, closed(&error));
                    }
                }
            }
        }
    }
}

/// Reads lines until the server closes its output, or nobody is left to hear them: one that floods
/// then meets a closed pipe.
async fn read_on(mut stdout: pipe::Receiver, inbox: Arc<Inbox>) {
    let mut lines = Lines::new(MOST_UNASKED);
    while !inbox.closed().is_cancelled() {
        let pending = lines.buffer.len();
        let chunk = if pending < CHUNK { CHUNK } else { LARGE_CHUNK };
        lines.buffer.reserve(chunk);
        let read = stdout.read_buf(&mut (&mut lines.buffer).limit(chunk)).await;
        let count = match read {
            Ok(0) | Err(_) => return,
            Ok(count) => count,
        };
        if lines.is_skipping() {
            inbox.waste(count);
        } else if pending > SMALL {
            lines.limit(inbox.most(&lines.buffer));
        }
        lines.drain(|line| match line {
            Line::Whole(bytes) if bytes.trim_ascii().is_empty() => {}
            Line::Whole(bytes) => inbox.deliver(bytes, Origin::Shared),
            Line::TooLong { start, size } => inbox.deliver_too_long(start, size),
        });
        inbox.pause().await;
    }
}

/// Waits for the child's end, brings it about when asked, and tells the inbox how it came.
async fn keep(
    mut life: Life,
    out: Arc<Out>,
    inbox: Arc<Inbox>,
    mut asked: watch::Receiver<Phase>,
    ending: watch::Sender<Phase>,
    mut reading: tokio::task::JoinHandle<()>,
) {
    tokio::select! {
        biased;
        status = life.ended() => {
            // What it said last is still in the pipe.
            let _ = tokio::time::timeout(std::time::Duration::from_millis(100), &mut reading).await;
            inbox.close(ended(status));
        }
        _ = &mut reading => {
            // A server that ends closes its output first; how it ended says more.
            let end = tokio::time::timeout(ENDS, life.ended()).await;
            inbox.close(end.map_or_else(|_| Loss::Gone("it closed its output".into()), ended));
        }
        // The guard that this gives back must not be held while the child ends.
        () = async { drop(asked.wait_for(|phase| *phase == Phase::Asked).await) } => {}
    }
    out.shut();
    life.stop().await;
    reading.abort();
    inbox.close(Loss::Gone("it was stopped".into()));
    ending.send_replace(Phase::Ended);
}
