//! Clients without a token, clients that do not read and clients that send drop by drop: nobody
//! else is kept waiting for them, and they take a bounded share of memory.

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Resource, Signal};
use serde_json::json;

use crate::{
    federated::until,
    resident::Resident,
    rig::{Http, Rig, TOKEN, request},
};

/// The larger of two counts in a soak, else the smaller.
fn count(ordinary: usize, soak: usize) -> usize {
    if std::env::var_os("TECTUM_SOAK").is_some() { soak } else { ordinary }
}

/// These tests hold more connections than the usual limit of descriptors lets them.
fn many_descriptors() {
    let mut limit = rustix::process::getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    rustix::process::setrlimit(Resource::Nofile, limit).expect("raised");
}

/// The behaviour of a connection without a token.
#[derive(Clone, Copy, Debug)]
enum Stranger {
    Silent,
    DripsAHead,
    NeverReads,
}

impl Stranger {
    fn connect(self, http: &Http) -> TcpStream {
        let mut stream = http.connect();
        match self {
            Self::Silent => {}
            Self::DripsAHead => {
                let _ = stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: local");
            }
            Self::NeverReads => {
                let ask = format!("GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", http.port).repeat(500);
                stream.set_nonblocking(true).expect("set");
                // Until the server takes no more, or has closed the connection.
                for _ in 0..100 {
                    if stream.write_all(ask.as_bytes()).is_err() {
                        break;
                    }
                }
            }
        }
        stream
    }
}

fn ping(http: &Http) -> u16 {
    http.post(&json!({"jsonrpc": "2.0", "id": 2, "method": "ping"})).status
}

#[test]
fn soak_strangers_never_keep_a_client_out() {
    many_descriptors();
    for kind in [Stranger::NeverReads, Stranger::Silent, Stranger::DripsAHead] {
        let rig = Rig::with(&[("a.txt", "hello\n")]);
        let mut http = rig.http();
        let memory = Resident::now(http.child.id());
        let strangers = count(1030, 5000);
        let mut open: Vec<TcpStream> = (0..strangers).map(|_| kind.connect(&http)).collect();
        let start = Instant::now();
        http.handshake();
        assert_eq!(http.call("read_file", json!({"path": "a.txt"}))["isError"], false);
        let took = start.elapsed();
        // And while they keep coming.
        let (over, mut slowest) = (AtomicBool::new(false), Duration::ZERO);
        std::thread::scope(|scope| {
            let flood = scope.spawn(|| {
                let mut more = Vec::new();
                while !over.load(Ordering::Relaxed) && more.len() < strangers / 2 {
                    more.push(kind.connect(&http));
                }
                more
            });
            for _ in 0..20 {
                let start = Instant::now();
                assert_eq!(ping(&http), 200, "{kind:?}");
                slowest = slowest.max(start.elapsed());
            }
            over.store(true, Ordering::Relaxed);
            open.extend(flood.join().expect("no panic"));
        });
        println!(
            "soak: a client gets in beside {strangers} connections without a token ({kind:?}) | \
             handshake and call {} ms, slowest of 20 pings while more come {} ms, {} MiB more memory",
            took.as_millis(),
            slowest.as_millis(),
            memory.growth() >> 20,
        );
        assert!(memory.growth() < 32 << 20, "{kind:?}: {} bytes", memory.growth());
        // It still notices that it is asked to stop.
        let pid = Pid::from_child(&http.child);
        rustix::process::kill_process(pid, Signal::TERM).expect("sent");
        until("its end", || http.child.try_wait().expect("a child").is_some());
    }
}

/// Requests for a large file on one connection, one behind the other, whose answers nobody reads.
fn stalled_reader(http: &Http, number: usize) -> TcpStream {
    let ask = |request_number: usize| {
        let body = json!({"jsonrpc": "2.0", "id": format!("{number}-{request_number}"), "method": "tools/call",
            "params": {"name": "read_file", "arguments": {"path": "large.txt"}}});
        request("POST", "/mcp", &http.headers(), &body.to_string()).replace("Connection: close\r\n", "")
    };
    let mut stream = http.connect();
    let _ = stream.write_all((0..8).map(ask).collect::<String>().as_bytes());
    stream
}

#[test]
fn soak_stalled_readers_share_a_budget_and_are_dropped() {
    many_descriptors();
    let rig = Rig::with(&[("a.txt", "hello\n"), ("large.txt", &"words, words\n".repeat(40_000))]);
    let mut http = rig.http();
    http.handshake();
    assert_eq!(http.call("read_file", json!({"path": "large.txt"}))["isError"], false);
    let memory = Resident::now(http.child.id());
    let before = descriptors(&http);
    let readers = count(30, 200);
    let stalled: Vec<TcpStream> = (0..readers).map(|number| stalled_reader(&http, number)).collect();
    let start = Instant::now();
    assert_eq!(http.call("read_file", json!({"path": "a.txt"}))["isError"], false);
    let took = start.elapsed();
    until("the end of the stalled connections", || descriptors(&http) <= before);
    let held = start.elapsed();
    println!(
        "soak: {readers} readers that stall stay within a budget and are dropped | at most {} MiB more memory, \
         all gone after {} s, another client's call meanwhile {} ms",
        memory.growth() >> 20,
        held.as_secs(),
        took.as_millis()
    );
    drop(stalled);
    assert!(memory.growth() < 128 << 20, "{} bytes", memory.growth());
    assert_eq!(ping(&http), 200);
}

