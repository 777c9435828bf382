//! The endpoint with tools made for the occasion: many, slow, panicking.

use std::{
    io::Write,
    net::TcpStream,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use tectum_core::{
    Call, Ctx, Effect, Fault, Gate, NativeReply, Payload, Prepared, Provider, Rules, SessionId, Snapshot,
    Subject, Tectum, ToolInfo, ToolRole, Wants, World, provider::Done, security::Allowlist,
};

use tokio_util::sync::CancellationToken;

use super::{Auth, Delivery, Endpoint, Handled, HttpOptions, HttpServer, Turn, Turns};
use crate::{
    client::{Conversation, Notice, Unheard},
    federation::{Federation, Settings},
};

/// The behaviour of a made-up tool.
#[derive(Clone, Copy)]
enum Does {
    Answer,
    Panic,
    PanicLater,
    Hang,
}

/// As many tools as asked for, all alike.
struct Many(usize, Does);

impl Provider for Many {
    fn tools(&self) -> Arc<[ToolInfo]> {
        let info = |n: usize| ToolInfo {
            name: format!("tool_{n}").into(),
            title: format!("Tool {n}"),
            description: "made up".into(),
            input_schema: Arc::new(json!({"type": "object"})),
            output_schema: None,
            effect: Effect::Read,
            world: World::Project,
            idempotent: true,
            primary: String::new(),
            role: ToolRole::Usual,
            server: None,
            listed: true,
            observed: true,
        };
        (0..self.0).map(info).collect()
    }

    fn prepare(&self, _: &Call) -> Result<Prepared, Fault> {
        let does = self.1;
        Ok(Prepared {
            wants: Wants { subject: Subject::None, paths: Vec::new() },
            effect: Effect::Read,
            world: World::Project,
            deadline: Duration::from_millis(50),
            max_output: 1000,
            work: Box::new(move |_: Ctx| Box::pin(act(does))),
        })
    }
}

async fn act(does: Does) -> Result<Done, Fault> {
    match does {
        Does::Answer => {}
        Does::Panic => panic!("made to fail"),
        Does::PanicLater => {
            tokio::task::yield_now().await;
            panic!("made to fail later")
        }
        Does::Hang => std::future::pending().await,
    }
    Ok(Done::new(Payload::Native(NativeReply { text: "ok".into(), structured: "{}".into() })))
}

fn house(tools: usize, does: Does) -> (tempfile::TempDir, Endpoint) {
    house_with(Rules::default(), tools, does)
}

/// One tool that answers, under these rules.
pub(super) fn ruled(rules: Rules) -> (tempfile::TempDir, Endpoint) {
    house_with(rules, 1, Does::Answer)
}

fn house_with(rules: Rules, tools: usize, does: Does) -> (tempfile::TempDir, Endpoint) {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let allowlist = Allowlist::builder().base(scratch.path()).build().expect("opens");
    let gate = Gate::new(rules, Arc::new(allowlist));
    (scratch, alone(gate, Arc::new(Many(tools, does))))
}

/// An endpoint with these tools and no servers.
fn alone(gate: Gate, tools: Arc<dyn Provider>) -> Endpoint {
    let (house, federation) = house_alone(gate, tools);
    Endpoint::new(house, federation)
}

fn house_alone(gate: Gate, tools: Arc<dyn Provider>) -> (Tectum, Arc<Federation>) {
    let base = vec![tools];
    let house = Tectum::new(Snapshot::of(&base), gate);
    (house.clone(), Federation::start(house, base, Settings::default(), Vec::new))
}

async fn ask(endpoint: &Endpoint, client: &Arc<Conversation>, method: &str, params: Value) -> Value {
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let mut out = Vec::new();
    if let Handled::Running(work) = endpoint.handle(
        &Delivery { from: client, outbox: None, turns: &Turns::new(None), modern: false, ahead: false },
        message.as_bytes(),
        &mut out,
    ) {
        out = work.await;
    }
    serde_json::from_slice(&out).expect("an answer")
}

fn client() -> Arc<Conversation> {
    Conversation::new(SessionId::new("test"), Unheard::default())
}

#[tokio::test]
async fn a_long_list_comes_in_pages_without_gap_or_repetition() {
    let (_scratch, endpoint) = house(450, Does::Answer);
    let client = client();
    let (mut names, mut params) = (Vec::new(), json!({}));
    loop {
        let page = ask(&endpoint, &client, "tools/list", params).await;
        let tools = page["result"]["tools"].as_array().expect("a list").clone();
        names.extend(tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()));
        match page["result"]["nextCursor"].as_str() {
            Some(cursor) => params = json!({"cursor": cursor}),
            None => break,
        }
    }
    let expect: Vec<String> = (0..450).map(|n| format!("tool_{n}")).collect();
    assert_eq!(names, expect);
}

