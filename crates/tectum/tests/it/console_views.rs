//! What the console shows and does, over the routes of the real binary: calls, sessions, tools, servers, policy.

use std::thread;

use serde_json::{Value, json};

use crate::{
    console_routes::Page,
    federated::{echo, until},
    rig::{Http, Rig},
};

fn rig() -> Rig {
    let rig = Rig::with(&[("a.txt", "one\ntwo\nthree\n")]);
    rig.configure("[permissions]\nask = [\"delete_file\"]\n");
    rig
}

fn house(rig: &Rig) -> Http {
    let mut house = rig.http();
    house.handshake();
    house
}

fn list<'v>(value: &'v Value, name: &str) -> &'v Vec<Value> {
    value[name].as_array().unwrap_or_else(|| panic!("no list `{name}` in {value}"))
}

fn texts(values: &[Value], member: &str) -> Vec<String> {
    values
        .iter()
        .map(|one| one[member].as_str().unwrap_or_else(|| panic!("{member} in {one}")).to_owned())
        .collect()
}

fn edit(house: &Http) -> Value {
    house.call("edit_file", json!({"path": "a.txt", "old_string": "two", "new_string": "TWO"}))
}

#[test]
fn calls_are_read_a_page_at_a_time_and_filtered() {
    let rig = rig();
    let house = house(&rig);
    for _ in 0..5 {
        house.call("read_file", json!({"path": "a.txt"}));
    }
    house.call("read_file", json!({"path": "absent.txt"}));
    edit(&house);
    let page = Page::open(&rig, &house);
    let first = page.get("/api/console/calls?limit=3");
    assert_eq!(first["total_known"], 7);
    assert_eq!(texts(list(&first, "calls"), "tool"), ["edit_file", "read_file", "read_file"]);
    let newest = &list(&first, "calls")[0];
    assert_eq!(
        (&newest["subject"], &newest["ok"], &newest["verdict"], &newest["client"]),
        (&json!("a.txt"), &json!(true), &json!("allowed"), &json!("rig"))
    );
    let mut seen = texts(list(&first, "calls"), "call");
    let mut next = first["next"].clone();
    while let Some(cursor) = next.as_str() {
        let more = page.get(&format!("/api/console/calls?limit=3&before={cursor}"));
        seen.extend(texts(list(&more, "calls"), "call"));
        next = more["next"].clone();
    }
    let all = page.get("/api/console/calls");
    assert_eq!((seen.len(), all["next"].is_null()), (7, true));
    assert_eq!(texts(list(&all, "calls"), "call"), seen, "each once, in order");
    let ids = |query: &str| list(&page.get(&format!("/api/console/calls?{query}")), "calls").len();
    for (query, expect) in [
        ("tool=edit_*", 1),
        ("failed=true", 1),
        ("tool=&q=&since=", 7),
        ("q=absent.txt", 1),
        ("verdict=allowed", 7),
        ("verdict=asked", 0),
        ("client=ri", 7),
        ("client=other", 0),
        ("server=none", 0),
        ("since=1h", 7),
        ("until=2020-01-01", 0),
    ] {
        assert_eq!(ids(query), expect, "{query}");
    }
    // What is newer than a place, for a table that was away.
    let cursor = page.get("/api/console/calls?limit=2")["next"].as_str().expect("a cursor").to_owned();
    let newer = page.get(&format!("/api/console/calls?after={cursor}"));
    assert_eq!(texts(list(&newer, "calls"), "call"), seen[..1], "{newer}");
    for wrong in ["limit=many", "failed=maybe", "failed=", "before=x", "since=soon", "verdict=maybe"] {
        let answer = page.send("GET", &format!("/api/console/calls?{wrong}"), &json!({}));
        assert_eq!(answer.status, 400, "{wrong}: {answer:?}");
    }
}

