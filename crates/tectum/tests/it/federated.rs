//! A binary with servers behind it, and a client of either era that keeps everything it hears.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use serde_json::{Value, json};

use crate::rig::{Rig, Stdin, fixture};

/// The prefix of the protocol's own keys in `_meta`.
pub(crate) const KEY: &str = "io.modelcontextprotocol/";

/// For a server that is expected not to answer: what a silent call costs a test.
pub(crate) const IMPATIENT: &str = "timeout = \"3s\"";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

impl Era {
    pub(crate) const ALL: [Self; 2] = [Self::Legacy, Self::Modern];

    /// As flags and configuration spell it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }
}

/// A project with one file, and this configuration.
pub(crate) fn with(configuration: &str) -> Rig {
    let rig = Rig::with(&[("a.txt", "hello\n")]);
    rig.configure(configuration);
    rig
}

/// A table of the configuration for a server that is started.
pub(crate) fn command(name: &str, program: impl AsRef<Path>, args: &[&str], more: &str) -> String {
    let program = program.as_ref().to_str().expect("text");
    format!("[servers.{name}]\ncommand = {}\nargs = {}\n{more}\n", json!(program), json!(args))
}

/// The same for our own server in its echo role.
pub(crate) fn echo(name: &str, args: &[&str], more: &str) -> String {
    let args: Vec<&str> = ["--role", "echo", "--name", name].iter().chain(args).copied().collect();
    command(name, fixture(), &args, more)
}

/// A table for a server that is there already.
pub(crate) fn address(name: &str, url: &str, more: &str) -> String {
    format!("[servers.{name}]\nurl = {}\n{more}\n", json!(url))
}

/// The same behind a shell that writes its process number to a file first: a line for each start.
pub(crate) fn marked(name: &str, marker: &Path, args: &[&str], more: &str) -> String {
    let (marker, program) = (marker.display().to_string(), fixture());
    let first = ["-c", "echo $$ >> \"$0\"; exec \"$@\"", &marker, program.to_str().expect("text")];
    let own = ["--role", "echo", "--name", name];
    let args: Vec<&str> = first.iter().chain(&own).chain(args).copied().collect();
    command(name, "sh", &args, more)
}

