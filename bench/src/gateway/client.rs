//! The client over HTTP: any number of persistent connections, one thread, one request in flight on
//! each, every answer checked. An answer counts when its exchange has ended, since only then the
//! connection can be reused.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

use super::reply::Reply;
use crate::session::Slice;
use crate::wire::{self, Request};

/// The timeout of one answer.
const PATIENCE: Timespec = Timespec { tv_sec: 60, tv_nsec: 0 };
/// The timeout for a gateway to meet its servers.
const MEETING: Duration = Duration::from_secs(30);
/// The delay between two checks if it has.
const PAUSE: Duration = Duration::from_millis(1);
/// The most bytes of one read.
const READ: usize = 256 * 1024;

/// The address of a server.
#[derive(Clone)]
pub(crate) struct Address {
    pub(crate) port: u16,
    pub(crate) path: &'static str,
}

pub(crate) struct Client {
    address: Address,
    connections: Vec<Connection>,
    queue: OwnedFd,
    events: Vec<Event>,
    chunk: Vec<u8>,
    next_id: u64,
    /// The session of the newest `initialize`.
    session: Option<String>,
}

#[derive(Deserialize)]
struct Listed {
    result: Page,
}

#[derive(Deserialize)]
struct Page {
    tools: Vec<IgnoredAny>,
    #[serde(rename = "nextCursor")]
    next: Option<String>,
}

struct Connection {
    socket: TcpStream,
    head: String,
    inbox: Vec<u8>,
    /// The id in flight, 0 for a notification.
    asked: Option<u64>,
    asked_at: Instant,
    /// The time when the last bytes were read.
    heard_at: Instant,
    /// True if the server said that it closes the connection.
    last: bool,
}

impl Client {
    pub(crate) fn new(address: &Address) -> Result<Self> {
        Ok(Self {
            address: address.clone(),
            connections: Vec::new(),
            queue: epoll::create(CreateFlags::CLOEXEC)?,
            events: Vec::with_capacity(256),
            chunk: vec![0; READ],
            next_id: 0,
            session: None,
        })
    }

    /// Opens a session on its own connection; returns the server's version.
    pub(crate) fn open(&mut self) -> Result<String> {
        self.session = None;
        let place = self.connect()?;
        let answer = self.ask(place, &Request::initialize())?;
        let message: serde_json::Value = serde_json::from_slice(&answer)?;
        self.connections[place].head = head(&self.address, self.session.as_deref());
        self.post(place, 0, wire::INITIALIZED)?;
        self.finish(place)?;
        Ok(message["result"]["serverInfo"]["version"].as_str().unwrap_or("unknown").to_owned())
    }

    /// Opens one more connection for the session opened last.
    pub(crate) fn connect(&mut self) -> Result<usize> {
        let place = self.connections.len();
        let socket = self.dial(place)?;
        let head = head(&self.address, self.session.as_deref());
        let now = Instant::now();
        let (asked, asked_at, heard_at) = (None, now, now);
        self.connections.push(Connection {
            socket,
            head,
            inbox: Vec::new(),
            asked,
            asked_at,
            heard_at,
            last: false,
        });
        Ok(place)
    }

    /// Sends one request and returns its answer, which must contain what the request expects.
    pub(crate) fn ask(&mut self, place: usize, request: &Request) -> Result<Vec<u8>> {
        self.send(place, request)?;
        let answer = self.finish(place)?.context("no answer to a request")?;
        if memchr::memmem::find(&answer, request.expect.as_bytes()).is_none() {
            bail!("the answer lacks `{}`", request.expect);
        }
        Ok(answer)
    }

    /// Lists all tools, page after page: returns how many there are, and how long the answers took together.
    pub(crate) fn list(&mut self, place: usize) -> Result<(usize, Duration)> {
        let (mut tools, mut took, mut cursor) = (0, Duration::ZERO, json!({}));
        loop {
            let answer = self.ask(place, &Request::new("tools/list", &cursor))?;
            took += self.connections[place].took();
            let page: Listed = serde_json::from_slice(&answer)?;
            tools += page.result.tools.len();
            match page.result.next {
                Some(next) => cursor = json!({"cursor": next}),
                None => return Ok((tools, took)),
            }
        }
    }

    /// Lists until all expected tools are there: a gateway may answer before it has met all of its servers.
    pub(crate) fn list_all(&mut self, place: usize, expected: usize) -> Result<()> {
        let deadline = Instant::now() + MEETING;
        loop {
            let (tools, _) = self.list(place)?;
            // Some gateways add their own tools.
            if tools >= expected {
                return Ok(());
            }
            ensure!(Instant::now() < deadline, "lists {tools} tools of {expected}");
            std::thread::sleep(PAUSE);
        }
    }

    /// Keeps one request in flight on each of the first `depth` connections for the given time, and
    /// waits for the last answer.
    pub(crate) fn drive(&mut self, request: &Request, depth: usize, time: Duration) -> Result<Slice> {
        ensure!(depth <= self.connections.len(), "fewer than {depth} connections");
        let mut latencies = Vec::new();
        for place in 0..depth {
            self.revive(place)?;
        }
        let began = Instant::now();
        for place in 0..depth {
            self.send(place, request)?;
        }
        let (mut in_flight, mut now) = (depth, began);
        while in_flight > 0 {
            for place in self.wait()? {
                if self.connections[place].asked.is_none() {
                    self.set_aside(place)?;
                    continue;
                }
                if self.receive(place)?.is_none() {
                    continue;
                }
                latencies.push(self.connections[place].took().as_secs_f64() * 1e6);
                now = Instant::now();
                if now - began < time {
                    self.send(place, request)?;
                } else {
                    in_flight -= 1;
                }
            }
        }
        let calls_per_s = latencies.len() as f64 / (now - began).as_secs_f64();
        latencies.sort_by(f64::total_cmp);
        Ok(Slice { latencies, calls_per_s })
    }

