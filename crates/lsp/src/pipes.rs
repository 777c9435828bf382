//! A server's process and its pipes: reading, writing and the shutdown.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use serde_json::Value;
use tectum_child::{Life, Stderr};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::unix::pipe,
    sync::mpsc,
    time::{sleep, timeout},
};

use crate::{Trouble, frame::Frames, message, shared::Shared};

/// The most bytes of one read.
const CHUNK: usize = 64 * 1024;
/// The timeout for a server to confirm the shutdown. Then it is ended anyway.
const FAREWELL: Duration = Duration::from_millis(500);
/// The most lines of its last output on standard error that are reported.
const LAST_WORDS: usize = 5;
/// The most characters of each of them.
const MOST_WORDS: usize = 300;
/// Holds the process from its start to its end.
pub(crate) async fn live(
    shared: Arc<Shared>,
    mut life: Life,
    stdout: pipe::Receiver,
    log: Arc<Stderr>,
    idle: Duration,
) {
    let why = tokio::select! {
        biased;
        () = shared.end.cancelled() => Trouble::Idle,
        read = read(&shared, stdout) => read,
        () = shared.idle(idle) => Trouble::Idle,
    };
    let polite = matches!(why, Trouble::Idle);
    if polite && shared.state.lock().over.is_none() {
        let farewell = async {
            if let Ok(Ok(_)) = shared.request("shutdown", &Value::Null).await {
                let _ = shared.send(message::notification("exit", &Value::Null));
                life.ended().await;
            }
        };
        // Its pipes are closed after this, whatever it answered.
        let _ = timeout(FAREWELL, farewell).await;
    }
    let status = match why {
        // The server closed its output; the exit status says more than that.
        Trouble::Died(_) => timeout(FAREWELL, life.ended()).await.ok(),
        _ => None,
    };
    shared.give_up(match (why, status) {
        (Trouble::Died(_), Some(status)) => Trouble::Died(format!("{status}{}", last_words(&log))),
        (Trouble::Died(how), None) => Trouble::Died(format!("{how}{}", last_words(&log))),
        (why, _) => why,
    });
    life.stop().await;
}

/// Reads until the stream ends or breaks, and returns why.
async fn read(shared: &Shared, mut stdout: pipe::Receiver) -> Trouble {
    let mut frames = Frames::default();
    let mut chunk = vec![0; CHUNK];
    loop {
        match stdout.read(&mut chunk).await {
            Ok(0) | Err(_) => return Trouble::Died("it closed its output".into()),
            Ok(read) => frames.push(&chunk[..read]),
        }
        loop {
            let taken = match frames.next() {
                Ok(Some(body)) => shared.take(&body),
                Ok(None) => break,
                Err(broken) => Err(Trouble::Nonsense(broken.to_string())),
            };
            if let Err(why) = taken {
                return why;
            }
        }
        // A server that never stops sending must not occupy a thread of the runtime.
        tokio::task::yield_now().await;
    }
}

pub(crate) async fn write(
    shared: Arc<Shared>,
    mut stdin: pipe::Sender,
    mut queue: mpsc::UnboundedReceiver<Vec<u8>>,
) {
    let work = async {
        let mut broken = false;
        while let Some(frame) = queue.recv().await {
            // A broken pipe is left to the reader, which knows more about the end.
            broken = broken || stdin.write_all(&frame).await.is_err();
            shared.queued.fetch_sub(frame.len(), Ordering::Relaxed);
        }
    };
    // After a stop the last messages are still written, for as long as the shutdown may take.
    let over = async {
        shared.end.cancelled().await;
        sleep(FAREWELL).await;
    };
    tokio::select! {
        () = work => {}
        () = over => {}
    }
}

fn last_words(log: &Stderr) -> String {
    let lines = log.lines();
    let last = lines.iter().filter(|line| !line.trim().is_empty()).rev().take(LAST_WORDS);
    let mut last: Vec<String> = last.map(|line| line.trim().chars().take(MOST_WORDS).collect()).collect();
    last.reverse();
    if last.is_empty() { String::new() } else { format!("; its last words: {}", last.join(" | ")) }
}