/// The process numbers of a marked server's starts.
pub(crate) fn starts(marker: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(marker).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// True for a process that runs; one that only waits to be reaped does not.
pub(crate) fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

/// Waits for something that comes in its own time; a minute is for ever.
#[track_caller]
pub(crate) fn until(what: &str, mut there: impl FnMut() -> bool) {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !there() {
        assert!(std::time::Instant::now() < end, "it never came: {what}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// A client on a pipe. What it did not wait for is kept.
pub(crate) struct Client {
    pub(crate) pipe: Stdin,
    era: Era,
    abilities: Value,
    next: u64,
    /// Notifications, in order.
    pub(crate) notes: Vec<Value>,
    /// Requests of the server's.
    pub(crate) asked: Vec<Value>,
    /// True for a client that leaves them without an answer.
    pub(crate) silent: bool,
    /// The server's answer to its hello.
    pub(crate) hello: Value,
    answers: HashMap<u64, (Value, String)>,
}

impl Client {
    pub(crate) fn new(rig: &Rig, era: Era) -> Self {
        Self::able(rig, era, json!({"elicitation": {"form": {}}, "sampling": {}, "roots": {}}))
    }

    /// Before its handshake.
    pub(crate) fn silent_start(rig: &Rig) -> Self {
        Self {
            pipe: rig.stdio_raw(),
            era: Era::Legacy,
            abilities: json!({}),
            next: 0,
            notes: Vec::new(),
            asked: Vec::new(),
            silent: false,
            hello: Value::Null,
            answers: HashMap::new(),
        }
    }

    /// With other abilities.
    pub(crate) fn able(rig: &Rig, era: Era, abilities: Value) -> Self {
        let mut client = Self { era, abilities, ..Self::silent_start(rig) };
        if era == Era::Legacy {
            let hello = json!({"protocolVersion": "2025-11-25", "capabilities": client.abilities,
                "clientInfo": {"name": "rig", "version": "1"}});
            client.hello = client.result("initialize", hello);
            client.pipe.notify("notifications/initialized", json!({}));
        }
        client
    }

    /// Sends a request and does not wait.
    pub(crate) fn start(&mut self, method: &str, mut params: Value) -> u64 {
        if self.era == Era::Modern {
            params["_meta"][format!("{KEY}protocolVersion")] = json!("2026-07-28");
            params["_meta"][format!("{KEY}clientCapabilities")] = self.abilities.clone();
            params["_meta"][format!("{KEY}clientInfo")] = json!({"name": "rig", "version": "1"});
        }
        self.next += 1;
        self.pipe.send(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}));
        self.next
    }

    /// Waits for an answer: the whole message.
    pub(crate) fn wait(&mut self, id: u64) -> Value {
        self.wait_raw(id).0
    }

    /// The same with its line as it came.
    pub(crate) fn wait_raw(&mut self, id: u64) -> (Value, String) {
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return answer;
            }
            self.hear();
        }
    }

    /// True if an answer came already, while something else was waited for.
    pub(crate) fn has(&self, id: u64) -> bool {
        self.answers.contains_key(&id)
    }

    /// Takes the next message, whatever it is.
    pub(crate) fn hear(&mut self) {
        let mut line = String::new();
        let read = self.pipe.stdout.read_line(&mut line).expect("readable");
        assert!(read > 0, "the server closed its output");
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        match (message["method"].as_str().map(str::to_owned), message.get("id").cloned()) {
            (Some(method), Some(id)) => {
                assert_eq!(self.era, Era::Legacy, "a server asks nothing in the second era: {message}");
                if !self.silent {
                    let result = yes(&method, &message["params"]);
                    self.pipe.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
                }
                self.asked.push(message);
            }
            (Some(_), None) => self.notes.push(message),
            (None, _) => {
                let id = message["id"].as_u64().unwrap_or_else(|| panic!("an answer to nothing: {message}"));
                assert!(id <= self.next && !self.answers.contains_key(&id), "answered twice: {message}");
                self.answers.insert(id, (message, line));
            }
        }
    }

    /// Sends a request and waits for its result, answering questions on the way.
    pub(crate) fn result(&mut self, method: &str, params: Value) -> Value {
        let id = self.start(method, params.clone());
        let answer = self.end(id, method, params.clone());
        assert!(answer.get("error").is_none(), "{method} {params}: {answer}");
        answer["result"].clone()
    }

    /// The answer to a request that was sent with these parameters. As long as the server asks first,
    /// it is tried again with what was asked.
    pub(crate) fn end(&mut self, mut id: u64, method: &str, mut params: Value) -> Value {
        loop {
            let answer = self.wait(id);
            let result = &answer["result"];
            if result["resultType"] != "input_required" {
                return answer;
            }
            params["inputResponses"] = json!({});
            for (key, question) in result["inputRequests"].as_object().expect("questions") {
                let method = question["method"].as_str().expect("a method");
                params["inputResponses"][key] = yes(method, &question["params"]);
                self.asked.push(question.clone());
            }
            params["requestState"] = result["requestState"].clone();
            id = self.start(method, params.clone());
        }
    }

    pub(crate) fn begin(&mut self, tool: &str, args: Value) -> u64 {
        self.start("tools/call", json!({"name": tool, "arguments": args}))
    }

    pub(crate) fn call(&mut self, tool: &str, args: Value) -> Value {
        self.result("tools/call", json!({"name": tool, "arguments": args}))
    }

    /// The text of a call's result, whether it is an error or not.
    pub(crate) fn say(&mut self, tool: &str, args: Value) -> String {
        crate::rig::text(&self.call(tool, args)).to_owned()
    }

    pub(crate) fn cancel(&mut self, id: u64) {
        self.pipe.notify("notifications/cancelled", json!({"requestId": id}));
    }

    /// Every entry of a list, over all pages.
    pub(crate) fn list(&mut self, method: &str, member: &str) -> Vec<Value> {
        let (mut entries, mut params) = (Vec::new(), json!({}));
        loop {
            let page = self.result(method, params);
            entries.extend(page[member].as_array().unwrap_or_else(|| panic!("{page}")).iter().cloned());
            match page.get("nextCursor") {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => return entries,
            }
        }
    }

    pub(crate) fn tools(&mut self) -> Vec<String> {
        let tools = self.list("tools/list", "tools");
        tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
    }

    /// Waits until a tool is listed no longer.
    pub(crate) fn until_gone(&mut self, tool: &str) {
        until(&format!("the end of {tool}"), || !self.tools().iter().any(|name| name == tool));
    }

    /// Waits until a tool is listed: servers start in their own time.
    pub(crate) fn until_listed(&mut self, tool: &str) {
        let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
        while !self.tools().iter().any(|name| name == tool) {
            assert!(std::time::Instant::now() < until, "{tool} is not listed: {:?}", self.tools());
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

/// A server of somebody's that listens on an address it says itself.
pub(crate) struct Listening {
    child: Child,
    pub(crate) url: String,
}

impl Listening {
    /// Starts our own server on HTTP.
    pub(crate) fn fixture(args: &[&str]) -> Self {
        let mut command = Command::new(fixture());
        command.args(["--role", "echo", "--http", "0"]).args(args);
        Self::start(&mut command, |line| line.starts_with("http").then(|| line.to_owned()))
    }

    /// Ends it and starts another at the same address, which knows nothing of the first.
    pub(crate) fn again(self, args: &[&str]) -> Self {
        let port = self.url.rsplit_once(':').and_then(|(_, rest)| rest.split('/').next());
        let port = port.expect("a port").to_owned();
        drop(self);
        Self::fixture(&[&["--http", &port], args].concat())
    }

    /// Starts another and reads what it says until `find` knows the address.
    pub(crate) fn start(command: &mut Command, find: impl Fn(&str) -> Option<String>) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("starts");
        let mut lines = BufReader::new(child.stderr.take().expect("piped"));
        let mut said = String::new();
        let url = loop {
            let start = said.len();
            assert!(lines.read_line(&mut said).expect("readable") > 0, "no address in: {said}");
            if let Some(url) = find(said[start..].trim()) {
                break url;
            }
        };
        // The rest of what it says must not fill the pipe.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        Self { child, url }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer that agrees.
fn yes(method: &str, params: &Value) -> Value {
    match method {
        "elicitation/create" => json!({"action": "accept", "content": {"answer": params["message"]}}),
        "sampling/createMessage" => json!({"role": "assistant", "model": "rig", "stopReason": "endTurn",
            "content": {"type": "text", "text": "sampled"}}),
        "roots/list" => json!({"roots": [{"uri": "file:///rig", "name": "rig"}]}),
        _ => json!({}),
    }
}
