//! The floor over HTTP, alone or as a gateway in front of a stdio server: one thread, one read, one
//! write, the id replaced and every other byte copied. It marks a limit and is not a product: no
//! sessions, no checks, and it waits for a client that sends half a request and stays.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result};
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::reply::body_of;
use crate::floor::Floor;

/// The bytes of one read: as much as a pipe holds by default.
const READ: usize = 64 * 1024;
/// The most events taken at once; further clients wait for the next turn.
const EVENTS: usize = 256;
const LISTENER: u64 = u64::MAX;
const UPSTREAM: u64 = u64::MAX - 1;

/// Serves until the upstream ends, or for ever.
pub(crate) fn serve(port: u16, floor: Floor, upstream: &[OsString]) -> Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
    let back = if upstream.is_empty() { Back::Floor(Box::new(floor)) } else { Back::start(upstream)? };
    let mut limit = Limit { clients: HashMap::new(), back, chunk: vec![0; READ] };
    let queue = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(&queue, &listener, EventData::new_u64(LISTENER), EventFlags::IN)?;
    if let Back::Upstream(upstream) = &limit.back {
        epoll::add(&queue, &upstream.from, EventData::new_u64(UPSTREAM), EventFlags::IN)?;
    }
    let mut next_client = 0;
    let mut events: Vec<Event> = Vec::with_capacity(EVENTS);
    loop {
        events.clear();
        rustix::io::retry_on_intr(|| epoll::wait(&queue, rustix::buffer::spare_capacity(&mut events), None))?;
        for event in &events {
            match event.data.u64() {
                LISTENER => {
                    let (socket, _) = listener.accept()?;
                    // Without this an answer in two parts would wait for the client's acknowledgement.
                    socket.set_nodelay(true)?;
                    epoll::add(&queue, &socket, EventData::new_u64(next_client), EventFlags::IN)?;
                    limit.clients.insert(next_client, LimitClient { socket, inbox: Vec::new() });
                    next_client += 1;
                }
                UPSTREAM => {
                    if !limit.answers()? {
                        return Ok(());
                    }
                }
                client => limit.requests(client)?,
            }
        }
        if let Back::Upstream(upstream) = &mut limit.back {
            upstream.flush()?;
        }
    }
}

struct Limit {
    clients: HashMap<u64, LimitClient>,
    back: Back,
    chunk: Vec<u8>,
}

struct LimitClient {
    socket: TcpStream,
    inbox: Vec<u8>,
}

/// The backend that answers.
enum Back {
    Floor(Box<Floor>),
    Upstream(Upstream),
}

struct Upstream {
    _child: Child,
    to: ChildStdin,
    from: ChildStdout,
    inbox: Vec<u8>,
    outbox: Vec<u8>,
    /// By the id at the upstream: the client, and its own id.
    waiting: HashMap<u64, (u64, Box<str>)>,
    next_id: u64,
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
}

impl Back {
    fn start(command: &[OsString]) -> Result<Self> {
        let (program, args) = command.split_first().context("no command of the upstream")?;
        let mut child =
            Command::new(program).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let to = child.stdin.take().context("the upstream has an input")?;
        let from = child.stdout.take().context("the upstream has an output")?;
        Ok(Self::Upstream(Upstream {
            _child: child,
            to,
            from,
            inbox: Vec::new(),
            outbox: Vec::new(),
            waiting: HashMap::new(),
            next_id: 0,
        }))
    }
}

