//! Very many observers, each with a session and a connection of its own: what calls cost while all of
//! them are told, against the same house with nobody watching.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufStream},
    net::{TcpListener, TcpStream},
};

use crate::{
    federated::{Client, Era, until},
    rig::Rig,
    watched::{ON, status},
};

/// An agent thinks between calls; this is a quick one.
const EVERY: Duration = Duration::from_millis(5);
/// The memory the house may take, and the memory each of them may add: mostly the buffers of its
/// connection.
const MOST_KIB: (u64, u64) = (96 * 1024, 96);

/// One process that is all the observers, over HTTP.
struct Eyes {
    port: u16,
    counts: Arc<Counts>,
    _runtime: tokio::runtime::Runtime,
}

#[derive(Default)]
struct Counts {
    /// Streams that are open now: one for each session, as long as it lasts.
    streams: AtomicUsize,
    /// Lists of tools that were given.
    listed: AtomicUsize,
    /// Copies that were taken.
    told: AtomicUsize,
}

impl Eyes {
    fn open() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.expect("a runtime");
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let counts = Arc::<Counts>::default();
        let each = counts.clone();
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(connection(stream, each.clone()));
            }
        });
        Self { port, counts, _runtime: runtime }
    }
}

async fn connection(stream: TcpStream, counts: Arc<Counts>) {
    let _ = stream.set_nodelay(true);
    let mut stream = BufStream::new(stream);
    loop {
        let (mut first, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await.unwrap_or(0) == 0 {
                return;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().expect("a number");
            }
            if line.trim().is_empty() {
                break;
            }
            if first.is_empty() {
                first = line;
            }
        }
        let mut body = vec![0; length];
        if stream.read_exact(&mut body).await.is_err() {
            return;
        }
        if first.starts_with("GET") {
            let head =
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
            counts.streams.fetch_add(1, Ordering::Relaxed);
            let _ = stream.write_all(head.as_bytes()).await;
            let _ = stream.flush().await;
            let _ = stream.read(&mut [0]).await;
            counts.streams.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let answer = answer(&serde_json::from_slice(&body).unwrap_or_default(), &counts);
        if stream.write_all(answer.as_bytes()).await.is_err() || stream.flush().await.is_err() {
            return;
        }
    }
}

fn answer(message: &Value, counts: &Counts) -> String {
    let Some(id) = message.get("id") else {
        return "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n".into();
    };
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "eyes", "version": "1"}}),
        "tools/list" => {
            counts.listed.fetch_add(1, Ordering::Relaxed);
            json!({"tools": [{"name": "observe", "inputSchema": {"type": "object",
            "properties": {"tool_name": {"type": "string"}, "args": {"type": "object"}}}}]})
        }
        _ => {
            counts.told.fetch_add(1, Ordering::Relaxed);
            json!({"content": []})
        }
    };
    let body = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: s\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// The cost of calls, and their answers.
struct Cost {
    /// In the middle, and the slowest of a hundred.
    calls: [Duration; 2],
    /// The same while connections are being opened.
    opening: [Duration; 2],
    answers: Vec<String>,
    /// The most memory that the house had, in KiB.
    memory: u64,
}

/// Waits for a count: ten thousand take their time to come.
#[track_caller]
fn settled(what: &str, count: &AtomicUsize, there: impl Fn(usize) -> bool) {
    let (mut last, mut since) = (0, Instant::now());
    while !there(count.load(Ordering::Relaxed)) {
        let now = count.load(Ordering::Relaxed);
        if now != last {
            (last, since) = (now, Instant::now());
        }
        assert!(since.elapsed() < Duration::from_secs(60), "{what}: {now} and no more");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Calls at an agent's pace, with all of these connected.
fn cost(observers: usize, on: bool, calls: usize) -> (Cost, u64, u64) {
    let (rig, eyes) = (Rig::with(&[("a.txt", "hello\n")]), Eyes::open());
    let table = |n: usize| {
        format!("[servers.o{n}]\nurl = \"http://127.0.0.1:{}/mcp\"\nera = \"legacy\"\n", eyes.port)
    };
    let tables: String = (0..observers).map(table).collect();
    rig.configure(&format!("{}{tables}", if on { ON } else { "" }));
    let mut client = Client::new(&rig, Era::Legacy);
    client.tools();
    let (mut opening, mut answers) = (Vec::new(), Vec::new());
    while eyes.counts.streams.load(Ordering::Relaxed) < observers && opening.len() < calls {
        opening.push(call(&mut client).0);
    }
    settled("all connections", &eyes.counts.streams, |open| open == observers);
    // What they offer is put together when the last one has said it.
    settled("all tools", &eyes.counts.listed, |listed| listed >= observers);
    client.until_listed("find_tools");
    if on {
        client.say("read_file", json!({"path": "a.txt"}));
        settled("copies for everybody", &eyes.counts.told, |told| told >= 2 * observers);
    }
    let mut times = Vec::new();
    for _ in 0..calls {
        let (took, answer) = call(&mut client);
        times.push(took);
        answers.push(answer);
    }
    let memory = memory(client.pipe.child.id());
    let sum = |counter: &str| -> u64 {
        let observers = status(&rig)["observers"].clone();
        let all = observers.as_object().cloned().unwrap_or_default();
        all.values().filter_map(|one| one[counter].as_u64()).sum()
    };
    if on {
        until("copies are counted", || sum("sent") > 0);
    }
    let (sent, dropped) = if on { (sum("sent"), sum("dropped")) } else { (0, 0) };
    (Cost { calls: spread(times), opening: spread(opening), answers, memory }, sent, dropped)
}

/// One call at an agent's pace: how long it took, and what came of it.
fn call(client: &mut Client) -> (Duration, String) {
    let started = Instant::now();
    let id = client.begin("read_file", json!({"path": "a.txt"}));
    let mut answer = client.wait(id);
    let took = started.elapsed();
    std::thread::sleep(EVERY.saturating_sub(took));
    // Every call has a name of its own.
    answer["result"]["_meta"].take();
    (took, answer["result"].to_string())
}

/// The one in the middle, and the slowest of a hundred.
fn spread(mut times: Vec<Duration>) -> [Duration; 2] {
    times.sort();
    let at = |part: f64| times.get((times.len() as f64 * part) as usize).copied().unwrap_or_default();
    [at(0.5), at(0.99)]
}

fn memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").trim().parse().unwrap_or_default()
}

#[test]
fn soak_calls_beside_very_many_observers() {
    let long = std::env::var_os("TECTUM_SOAK").is_some();
    let (observers, calls) = if long { (10_000, 2_000) } else { (200, 200) };
    let (off, ..) = cost(observers, false, calls);
    let (on, sent, dropped) = cost(observers, true, calls);
    let ms = |[p50, p99]: [Duration; 2]| {
        format!("{:.2} and {:.2} ms", p50.as_secs_f64() * 1000.0, p99.as_secs_f64() * 1000.0)
    };
    println!(
        "soak: calls beside {observers} observers with a connection each | p50 and p99 {}, nobody watching \
         {}; while they are opened {}, nobody watching {}; {} MiB; {sent} copies taken, {dropped} dropped",
        ms(on.calls),
        ms(off.calls),
        ms(on.opening),
        ms(off.opening),
        on.memory / 1024,
    );
    assert_eq!(on.answers, off.answers, "a client gets the same bytes");
    assert!(on.memory < MOST_KIB.0 + observers as u64 * MOST_KIB.1, "{} KiB", on.memory);
    assert!(sent > 0);
}
