//! Tasks of the newer era: begun by a call, asked for by their ids, wherever they are worked on;
//! and what clients and servers get that know no tasks.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
};

use serde_json::{Value, json};

use crate::{
    federated::{Client, Era, KEY, Listening, address, command, until},
    rig::{Rig, fixture, request, text},
};

const TASKS: &str = "io.modelcontextprotocol/tasks";

/// A server with tools that begin tasks.
fn worker(name: &str, theirs: Era) -> String {
    command(name, fixture(), &["--role", "conformance", "--era", theirs.word(), "--name", name], "")
}

fn able(rig: &Rig, ours: Era) -> Client {
    Client::able(rig, ours, json!({"elicitation": {"form": {}}, "extensions": {TASKS: {}}}))
}

/// A modern client, and a modern server behind the binary: on a pipe, or on HTTP.
fn modern(http: bool) -> (Rig, Option<Listening>, Client) {
    let rig = Rig::new();
    let server = http.then(|| Listening::fixture(&["--role", "conformance", "--era", "modern"]));
    rig.configure(&match &server {
        Some(server) => address("one", &server.url, ""),
        None => worker("one", Era::Modern),
    });
    let mut client = able(&rig, Era::Modern);
    client.until_listed("one__slow_compute");
    (rig, server, client)
}

fn begin(client: &mut Client, tool: &str, args: Value) -> String {
    let task = client.call(tool, args);
    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")), "{task}");
    for word in ["createdAt", "lastUpdatedAt", "ttlMs", "pollIntervalMs"] {
        assert!(!task[word].is_null(), "{word}: {task}");
    }
    task["taskId"].as_str().expect("an id").to_owned()
}

fn get(client: &mut Client, id: &str) -> Value {
    let task = client.result("tasks/get", json!({"taskId": id}));
    assert_eq!((&task["taskId"], &task["resultType"]), (&json!(id), &json!("complete")), "{task}");
    task
}

/// Asks for a task until it is in this state.
fn until_it_is(client: &mut Client, id: &str, status: &str) -> Value {
    let mut task = Value::Null;
    until(status, || {
        task = get(client, id);
        task["status"] == status
    });
    task
}

fn error(client: &mut Client, method: &str, params: Value) -> Value {
    let id = client.start(method, params);
    let answer = client.wait(id);
    assert!(answer.get("result").is_none(), "{answer}");
    answer["error"].clone()
}

#[test]
fn a_task_is_begun_asked_for_and_has_a_result() {
    for http in [false, true] {
        let (_rig, _server, mut client) = modern(http);
        let hello = client.result("server/discover", json!({}));
        assert_eq!(hello["capabilities"]["extensions"], json!({TASKS: {}}));
        let id = begin(&mut client, "one__slow_compute", json!({"seconds": 0.5, "label": "this"}));
        let task = get(&mut client, &id);
        assert!(task["status"] == "working" && task.get("result").is_none(), "{task}");
        let task = until_it_is(&mut client, &id, "completed");
        assert_eq!(text(&task["result"]), "Computed this in 0.5 s.");
        // What ends at once, and what is no task, is answered at once.
        assert_eq!(client.say("one__greet", json!({"name": "Ada"})), "Hello, Ada!");
        assert!(client.say("one__slow_compute", json!({"seconds": 0, "label": "it"})).contains("it"));
    }
}

#[test]
fn a_task_that_fails_says_how() {
    let (_rig, _server, mut client) = modern(false);
    let id = begin(&mut client, "one__failing_job", json!({}));
    let task = until_it_is(&mut client, &id, "completed");
    assert!(task["result"]["isError"] == true && text(&task["result"]) == "The job failed.", "{task}");
    let id = begin(&mut client, "one__protocol_error_job", json!({}));
    let task = until_it_is(&mut client, &id, "failed");
    let broke = json!({"code": -32603, "message": "The server broke.", "data": {"deep": [1]}});
    assert!(task["error"] == broke && task.get("result").is_none(), "{task}");
}

