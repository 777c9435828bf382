//! More tools than a model should read: they are found and called by name, under the same rules.

use serde_json::json;

use crate::{
    federated::{Client, Era, echo, with},
    rig::text,
};

#[test]
fn many_tools_are_searched_instead_of_listed() {
    for era in Era::ALL {
        let rig = with(&format!(
            "[permissions]\ndeny = [\"one__extra_0001\"]\n{}",
            echo("one", &["--tools", "70", "--also", "translate_poem"], "")
        ));
        let mut client = Client::new(&rig, era);
        client.until_listed("find_tools");
        let names = client.tools();
        assert!(
            names.contains(&"call_tool".to_owned()) && names.contains(&"read_file".to_owned()),
            "{names:?}"
        );
        assert!(!names.iter().any(|name| name.starts_with("one__")), "{names:?}");

        let found = client.call("find_tools", json!({"query": "translate a poem"}));
        assert_eq!(found["structuredContent"]["tools"][0]["name"], "one__translate_poem", "{found}");
        let found = client.call("find_tools", json!({"query": "extra 0042", "limit": 3}));
        let tools = found["structuredContent"]["tools"].as_array().expect("a list");
        assert!(tools.len() <= 3 && tools[0]["name"] == "one__extra_0042", "{found}");
        assert!(tools[0]["input_schema"].is_object(), "{found}");

        for nameless in [json!({}), json!({"name": 7}), json!({"arguments": {}})] {
            let id = client.begin("call_tool", nameless);
            let answer = client.wait(id);
            let said = answer["error"]["message"].as_str().unwrap_or_default();
            assert!(said.starts_with("call_tool: `name` is missing"), "{answer}");
        }
        let inner = |name: &str, arguments| json!({"name": name, "arguments": arguments});
        assert_eq!(client.say("call_tool", inner("one__echo", json!({"text": "there"}))), "there");
        assert_eq!(
            client.say("one__extra_0042", json!({})),
            "extra_0042 of one",
            "its name can be called, too"
        );
        for refused in [
            client.call("call_tool", inner("one__extra_0001", json!({}))),
            client.call("one__extra_0001", json!({})),
        ] {
            assert!(refused["isError"] == true && text(&refused).contains("one__extra_0001"), "{refused}");
        }
        let id = client.begin("call_tool", inner("one__none", json!({})));
        assert_eq!(client.wait(id)["error"]["code"], -32602);
    }
}

#[test]
fn few_tools_are_listed_and_a_setting_decides_otherwise() {
    let one = echo("one", &[], "");
    let rig = with(&one);
    let mut client = Client::new(&rig, Era::Legacy);
    client.until_listed("one__echo");
    assert!(!client.tools().iter().any(|name| name == "find_tools" || name == "call_tool"));

    let rig = with(&format!("[federation]\nexposure = \"search\"\n{one}"));
    let mut client = Client::new(&rig, Era::Legacy);
    let names = client.tools();
    assert!(names.iter().any(|name| name == "code_outline") && names.iter().any(|name| name == "find_tools"));
    assert!(!names.iter().any(|name| name.starts_with("one__")));

    let rig = with(&format!("[federation]\nexposure = \"core\"\n{one}"));
    let mut client = Client::new(&rig, Era::Modern);
    let mut names = client.tools();
    names.sort();
    let mut core = [
        "apply_edits",
        "call_tool",
        "edit_file",
        "find_tools",
        "list_directory",
        "read_file",
        "search_content",
        "search_files",
        "write_file",
    ];
    core.sort_unstable();
    assert_eq!(names, core);
    // What is not listed is found, our own tools among it.
    let found = client.call("find_tools", json!({"query": "outline of code symbols"}));
    assert!(found["structuredContent"]["tools"].to_string().contains("code_outline"), "{found}");
    let called =
        json!({"name": "get_file_slice", "arguments": {"path": "a.txt", "start_line": 1, "end_line": 1}});
    assert!(client.say("call_tool", called).contains("hello"));
}
