//! Results that are too large to pass on: a beginning, a link, and all of it in ranges, for both
//! eras and both transports.

use serde_json::{Value, json};

use crate::{
    federated::{Client, Era, KEY, echo, until},
    rig::{Http, Rig},
};

const SIZE: usize = 5 * 1024 * 1024;

fn rig(more: &str) -> Rig {
    let rig = Rig::new();
    rig.configure(&echo("one", &[], more));
    rig
}

/// Checks what stands for a large result, and reads it back by its links.
fn read_back(result: &Value, mut read: impl FnMut(&str) -> Value) {
    let content = result["content"].as_array().unwrap_or_else(|| panic!("{result}"));
    let shown = content[0]["text"].as_str().expect("text");
    assert!(
        shown.len() < 20_000 && shown.starts_with("xxxx") && shown.contains("All of it is kept"),
        "{}",
        shown.len()
    );
    let links: Vec<&Value> = content.iter().filter(|item| item["type"] == "resource_link").collect();
    assert_eq!(links.len(), 2, "the whole and its one part");
    let mut whole = |uri: &str| {
        let (mut next, mut text) = (format!("{uri}?offset=0&length=1000003"), String::new());
        loop {
            let piece = read(&next)["contents"][0].clone();
            text.push_str(piece["text"].as_str().unwrap_or_else(|| panic!("{next}")));
            assert!(text.len() as u64 <= piece["_meta"]["tectum/total"].as_u64().expect("a size"));
            match piece["_meta"]["tectum/next"].as_str() {
                Some(uri) => next = uri.to_owned(),
                None => return text,
            }
        }
    };
    let all: Value =
        serde_json::from_str(&whole(links[0]["uri"].as_str().expect("an address"))).expect("JSON");
    assert_eq!(all["content"][0]["text"].as_str().map(str::len), Some(SIZE));
    let part = whole(links[1]["uri"].as_str().expect("an address"));
    assert!(part.len() == SIZE && part.bytes().all(|byte| byte == b'x'), "{}", part.len());
    assert_eq!(links[1]["size"], SIZE);
}

#[test]
fn a_small_bound_makes_results_smaller() {
    let rig = rig("max_result = \"1k\"");
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__big");
    let result = client.call("one__big", json!({"bytes": 5000}));
    let shown = result["content"][0]["text"].as_str().expect("text");
    assert!(shown.starts_with("xxxx") && shown.contains("this is its beginning"), "{shown}");
    assert!(result.to_string().len() < 2048, "{result}");
    let whole = result["content"][1]["uri"].as_str().expect("an address");
    let read = client.result("resources/read", json!({"uri": whole}));
    let read = read["contents"][0]["text"].as_str().expect("text");
    let all: Value = serde_json::from_str(read).expect("JSON");
    assert_eq!(all["content"][0]["text"].as_str().map(str::len), Some(5000));
}

#[test]
fn a_large_result_is_read_back_whole_on_a_pipe() {
    for era in Era::ALL {
        let rig = rig("");
        let mut client = Client::new(&rig, era);
        client.until_listed("one__big");
        let result = client.call("one__big", json!({"bytes": SIZE}));
        read_back(&result, |uri| client.result("resources/read", json!({"uri": uri})));
        let small = client.call("one__big", json!({"bytes": 200_000}));
        assert_eq!(small["content"][0]["text"].as_str().map(str::len), Some(200_000), "it passes as it is");
    }
}

#[test]
fn how_large_is_too_large_is_a_setting() {
    let rig = rig("max_result = \"100k\"");
    let mut client = Client::new(&rig, Era::Modern);
    client.until_listed("one__big");
    let result = client.call("one__big", json!({"bytes": 200_000}));
    assert_eq!(result["content"][1]["type"], "resource_link", "{result}");
    let id = client.start("resources/read", json!({"uri": "tectum://results/c-0000000000000000"}));
    assert!(client.wait(id)["error"]["message"].as_str().is_some_and(|text| text.contains("no such result")));
}

#[test]
fn a_large_result_is_read_back_whole_on_http() {
    for era in Era::ALL {
        let rig = rig("");
        let mut http = rig.http();
        if era == Era::Legacy {
            http.handshake();
        }
        let listed = |http: &Http| ask(http, era, "tools/list", None, json!({}))["tools"].to_string();
        until("its tools", || listed(&http).contains("one__big"));
        let call = json!({"name": "one__big", "arguments": {"bytes": SIZE}});
        let result = ask(&http, era, "tools/call", Some("one__big"), call);
        read_back(&result, |uri| ask(&http, era, "resources/read", Some(uri), json!({"uri": uri})));
    }
}

/// One request as a client of either era sends it.
fn ask(http: &Http, era: Era, method: &str, name: Option<&str>, mut params: Value) -> Value {
    let mut headers = http.headers();
    if era == Era::Modern {
        params["_meta"] = json!({format!("{KEY}protocolVersion"): "2026-07-28",
            format!("{KEY}clientCapabilities"): {}, format!("{KEY}clientInfo"): {"name": "rig", "version": "1"}});
        headers.push(("MCP-Protocol-Version".into(), "2026-07-28".into()));
        headers.push(("Mcp-Method".into(), method.into()));
        headers.extend(name.map(|name| ("Mcp-Name".to_owned(), name.to_owned())));
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let answer = http.send("POST", "/mcp", &headers, &body.to_string()).json();
    assert!(answer.get("error").is_none(), "{method}: {answer}");
    answer["result"].clone()
}