#[test]
fn a_task_has_its_questions_answered_one_by_one() {
    for http in [false, true] {
        let (_rig, _server, mut client) = modern(http);
        let yes = json!({"action": "accept", "content": {"confirm": true}});
        let id = begin(&mut client, "one__multi_input", json!({}));
        let open = |task: &Value| {
            let open = task["inputRequests"].as_object().into_iter().flatten();
            open.map(|(key, question)| (key.clone(), question["method"].clone())).collect::<Vec<_>>()
        };
        let asked = |key: &str| (key.to_owned(), json!("elicitation/create"));
        let task = until_it_is(&mut client, &id, "input_required");
        assert_eq!(open(&task), [asked("first"), asked("second")]);
        let update = json!({"taskId": id, "inputResponses": {"first": yes}});
        let done = client.result("tasks/update", update);
        assert!(done["resultType"] == "complete" && done.get("taskId").is_none(), "{done}");
        assert_eq!(open(&get(&mut client, &id)), [asked("second")]);
        client.result("tasks/update", json!({"taskId": id, "inputResponses": {"second": yes}}));
        let task = until_it_is(&mut client, &id, "completed");
        assert_eq!(text(&task["result"]), "Both were answered.");
        // Questions before there is a task are those of any call.
        let asking = client.begin("one__test_tool_with_task", json!({}));
        let asked = client.wait(asking)["result"].clone();
        assert!(asked["resultType"] == "input_required" && asked.get("taskId").is_none(), "{asked}");
        let name = json!({"action": "accept", "content": {"name": "Ada"}});
        let again = json!({"name": "one__test_tool_with_task", "arguments": {},
            "inputResponses": {"user_name": name}});
        let task = client.result("tools/call", again);
        let task = until_it_is(&mut client, task["taskId"].as_str().expect("an id"), "completed");
        assert_eq!(text(&task["result"]), "Hello, \"Ada\".");
    }
}

#[test]
fn a_task_is_cancelled() {
    for http in [false, true] {
        let (_rig, _server, mut client) = modern(http);
        for (tool, args) in
            [("one__slow_compute", json!({"seconds": 60})), ("one__confirm_delete", json!({"filename": "f"}))]
        {
            let id = begin(&mut client, tool, args);
            for _ in 0..2 {
                let done = client.result("tasks/cancel", json!({"taskId": id}));
                assert!(done["resultType"] == "complete" && done.get("taskId").is_none(), "{done}");
                assert_eq!(get(&mut client, &id)["status"], "cancelled");
            }
        }
    }
}

#[test]
fn tasks_of_servers_that_give_the_same_ids_stay_apart() {
    let rig = Rig::new();
    let (one, two) = (worker("one", Era::Modern), worker("two", Era::Modern));
    rig.configure(&format!("[federation]\nexposure = \"all\"\n{one}{two}"));
    let mut client = able(&rig, Era::Modern);
    for name in ["one", "two"] {
        client.until_listed(&format!("{name}__slow_compute"));
    }
    let mut ids = Vec::new();
    for round in 0..5 {
        for name in ["one", "two"] {
            let label = format!("{name} {round}");
            let args = json!({"seconds": 0.2, "label": label});
            ids.push((begin(&mut client, &format!("{name}__slow_compute"), args), label));
        }
    }
    for (id, label) in &ids {
        let task = until_it_is(&mut client, id, "completed");
        assert_eq!(text(&task["result"]), format!("Computed {label} in 0.2 s."));
    }
    // Cancelling one is not cancelling the other.
    let long = json!({"seconds": 60, "label": "long"});
    let [one, two] =
        ["one", "two"].map(|name| begin(&mut client, &format!("{name}__slow_compute"), long.clone()));
    client.result("tasks/cancel", json!({"taskId": two}));
    assert_eq!(get(&mut client, &two)["status"], "cancelled");
    assert_eq!(get(&mut client, &one)["status"], "working");
}

/// Begins to listen and waits for the first word: the request's id, and what was agreed to.
fn listen(client: &mut Client, ids: Value) -> (u64, Value) {
    let id = client.start("subscriptions/listen", json!({"notifications": {"taskIds": ids}}));
    loop {
        if let Some(note) = client.notes.pop() {
            assert_eq!(note["method"], "notifications/subscriptions/acknowledged", "{note}");
            assert_eq!(note["params"]["_meta"][format!("{KEY}subscriptionId")], id, "{note}");
            return (id, note["params"]["notifications"].clone());
        }
        client.hear();
    }
}

/// The notices about tasks since the last question: subscription, task and its state.
fn told(client: &mut Client) -> Vec<(Value, Value, Value)> {
    let notes = std::mem::take(&mut client.notes).into_iter();
    let told =
        notes.filter(|note| note["method"] == "notifications/tasks").map(|note| note["params"].clone());
    let subscription = format!("{KEY}subscriptionId");
    told.map(|task| (task["_meta"][&subscription].clone(), task["taskId"].clone(), task["status"].clone()))
        .collect()
}

