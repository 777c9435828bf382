//! Events of the real binary: drained, streamed to many, resumed, and never a reason to wait.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
};

use serde_json::{Value, json};

use crate::{
    federated::{echo, until},
    rig::{Http, Rig, request},
};

/// Readers of one house.
const READERS: usize = 100;
/// Those of them that do not read.
const STALLED: usize = 10;

/// A reader of the stream.
struct Stream(BufReader<TcpStream>);

/// An event as the stream tells it.
#[derive(Debug)]
struct Frame {
    id: String,
    kind: String,
    data: Value,
}

impl Stream {
    /// Connects, and waits until it is heard.
    fn open(house: &Http, after: Option<&str>) -> Self {
        let mut stream = house.connect();
        let mut headers = house.headers();
        headers.extend(after.map(|id| ("Last-Event-ID".to_owned(), id.to_owned())));
        stream.write_all(request("GET", "/api/events/stream", &headers, "").as_bytes()).expect("sent");
        let mut stream = Self(BufReader::new(stream));
        assert!(stream.line().starts_with("HTTP/1.1 200"));
        while stream.line() != ": connected" {}
        stream
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.0.read_line(&mut line).expect("readable") > 0, "the stream ended");
        line.trim_end().to_owned()
    }

    /// The next event.
    fn next(&mut self) -> Frame {
        let (mut id, mut kind) = (String::new(), String::new());
        loop {
            let line = self.line();
            if let Some(given) = line.strip_prefix("id: ") {
                id = given.into();
            } else if let Some(given) = line.strip_prefix("event: ") {
                kind = given.into();
            } else if let Some(given) = line.strip_prefix("data: ") {
                return Frame { id, kind, data: serde_json::from_str(given).expect("JSON") };
            }
        }
    }

    /// The next event of this kind.
    fn next_of(&mut self, kind: &str) -> Frame {
        loop {
            let frame = self.next();
            if frame.kind == kind {
                return frame;
            }
        }
    }
}

fn push(house: &Http, payload: &Value) {
    let body = json!({"action": "push_event", "event_type": "x", "payload": payload}).to_string();
    assert_eq!(house.send("POST", "/api/gui", &house.headers(), &body).status, 200);
}

fn drained(house: &Http) -> Vec<Value> {
    let answer = house.send("GET", "/api/events", &house.headers(), "");
    answer.json()["events"].as_array().expect("a list").clone()
}

#[test]
fn calls_and_servers_are_told_while_somebody_listens() {
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    rig.configure(&echo("one", &[], ""));
    let mut house = rig.http();
    house.handshake();
    let mut stream = Stream::open(&house, None);
    house.call("read_file", json!({"path": "a.txt"}));
    let (began, ended) = (stream.next_of("call.started"), stream.next_of("call.ended"));
    assert_eq!(
        (&began.data["data"]["tool"], &began.data["kind"]),
        (&json!("read_file"), &json!("call.started"))
    );
    assert_eq!(began.data["data"]["client"], "rig");
    assert_eq!(began.data["data"]["call"], ended.data["data"]["call"]);
    assert_eq!((&ended.data["data"]["ok"], &ended.data["data"]["fault"]), (&json!(true), &json!(null)));
    house.call("read_file", json!({"path": "absent.txt"}));
    let failed = stream.next_of("call.ended").data["data"].clone();
    assert_eq!((&failed["ok"], &failed["fault"]), (&json!(false), &json!("not_found")), "{failed}");
    rig.configure(&echo("two", &[], ""));
    let changed = std::iter::repeat_with(|| stream.next_of("server.changed").data["data"].clone());
    let mut names: Vec<Value> = changed.take_while(|data| data["name"] != "two").collect();
    names.retain(|data| data["name"] == "one" && data["status"].is_null());
    assert!(names.len() <= 1, "{names:?}");
}