#[tokio::test]
async fn servers_are_asked_for_by_the_first_request_that_needs_them_and_once() {
    let (_scratch, endpoint) = house(1, Does::Answer);
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let house = endpoint.house.clone();
    let changes = house.registry().changes();
    let base: Vec<Arc<dyn Provider>> = vec![Arc::new(Many(2, Does::Answer))];
    let federation = Federation::start(house.clone(), base, Settings::default(), move || {
        count.fetch_add(1, Ordering::Relaxed);
        Vec::new()
    });
    let endpoint = Endpoint::new(house, federation);
    let client = client();
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}});
    for (method, params, expect) in [
        ("initialize", hello, 0),
        ("ping", json!({}), 0),
        ("logging/setLevel", json!({"level": "info"}), 0),
        ("prompts/list", json!({}), 1),
        ("tools/list", json!({}), 1),
    ] {
        let answer = ask(&endpoint, &client, method, params).await;
        assert!(answer["result"].is_object(), "{answer}");
        assert_eq!(asked.load(Ordering::Relaxed), expect, "{method}");
    }
    assert!(endpoint.house.registry().snapshot().tool("tool_1").is_some());
    assert!(!changes.has_changed().expect("open"), "nobody saw another list, so nobody is told");
}

#[tokio::test]
async fn a_panicking_tool_answers_and_harms_nobody() {
    for does in [Does::Panic, Does::PanicLater] {
        let (_scratch, endpoint) = house(1, does);
        let client = client();
        for _ in 0..3 {
            let answer = ask(&endpoint, &client, "tools/call", json!({"name": "tool_0"})).await;
            assert_eq!(answer["error"]["code"], -32603, "{answer}");
            assert!(answer["error"]["data"]["call"].is_string(), "{answer}");
            assert!(!answer.to_string().contains("made to fail"), "internals stay inside: {answer}");
        }
        assert_eq!(ask(&endpoint, &client, "ping", json!({})).await["result"], json!({}));
    }
}

#[tokio::test]
async fn a_call_past_its_deadline_is_an_error_that_says_so() {
    let (_scratch, endpoint) = house(1, Does::Hang);
    let answer = ask(&endpoint, &client(), "tools/call", json!({"name": "tool_0"})).await;
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(answer["result"]["_meta"]["tectum/fault"], "timeout");
}

#[tokio::test]
async fn a_call_that_waits_for_its_turn_sees_the_tools_it_was_found_among() {
    let (_scratch, endpoint) = house(1, Does::Answer);
    let (client, turns) = (client(), Turns::new(None));
    let taken: Vec<Turn> = std::iter::repeat_with(|| turns.take()).take_while(Turn::is_taken).collect();
    let delivery = Delivery { from: &client, outbox: None, turns: &turns, modern: false, ahead: false };
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "tool_0"}});
    let handled = endpoint.handle(&delivery, message.to_string().as_bytes(), &mut Vec::new());
    let Handled::Running(work) = handled else { panic!("it has no turn yet") };
    endpoint.house.registry().replace(Snapshot::of(&[]));
    drop(taken);
    let answer: Value = serde_json::from_slice(&work.await).expect("an answer");
    assert_eq!(answer["result"]["content"][0]["text"], "ok", "{answer}");
}

#[tokio::test]
async fn a_changed_registry_is_announced_and_listed_anew() {
    let (_scratch, endpoint) = house(1, Does::Answer);
    let client = client();
    ask(&endpoint, &client, "initialize", json!({"protocolVersion": "2025-11-25"})).await;
    assert_eq!(
        ask(&endpoint, &client, "tools/list", json!({})).await["result"]["tools"].as_array().map(Vec::len),
        Some(1)
    );
    let mut changes = endpoint.house.registry().changes();
    endpoint.house.registry().replace(Snapshot::of(&[Arc::new(Many(2, Does::Answer))]));
    changes.changed().await.expect("announced");
    let told: Value = serde_json::from_slice(&client.noticed(&Notice::Tools)[0]).expect("JSON");
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(
        ask(&endpoint, &client, "tools/list", json!({})).await["result"]["tools"].as_array().map(Vec::len),
        Some(2)
    );
}