#[test]
fn changes_of_a_task_are_told_to_who_listens_for_it() {
    for http in [false, true] {
        let rig = Rig::new();
        let servers = ["one", "two"].map(|name| {
            let args = ["--role", "conformance", "--era", "modern", "--name", name];
            let server = http.then(|| Listening::fixture(&args));
            let table = match &server {
                Some(server) => address(name, &server.url, ""),
                None => worker(name, Era::Modern),
            };
            (table, server)
        });
        rig.configure(&format!("[federation]\nexposure = \"all\"\n{}{}", servers[0].0, servers[1].0));
        let mut client = able(&rig, Era::Modern);
        let long = json!({"seconds": 60, "label": "long"});
        let mut start = |name: &str| {
            client.until_listed(&format!("{name}__slow_compute"));
            begin(&mut client, &format!("{name}__slow_compute"), long.clone())
        };
        let (first, second, third) = (start("one"), start("two"), start("two"));
        client.notes.clear();
        // One that nobody knows is not agreed to.
        let (one, agreed) = listen(&mut client, json!([first, "unknown"]));
        assert_eq!(agreed, json!({"taskIds": [first]}));
        let (two, agreed) = listen(&mut client, json!([second]));
        assert_eq!(agreed, json!({"taskIds": [second]}));
        for id in [&first, &second, &third] {
            client.result("tasks/cancel", json!({"taskId": id}));
        }
        let mut heard = Vec::new();
        until("both changes", || {
            get(&mut client, &third);
            heard.extend(told(&mut client));
            heard.len() >= 2
        });
        heard.sort_by_key(|(subscription, ..)| subscription.as_u64());
        let cancelled = json!("cancelled");
        let expect = [(one, &first), (two, &second)]
            .map(|(subscription, id)| (json!(subscription), json!(id), cancelled.clone()));
        assert_eq!(heard, expect, "each subscription hears of its own, and nobody of the third");
        // Who listens no longer hears nothing.
        client.cancel(one);
        client.result("tasks/cancel", json!({"taskId": first}));
        client.result("tasks/cancel", json!({"taskId": second}));
        until("the other's change", || {
            get(&mut client, &third);
            heard = told(&mut client);
            !heard.is_empty()
        });
        assert_eq!(heard, [(json!(two), json!(second), cancelled)]);
    }
}

#[test]
fn what_is_told_of_a_task_before_the_answer_comes_after_it_and_to_its_client_alone() {
    for http in [false, true] {
        let (_rig, _server, mut client) = modern(http);
        for round in 0..3 {
            client.notes.clear();
            let args = json!({"seconds": 60, "label": "long", "early": 3});
            let id = begin(&mut client, "one__slow_compute", args);
            let words = |client: &Client| -> Vec<(Value, Value)> {
                let tasks = client.notes.iter().filter(|note| note["method"] == "notifications/tasks");
                tasks
                    .map(|note| &note["params"])
                    .map(|task| (task["taskId"].clone(), task["statusMessage"].clone()))
                    .collect()
            };
            assert_eq!(words(&client), [], "nothing is told of what it cannot know, round {round}");
            until("what was told before", || {
                get(&mut client, &id);
                words(&client).len() >= 3
            });
            let expect = [0, 1, 2].map(|number| (json!(id), json!(format!("early {number}"))));
            assert_eq!(words(&client), expect);
        }
    }
}