impl Limit {
    /// Reads once from a client and answers or forwards every complete request.
    fn requests(&mut self, number: u64) -> Result<()> {
        let Some(client) = self.clients.get_mut(&number) else { return Ok(()) };
        let count = client.socket.read(&mut self.chunk).unwrap_or(0);
        if count == 0 {
            self.clients.remove(&number);
            return Ok(());
        }
        client.inbox.extend_from_slice(&self.chunk[..count]);
        let mut answer = Vec::new();
        let mut outbox = Vec::new();
        while let Some(body) = body_of(&client.inbox) {
            let message = client.inbox[body.clone()].trim_ascii_end();
            answer.clear();
            match &mut self.back {
                Back::Floor(floor) => {
                    floor.answer(message, &mut answer);
                    respond(&answer, &mut outbox);
                }
                Back::Upstream(upstream) => {
                    if !upstream.pass_on(message, number)? {
                        respond(b"", &mut outbox);
                    }
                }
            }
            client.inbox.drain(..body.end);
        }
        if !outbox.is_empty() && client.socket.write_all(&outbox).is_err() {
            self.clients.remove(&number);
        }
        Ok(())
    }

    /// Reads once from the upstream and forwards every complete answer to its client. False if it ended.
    fn answers(&mut self) -> Result<bool> {
        let Back::Upstream(upstream) = &mut self.back else { return Ok(true) };
        let count = upstream.from.read(&mut self.chunk)?;
        upstream.inbox.extend_from_slice(&self.chunk[..count]);
        let (mut taken, mut answer, mut outbox) = (0, Vec::new(), Vec::new());
        while let Some(length) = memchr::memchr(b'\n', &upstream.inbox[taken..]) {
            let line = &upstream.inbox[taken..taken + length];
            taken += length + 1;
            let Some(id) = serde_json::from_slice::<Named>(line)?.id else { continue };
            let known = id.get().parse().ok().and_then(|id: u64| upstream.waiting.remove(&id));
            let Some((number, own)) = known else { continue };
            let Some(client) = self.clients.get_mut(&number) else { continue };
            answer.clear();
            outbox.clear();
            exchange(line, id, &own, &mut answer);
            respond(&answer, &mut outbox);
            if client.socket.write_all(&outbox).is_err() {
                self.clients.remove(&number);
            }
        }
        upstream.inbox.drain(..taken);
        Ok(count > 0)
    }
}

impl Upstream {
    /// Queues a message under our own id. False if it is a notification, which gets no answer.
    fn pass_on(&mut self, message: &[u8], client: u64) -> Result<bool> {
        let Some(id) = serde_json::from_slice::<Named>(message)?.id else { return Ok(false) };
        self.next_id += 1;
        self.waiting.insert(self.next_id, (client, id.get().into()));
        exchange(message, id, &self.next_id.to_string(), &mut self.outbox);
        self.outbox.push(b'\n');
        Ok(true)
    }

    fn flush(&mut self) -> Result<()> {
        if !self.outbox.is_empty() {
            self.to.write_all(&self.outbox)?;
            self.outbox.clear();
        }
        Ok(())
    }
}

/// Copies a message with another id; `id` must be borrowed from it.
fn exchange(message: &[u8], id: &RawValue, new: &str, out: &mut Vec<u8>) {
    let from = id.get().as_ptr().addr() - message.as_ptr().addr();
    out.extend_from_slice(&message[..from]);
    out.extend_from_slice(new.as_bytes());
    out.extend_from_slice(&message[from + id.get().len()..]);
}

fn respond(body: &[u8], out: &mut Vec<u8>) {
    if body.is_empty() {
        out.extend_from_slice(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
        return;
    }
    out.extend_from_slice(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ");
    out.extend_from_slice(body.len().to_string().as_bytes());
    out.extend_from_slice(b"\r\n\r\n");
    out.extend_from_slice(body);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_id_is_exchanged() {
        let message = br#"{"jsonrpc":"2.0","id": "a" ,"method":"ping","params":{"id":3}}"#;
        let named: Named = serde_json::from_slice(message).expect("a message");
        let mut out = Vec::new();
        exchange(message, named.id.expect("an id"), "71", &mut out);
        let expected = br#"{"jsonrpc":"2.0","id": 71 ,"method":"ping","params":{"id":3}}"#;
        assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(expected));
    }
}