#[test]
fn one_call_is_told_whole() {
    let rig = rig();
    let house = house(&rig);
    let sent = edit(&house);
    let page = Page::open(&rig, &house);
    let id = list(&page.get("/api/console/calls"), "calls")[0]["call"].as_str().expect("an id").to_owned();
    let call = page.get(&format!("/api/console/calls/{id}"));
    assert_eq!(call["arguments"]["new_string"], "TWO");
    assert_eq!(call["effect"], "change");
    assert_eq!(list(&call, "paths").len(), 1);
    assert_eq!(call["cli"], format!("tectum log show {id}"));
    assert!(sent["content"][0]["text"].as_str().expect("a text").starts_with(
        call["sent"][0]["text"].as_str().expect("what was sent").lines().next().expect("a line")
    ));
    assert!(list(&call, "change")[0]["diff"].as_str().expect("a diff").contains("+TWO"), "{call}");
    assert_eq!(call["entry"]["id"], json!(id));
    let unknown = page.send("GET", "/api/console/calls/c-0123456789abcdef", &json!({}));
    assert_eq!(unknown.status, 404, "{unknown:?}");
}

#[test]
fn a_session_is_told_exported_replayed_and_taken_back() {
    let rig = rig();
    let house = house(&rig);
    house.call("read_file", json!({"path": "a.txt"}));
    edit(&house);
    let page = Page::open(&rig, &house);
    let sessions = page.get("/api/console/sessions");
    let name = list(&sessions, "sessions")[0]["name"].as_str().expect("a name").to_owned();
    let at = format!("/api/console/sessions/{name}");
    let session = page.get(&at);
    assert_eq!(texts(list(&session, "calls"), "tool"), ["read_file", "edit_file"]);
    assert_eq!((&session["files"][0]["changes"], &session["files"][0]["reads"]), (&json!(1), &json!(1)));
    assert_eq!(session["client"], "rig");
    assert_eq!(list(&page.get("/api/console/sessions?q=rig"), "sessions").len(), 1);
    assert_eq!(list(&page.get("/api/console/sessions?q=TWO"), "sessions").len(), 1, "words of its calls");
    assert_eq!(list(&page.get("/api/console/sessions?q=nonsense"), "sessions").len(), 0);

    let diff = page.get(&format!("{at}/diff?path=a.txt"));
    assert_eq!(diff["state"], "as left", "{diff}");
    assert!(
        diff["diff"].as_str().is_some_and(|diff| diff.contains("-two") && diff.contains("+TWO")),
        "{diff}"
    );
    let export = page.send("GET", &format!("{at}/export?format=jsonl"), &json!({}));
    assert_eq!((export.status, export.body.lines().count()), (200, 2), "{export:?}");
    assert!(export.header("content-disposition").is_some_and(|kind| kind.starts_with("attachment")));
    let report = page.send("GET", &format!("{at}/export?format=markdown"), &json!({}));
    assert!(report.body.starts_with("# Session "), "{report:?}");
    assert_eq!(page.send("GET", &format!("{at}/export?format=pdf"), &json!({})).status, 400);

    let replayed = page.post(&format!("{at}/replay"), &json!({}));
    assert_eq!((&replayed["calls"], &replayed["same"]), (&json!(2), &json!(2)), "{replayed}");
    let shown = page.post(&format!("{at}/undo"), &json!({"dry_run": true}));
    assert_eq!((&shown["done"], &shown["files"][0]["what"]), (&json!(false), &json!("restored")), "{shown}");
    assert!(rig.read("a.txt").contains("TWO"));
    let done = page.post(&format!("{at}/undo"), &json!({"dry_run": false}));
    assert_eq!(done["done"], true, "{done}");
    assert_eq!(rig.read("a.txt"), "one\ntwo\nthree\n");
    for (path, body) in [("undo", json!({"dry_run": true})), ("replay", json!({}))] {
        let unknown = page.send("POST", &format!("/api/console/sessions/s-none/{path}"), &body);
        assert_eq!(unknown.status, 404, "{unknown:?}");
        let option = page.send("POST", &format!("/api/console/sessions/--help/{path}"), &body);
        assert_eq!(option.status, 404, "{option:?}");
    }
    let wrong = page.send("POST", &format!("{at}/undo"), &json!({"since": "--yes"}));
    assert_eq!(wrong.status, 400, "{wrong:?}");
}