#[test]
fn over_http_too_each_subscription_hears_of_its_own_task_alone() {
    let rig = Rig::new();
    rig.configure(&worker("one", Era::Modern));
    let http = rig.http();
    let post = |method: &str, name: Option<&str>, mut params: Value| {
        params["_meta"] = json!({format!("{KEY}protocolVersion"): "2026-07-28",
            format!("{KEY}clientCapabilities"): {"extensions": {TASKS: {}}}});
        let mut headers = http.headers();
        headers.push(("MCP-Protocol-Version".into(), "2026-07-28".into()));
        headers.push(("Mcp-Method".into(), method.into()));
        headers.extend(name.map(|name| ("Mcp-Name".to_owned(), name.to_owned())));
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
        let mut stream = http.connect();
        stream.write_all(request("POST", "/mcp", &headers, &body).as_bytes()).expect("sent");
        BufReader::new(stream)
    };
    // The next message, whether it is the whole body or an event.
    let next = |stream: &mut BufReader<TcpStream>| -> Value {
        loop {
            let mut line = String::new();
            assert!(stream.read_line(&mut line).expect("open") > 0, "the stream ended");
            let json = line.strip_prefix("data: ").unwrap_or(&line);
            if json.starts_with('{') {
                return serde_json::from_str(json).expect("JSON");
            }
        }
    };
    let name = "one__slow_compute";
    until("its tools", || next(&mut post("tools/list", None, json!({}))).to_string().contains(name));
    let mut following = [1, 2].map(|_| {
        let call = json!({"name": name, "arguments": {"seconds": 60, "label": "long"}});
        let task = next(&mut post("tools/call", Some(name), call))["result"]["taskId"].clone();
        let mut stream = post("subscriptions/listen", None, json!({"notifications": {"taskIds": [task]}}));
        let first = next(&mut stream);
        assert_eq!(first["params"]["notifications"], json!({"taskIds": [task]}), "{first}");
        (task, stream)
    });
    // Each is told twice, so that what belongs to the other would be heard in between.
    for _ in 0..2 {
        for (task, _) in &following {
            let cancelled = next(&mut post("tasks/cancel", task.as_str(), json!({"taskId": task})));
            assert!(cancelled.get("result").is_some(), "{cancelled}");
        }
    }
    for (task, stream) in &mut following {
        for _ in 0..2 {
            let note = next(stream);
            assert_eq!(note["method"], "notifications/tasks", "{note}");
            assert_eq!((&note["params"]["taskId"], &note["params"]["status"]), (&*task, &json!("cancelled")));
        }
    }
}

#[test]
fn what_is_no_task_and_who_knows_none_is_told_so() {
    let (rig, _server, mut client) = modern(false);
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let unknown = error(&mut client, method, json!({"taskId": "none", "inputResponses": {}}));
        assert_eq!(unknown["code"], -32602, "{unknown}");
        assert_eq!(error(&mut client, method, json!({"taskId": 7}))["code"], -32602);
    }
    for method in ["tasks/list", "tasks/result"] {
        assert_eq!(error(&mut client, method, json!({"taskId": "none"}))["code"], -32601);
    }
    let mut plain = Client::able(&rig, Era::Modern, json!({}));
    plain.until_listed("one__slow_compute");
    // A server does without a task where it can, and says what it needs where it cannot.
    assert!(plain.say("one__slow_compute", json!({"seconds": 0.1, "label": "it"})).contains("it"));
    let needs = error(&mut plain, "tools/call", json!({"name": "one__failing_job", "arguments": {}}));
    assert_eq!(needs["code"], -32021, "{needs}");
    assert_eq!(needs["data"]["requiredCapabilities"]["extensions"], json!({TASKS: {}}));
    let listening = json!({"notifications": {"taskIds": ["task-1"]}});
    for (method, params) in [("tasks/get", json!({"taskId": "task-1"})), ("subscriptions/listen", listening)]
    {
        let refused = error(&mut plain, method, params);
        assert_eq!((&refused["code"], &refused["data"]), (&needs["code"], &needs["data"]));
    }
}

#[test]
fn clients_and_servers_of_the_older_era_know_no_tasks() {
    for (ours, theirs) in [(Era::Legacy, Era::Modern), (Era::Modern, Era::Legacy), (Era::Legacy, Era::Legacy)]
    {
        let rig = Rig::new();
        rig.configure(&worker("one", theirs));
        // Whatever it says: it could not ask for a task.
        let mut client = able(&rig, ours);
        client.until_listed("one__slow_compute");
        let done = client.call("one__slow_compute", json!({"seconds": 0.1, "label": "it"}));
        assert!(text(&done).contains("it") && done.get("taskId").is_none(), "{ours:?} {theirs:?}: {done}");
        let needs = error(&mut client, "tools/call", json!({"name": "one__failing_job", "arguments": {}}));
        assert_eq!(needs["code"], -32021, "{ours:?} {theirs:?}: {needs}");
        let code = if ours == Era::Legacy { -32601 } else { -32602 };
        assert_eq!(error(&mut client, "tasks/get", json!({"taskId": "task-1"}))["code"], code);
    }
}
