//! A scratch project with its own home, and clients that speak to the real binary.

use std::{
    ffi::OsString,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio},
    time::Duration,
};

use serde_json::{Value, json};

/// The token every HTTP rig uses.
pub(crate) const TOKEN: &str = "00112233445566778899aabbccddeeff";

/// A project of its own, a home of its own.
pub(crate) struct Rig {
    scratch: tempfile::TempDir,
    environment: Vec<(String, OsString)>,
}

impl Rig {
    pub(crate) fn new() -> Self {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        std::fs::create_dir(scratch.path().join("project")).expect("made");
        std::fs::create_dir(scratch.path().join("home")).expect("made");
        let run = scratch.path().join("run");
        std::fs::DirBuilder::new().mode(0o700).create(run).expect("made");
        Self { scratch, environment: Vec::new() }
    }

    /// With files in the project.
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        let rig = Self::new();
        for (path, content) in files {
            rig.write(path, content);
        }
        rig
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.scratch.path().join("project")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.scratch.path().join("home")
    }

    pub(crate) fn outside(&self) -> &Path {
        self.scratch.path()
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.project().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        std::fs::write(path, content).expect("written");
    }

    pub(crate) fn read(&self, path: &str) -> String {
        String::from_utf8_lossy(&std::fs::read(self.project().join(path)).expect("readable")).into_owned()
    }

    /// The binary, in the project, with this rig's home and nothing of ours in its environment.
    pub(crate) fn tectum(&self) -> Command {
        self.command(env!("CARGO_BIN_EXE_tectum"))
    }

    /// Another program, set up the same way.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.project())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home())
            .env("XDG_STATE_HOME", self.home().join("state"))
            .env("XDG_CONFIG_HOME", self.home().join("config"))
            .env("XDG_RUNTIME_DIR", self.scratch.path().join("run"))
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// One more variable for everything that is started from now on.
    pub(crate) fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.environment.push((name.to_owned(), value.into()));
    }

    /// Writes the configuration of the rig's user. A project's own file may not start programs.
    pub(crate) fn configure(&self, text: &str) {
        let folder = self.home().join("config/tectum");
        std::fs::create_dir_all(&folder).expect("made");
        std::fs::write(folder.join("tectum.toml"), text).expect("written");
    }

    /// Runs the binary to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Output {
        self.tectum().args(args).stdin(Stdio::null()).output().expect("runs")
    }

    /// A client on standard input and output, after the handshake.
    pub(crate) fn stdio(&self) -> Stdin {
        let mut client = self.stdio_raw();
        client.handshake();
        client
    }

    /// The same with more arguments.
    pub(crate) fn stdio_with(&self, args: &[&str]) -> Stdin {
        let mut client = self.stdio_raw_with(args);
        client.handshake();
        client
    }

    /// The same before any handshake.
    pub(crate) fn stdio_raw(&self) -> Stdin {
        self.stdio_raw_with(&[])
    }

    pub(crate) fn stdio_raw_with(&self, args: &[&str]) -> Stdin {
        let mut command = self.tectum();
        command.arg("serve").args(args);
        Self::client(command)
    }

    /// A client of whatever a command starts, before any handshake.
    pub(crate) fn client(mut command: Command) -> Stdin {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("starts");
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("piped"));
        Stdin { child, stdin, stdout, next: 0 }
    }

    /// A server on HTTP, on a port of its own.
    pub(crate) fn http(&self) -> Http {
        self.http_with(&[], Some(TOKEN))
    }

    /// The same with more arguments, and a token or none.
    pub(crate) fn http_with(&self, args: &[&str], token: Option<&str>) -> Http {
        self.http_at("127.0.0.1:0", args, token)
    }

    /// The same at an address of the loopback.
    pub(crate) fn http_at(&self, listen: &str, args: &[&str], token: Option<&str>) -> Http {
        let mut command = self.tectum();
        command.args(["up", "--listen", listen]).args(args).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(token) = token {
            command.env("TECTUM_TOKEN", token);
        }
        let mut child = command.spawn().expect("starts");
        let mut lines = BufReader::new(child.stdout.take().expect("piped"));
        let mut shown = String::new();
        let port = loop {
            let start = shown.len();
            assert!(lines.read_line(&mut shown).expect("readable") > 0, "no address in: {shown}");
            if let Some(at) = shown[start..].find("http://127.0.0.1:") {
                let digits = &shown[start + at + "http://127.0.0.1:".len()..];
                let digits: String = digits.chars().take_while(char::is_ascii_digit).collect();
                break digits.parse().expect("a port");
            }
        };
        // The rest of what it prints must not fill the pipe.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        Http { child, port, token: token.map(str::to_owned), session: None }
    }
}

/// A terminal: the end where somebody sits, and the end a program gets.
pub(crate) fn terminal() -> (std::fs::File, std::fs::File) {
    use rustix::pty;
    let ours = pty::openpt(pty::OpenptFlags::RDWR | pty::OpenptFlags::NOCTTY).expect("a terminal");
    pty::grantpt(&ours).and_then(|()| pty::unlockpt(&ours)).expect("opened");
    let name = pty::ptsname(&ours, Vec::new()).expect("a name").into_string().expect("UTF-8");
    let theirs = std::fs::OpenOptions::new().read(true).write(true).open(name).expect("opens");
    (std::fs::File::from(ours), theirs)
}

/// Our own server to put behind the binary; cargo builds it with the tests.
pub(crate) fn fixture() -> PathBuf {
    let beside = Path::new(env!("CARGO_BIN_EXE_tectum")).parent().expect("a directory");
    let fixture = beside.join("examples/fixture");
    assert!(fixture.is_file(), "{} is not built: run all tests of the package", fixture.display());
    fixture
}