#[test]
fn figures_say_what_the_list_says() {
    let rig = rig();
    let house = house(&rig);
    for _ in 0..4 {
        house.call("read_file", json!({"path": "a.txt"}));
    }
    house.call("read_file", json!({"path": "absent.txt"}));
    let page = Page::open(&rig, &house);
    let stats = page.get("/api/console/stats?buckets=10");
    let sum = |name: &str| {
        list(&stats, "series").iter().map(|one| one[name].as_u64().expect("a number")).sum::<u64>()
    };
    assert_eq!((list(&stats, "series").len(), sum("calls"), sum("errors")), (10, 5, 1), "{stats}");
    let heat: u64 = list(&stats["heat"], "counts")
        .iter()
        .flat_map(|row| row.as_array().expect("a row"))
        .map(|count| count.as_u64().expect("a number"))
        .sum();
    assert_eq!(heat, 5);
    assert_eq!((&stats["tools"][0]["tool"], &stats["tools"][0]["errors"]), (&json!("read_file"), &json!(1)));
    let session =
        list(&page.get("/api/console/sessions"), "sessions")[0]["name"].as_str().expect("a name").to_owned();
    let of_it = page.get(&format!("/api/console/stats?session={session}"));
    assert_eq!(of_it["tools"][0]["calls"], 5, "{of_it}");
}

#[test]
fn a_tool_is_tried_under_the_same_rules_and_switched_off_and_on() {
    let rig = rig();
    let house = house(&rig);
    let page = Page::open(&rig, &house);
    let tools = page.get("/api/console/tools");
    let named = |name: &str| {
        let tools = page.get("/api/console/tools");
        list(&tools, "tools").iter().find(|tool| tool["name"] == name).expect("the tool").clone()
    };
    assert!(tools["tokens_total"].as_u64().is_some_and(|tokens| tokens > 1000));
    assert_eq!(
        (&named("delete_file")["permission"], &named("read_file")["permission"]),
        (&json!("ask"), &json!("allow"))
    );
    let done = page.post("/api/console/tools/read_file/call", &json!({"arguments": {"path": "a.txt"}}));
    assert_eq!((&done["ok"], &done["client"]), (&json!(true), &json!("console")), "{done}");
    assert!(done["sent"][0]["text"].as_str().expect("a text").contains("three"), "{done}");
    assert_eq!((&named("read_file")["calls"], &named("read_file")["errors"]), (&json!(1), &json!(0)));
    let failed =
        page.post("/api/console/tools/read_file/call", &json!({"arguments": {"path": "absent.txt"}}));
    assert_eq!((&failed["ok"], &failed["fault"]["kind"]), (&json!(false), &json!("not_found")), "{failed}");
    // A rule that asks asks here as well, and the same person answers.
    thread::scope(|scope| {
        let asking = scope.spawn(|| {
            page.post("/api/console/tools/delete_file/call", &json!({"arguments": {"path": "a.txt"}}))
        });
        let mut question = Value::Null;
        until("a question", || {
            question = page.get("/api/approvals")["approvals"][0].clone();
            !question.is_null()
        });
        assert_eq!(page.get("/api/console/now")["questions"][0]["id"], question["id"]);
        let answer = format!("/api/approvals/{}/answer", question["id"].as_str().expect("an id"));
        page.post(&answer, &json!({"decision": "deny", "reason": "not that one"}));
        let denied = asking.join().expect("ends");
        assert_eq!((&denied["ok"], &denied["verdict"]), (&json!(false), &json!("denied")), "{denied}");
        assert_eq!(denied["asked"]["by"], "console", "{denied}");
    });
    assert_eq!(rig.read("a.txt"), "one\ntwo\nthree\n");
    assert_eq!(page.send("POST", "/api/console/tools/nonsense/call", &json!({})).status, 404);

    let off = page.post("/api/console/tools/move_file/switch", &json!({"on": false}));
    assert!(off["diff"].as_str().is_some_and(|diff| diff.contains("move_file")), "{off}");
    until("it is off", || named("move_file")["on"] == false);
    page.post("/api/console/tools/move_file/switch", &json!({"on": true}));
    until("it is on", || named("move_file")["on"] == true);
    let again = page.send("POST", "/api/console/tools/move_file/switch", &json!({"on": true}));
    assert_eq!(again.status, 409, "{again:?}");
    assert_eq!(page.send("POST", "/api/console/tools/nonsense/switch", &json!({"on": true})).status, 404);
}

