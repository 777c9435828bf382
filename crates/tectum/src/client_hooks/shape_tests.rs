//! The requests and answers of each client.

use super::*;

fn read(named: Option<HookShape>, request: &Value) -> Result<HookCall, HookReply> {
    HookCall::read(named, request.to_string().as_bytes())
}

fn bash(extra: &Value) -> Value {
    let mut request = json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/p",
        "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": "t" });
    for (name, value) in extra.as_object().expect("members") {
        request[name] = value.clone();
    }
    request
}

#[test]
fn each_client_is_known_by_its_fields() {
    let cursor = json!({ "hook_event_name": "beforeShellExecution", "conversation_id": "c", "cwd": "",
        "workspace_roots": ["/p"], "command": "ls" });
    let gemini = json!({ "hook_event_name": "BeforeTool", "cwd": "/p", "tool_name": "run_shell_command",
        "tool_input": { "command": "ls" } });
    for (request, shape, tool) in [
        (bash(&json!({})), HookShape::Claude, "Bash"),
        (bash(&json!({ "turn_id": "1" })), HookShape::Codex, "Bash"),
        (cursor, HookShape::Cursor, "Shell"),
        (gemini, HookShape::Gemini, "run_shell_command"),
    ] {
        let call = read(None, &request).expect("understood");
        assert_eq!(
            (call.shape, call.tool.as_str(), call.directory.as_str()),
            (shape, tool, "/p"),
            "{request}"
        );
        assert_eq!(text(&call.input, &["command"]).as_deref(), Some("ls"), "{request}");
    }
    assert_eq!(read(Some(HookShape::Codex), &bash(&json!({}))).expect("named").shape, HookShape::Codex);
}

#[test]
fn servers_and_their_tools_are_told_apart() {
    let served = |request: &Value| read(None, request).expect("understood").served;
    let pair = |server: &str, tool: &str| Some((server.to_owned(), tool.to_owned()));
    assert_eq!(served(&bash(&json!({ "tool_name": "mcp__gh__create_issue" }))), pair("gh", "create_issue"));
    assert_eq!(served(&bash(&json!({ "tool_name": "mcp__a_b__c__d" }))), pair("a_b", "c__d"));
    assert_eq!(served(&bash(&json!({}))), None);
    let gemini = json!({ "hook_event_name": "BeforeTool", "tool_name": "mcp_gh_x", "tool_input": {},
        "mcp_context": { "server_name": "gh", "tool_name": "x" } });
    assert_eq!(served(&gemini), pair("gh", "x"));
    let cursor =
        json!({ "hook_event_name": "beforeMCPExecution", "tool_name": "x", "tool_input": "{\"a\":1}" });
    let call = read(None, &cursor).expect("understood");
    assert_eq!((call.served, call.input["a"].as_u64()), (pair("", "x"), Some(1)));
}

#[test]
fn what_is_not_understood_is_denied_in_the_shape_that_was_named() {
    for request in ["", "nonsense", "[]", "null", "{}", r#"{"hook_event_name": "Stop"}"#] {
        let reply = HookCall::read(None, request.as_bytes()).expect_err(request);
        assert_eq!((reply.decision, reply.body), (HookDecision::Deny, None), "{request}");
        for shape in HookShape::ALL {
            let reply = HookCall::read(Some(shape), request.as_bytes()).expect_err(request);
            let body = reply.body.expect("its own shape").to_string();
            assert!(body.contains("deny") && body.contains("cannot judge"), "{shape:?} {request}: {body}");
        }
    }
    for request in [
        bash(&json!({ "tool_name": "" })),
        bash(&json!({ "tool_input": 1 })),
        bash(&json!({ "tool_input": "{" })),
    ] {
        let reply = read(None, &request).expect_err("broken");
        assert_eq!(reply.decision, HookDecision::Deny, "{request}");
    }
}

#[test]
fn each_client_hears_the_decision_in_its_own_words() {
    let said = |shape: HookShape, event: &str, decision: HookDecision| {
        reply(Some(shape), event, &HookVerdict { decision, reason: "why".into() }).body.expect("known")
    };
    let word = |body: &Value| body["hookSpecificOutput"]["permissionDecision"].clone();
    use HookDecision::{Allow, Ask, Deny, Pass};
    for (decision, expect) in [(Allow, "allow"), (Ask, "ask"), (Deny, "deny")] {
        let body = said(HookShape::Claude, "PreToolUse", decision);
        assert_eq!(word(&body), expect);
        assert_eq!(body["hookSpecificOutput"]["permissionDecisionReason"], "why");
        assert_eq!(said(HookShape::Gemini, "BeforeTool", decision)["decision"], expect);
        assert_eq!(said(HookShape::Cursor, "beforeShellExecution", decision)["permission"], expect);
    }
    assert_eq!(said(HookShape::Claude, "PreToolUse", Pass), json!({}));
    // Codex takes these words for mistakes and goes on.
    assert_eq!(said(HookShape::Codex, "PreToolUse", Allow), json!({}));
    let asked = said(HookShape::Codex, "PreToolUse", Ask);
    assert_eq!(word(&asked), "deny");
    let reason = asked["hookSpecificOutput"]["permissionDecisionReason"].as_str().expect("a reason");
    assert!(reason.starts_with("why; a person would be asked"), "{reason}");
    for event in ["preToolUse", "beforeReadFile"] {
        assert_eq!(said(HookShape::Cursor, event, Ask)["permission"], "deny", "{event}");
    }
}

#[test]
fn contents_of_files_are_left_out_and_what_rules_see_stays() {
    let slim = |request: &Value| without_contents(request.to_string().as_bytes());
    let write =
        bash(&json!({ "tool_name": "Write", "tool_input": { "file_path": "a", "content": "secret" } }));
    let mut expect = write.clone();
    expect["tool_input"] = json!({ "file_path": "a" });
    assert_eq!(serde_json::from_slice::<Value>(&slim(&write)).expect("JSON"), expect);
    assert_eq!(serde_json::from_slice::<Value>(&slim(&bash(&json!({})))).expect("JSON"), bash(&json!({})));
    assert_eq!(without_contents(b"garbage"), b"garbage");
}
