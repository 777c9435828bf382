//! Clients with a person in front of them, in both eras and on both transports.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    sync::atomic::{AtomicU64, Ordering},
};

use serde_json::{Value, json};

use crate::{
    federated::{Client, Era, KEY},
    rig::{Http, Rig, request},
};

/// The name of our question among those that a modern client is asked.
pub(crate) const QUESTION: &str = "tectum_approval";

/// Ids of calls on HTTP.
static CALLS: AtomicU64 = AtomicU64::new(100);

/// A project in which edits ask.
pub(crate) fn asking() -> Rig {
    let rig = Rig::with(&[("a.txt", "teh cat\n"), ("b.txt", "teh dog\n")]);
    rig.configure("[permissions]\nask = [\"edit_file\"]\n");
    rig
}

pub(crate) fn forms() -> Value {
    json!({"elicitation": {"form": {}}})
}

pub(crate) fn edit(path: &str) -> Value {
    json!({"path": path, "old_string": "teh", "new_string": "the"})
}

pub(crate) fn yes() -> Value {
    json!({"action": "accept", "content": {"approve": true}})
}

/// A client with a person in front of it.
#[expect(clippy::large_enum_variant, reason = "a test has one or two")]
pub(crate) enum Front {
    Pipe(Era, Client),
    Http(Era, Http),
}

/// A call that is being asked about: the question, and how its answer goes back.
pub(crate) struct Asked {
    pub(crate) question: Value,
    pub(crate) back: Back,
}

pub(crate) enum Back {
    /// Under this id; the call's own answer comes under the other one.
    Pipe { id: Value, call: u64 },
    /// The same on the stream of the call.
    Stream { id: Value, call: u64, events: Events },
    /// With the next try of the call.
    Again { args: Value, state: Value },
}

impl Front {
    pub(crate) fn all(rig: &Rig) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for era in Era::ALL {
            let mut client = Client::able(rig, era, forms());
            client.silent = true;
            all.push(Self::Pipe(era, client));
            let mut http = rig.http();
            if era == Era::Legacy {
                http.handshake_as(forms());
            }
            all.push(Self::Http(era, http));
        }
        all
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Self::Pipe(era, _) => format!("{} on a pipe", era.word()),
            Self::Http(era, _) => format!("{} on HTTP", era.word()),
        }
    }

    /// Calls a tool that a rule asks about.
    pub(crate) fn call(&mut self, tool: &str, args: Value) -> Asked {
        let params = json!({"name": tool, "arguments": args});
        match self {
            Self::Pipe(Era::Legacy, client) => {
                let before = client.asked.len();
                let call = client.start("tools/call", params);
                while client.asked.len() == before {
                    assert!(!client.has(call), "answered without a question: {}", client.wait(call));
                    client.hear();
                }
                let asked = client.asked[before].clone();
                assert_eq!(asked["method"], "elicitation/create", "{asked}");
                Asked {
                    question: asked["params"].clone(),
                    back: Back::Pipe { id: asked["id"].clone(), call },
                }
            }
            Self::Http(Era::Legacy, http) => {
                let call = CALLS.fetch_add(1, Ordering::Relaxed);
                let body = json!({"jsonrpc": "2.0", "id": call, "method": "tools/call", "params": params});
                let mut events = Events::of(http, &http.headers(), &body);
                let asked = events.next().expect("a question");
                assert_eq!(asked["method"], "elicitation/create", "{asked}");
                Asked {
                    question: asked["params"].clone(),
                    back: Back::Stream { id: asked["id"].clone(), call, events },
                }
            }
            Self::Pipe(Era::Modern, _) | Self::Http(Era::Modern, _) => {
                let answer = self.modern(params);
                let result = &answer["result"];
                assert_eq!(result["resultType"], "input_required", "{answer}");
                let asked = &result["inputRequests"][QUESTION];
                assert_eq!(asked["method"], "elicitation/create", "{answer}");
                Asked {
                    question: asked["params"].clone(),
                    back: Back::Again { args, state: result["requestState"].clone() },
                }
            }
        }
    }

    /// Answers, and gives what became of the call.
    pub(crate) fn answer(&mut self, tool: &str, asked: Asked, answer: &Value) -> Value {
        match (self, asked.back) {
            (Self::Pipe(_, client), Back::Pipe { id, call }) => {
                client.pipe.send(&json!({"jsonrpc": "2.0", "id": id, "result": answer}));
                client.wait(call)["result"].clone()
            }
            (Self::Http(_, http), Back::Stream { id, call, mut events }) => {
                assert_eq!(http.post(&json!({"jsonrpc": "2.0", "id": id, "result": answer})).status, 202);
                let outcome = events.next().expect("an answer");
                assert_eq!(outcome["id"], call, "{outcome}");
                outcome["result"].clone()
            }
            (front, Back::Again { args, state }) => {
                front.again(tool, &args, &state, answer)["result"].clone()
            }
            _ => unreachable!("an answer goes where the question came from"),
        }
    }

    /// The next try of a modern client.
    pub(crate) fn again(&mut self, tool: &str, args: &Value, state: &Value, answer: &Value) -> Value {
        self.modern(json!({"name": tool, "arguments": args, "requestState": state,
            "inputResponses": {QUESTION: answer}}))
    }

    pub(crate) fn modern(&mut self, params: Value) -> Value {
        match self {
            Self::Pipe(_, client) => {
                let id = client.start("tools/call", params);
                client.wait(id)
            }
            Self::Http(_, http) => modern_post(http, params, forms()),
        }
    }
}

pub(crate) fn modern_post(http: &Http, mut params: Value, abilities: Value) -> Value {
    params["_meta"] =
        json!({format!("{KEY}protocolVersion"): "2026-07-28", format!("{KEY}clientCapabilities"): abilities});
    let mut headers = http.headers();
    headers.push(("MCP-Protocol-Version".into(), "2026-07-28".into()));
    headers.push(("Mcp-Method".into(), "tools/call".into()));
    headers.push(("Mcp-Name".into(), params["name"].as_str().expect("a name").into()));
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    http.send("POST", "/mcp", &headers, &body.to_string()).json()
}

/// The events of one answer, as they come.
pub(crate) struct Events(pub(crate) BufReader<TcpStream>);

impl Events {
    fn of(http: &Http, headers: &[(String, String)], body: &Value) -> Self {
        let mut stream = http.connect();
        stream.write_all(request("POST", "/mcp", headers, &body.to_string()).as_bytes()).expect("sent");
        Self(BufReader::new(stream))
    }

    /// The next one; `None` when the stream has ended.
    pub(crate) fn next(&mut self) -> Option<Value> {
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).expect("readable") == 0 {
                return None;
            }
            if let Some(data) = line.strip_prefix("data: ").filter(|data| !data.trim().is_empty()) {
                return Some(serde_json::from_str(data).expect("JSON"));
            }
        }
    }
}