#[tokio::test]
async fn a_subscription_hears_only_what_it_asked_for() {
    let (_scratch, endpoint) = house(1, Does::Answer);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    for (wanted, heard) in [(json!({"toolsListChanged": true}), 1), (json!({"promptsListChanged": true}), 0)]
    {
        let client = client();
        let first =
            ask(&endpoint, &client, "subscriptions/listen", json!({"notifications": wanted, "_meta": meta}))
                .await;
        assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
        let messages = client.noticed(&Notice::Tools);
        assert_eq!(messages.len(), heard);
        for message in messages {
            let message: Value = serde_json::from_slice(&message).expect("JSON");
            assert_eq!(message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
        }
        client.cancel("1");
        assert!(client.noticed(&Notice::Tools).is_empty(), "a cancelled subscription hears nothing");
    }
}

/// One tool that works until it is told to stop, and remembers that it was.
struct Patient(Arc<AtomicBool>);

impl Provider for Patient {
    fn tools(&self) -> Arc<[ToolInfo]> {
        Many(1, Does::Hang).tools()
    }

    fn prepare(&self, call: &Call) -> Result<Prepared, Fault> {
        let stopped = self.0.clone();
        let mut prepared = Many(1, Does::Hang).prepare(call)?;
        prepared.deadline = Duration::from_secs(60);
        prepared.work = Box::new(move |ctx: Ctx| {
            // Work on the blocking pool goes on until it looks; this is how it looks.
            let watching = ctx.cancel.clone();
            tokio::spawn(async move {
                watching.cancelled().await;
                stopped.store(true, Ordering::SeqCst);
            });
            Box::pin(act(Does::Hang))
        });
        Ok(prepared)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_hangs_up_cancels_its_call() {
    for progress in [false, true] {
        let scratch = tempfile::tempdir().expect("a scratch directory");
        let allowlist = Allowlist::builder().base(scratch.path()).build().expect("opens");
        let stopped = Arc::new(AtomicBool::new(false));
        let gate = Gate::new(Rules::default(), Arc::new(allowlist));
        let (house, federation) = house_alone(gate, Arc::new(Patient(stopped.clone())));
        let options = HttpOptions {
            listen: ([127, 0, 0, 1], 0).into(),
            auth: Auth::None,
            allow_remote: false,
            hosts: Vec::new(),
        };
        let server = HttpServer::bind(house, federation, options).await.expect("binds");
        let address = server.address();
        let stop = CancellationToken::new();
        let running = tokio::spawn(server.run(stop.clone()));
        let mut meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {}});
        if progress {
            meta["progressToken"] = json!(1);
        }
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "tool_0", "_meta": meta}})
        .to_string();
        let mut stream = TcpStream::connect(address).expect("connects");
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: tools/call\r\nMcp-Name: tool_0\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).expect("sent");
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(!stopped.load(Ordering::SeqCst), "it runs while the client waits");
        drop(stream);
        for _ in 0..500 {
            if stopped.load(Ordering::SeqCst) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(stopped.load(Ordering::SeqCst), "the call went on without its client (progress: {progress})");
        stop.cancel();
        running.await.expect("ends").expect("serves");
    }
}

/// Waits for ever, and counts how often it was begun.
struct Counting(Arc<AtomicUsize>);

impl Provider for Counting {
    fn tools(&self) -> Arc<[ToolInfo]> {
        Many(1, Does::Hang).tools()
    }

    fn prepare(&self, call: &Call) -> Result<Prepared, Fault> {
        let begun = self.0.clone();
        let mut prepared = Many(1, Does::Hang).prepare(call)?;
        prepared.deadline = Duration::from_secs(600);
        prepared.work = Box::new(move |_: Ctx| {
            begun.fetch_add(1, Ordering::SeqCst);
            Box::pin(act(Does::Hang))
        });
        Ok(prepared)
    }
}

#[tokio::test]
async fn nothing_of_a_call_beyond_the_limit_is_begun() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let allowlist = Allowlist::builder().base(scratch.path()).build().expect("opens");
    let begun = Arc::new(AtomicUsize::new(0));
    let gate = Gate::new(Rules::default(), Arc::new(allowlist));
    let endpoint = alone(gate, Arc::new(Counting(begun.clone())));
    let client = client();
    let call = |id: usize| {
        let message =
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "tool_0"}});
        let (mut out, delivery) = (
            Vec::new(),
            Delivery { from: &client, outbox: None, turns: &Turns::new(None), modern: false, ahead: false },
        );
        let handled = endpoint.handle(&delivery, message.to_string().as_bytes(), &mut out);
        (handled, String::from_utf8_lossy(&out).into_owned())
    };
    let mut running: Vec<Handled> = (0..1024).map(|id| call(id).0).collect();
    assert!(running.iter().all(|one| matches!(one, Handled::Running(_))));
    let (handled, answer) = call(1024);
    assert!(matches!(handled, Handled::Answered) && answer.contains("too many calls in flight"), "{answer}");
    let (_, answer) = call(7);
    assert!(answer.contains("has not been answered yet"), "{answer}");
    assert_eq!(begun.load(Ordering::SeqCst), 1024);
    // One that ends gives its place to the next.
    drop(running.pop());
    assert!(matches!(call(1024).0, Handled::Running(_)));
    assert_eq!(begun.load(Ordering::SeqCst), 1025);
}