/// The open descriptors of the server.
fn descriptors(http: &Http) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", http.child.id())).expect("a process").count()
}

#[test]
fn soak_bodies_that_drip_are_cut_and_slow_ones_are_not() {
    many_descriptors();
    let rig = Rig::new();
    let mut http = rig.http();
    http.handshake();
    let drips = count(50, 1000);
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {TOKEN}\r\n\
         Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
    );
    let mut open: Vec<TcpStream> = (0..drips)
        .map(|_| {
            let mut stream = http.connect();
            stream.write_all(head.as_bytes()).expect("sent");
            stream
        })
        .collect();
    // An upload that is slow and gets on, for longer than a drip may last.
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"x": "y".repeat(400_000)}});
    let text = request("POST", "/mcp", &http.headers(), &body.to_string());
    let mut slow = http.connect();
    let mut pieces = text.as_bytes().chunks(text.len() / 80);
    let (start, mut bytes) = (Instant::now(), 0);
    let (mut cut, mut all_cut) = (0, None);
    while all_cut.is_none() || pieces.len() > 0 {
        if let Some(piece) = pieces.next() {
            slow.write_all(piece).expect("a slow upload is not cut");
        }
        open.retain_mut(|stream| {
            stream.set_nonblocking(true).expect("set");
            let alive = stream.write_all(b" ").is_ok()
                && matches!(stream.read(&mut [0; 512]), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock);
            cut += usize::from(!alive);
            alive
        });
        bytes += usize::from(!open.is_empty());
        if open.is_empty() && all_cut.is_none() {
            all_cut = Some(start.elapsed());
        }
        assert!(bytes < 200, "{} of {drips} dripping bodies are still waited for", open.len());
        std::thread::sleep(Duration::from_millis(100));
    }
    let mut answer = String::new();
    slow.read_to_string(&mut answer).expect("answered");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    println!(
        "soak: bodies that drip are cut, one that is slow and gets on is not | {cut} cut after {} s, a 400 kB upload in {} s passed",
        all_cut.map_or(0, |took| took.as_secs()),
        start.elapsed().as_secs()
    );
}

#[test]
fn where_every_connection_is_in_use_a_client_hears_so_at_once() {
    many_descriptors();
    let rig = Rig::new();
    let http = rig.http();
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}});
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen",
        "params": {"notifications": {"toolsListChanged": true}, "_meta": meta}});
    let mut headers = http.headers();
    headers.push(("MCP-Protocol-Version".into(), "2026-07-28".into()));
    headers.push(("Mcp-Method".into(), "subscriptions/listen".into()));
    let listen = request("POST", "/mcp", &headers, &body.to_string());
    let hear = |stream: &mut TcpStream| {
        let mut start = [0; 12];
        stream.read_exact(&mut start).expect("an answer");
        String::from_utf8_lossy(&start).into_owned()
    };
    let mut streams = Vec::new();
    let refused = loop {
        let mut stream = http.connect();
        stream.write_all(listen.as_bytes()).expect("sent");
        match &*hear(&mut stream) {
            "HTTP/1.1 200" => streams.push(stream),
            "HTTP/1.1 503" => break stream,
            other => panic!("{other}"),
        }
        assert!(streams.len() <= 1024, "there is a limit");
    };
    let mut text = String::new();
    (&refused).read_to_string(&mut text).expect("closed");
    assert!(text.contains("connections are in use"), "{text}");
    // One leaves, another one comes.
    drop(streams.pop());
    until("a place", || http.send("POST", "/x", &http.headers(), "").status == 404);
    // Streams in use were not dropped for it.
    streams[0].set_nonblocking(true).expect("set");
    let mut rest = vec![0; 65536];
    while let Ok(read) = streams[0].read(&mut rest) {
        assert!(read > 0, "the oldest stream was closed");
    }
}

#[test]
fn a_client_gets_in_where_descriptors_run_out() {
    many_descriptors();
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    let mut http = rig.http();
    http.handshake();
    let pid = Pid::from_child(&http.child);
    let mut limit =
        rustix::process::prlimit(Some(pid), Resource::Nofile, rustix::process::getrlimit(Resource::Nofile))
            .expect("its limit");
    limit.current = Some(descriptors(&http) as u64 + 20);
    rustix::process::prlimit(Some(pid), Resource::Nofile, limit).expect("lowered");
    let strangers: Vec<TcpStream> = (0..200).map(|_| Stranger::Silent.connect(&http)).collect();
    for _ in 0..5 {
        assert_eq!(ping(&http), 200);
    }
    drop(strangers);
    assert_eq!(http.call("read_file", json!({"path": "a.txt"}))["isError"], false);
}
