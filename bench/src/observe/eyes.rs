//! Very many observers in one process, over HTTP: each has a session, and its own stream that stays
//! open. A line on standard input is answered with the number of streams and of copies.

use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufStream};
use tokio::net::{TcpListener, TcpStream};

/// The timeout without any progress while ten thousand connect.
const PATIENCE: Duration = Duration::from_secs(60);

/// The process of these observers, as the harness sees it.
pub(crate) struct Eyes {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    pub(crate) port: u16,
}

/// The progress of the observers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The number of open streams.
    pub(crate) streams: usize,
    /// The number of received copies.
    pub(crate) told: usize,
}

impl Eyes {
    pub(crate) fn start() -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut child = command.arg("eyes").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let to = child.stdin.take().context("the child has an input")?;
        let mut from = BufReader::new(child.stdout.take().context("the child has an output")?);
        let mut line = String::new();
        from.read_line(&mut line)?;
        Ok(Self { child, to, from, port: line.trim().parse()? })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn seen(&mut self) -> Result<Seen> {
        self.to.write_all(b"\n")?;
        let mut line = String::new();
        self.from.read_line(&mut line)?;
        let (streams, told) = line.trim().split_once(' ').context("two numbers")?;
        Ok(Seen { streams: streams.parse()?, told: told.parse()? })
    }

    /// Waits until their progress fulfils this condition.
    pub(crate) fn until(&mut self, far: impl Fn(Seen) -> bool) -> Result<()> {
        let (mut last, mut since) = (Seen::default(), Instant::now());
        loop {
            let seen = self.seen()?;
            if far(seen) {
                return Ok(());
            }
            if seen != last {
                (last, since) = (seen, Instant::now());
            }
            if since.elapsed() > PATIENCE {
                bail!("{seen:?} and no more");
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Eyes {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Default)]
struct Counts {
    streams: AtomicUsize,
    told: AtomicUsize,
}

/// Serves until standard input ends.
pub(crate) fn serve() -> Result<()> {
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    crate::report::say(&format!("{}\n", listener.local_addr()?.port()))?;
    let counts = Arc::<Counts>::default();
    let each = counts.clone();
    runtime.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let counts = each.clone();
            // A client that leaves in the middle of a request is just dropped.
            tokio::spawn(async move { drop(connection(stream, &counts).await) });
        }
    });
    for line in std::io::stdin().lock().lines() {
        line?;
        let (streams, told) = (&counts.streams, &counts.told);
        let seen = [streams, told].map(|count| count.load(Ordering::Relaxed));
        crate::report::say(&format!("{} {}\n", seen[0], seen[1]))?;
        std::io::stdout().flush()?;
    }
    Ok(())
}

async fn connection(stream: TcpStream, counts: &Counts) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufStream::with_capacity(1024, 1024, stream);
    loop {
        let (mut first, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse()?;
            }
            if line.trim().is_empty() {
                break;
            }
            if first.is_empty() {
                first = line;
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await?;
        if first.starts_with("GET") {
            let head = "Content-Type: text/event-stream\r\nTransfer-Encoding: chunked";
            stream.write_all(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n").as_bytes()).await?;
            stream.flush().await?;
            counts.streams.fetch_add(1, Ordering::Relaxed);
            // Nothing is ever sent on it; it ends with its client.
            let ended = stream.read(&mut [0]).await;
            counts.streams.fetch_sub(1, Ordering::Relaxed);
            return Ok(ended.map(drop)?);
        }
        let message = serde_json::from_slice(&body)?;
        stream.write_all(answer(&message, counts).as_bytes()).await?;
        stream.flush().await?;
    }
}

fn answer(message: &Value, counts: &Counts) -> String {
    let Some(id) = message.get("id") else {
        return "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n".into();
    };
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "eyes", "version": "1"}}),
        "tools/list" => json!({"tools": [{"name": "observe", "inputSchema": {"type": "object",
            "properties": {"tool_name": {"type": "string"}, "args": {"type": "object"}}}}]}),
        _ => {
            counts.told.fetch_add(1, Ordering::Relaxed);
            json!({"content": []})
        }
    };
    let body = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    let head = "Content-Type: application/json\r\nMcp-Session-Id: s";
    format!("HTTP/1.1 200 OK\r\n{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}