/// A client on a pipe. Every wait ends: a silent server fails the test through the runner's limit.
pub(crate) struct Stdin {
    pub(crate) child: Child,
    pub(crate) stdin: Option<ChildStdin>,
    pub(crate) stdout: BufReader<ChildStdout>,
    next: u64,
}

impl Stdin {
    pub(crate) fn handshake(&mut self) -> Value {
        let hello = self.request(
            "initialize",
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "rig", "version": "1"}}),
        );
        self.notify("notifications/initialized", json!({}));
        hello
    }

    pub(crate) fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().expect("open");
        stdin.write_all(line.as_bytes()).expect("written");
        stdin.write_all(b"\n").expect("written");
        stdin.flush().expect("flushed");
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// The next message, whatever it is.
    pub(crate) fn receive(&mut self) -> Value {
        let mut line = String::new();
        let read = self.stdout.read_line(&mut line).expect("readable");
        assert!(read > 0, "the server closed its output");
        serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("stdout carries only protocol: {error}: {line}"))
    }

    /// Sends a request and returns its whole answer.
    pub(crate) fn exchange(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        // What stays in the model's sight may be told of at any time; nothing else comes unasked.
        let anchors = "notifications/resources/list_changed";
        let mut answer = self.receive();
        while answer["method"] == anchors {
            answer = self.receive();
        }
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Sends a request and returns its result.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let answer = self.exchange(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Calls a tool and returns its result.
    pub(crate) fn call(&mut self, tool: &str, args: Value) -> Value {
        self.request("tools/call", json!({"name": tool, "arguments": args}))
    }

    /// Closes standard input and waits for the end.
    pub(crate) fn close(mut self) -> (std::process::ExitStatus, String) {
        drop(self.stdin.take());
        let mut stderr = String::new();
        self.child.stderr.take().expect("piped").read_to_string(&mut stderr).expect("readable");
        (self.child.wait().expect("ends"), stderr)
    }
}

impl Drop for Stdin {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text of a tool result.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {result}"))
}

/// An address where nobody listens, and nobody else can begin to as long as the socket is held.
pub(crate) fn deserted() -> (tokio::net::TcpSocket, std::net::SocketAddr) {
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, 1], 0).into()).expect("a port");
    let address = socket.local_addr().expect("an address");
    (socket, address)
}

/// A server on HTTP, and a client that controls every header.
pub(crate) struct Http {
    pub(crate) child: Child,
    pub(crate) port: u16,
    pub(crate) token: Option<String>,
    pub(crate) session: Option<String>,
}

/// An answer on HTTP.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The JSON of the body, or of its last event.
    pub(crate) fn json(&self) -> Value {
        let body = match self.body.lines().rev().find_map(|line| line.strip_prefix("data: ")) {
            Some(event) => event,
            None => &self.body,
        };
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Http {
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// The headers of an ordinary client.
    pub(crate) fn headers(&self) -> Vec<(String, String)> {
        let mut headers = vec![
            ("Host".into(), format!("127.0.0.1:{}", self.port)),
            ("Content-Type".into(), "application/json".into()),
            ("Accept".into(), "application/json, text/event-stream".into()),
        ];
        if let Some(token) = &self.token {
            headers.push(("Authorization".into(), format!("Bearer {token}")));
        }
        if let Some(session) = &self.session {
            headers.push(("Mcp-Session-Id".into(), session.clone()));
        }
        headers
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("connects");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("set");
        stream
    }

    /// Sends a request exactly as given and reads the answer to its end.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &[(String, String)], body: &str) -> Answer {
        exchange(self.connect(), method, path, headers, body)
    }

    pub(crate) fn post(&self, body: &Value) -> Answer {
        self.send("POST", "/mcp", &self.headers(), &body.to_string())
    }

    pub(crate) fn handshake(&mut self) -> Value {
        self.handshake_as(json!({}))
    }

    /// A session of a client that can do this.
    pub(crate) fn handshake_as(&mut self, capabilities: Value) -> Value {
        self.session = None;
        let hello = self.post(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": {"name": "rig", "version": "1"}}}));
        self.session = hello.header("mcp-session-id").map(str::to_owned);
        assert_eq!(self.post(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).status, 202);
        hello.json()
    }

    pub(crate) fn call(&self, tool: &str, args: Value) -> Value {
        let answer = self.post(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": tool, "arguments": args}}));
        answer.json()["result"].clone()
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a request on a connection exactly as given and reads the answer to its end.
pub(crate) fn exchange(
    mut stream: TcpStream,
    method: &str,
    path: &str,
    headers: &[(String, String)],
    body: &str,
) -> Answer {
    // Whoever is refused early may find the connection closed before all was sent.
    let _ = stream.write_all(request(method, path, headers, body).as_bytes());
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    parse(&bytes)
}

/// The bytes of a request that closes its connection.
pub(crate) fn request(method: &str, path: &str, headers: &[(String, String)], body: &str) -> String {
    let mut text = format!("{method} {path} HTTP/1.1\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str(&format!("Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len()));
    text
}

fn parse(bytes: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    let body = if head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
        unchunk(body)
    } else {
        body.into()
    };
    Answer { status, head: head.to_owned(), body }
}

fn unchunk(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 || after.len() < size {
            break;
        }
        body.push_str(&after[..size]);
        rest = after[size..].trim_start_matches("\r\n");
    }
    body
}