#[test]
fn servers_are_told_and_acted_on_as_the_commands_do() {
    let rig = rig();
    rig.configure(&echo("one", &[], ""));
    let house = house(&rig);
    let page = Page::open(&rig, &house);
    let named = |name: &str| {
        let servers = page.get("/api/console/servers");
        list(&servers, "servers").iter().find(|server| server["name"] == name).cloned().unwrap_or_default()
    };
    until("it runs", || named("one")["state"] == "ready");
    let one = named("one");
    assert_eq!(
        (&one["transport"], &one["trust"], &one["url"]),
        (&json!("stdio"), &json!("not needed"), &Value::Null)
    );
    assert!(one["command"].as_str().is_some_and(|command| command.contains("fixture")), "{one}");
    assert!(one["from"]["line"].as_u64().is_some(), "{one}");
    assert_eq!(page.get("/api/console/now")["servers"][0]["name"], "one");
    let act = |act: &str| page.send("POST", &format!("/api/console/servers/one/{act}"), &json!({}));
    assert_eq!(act("restart").status, 200);
    until("it was restarted", || {
        named("one")["starts"].as_u64().is_some_and(|starts| starts >= 1) && named("one")["state"] == "ready"
    });
    let off = act("disable");
    assert_eq!(off.status, 200, "{off:?}");
    assert!(off.json()["diff"].as_str().is_some_and(|diff| diff.contains("enabled = false")), "{off:?}");
    until("it is off", || named("one")["state"] == "disabled");
    assert_eq!(act("enable").status, 200);
    until("it is on", || named("one")["state"] != "disabled");
    let new = json!({"name": "two", "command": ["true", "--flag"], "env": ["TOKEN=${TWO}"]});
    let shown =
        page.post("/api/console/servers", &json!({"name": "two", "command": ["true"], "dry_run": true}));
    assert_eq!(shown["done"], false);
    assert!(shown["diff"].as_str().is_some_and(|diff| diff.contains("[servers.two]")), "{shown}");
    assert_eq!(named("two"), Value::Null);
    page.post("/api/console/servers", &new);
    assert_eq!(page.send("POST", "/api/console/servers", &new).status, 409);
    until("it is there", || !named("two").is_null());
    assert_eq!(page.send("POST", "/api/console/servers/two/remove", &json!({})).status, 200);
    until("it is gone", || named("two").is_null());
    for (path, status) in [("one/nonsense", 404), ("absent/restart", 404), ("--help/restart", 404)] {
        let answer = page.send("POST", &format!("/api/console/servers/{path}"), &json!({}));
        assert_eq!(answer.status, status, "{path}: {answer:?}");
    }
    let trusted = act("trust");
    assert_eq!(trusted.status, 400, "one's own needs none: {trusted:?}");
    let found = page.post("/api/console/servers/import", &json!({}));
    assert_eq!(found["done"], false, "{found}");
    let nobody = page.send("POST", "/api/console/servers/import", &json!({"from": ""}));
    assert_eq!(nobody.status, 400, "{nobody:?}");
}