#[test]
fn changes_of_tools_anchors_and_policy_are_told() {
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    let mut house = rig.http();
    house.handshake();
    let mut stream = Stream::open(&house, None);
    let call = |tool: &str, arguments: Value| house.call(tool, arguments);
    call("read_file", json!({"path": "a.txt"}));
    let began = stream.next_of("call.started").data["data"].clone();
    assert_eq!((&began["subject"], began["began"].is_string()), (&json!("a.txt"), true), "{began}");
    let ended = stream.next_of("call.ended").data["data"].clone();
    assert!(ended["tokens_out"].as_u64().is_some_and(|tokens| tokens > 0), "{ended}");
    assert_eq!((&ended["subject"], &ended["edited"]), (&json!("a.txt"), &json!(false)), "{ended}");
    call("todo_write", json!({"todos": [{"content": "x", "active_form": "x", "status": "pending"}]}));
    assert_eq!(stream.next_of("anchors.changed").data["data"]["key"], "todo_state");
    rig.configure("[tools]\nexclude = [\"move_file\"]\n");
    let (mut tools, mut policy) = (false, false);
    while !(tools && policy) {
        let kind = stream.next().kind;
        tools |= kind == "tools.changed";
        policy |= kind == "policy.changed";
    }
}

#[test]
fn draining_begins_to_hear_calls_and_takes_each_event_once() {
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    let mut house = rig.http();
    house.handshake();
    house.call("read_file", json!({"path": "a.txt"}));
    assert_eq!(drained(&house), [Value::Null; 0], "nobody listened");
    house.call("read_file", json!({"path": "a.txt"}));
    let kinds: Vec<Value> = drained(&house).iter().map(|event| event["kind"].clone()).collect();
    assert_eq!(kinds, ["call.started", "call.ended"]);
    assert_eq!(drained(&house), [Value::Null; 0]);
}

#[test]
fn a_reader_resumes_where_it_was_and_others_lose_nothing() {
    let house = Rig::new().http();
    let mut stream = Stream::open(&house, None);
    push(&house, &json!(1));
    let first = stream.next();
    assert_eq!((&first.data["data"], first.kind.as_str()), (&json!(1), "x"));
    assert_eq!(first.data["id"].to_string(), first.id);
    drop(stream);
    (2..5).for_each(|n| push(&house, &json!(n)));
    for _ in 0..2 {
        let mut again = Stream::open(&house, Some(&first.id));
        let seen: Vec<Value> = (0..3).map(|_| again.next().data["data"].clone()).collect();
        assert_eq!(seen, [2, 3, 4]);
    }
    assert_eq!(drained(&house).len(), 4, "streams take nothing away");
    // A number that only an earlier process could have given.
    let mut stranger = Stream::open(&house, Some("5"));
    let told = stranger.next();
    assert_eq!((told.kind.as_str(), &told.data["missed"]), ("missed", &Value::Null), "{told:?}");
    assert_eq!(stranger.next().data["data"], 1);
    let mut headers = house.headers();
    headers.push(("Last-Event-ID".into(), "soon".into()));
    assert_eq!(house.send("GET", "/api/events/stream", &headers, "").status, 400);
}

#[test]
fn readers_that_stall_delay_nobody() {
    let house = Rig::new().http();
    let mut streams: Vec<Stream> = (0..READERS).map(|_| Stream::open(&house, None)).collect();
    let stalled = streams.split_off(READERS - STALLED);
    // More than the buffers of a connection hold, so that those who do not read block theirs.
    let large = "x".repeat(512 * 1024);
    for n in 0..16 {
        push(&house, &json!({"n": n, "text": large}));
        for stream in &mut streams {
            assert_eq!(stream.next_of("x").data["data"]["n"], n, "everybody who reads has it at once");
        }
    }
    // Those who did not read were told to go, or find out what they missed.
    drop(streams);
    drop(stalled);
    until("the connections are free", || house.send("GET", "/status", &house.headers(), "").status == 200);
}

#[test]
fn a_house_that_closes_does_not_wait_for_readers() {
    let mut house = Rig::new().http();
    let mut stream = Stream::open(&house, None);
    let pid = rustix::process::Pid::from_child(&house.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("sent");
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut stream.0, &mut rest).expect("the stream ends in order");
    assert!(rest.ends_with("0\r\n\r\n"), "{rest}");
    assert!(house.child.wait().expect("ends").success());
}
