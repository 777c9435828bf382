//! A stand-in for a model's server: it speaks chat completions, streaming or not, says what a test
//! wrote for it, and keeps what it was asked.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
};

use serde_json::{Value, json};

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl Asked {
    /// The messages' roles.
    pub(crate) fn roles(&self) -> Vec<&str> {
        self.messages().iter().filter_map(|one| one["role"].as_str()).collect()
    }

    pub(crate) fn messages(&self) -> &[Value] {
        self.body["messages"].as_array().map(Vec::as_slice).unwrap_or_default()
    }

    /// The text of the last message.
    pub(crate) fn last(&self) -> &str {
        self.messages().last().and_then(|one| one["content"].as_str()).unwrap_or_default()
    }
}

/// The next reply of the server.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Text.
    Text(&'static str),
    /// Calls: tool and arguments, which need not be JSON.
    Calls(Vec<(&'static str, String)>),
    /// A refusal: status line, further headers, body.
    Refusal(&'static str, &'static str, &'static str),
    /// Nothing, for ever.
    Silence,
}

/// A call with proper arguments.
pub(crate) fn call(tool: &'static str, args: Value) -> Reply {
    Reply::Calls(vec![(tool, args.to_string())])
}

#[derive(Default)]
struct Shared {
    asked: Mutex<Vec<Asked>>,
    more: Condvar,
}

/// A running server.
pub(crate) struct ModelServer {
    port: u16,
    shared: Arc<Shared>,
}

impl ModelServer {
    /// Gives these replies, one after the other; whatever comes after them is refused.
    pub(crate) fn start(streams: bool, replies: Vec<Reply>) -> Self {
        let mut replies = replies.into_iter();
        let over = Reply::Refusal("400 Bad Request", "", "the script is over");
        Self::answering(streams, move |_| replies.next().unwrap_or(over.clone()))
    }

    /// Replies to each request by itself: several conversations come in any order.
    pub(crate) fn answering(streams: bool, mut reply: impl FnMut(&Asked) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let shared = Arc::<Shared>::default();
        let kept = shared.clone();
        std::thread::spawn(move || {
            let mut silent = Vec::new();
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { continue };
                let Some(asked) = read(&stream) else { continue };
                let streams = streams && asked.body["stream"] == true;
                let reply = reply(&asked);
                kept.asked.lock().expect("whole").push(asked);
                kept.more.notify_all();
                match reply {
                    Reply::Silence => silent.push(stream),
                    reply => _ = stream.write_all(reply.written(streams).as_bytes()),
                }
            }
        });
        Self { port, shared }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// The requests it got so far.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.shared.asked.lock().expect("whole").clone()
    }

    /// Waits until it was asked so often.
    pub(crate) fn wait(&self, times: usize) {
        let asked = self.shared.asked.lock().expect("whole");
        drop(self.shared.more.wait_while(asked, |asked| asked.len() < times).expect("whole"));
    }
}

impl Reply {
    fn written(&self, streams: bool) -> String {
        let (text, calls) = match self {
            Self::Refusal(status, headers, body) => {
                return format!(
                    "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\n{headers}Connection: close\r\n\r\n{body}"
                );
            }
            Self::Text(text) => (*text, [].as_slice()),
            Self::Calls(calls) => ("", calls.as_slice()),
            Self::Silence => ("", [].as_slice()),
        };
        let finish = if calls.is_empty() { "stop" } else { "tool_calls" };
        let usage = json!({ "prompt_tokens": 10, "completion_tokens": 5 });
        if !streams {
            let calls: Vec<Value> =
                calls.iter().enumerate().map(|(i, made)| function(i, made.0, &made.1)).collect();
            let body = json!({ "choices": [{ "finish_reason": finish, "message": {
                "role": "assistant", "content": text, "tool_calls": calls,
            } }], "usage": usage });
            return format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{body}"
            );
        }
        let mut deltas: Vec<Value> =
            text.split_inclusive(' ').map(|word| json!({ "content": word })).collect();
        for (i, (tool, args)) in calls.iter().enumerate() {
            let half = args.floor_char_boundary(args.len() / 2);
            deltas.push(json!({ "tool_calls": [function(i, tool, &args[..half])] }));
            deltas
                .push(json!({ "tool_calls": [{ "index": i, "function": { "arguments": &args[half..] } }] }));
        }
        let mut events: Vec<Value> =
            deltas.into_iter().map(|delta| json!({ "choices": [{ "delta": delta }] })).collect();
        events.push(json!({ "choices": [{ "delta": {}, "finish_reason": finish }] }));
        events.push(json!({ "choices": [], "usage": usage }));
        let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n{body}data: [DONE]\n\n"
        )
    }
}

fn function(index: usize, tool: &str, args: &str) -> Value {
    json!({ "index": index, "id": format!("call_{index}"), "type": "function",
        "function": { "name": tool, "arguments": args } })
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { head, body: serde_json::from_slice(&body).ok()? })
}