#[test]
fn a_server_of_the_project_waits_for_trust_and_its_deaths_are_kept() {
    let rig = rig();
    let fixture = crate::rig::fixture();
    let entry = json!({"mcpServers": {"ours": {"command": fixture, "args": ["--how", "crash"]}}});
    rig.write(".mcp.json", entry.to_string());
    let house = house(&rig);
    let page = Page::open(&rig, &house);
    let ours = || {
        let servers = page.get("/api/console/servers");
        list(&servers, "servers").iter().find(|server| server["name"] == "ours").cloned().unwrap_or_default()
    };
    until("it is known", || ours()["trust"] == "needed");
    assert_eq!(ours()["state"], "untrusted");
    assert!(ours()["command"].as_str().is_some_and(|command| command.contains("--how")), "the whole command");
    let trusted = page.send("POST", "/api/console/servers/ours/trust", &json!({}));
    assert_eq!(trusted.status, 200, "{trusted:?}");
    until("it is trusted", || ours()["trust"] == "given");
}

#[test]
fn the_policy_is_told_with_places_and_counts_and_judges_a_call() {
    let rig = rig();
    rig.configure("[permissions]\nask = [\"delete_file\"]\ndeny = [\"read_file(secret*)\"]\n[workspace]\ndeny = [\"*.key\"]\n");
    rig.write("secret.txt", "x\n");
    let house = house(&rig);
    house.call("read_file", json!({"path": "secret.txt"}));
    let page = Page::open(&rig, &house);
    let policy = page.get("/api/console/policy");
    let rule = list(&policy, "rules").iter().find(|rule| rule["effect"] == "deny").expect("the rule");
    assert_eq!(
        (&rule["text"], &rule["line"], &rule["hits"]),
        (&json!("read_file(secret*)"), &json!(3), &json!(1)),
        "{policy}"
    );
    assert!(list(&policy, "protected").iter().any(|one| one["pattern"] == "*.key"), "{policy}");
    assert_eq!(list(&policy, "roots").len(), 1);
    let what_if = |tool: &str, arguments: Value| {
        page.post("/api/console/policy/test", &json!({"tool": tool, "arguments": arguments}))
    };
    let denied = what_if("read_file", json!({"path": "secret.txt"}));
    assert_eq!((&denied["verdict"], &denied["rule"]["line"]), (&json!("deny"), &json!(3)), "{denied}");
    assert_eq!(what_if("delete_file", json!({"path": "a.txt"}))["verdict"], "ask");
    let allowed = what_if("read_file", json!({"path": "a.txt"}));
    assert_eq!(allowed["verdict"], "allow");
    assert!(list(&allowed, "layers").len() >= 3, "{allowed}");
    let unknown = page.send("POST", "/api/console/policy/test", &json!({"tool": "nonsense"}));
    assert_eq!(unknown.status, 404, "{unknown:?}");
}

#[test]
fn the_context_is_what_models_see_and_know() {
    let rig = rig();
    rig.configure("[context]\nrefresh = true\n");
    let house = house(&rig);
    let todos = json!({ "todos": [
        { "content": "Read it", "active_form": "Reading it", "status": "completed" },
        { "content": "Write it", "active_form": "Writing it", "status": "in_progress" },
    ] });
    house.call("todo_write", todos);
    house.call("read_file", json!({"path": "a.txt"}));
    let page = Page::open(&rig, &house);
    let context = page.get("/api/console/context");
    assert_eq!(context["follows_files"], true);
    assert_eq!(texts(list(&context, "todos"), "state"), ["completed", "in_progress"], "{context}");
    assert!(list(&context, "anchors").iter().any(|anchor| anchor["key"] == "todo_state"), "{context}");
    assert!(page.get("/api/console/now")["todo"].as_str().is_some_and(|todo| todo.starts_with("Write it")));
    let known = |context: &Value| list(context, "files").iter().find(|file| file["path"] == "a.txt").cloned();
    assert_eq!(known(&context).expect("known")["stale"], false, "{context}");
    rig.write("a.txt", "somebody else was here\n");
    until("it is stale", || known(&page.get("/api/console/context")).expect("known")["stale"] == true);
}