    /// Reconnects if the server closed a connection that was not used for some seconds.
    fn revive(&mut self, place: usize) -> Result<()> {
        let connection = &mut self.connections[place];
        let idle =
            matches!(connection.socket.peek(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock);
        if connection.last || !idle {
            // Closing a socket also removes it from the queue.
            let socket = self.dial(place)?;
            let connection = &mut self.connections[place];
            connection.socket = socket;
            connection.inbox.clear();
            connection.last = false;
        }
        Ok(())
    }

    /// Marks an idle connection that the server closed; it is opened again at its next use.
    fn set_aside(&mut self, place: usize) -> Result<()> {
        epoll::delete(&self.queue, &self.connections[place].socket)?;
        self.connections[place].last = true;
        Ok(())
    }

    fn dial(&self, place: usize) -> Result<TcpStream> {
        let socket = TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, self.address.port)))?;
        socket.set_nodelay(true)?;
        socket.set_nonblocking(true)?;
        epoll::add(&self.queue, &socket, EventData::new_u64(place as u64), EventFlags::IN)?;
        Ok(socket)
    }

    fn send(&mut self, place: usize, request: &Request) -> Result<()> {
        self.next_id += 1;
        let mut body = Vec::with_capacity(256);
        request.write(self.next_id, &mut body);
        self.post(place, self.next_id, &body)
    }

    /// Requests are far smaller than the buffer of a socket, so writing does not wait.
    fn post(&mut self, place: usize, id: u64, body: &[u8]) -> Result<()> {
        if self.connections[place].last {
            self.revive(place)?;
        }
        let connection = &mut self.connections[place];
        let mut message = Vec::with_capacity(connection.head.len() + body.len() + 16);
        message.extend_from_slice(connection.head.as_bytes());
        message.extend_from_slice(body.len().to_string().as_bytes());
        message.extend_from_slice(b"\r\n\r\n");
        message.extend_from_slice(body);
        connection.asked = Some(id);
        connection.asked_at = Instant::now();
        connection.socket.write_all(&message).context("the server takes no more requests")
    }

    /// Waits for the end of one exchange; nothing else may be in flight.
    fn finish(&mut self, place: usize) -> Result<Option<Vec<u8>>> {
        loop {
            for ready in self.wait()? {
                if ready != place {
                    self.set_aside(ready)?;
                    continue;
                }
                if let Some(reply) = self.receive(place)? {
                    return Ok(reply);
                }
            }
        }
    }

    fn wait(&mut self) -> Result<Vec<usize>> {
        self.events.clear();
        rustix::io::retry_on_intr(|| {
            epoll::wait(&self.queue, rustix::buffer::spare_capacity(&mut self.events), Some(&PATIENCE))
        })?;
        ensure!(!self.events.is_empty(), "no answer within {} s", PATIENCE.tv_sec);
        Ok(self.events.iter().map(|event| event.data.u64() as usize).collect())
    }

    /// Reads once. The outer `None` means that the answer is not complete, the inner one that it was
    /// to a notification.
    fn receive(&mut self, place: usize) -> Result<Option<Option<Vec<u8>>>> {
        let connection = &mut self.connections[place];
        match connection.socket.read(&mut self.chunk) {
            Ok(0) => bail!("the server hung up before it answered"),
            Ok(count) => {
                connection.heard_at = Instant::now();
                connection.inbox.extend_from_slice(&self.chunk[..count]);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        let Some((reply, taken)) = Reply::take(&connection.inbox)? else { return Ok(None) };
        ensure!(taken == connection.inbox.len(), "more than one answer to one request");
        connection.inbox.clear();
        connection.last = reply.last;
        let id = connection.asked.take().context("an answer that was not asked for")?;
        let told = || reply.messages.last().map(|body| String::from_utf8_lossy(body).into_owned());
        ensure!(
            (200..300).contains(&reply.status),
            "status {}: {}",
            reply.status,
            told().unwrap_or_default()
        );
        if reply.session.is_some() {
            self.session = reply.session;
        }
        if id == 0 {
            return Ok(Some(None));
        }
        for message in reply.messages {
            match wire::answered(&message)? {
                None => {}
                Some(answered) if answered == id => return Ok(Some(Some(message))),
                Some(other) => bail!("answered {other} when asked {id}"),
            }
        }
        bail!("an exchange without the answer")
    }
}

impl Connection {
    /// The time from writing the request to reading the last byte of its answer; checking it is not included.
    fn took(&self) -> Duration {
        self.heard_at - self.asked_at
    }
}

/// The part of a request before the length of its body.
fn head(address: &Address, session: Option<&str>) -> String {
    let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
    format!(
        "POST {} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-11-25\r\n{session}\
         Content-Length: ",
        address.path, address.port
    )
}
